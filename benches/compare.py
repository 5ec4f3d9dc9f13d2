#!/usr/bin/env python3
"""Runs bench-gpu and the peer program in turn, keeps what they measured, and prints ratios beside the figures wanted.

Each round runs ours, then the peers. Of every result the median over the rounds of the runs' medians counts, so a
drift of the machine's clocks falls on both sides. compare.sh builds the two programs and calls this.

Exit codes: 0 every figure that was measured is reached, 1 a program failed or nothing could be compared, 2 wrong
arguments, 4 a figure is missed.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

# A figure: what is measured, in which mode, whose time it is set beside (None: a time by itself), and the bound.
#   speed  peer's time over ours, at least the bound
#   time   our time over the peer's, at most the bound
#   ms     our time in milliseconds, at most the bound
#   gbs    our bytes in 10^9 a second, at least the bound
#   beside our time over that of another of our operations, at most the bound
#   copy   the copy's time over ours, at least the bound; of several results the slowest's
FIGURES = [
    ({"op": "first_result", "type": "f32", "n": 1 << 20}, "fresh_process", None, "ms", 60.0),
]
for op in ["sum", "max", "argmax"]:
    for element in ["f32", "f64", "i32", "u8"]:
        for log, kind, bound in [(28, "speed", 0.97), (20, "time", 0.65), (16, "time", 1.0), (10, "time", 1.0)]:
            for mode in ["single", "batch"]:
                FIGURES.append(({"op": op, "type": element, "n": 1 << log}, mode, "cub", kind, bound))
# What the fixed order costs.
FIGURES.append(({"op": "sum", "type": "f32", "n": 1 << 28}, "batch", "sum_unordered", "beside", 1.03))
for element, bound in [("f32", 1.0), ("i32", 1.0), ("u8", 1.8), ("f64", 1.0)]:
    FIGURES.append(({"op": "scan", "type": element, "n": 1 << 28}, "batch", "cub", "speed", bound))
FIGURES += [
    ({"op": "scan", "type": "f32", "n": 1 << 20}, "batch", "cub", "time", 0.75),
    ({"op": "scan", "type": "f32", "n": 1 << 20}, "batch", None, "ms", 0.006),
    ({"op": "scan", "type": "f32", "n": 1 << 10}, "batch", None, "ms", 0.0045),
]
FIGURES += [
    ({"op": "sort", "type": "i32", "n": 1 << 27}, "batch", "cub", "speed", 0.8),
    ({"op": "sort_pairs", "type": "i32", "n": 1 << 27}, "batch", "cub", "speed", 0.8),
    ({"op": "histogram", "type": "f32", "n": 1 << 28}, "batch", "cub", "speed", 0.9),
    ({"op": "histogram", "type": "u8", "n": 1 << 28}, "batch", "cub", "speed", 0.9),
    ({"op": "select", "type": "i32", "n": 1 << 28}, "batch", "cub", "speed", 0.9),
]
FIGURES += [
    ({"op": "segments_2^3"}, "batch", None, "gbs", 2500.0),
    ({"op": "segments_2^5"}, "batch", None, "gbs", 2500.0),
    ({"op": "segments_2^8"}, "batch", None, "gbs", 2500.0),
    ({"op": "segments_2^12"}, "batch", "cub", "speed", 0.97),
    ({"op": "segments_2^20"}, "batch", None, "gbs", 3800.0),
    ({"op": "segments_power_law"}, "batch", None, "gbs", 2000.0),
    ({"op": "columns", "type": "f32", "rows": 16384, "cols": 16384}, "batch", None, "gbs", 3500.0),
    ({"op": "transpose", "type": "f32", "rows": 16384, "cols": 16384}, "single", "cublas", "speed", 1.0),
    ({"op": "transpose", "type": "f32", "rows": 16384, "cols": 16384}, "batch", "cublas", "speed", 1.0),
    ({"op": "transpose", "type": "f32", "rows": 1024, "cols": 1024}, "batch", "cublas", "time", 0.8),
    ({"op": "transpose", "type": "f32", "rows": 16381, "cols": 16363}, "batch", None, "copy", 0.85),
    ({"op": "transpose", "type": "f32", "rows": 16381, "cols": 16363}, "batch", "cublas", "speed", 1.0),
    ({"op": "permute", "type": "u8", "rows": 16384, "cols": 16384}, "batch", None, "copy", 0.85),
    ({"op": "permute", "type": "f64", "rows": 16384, "cols": 16384}, "batch", None, "copy", 0.95),
    ({"op": "permute", "type": "u128", "rows": 8192, "cols": 8192}, "batch", None, "copy", 0.95),
]
for element in ["u8", "u16", "f64"]:
    FIGURES.append(({"op": "permute", "type": element, "rows": 16381, "cols": 16363}, "batch", None, "copy", 0.85))
for element in ["u8", "u16", "f32", "f64", "u128"]:
    for side in [8192, 16384]:
        FIGURES.append(({"op": "in_place", "type": element, "rows": side, "cols": side}, "batch", None, "copy", 0.9))
# All 24 orders of the axes of an array of 2-byte elements: permute_0123 and so on.
FIGURES.append(({"op": "permute_*", "type": "u16", "n": 1 << 32}, "batch", None, "copy", 0.8))
for element, side, bound in [("f32", 512, 1.0), ("f32", 4096, 0.9), ("f32", 8192, 0.9), ("f64", 4096, 0.8)]:
    FIGURES.append(({"op": "gemm", "type": element, "rows": side, "cols": side}, "batch", "cublas", "speed", bound))
for op, rows, cols, bound in [
    ("gemv", 4096, 4096, 1.1), ("gemv", 16384, 16384, 0.97), ("gemv", 100000, 2000, 1.1),
    ("gemv_transposed", 4096, 4096, 1.1), ("gemv_transposed", 16384, 16384, 0.97),
]:
    FIGURES.append(({"op": op, "type": "f32", "rows": rows, "cols": cols}, "batch", "cublas", "speed", bound))
FIGURES.append(({"op": "resize_half", "type": "f32", "rows": 16384, "cols": 16384}, "batch", "npp", "speed", 1.0))
FIGURES.append(({"op": "add", "type": "f32", "n": 1 << 28}, "batch", None, "copy", 0.97))
for op, element, kind, bound in [
    ("gaussian_5x5", "f32", "gbs", 3400.0), ("gaussian_11x11", "f32", "gbs", 2800.0), ("gaussian_5x5", "u8", "gbs", 2000.0),
    ("filter_3x3", "f32", "speed", 1.2), ("filter_11x11", "f32", "speed", 4.0), ("sobel_magnitude", "f32", "gbs", 3600.0),
]:
    peer = "npp" if kind == "speed" else None
    FIGURES.append(({"op": op, "type": element, "rows": 16384, "cols": 16384}, "batch", peer, kind, bound))

OURS = "ours"


def subject(record):
    """What a record measures, whoever measured it."""
    return (record["op"], record["type"], record["n"], record["rows"], record["cols"], record["mode"])


def size(record):
    """The shape as people write it."""
    n, rows, cols = record["n"], record["rows"], record["cols"]
    if rows is not None:
        return f"{rows}×{cols}"
    return f"2^{n.bit_length() - 1}" if n and n & (n - 1) == 0 else str(n)


def operations(record):
    """Floating-point operations of one launch, None where they are not what counts. As Subject::operations."""
    if record["op"] == "gemm":
        return 2 * record["rows"] ** 3
    if record["op"] in ("gemv", "gemv_transposed", "symv"):
        return 2 * record["n"]
    if record["op"] == "trmv":
        return record["rows"] * (record["rows"] + 1)
    return None


def speed(record, milliseconds):
    """10^12 operations a second as text."""
    count = operations(record)
    return f"{count / milliseconds / 1e9:.2f}" if count else "–"


class Results:
    """The records of all rounds, by peer and subject."""

    def __init__(self, records):
        self.records = {}
        for record in records:
            self.records.setdefault((record["peer"], subject(record)), []).append(record)

    def peers(self):
        """Each pair of our records and a peer's of the same subject, in our order of measurement."""
        for (peer, what), ours in self.records.items():
            if peer != OURS:
                continue
            for (other, theirs), records in self.records.items():
                if other != OURS and theirs == what:
                    yield other, ours, records

    def find(self, peer, wanted, mode):
        """The records of one peer that have these values, a list for each result. A `*` at the end stands for anything."""
        def fits(value, pattern):
            if isinstance(pattern, str) and pattern.endswith("*"):
                return value.startswith(pattern[:-1])
            return value == pattern

        return [records for (whose, _), records in self.records.items()
                if whose == peer and records[0]["mode"] == mode
                and all(fits(records[0][key], wanted[key]) for key in wanted)]


