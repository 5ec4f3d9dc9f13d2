// cuBLAS's outer products, and its products of a vector and a matrix of which one triangle is stored.
//
// All of ours are row-major with the lower triangle stored; to cuBLAS the same memory is A transposed, column-major, with the upper one.
#pragma once

#include "level1.cuh"
#include "linalg.cuh"

// ---- cuBLAS by element type ---------------------------------------------------------------------------------

inline cublasStatus_t ger(cublasHandle_t cublas, int rows, int cols, const float* alpha, const float* x, const float* y, float* a) {
    return cublasSger(cublas, cols, rows, alpha, y, 1, x, 1, a, cols);
}
inline cublasStatus_t ger(cublasHandle_t cublas, int rows, int cols, const double* alpha, const double* x, const double* y,
                          double* a) {
    return cublasDger(cublas, cols, rows, alpha, y, 1, x, 1, a, cols);
}
inline cublasStatus_t symv(cublasHandle_t cublas, int n, const float* a, const float* x, float* y) {
    const float one = 1, zero = 0;
    return cublasSsymv(cublas, CUBLAS_FILL_MODE_UPPER, n, &one, a, n, x, 1, &zero, y, 1);
}
inline cublasStatus_t symv(cublasHandle_t cublas, int n, const double* a, const double* x, double* y) {
    const double one = 1, zero = 0;
    return cublasDsymv(cublas, CUBLAS_FILL_MODE_UPPER, n, &one, a, n, x, 1, &zero, y, 1);
}
inline cublasStatus_t trmv(cublasHandle_t cublas, int n, const float* a, float* x) {
    return cublasStrmv(cublas, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_T, CUBLAS_DIAG_NON_UNIT, n, a, n, x, 1);
}
inline cublasStatus_t trmv(cublasHandle_t cublas, int n, const double* a, double* x) {
    return cublasDtrmv(cublas, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_T, CUBLAS_DIAG_NON_UNIT, n, a, n, x, 1);
}

// ---- outer products -----------------------------------------------------------------------------------------

template <class T>
struct Outer {
    const T *x, *y;
    double alpha;
    uint64_t cols;
    __device__ double operator()(uint64_t i) const { return alpha * double(x[i / cols]) * double(y[i % cols]); }
};

// A = alpha * x * y^T + A: of the generated numbers the first `n` are x, those after them y.
template <class T>
void measure_ger(Session& session, cublasHandle_t cublas, uint64_t n) {
    InPlace<T> a(session, n * n);
    Memory<T> vectors(2 * n);
    generate<<<session.multiprocessors * kStepBlocks, kStepThreads, 0, session.stream>>>(vectors.data, 2 * n);
    CHECK(cudaGetLastError());
    CHECK(cudaStreamSynchronize(session.stream));
    const T *x = vectors.data, *y = vectors.data + n;
    Work work;
    work.peer = "cublas", work.op = "ger", work.type = Element<T>::name, work.n = n * n, work.rows = n, work.cols = n;
    work.inputs = a.layout.count, work.bytes = (2 * n * n + 2 * n) * sizeof(T);
    work.poison = [&](cudaStream_t s) { a.set(s); };
    work.launch = [&](uint64_t i, cudaStream_t) {
        const T factor = alpha<T>();
        CHECK_CUBLAS(ger(cublas, int(n), int(n), &factor, x, y, a.change(i)));
    };
    work.check = [&](const Launched&) {
        return right_updates(a, 1.0, [&](uint64_t) { return Outer<T>{x, y, double(alpha<T>()), n}; });
    };
    std::vector<Timing> timings = measure(work, session.stream, session.effort);
    session.report_all(work, timings, &session.copy_of_bytes(work.bytes));
}

// ---- products with a triangle -------------------------------------------------------------------------------

// The product of a lower triangle, or of the symmetric matrix that it stands for, and a vector: the sums and those of the magnitudes, a
// thread a result.
template <class T>
__global__ void multiply_triangle(const T* a, const T* x, uint64_t n, bool symmetric, double* sums, double* magnitudes) {
    uint64_t row = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (row >= n) return;
    double sum = 0, magnitude = 0;
    for (uint64_t k = 0; k < (symmetric ? n : row + 1); ++k) {
        double product = double(k <= row ? a[row * n + k] : a[k * n + row]) * double(x[k]);
        sum += product, magnitude += fabs(product);
    }
    sums[row] = sum, magnitudes[row] = magnitude;
}

template <class T>
__global__ void count_wrong_results(const T* y, const double* sums, const double* magnitudes, uint64_t n, unsigned long long* wrong) {
    uint64_t row = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (row < n && !right_product(y[row], sums[row], magnitudes[row], n)) atomicAdd(wrong, 1ull);
}

// What is right for each input, of those that were asked for.
template <class T>
struct Products {
    Session& session;
    const T* x;
    const uint64_t n;
    const bool symmetric;
    const Layout layout;
    Memory<double> sums, magnitudes;
    std::vector<char> known;

    Products(Session& session, const T* x, uint64_t n, bool symmetric)
        : session(session), x(x), n(n), symmetric(symmetric), layout(session.inputs<T>(n * n)), sums(layout.count * n),
          magnitudes(layout.count * n), known(layout.count) {}

    void count_wrong(uint64_t input, const T* y, unsigned long long* wrong) {
        const unsigned blocks = unsigned((n + 63) / 64);
        double *sum = sums.data + input * n, *magnitude = magnitudes.data + input * n;
        if (!known[input])
            multiply_triangle<<<blocks, 64>>>(session.input<T>() + input * layout.stride, x, n, symmetric, sum, magnitude);
        known[input] = 1;
        count_wrong_results<<<blocks, 64>>>(y, sum, magnitude, n, wrong);
    }
};

