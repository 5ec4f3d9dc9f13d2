// CUB's radix sort of keys and of pairs.
#pragma once

#include <cub/device/device_radix_sort.cuh>

#include "session.cuh"

// What an order does not change: a sum over all pairs of a number that mixes key and value; and how often a key comes before a smaller
// one. `values` may be null.
struct Ordered {
    unsigned long long sum, descents;
};

__global__ void add_ordered(const int32_t* keys, const int32_t* values, uint64_t n, Ordered* ordered) {
    uint64_t step = uint64_t(gridDim.x) * blockDim.x;
    unsigned long long sum = 0, descents = 0;
    for (uint64_t i = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
        uint32_t value = values ? uint32_t(values[i]) : 0;
        sum += hash(uint32_t(keys[i]) ^ hash(value + 1u)) + (unsigned long long)(uint32_t(keys[i])) * 3;
        descents += i + 1 < n && keys[i] > keys[i + 1];
    }
    atomicAdd(&ordered->sum, sum);
    atomicAdd(&ordered->descents, descents);
}

inline Ordered ordered_of(Session& session, const int32_t* keys, const int32_t* values, uint64_t n) {
    Memory<Ordered> device(1);
    Ordered host{};
    CHECK(cudaMemset(device.data, 0, sizeof host));
    add_ordered<<<session.multiprocessors * kStepBlocks, kStepThreads>>>(keys, values, n, device.data);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(&host, device.data, sizeof host, cudaMemcpyDeviceToHost));
    return host;
}

// Keys alone, or with as many values: the next input, as in ../src/suite/sort.rs.
inline void measure_sort(Session& session, uint64_t n, bool pairs) {
    Layout layout = session.inputs<int32_t>(n);
    Memory<int32_t> keys(layout.size()), values(pairs ? layout.size() : 0);
    const int32_t* input = session.input<int32_t>();
    size_t scratch_bytes = 0;
    if (pairs)
        CHECK(cub::DeviceRadixSort::SortPairs(nullptr, scratch_bytes, input, keys.data, input, values.data, int64_t(n), 0, 32,
                                              session.stream));
    else
        CHECK(cub::DeviceRadixSort::SortKeys(nullptr, scratch_bytes, input, keys.data, int64_t(n), 0, 32, session.stream));
    Memory<char> scratch(scratch_bytes);
    auto partner = [=](uint64_t i) { return input + (i + 1) % layout.count * layout.stride; };
    Work work;
    work.peer = "cub", work.op = pairs ? "sort_pairs" : "sort", work.type = "i32", work.n = n;
    work.inputs = layout.count, work.bytes = (pairs ? 4 : 2) * n * sizeof(int32_t);
    work.poison = [&](cudaStream_t s) {
        CHECK(cudaMemsetAsync(keys.data, Element<int32_t>::poison, keys.size * sizeof(int32_t), s));
        if (pairs) CHECK(cudaMemsetAsync(values.data, Element<int32_t>::poison, values.size * sizeof(int32_t), s));
    };
    work.launch = [&](uint64_t i, cudaStream_t s) {
        uint64_t at = i * layout.stride;
        if (pairs)
            CHECK(cub::DeviceRadixSort::SortPairs(scratch.data, scratch_bytes, input + at, keys.data + at, partner(i),
                                                  values.data + at, int64_t(n), 0, 32, s));
        else
            CHECK(cub::DeviceRadixSort::SortKeys(scratch.data, scratch_bytes, input + at, keys.data + at, int64_t(n), 0, 32, s));
    };
    work.check = [&](const Launched& launched) {
        for (uint64_t i = 0; i < layout.count; ++i) {
            if (!launched[i]) continue;
            uint64_t at = i * layout.stride;
            Ordered before = ordered_of(session, input + at, pairs ? partner(i) : nullptr, n);
            Ordered after = ordered_of(session, keys.data + at, pairs ? values.data + at : nullptr, n);
            if (after.descents != 0 || after.sum != before.sum) return false;
        }
        return true;
    };
    std::vector<Timing> timings = measure(work, session.stream, session.effort);
    session.report_all(work, timings, &session.copy_of_bytes(work.bytes));
}
