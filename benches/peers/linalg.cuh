// cuBLAS's products of matrices, of a matrix and a vector, and sums of vectors.
//
// All of ours are row-major; cuBLAS's matrices are column-major: what it calls A is our A transposed.
#pragma once

#include <cublas_v2.h>

#include "session.cuh"
#include "cublas.cuh"

// ---- cuBLAS by element type ---------------------------------------------------------------------------------

inline cublasStatus_t gemm(cublasHandle_t cublas, int n, const float* one, const float* a, const float* b,
                           const float* zero, float* c) {
    return cublasSgemm(cublas, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, one, a, n, b, n, zero, c, n);
}
inline cublasStatus_t gemm(cublasHandle_t cublas, int n, const double* one, const double* a, const double* b,
                           const double* zero, double* c) {
    return cublasDgemm(cublas, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, one, a, n, b, n, zero, c, n);
}

// ---- the reference ------------------------------------------------------------------------------------------

// Whether a sum of k products is right. cuBLAS does not state its order, but whatever it is, it errs by gamma_k of the sum of
// magnitudes at most (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., 3.5); the reference, in double, by
// as much of its own roundoff. A NaN makes the comparison false: not right.
template <class T>
__device__ bool right_product(T actual, double sum, double magnitude, uint64_t k) {
    const double roundoff = sizeof(T) == 4 ? 0x1p-24 : 0x1p-53;
    double gamma = k * roundoff / (1 - k * roundoff), own = k * 0x1p-53 / (1 - k * 0x1p-53);
    return fabs(double(actual) - sum) <= (gamma + own) * magnitude;
}

// As many elements of a product are checked, the same as in ../src/suite/linalg.rs.
constexpr uint64_t kCheckedProducts = 1024;

// Counts wrong elements of the row-major n × n product C = A * B: a thread a sample.
template <class T>
__global__ void count_wrong_products(const T* a, const T* b, const T* c, uint64_t n, uint64_t samples,
                                     unsigned long long* wrong) {
    uint64_t sample = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (sample >= samples) return;
    uint64_t index = hash(sample) % (n * n), row = index / n, column = index % n;
    double sum = 0, magnitude = 0;
    for (uint64_t k = 0; k < n; ++k) {
        double product = double(a[row * n + k]) * double(b[k * n + column]);
        sum += product, magnitude += fabs(product);
    }
    if (!right_product(c[index], sum, magnitude, n)) atomicAdd(wrong, 1ull);
}

// Counts wrong elements of y = A * x, or of A transposed, A being row-major: a thread a result.
__global__ void count_wrong_vectors(const float* a, const float* x, const float* y, uint64_t rows, uint64_t cols,
                                    bool transposed, unsigned long long* wrong) {
    uint64_t result = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (result >= (transposed ? cols : rows)) return;
    uint64_t length = transposed ? rows : cols;
    double sum = 0, magnitude = 0;
    for (uint64_t k = 0; k < length; ++k) {
        double product = double(a[transposed ? k * cols + result : result * cols + k]) * double(x[k]);
        sum += product, magnitude += fabs(product);
    }
    if (!right_product(y[result], sum, magnitude, length)) atomicAdd(wrong, 1ull);
}

// Counts the elements of z that are not those of x + y.
__global__ void count_wrong_sums(const float* x, const float* y, const float* z, uint64_t n, unsigned long long* wrong) {
    uint64_t step = uint64_t(gridDim.x) * blockDim.x;
    for (uint64_t i = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step)
        if (__float_as_uint(z[i]) != __float_as_uint(x[i] + y[i])) atomicAdd(wrong, 1ull);
}

// ---- the works ----------------------------------------------------------------------------------------------

// Products of square matrices: each input and the one after it.
template <class T>
void measure_gemm(Session& session, cublasHandle_t cublas, uint64_t n) {
    Layout layout = session.inputs<T>(n * n);
    const T* input = session.input<T>();
    Memory<T> outputs(layout.size());
    auto first = [&](uint64_t i) { return input + i * layout.stride; };
    auto second = [&](uint64_t i) { return input + (i + 1) % layout.count * layout.stride; };
    Work work;
    work.peer = "cublas", work.op = "gemm", work.type = Element<T>::name, work.n = n * n, work.rows = n, work.cols = n;
    work.inputs = layout.count, work.bytes = 3 * n * n * sizeof(T);
    work.poison = [&](cudaStream_t s) {
        CHECK(cudaMemsetAsync(outputs.data, Element<T>::poison, outputs.size * sizeof(T), s));
    };
    // Row-major C = A * B is column-major C^T = B^T * A^T.
    work.launch = [&](uint64_t i, cudaStream_t) {
        const T one = 1, zero = 0;
        CHECK_CUBLAS(gemm(cublas, int(n), &one, second(i), first(i), &zero, outputs.data + i * layout.stride));
    };
    work.check = [&](const Launched& launched) {
        const uint64_t samples = std::min(kCheckedProducts, n * n);
        return none_wrong(launched, [&](uint64_t i, unsigned long long* wrong) {
            count_wrong_products<<<unsigned((samples + 63) / 64), 64>>>(
                first(i), second(i), outputs.data + i * layout.stride, n, samples, wrong);
        });
    };
    // A copy says nothing of products.
    session.report_all(work, measure(work, session.stream, session.effort), nullptr);
}