def time(records):
    """Milliseconds: the median over the rounds of the runs' medians."""
    return statistics.median(record["ms_median"] for record in records)


def ratios_by_round(numerator, denominator):
    """The ratio within each round that has both: how far it moves from round to round."""
    below = {record["round"]: record["ms_median"] for record in denominator}
    return [r["ms_median"] / below[r["round"]] for r in numerator if below.get(r["round"])]


def table(header, rows):
    """Text in aligned columns: the first flush left, numbers flush right."""
    cells = [header] + rows
    widths = [max(len(row[column]) for row in cells) for column in range(len(header))]
    numeric = [all(re.match(r"[-–\d]", row[column] or "–") for row in rows) for column in range(len(header))]
    lines = []
    for row in [header, ["-" * width for width in widths]] + rows:
        padded = [c.rjust(w) if n else c.ljust(w) for c, w, n in zip(row, widths, numeric)]
        lines.append("  ".join(padded).rstrip())
    return "\n".join(lines)


def ratio_rows(results):
    """A row for everything that both sides measured."""
    rows = []
    for peer, ours, theirs in results.peers():
        if not time(ours):
            continue
        rounds = ratios_by_round(theirs, ours)
        record = ours[0]
        rows.append([
            record["op"], record["type"], size(record), record["mode"], peer,
            f"{time(ours) * 1e3:.2f}", f"{time(theirs) * 1e3:.2f}", f"{time(theirs) / time(ours):.3f}",
            f"{min(rounds):.3f}–{max(rounds):.3f}" if rounds else "–",
            speed(record, time(ours)),
        ])
    return rows


