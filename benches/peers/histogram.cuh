// CUB's histograms with bins of the same width.
#pragma once

#include <cub/device/device_histogram.cuh>

#include "reduce.cuh"
#include "session.cuh"

constexpr int kBins = 256;

// The bounds of the inputs, as levels.
template <class T> struct Bounds;
template <> struct Bounds<float> {
    static constexpr float lower = -0.5f, upper = 0.5f;
    __device__ static int bin(float value) { return min(int((value + 0.5f) * 256.0f), 255); }
};
template <> struct Bounds<uint8_t> {
    static constexpr int lower = 0, upper = 256;
    __device__ static int bin(uint8_t value) { return value; }
};

template <class T>
__global__ void count_bins(const T* input, uint64_t n, unsigned* counts) {
    uint64_t step = uint64_t(gridDim.x) * blockDim.x;
    for (uint64_t i = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step)
        atomicAdd(counts + Bounds<T>::bin(input[i]), 1u);
}

// Counts have 32 bits: less than ours, which makes no difference of weight.
template <class T>
void measure_histogram(Session& session, uint64_t n) {
    Layout layout = session.inputs<T>(n), bins(layout.count, kBins, sizeof(unsigned));
    Memory<unsigned> counts(bins.size());
    const T* input = session.input<T>();
    auto lower = Bounds<T>::lower, upper = Bounds<T>::upper;
    size_t scratch_bytes = 0;
    CHECK(cub::DeviceHistogram::HistogramEven(nullptr, scratch_bytes, input, counts.data, kBins + 1, lower, upper, int(n),
                                              session.stream));
    Memory<char> scratch(scratch_bytes);
    Work work;
    work.peer = "cub", work.op = "histogram", work.type = Element<T>::name, work.n = n;
    work.inputs = layout.count, work.bytes = n * sizeof(T);
    work.poison = [&](cudaStream_t s) { CHECK(cudaMemsetAsync(counts.data, 0xa5, counts.size * sizeof(unsigned), s)); };
    work.launch = [&](uint64_t i, cudaStream_t s) {
        CHECK(cub::DeviceHistogram::HistogramEven(scratch.data, scratch_bytes, input + i * layout.stride,
                                                  counts.data + i * bins.stride, kBins + 1, lower, upper, int(n), s));
    };
    work.check = [&](const Launched& launched) {
        std::vector<unsigned> found = to_host(counts);
        for (uint64_t i = 0; i < layout.count; ++i) {
            if (!launched[i]) continue;
            Memory<unsigned> expected(kBins);
            CHECK(cudaMemset(expected.data, 0, kBins * sizeof(unsigned)));
            count_bins<<<session.multiprocessors * kStepBlocks, kStepThreads>>>(input + i * layout.stride, n, expected.data);
            CHECK(cudaGetLastError());
            std::vector<unsigned> wanted = to_host(expected);
            if (!std::equal(wanted.begin(), wanted.end(), found.begin() + i * bins.stride)) return false;
        }
        return true;
    };
    std::vector<Timing> timings = measure(work, session.stream, session.effort);
    session.report_all(work, timings, &session.copy_of_bytes(work.bytes));
}
