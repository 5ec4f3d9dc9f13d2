#!/usr/bin/env python3
"""Times products of matrices on the CPU beside NumPy's, and prints the ratios of their speeds.

Each shape is timed by ours and by NumPy, each in a process of its own, in turn: threads of one library that wait for
work would take a core from the other. Of several rounds the median counts. On a machine that others use too, a process
may be half as fast as the next one: a shape that falls short can be timed more often before it counts. Shapes are those
of `product-shapes --cpu --list`, or lines like them. Needs NumPy, Linux's taskset, and
`cargo build --release -p gpu-benches`.

Exit codes: 0 all are at least as fast as asked for, 1 a program failed or no shape was selected, 2 wrong arguments,
4 one is slower.
"""

import argparse
import datetime
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent


def run(command, line, cores):
    """Milliseconds of the product that one line asks for."""
    count = str(len(cores.split(",")))
    threads = {f"{library}_NUM_THREADS": count for library in ["RAYON", "OPENBLAS", "OMP", "MKL"]}
    command = ["taskset", "-c", cores, *command]
    environment = os.environ | threads
    done = subprocess.run(command, input=line + "\n", text=True, stdout=subprocess.PIPE, env=environment)
    rows = [row for row in done.stdout.splitlines() if row.startswith(line)]
    if done.returncode != 0 or len(rows) != 1:
        sys.exit(f"{command[3]} ended with {done.returncode} and {len(rows)} results for {line}")
    return float(rows[0].split()[-1])


def group(line):
    """Which of the four groups a shape is of."""
    op, *_, drawn = line.split()
    return f"{op}, drawn" if drawn == "1" else op


def summary(title, ratios):
    ordered = sorted(ratios)
    mean = math.exp(statistics.fmean(math.log(ratio) for ratio in ordered))
    print(f"{title:<24} {len(ordered):>5} {mean:>8.2f} {ordered[len(ordered) // 20]:>8.2f} {ordered[0]:>8.2f}")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    built = str(HERE.parent / "target/release/product-shapes")
    add("--ours", nargs="+", default=[built], metavar="PROGRAM", help="product-shapes; of several the first one counts")
    add("--python", default=sys.executable, metavar="PROGRAM", help="a python3 that has NumPy")
    add("--shapes", metavar="FILE", help="lines as of `product-shapes --cpu --list`; - for standard input")
    add("--filter", default="", metavar="TEXT", help="only shapes whose line contains it")
    add("--cores", default="0", metavar="LIST", help="the cores of both, such as 0,1, and as many threads (default 0)")
    add("--rounds", type=int, default=3, metavar="N", help="how often each is timed (default 3)")
    add("--again", type=int, default=0, metavar="N", help="how often more one that falls short is timed (default 0)")
    add("--least", type=float, default=0.8, metavar="RATIO", help="the least of NumPy's speed (default 0.8)")
    add("--out", metavar="FILE", help="keep the results: JSON lines, appended")
    add("--device", default="CPU", metavar="NAME", help="the device to note")
    add("--commit", default="unknown", metavar="HASH", help="the commit to note")
    args = parser.parse_args()
    if args.rounds < 1 or args.again < 0:
        parser.error("--rounds needs 1 or more, and --again 0 or more")
    return args


def main():
    args = arguments()
    if args.shapes is None:
        text = subprocess.run([args.ours[0], "--cpu", "--list"], text=True, stdout=subprocess.PIPE, check=True).stdout
    else:
        text = (sys.stdin if args.shapes == "-" else open(args.shapes)).read()
    lines = [line.strip() for line in text.splitlines() if line.strip() and args.filter in line]
    if not lines:
        sys.exit("no shape is selected")
    version = subprocess.run(
        [args.python, "-c", "import numpy; print(numpy.__version__)"], text=True, stdout=subprocess.PIPE, check=True
    ).stdout.strip()
    programs = {name: [name, "--cpu", "--shapes", "-"] for name in args.ours}
    programs["numpy"] = [args.python, str(HERE / "peers/products.py")]
    ratios, slow = {name: {} for name in args.ours}, 0
    print(f"{'shape':<36} {'NumPy µs':>12}" + f" {'ours µs':>12} {'ratio':>6}" * len(args.ours))
    for line in lines:
        times = {name: [] for name in programs}
        for rounds in [args.rounds, args.again]:
            for _ in range(rounds):
                for name, command in programs.items():
                    times[name].append(run(command, line, args.cores))
            medians = {name: statistics.median(all_of_it) for name, all_of_it in times.items()}
            is_slow = medians["numpy"] / medians[args.ours[0]] < args.least
            if not is_slow:
                break
        row = f"{line:<36} {medians['numpy'] * 1e3:>12.2f}"
        for name in args.ours:
            ratio = medians["numpy"] / medians[name]
            ratios[name].setdefault(group(line), []).append(ratio)
            row += f" {medians[name] * 1e3:>12.2f} {ratio:>6.2f}"
        slow += is_slow
        print(row + (" <" if is_slow else ""), flush=True)
        if args.out:
            keep(args, line, medians, version, len(times["numpy"]))
    for name in args.ours:
        print(f"\n{'x NumPy, ' + pathlib.Path(name).name:<24} {'':>5} {'mean':>8} {'5 %':>8} {'least':>8}")
        for title, all_of_it in ratios[name].items():
            summary(title, all_of_it)
    return 4 if slow else 0


def keep(args, line, medians, version, runs):
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    with open(args.out, "a") as file:
        for peer, name in [("ours", args.ours[0]), (f"numpy-{version}", "numpy")]:
            result = {"suite": "product-shapes", "peer": peer, "shape": line, "ms_median": round(medians[name], 6)}
            result |= {"device": args.device, "driver": "none", "commit": args.commit, "date": now}
            result |= {"runs": runs, "threads": len(args.cores.split(","))}
            file.write(json.dumps(result) + "\n")


if __name__ == "__main__":
    sys.exit(main())
