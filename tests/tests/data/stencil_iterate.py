"""Writes stencil_iterate.txt: steps of stencils by NumPy, of small integers and weights that are multiples of 1/8, so that every step is
exact in double precision, in any order.

    python3 stencil_iterate.py > stencil_iterate.txt
"""

import itertools

import numpy as np

print(f"# stencil_iterate.py, NumPy {np.__version__}: shape, radius, boundary, steps, extents; weights; source (or none); state; result")
random = np.random.default_rng(1822)  # Fourier, Théorie analytique de la chaleur
PAD = {"neumann": "symmetric", "periodic": "wrap", "dirichlet": "constant"}


def places(dimensions, shape, radius):
    every = itertools.product(range(-radius, radius + 1), repeat=dimensions)
    return [p for p in every if shape == "box" or sum(along != 0 for along in p) <= 1]


def step(state, source, shape, radius, boundary, weights):
    padded = np.pad(state, radius, PAD[boundary])
    result = np.zeros_like(state) if source is None else source.copy()
    for place, weight in zip(places(state.ndim, shape, radius), weights):
        window = tuple(slice(radius + along, radius + along + n) for along, n in zip(place, state.shape))
        result += weight * padded[window]
    if boundary == "dirichlet":
        inner = tuple(slice(radius, max(n - radius, radius)) for n in state.shape)
        fixed = state.copy()
        fixed[inner] = result[inner]
        return fixed
    return result


cases = [
    ("star", 1, (9, 13), 9, False),
    ("star", 1, (6, 5), 6, True),
    ("box", 1, (8, 11), 5, True),
    ("star", 3, (9, 10), 2, False),
    ("box", 2, (7, 6), 2, True),
    ("star", 1, (4, 5, 8), 3, True),
    ("star", 2, (5, 6, 7), 2, False),
    ("box", 1, (3, 4, 5), 2, True),
]
for (shape, radius, extents, steps, with_source), boundary in itertools.product(cases, PAD):
    weights = random.integers(-8, 9, len(places(len(extents), shape, radius))) / 8
    state = random.integers(-9, 10, extents).astype(float)
    source = random.integers(-9, 10, extents).astype(float) if with_source else None
    print(shape, radius, boundary, steps, *extents)
    print(*weights)
    print("none" if source is None else " ".join(str(int(value)) for value in source.flat))
    print(*[int(value) for value in state.flat])
    for _ in range(steps):
        state = step(state, source, shape, radius, boundary, weights)
    # Numerators of 8 ** steps: exact where they fit into 53 bits.
    numerators = state * 8.0**steps
    assert (numerators == np.round(numerators)).all() and np.abs(numerators).max() < 2**50
    print(*[repr(float(value)) for value in state.flat])