def name(wanted):
    """What a figure is of."""
    words = [wanted["op"].rstrip("_*")]
    if "type" in wanted:
        words.append(wanted["type"])
    if "rows" in wanted:
        words.append("%d×%d" % (wanted["rows"], wanted["cols"]))
    elif "n" in wanted:
        words.append("2^%d" % (wanted["n"].bit_length() - 1))
    return " ".join(words)


def value_of(kind, ours, theirs):
    """The number that a figure bounds, or None where the records do not have it."""
    if kind == "copy":
        fractions = [record["copy_fraction"] for record in ours if record["copy_fraction"] is not None]
        return statistics.median(fractions) if fractions else None
    if not time(ours):
        return None
    if kind == "gbs":
        return ours[0]["bytes"] / 1e6 / time(ours)
    return {"speed": lambda: time(theirs) / time(ours), "time": lambda: time(ours) / time(theirs),
            "beside": lambda: time(ours) / time(theirs), "ms": lambda: time(ours)}[kind]()


def judge(results):
    """The figures that were measured as rows of text, the others by name, and how many were missed."""
    rows, unmeasured, missed = [], [], 0
    for wanted, mode, peer, kind, bound in FIGURES:
        found = results.find(OURS, wanted, mode)
        if kind == "beside":
            theirs = results.find(OURS, dict(wanted, op=peer), mode)
        else:
            theirs = results.find(peer, wanted, mode) if peer else [None]
        values = [value_of(kind, ours, theirs[0]) for ours in found] if theirs else []
        values = [value for value in values if value is not None]
        if not values:
            unmeasured.append(f"{name(wanted)} {mode}")
            continue
        value = max(values) if kind in ("time", "ms", "beside") else min(values)
        reached = value <= bound if kind in ("time", "ms", "beside") else value >= bound
        missed += not reached
        text = {"speed": f"≥ {bound:.2f} × {peer}'s speed", "time": f"≤ {bound:.2f} × {peer}'s time",
                "beside": f"≤ {bound:.2f} × {peer}'s time",
                "ms": f"≤ {bound:g} ms", "gbs": f"≥ {bound:.0f} GB/s", "copy": f"≥ {bound:.2f} of the copy"}[kind]
        digits = {"gbs": 0, "ms": 4 if bound < 1 else 3}.get(kind, 3)
        rows.append([name(wanted), mode, text, f"{value:.{digits}f}", "PASS" if reached else "MISS"])
    return rows, unmeasured, missed


def run(program, arguments, round_number, path):
    """Runs one program; its records, with the round noted, and whether it failed: it may have measured something before."""
    command = [program, *arguments, "--json", path]
    # What the programs print is for people who run them alone.
    done = subprocess.run(command, stdout=subprocess.DEVNULL)
    failed = done.returncode != 0
    if failed:
        print(f"error: {' '.join(command)} ended with {done.returncode}", file=sys.stderr)
        if not os.path.exists(path):
            return [], failed
    with open(path, encoding="utf-8") as lines:
        return [dict(json.loads(line), round=round_number) for line in lines if line.strip()], failed


