// CUB's compaction and partition by flags.
#pragma once

#include <cub/device/device_partition.cuh>
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

struct IsClear {
    __host__ __device__ bool operator()(uint8_t flag) const { return flag == 0; }
};

// Counts the differences between an array and the other one from its last element to its first.
__global__ void count_unequal_reversed(const int32_t* actual, const int32_t* expected, uint64_t n, unsigned long long* unequal) {
    uint64_t step = uint64_t(gridDim.x) * blockDim.x;
    for (uint64_t i = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step)
        if (actual[i] != expected[n - 1 - i]) atomicAdd(unequal, 1ull);
}

// CUB's partition writes one array, the items without a flag behind the others and in the reverse of their order; ours writes two, both in
// their order. The bytes are the same.
inline void measure_select(Session& session, uint64_t n, bool partition) {
    Layout layout = session.inputs<int32_t>(n);
    Memory<int32_t> outputs(layout.size()), expected(n);
    Memory<uint8_t> flags(n);
    Memory<unsigned long long> counts(layout.count);
    const int32_t* input = session.input<int32_t>();
    generate_flags<<<session.multiprocessors * kStepBlocks, kStepThreads, 0, session.stream>>>(flags.data, n);
    CHECK(cudaGetLastError());
    CHECK(cudaStreamSynchronize(session.stream));
    auto select_expected = [&](uint64_t i, auto is_kept) {
        const int32_t* first = input + i * layout.stride;
        return uint64_t(thrust::copy_if(thrust::device, first, first + n, flags.data, expected.data, is_kept) - expected.data);
    };
    const uint64_t selected = select_expected(0, IsSet());
    auto flagged = [&](void* scratch, size_t& bytes, uint64_t i, cudaStream_t s) {
        const int32_t* items = input + i * layout.stride;
        int32_t* output = outputs.data + i * layout.stride;
        if (partition)
            CHECK(cub::DevicePartition::Flagged(scratch, bytes, items, flags.data, output, counts.data + i, int64_t(n), s));
        else
            CHECK(cub::DeviceSelect::Flagged(scratch, bytes, items, flags.data, output, counts.data + i, int64_t(n), s));
    };
    size_t scratch_bytes = 0;
    flagged(nullptr, scratch_bytes, 0, session.stream);
    Memory<char> scratch(scratch_bytes);
    Work work;
    work.peer = "cub", work.op = partition ? "partition" : "select", work.type = "i32", work.n = n;
    work.inputs = layout.count, work.bytes = n + (n + (partition ? n : selected)) * sizeof(int32_t);
    work.poison = [&](cudaStream_t s) {
        CHECK(cudaMemsetAsync(outputs.data, Element<int32_t>::poison, outputs.size * sizeof(int32_t), s));
        CHECK(cudaMemsetAsync(counts.data, 0xa5, counts.size * sizeof(unsigned long long), s));
    };
    work.launch = [&](uint64_t i, cudaStream_t s) { flagged(scratch.data, scratch_bytes, i, s); };
    work.check = [&](const Launched& launched) {
        std::vector<unsigned long long> found = to_host(counts);
        Memory<unsigned long long> unequal(1);
        CHECK(cudaMemset(unequal.data, 0, sizeof(unsigned long long)));
        for (uint64_t i = 0; i < layout.count; ++i) {
            if (!launched[i]) continue;
            if (found[i] != select_expected(i, IsSet())) return false;
            const int32_t* output = outputs.data + i * layout.stride;
            count_unequal<<<session.multiprocessors * kStepBlocks, kStepThreads>>>(output, expected.data, found[i], unequal.data);
            CHECK(cudaGetLastError());
            if (!partition) continue;
            CHECK(cudaDeviceSynchronize());
            select_expected(i, IsClear());
            count_unequal_reversed<<<session.multiprocessors * kStepBlocks, kStepThreads>>>(
                output + found[i], expected.data, n - found[i], unequal.data);
            CHECK(cudaGetLastError());
        }
        CHECK(cudaDeviceSynchronize());
        return to_host(unequal)[0] == 0;
    };
    std::vector<Timing> timings = measure(work, session.stream, session.effort);
    session.report_all(work, timings, &session.copy_of_bytes(work.bytes));
}
