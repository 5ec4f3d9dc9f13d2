#!/usr/bin/env python3
"""Writes opencv_nearest.txt beside itself: where OpenCV's INTER_NEAREST_EXACT takes another pixel than the exact one.

    pip install numpy opencv-python-headless
    python3 tests/tests/data/opencv_nearest.py

Rows of 1 to 59 pixels are resized to 1 to 59. Output `o` of `n` is at `(2o + 1) w / 2n` of `w` pixels, and the pixel
there is the whole part. A line: the pixels of the input, those of the output, and the outputs that are not of that
pixel; OpenCV takes the one before. The first line counts outputs and differences, and has the CRC-32 of all pixels
that OpenCV takes, a byte each, in the order of (input, output).
"""

import pathlib
import sys
import zlib

import cv2
import numpy

MOST = 59


def main():
    taken, count, lines = b"", 0, []
    for pixels in range(1, MOST + 1):
        row = numpy.arange(pixels, dtype=numpy.uint8)
        for outputs in range(1, MOST + 1):
            places = cv2.resize(row[None, :], (outputs, 1), interpolation=cv2.INTER_NEAREST_EXACT)[0]
            down = cv2.resize(row[:, None].copy(), (1, outputs), interpolation=cv2.INTER_NEAREST_EXACT)
            assert (down.ravel() == places).all(), "the axes have one rule"
            taken += places.tobytes()
            others = [o for o in range(outputs) if places[o] != (2 * o + 1) * pixels // (2 * outputs)]
            assert all(places[o] + 1 == (2 * o + 1) * pixels // (2 * outputs) for o in others)
            count += len(others)
            if others:
                lines.append(" ".join(map(str, [pixels, outputs, *others])))
    here = pathlib.Path(__file__)
    versions = f"Python {sys.version.split()[0]}, NumPy {numpy.__version__}, OpenCV {cv2.__version__}"
    head = [f"# By {here.name} with {versions}.", f"{len(taken)} {count} {zlib.crc32(taken)}"]
    here.with_suffix(".txt").write_text("\n".join(head + lines) + "\n")


main()
