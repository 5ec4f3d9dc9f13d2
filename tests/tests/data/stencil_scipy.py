#!/usr/bin/env python3
"""Writes stencil_scipy.txt: small images and what scipy.ndimage makes of them.

    pip install numpy scipy && python3 stencil_scipy.py > stencil_scipy.txt

Made with NumPy 2.4.6 and SciPy 1.17.1 on x86-64. A line is a case:
operation, type, mode, parameters, height, width, and the input and the output as hexadecimal bytes (little endian).
Parameters are numbers: the weights' too, as hexadecimal bytes of f64.
"""
import sys

import numpy as np
import scipy
from scipy import ndimage

MODES = ["reflect", "mirror", "nearest", "wrap", "constant"]
TYPES = {"u8": np.uint8, "u16": np.uint16, "i16": np.int16, "f32": np.float32, "f64": np.float64}
OUTSIDE = 3
random = np.random.default_rng(0x5C1B)


def image(name, shape):
    kind = TYPES[name]
    if np.issubdtype(kind, np.floating):
        return (random.standard_normal(shape) * 2.0 ** random.integers(-4, 5, shape)).astype(kind)
    limits = np.iinfo(kind)
    return random.integers(limits.min, limits.max, shape, endpoint=True).astype(kind)


def hexadecimal(array):
    return np.ascontiguousarray(array).tobytes().hex()


def case(operation, name, mode, parameters, source, result):
    fields = [operation, name, mode, *parameters, *source.shape, hexadecimal(source), hexadecimal(result)]
    print(*fields)


def weights(size, kind):
    values = random.standard_normal(size)
    if kind == "symmetric":
        return values + values[::-1]
    if kind == "antisymmetric":
        return values - values[::-1]
    return values


print(f"# NumPy {np.__version__}, SciPy {scipy.__version__}, outside {OUTSIDE}")
for number, name in enumerate(TYPES):
    for mode in MODES:
        options = {"mode": mode, "cval": OUTSIDE}
        # The types differ in nothing but their conversions.
        for shape in [(1, 1), (1, 5), (6, 7), (3, 2)] if name in ("u8", "f64") else [(4, 6)]:
            source = image(name, shape)
            # Small filters, and some larger than the image.
            for size, kind, origin in [(3, "any", 1), (5, "symmetric", 0), (4, "any", -1), (7, "antisymmetric", 2), (16, "any", 0)]:
                factors = weights(size, kind) / (8 if name[0] != "f" else 1)
                axis = (number + size) % 2
                result = ndimage.correlate1d(source, factors, axis, origin=origin, **options)
                case("correlate1d", name, mode, [axis, origin, hexadecimal(factors)], source, result)
            for height, width, y, x in [(3, 3, 0, 0), (2, 4, 0, -1), (5, 1, 1, 0)]:
                factors = random.standard_normal((height, width)) / (8 if name[0] != "f" else 1)
                factors.flat[0] = 1e-17  # SciPy leaves it out.
                result = ndimage.correlate(source, factors, origin=(y, x), **options)
                case("correlate", name, mode, [height, width, y, x, hexadecimal(factors)], source, result)
            for sigma in [0.7, 1.3]:
                result = ndimage.gaussian_filter(source, sigma, **options)
                factors = ndimage._filters._gaussian_kernel1d(sigma, 0, int(4 * sigma + 0.5))
                case("gaussian_filter", name, mode, [sigma, hexadecimal(factors)], source, result)
            for height, width in [(3, 3), (4, 2), (1, 5), (9, 8)]:
                result = ndimage.uniform_filter(source, (height, width), **options)
                case("uniform_filter", name, mode, [height, width], source, result)
            for axis in [0, 1]:
                case("sobel", name, mode, [axis], source, ndimage.sobel(source, axis, **options))
            case("laplace", name, mode, [], source, ndimage.laplace(source, **options))
print(f"{ndimage.__name__}: done", file=sys.stderr)
