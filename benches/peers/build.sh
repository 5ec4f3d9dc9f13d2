#!/usr/bin/env bash
# Builds the peer program: build.sh [OUTPUT]. Needs nvcc (CUDA 12 or later) with CUB, cuBLAS and NPP, as the toolkit has them.
#   NVCC  the compiler (nvcc)
#   ARCH  what to compile for: native (default, asks the GPU), or sm_90 and so on where no GPU is
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
output=${1:-$here/../../target/peers/peers}
nvcc=${NVCC:-nvcc}
if ! command -v "$nvcc" >/dev/null; then
    echo "error: $nvcc not found: install the CUDA toolkit, or name its compiler with NVCC" >&2
    exit 1
fi
mkdir -p "$(dirname "$output")"
# shellcheck disable=SC2086  # NVCC_FLAGS is a list
"$nvcc" -O3 -std=c++17 "-arch=${ARCH:-native}" ${NVCC_FLAGS:-} -o "$output" "$here/peers.cu" -lcublas -lnppif -lnppig -lnppc
echo "$output"
