// What tensor cores do for warps: mma.sync alone, eight sums of their own in each of 8 warps, two blocks on a
// multiprocessor. `[tensor] warps` in ../../crates/gpu-model/devices is this over the data sheet's peak.
// nvcc -O3 -std=c++17 -arch=native mma_rate.cu. Prints the median TFLOP/s of nine launches.
#include <algorithm>
#include <cstdio>
#include <vector>

constexpr int kSums = 8, kTurns = 20000, kThreads = 256;

__global__ void __launch_bounds__(kThreads, 2) rate(float* out) {
    float sums[kSums][4] = {};
    unsigned a[4] = {threadIdx.x, 1, 2, 3}, b[2] = {threadIdx.x, 5};
    for (int turn = 0; turn < kTurns; turn++) {
#pragma unroll
        for (auto& sum : sums)
            asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                         : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                         : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    }
    float all = 0;
    for (auto& sum : sums) all += sum[0] + sum[1] + sum[2] + sum[3];
    out[blockIdx.x * kThreads + threadIdx.x] = all;
}

int main() {
    cudaDeviceProp device;
    if (cudaGetDeviceProperties(&device, 0) != cudaSuccess) return fprintf(stderr, "there is no GPU\n"), 3;
    const int blocks = 2 * device.multiProcessorCount;
    float* out;
    cudaMalloc(&out, sizeof(float) * blocks * kThreads);
    cudaEvent_t start, end;
    cudaEventCreate(&start), cudaEventCreate(&end);
    std::vector<double> rates;
    for (int launch = 0; launch < 10; launch++) {
        cudaEventRecord(start);
        rate<<<blocks, kThreads>>>(out);
        cudaEventRecord(end);
        float ms = 0;
        if (cudaEventSynchronize(end) != cudaSuccess || cudaEventElapsedTime(&ms, start, end) != cudaSuccess) return 1;
        const double operations = 2.0 * 16 * 8 * 16 * kSums * kTurns * (kThreads / 32) * blocks;
        if (launch > 0) rates.push_back(operations / ms * 1e-9);
    }
    std::sort(rates.begin(), rates.end());
    printf("%s: %.1f TFLOP/s of bf16 by mma.sync\n", device.name, rates[rates.size() / 2]);
}
