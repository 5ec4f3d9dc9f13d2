// CUB's and Thrust's inclusive sums.
#pragma once

#include <cub/device/device_scan.cuh>
#include <thrust/execution_policy.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/scan.h>

#include "reduce.cuh"
#include "session.cuh"

// ---- the reference ------------------------------------------------------------------------------------------

// What sums are checked with: doubles for floats; for integers 64 bits, which wrap as narrower ones do.
template <class T> struct Exact { using Type = unsigned long long; };
template <> struct Exact<float> { using Type = double; };
template <> struct Exact<double> { using Type = double; };

// A negative integer becomes its value modulo 2^64.
template <class T>
struct ToExact {
    __host__ __device__ typename Exact<T>::Type operator()(T value) const { return typename Exact<T>::Type(value); }
};

__device__ inline bool right_at(float sum, double exact, double magnitude) { return fabs(sum - exact) <= 1e-6 * magnitude; }
__device__ inline bool right_at(double sum, double exact, double magnitude) { return fabs(sum - exact) <= 2e-12 * magnitude; }
__device__ inline bool right_at(int32_t sum, unsigned long long exact, double) { return uint32_t(sum) == uint32_t(exact); }
__device__ inline bool right_at(uint8_t sum, unsigned long long exact, double) { return sum == uint8_t(exact); }

// Counts the sums that are not right. CUB and Thrust do not state their order: the bound is that of right_sum, for the
// magnitudes of the whole array.
template <class T>
__global__ void count_wrong(const T* sums, const typename Exact<T>::Type* exact, uint64_t n, double magnitude,
                            unsigned long long* wrong) {
    uint64_t step = uint64_t(gridDim.x) * blockDim.x;
    for (uint64_t i = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step)
        if (!right_at(sums[i], exact[i], magnitude)) atomicAdd(wrong, 1ull);
}

// Whether all sums of the launched inputs are right.
template <class T>
bool right_scans(Session& session, Layout layout, const Launched& launched, const T* outputs) {
    using R = typename Exact<T>::Type;
    std::vector<Facts> facts = facts_of<T>(session, layout, launched);
    Memory<R> exact(layout.elements);
    Memory<unsigned long long> wrong(1);
    CHECK(cudaMemset(wrong.data, 0, sizeof(unsigned long long)));
    for (uint64_t i = 0; i < layout.count; ++i) {
        if (!launched[i]) continue;
        auto first = thrust::make_transform_iterator(session.input<T>() + i * layout.stride, ToExact<T>());
        thrust::inclusive_scan(thrust::device, first, first + layout.elements, exact.data);
        count_wrong<<<session.multiprocessors * kStepBlocks, kStepThreads>>>(
            outputs + i * layout.stride, exact.data, layout.elements, facts[i].magnitude, wrong.data);
        CHECK(cudaGetLastError());
    }
    CHECK(cudaDeviceSynchronize());
    return to_host(wrong)[0] == 0;
}

// ---- CUB and Thrust -----------------------------------------------------------------------------------------

// thrust::inclusive_scan allocates each time, and waits.
template <class T>
void measure_scan(Session& session, uint64_t n, bool thrusts) {
    Layout layout = session.inputs<T>(n);
    Memory<T> outputs(layout.size());
    const T* input = session.input<T>();
    size_t scratch_bytes = 0;
    CHECK(cub::DeviceScan::InclusiveSum(nullptr, scratch_bytes, input, outputs.data, int64_t(n), session.stream));
    Memory<char> scratch(scratch_bytes);
    Work work;
    work.peer = thrusts ? "thrust" : "cub", work.op = "scan", work.type = Element<T>::name, work.n = n;
    work.inputs = layout.count, work.bytes = 2 * n * sizeof(T);
    work.poison = [&](cudaStream_t s) {
        CHECK(cudaMemsetAsync(outputs.data, Element<T>::poison, outputs.size * sizeof(T), s));
    };
    work.launch = [&](uint64_t i, cudaStream_t s) {
        const T* first = input + i * layout.stride;
        T* sums = outputs.data + i * layout.stride;
        if (thrusts)
            thrust::inclusive_scan(thrust::cuda::par.on(s), first, first + n, sums);
        else
            CHECK(cub::DeviceScan::InclusiveSum(scratch.data, scratch_bytes, first, sums, int64_t(n), s));
    };
    work.check = [&](const Launched& launched) { return right_scans<T>(session, layout, launched, outputs.data); };
    std::vector<Timing> timings = measure(work, session.stream, session.effort);
    session.report_all(work, timings, &session.copy_of_bytes(2 * n * sizeof(T)));
}

// Those of one type, where they are selected.
template <class T>
void measure_scans(Session& session, const std::vector<uint64_t>& logs) {
    for (uint64_t log : logs) {
        if (!session.selects(std::string("scan/") + Element<T>::name + "/2^" + std::to_string(log))) continue;
        measure_scan<T>(session, 1ull << log, false);
        measure_scan<T>(session, 1ull << log, true);
    }
}
