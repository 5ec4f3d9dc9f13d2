#!/usr/bin/env python3
"""Writes scipy_level3.txt beside itself: what SciPy's BLAS makes of triangular and symmetric matrices, for level3/golden.rs.

    pip install numpy scipy
    python3 tests/tests/data/scipy_level3.py

A block a call: the function; side, triangle, whether A is transposed, whether its diagonal is one; alpha and beta; the kind of A and
the rows and columns of what is written; A, B and C where the function has them, row by row, and the result. Of A's other triangle there is
NaN, and of C's where only one is written; both are left out. All but the results are numbers of f32. Solutions are refined with
exact residuals until no correction is more than a rounding. Numbers are written so that they come back exactly.

Kinds: "plain", between -1/2 and 1/2, triangles with a heavy diagonal; "graded", rows and columns times powers of two from 2^-20 to 2^20, so
that sums cancel and triangles have any condition; "kahan", triangles whose condition no element of the diagonal shows (Higham,
Accuracy and Stability of Numerical Algorithms, 2nd ed., equation 8.11); "hilbert", Cholesky factors of Hilbert matrices.
"""

import itertools
import math
import pathlib
import sys
from fractions import Fraction

import numpy
import scipy
from scipy import linalg
from scipy.linalg import blas

SEED = 1818