def result_file(records):
    """benches/results/<device>-<date>.jsonl"""
    device = re.sub(r"[^a-z0-9]+", "-", records[0]["device"].lower()).strip("-")
    name = f"{device}-{records[0]['date'][:10]}.jsonl"
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "results", name)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ours", metavar="PROGRAM", help="bench-gpu")
    parser.add_argument("--peers", metavar="PROGRAM", help="what peers/build.sh built")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="runs of each program (3)")
    parser.add_argument("--filter", action="append", default=[], metavar="TEXT", help="as for bench-gpu")
    parser.add_argument("--quick", action="store_true", help="as for bench-gpu")
    parser.add_argument("--warm", action="store_true", help="as for bench-gpu")
    parser.add_argument("--commit", metavar="HASH", help="as for bench-gpu")
    parser.add_argument("--out", metavar="FILE", help="where the records go (results/<device>-<date>.jsonl)")
    parser.add_argument("--from", dest="source", metavar="FILE", help="run nothing: print what this file holds")
    parser.add_argument("--all", action="store_true", help="name the figures that were not measured, too")
    options = parser.parse_args()
    if options.source is None and not (options.ours and options.peers):
        parser.error("--ours and --peers are needed, or --from")
    if options.warm and not options.out:
        parser.error("--warm needs --out: its results do not belong among the others")
    if options.rounds < 1:
        parser.error("--rounds is at least 1")
    return options


def measure(options):
    """Runs everything and keeps it; a run that is cut short leaves the rounds that were whole, and one that a program fails in is the last:
    what was measured in it counts. The records, and whether a program failed."""
    passed = [word for text in options.filter for word in ("--filter", text)]
    passed += ["--quick"] if options.quick else []
    passed += ["--warm"] if options.warm else []
    passed += ["--commit", options.commit] if options.commit else []
    records, out, failed = [], options.out, False
    with tempfile.TemporaryDirectory() as folder:
        for number in range(1, options.rounds + 1):
            for name, program in ((OURS, options.ours), ("peers", options.peers)):
                print(f"round {number} of {options.rounds}: {name}", file=sys.stderr, flush=True)
                found, wrong = run(program, passed, number, os.path.join(folder, f"{name}-{number}.jsonl"))
                failed |= wrong
                commit = next((r["commit"] for r in records + found if r["peer"] == OURS), "unknown")
                for record in found:
                    # The peers are of the same checkout, but a C++ program does not know which that is.
                    if record["peer"] != OURS and record["commit"] == "unknown":
                        record["commit"] = commit
                records += found
            if not records:
                sys.exit("error: nothing was measured")
            out = out or result_file(records)
            with open(out, "w", encoding="utf-8") as lines:
                lines.writelines(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
            if failed:
                break
    print(f"{len(records)} records in {out}", file=sys.stderr)
    return records, failed


def main():
    options, failed = arguments(), False
    if options.source is not None:
        with open(options.source, encoding="utf-8") as lines:
            records = [json.loads(line) for line in lines if line.strip()]
    else:
        records, failed = measure(options)
    if not records:
        sys.exit("error: no records")
    results = Results(records)
    first, rounds = records[0], max(record.get("round", 1) for record in records)
    print(f"{first['device']}, driver {first['driver']}, commit {first['commit']}, {first['date']}, {rounds} round(s)\n")
    rows = ratio_rows(results)
    if rows:
        header = ["op", "type", "size", "mode", "peer", "ours µs", "peer µs", "peer/ours", "by round", "TFLOP/s"]
        print("Times, and how fast ours is beside the peer (peer/ours: more is better)\n")
        print(table(header, rows) + "\n")
    judged, unmeasured, missed = judge(results)
    if judged:
        print("Figures\n")
        print(table(["what", "mode", "wanted", "is", "result"], judged) + "\n")
    if unmeasured and options.all:
        print("Not measured: " + ", ".join(unmeasured) + "\n")
    print(f"{len(judged)} of {len(FIGURES)} figures measured, {missed} missed")
    if not rows and not judged:
        sys.exit("error: no result of ours has a peer's beside it")
    sys.exit(1 if failed else 4 if missed else 0)


if __name__ == "__main__":
    main()
