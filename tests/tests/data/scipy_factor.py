#!/usr/bin/env python3
"""Writes scipy_factor.txt beside itself: symmetric, positive definite matrices and what SciPy makes of them, for factor/golden.rs.

    pip install numpy scipy
    python3 tests/tests/data/scipy_factor.py

A block a matrix A = D H D, D being powers of two: name and rows; the types that hold A exactly; the exponents of D; the lower triangle
of H row by row, or nothing where the test knows how to make it; an upper bound of the 2-norm of H's inverse; of scipy.linalg.cholesky(A),
divided by D, all rows or the diagonal and the last row; the Frobenius norm of H less the product of that factor and its transposed, in
numpy.longdouble, so that the test need not assume how good the factor is; the logarithm of A's determinant; right-hand
sides, row by row, with the solutions of scipy.linalg.cho_solve for H, and of few rows H's inverse's lower triangle, by cho_solve too.
Solutions are refined with exact residuals until no correction is more than a
rounding. Numbers are written so that they come back exactly.
"""

import math
import pathlib
import sys
from fractions import Fraction

import numpy
import scipy
from scipy import linalg

SEED = 18


def random_matrix(random, n):
    """Whole multiples of 1/256, the eigenvalues between n/2 and 5n/2."""
    h = random.integers(-128, 128, (n, n)) / 256
    h = numpy.tril(h, -1)
    return h + h.T + numpy.diag(1.5 * n + random.integers(-64, 64, n) / 256)


def hilbert(n):
    """The Hilbert matrix times a number of which all its elements are whole, and the norm of its inverse."""
    common = math.lcm(*range(1, 2 * n))
    h = numpy.array([[common // (i + j + 1) for j in range(n)] for i in range(n)], dtype=float)
    return h, numpy.linalg.norm(linalg.invhilbert(n), 2) / common


def green(n):
    """The inverse of the tridiagonal matrix of -1, 2, -1, times n + 1: whole, dense, condition 4 (n + 1)² / π²."""
    at = numpy.arange(1, n + 1)
    low, high = numpy.minimum.outer(at, at), numpy.maximum.outer(at, at)
    return (low * (n + 1 - high)).astype(float), 4 / (n + 1)


def refined(a, factor, b):
    x = linalg.cho_solve(factor, b)
    exact = lambda values: numpy.vectorize(Fraction, otypes=[object])(values)
    for _ in range(30):
        residual = exact(b) - exact(a) @ exact(x)
        correction = linalg.cho_solve(factor, residual.astype(float))
        x = x + correction
        if numpy.linalg.norm(correction) <= 2**-51 * numpy.linalg.norm(x):
            return x
    raise ArithmeticError("the refinement does not end")


def main():
    random = numpy.random.default_rng(SEED)
    versions = f"Python {sys.version.split()[0]}, NumPy {numpy.__version__}, SciPy {scipy.__version__}"
    lines = [f"# By scipy_factor.py with {versions}; seed {SEED}."]

    def line(what, numbers):
        # A whole number without a point, to be short.
        shown = [repr(int(v)) if v == int(v) and abs(v) < 2**53 else repr(v) for v in numpy.ravel(numbers).tolist()]
        lines.append(" ".join([what] + shown))

    def by_eigenvalues(h):
        return h, 1.001 / linalg.eigvalsh(h).min()

    zeros = lambda n: numpy.zeros(n, dtype=int)
    cases = [("random", both, *by_eigenvalues(random_matrix(random, n)), zeros(n)) for n in [1, 2, 7, 20, 33]]
    for n, types in [(4, both), (5, both), (10, "f64")]:
        cases.append(("hilbert", types, *hilbert(n), zeros(n)))
    n = 24
    cases.append(("graded", both, *by_eigenvalues(random_matrix(random, n)), -(numpy.arange(n) * 7 % 41)))
    for n in [65, 150]:
        cases.append(("green", both, *green(n), zeros(n)))
    n = 140
    cases.append(("green", both, *green(n), -(numpy.arange(n) * 5 % 31)))

    for name, types, h, inverse_norm, exponents in cases:
        n = len(h)
        d = numpy.exp2(exponents)
        a = h * numpy.outer(d, d)
        l = linalg.cholesky(a, lower=True)
        scaled = l / d[:, None]
        long = scaled.astype(numpy.longdouble)
        lower = numpy.tril_indices(n)
        lines.append(f"matrix {name} {n}")
        lines.append(f"types {types}")
        line("exponents", exponents)
        if name != "green":
            line("h", h[lower])
        line("inverse_norm", [inverse_norm])
        if n <= 33:
            line("l", scaled[lower])
        else:
            line("diagonal", numpy.diag(scaled))
            line("last", scaled[-1])
        line("residual", [float(numpy.linalg.norm((h.astype(numpy.longdouble) - long @ long.T).astype(float)))])
        line("logdet", [2 * math.fsum(numpy.log(numpy.diag(l)))])
        columns = 3 if n <= 33 else 1
        b = random.integers(-100, 101, (n, columns)).astype(float)
        line("b", b)
        line("x", refined(h, (scaled, True), b))
        if n <= 10:
            line("inverse", refined(h, (scaled, True), numpy.eye(n))[lower])
    pathlib.Path(__file__).with_suffix(".txt").write_text("\n".join(lines) + "\n")


both = "f32 f64"
main()
