// cuBLAS's products of 16-bit floats, of tf32 and of bytes at the shapes that `tensor --list` prints, on standard input:
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

__global__ void fill_bytes(int8_t* values, uint64_t n) {
    for (uint64_t i = blockIdx.x * uint64_t(blockDim.x) + threadIdx.x; i < n; i += uint64_t(gridDim.x) * blockDim.x)
        values[i] = int8_t(floorf(element(i) * 128.0f));
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
        const bool a = orders[0] == 't', b = orders[1] == 't', brain = std::strcmp(type, "bf16") == 0;
        const bool tf32 = std::strcmp(type, "tf32") == 0, bytes = std::strcmp(type, "i8") == 0;
        const bool wide = std::strcmp(output, "f32") == 0 || bytes;
        const uint64_t elements = std::max(m * k, k * n) * count;
        void *factors, *c;
        CHECK(cudaMalloc(&factors, elements * (tf32 ? 4 : bytes ? 1 : 2)));
        CHECK(cudaMalloc(&c, uint64_t(m) * n * count * (wide ? 4 : 2)));
        if (tf32) fill_floats<<<4096, 256>>>(static_cast<float*>(factors), elements);
        else if (bytes) fill_bytes<<<4096, 256>>>(static_cast<int8_t*>(factors), elements);
        else fill_halves<<<4096, 256>>>(factors, elements, brain);
        CHECK(cudaDeviceSynchronize());
        const cudaDataType narrow = tf32 ? CUDA_R_32F : bytes ? CUDA_R_8I : brain ? CUDA_R_16BF : CUDA_R_16F;
        const cudaDataType of_c = bytes ? CUDA_R_32I : wide ? CUDA_R_32F : narrow;
        const cublasComputeType_t compute = tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : bytes ? CUBLAS_COMPUTE_32I : CUBLAS_COMPUTE_32F;
        const float one = 1, zero = 0;
        const int32_t whole_one = 1, whole_zero = 0;
        const void *alpha = bytes ? static_cast<const void*>(&whole_one) : &one, *beta = bytes ? static_cast<const void*>(&whole_zero) : &zero;
        // Row-major C = A * B is column-major C^T = B^T * A^T; a row-major matrix is its transposed one column-major.
        const auto product = [&] {
            return cublasGemmStridedBatchedEx(
                cublas, b ? CUBLAS_OP_T : CUBLAS_OP_N, a ? CUBLAS_OP_T : CUBLAS_OP_N, int(n), int(m), int(k), alpha, factors,
                narrow, int(b ? k : n), k * n, factors, narrow, int(a ? m : k), m * k, beta, c, of_c, int(n), m * n, int(count),
                compute, CUBLAS_GEMM_DEFAULT);
        };
        // Of bytes it does not take every layout.
        const cublasStatus_t first = product();
        if (bytes && (first == CUBLAS_STATUS_NOT_SUPPORTED || first == CUBLAS_STATUS_INVALID_VALUE)) {
            std::printf("# cuBLAS does not take %s\n", line);
        } else {
            CHECK_CUBLAS(first);
            print_line(line, "cublas", batch_median([&] { CHECK_CUBLAS(product()); }));
        }
        CHECK(cudaFree(factors));
        CHECK(cudaFree(c));
    });
}
