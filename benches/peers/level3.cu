// cuBLAS's triangular solves and symmetric updates at the shapes that `level3 --list` prints, on standard input:
// nvcc -O3 -std=c++17 -arch=native level3.cu -lcublas. Prints each line with its peer and the milliseconds of a launch.
#include "cublas.cuh"
#include "sweep.cuh"

static cublasStatus_t trsm(cublasHandle_t h, cublasSideMode_t side, cublasFillMode_t fill, cublasOperation_t op, int m, int n,
                           const float* one, const float* a, int lda, float* b, int ldb) {
    return cublasStrsm(h, side, fill, op, CUBLAS_DIAG_NON_UNIT, m, n, one, a, lda, b, ldb);
}
static cublasStatus_t trsm(cublasHandle_t h, cublasSideMode_t side, cublasFillMode_t fill, cublasOperation_t op, int m, int n,
                           const double* one, const double* a, int lda, double* b, int ldb) {
    return cublasDtrsm(h, side, fill, op, CUBLAS_DIAG_NON_UNIT, m, n, one, a, lda, b, ldb);
}
static cublasStatus_t syrk(cublasHandle_t h, cublasFillMode_t fill, cublasOperation_t op, int n, int k, const float* one,
                           const float* a, int lda, const float* zero, float* c, int ldc) {
    return cublasSsyrk(h, fill, op, n, k, one, a, lda, zero, c, ldc);
}
static cublasStatus_t syrk(cublasHandle_t h, cublasFillMode_t fill, cublasOperation_t op, int n, int k, const double* one,
                           const double* a, int lda, const double* zero, double* c, int ldc) {
    return cublasDsyrk(h, fill, op, n, k, one, a, lda, zero, c, ldc);
}

// 2 on the diagonal and 1 / 8n elsewhere, so that solving again and again stays finite.
template <typename T>
__global__ void triangle(T* a, int n, int leading) {
    for (uint64_t at = blockIdx.x * uint64_t(blockDim.x) + threadIdx.x; at < uint64_t(n) * leading;
         at += uint64_t(gridDim.x) * blockDim.x)
        a[at] = at / leading == at % leading ? T(2) : T(0.125) / T(n);
}

template <typename T>
static void solve(cublasHandle_t cublas, const char* line, int n, int m, bool right, bool upper, bool transposed, int gap) {
    const int lda = n + gap, rows = right ? m : n, columns = right ? n : m, ldb = columns + gap;
    T *a, *b;
    CHECK(cudaMalloc(&a, uint64_t(n) * lda * sizeof(T)));
    CHECK(cudaMalloc(&b, uint64_t(rows) * ldb * sizeof(T)));
    triangle<<<4096, 256>>>(a, n, lda);
    fill<<<4096, 256>>>(b, uint64_t(rows) * ldb, uint64_t(1) << 24);
    CHECK(cudaDeviceSynchronize());
    const T one = 1;
    // Row-major A X = B is column-major X^T A^T = B^T: the other side. A row-major A is A^T column-major, whose triangle is the other one;
    // a column-major A is A itself, and A^T is asked for.
    const cublasSideMode_t side = right ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT;
    const cublasFillMode_t fill_mode = upper == transposed ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
    const cublasOperation_t op = transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    double ms = batch_median([&] { CHECK_CUBLAS(trsm(cublas, side, fill_mode, op, columns, rows, &one, a, lda, b, ldb)); });
    print_line(line, "cublas", ms);
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
}

template <typename T>
static void update(cublasHandle_t cublas, const char* line, int n, int k, bool upper, bool transposed, int gap) {
    // Row-major n x k is k x n column-major, of which A A^T is the transposed one times itself; column-major A is A itself.
    const int lda = (transposed ? n : k) + gap, ldc = n + gap;
    const uint64_t of_a = uint64_t(transposed ? k : n) * lda;
    T *a, *c;
    CHECK(cudaMalloc(&a, of_a * sizeof(T)));
    CHECK(cudaMalloc(&c, uint64_t(n) * ldc * sizeof(T)));
    fill<<<4096, 256>>>(a, of_a, uint64_t(1) << 24);
    CHECK(cudaDeviceSynchronize());
    const T one = 1, zero = 0;
    const cublasFillMode_t fill_mode = upper ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER;
    const cublasOperation_t op = transposed ? CUBLAS_OP_N : CUBLAS_OP_T;
    double ms = batch_median([&] { CHECK_CUBLAS(syrk(cublas, fill_mode, op, n, k, &one, a, lda, &zero, c, ldc)); });
    print_line(line, "cublas", ms);
    CHECK(cudaFree(a));
    CHECK(cudaFree(c));
}

int main() {
    cublasHandle_t cublas;
    CHECK_CUBLAS(cublasCreate(&cublas));
    int version = 0;
    CHECK_CUBLAS(cublasGetVersion(cublas, &version));
    std::printf("# cuBLAS %d\n", version);
    char name[16], type[16], kind[8];
    int n, m, gap;
    each_line([&](const char* line) {
        if (std::sscanf(line, "%15s %15s %d %d %7s %d", name, type, &n, &m, kind, &gap) != 6) return;
        const bool right = kind[0] == 'r', upper = kind[1] == 'u', transposed = kind[2] == 't';
        const bool single = std::strcmp(type, "f32") == 0;
        if (std::strcmp(name, "trsm") == 0) {
            if (single) solve<float>(cublas, line, n, m, right, upper, transposed, gap);
            else solve<double>(cublas, line, n, m, right, upper, transposed, gap);
        } else if (std::strcmp(name, "syrk") == 0) {
            if (single) update<float>(cublas, line, n, m, upper, transposed, gap);
            else update<double>(cublas, line, n, m, upper, transposed, gap);
        }
    });
}
