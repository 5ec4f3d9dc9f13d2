// CUB's sums of segments, and cuBLAS's sums of columns.
#pragma once

#include <cub/device/device_segmented_reduce.cuh>

#include "segments.hpp"
#include "session.cuh"
#include "transpose.cuh"

// Counts the segments whose sum is not right: a warp a segment, in double. Segments have up to 2^21 elements, of which a
// sum in any tree of floats errs by less than 10^-6 times the sum of magnitudes.
__global__ void count_wrong_segments(const float* input, const uint32_t* offsets, uint64_t segments,
                                     const float* sums, unsigned long long* wrong) {
    uint64_t warps = uint64_t(gridDim.x) * blockDim.x / 32;
    unsigned lane = threadIdx.x % 32;
    for (uint64_t i = (uint64_t(blockIdx.x) * blockDim.x + threadIdx.x) / 32; i < segments; i += warps) {
        double sum = 0, magnitude = 0;
        for (uint64_t k = offsets[i] + lane; k < offsets[i + 1]; k += 32) {
            sum += input[k];
            magnitude += fabs(double(input[k]));
        }
        for (int distance = 16; distance > 0; distance /= 2) {
            sum += __shfl_down_sync(~0u, sum, distance);
            magnitude += __shfl_down_sync(~0u, magnitude, distance);
        }
        if (lane == 0 && !(fabs(sums[i] - sum) <= 1e-6 * magnitude)) atomicAdd(wrong, 1ull);
    }
}

// Sums of segments of `length` elements, or of a power law for 0. The name is that of ../src/suite/segments.rs.
inline void measure_segments(Session& session, uint64_t n, uint64_t length) {
    const std::string kind = length ? size_name(length) : "power_law";
    const std::vector<uint32_t> host_offsets = segment_offsets(n, length);
    const uint64_t segments = host_offsets.size() - 1;
    Memory<uint32_t> offsets(host_offsets.size());
    upload(offsets.data, host_offsets.data(), host_offsets.size(), session.stream);
    Layout layout = session.inputs<float>(n), results(layout.count, segments, sizeof(float));
    Memory<float> outputs(results.size());
    const float* input = session.input<float>();
    size_t scratch_bytes = 0;
    CHECK(cub::DeviceSegmentedReduce::Sum(nullptr, scratch_bytes, input, outputs.data, int64_t(segments),
                                          offsets.data, offsets.data + 1, session.stream));
    Memory<char> scratch(scratch_bytes);
    Work work;
    work.peer = "cub", work.op = "segments_" + kind, work.n = n;
    // Every element and every offset is read, every sum written.
    work.inputs = layout.count, work.bytes = (n + 2 * segments + 1) * sizeof(float);
    work.poison = [&](cudaStream_t s) {
        CHECK(cudaMemsetAsync(outputs.data, Element<float>::poison, outputs.size * sizeof(float), s));
    };
    work.launch = [&](uint64_t i, cudaStream_t s) {
        CHECK(cub::DeviceSegmentedReduce::Sum(scratch.data, scratch_bytes, input + i * layout.stride,
                                              outputs.data + i * results.stride, int64_t(segments), offsets.data,
                                              offsets.data + 1, s));
    };
    work.check = [&](const Launched& launched) {
        Memory<unsigned long long> wrong(1);
        unsigned long long count = 0;
        CHECK(cudaMemset(wrong.data, 0, sizeof count));
        for (uint64_t i = 0; i < layout.count; ++i) {
            if (!launched[i]) continue;
            count_wrong_segments<<<session.multiprocessors * kStepBlocks, kStepThreads>>>(
                input + i * layout.stride, offsets.data, segments, outputs.data + i * results.stride, wrong.data);
            CHECK(cudaGetLastError());
        }
        CHECK(cudaMemcpy(&count, wrong.data, sizeof count, cudaMemcpyDeviceToHost));
        return count == 0;
    };
    std::vector<Timing> timings = measure(work, session.stream, session.effort);
    session.report_all(work, timings, &session.copy_of_bytes(work.bytes));
}

// Counts the columns of a row-major matrix whose sum is not right: a thread a column.
__global__ void count_wrong_columns(const float* input, uint64_t rows, uint64_t cols, const float* sums,
                                    unsigned long long* wrong) {
    uint64_t column = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (column >= cols) return;
    double sum = 0, magnitude = 0;
    for (uint64_t row = 0; row < rows; ++row) {
        sum += input[row * cols + column];
        magnitude += fabs(double(input[row * cols + column]));
    }
    // cuBLAS does not state its order. If it adds one row after the other, 2^14 additions err by 2^14 * 2^-24 of the sum of
    // magnitudes at most.
    if (!(fabs(sums[column] - sum) <= 1e-3 * magnitude)) atomicAdd(wrong, 1ull);
}

__global__ void fill(float* out, uint64_t n, float value) {
    uint64_t i = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) out[i] = value;
}

// Sums of the columns of a row-major matrix: its product with ones, by cuBLAS. (CUB has none.)
inline void measure_columns(Session& session, cublasHandle_t cublas, uint64_t rows, uint64_t cols) {
    Layout layout = session.inputs<float>(rows * cols), results(layout.count, cols, sizeof(float));
    Memory<float> outputs(results.size()), ones(rows);
    fill<<<unsigned((rows + 255) / 256), 256>>>(ones.data, rows, 1.0f);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    Work work;
    work.peer = "cublas", work.op = "columns", work.n = rows * cols, work.rows = rows, work.cols = cols;
    work.inputs = layout.count, work.bytes = (rows * cols + cols) * sizeof(float);
    work.poison = [&](cudaStream_t s) {
        CHECK(cudaMemsetAsync(outputs.data, Element<float>::poison, outputs.size * sizeof(float), s));
    };
    // Row-major rows × cols is column-major cols × rows.
    work.launch = [&](uint64_t i, cudaStream_t) {
        const float one = 1, zero = 0;
        CHECK_CUBLAS(cublasSgemv(cublas, CUBLAS_OP_N, int(cols), int(rows), &one,
                                 session.input<float>() + i * layout.stride, int(cols), ones.data, 1, &zero,
                                 outputs.data + i * results.stride, 1));
    };
    work.check = [&](const Launched& launched) {
        Memory<unsigned long long> wrong(1);
        unsigned long long count = 0;
        CHECK(cudaMemset(wrong.data, 0, sizeof count));
        for (uint64_t i = 0; i < layout.count; ++i) {
            if (!launched[i]) continue;
            count_wrong_columns<<<unsigned((cols + 255) / 256), 256>>>(
                session.input<float>() + i * layout.stride, rows, cols, outputs.data + i * results.stride, wrong.data);
            CHECK(cudaGetLastError());
        }
        CHECK(cudaMemcpy(&count, wrong.data, sizeof count, cudaMemcpyDeviceToHost));
        return count == 0;
    };
    std::vector<Timing> timings = measure(work, session.stream, session.effort);
    session.report_all(work, timings, &session.copy_of_bytes(work.bytes));
}
