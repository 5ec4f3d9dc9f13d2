// What the programs have in common that time a vendor's calls at many shapes: ../src/sweep.rs has the same clock.
#pragma once

#include <cstring>

#include "protocol.cuh"

// The elements of ../src/data.rs, again from the first after `period` of them.
template <typename T>
__global__ void fill(T* values, uint64_t n, uint64_t period) {
    for (uint64_t i = blockIdx.x * uint64_t(blockDim.x) + threadIdx.x; i < n; i += uint64_t(gridDim.x) * blockDim.x)
        values[i] = Element<T>::value(i % period);
}

template <typename T>
T* upload(const std::vector<T>& data) {
    T* memory;
    CHECK(cudaMalloc(&memory, data.size() * sizeof(T)));
    CHECK(cudaMemcpy(memory, data.data(), data.size() * sizeof(T), cudaMemcpyHostToDevice));
    return memory;
}

inline double upper_median(std::vector<double> times) {
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

// The milliseconds of one of so many launches between two events.
inline double milliseconds_each(int launches, const std::function<void()>& launch) {
    cudaEvent_t before, after;
    CHECK(cudaEventCreate(&before));
    CHECK(cudaEventCreate(&after));
    CHECK(cudaEventRecord(before));
    for (int i = 0; i < launches; ++i) launch();
    CHECK(cudaEventRecord(after));
    CHECK(cudaEventSynchronize(after));
    float ms = 0;
    CHECK(cudaEventElapsedTime(&ms, before, after));
    CHECK(cudaEventDestroy(before));
    CHECK(cudaEventDestroy(after));
    return double(ms) / launches;
}

// The median of nine batches of some 10 ms each, or of three where a launch takes longer than that.
inline double batch_median(const std::function<void()>& launch) {
    milliseconds_each(1, launch);
    const double once = milliseconds_each(2, launch);
    const int launches = int(std::min(20000.0, std::max(1.0, 10 / std::max(1e-4, once))));
    std::vector<double> times;
    for (int i = 0; i < (once > 10 ? 3 : 9); ++i) times.push_back(milliseconds_each(launches, launch));
    return upper_median(times);
}

// The median of so many launches, after one that does not count.
inline double launch_median(int rounds, const std::function<void()>& launch) {
    launch();
    std::vector<double> times;
    for (int round = 0; round < rounds; ++round) times.push_back(milliseconds_each(1, launch));
    return upper_median(times);
}

// The milliseconds of a call by the clock.
inline double wall(const std::function<void()>& call) {
    CHECK(cudaDeviceSynchronize());
    auto start = std::chrono::steady_clock::now();
    call();
    CHECK(cudaDeviceSynchronize());
    return milliseconds_since(start);
}

// Calls `work` with each line of the standard input, without its end.
inline void each_line(const std::function<void(const char*)>& work) {
    char line[256];
    while (std::fgets(line, sizeof line, stdin)) {
        line[std::strcspn(line, "\n")] = 0;
        work(line);
    }
}

// A line, whose call it was, and the milliseconds.
inline void print_line(const char* line, const char* peer, double ms) {
    std::printf("%s %s %.6f\n", line, peer, ms);
    std::fflush(stdout);
}
