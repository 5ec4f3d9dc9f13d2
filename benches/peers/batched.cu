// cuBLAS's products of batches by arrays of pointers at the shapes that `batched --list` prints, on standard input:
// nvcc -O3 -std=c++17 -arch=native batched.cu -lcublas. Prints each line with its peer and the milliseconds of a
// launch.
#include <cuda_bf16.h>

#include <numeric>

#include "cublas.cuh"
#include "sweep.cuh"

template <typename T>
__global__ void fill_unit(T* values, uint64_t n) {
    for (uint64_t i = blockIdx.x * uint64_t(blockDim.x) + threadIdx.x; i < n; i += uint64_t(gridDim.x) * blockDim.x) {
        uint64_t bits = (i + 1) * 0x9e3779b97f4a7c15ull;
        bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9ull;
        values[i] = T(float(bits >> 40) / float(1 << 23) - 1.0f);
    }
}

template <typename T>
static T* filled(uint64_t n) {
    T* memory;
    CHECK(cudaMalloc(&memory, n * sizeof(T)));
    fill_unit<<<4096, 256>>>(memory, n);
    CHECK(cudaDeviceSynchronize());
    return memory;
}

// Pointers to matrices of `span` elements, matrix `place(at)` for product `at`.
template <typename T, typename Place>
static T** pointers(T* memory, uint64_t span, int count, Place place) {
    std::vector<T*> all(count);
    for (int at = 0; at < count; ++at) all[at] = memory + span * place(at);
    return upload(all);
}

template <typename T, typename Call>
static void of_type(const char* line, uint64_t m, uint64_t n, uint64_t k, int count, Call call) {
    T *a = filled<T>(m * k * count), *b = filled<T>(k * n * count), *c = filled<T>(m * n * count);
    uint64_t step = std::max(count / 2, 1);
    while (std::gcd(step, uint64_t(count)) != 1) ++step;
    auto place = [&](uint64_t at) { return at * step % count; };
    T **as = pointers(a, m * k, count, place), **bs = pointers(b, k * n, count, [](uint64_t at) { return at; });
    T** cs = pointers(c, m * n, count, place);
    print_line(line, "cublas", batch_median([&] { CHECK_CUBLAS(call(as, bs, cs)); }));
    for (void* memory : {(void*)a, (void*)b, (void*)c, (void*)as, (void*)bs, (void*)cs}) CHECK(cudaFree(memory));
}

int main() {
    cublasHandle_t cublas;
    CHECK_CUBLAS(cublasCreate(&cublas));
    int version = 0;
    CHECK_CUBLAS(cublasGetVersion(cublas, &version));
    std::printf("# cuBLAS %d\n", version);
    char type[16], orders[8];
    int m, n, k, count;
    each_line([&](const char* line) {
        if (std::sscanf(line, "gemm_batched %15s %d %d %d %7s %d", type, &m, &n, &k, orders, &count) != 6) return;
        const bool a = orders[0] == 't', b = orders[1] == 't';
        const cublasOperation_t of_a = a ? CUBLAS_OP_T : CUBLAS_OP_N, of_b = b ? CUBLAS_OP_T : CUBLAS_OP_N;
        const int lda = a ? m : k, ldb = b ? k : n;
        // Row-major C = A * B is column-major C^T = B^T * A^T.
        if (std::strcmp(type, "f64") == 0) {
            const double one = 1, zero = 0;
            of_type<double>(line, m, n, k, count, [&](double** as, double** bs, double** cs) {
                return cublasDgemmBatched(cublas, of_b, of_a, n, m, k, &one, bs, ldb, as, lda, &zero, cs, n, count);
            });
            return;
        }
        const float one = 1, zero = 0;
        auto any = [&](cudaDataType_t data, cublasComputeType_t compute) {
            return [&, data, compute](auto as, auto bs, auto cs) {
                return cublasGemmBatchedEx(cublas, of_b, of_a, n, m, k, &one, (const void**)bs, data, ldb, (const void**)as,
                                           data, lda, &zero, (void**)cs, data, n, count, compute, CUBLAS_GEMM_DEFAULT);
            };
        };
        if (std::strcmp(type, "bf16") == 0)
            of_type<__nv_bfloat16>(line, m, n, k, count, any(CUDA_R_16BF, CUBLAS_COMPUTE_32F));
        else if (std::strcmp(type, "tf32") == 0)
            of_type<float>(line, m, n, k, count, any(CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32));
        else of_type<float>(line, m, n, k, count, any(CUDA_R_32F, CUBLAS_COMPUTE_32F));
    });
}