inline uint64_t triangle_bytes(uint64_t n, uint64_t size) { return (n * (n + 1) / 2 + 2 * n) * size; }

// y = A * x, A being symmetric. With `atomics` cuBLAS may add in any order ("cublas_atomics"): it need not give the same bits again, as
// ours and cuBLAS's default do.
template <class T>
void measure_symv(Session& session, cublasHandle_t cublas, uint64_t n, bool atomics) {
    Layout layout = session.inputs<T>(n * n), vectors(layout.count, n, sizeof(T));
    const T* input = session.input<T>();
    Memory<T> outputs(vectors.size()), x(n);
    generate<<<session.multiprocessors * kStepBlocks, kStepThreads, 0, session.stream>>>(x.data, n);
    CHECK(cudaGetLastError());
    CHECK(cudaStreamSynchronize(session.stream));
    Products<T> products(session, x.data, n, true);
    Work work;
    work.peer = atomics ? "cublas_atomics" : "cublas", work.op = "symv", work.type = Element<T>::name;
    work.n = n * n, work.rows = n, work.cols = n;
    work.inputs = layout.count, work.bytes = triangle_bytes(n, sizeof(T));
    work.poison = [&](cudaStream_t s) {
        CHECK(cudaMemsetAsync(outputs.data, Element<T>::poison, outputs.size * sizeof(T), s));
    };
    work.launch = [&](uint64_t i, cudaStream_t) {
        CHECK_CUBLAS(symv(cublas, int(n), input + i * layout.stride, x.data, outputs.data + i * vectors.stride));
    };
    work.check = [&](const Launched& launched) {
        return none_wrong(launched, [&](uint64_t i, unsigned long long* wrong) {
            products.count_wrong(i, outputs.data + i * vectors.stride, wrong);
        });
    };
    CHECK_CUBLAS(cublasSetAtomicsMode(cublas, atomics ? CUBLAS_ATOMICS_ALLOWED : CUBLAS_ATOMICS_NOT_ALLOWED));
    std::vector<Timing> timings = measure(work, session.stream, session.effort);
    CHECK_CUBLAS(cublasSetAtomicsMode(cublas, CUBLAS_ATOMICS_NOT_ALLOWED));
    session.report_all(work, timings, &session.copy_of_bytes(work.bytes));
}

// x = A * x, A being triangular. Each launch has a vector of its own: one that is multiplied again and again is soon not finite.
template <class T>
void measure_trmv(Session& session, cublasHandle_t cublas, uint64_t n) {
    Layout layout = session.inputs<T>(n * n);
    const T* input = session.input<T>();
    const uint64_t bytes = triangle_bytes(n, sizeof(T));
    const Effort& effort = session.effort;
    const uint64_t count = std::max(effort.batches * effort.launches_a_batch(bytes), 2 * effort.singles);
    Layout vectors(count, n, sizeof(T));
    Memory<T> x(n), pristine(vectors.size()), changed(vectors.size());
    generate<<<session.multiprocessors * kStepBlocks, kStepThreads, 0, session.stream>>>(x.data, n);
    CHECK(cudaGetLastError());
    for (uint64_t number = 0; number < count; ++number)
        CHECK(cudaMemcpyAsync(pristine.data + number * vectors.stride, x.data, n * sizeof(T), cudaMemcpyDeviceToDevice,
                              session.stream));
    Products<T> products(session, x.data, n, false);
    // The vector that is multiplied next, and with which input each was.
    uint64_t next = 0;
    std::vector<uint64_t> inputs(count);
    Launched multiplied(count);
    auto set = [&](cudaStream_t s) {
        CHECK(cudaMemcpyAsync(changed.data, pristine.data, changed.size * sizeof(T), cudaMemcpyDeviceToDevice, s));
        std::fill(multiplied.begin(), multiplied.end(), 0);
        next = 0;
    };
    // Launches read them before the first set of timings, too.
    set(session.stream);
    CHECK(cudaStreamSynchronize(session.stream));
    Work work;
    work.peer = "cublas", work.op = "trmv", work.type = Element<T>::name, work.n = n * n, work.rows = n, work.cols = n;
    work.inputs = layout.count, work.bytes = bytes;
    work.poison = set;
    work.launch = [&](uint64_t i, cudaStream_t) {
        const uint64_t number = next;
        next = (number + 1) % count;
        inputs[number] = i, multiplied[number] = 1;
        CHECK_CUBLAS(trmv(cublas, int(n), input + i * layout.stride, changed.data + number * vectors.stride));
    };
    work.check = [&](const Launched&) {
        return none_wrong(multiplied, [&](uint64_t number, unsigned long long* wrong) {
            products.count_wrong(inputs[number], changed.data + number * vectors.stride, wrong);
        });
    };
    std::vector<Timing> timings = measure(work, session.stream, session.effort);
    session.report_all(work, timings, &session.copy_of_bytes(work.bytes));
}

// All of one type, where they are selected.
template <class T>
void measure_level2(Session& session, cublasHandle_t cublas, const std::vector<uint64_t>& sides) {
    for (uint64_t n : sides) {
        const std::string rest = std::string("/") + Element<T>::name + "/" + std::to_string(n) + "x" + std::to_string(n);
        if (session.selects("ger" + rest)) measure_ger<T>(session, cublas, n);
        if (session.selects("symv" + rest))
            for (bool atomics : {false, true}) measure_symv<T>(session, cublas, n, atomics);
        if (session.selects("trmv" + rest)) measure_trmv<T>(session, cublas, n);
    }
}
