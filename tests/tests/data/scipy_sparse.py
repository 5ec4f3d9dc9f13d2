#!/usr/bin/env python3
"""Writes scipy_sparse.txt beside itself: small matrices and what SciPy makes of them, for sparse/golden.rs.

    pip install numpy scipy
    python3 tests/tests/data/scipy_sparse.py

A block a matrix: its size; rows, columns and values of its entries in any order, some of them several times; the compressed rows
of their sum; a vector, the product with it; the solution of its lower triangle and of its upper one; and, for factors, of one with
a dominant diagonal whose structure fills nothing in, so that the complete factors are the incomplete ones (numpy.linalg.cholesky,
scipy.linalg.lu without pivoting as by the dominance). Numbers are written so that they come back exactly.
"""

import pathlib
import sys

import numpy
import scipy
from scipy import linalg, sparse
from scipy.sparse.linalg import spsolve_triangular

SEED = 19
SIZES = [1, 2, 7, 20, 41]


def main():
    random = numpy.random.default_rng(SEED)
    versions = f"Python {sys.version.split()[0]}, NumPy {numpy.__version__}, SciPy {scipy.__version__}"
    lines = [f"# By scipy_sparse.py with {versions}; seed {SEED}."]

    def line(what, numbers):
        lines.append(" ".join([what] + [repr(number) for number in numpy.asarray(numbers).ravel().tolist()]))

    for size in SIZES:
        count = 4 * size
        rows, columns = random.integers(0, size, count), random.integers(0, size, count)
        values = random.uniform(-1.0, 1.0, count)
        # Every diagonal is there, and larger than what is beside it.
        rows, columns = numpy.append(rows, numpy.arange(size)), numpy.append(columns, numpy.arange(size))
        values = numpy.append(values, numpy.full(size, 8.0))
        order = random.permutation(len(rows))
        rows, columns, values = rows[order], columns[order], values[order]
        a = sparse.coo_matrix((values, (rows, columns)), shape=(size, size)).tocsr()
        a.sort_indices()
        x = random.uniform(-1.0, 1.0, size)
        lower, upper = sparse.tril(a, format="csr"), sparse.triu(a, format="csr")
        line("size", [size])
        for what, numbers in [("rows", rows), ("columns", columns), ("values", values)]:
            line(what, numbers)
        for what, numbers in [("offsets", a.indptr), ("indices", a.indices), ("sums", a.data)]:
            line(what, numbers)
        line("x", x)
        line("product", a @ x)
        line("lower", spsolve_triangular(lower, x, lower=True))
        line("upper", spsolve_triangular(upper, x, lower=False))
        # ---- a band of three diagonals, which fills nothing in
        diagonal, beside = random.uniform(3.0, 4.0, size), random.uniform(-1.0, 1.0, (2, max(size - 1, 0)))
        symmetric = numpy.diag(diagonal) + numpy.diag(beside[0], -1) + numpy.diag(beside[0], 1)
        cholesky = numpy.linalg.cholesky(symmetric)
        general = numpy.diag(diagonal) + numpy.diag(beside[0], -1) + numpy.diag(beside[1], 1)
        permutation, l, u = linalg.lu(general)
        assert (permutation == numpy.eye(size)).all()
        line("diagonal", diagonal)
        line("below", beside[0])
        line("above", beside[1])
        line("cholesky_diagonal", numpy.diag(cholesky))
        line("cholesky_below", numpy.diag(cholesky, -1))
        line("l_below", numpy.diag(l, -1))
        line("u_diagonal", numpy.diag(u))
    pathlib.Path(__file__).with_suffix(".txt").write_text("\n".join(lines) + "\n")


main()
