// cuBLAS's products of 16-bit floats and of tf32 at the shapes that `tensor --list` prints, on standard input:
// nvcc -O3 -std=c++17 -arch=native tensor.cu -lcublas. Prints each line with its peer and the milliseconds of a launch.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "cublas.cuh"
#include "sweep.cuh"

constexpr uint64_t kSeed = 7;            // as in ../src/tensor.rs
constexpr uint64_t kPeriod = 1 << 24;

__device__ static float element(uint64_t index) {
    uint64_t bits = kSeed + (index % kPeriod + 1) * 0x9e3779b97f4a7c15ull;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9ull;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebull;
    bits ^= bits >> 31;
    return float(bits >> 40) / float(1 << 23) - 1.0f;
}

__global__ void fill_halves(void* values, uint64_t n, bool brain) {
    for (uint64_t i = blockIdx.x * uint64_t(blockDim.x) + threadIdx.x; i < n; i += uint64_t(gridDim.x) * blockDim.x) {
        if (brain) static_cast<__nv_bfloat16*>(values)[i] = __float2bfloat16(element(i));
        else static_cast<__half*>(values)[i] = __float2half(element(i));
    }
}

__global__ void fill_floats(float* values, uint64_t n) {
    for (uint64_t i = blockIdx.x * uint64_t(blockDim.x) + threadIdx.x; i < n; i += uint64_t(gridDim.x) * blockDim.x) values[i] = element(i);
}

int main() {
    cublasHandle_t cublas;
    CHECK_CUBLAS(cublasCreate(&cublas));
    void* workspace;
    const size_t workspace_bytes = 64 << 20;
    CHECK(cudaMalloc(&workspace, workspace_bytes));
    CHECK_CUBLAS(cublasSetWorkspace(cublas, workspace, workspace_bytes));
    int version = 0;
    CHECK_CUBLAS(cublasGetVersion(cublas, &version));
    std::printf("# cuBLAS %d\n", version);
    char type[16], output[16], orders[8];
    long long m, n, k, count;
    each_line([&](const char* line) {
        if (std::sscanf(line, "gemm_tensor %15s %15s %lld %lld %lld %7s %lld", type, output, &m, &n, &k, orders, &count) != 7) return;
        const bool a = orders[0] == 't', b = orders[1] == 't', brain = std::strcmp(type, "bf16") == 0, tf32 = std::strcmp(type, "tf32") == 0;
        const bool wide = std::strcmp(output, "f32") == 0;
        const uint64_t elements = std::max(m * k, k * n) * count;
        void *factors, *c;
        CHECK(cudaMalloc(&factors, elements * (tf32 ? 4 : 2)));
        CHECK(cudaMalloc(&c, uint64_t(m) * n * count * (wide ? 4 : 2)));
        if (tf32) fill_floats<<<4096, 256>>>(static_cast<float*>(factors), elements);
        else fill_halves<<<4096, 256>>>(factors, elements, brain);
        CHECK(cudaDeviceSynchronize());
        const cudaDataType narrow = tf32 ? CUDA_R_32F : brain ? CUDA_R_16BF : CUDA_R_16F, of_c = wide ? CUDA_R_32F : narrow;
        const float one = 1, zero = 0;
        // Row-major C = A * B is column-major C^T = B^T * A^T; a row-major matrix is its transposed one column-major.
        const double ms = batch_median([&] {
            CHECK_CUBLAS(cublasGemmStridedBatchedEx(
                cublas, b ? CUBLAS_OP_T : CUBLAS_OP_N, a ? CUBLAS_OP_T : CUBLAS_OP_N, int(n), int(m), int(k), &one, factors,
                narrow, int(b ? k : n), k * n, factors, narrow, int(a ? m : k), m * k, &zero, c, of_c, int(n), m * n,
                int(count), tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
        });
        print_line(line, "cublas", ms);
        CHECK(cudaFree(factors));
        CHECK(cudaFree(c));
    });
}
