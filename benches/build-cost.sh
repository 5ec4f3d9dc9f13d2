#!/usr/bin/env bash
# What the workspace costs its users, beside the limits: sizes, and with --times how long clean builds take.
#
#   benches/build-cost.sh            sizes of PTX and packages, in seconds; fails beyond a limit
#   benches/build-cost.sh --times    also clean builds into a folder of their own, as a report: a busy machine is no failure
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
times=false
case "${1:-}" in
    --times) times=true ;;
    "") ;;
    *) sed -n '2,5p' "$0" | cut -c3-; [ "$1" = --help ] && exit 0; exit 2 ;;
esac
failed=0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# what, value, limit, unit, and beyond what it is a failure; nothing where it is only reported
row() {
    local verdict=ok
    beyond() { awk -v value="$1" -v limit="$2" 'BEGIN { exit !(value > limit) }'; }
    if beyond "$2" "$3"; then verdict=OVER; fi
    if [ -n "$5" ] && beyond "$2" "$5"; then verdict="FAILED (more than $5)" failed=1; fi
    printf '%-44s %9s %9s %-6s %s\n' "$1" "$2" "$3" "$4" "$verdict"
}
printf '%-44s %9s %9s\n' "" "is" "limit"

# ---- PTX -----------------------------------------------------------------------------------------------------------
megabytes() { cat "$@" | wc -c | awk '{ printf "%.2f", $1 / 1e6 }'; }
ptx_megabytes() { find "$@" -name '*.ptx' -print0 | xargs -0 cat | wc -c | awk '{ printf "%.2f", $1 / 1e6 }'; }
row "PTX, all families" "$(ptx_megabytes gpu-kernels/*/ptx)" 20 MB 20
largest=$(find gpu-kernels/*/ptx -name '*.ptx' -printf '%s %f\n' | sort -n | tail -1)
row "largest PTX: ${largest#* }" "$(awk -v bytes="${largest%% *}" 'BEGIN { printf "%.0f", bytes / 1e3 }')" 200 kB 220
for folder in gpu-kernels/*/; do
    family=$(basename "$folder")
    printf '  %-42s %9s %9s MB, %s files\n' "$family" "$(ptx_megabytes "$folder/ptx")" "" \
        "$(find "$folder/ptx" -name '*.ptx' | wc -l)"
done

# ---- Packages ------------------------------------------------------------------------------------------------------
# All crates that can be published, packed together, so that what they need of each other is found beside them.
cargo package --workspace --no-verify --allow-dirty --quiet --target-dir "$scratch/target" \
    --exclude gpu-calls --exclude gpu-examples --exclude gpu-first --exclude gpu-tests --exclude gpu-benches
for package in "$scratch"/target/package/*.crate; do
    row "package $(basename "$package" .crate)" "$(megabytes "$package")" 4 MB 4
done

# ---- Times ---------------------------------------------------------------------------------------------------------
# CPU seconds of a command, user and system, its children's included.
cpu_seconds() {
    local TIMEFORMAT='%U %S %R'
    { time "$@" >"$scratch/log" 2>&1; } 2>"$scratch/time" || { cat "$scratch/log"; exit 1; }
    awk '{ printf "%.0f", $1 + $2 }' "$scratch/time"
}
wall_seconds() { awk '{ printf "%.0f", $3 }' "$scratch/time"; }
if $times; then
    export CARGO_INCREMENTAL=0
    outside=(cargo build --release --manifest-path examples/outside/Cargo.toml --target-dir)
    row "examples/outside, release, clean" "$(cpu_seconds "${outside[@]}" "$scratch/outside")" 35 CPU-s ""
    row "the same with cuda" "$(cpu_seconds "${outside[@]}" "$scratch/cuda" --features cuda)" 45 CPU-s ""
    row "photo, release, clean" "$(cpu_seconds cargo build --release --example photo --target-dir "$scratch/photo")" 120 CPU-s ""
    row "  by the clock" "$(wall_seconds)" 75 s ""
    rm -rf "$scratch/outside" "$scratch/cuda" "$scratch/photo"
    row "cargo test, clean" "$(cpu_seconds cargo test --target-dir "$scratch/test")" 960 CPU-s ""
    row "  by the clock" "$(wall_seconds)" 540 s ""
fi
exit $failed
