"""Writes numpy_products.txt, beside this file: products of matrices of doubles by numpy.matmul.

    pip install numpy && python3 numpy_products.py

Numbers are written by float.hex, so that they come back as they were.
"""

import pathlib

import numpy as np

SHAPES = [(1, 1, 1), (2, 3, 4), (5, 1, 7), (4, 4, 20), (3, 9, 33), (1, 6, 64), (17, 1, 40)]
random = np.random.default_rng(20120)


def line(*parts):
    return "; ".join(" ".join(str(number) for number in part) for part in parts)


def hexes(array):
    return [float(number).hex() for number in array.ravel()]


lines = ["# m n k; A (m x k); B (k x n); numpy.matmul(A, B), all row-major"]
for m, n, k in SHAPES:
    a = random.standard_normal((m, k)) * np.exp2(random.integers(-8, 8, (m, k)))
    b = random.standard_normal((k, n)) * np.exp2(random.integers(-8, 8, (k, n)))
    lines.append(line((m, n, k), hexes(a), hexes(b), hexes(np.matmul(a, b))))
pathlib.Path(__file__).with_suffix(".txt").write_text("\n".join(lines) + "\n")
