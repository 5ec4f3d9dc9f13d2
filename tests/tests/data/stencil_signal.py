"""Writes stencil_signal.txt: convolutions and correlations of scipy.signal, of small integers, so that every one is exact.

    python3 stencil_signal.py > stencil_signal.txt
"""

import numpy as np
import scipy
import scipy.signal

print(f"# stencil_signal.py, NumPy {np.__version__}, SciPy {scipy.__version__}: operation and mode, signal, filter, result")
random = np.random.default_rng(2019)
lengths = [(1, 1), (1, 4), (4, 1), (2, 2), (5, 2), (2, 5), (7, 3), (3, 7), (8, 8), (9, 8), (8, 9), (40, 5), (5, 40), (33, 16), (16, 33), (70, 64)]
for n, m in lengths:
    signal = random.integers(-99, 100, n).astype(float)
    weights = random.integers(-99, 100, m).astype(float)
    for operation in ["convolve", "correlate"]:
        for mode in ["full", "same", "valid"]:
            result = getattr(scipy.signal, operation)(signal, weights, mode, method="direct")
            # NumPy agrees where the signal is the longer one, and, but for the length of `same`, elsewhere.
            if n >= m or mode != "same":
                assert (result == getattr(np, operation)(signal, weights, mode)).all(), (operation, mode, n, m)
            print(operation, mode)
            for line in [signal, weights, result]:
                print(*[int(value) for value in line])
