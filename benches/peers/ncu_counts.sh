#!/usr/bin/env bash
# Holds the simulator's counts against the hardware's: for every transposition, sectors of global loads and stores and
# wavefronts of shared loads and stores, as ncu reads them off the GPU and as gpu-sim counts them. Lists both, and fails where
# they differ by more than 2 %.
#
#   ncu_counts.sh [TRANSPOSE_VARIANTS [MEMORY_METRICS]]
#
# The arguments are the two examples' executables (target/release/examples/… by default, built with
# `cargo build --release --examples`). Needs Nsight Compute and the right to read performance counters.
#   NCU   the profiler (ncu)
#   SIZE  rows and columns (1024)
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
built=${CARGO_TARGET_DIR:-$here/../../target}/release/examples
run=${1:-$built/transpose_variants}
simulate=${2:-$built/memory_metrics}
ncu=${NCU:-ncu}
size=${SIZE:-1024}
for program in "$ncu" "$run" "$simulate"; do
    if ! command -v "$program" >/dev/null; then
        echo "error: $program not found" >&2
        exit 2
    fi
done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

metrics=l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum
# What the instructions need; l1tex__data_pipe_lsu_wavefronts_mem_shared also counts turns lost to other traffic (up to 5 %).
metrics+=,smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum
metrics+=,smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum

"$simulate" --counts --size "$size" >"$scratch/simulated.csv"
tail -n +2 "$scratch/simulated.csv" | cut -d, -f1 >"$scratch/variants"
while read -r variant; do
    if ! "$ncu" --clock-control none --print-units base --metrics "$metrics" --csv --log-file "$scratch/$variant.ncu" \
        "$run" --device cuda --variant "$variant" --size "$size" --once </dev/null >"$scratch/$variant.out" 2>&1; then
        cat "$scratch/$variant.out" "$scratch/$variant.ncu" >&2 || true
        echo "error: ncu failed on $variant" >&2
        exit 2
    fi
done <"$scratch/variants"

python3 - "$scratch" "$metrics" <<'PYTHON'
import csv
import sys
from pathlib import Path

scratch, names = Path(sys.argv[1]), sys.argv[2].split(",")
labels = ["global load sectors", "global store sectors", "shared load wavefronts", "shared store wavefronts"]
simulated = list(csv.reader((scratch / "simulated.csv").open()))[1:]
bad = 0
print(f"{'variant':<18} {'count':<24} {'simulator':>12} {'ncu':>12} {'difference':>10}")
for variant, *counts in simulated:
    lines = (scratch / f"{variant}.ncu").read_text().splitlines()
    # ncu's own messages stand before the table.
    start = next((at for at, line in enumerate(lines) if line.startswith('"ID"')), None)
    if start is None:
        sys.exit(f"error: {variant}: ncu wrote no table:\n" + "\n".join(lines))
    measured = dict.fromkeys(names, 0)
    launches = 0
    for row in csv.DictReader(lines[start:]):
        # What the driver launches of its own (memset) is not ours.
        if row["Kernel Name"].startswith("transpose"):
            measured[row["Metric Name"]] += int(float(row["Metric Value"].replace(",", "")))
            launches += row["Metric Name"] == names[0]
    if launches == 0:
        sys.exit(f"error: {variant}: ncu saw no kernel called transpose…")
    for name, label, count in zip(names, labels, map(int, counts)):
        actual = measured[name]
        difference = 0.0 if actual == count else abs(count - actual) / max(actual, 1)
        wrong = difference > 0.02
        bad += wrong
        print(f"{variant:<18} {label:<24} {count:>12} {actual:>12} {100 * difference:>9.2f}%{'  <-- more than 2 %' if wrong else ''}")
print(f"{bad} of {4 * len(simulated)} counts differ by more than 2 %")
sys.exit(bad > 0)
PYTHON
