// NPP's bilinear halving of an image of floats.
#pragma once

#include "linalg.cuh"  // none_wrong
#include "npp.cuh"
#include "session.cuh"

// Counts the elements of the half that are not the means of four: whatever the order, three lerps or four products err by 10 units
// of 2^-24 of the largest, ../../crates/gpu-stencil/src/resize/mod.rs has the derivation. A NaN is not right.
__global__ void count_wrong_halves(const float* input, const float* output, uint64_t rows, uint64_t cols,
                                   unsigned long long* wrong) {
    uint64_t step = uint64_t(gridDim.x) * blockDim.x, half = cols / 2;
    for (uint64_t i = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < rows / 2 * half; i += step) {
        const float* above = input + 2 * (i / half) * cols + 2 * (i % half);
        double sum = 0, largest = 0;
        for (int k = 0; k < 4; ++k) {
            double pixel = above[k / 2 * cols + k % 2];
            sum += pixel, largest = fmax(largest, fabs(pixel));
        }
        if (!(fabs(double(output[i]) - sum / 4) <= 11 * 0x1p-24 * largest)) atomicAdd(wrong, 1ull);
    }
}

inline void measure_resize_half(Session& session, uint64_t rows, uint64_t cols) {
    const uint64_t n = rows * cols;
    Layout layout = session.inputs<float>(n), halves(layout.count, n / 4, sizeof(float));
    const float* input = session.input<float>();
    Memory<float> outputs(halves.size());
    NppStreamContext context = npp_context(session);
    Work work;
    work.peer = "npp", work.op = "resize_half", work.n = n, work.rows = rows, work.cols = cols;
    work.inputs = layout.count, work.bytes = (n + n / 4) * sizeof(float);
    work.poison = [&](cudaStream_t s) {
        CHECK(cudaMemsetAsync(outputs.data, Element<float>::poison, outputs.size * sizeof(float), s));
    };
    work.launch = [&](uint64_t i, cudaStream_t) {
        const int width = int(cols), height = int(rows), pitch = int(cols * sizeof(float));
        CHECK_NPP(nppiResize_32f_C1R_Ctx(input + i * layout.stride, pitch, {width, height}, {0, 0, width, height},
                                         outputs.data + i * halves.stride, pitch / 2, {width / 2, height / 2},
                                         {0, 0, width / 2, height / 2}, NPPI_INTER_LINEAR, context));
    };
    work.check = [&](const Launched& launched) {
        return none_wrong(launched, [&](uint64_t i, unsigned long long* wrong) {
            count_wrong_halves<<<session.multiprocessors * kStepBlocks, kStepThreads>>>(
                input + i * layout.stride, outputs.data + i * halves.stride, rows, cols, wrong);
        });
    };
    std::vector<Timing> timings = measure(work, session.stream, session.effort);
    session.report_all(work, timings, &session.copy_of_bytes(work.bytes));
}
