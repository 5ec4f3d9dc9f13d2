#!/usr/bin/env python3
"""Writes the matrices of this folder: finite elements on meshes of its own.

    pip install numpy scipy
    python3 examples/matrices/generate.py

Linear triangles (Delaunay) of points that are drawn by a seed; points with given values are left out.
"""

import pathlib
import sys

import numpy
import scipy
from scipy import sparse
from scipy.spatial import Delaunay

HERE = pathlib.Path(__file__).parent


def mesh(seed, rows, inside):
    """Points of a jittered grid of the unit square, and the triangles whose centres are inside."""
    random = numpy.random.default_rng(seed)
    grid = numpy.linspace(0.0, 1.0, rows)
    points = numpy.array([(x, y) for y in grid for x in grid])
    free = (points > 0.0).all(axis=1) & (points < 1.0).all(axis=1)
    points[free] += random.uniform(-0.35, 0.35, (free.sum(), 2)) / (rows - 1)
    triangles = Delaunay(points).simplices
    triangles = triangles[inside(points[triangles].mean(axis=1))]
    used = numpy.unique(triangles)
    number = numpy.full(len(points), -1)
    number[used] = numpy.arange(len(used))
    return points[used], number[triangles]


def gradients(points, triangles):
    """Of the three shape functions of each triangle, and the areas."""
    a, b, c = (points[triangles[:, k]] for k in range(3))
    edges = numpy.stack([c - b, a - c, b - a], axis=1)
    twice = edges[:, 0, 0] * edges[:, 1, 1] - edges[:, 0, 1] * edges[:, 1, 0]
    rotated = numpy.stack([-edges[:, :, 1], edges[:, :, 0]], axis=2)
    return rotated / twice[:, None, None], numpy.abs(twice) / 2.0


def assemble(size, places, blocks):
    rows = numpy.repeat(places, places.shape[1], axis=1).ravel()
    columns = numpy.tile(places, (1, places.shape[1])).ravel()
    return sparse.coo_matrix((blocks.ravel(), (rows, columns)), shape=(size, size)).tocsr()


def write(name, matrix, comment, symmetric):
    matrix = matrix.tocsr()
    matrix.sum_duplicates()
    kept = sparse.tril(matrix, format="csr") if symmetric else matrix
    kept.sort_indices()
    kind = "symmetric" if symmetric else "general"
    lines = [f"%%MatrixMarket matrix coordinate real {kind}", f"% {comment}"]
    lines.append(f"% By generate.py with Python {sys.version.split()[0]}, NumPy {numpy.__version__}, SciPy {scipy.__version__}.")
    lines.append(f"{matrix.shape[0]} {matrix.shape[1]} {kept.nnz}")
    rows = kept.tocoo()
    lines += [f"{r + 1} {c + 1} {float(f'{v:.9g}')!r}" for r, c, v in zip(rows.row, rows.col, rows.data)]
    (HERE / name).write_text("\n".join(lines) + "\n")


def main():
    # ---- a membrane: an L-shaped domain, held at its left edge
    points, triangles = mesh(1, 28, lambda at: (at[:, 0] < 0.5) | (at[:, 1] < 0.5))
    slopes, areas = gradients(points, triangles)
    blocks = numpy.einsum("tik,tjk,t->tij", slopes, slopes, areas)
    free = numpy.flatnonzero(points[:, 0] > 0.0)
    membrane = assemble(len(points), triangles, blocks)[free][:, free]
    write("membrane.mtx", membrane, "Laplace's equation on an L-shaped membrane, linear triangles.", True)

    # ---- a plate with a hole, plane stress, Poisson's ratio 0.3, two displacements a point, clamped below
    points, triangles = mesh(2, 17, lambda at: numpy.hypot(at[:, 0] - 0.5, at[:, 1] - 0.5) > 0.2)
    slopes, areas = gradients(points, triangles)
    strain = numpy.zeros((len(triangles), 3, 6))
    strain[:, 0, 0::2] = slopes[:, :, 0]
    strain[:, 1, 1::2] = slopes[:, :, 1]
    strain[:, 2, 0::2] = slopes[:, :, 1]
    strain[:, 2, 1::2] = slopes[:, :, 0]
    ratio = 0.3
    law = numpy.array([[1.0, ratio, 0.0], [ratio, 1.0, 0.0], [0.0, 0.0, (1.0 - ratio) / 2.0]]) / (1.0 - ratio**2)
    blocks = numpy.einsum("tki,kl,tlj,t->tij", strain, law, strain, areas)
    places = (2 * triangles[:, :, None] + numpy.arange(2)).reshape(len(triangles), 6)
    free = numpy.flatnonzero(numpy.repeat(points[:, 1] > 0.0, 2))
    plate = assemble(2 * len(points), places, blocks)[free][:, free]
    write("plate.mtx", plate, "Plane stress in a plate with a hole, linear triangles, two displacements a point.", True)

    # ---- what flows through a square and spreads: not symmetric; streamline diffusion
    points, triangles = mesh(3, 27, lambda at: at[:, 0] > -1.0)
    slopes, areas = gradients(points, triangles)
    flow, spread = numpy.array([1.0, 0.5]), 5e-3
    along = slopes @ flow
    step = 0.5 * numpy.sqrt(areas) / numpy.hypot(*flow)
    blocks = spread * numpy.einsum("tik,tjk,t->tij", slopes, slopes, areas)
    blocks += numpy.einsum("ti,tj,t->tij", numpy.full((len(triangles), 3), 1.0 / 3.0), along, areas)
    blocks += numpy.einsum("ti,tj,t->tij", along, along, areas * step)
    free = numpy.flatnonzero((points[:, 0] > 0.0) & (points[:, 1] > 0.0))
    transport = assemble(len(points), triangles, blocks)[free][:, free]
    write("transport.mtx", transport, "Convection and diffusion in a square, linear triangles, streamline diffusion.", False)


main()