def main():
    random = numpy.random.default_rng(SEED)
    versions = f"Python {sys.version.split()[0]}, NumPy {numpy.__version__}, SciPy {scipy.__version__}"
    lines = [f"# By scipy_level3.py with {versions}; seed {SEED}."]

    def line(what, numbers):
        shown = [repr(int(v)) if v == int(v) and abs(v) < 2**53 else repr(v) for v in numpy.ravel(numbers).tolist()]
        lines.append(" ".join([what] + shown))

    def plain(rows, columns):
        return random.integers(-32, 32, (rows, columns)) / 64

    def grades(n):
        return numpy.exp2(random.integers(-20, 21, n))

    def matrix(kind, rows, columns):
        values = plain(rows, columns)
        return values * numpy.outer(grades(rows), grades(columns)) if kind == "graded" else values

    def triangle(kind, n, lower):
        if kind == "kahan":
            sine, cosine = math.sin(1.1), math.cos(1.1)
            a = numpy.diag(sine ** numpy.arange(n)) @ (numpy.eye(n) - cosine * numpy.triu(numpy.ones((n, n)), 1))
            a = a.T if lower else a
        elif kind == "hilbert":
            a = linalg.cholesky(linalg.hilbert(n), lower=lower)
        else:
            a = plain(n, n) * 2.0 ** -max(0, math.ceil(math.log2(n / 8))) + numpy.diag(numpy.full(n, 1.5))
            if kind == "graded":
                a = a * numpy.outer(grades(n), grades(n))
        a = a.astype(numpy.float32).astype(float)
        a[numpy.triu_indices(n, 1) if lower else numpy.tril_indices(n, -1)] = numpy.nan
        return a

    def stored(a, lower):
        return a[numpy.tril_indices(len(a)) if lower else numpy.triu_indices(len(a))]

    def begin(function, side, lower, transposed, unit, factors, kind, shape):
        lines.append(
            f"call {function} {'right' if side else 'left'} {'lower' if lower else 'upper'} "
            f"{'transposed' if transposed else 'plain'} {'unit' if unit else 'stored'}"
        )
        line("factors", factors)
        lines.append(f"kind {kind}")
        line("shape", shape)

    exact = lambda values: numpy.vectorize(Fraction, otypes=[object])(values)

    def refined(a, b, alpha, side, lower, transposed, unit, solve):
        """The solution by `solve`, refined: op(A) X = alpha B or X op(A) = alpha B."""
        n = len(a)
        whole = numpy.where(numpy.isnan(a), 0.0, a)
        if unit:
            whole[numpy.arange(n), numpy.arange(n)] = 1.0
        whole = exact(whole.T if transposed else whole)
        x = solve(alpha, b)
        for _ in range(30):
            product = exact(x) @ whole if side else whole @ exact(x)
            correction = solve(1.0, (Fraction(alpha) * exact(b) - product).astype(float))
            x = x + correction
            if (abs(correction) <= 2.0**-52 * abs(x)).all():
                return x
        raise ArithmeticError("the refinement does not end")

    # ---- triangles: every side, triangle, transposition and diagonal, and those that are ill-conditioned
    flags = list(itertools.product([0, 1], repeat=4))
    of_triangles = [("plain", 5, 3, *flag) for flag in flags]
    of_triangles += [("graded", 9, 2, *flag) for flag in flags[::3]]
    of_triangles += [("kahan", 12, 2, *flag) for flag in [(0, 0, 0, 0), (0, 1, 1, 0), (1, 0, 1, 0), (1, 1, 0, 0)]]
    of_triangles += [("hilbert", 6, 2, *flag) for flag in [(0, 1, 0, 0), (0, 1, 1, 0), (1, 0, 1, 0)]]
    for function, large in [("trsm", 66), ("trmm", 34)]:
        for kind, n, m, side, lower, transposed, unit in of_triangles + [("plain", large, 1, 1, 0, 1, 0)]:
            a = triangle(kind, n, lower)
            b = matrix("plain" if function == "trsm" else kind, *((m, n) if side else (n, m)))
            alpha = random.integers(1, 8) / 4
            flags = {"side": side, "lower": lower, "trans_a": transposed, "diag": unit}
            if function == "trsm":
                solve = lambda alpha, b: blas.dtrsm(alpha, a, b, **flags)
                x = refined(a, b, alpha, side, lower, transposed, unit, solve)
            else:
                x = blas.dtrmm(alpha, a, b, **flags)
            begin(function, side, lower, transposed, unit, [alpha, 0], kind, b.shape)
            line("a", stored(a, lower))
            line("b", b)
            line("result", x)
    for kind, n in [("plain", 1), ("plain", 7), ("hilbert", 6), ("graded", 20)]:
        for lower, transposed, unit in itertools.product([0, 1], repeat=3) if n < 20 else [(1, 0, 0)]:
            a, b = triangle(kind, n, lower), plain(n, 1)
            solve = lambda alpha, b: blas.dtrsv(a, alpha * b[:, 0], lower=lower, trans=transposed, diag=unit)[:, None]
            x = refined(a, b, 1.0, 0, lower, transposed, unit, solve)
            begin("trsv", 0, lower, transposed, unit, [1, 0], kind, b.shape)
            line("a", stored(a, lower))
            line("b", b)
            line("result", x)

    # ---- symmetric matrices
    for kind, n, m in [("plain", 5, 3), ("graded", 7, 4), ("plain", 34, 2)]:
        for side, lower in itertools.product([0, 1], repeat=2) if n < 30 else [(1, 0)]:
            a = matrix(kind, n, n)
            a = numpy.tril(a) + numpy.tril(a, -1).T
            a[numpy.triu_indices(n, 1) if lower else numpy.tril_indices(n, -1)] = numpy.nan
            shape = (m, n) if side else (n, m)
            b, c = matrix(kind, *shape), matrix(kind, *shape)
            alpha, beta = random.integers(-8, 8, 2) / 4
            begin("symm", side, lower, 0, 0, [alpha, beta], kind, shape)
            line("a", stored(a, lower))
            line("b", b)
            line("c", c)
            line("result", blas.dsymm(alpha, a, b, beta, c, side=side, lower=lower))
    for function in ["syrk", "syr2k"]:
        for kind, n, k in [("plain", 5, 3), ("graded", 6, 9), ("plain", 33, 3)]:
            for lower, transposed in itertools.product([0, 1], repeat=2) if n < 30 else [(n % 2, k % 2)]:
                shape = (k, n) if transposed else (n, k)
                a, b, c = matrix(kind, *shape), matrix(kind, *shape), matrix(kind, n, n)
                c[numpy.triu_indices(n, 1) if lower else numpy.tril_indices(n, -1)] = numpy.nan
                alpha, beta = random.integers(-8, 8, 2) / 4
                begin(function, 0, lower, transposed, 0, [alpha, beta], kind, (n, n))
                line("a", a)
                if function == "syrk":
                    result = blas.dsyrk(alpha, a, beta, c, trans=transposed, lower=lower)
                else:
                    line("b", b)
                    result = blas.dsyr2k(alpha, a, b, beta, c, trans=transposed, lower=lower)
                line("c", stored(c, lower))
                line("result", stored(result, lower))
    pathlib.Path(__file__).with_suffix(".txt").write_text("\n".join(lines) + "\n")


main()
