// Thrust's max_element, for_each, exclusive_scan and stable_sort_by_key on the levels of the triangles of
// benches/src/bin/sparse-order.rs: nvcc -O3 -std=c++17 -arch=native sparse_order.cu. Prints each step with the median,
// the mean and the deviation of 10 runs by the clock, after one that does not count; and the maximum with the copy of
// the levels to the host.
#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>
#include <thrust/extrema.h>
#include <thrust/for_each.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>

#include "sweep.cuh"

constexpr int kRuns = 10;
constexpr uint32_t kClasses = 7;

// As ../src/bin/sparse-order.rs has it.
static uint32_t hash_of(uint32_t a, uint32_t b) {
    uint32_t h = a * 0x9e3779b9u ^ b * 0x7f4a7c15u;
    h = (h ^ (h >> 16)) * 0x85ebca6bu;
    h = (h ^ (h >> 13)) * 0xc2b2ae35u;
    return h ^ (h >> 16);
}

// The size class of a row, added to its group's count.
struct Count {
    const uint32_t* offsets;
    const uint32_t* indices;
    const uint32_t* levels;
    uint32_t* groups;
    uint32_t* counts;

    __device__ void operator()(uint32_t row) const {
        uint32_t start = offsets[row], end = offsets[row + 1];
        uint32_t beside = end - start - (end > start && indices[end - 1] == row ? 1u : 0u);
        uint32_t size = beside == 0 ? 6u : beside > 16 ? 5u : 32u - uint32_t(__clz(int(beside - 1)));
        uint32_t group = kClasses * (levels[row] - 1) + (beside == 1 ? 0u : size);
        groups[row] = group;
        atomicAdd(counts + group, 1u);
    }
};

static void report(const std::string& name, const char* step, const std::function<void()>& call) {
    call();
    std::vector<double> times;
    for (int run = 0; run < kRuns; ++run) times.push_back(wall(call));
    double mean = 0, squares = 0;
    for (double ms : times) mean += ms / kRuns;
    for (double ms : times) squares += (ms - mean) * (ms - mean);
    std::printf("%-16s %-28s %10.4f ms, mean %10.4f ± %.4f\n", name.c_str(), step, upper_median(times), mean,
                std::sqrt(squares / (kRuns - 1)));
    std::fflush(stdout);
}

int main(int argc, char** argv) {
    const std::pair<uint32_t, uint64_t> sizes[] = {
        {100000, 3200000},   {100000, 1000000},   {1000000, 64000000},  {5000000, 79000000},
        {16000000, 47000000}, {36000000, 74000000}, {55000000, 113000000},
    };
    for (auto [rows, entries] : sizes) {
        char label[64];
        std::snprintf(label, sizeof label, "%.1fM / %.1fM", rows / 1e6, double(entries) / 1e6);
        const std::string name = label;
        if (argc > 1 && name.find(argv[1]) == std::string::npos) continue;
        uint64_t beside = entries - rows;
        std::vector<uint32_t> offsets = {0}, indices, columns, levels(rows, 1);
        for (uint32_t row = 0; row < rows; ++row) {
            uint64_t own = (uint64_t(row) + 1) * beside / rows - uint64_t(row) * beside / rows;
            columns.clear();
            for (uint32_t k = 0; k < std::min<uint64_t>(own, row); ++k) columns.push_back(hash_of(row, k + 1) % row);
            std::sort(columns.begin(), columns.end());
            columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
            for (uint32_t column : columns) levels[row] = std::max(levels[row], levels[column] + 1);
            indices.insert(indices.end(), columns.begin(), columns.end());
            indices.push_back(row);
            offsets.push_back(uint32_t(indices.size()));
        }
        uint32_t *d_offsets = upload(offsets), *d_indices = upload(indices), *d_levels = upload(levels);
        uint32_t highest = *std::max_element(levels.begin(), levels.end());
        const uint32_t groups = kClasses * highest;
        std::vector<uint32_t> zeros(std::max<size_t>(groups + 1, rows));
        uint32_t *d_groups = upload(zeros), *d_keys = upload(zeros), *d_rows = upload(zeros);
        uint32_t *d_counts = upload(zeros), *d_starts = upload(zeros);
        thrust::device_ptr<uint32_t> level(d_levels), count(d_counts), start(d_starts), key(d_keys), order(d_rows);
        thrust::device_ptr<uint32_t> group(d_groups);

        auto maximum = [&] { highest = *thrust::max_element(thrust::device, level, level + rows); };
        auto counting = [&] {
            CHECK(cudaMemsetAsync(d_counts, 0, (groups + 1) * sizeof(uint32_t)));
            thrust::for_each(thrust::device, thrust::counting_iterator<uint32_t>(0),
                             thrust::counting_iterator<uint32_t>(rows),
                             Count{d_offsets, d_indices, d_levels, d_groups, d_counts});
        };
        auto sums = [&] { thrust::exclusive_scan(thrust::device, count, count + groups + 1, start); };
        auto sorted = [&] {
            CHECK(cudaMemcpyAsync(d_keys, d_groups, rows * sizeof(uint32_t), cudaMemcpyDeviceToDevice));
            thrust::sequence(thrust::device, order, order + rows);
            thrust::stable_sort_by_key(thrust::device, key, key + rows, order);
        };
        report(name, "maximum", maximum);
        report(name, "maximum, levels to the host", [&] {
            CHECK(cudaMemcpy(levels.data(), d_levels, rows * sizeof(uint32_t), cudaMemcpyDeviceToHost));
            highest = *std::max_element(levels.begin(), levels.end());
        });
        report(name, "counting", counting);
        report(name, "exclusive sums", sums);
        report(name, "order", sorted);
        report(name, "all", [&] {
            maximum();
            counting();
            sums();
            sorted();
        });
        // As many bytes as the ordering has to read and write: 16 a row.
        double copy = launch_median(kRuns, [&] {
            CHECK(cudaMemcpyAsync(d_keys, d_groups, rows * sizeof(uint32_t), cudaMemcpyDeviceToDevice));
            CHECK(cudaMemcpyAsync(d_rows, d_levels, rows * sizeof(uint32_t), cudaMemcpyDeviceToDevice));
        });
        std::printf("%-16s %-28s %10.4f ms, %u levels\n", name.c_str(), "copy", copy, highest);
        for (uint32_t* memory : {d_offsets, d_indices, d_levels, d_groups, d_keys, d_rows, d_counts, d_starts})
            CHECK(cudaFree(memory));
    }
}
