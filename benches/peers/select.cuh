// CUB's compaction by flags.
#pragma once

#include <cub/device/device_select.cuh>
#include <thrust/copy.h>
#include <thrust/execution_policy.h>

#include "reduce.cuh"
#include "session.cuh"

// The flags of ../src/suite/select.rs.
__global__ void generate_flags(uint8_t* flags, uint64_t n) {
    uint64_t step = uint64_t(gridDim.x) * blockDim.x;
    for (uint64_t i = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) flags[i] = hash(i) & 1;
}

__global__ void count_unequal(const int32_t* actual, const int32_t* expected, uint64_t n, unsigned long long* unequal) {
    uint64_t step = uint64_t(gridDim.x) * blockDim.x;
    for (uint64_t i = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step)
        if (actual[i] != expected[i]) atomicAdd(unequal, 1ull);
}

struct IsSet {
    __host__ __device__ bool operator()(uint8_t flag) const { return flag != 0; }
};

inline void measure_select(Session& session, uint64_t n) {
    Layout layout = session.inputs<int32_t>(n);
    Memory<int32_t> outputs(layout.size()), expected(n);
    Memory<uint8_t> flags(n);
    Memory<unsigned long long> counts(layout.count);
    const int32_t* input = session.input<int32_t>();
    generate_flags<<<session.multiprocessors * kStepBlocks, kStepThreads, 0, session.stream>>>(flags.data, n);
    CHECK(cudaGetLastError());
    CHECK(cudaStreamSynchronize(session.stream));
    auto select_expected = [&](uint64_t i) {
        const int32_t* first = input + i * layout.stride;
        return uint64_t(thrust::copy_if(thrust::device, first, first + n, flags.data, expected.data, IsSet()) - expected.data);
    };
    const uint64_t selected = select_expected(0);
    size_t scratch_bytes = 0;
    CHECK(cub::DeviceSelect::Flagged(nullptr, scratch_bytes, input, flags.data, outputs.data, counts.data, int64_t(n),
                                     session.stream));
    Memory<char> scratch(scratch_bytes);
    Work work;
    work.peer = "cub", work.op = "select", work.type = "i32", work.n = n;
    work.inputs = layout.count, work.bytes = n + (n + selected) * sizeof(int32_t);
    work.poison = [&](cudaStream_t s) {
        CHECK(cudaMemsetAsync(outputs.data, Element<int32_t>::poison, outputs.size * sizeof(int32_t), s));
        CHECK(cudaMemsetAsync(counts.data, 0xa5, counts.size * sizeof(unsigned long long), s));
    };
    work.launch = [&](uint64_t i, cudaStream_t s) {
        CHECK(cub::DeviceSelect::Flagged(scratch.data, scratch_bytes, input + i * layout.stride, flags.data,
                                         outputs.data + i * layout.stride, counts.data + i, int64_t(n), s));
    };
    work.check = [&](const Launched& launched) {
        std::vector<unsigned long long> found = to_host(counts);
        Memory<unsigned long long> unequal(1);
        CHECK(cudaMemset(unequal.data, 0, sizeof(unsigned long long)));
        for (uint64_t i = 0; i < layout.count; ++i) {
            if (!launched[i]) continue;
            if (found[i] != select_expected(i)) return false;
            count_unequal<<<session.multiprocessors * kStepBlocks, kStepThreads>>>(
                outputs.data + i * layout.stride, expected.data, found[i], unequal.data);
            CHECK(cudaGetLastError());
        }
        CHECK(cudaDeviceSynchronize());
        return to_host(unequal)[0] == 0;
    };
    std::vector<Timing> timings = measure(work, session.stream, session.effort);
    session.report_all(work, timings, &session.copy_of_bytes(work.bytes));
}
