#!/usr/bin/env python3
"""PyTorch's and CuPy's sums, inclusive sums and sorts by the wall clock, at the shapes that `easy --list` prints, on standard
input: one JSON object a line, as `easy --json` writes them. `u32` are `i32` in PyTorch, which sorts no unsigned words. Which of
the two libraries is not there is said on standard error."""
import datetime
import json
import statistics
import sys
import time

# Seconds before the first timing that counts, and for all that do; the most timings; calls in a row. (benches/src/easy.rs)
SECONDS, MOST, MOST_ROWS, CALLS = 0.05, 2001, 41, 50


def samples(timed, most):
    start = time.perf_counter()
    timed()
    while time.perf_counter() - start < SECONDS:
        timed()
    times, start = [], time.perf_counter()
    while len(times) < 3 or (len(times) < most and time.perf_counter() - start < SECONDS):
        times.append(timed())
    return times


def measure(call, synchronize):
    """A call and a synchronisation, its result dropped behind it; and a call of many in a row."""

    def single():
        start = time.perf_counter()
        result = call()
        synchronize()
        del result
        return (time.perf_counter() - start) * 1e3

    def row():
        start = time.perf_counter()
        for _ in range(CALLS):
            call()
        synchronize()
        return (time.perf_counter() - start) * 1e3 / CALLS

    return (("single_wall", samples(single, MOST)), ("batch", samples(row, MOST_ROWS)))


class Torch:
    name = "torch"

    def __init__(self):
        import torch

        self.torch = torch
        self.version = torch.__version__
        self.device = torch.cuda.get_device_name()
        self.synchronize = torch.cuda.synchronize

    def call(self, op, element, n):
        torch = self.torch
        if element == "f32":
            x = torch.rand(n, device="cuda", dtype=torch.float32) - 0.5
        else:
            x = torch.randint(-(2**31), 2**31 - 1, (n,), device="cuda", dtype=torch.int32)
        out = torch.empty_like(x)
        one = torch.empty((), device="cuda", dtype=x.dtype)
        order = torch.empty(n, device="cuda", dtype=torch.int64)
        return {
            "sum": lambda: x.sum().item(),
            "sum_into": lambda: torch.sum(x, 0, out=one),
            "inclusive_sum": lambda: torch.cumsum(x, 0),
            "inclusive_sum_into": lambda: torch.cumsum(x, 0, out=out),
            "sort": lambda: torch.sort(x),
            "sort_into": lambda: torch.sort(x, out=(out, order)),
            "alloc": lambda: torch.empty(n, device="cuda", dtype=x.dtype),
            "synchronize": lambda: None,
        }.get(op)


class CuPy:
    name = "cupy"

    def __init__(self):
        import cupy

        self.cupy = cupy
        self.version = cupy.__version__
        self.device = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
        self.synchronize = cupy.cuda.Stream.null.synchronize

    def call(self, op, element, n):
        cupy = self.cupy
        if element == "f32":
            x = cupy.random.random(n, dtype=cupy.float32) - cupy.float32(0.5)
        else:
            x = cupy.random.randint(0, 2**32, n, dtype=cupy.uint32)
        out, one = cupy.empty_like(x), cupy.empty((), x.dtype)
        return {
            "sum": lambda: x.sum().item(),
            "sum_into": lambda: cupy.sum(x, out=one),
            "inclusive_sum": lambda: cupy.cumsum(x),
            "inclusive_sum_into": lambda: cupy.cumsum(x, out=out),
            "sort": lambda: cupy.sort(x),
            "alloc": lambda: cupy.empty(n, x.dtype),
            "synchronize": lambda: None,
        }.get(op)


def main():
    libraries = []
    for library in (Torch, CuPy):
        try:
            libraries.append(library())
        except Exception as error:  # Not installed, or without a GPU.
            print(f"# {library.name} is not there: {error}", file=sys.stderr)
    date = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    for line in sys.stdin:
        op, element, n, drawn = line.split()
        for library in libraries:
            try:
                call = library.call(op, element, int(n))
                if call is None:
                    continue
                for mode, times in measure(call, library.synchronize):
                    median = statistics.median(times)
                    mad = statistics.median(abs(each - median) for each in times)
                    record = {
                        "suite": "easy",
                        "peer": library.name,
                        "version": library.version,
                        "op": op,
                        "type": element,
                        "n": int(n),
                        "drawn": drawn == "1",
                        "mode": mode,
                        "clock": "wall",
                        "ms_median": round(median, 6),
                        "ms_min": round(min(times), 6),
                        "ms_mad": round(mad, 6),
                        "samples": len(times),
                        "device": library.device,
                        "date": date,
                    }
                    print(json.dumps(record), flush=True)
            except Exception as error:  # One shape that fails is no reason to lose the others.
                print(f"# {line.strip()} {library.name}: {str(error).splitlines()[:1]}", file=sys.stderr, flush=True)


main()
