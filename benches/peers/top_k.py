#!/usr/bin/env python3
"""PyTorch's topk and sort at the shapes that `sort-shapes --list` prints, on standard input: each line with its peer and the
milliseconds of a launch. Sorts where all segments are rows."""
import sys

import torch


def timed(launch):
    before, after = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)

    def batch(launches):
        before.record()
        for _ in range(launches):
            launch()
        after.record()
        after.synchronize()
        return before.elapsed_time(after) / launches

    batch(2)
    launches = int(min(1000, max(1, 10 / max(1e-3, batch(3)))))
    return sorted(batch(launches) for _ in range(9))[4]


def keys(kind, n):
    if kind in ("f32", "f64"):
        return torch.rand(n, device="cuda", dtype=torch.float32 if kind == "f32" else torch.float64) - 0.5
    if kind == "i32":
        return torch.randint(-(2**31), 2**31 - 1, (n,), device="cuda", dtype=torch.int32)
    return torch.randint(0, 256, (n,), device="cuda", dtype=torch.uint8)


print("# torch", torch.__version__)
for line in sys.stdin:
    op, kind, n, cut, row, k, _ = line.split()
    n, row, k = int(n), int(row), int(k)
    if cut != "rows":
        continue
    try:
        values = keys(kind, n).view(-1, row)
        if op == "top_k":
            out = (torch.empty(n // row, k, device="cuda", dtype=values.dtype), torch.empty(n // row, k, device="cuda", dtype=torch.int64))
            ms = timed(lambda: torch.topk(values, k, dim=1, largest=True, sorted=True, out=out))
        else:
            out = (torch.empty_like(values), torch.empty(values.shape, device="cuda", dtype=torch.int64))
            ms = timed(lambda: torch.sort(values, dim=1, out=out))
        print(line.strip(), "torch", f"{ms:.5f}", flush=True)
    except RuntimeError as error:
        print("#", line.strip(), str(error).splitlines()[0], flush=True)
    values = out = None
    torch.cuda.empty_cache()
