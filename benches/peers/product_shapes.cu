// cuBLAS's products of matrices at the shapes that `product-shapes --list` prints, on standard input:
// nvcc -O3 -std=c++17 -arch=native product_shapes.cu -lcublas. Prints each line with its peer and the milliseconds of a launch.
#include <cublas_v2.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#define CHECK(call)                                                                              \
    do {                                                                                         \
        cudaError_t error = (call);                                                              \
        if (error != cudaSuccess) {                                                              \
            std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error));                  \
            std::exit(1);                                                                        \
        }                                                                                        \
    } while (0)
#define CHECK_CUBLAS(call)                                                                       \
    do {                                                                                         \
        cublasStatus_t status = (call);                                                          \
        if (status != CUBLAS_STATUS_SUCCESS) {                                                   \
            std::fprintf(stderr, "%s: %s\n", #call, cublasGetStatusString(status));              \
            std::exit(1);                                                                        \
        }                                                                                        \
    } while (0)

constexpr uint64_t kPeriod = 1 << 24;  // as in ../src/products.rs

// MurmurHash3's finaliser, as ../src/data.rs has it.
__device__ inline uint32_t hash_of(uint64_t index) {
    uint32_t hash = uint32_t(index) * 0x9e3779b9u;
    hash = (hash ^ (hash >> 16)) * 0x85ebca6bu;
    hash = (hash ^ (hash >> 13)) * 0xc2b2ae35u;
    return hash ^ (hash >> 16);
}
__device__ inline void value_of(uint32_t h, float& v) { v = float(h >> 8) / float(1 << 24) - 0.5f; }
__device__ inline void value_of(uint32_t h, double& v) { v = double(h) / double(1ull << 32) - 0.5; }

template <typename T>
__global__ void fill(T* values, uint64_t n) {
    for (uint64_t i = blockIdx.x * uint64_t(blockDim.x) + threadIdx.x; i < n; i += uint64_t(gridDim.x) * blockDim.x)
        value_of(hash_of(i % kPeriod), values[i]);
}

static double timed(const std::function<void()>& launch) {
    cudaEvent_t before, after;
    CHECK(cudaEventCreate(&before));
    CHECK(cudaEventCreate(&after));
    auto batch = [&](int launches) {
        CHECK(cudaEventRecord(before));
        for (int i = 0; i < launches; ++i) launch();
        CHECK(cudaEventRecord(after));
        CHECK(cudaEventSynchronize(after));
        float ms = 0;
        CHECK(cudaEventElapsedTime(&ms, before, after));
        return double(ms) / launches;
    };
    batch(1);
    double once = batch(2);
    int launches = int(std::min(20000.0, std::max(1.0, 10 / std::max(1e-4, once))));
    int count = once > 10 ? 3 : 9;
    std::vector<double> times;
    for (int i = 0; i < count; ++i) times.push_back(batch(launches));
    std::sort(times.begin(), times.end());
    CHECK(cudaEventDestroy(before));
    CHECK(cudaEventDestroy(after));
    return times[count / 2];
}

static cublasStatus_t gemm(cublasHandle_t h, cublasOperation_t a, cublasOperation_t b, int m, int n, int k, const float* one,
                           const float* x, int ldx, const float* y, int ldy, const float* zero, float* c, int ldc) {
    return cublasSgemm(h, a, b, m, n, k, one, x, ldx, y, ldy, zero, c, ldc);
}
static cublasStatus_t gemm(cublasHandle_t h, cublasOperation_t a, cublasOperation_t b, int m, int n, int k, const double* one,
                           const double* x, int ldx, const double* y, int ldy, const double* zero, double* c, int ldc) {
    return cublasDgemm(h, a, b, m, n, k, one, x, ldx, y, ldy, zero, c, ldc);
}

template <typename T>
static T* pool() {
    static T* memory = [] {
        T* memory;
        const uint64_t elements = uint64_t(1) << 29;
        CHECK(cudaMalloc(&memory, elements * sizeof(T)));
        fill<<<4096, 256>>>(memory, elements);
        CHECK(cudaDeviceSynchronize());
        return memory;
    }();
    return memory;
}

template <typename T>
static void of_type(cublasHandle_t cublas, const char* line, int m, int n, int k, bool a_transposed, bool b_transposed) {
    T *factors = pool<T>(), *c;
    CHECK(cudaMalloc(&c, uint64_t(m) * n * sizeof(T)));
    const T one = 1, zero = 0;
    // Row-major C = A * B is column-major C^T = B^T * A^T; a row-major matrix is its transposed one column-major.
    double ms = timed([&] {
        CHECK_CUBLAS(gemm(cublas, b_transposed ? CUBLAS_OP_T : CUBLAS_OP_N, a_transposed ? CUBLAS_OP_T : CUBLAS_OP_N, n, m, k,
                          &one, factors, b_transposed ? k : n, factors, a_transposed ? m : k, &zero, c, n));
    });
    std::printf("%s cublas %.6f\n", line, ms);
    std::fflush(stdout);
    CHECK(cudaFree(c));
}

int main() {
    cublasHandle_t cublas;
    CHECK_CUBLAS(cublasCreate(&cublas));
    int version = 0;
    CHECK_CUBLAS(cublasGetVersion(cublas, &version));
    std::printf("# cuBLAS %d\n", version);
    char line[256], op[16], type[16], orders[8];
    int m, n, k;
    while (std::fgets(line, sizeof line, stdin)) {
        line[std::strcspn(line, "\n")] = 0;
        if (std::sscanf(line, "%15s %15s %d %d %d %7s", op, type, &m, &n, &k, orders) != 6 || std::strcmp(op, "gemm") != 0) continue;
        bool a = orders[0] == 't', b = orders[1] == 't';
        if (std::strcmp(type, "f32") == 0) of_type<float>(cublas, line, m, n, k, a, b);
        else of_type<double>(cublas, line, m, n, k, a, b);
    }
}
