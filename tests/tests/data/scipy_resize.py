#!/usr/bin/env python3
"""Writes scipy_resize.txt beside itself: small images and what scipy.ndimage.zoom makes of them, for stencil_resize.rs.

    pip install numpy scipy
    python3 tests/tests/data/scipy_resize.py

`grid_mode` makes areas of pixels, as ours are. A line each: what, rows, columns, and the elements so that they come back exactly.
"""

import pathlib
import sys

import numpy
import scipy
from scipy import ndimage

SEED = 7
SIZES = [((1, 1), (3, 4)), ((4, 6), (2, 3)), ((5, 7), (10, 14)), ((7, 5), (3, 9)), ((6, 16), (7, 5)), ((9, 8), (4, 1))]
# Ours, and SciPy's.
MODES = {"clamp": "nearest", "mirror": "reflect", "wrap": "grid-wrap", "border": "grid-constant"}
# As in stencil_resize.rs.
BORDER = -2.5


def main():
    random = numpy.random.default_rng(SEED)
    versions = f"Python {sys.version.split()[0]}, NumPy {numpy.__version__}, SciPy {scipy.__version__}"
    lines = [f"# By scipy_resize.py with {versions}; seed {SEED}."]

    def line(what, image):
        elements = " ".join(repr(float(element)) for element in image.ravel())
        lines.append(f"{what} {image.shape[0]} {image.shape[1]} {elements}")

    for (rows, columns), output in SIZES:
        image = random.uniform(-10.0, 10.0, (rows, columns))
        zoom = (output[0] / rows, output[1] / columns)
        line("input", image)
        line("nearest", ndimage.zoom(image, zoom, order=0, mode="nearest", grid_mode=True))
        for ours, theirs in MODES.items():
            line(ours, ndimage.zoom(image, zoom, order=1, mode=theirs, cval=BORDER, grid_mode=True))
    pathlib.Path(__file__).with_suffix(".txt").write_text("\n".join(lines) + "\n")


main()
