"""NumPy's products at the shapes that `product-shapes --cpu --list` prints, on standard input.

Prints each line with its peer and the milliseconds of a call.
"""

import statistics
import sys
import time

import numpy


def matrix(generator, rows, columns, dtype, transposed):
    shape = (columns, rows) if transposed else (rows, columns)
    values = generator.random(shape).astype(dtype) - dtype(0.5)
    return values.T if transposed else values


def timed(call):
    def batch(calls):
        start = time.perf_counter()
        for _ in range(calls):
            call()
        return (time.perf_counter() - start) * 1e3 / calls

    batch(1)
    once = batch(2)
    calls = int(min(20_000, max(1, 10 / max(1e-4, once))))
    return statistics.median(batch(calls) for _ in range(3 if once > 10 else 9))


def main():
    generator = numpy.random.default_rng(20261121)
    print(f"# NumPy {numpy.__version__}", flush=True)
    for line in sys.stdin:
        op, element, m, n, k, orders, _ = line.split()
        m, n, k = int(m), int(n), int(k)
        dtype = numpy.float32 if element == "f32" else numpy.float64
        a = matrix(generator, m, k, dtype, orders[0] == "t")
        if op == "gemv":
            b, c = generator.random(k).astype(dtype), numpy.zeros(m, dtype)
        else:
            b, c = matrix(generator, k, n, dtype, orders[1] == "t"), numpy.zeros((m, n), dtype)
        print(f"{line.strip()} numpy {timed(lambda: numpy.matmul(a, b, out=c)):.6f}", flush=True)


main()
