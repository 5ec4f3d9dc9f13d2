// cuBLAS's transposition of a matrix of floats.
#pragma once

#include "cublas.cuh"
#include "session.cuh"

inline void measure_transpose(Session& session, cublasHandle_t cublas, uint64_t rows, uint64_t cols) {
    uint64_t n = rows * cols;
    Layout layout = session.inputs<float>(n);
    Memory<float> outputs(layout.size());
    Work work;
    work.peer = "cublas", work.op = "transpose", work.n = n, work.rows = rows, work.cols = cols;
    work.inputs = layout.count, work.bytes = 2 * n * sizeof(float);
    work.poison = [&](cudaStream_t s) {
        CHECK(cudaMemsetAsync(outputs.data, Element<float>::poison, outputs.size * sizeof(float), s));
    };
    // Row-major rows × cols is column-major cols × rows: C (rows × cols, column-major) = A^T. B is not read.
    work.launch = [&](uint64_t i, cudaStream_t) {
        const float one = 1, zero = 0;
        float* out = outputs.data + i * layout.stride;
        CHECK_CUBLAS(cublasSgeam(cublas, CUBLAS_OP_T, CUBLAS_OP_N, int(rows), int(cols), &one,
                                 session.input<float>() + i * layout.stride, int(cols), &zero, out, int(rows), out,
                                 int(rows)));
    };
    work.check = [&](const Launched& launched) { return session.right(outputs, layout, launched, rows, cols); };
    std::vector<Timing> timings = measure(work, session.stream, session.effort);
    session.report_all(work, timings, &session.copy(n));
}
