// CUB's sorts of segments (and its selection, where it has one) at the shapes that `sort-shapes --list` prints, on standard
// input: nvcc -O3 -std=c++17 -arch=native sort_shapes.cu. Prints each line with its peer and the milliseconds of a launch.
#include <cub/cub.cuh>
#if __has_include(<cub/device/device_topk.cuh>)
#include <cub/device/device_topk.cuh>
#define HAS_TOP_K 1
#endif

#include "segments.hpp"
#include "sweep.cuh"

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

template <typename T>
static void of_type(const char* line, const std::string& op, uint64_t n, const std::string& cut, uint64_t row, uint64_t k) {
    T *keys, *sorted;
    uint32_t *offsets, *values = nullptr, *moved = nullptr;
    CHECK(cudaMalloc(&keys, n * sizeof(T)));
    CHECK(cudaMalloc(&sorted, n * sizeof(T)));
    fill<<<1024, 256>>>(keys, n, n);
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
        print_line(line, "cub", batch_median([&] { CHECK(launch()); }));
    }
    for (void* memory : {(void*)keys, (void*)sorted, (void*)offsets, (void*)values, (void*)moved, scratch}) CHECK(cudaFree(memory));
}

int main() {
    char op[64], type[16], cut[16];
    unsigned long long n, row, k;
    std::printf("# CUB %d, DeviceTopK: %s\n", CUB_VERSION,
#ifdef HAS_TOP_K
                "yes"
#else
                "no"
#endif
    );
    each_line([&](const char* line) {
        if (std::sscanf(line, "%63s %15s %llu %15s %llu %llu", op, type, &n, cut, &row, &k) != 6) return;
        std::string t = type;
        if (t == "f32") of_type<float>(line, op, n, cut, row, k);
        if (t == "f64") of_type<double>(line, op, n, cut, row, k);
        if (t == "i32") of_type<int32_t>(line, op, n, cut, row, k);
        if (t == "u8") of_type<uint8_t>(line, op, n, cut, row, k);
    });
}
