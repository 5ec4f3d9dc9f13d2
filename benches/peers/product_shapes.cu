// cuBLAS's products of matrices at the shapes that `product-shapes --list` prints, on standard input:
// nvcc -O3 -std=c++17 -arch=native product_shapes.cu -lcublas. Prints each line with its peer and the milliseconds of a launch.
#include "cublas.cuh"
#include "sweep.cuh"

constexpr uint64_t kPeriod = 1 << 24;  // as in ../src/products.rs

static cublasStatus_t gemm(cublasHandle_t h, cublasOperation_t a, cublasOperation_t b, int m, int n, int k, const float* one,
                           const float* x, int ldx, const float* y, int ldy, const float* zero, float* c, int ldc) {
    return cublasSgemm(h, a, b, m, n, k, one, x, ldx, y, ldy, zero, c, ldc);
}
static cublasStatus_t gemm(cublasHandle_t h, cublasOperation_t a, cublasOperation_t b, int m, int n, int k, const double* one,
                           const double* x, int ldx, const double* y, int ldy, const double* zero, double* c, int ldc) {
    return cublasDgemm(h, a, b, m, n, k, one, x, ldx, y, ldy, zero, c, ldc);
}

constexpr uint64_t kAligned = 64;

template <typename T>
static T* pool() {
    static T* memory = [] {
        T* memory;
        const uint64_t elements = (uint64_t(1) << 30) + kAligned; // Two factors of 2^29.
        CHECK(cudaMalloc(&memory, elements * sizeof(T)));
        fill<<<4096, 256>>>(memory, elements, kPeriod);
        CHECK(cudaDeviceSynchronize());
        return memory;
    }();
    return memory;
}

template <typename T>
static void of_type(cublasHandle_t cublas, const char* line, int m, int n, int k, bool a_transposed, bool b_transposed) {
    // B is behind A.
    T *a = pool<T>(), *b = a + (uint64_t(m) * k + kAligned - 1) / kAligned * kAligned, *c;
    CHECK(cudaMalloc(&c, uint64_t(m) * n * sizeof(T)));
    const T one = 1, zero = 0;
    // Row-major C = A * B is column-major C^T = B^T * A^T; a row-major matrix is its transposed one column-major.
    double ms = batch_median([&] {
        CHECK_CUBLAS(gemm(cublas, b_transposed ? CUBLAS_OP_T : CUBLAS_OP_N, a_transposed ? CUBLAS_OP_T : CUBLAS_OP_N, n, m, k,
                          &one, b, b_transposed ? k : n, a, a_transposed ? m : k, &zero, c, n));
    });
    print_line(line, "cublas", ms);
    CHECK(cudaFree(c));
}

int main() {
    cublasHandle_t cublas;
    CHECK_CUBLAS(cublasCreate(&cublas));
    int version = 0;
    CHECK_CUBLAS(cublasGetVersion(cublas, &version));
    std::printf("# cuBLAS %d\n", version);
    char op[16], type[16], orders[8];
    int m, n, k;
    each_line([&](const char* line) {
        if (std::sscanf(line, "%15s %15s %d %d %d %7s", op, type, &m, &n, &k, orders) != 6 || std::strcmp(op, "gemm") != 0) return;
        bool a = orders[0] == 't', b = orders[1] == 't';
        if (std::strcmp(type, "f32") == 0) of_type<float>(cublas, line, m, n, k, a, b);
        else of_type<double>(cublas, line, m, n, k, a, b);
    });
}
