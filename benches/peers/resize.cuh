// NPP's bilinear halving of an image of floats.
#pragma once

#include "linalg.cuh"  // none_wrong
#include "npp.cuh"
#include "session.cuh"

// Counts the elements of the half that are not NPP's: it sets pixel (x, y) from place (2x, 2y) of the input, so that halving takes every
// other pixel of every other row, bit for bit, and interpolates nothing. (Ours takes the mean of the four that a pixel of the half covers.)
__global__ void count_wrong_halves(const float* input, const float* output, uint64_t rows, uint64_t cols,
                                   unsigned long long* wrong) {
    uint64_t step = uint64_t(gridDim.x) * blockDim.x, half = cols / 2;
    for (uint64_t i = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < rows / 2 * half; i += step) {
        if (output[i] != input[2 * (i / half) * cols + 2 * (i % half)]) atomicAdd(wrong, 1ull);
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
