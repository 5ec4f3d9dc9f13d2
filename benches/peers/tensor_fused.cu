// cuBLASLt's products of 16-bit floats and of tf32 with a bias for each column of C and an activation, at the shapes
// that `tensor --list` prints, on standard input: nvcc -O3 -std=c++17 -arch=native tensor_fused.cu -lcublasLt. Prints
// each line with its peer and the milliseconds of a launch. Its GELU is the form with a hyperbolic tangent.
#include <cublasLt.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "sweep.cuh"

#define CHECK_LT(call)                                                                     \
    do {                                                                                   \
        cublasStatus_t status = (call);                                                    \
        if (status != CUBLAS_STATUS_SUCCESS) {                                             \
            std::fprintf(stderr, "%s: %d\n", #call, int(status));                          \
            std::exit(1);                                                                  \
        }                                                                                  \
    } while (0)

template <typename T>
__global__ void fill_with(T* values, uint64_t n) {
    for (uint64_t i = blockIdx.x * uint64_t(blockDim.x) + threadIdx.x; i < n; i += uint64_t(gridDim.x) * blockDim.x) {
        uint64_t bits = (i % (1 << 24) + 1) * 0x9e3779b97f4a7c15ull;
        bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9ull;
        values[i] = T(float(bits >> 40) / float(1 << 23) - 1.0f);
    }
}

void* filled(cudaDataType type, uint64_t n) {
    void* values;
    CHECK(cudaMalloc(&values, n * 4));
    if (type == CUDA_R_32F) fill_with<<<4096, 256>>>(static_cast<float*>(values), n);
    else if (type == CUDA_R_16F) fill_with<<<4096, 256>>>(static_cast<__half*>(values), n);
    else fill_with<<<4096, 256>>>(static_cast<__nv_bfloat16*>(values), n);
    CHECK(cudaDeviceSynchronize());
    return values;
}

int main() {
    cublasLtHandle_t handle;
    CHECK_LT(cublasLtCreate(&handle));
    const size_t workspace_bytes = 64 << 20;
    void* workspace;
    CHECK(cudaMalloc(&workspace, workspace_bytes));
    std::printf("# cuBLASLt %zu\n", cublasLtGetVersion());
    char type[16], output[16], orders[8];
    long long m, n, k, count;
    each_line([&](const char* line) {
        const char* format = "gemm_tensor %15s %15s %lld %lld %lld %7s %lld";
        if (std::sscanf(line, format, type, output, &m, &n, &k, orders, &count) != 7) return;
        if (count != 1 || std::strcmp(type, "i8") == 0) return;
        const bool a = orders[0] == 't', b = orders[1] == 't', tf32 = std::strcmp(type, "tf32") == 0;
        const cudaDataType of_factors = tf32 ? CUDA_R_32F : std::strcmp(type, "bf16") == 0 ? CUDA_R_16BF : CUDA_R_16F;
        const cudaDataType of_c = std::strcmp(output, "f32") == 0 ? CUDA_R_32F : of_factors;
        const cublasComputeType_t compute = tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
        void *left = filled(of_factors, n * k), *right = filled(of_factors, m * k);
        void *bias = filled(of_c, n), *c = filled(of_c, m * n);
        // Row-major C = A * B is column-major C^T = B^T * A^T, and a column's bias is that of a row.
        const cublasOperation_t orders_of[2] = {b ? CUBLAS_OP_T : CUBLAS_OP_N, a ? CUBLAS_OP_T : CUBLAS_OP_N};
        const float one = 1, zero = 0;
        using Named = std::pair<const char*, cublasLtEpilogue_t>;
        for (const auto& [name, epilogue] :
             {Named{"alone", CUBLASLT_EPILOGUE_DEFAULT}, Named{"bias,relu", CUBLASLT_EPILOGUE_RELU_BIAS},
              Named{"bias,gelu_tanh", CUBLASLT_EPILOGUE_GELU_BIAS}}) {
            cublasLtMatmulDesc_t product;
            CHECK_LT(cublasLtMatmulDescCreate(&product, compute, CUDA_R_32F));
            const auto set = [&](cublasLtMatmulDescAttributes_t what, const auto& value) {
                CHECK_LT(cublasLtMatmulDescSetAttribute(product, what, &value, sizeof value));
            };
            set(CUBLASLT_MATMUL_DESC_TRANSA, orders_of[0]);
            set(CUBLASLT_MATMUL_DESC_TRANSB, orders_of[1]);
            set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue);
            if (epilogue != CUBLASLT_EPILOGUE_DEFAULT) set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
            cublasLtMatrixLayout_t of_left, of_right, of_result;
            CHECK_LT(cublasLtMatrixLayoutCreate(&of_left, of_factors, b ? k : n, b ? n : k, b ? k : n));
            CHECK_LT(cublasLtMatrixLayoutCreate(&of_right, of_factors, a ? m : k, a ? k : m, a ? m : k));
            CHECK_LT(cublasLtMatrixLayoutCreate(&of_result, of_c, n, m, n));
            cublasLtMatmulPreference_t preference;
            CHECK_LT(cublasLtMatmulPreferenceCreate(&preference));
            CHECK_LT(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                                          &workspace_bytes, sizeof workspace_bytes));
            cublasLtMatmulHeuristicResult_t found;
            int count_found = 0;
            const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
                handle, product, of_left, of_right, of_result, of_result, preference, 1, &found, &count_found);
            char peer[48];
            std::snprintf(peer, sizeof peer, "cublasLt,%s", name);
            if (status != CUBLAS_STATUS_SUCCESS || count_found == 0) {
                std::printf("# %s does not take %s\n", peer, line);
            } else {
                print_line(line, peer, batch_median([&] {
                    CHECK_LT(cublasLtMatmul(handle, product, &one, left, of_left, right, of_right, &zero, c,
                                            of_result, c, of_result, &found.algo, workspace, workspace_bytes,
                                            nullptr));
                }));
            }
            cublasLtMatmulPreferenceDestroy(preference);
            for (cublasLtMatrixLayout_t layout : {of_left, of_right, of_result}) cublasLtMatrixLayoutDestroy(layout);
            cublasLtMatmulDescDestroy(product);
        }
        for (void* memory : {left, right, bias, c}) CHECK(cudaFree(memory));
    });
}