// Products of a matrix, row-major or transposed, and a vector.
inline void measure_gemv(Session& session, cublasHandle_t cublas, uint64_t rows, uint64_t cols, bool transposed) {
    const uint64_t results = transposed ? cols : rows, length = transposed ? rows : cols;
    Layout layout = session.inputs<float>(rows * cols), vectors(layout.count, results, sizeof(float));
    const float* input = session.input<float>();
    Memory<float> outputs(vectors.size()), x(length);
    generate<<<session.multiprocessors * kStepBlocks, kStepThreads, 0, session.stream>>>(x.data, length);
    CHECK(cudaGetLastError());
    CHECK(cudaStreamSynchronize(session.stream));
    Work work;
    work.peer = "cublas", work.op = transposed ? "gemv_transposed" : "gemv";
    work.n = rows * cols, work.rows = rows, work.cols = cols;
    work.inputs = layout.count, work.bytes = (rows * cols + rows + cols) * sizeof(float);
    work.poison = [&](cudaStream_t s) {
        CHECK(cudaMemsetAsync(outputs.data, Element<float>::poison, outputs.size * sizeof(float), s));
    };
    work.launch = [&](uint64_t i, cudaStream_t) {
        const float one = 1, zero = 0;
        CHECK_CUBLAS(cublasSgemv(cublas, transposed ? CUBLAS_OP_N : CUBLAS_OP_T, int(cols), int(rows), &one,
                                 input + i * layout.stride, int(cols), x.data, 1, &zero,
                                 outputs.data + i * vectors.stride, 1));
    };
    work.check = [&](const Launched& launched) {
        return none_wrong(launched, [&](uint64_t i, unsigned long long* wrong) {
            count_wrong_vectors<<<unsigned((results + 255) / 256), 256>>>(
                input + i * layout.stride, x.data, outputs.data + i * vectors.stride, rows, cols, transposed, wrong);
        });
    };
    std::vector<Timing> timings = measure(work, session.stream, session.effort);
    session.report_all(work, timings, &session.copy_of_bytes(work.bytes));
}

// Sums of vectors, each input and the one after it: to cuBLAS they are matrices of 2^10 rows, n being a multiple of that.
inline void measure_add(Session& session, cublasHandle_t cublas, uint64_t n) {
    Layout layout = session.inputs<float>(n);
    const float* input = session.input<float>();
    Memory<float> outputs(layout.size());
    auto first = [&](uint64_t i) { return input + i * layout.stride; };
    auto second = [&](uint64_t i) { return input + (i + 1) % layout.count * layout.stride; };
    Work work;
    work.peer = "cublas", work.op = "add", work.n = n;
    work.inputs = layout.count, work.bytes = 3 * n * sizeof(float);
    work.poison = [&](cudaStream_t s) {
        CHECK(cudaMemsetAsync(outputs.data, Element<float>::poison, outputs.size * sizeof(float), s));
    };
    work.launch = [&](uint64_t i, cudaStream_t) {
        const float one = 1;
        const int rows = 1024, cols = int(n / 1024);
        CHECK_CUBLAS(cublasSgeam(cublas, CUBLAS_OP_N, CUBLAS_OP_N, rows, cols, &one, first(i), rows, &one, second(i),
                                 rows, outputs.data + i * layout.stride, rows));
    };
    work.check = [&](const Launched& launched) {
        return none_wrong(launched, [&](uint64_t i, unsigned long long* wrong) {
            count_wrong_sums<<<session.multiprocessors * kStepBlocks, kStepThreads>>>(
                first(i), second(i), outputs.data + i * layout.stride, n, wrong);
        });
    };
    std::vector<Timing> timings = measure(work, session.stream, session.effort);
    session.report_all(work, timings, &session.copy_of_bytes(work.bytes));
}
