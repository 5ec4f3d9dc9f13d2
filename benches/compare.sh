#!/usr/bin/env bash
# Runs our harness and the vendor's versions in turn and prints the ratios beside the figures wanted.
# Needs bash, python3, nvcc and a GPU; Rust only where BENCH_GPU is not set.
#
#   BENCH_GPU   a bench-gpu built elsewhere (cargo build --release -p gpu-benches); built here if not set
#   PEERS       the peer program built by peers/build.sh; built here if not set
#   COMMIT      the commit to note, where the programs cannot know it
# Options go to compare.py (--help says which): --rounds N, --quick, --filter TEXT, --out FILE, ...
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [[ " $* " == *" --help "* ]]; then
    exec python3 "$here/compare.py" --help
fi
if [ -z "${BENCH_GPU:-}" ]; then
    (cd "$here/.." && cargo build --release -p gpu-benches --bin bench-gpu)
    BENCH_GPU=${CARGO_TARGET_DIR:-$here/../target}/release/bench-gpu
fi
if [ -z "${PEERS:-}" ]; then
    PEERS=$(bash "$here/peers/build.sh")
fi
exec python3 "$here/compare.py" --ours "$BENCH_GPU" --peers "$PEERS" ${COMMIT:+--commit "$COMMIT"} "$@"
