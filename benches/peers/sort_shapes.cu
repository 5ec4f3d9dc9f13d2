// CUB's sorts of segments (and its selection, where it has one) at the shapes that `sort-shapes --list` prints, on standard
// input: nvcc -O3 -std=c++17 -arch=native sort_shapes.cu. Prints each line with its peer and the milliseconds of a launch.
#include <cub/cub.cuh>
#if __has_include(<cub/device/device_topk.cuh>)
#include <cub/device/device_topk.cuh>
#define HAS_TOP_K 1
#endif

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "segments.hpp"

#define CHECK(call)                                                                              \
    do {                                                                                         \
        cudaError_t error = (call);                                                              \
        if (error != cudaSuccess) {                                                              \
            std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error));                  \
            std::exit(1);                                                                        \
        }                                                                                        \
    } while (0)

constexpr uint64_t kSeed = 20261123;

static std::vector<uint32_t> offsets_of(uint64_t n, const std::string& cut, uint64_t row) {
    if (cut == "power_law") return segment_offsets(n, 0);
    if (cut == "rows") return segment_offsets(n, row);
    std::vector<uint32_t> offsets = {0};
    for (uint64_t number = 0, end = 0; end < n; ++number) {
        end = std::min(n, end + split_mix(kSeed, number) % (2 * row + 1));
        offsets.push_back(uint32_t(end));
    }
    return offsets;
}

// MurmurHash3's finaliser, as ../src/data.rs has it.
__device__ inline uint32_t hash_of(uint64_t index) {
    uint32_t hash = uint32_t(index) * 0x9e3779b9u;
    hash = (hash ^ (hash >> 16)) * 0x85ebca6bu;
    hash = (hash ^ (hash >> 13)) * 0xc2b2ae35u;
    return hash ^ (hash >> 16);
}
__device__ inline void value_of(uint32_t h, float& v) { v = float(h >> 8) / float(1 << 24) - 0.5f; }
__device__ inline void value_of(uint32_t h, double& v) { v = double(h) / double(1ull << 32) - 0.5; }
__device__ inline void value_of(uint32_t h, int& v) { v = int(h); }
__device__ inline void value_of(uint32_t h, uint8_t& v) { v = uint8_t(h >> 24); }

template <typename T>
__global__ void fill(T* keys, uint64_t n) {
    for (uint64_t i = blockIdx.x * uint64_t(blockDim.x) + threadIdx.x; i < n; i += uint64_t(gridDim.x) * blockDim.x)
        value_of(hash_of(i), keys[i]);
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
    batch(2);
    int launches = int(std::min(1000.0, std::max(1.0, 10 / std::max(1e-3, batch(3)))));
    std::vector<double> times;
    for (int i = 0; i < 9; ++i) times.push_back(batch(launches));
    std::sort(times.begin(), times.end());
    return times[4];
}

template <typename T>
static void of_type(const char* line, const std::string& op, uint64_t n, const std::string& cut, uint64_t row, uint64_t k) {
    T *keys, *sorted;
    uint32_t *offsets, *values = nullptr, *moved = nullptr;
    CHECK(cudaMalloc(&keys, n * sizeof(T)));
    CHECK(cudaMalloc(&sorted, n * sizeof(T)));
    fill<<<1024, 256>>>(keys, n);
    void* scratch = nullptr;
    size_t bytes = 0;
    std::function<cudaError_t()> launch;
    const bool top_k = op == "top_k", pairs = op == "segmented_sort_indices";
    auto host = offsets_of(n, cut, row);
    const int64_t segments = int64_t(host.size()) - 1;
    CHECK(cudaMalloc(&offsets, host.size() * 4));
    CHECK(cudaMemcpy(offsets, host.data(), host.size() * 4, cudaMemcpyHostToDevice));
    if (pairs || top_k) {
        CHECK(cudaMalloc(&values, n * 4));
        CHECK(cudaMalloc(&moved, n * 4));
        CHECK(cudaMemset(values, 0, n * 4));
    }
    if (top_k) {
#ifdef HAS_TOP_K
        if (row == n) {
            auto requirements = cuda::execution::require(
                cuda::execution::determinism::not_guaranteed, cuda::execution::output_ordering::unsorted);
            launch = [=, &scratch, &bytes]() {
                return cub::DeviceTopK::MaxPairs(scratch, bytes, keys, sorted, values, moved, n, k, requirements);
            };
        }
#endif
    } else if (pairs) {
        launch = [=, &scratch, &bytes]() {
            return cub::DeviceSegmentedSort::SortPairs(
                scratch, bytes, keys, sorted, values, moved, int64_t(n), segments, offsets, offsets + 1);
        };
    } else {
        launch = [=, &scratch, &bytes]() {
            return cub::DeviceSegmentedSort::SortKeys(
                scratch, bytes, keys, sorted, int64_t(n), segments, offsets, offsets + 1);
        };
    }
    if (launch) {
        CHECK(launch());
        CHECK(cudaMalloc(&scratch, bytes));
        std::printf("%s cub %.5f\n", line, timed([&] { CHECK(launch()); }));
        std::fflush(stdout);
    }
    for (void* memory : {(void*)keys, (void*)sorted, (void*)offsets, (void*)values, (void*)moved, scratch}) CHECK(cudaFree(memory));
}

int main() {
    char line[256], op[64], type[16], cut[16];
    unsigned long long n, row, k;
    std::printf("# CUB %d, DeviceTopK: %s\n", CUB_VERSION,
#ifdef HAS_TOP_K
                "yes"
#else
                "no"
#endif
    );
    while (std::fgets(line, sizeof line, stdin)) {
        line[std::strcspn(line, "\n")] = 0;
        if (std::sscanf(line, "%63s %15s %llu %15s %llu %llu", op, type, &n, cut, &row, &k) != 6) continue;
        std::string t = type;
        if (t == "f32") of_type<float>(line, op, n, cut, row, k);
        if (t == "f64") of_type<double>(line, op, n, cut, row, k);
        if (t == "i32") of_type<int>(line, op, n, cut, row, k);
        if (t == "u8") of_type<uint8_t>(line, op, n, cut, row, k);
    }
}
