"""Writes numpy_permutations.txt, beside this file: what numpy.transpose makes of numpy.arange.

    pip install numpy && python3 numpy_permutations.py
"""

import itertools
import pathlib

import numpy as np

SHAPES = [(4,), (3, 5), (2, 3, 4), (2, 1, 6), (2, 3, 2, 3), (2, 1, 3, 2, 2)]
# Of the 120 orders of five axes every eighth: the file stays small.
STEPS = {5: 8}

lines = ["# shape; axes; numpy.transpose(numpy.arange(size).reshape(shape), axes), row-major"]
for shape in SHAPES:
    array = np.arange(np.prod(shape)).reshape(shape)
    orders = itertools.permutations(range(len(shape)))
    for axes in itertools.islice(orders, 0, None, STEPS.get(len(shape), 1)):
        parts = (shape, axes, np.transpose(array, axes).ravel())
        lines.append("; ".join(" ".join(str(number) for number in part) for part in parts))
pathlib.Path(__file__).with_suffix(".txt").write_text("\n".join(lines) + "\n")
