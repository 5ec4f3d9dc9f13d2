// How a launch is timed: the protocol of ../src/protocol.rs, with the same numbers (a test compares them).
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include <cuda_runtime.h>

// A failed call ends the program: nothing after it would mean anything.
#define CHECK(call)                                                                                       \
    do {                                                                                                  \
        cudaError_t check_error = (call);                                                                 \
        if (check_error != cudaSuccess) {                                                                 \
            std::fprintf(stderr, "error: %s:%d: %s: %s\n", __FILE__, __LINE__, #call,                     \
                         cudaGetErrorString(check_error));                                                \
            std::exit(1);                                                                                 \
        }                                                                                                 \
    } while (0)

// ---- the numbers ------------------------------------------------------------------------------------------

constexpr uint64_t kWarmUpMs = 100;
constexpr uint64_t kSingles = 101;
constexpr uint64_t kBatches = 31;
constexpr uint64_t kBatchBytes = 4294967296;
constexpr uint64_t kMinLaunches = 10;
constexpr uint64_t kMaxLaunches = 200;
constexpr uint64_t kMinRotatedBytes = 268435456;
constexpr uint64_t kRotatedCaches = 4;
constexpr uint64_t kAlignment = 256;  // bytes

// Where each launch copies its input to the device.
constexpr uint64_t kCopySingles = 9;
constexpr uint64_t kCopyBatches = 3;

// With --quick.
constexpr uint64_t kQuickWarmUpMs = 10;
constexpr uint64_t kQuickSingles = 11;
constexpr uint64_t kQuickBatches = 5;
constexpr uint64_t kQuickMaxLaunches = 20;

struct Effort {
    uint64_t warm_up_ms = kWarmUpMs, singles = kSingles, batches = kBatches, max_launches = kMaxLaunches,
             min_launches = kMinLaunches;

    static Effort quick() { return {kQuickWarmUpMs, kQuickSingles, kQuickBatches, kQuickMaxLaunches}; }

    Effort of_copies() const {
        return {0, std::min(singles, kCopySingles), std::min(batches, kCopyBatches), 1, 1};
    }

    uint64_t launches_a_batch(uint64_t bytes) const {
        return std::clamp(kBatchBytes / std::max<uint64_t>(bytes, 1), min_launches, max_launches);
    }
};

// ---- inputs -----------------------------------------------------------------------------------------------

// The function of ../src/data.rs: 32 bits from an index.
__host__ __device__ inline uint32_t hash(uint64_t index) {
    uint32_t hash = uint32_t(index) * 0x9e3779b9u;
    hash = (hash ^ (hash >> 16)) * 0x85ebca6bu;
    hash = (hash ^ (hash >> 13)) * 0xc2b2ae35u;
    return hash ^ (hash >> 16);
}

// The element types: name, what outputs are filled with, and the input's element at `index`.
template <class T>
struct Element;

template <>
struct Element<float> {
    static constexpr const char* name = "f32";
    static constexpr int poison = 0xff;
    __host__ __device__ static float value(uint64_t index) {
        return float(hash(index) >> 8) / 16777216.0f - 0.5f;
    }
};

template <>
struct Element<double> {
    static constexpr const char* name = "f64";
    static constexpr int poison = 0xff;
    __host__ __device__ static double value(uint64_t index) { return double(hash(index)) / 4294967296.0 - 0.5; }
};

template <>
struct Element<int32_t> {
    static constexpr const char* name = "i32";
    static constexpr int poison = 0xa5;
    __host__ __device__ static int32_t value(uint64_t index) { return int32_t(hash(index)); }
};

template <>
struct Element<uint8_t> {
    static constexpr const char* name = "u8";
    static constexpr int poison = 0xa5;
    __host__ __device__ static uint8_t value(uint64_t index) { return uint8_t(hash(index) >> 24); }
};

// Several inputs (or outputs) of one length in one allocation.
struct Layout {
    uint64_t count, elements, stride;

    // `size` is that of an element in bytes.
    Layout(uint64_t count, uint64_t elements, uint64_t size) : count(count), elements(elements) {
        uint64_t alignment = kAlignment / size;
        stride = (elements + alignment - 1) / alignment * alignment;
    }

