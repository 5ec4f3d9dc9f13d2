#!/usr/bin/env python3
"""Writes stencil_scipy_exp.txt beside itself: the Gaussians of stencil_scipy.txt again, with another `exp`.

    pip install numpy scipy
    python3 tests/tests/data/stencil_scipy_exp.py

SciPy's weights are of NumPy's `exp`, which is the C library's on most processors and NumPy's own where there is AVX-512,
as when stencil_scipy.txt was made. Here `math.exp` gives them, which is the C library's everywhere (glibc's, when this
file was made), and SciPy filters the same images with them. A line for each of those cases, in their order: the weights
and the output as hexadecimal bytes (little endian), `=` where they are those of the other file.
"""

import math
import pathlib
import platform

import numpy as np
import scipy
from scipy import ndimage

TYPES = {"u8": np.uint8, "u16": np.uint16, "i16": np.int16, "f32": np.float32, "f64": np.float64}
OUTSIDE = 3


def weights(sigma):
    radius = int(4 * sigma + 0.5)
    values = np.array([math.exp(-0.5 / (sigma * sigma) * (x * x)) for x in range(-radius, radius + 1)])
    return values / values.sum()


def main():
    here = pathlib.Path(__file__)
    versions = f"NumPy {np.__version__}, SciPy {scipy.__version__}, {' '.join(platform.libc_ver())}"
    lines = [f"# By {here.name} with {versions}."]
    for line in here.with_name("stencil_scipy.txt").read_text().splitlines():
        operation, name, mode, *words = line.split(" ")
        if operation != "gaussian_filter":
            continue
        sigma, theirs, height, width, source, result = words
        image = np.frombuffer(bytes.fromhex(source), TYPES[name]).reshape(int(height), int(width))
        factors = weights(float(sigma))
        output = image
        # What gaussian_filter does.
        for axis in [0, 1]:
            output = ndimage.correlate1d(output, factors, axis, mode=mode, cval=OUTSIDE)
        if (ndimage._filters._gaussian_kernel1d(float(sigma), 0, len(factors) // 2) == factors).all():
            assert (output == ndimage.gaussian_filter(image, float(sigma), mode=mode, cval=OUTSIDE)).all()
        fields = [(factors.tobytes().hex(), theirs), (output.tobytes().hex(), result)]
        lines.append(" ".join("=" if ours == other else ours for ours, other in fields))
    here.with_suffix(".txt").write_text("\n".join(lines) + "\n")


main()
