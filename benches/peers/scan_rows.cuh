// CUB's inclusive sums of the rows of a matrix: sums by key, a row's number being its key. CUB and Thrust have no scan along columns that
// reads rows; one through an iterator that goes down the columns would measure its strides.
#pragma once

#include <cub/device/device_scan.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include "session.cuh"

// The row of an element: a shift, so that the key costs CUB as little as can be. Columns are a power of two.
struct RowOf {
    unsigned log;
    __host__ __device__ uint32_t operator()(uint32_t i) const { return i >> log; }
};

// Counts the sums that are not right: a warp a row, in double. The bound is that of right_sum, for the magnitudes up to there.
__global__ void count_wrong_rows(const float* input, const float* sums, uint64_t rows, uint64_t cols, unsigned long long* wrong) {
    uint64_t warps = uint64_t(gridDim.x) * blockDim.x / 32;
    const unsigned lane = threadIdx.x % 32;
    for (uint64_t row = (uint64_t(blockIdx.x) * blockDim.x + threadIdx.x) / 32; row < rows; row += warps) {
        double before = 0, magnitude_before = 0;
        for (uint64_t start = 0; start < cols; start += 32) {
            const uint64_t at = row * cols + start + lane;
            const bool inside = start + lane < cols;
            double sum = inside ? input[at] : 0.0, magnitude = fabs(sum);
            for (unsigned distance = 1; distance < 32; distance *= 2) {
                double other = __shfl_up_sync(~0u, sum, distance), size = __shfl_up_sync(~0u, magnitude, distance);
                if (lane >= distance) sum += other, magnitude += size;
            }
            sum += before, magnitude += magnitude_before;
            if (inside && !(fabs(sums[at] - sum) <= 1e-6 * magnitude)) atomicAdd(wrong, 1ull);
            before = __shfl_sync(~0u, sum, 31), magnitude_before = __shfl_sync(~0u, magnitude, 31);
        }
    }
}

inline void measure_scan_rows(Session& session, uint64_t rows, uint64_t cols) {
    const uint64_t n = rows * cols;
    Layout layout = session.inputs<float>(n);
    const float* input = session.input<float>();
    Memory<float> outputs(layout.size());
    unsigned log = 0;
    while (1ull << log < cols) ++log;
    auto keys = thrust::make_transform_iterator(thrust::make_counting_iterator(uint32_t(0)), RowOf{log});
    auto scan = [&](void* scratch, size_t& bytes, uint64_t i, cudaStream_t s) {
        CHECK(cub::DeviceScan::InclusiveSumByKey(scratch, bytes, keys, input + i * layout.stride,
                                                 outputs.data + i * layout.stride, uint32_t(n), cuda::std::equal_to<>(), s));
    };
    size_t scratch_bytes = 0;
    scan(nullptr, scratch_bytes, 0, session.stream);
    Memory<char> scratch(scratch_bytes);
    Work work;
    work.peer = "cub", work.op = "scan_rows", work.n = n, work.rows = rows, work.cols = cols;
    work.inputs = layout.count, work.bytes = 2 * n * sizeof(float);
    work.poison = [&](cudaStream_t s) {
        CHECK(cudaMemsetAsync(outputs.data, Element<float>::poison, outputs.size * sizeof(float), s));
    };
    work.launch = [&](uint64_t i, cudaStream_t s) { scan(scratch.data, scratch_bytes, i, s); };
    work.check = [&](const Launched& launched) {
        return none_wrong(launched, [&](uint64_t i, unsigned long long* wrong) {
            count_wrong_rows<<<session.multiprocessors * kStepBlocks, kStepThreads>>>(
                input + i * layout.stride, outputs.data + i * layout.stride, rows, cols, wrong);
        });
    };
    std::vector<Timing> timings = measure(work, session.stream, session.effort);
    session.report_all(work, timings, &session.copy_of_bytes(work.bytes));
}