    static Layout filling(uint64_t elements, uint64_t size, uint64_t bytes) {
        uint64_t each = std::max<uint64_t>(elements, 1) * size;
        return Layout(std::max<uint64_t>((bytes + each - 1) / each, 2), elements, size);
    }

    uint64_t size() const { return count * stride; }
};

// ---- timing -----------------------------------------------------------------------------------------------

struct Summary {
    double median, min, mad;
    uint64_t samples;
};

inline double median_of_sorted(const std::vector<double>& sorted) {
    size_t half = sorted.size() / 2;
    return sorted.size() % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

inline Summary summarize(std::vector<double> samples) {
    std::sort(samples.begin(), samples.end());
    double centre = median_of_sorted(samples), min = samples.front();
    for (double& sample : samples) sample = std::fabs(sample - centre);
    std::sort(samples.begin(), samples.end());
    return {centre, min, median_of_sorted(samples), samples.size()};
}

struct Timing {
    const char* mode;
    const char* clock;
    Summary summary;
    uint64_t launches;
};

// Which inputs were launched since the outputs were poisoned.
using Launched = std::vector<char>;

// Something that can be launched, again and again.
struct Work {
    std::string peer, op, type = "f32";
    uint64_t n = 0, rows = 0, cols = 0;  // rows and cols are 0 where it is no matrix
    uint64_t inputs = 1, bytes = 0;
    std::function<void(uint64_t input, cudaStream_t)> launch;
    std::function<void(cudaStream_t)> poison;
    std::function<bool(const Launched&)> check;  // whether the outputs are right; the stream is idle
};

inline double milliseconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

// Times a work: single launches by events and by the wall clock, and batches by events.
inline std::vector<Timing> measure(const Work& work, cudaStream_t stream, const Effort& effort) {
    const uint64_t launches = effort.launches_a_batch(work.bytes);
    Launched launched(work.inputs, 0);
    uint64_t next = 0;
    auto launch = [&] {
        work.launch(next, stream);
        launched[next] = 1;
        next = (next + 1) % work.inputs;
    };
    auto poison = [&] {
        work.poison(stream);
        CHECK(cudaStreamSynchronize(stream));
        std::fill(launched.begin(), launched.end(), 0);
    };
    auto check = [&] {
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaGetLastError());
        if (!work.check(launched)) {
            std::fprintf(stderr, "error: %s %s of %llu elements (%s): wrong result\n", work.peer.c_str(),
                         work.op.c_str(), (unsigned long long)work.n, work.type.c_str());
            std::exit(1);
        }
    };
    cudaEvent_t before, after;
    CHECK(cudaEventCreate(&before));
    CHECK(cudaEventCreate(&after));
    auto elapsed = [&] {
        float ms = 0;
        CHECK(cudaEventSynchronize(after));
        CHECK(cudaEventElapsedTime(&ms, before, after));
        return double(ms);
    };

    // ---- warm-up
    auto start = std::chrono::steady_clock::now();
    do {
        for (uint64_t i = 0; i < effort.min_launches; ++i) launch();
        CHECK(cudaStreamSynchronize(stream));
    } while (milliseconds_since(start) < double(effort.warm_up_ms));

    // ---- single launches
    poison();
    std::vector<double> by_events, by_wall, batches;
    for (uint64_t i = 0; i < effort.singles; ++i) {
        CHECK(cudaEventRecord(before, stream));
        launch();
        CHECK(cudaEventRecord(after, stream));
        by_events.push_back(elapsed());
        CHECK(cudaStreamSynchronize(stream));
        start = std::chrono::steady_clock::now();
        launch();
        CHECK(cudaStreamSynchronize(stream));
        by_wall.push_back(milliseconds_since(start));
    }
    check();

    // ---- batches
    poison();
    for (uint64_t i = 0; i < effort.batches; ++i) {
        CHECK(cudaEventRecord(before, stream));
        for (uint64_t k = 0; k < launches; ++k) launch();
        CHECK(cudaEventRecord(after, stream));
        batches.push_back(elapsed() / double(launches));
    }
    check();

    CHECK(cudaEventDestroy(before));
    CHECK(cudaEventDestroy(after));
    return {{"single", "events", summarize(by_events), 1},
            {"single_wall", "wall", summarize(by_wall), 1},
            {"batch", "events", summarize(batches), launches}};
}
