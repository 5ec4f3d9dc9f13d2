#!/usr/bin/env python3
"""Writes scipy_gelu.txt beside itself: values of the Gaussian error linear unit by SciPy, for tensor/gelu.rs.

    pip install numpy scipy
    python3 tests/tests/data/scipy_gelu.py

One block: numbers x of f32, their x * ndtr(x), and x / (1 + exp(-2 u)) with u = sqrt(2 / pi) (x + 0.044715 x^3), in
f64. The x are of all exponents, dense where the function bends, and those of which kernels were found to be furthest
off. Numbers are written so that they come back exactly.
"""

import pathlib
import sys

import numpy
import scipy
from scipy import special

SEED = 2016
# Of every 211th f32.
FURTHEST = [-12.052515, -11.519973, -2.1910164, -3.4554408, -0.33319643, 0.0037892836, -2.9806747, -5.9769006]


def main():
    random = numpy.random.default_rng(SEED)
    versions = f"Python {sys.version.split()[0]}, NumPy {numpy.__version__}, SciPy {scipy.__version__}"
    sizes = numpy.concatenate([
        2.0 ** numpy.arange(-149, 128, 7),
        random.uniform(0, 4, 90),
        random.uniform(4, 16, 60),
        2.0 ** random.uniform(-30, 2, 40),
    ])
    x = numpy.concatenate([sizes, -sizes, FURTHEST, [-14.2, -14.4, -12.0, -11.9]]).astype(numpy.float32).astype(float)
    u = numpy.sqrt(2 / numpy.pi) * (x + 0.044715 * x**3)
    with numpy.errstate(over="ignore"):
        values = {"x": x, "erf": x * special.ndtr(x), "tanh": x / (1 + numpy.exp(-2 * u))}
    lines = [f"# By scipy_gelu.py with {versions}; seed {SEED}."]
    lines += [" ".join([what] + [repr(v) for v in numbers.tolist()]) for what, numbers in values.items()]
    pathlib.Path(__file__).with_suffix(".txt").write_text("\n".join(lines) + "\n")


main()
