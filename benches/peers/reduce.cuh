// CUB's sums, maxima and their places, and Thrust's sums of doubles.
#pragma once

#include <cub/device/device_reduce.cuh>
#include <thrust/execution_policy.h>
#include <thrust/reduce.h>

#include "session.cuh"

// ---- the reference ------------------------------------------------------------------------------------------

// An integer in the order of the values. There are no NaN among the inputs.
__host__ __device__ inline unsigned long long key(uint8_t value) { return value; }
__host__ __device__ inline unsigned long long key(int32_t value) { return uint32_t(value) ^ 0x80000000u; }
__host__ __device__ inline unsigned long long key(double value) {
    long long bits = 0;
    memcpy(&bits, &value, sizeof bits);
    return bits < 0 ? ~(unsigned long long)bits : (unsigned long long)bits | 0x8000000000000000ull;
}
__host__ __device__ inline unsigned long long key(float value) { return key(double(value)); }

// What is known of an input.
struct Facts {
    double sum, magnitude;         // in double
    unsigned long long wrapped;    // the sum modulo 2^64: exact, of integers
    unsigned long long largest;    // the key of the largest element
};

// Adds an input to its facts, which are zero before.
template <class T>
__global__ void add_facts(const T* input, uint64_t n, Facts* facts) {
    uint64_t step = uint64_t(gridDim.x) * blockDim.x;
    double sum = 0, magnitude = 0;
    unsigned long long wrapped = 0, largest = 0;
    for (uint64_t i = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
        T value = input[i];
        sum += double(value);
        magnitude += fabs(double(value));
        if (sizeof(T) < 8) wrapped += (unsigned long long)(long long)value;
        largest = max(largest, key(value));
    }
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_down_sync(~0u, sum, distance);
        magnitude += __shfl_down_sync(~0u, magnitude, distance);
        wrapped += __shfl_down_sync(~0u, wrapped, distance);
        largest = max(largest, __shfl_down_sync(~0u, largest, distance));
    }
    if (threadIdx.x % 32 == 0) {
        atomicAdd(&facts->sum, sum);
        atomicAdd(&facts->magnitude, magnitude);
        atomicAdd(&facts->wrapped, wrapped);
        atomicMax(&facts->largest, largest);
    }
}

// The facts of the launched inputs.
template <class T>
std::vector<Facts> facts_of(Session& session, Layout layout, const Launched& launched) {
    Memory<Facts> device(layout.count);
    CHECK(cudaMemset(device.data, 0, device.size * sizeof(Facts)));
    for (uint64_t i = 0; i < layout.count; ++i) {
        if (!launched[i]) continue;
        uint64_t wanted = (layout.elements + 4 * kStepThreads - 1) / (4 * kStepThreads);
        unsigned blocks = unsigned(std::min<uint64_t>(wanted, session.multiprocessors * kStepBlocks));
        add_facts<<<blocks, kStepThreads>>>(session.input<T>() + i * layout.stride, layout.elements, device.data + i);
        CHECK(cudaGetLastError());
    }
    CHECK(cudaDeviceSynchronize());
    std::vector<Facts> facts(layout.count);
    CHECK(cudaMemcpy(facts.data(), device.data, device.size * sizeof(Facts), cudaMemcpyDeviceToHost));
    return facts;
}

// Whether a sum is right. CUB and Thrust do not state their order; a NaN makes a comparison false: not right.
// The f64 reference adds up to 2^28 / (132 * 8 * 256) elements a thread, then 5 levels, then 8448 warps: an error of less
// than 10^4 * 2^-53 times the sum of magnitudes.
inline bool right_sum(float sum, const Facts& facts) { return std::fabs(sum - facts.sum) <= 1e-6 * facts.magnitude; }
inline bool right_sum(double sum, const Facts& facts) { return std::fabs(sum - facts.sum) <= 2e-12 * facts.magnitude; }
inline bool right_sum(int32_t sum, const Facts& facts) { return uint32_t(sum) == uint32_t(facts.wrapped); }
inline bool right_sum(uint8_t sum, const Facts& facts) { return sum == uint8_t(facts.wrapped); }

template <class T>
std::vector<T> to_host(const Memory<T>& memory) {
    std::vector<T> host(memory.size);
    CHECK(cudaMemcpy(host.data(), memory.data, memory.size * sizeof(T), cudaMemcpyDeviceToHost));
    return host;
}

// ---- CUB ----------------------------------------------------------------------------------------------------

template <class T>
void measure_sum(Session& session, uint64_t n) {
    Layout layout = session.inputs<T>(n), one(layout.count, 1, sizeof(T));
    Memory<T> outputs(one.size());
    const T* input = session.input<T>();
    size_t scratch_bytes = 0;
    CHECK(cub::DeviceReduce::Sum(nullptr, scratch_bytes, input, outputs.data, int(n), session.stream));
    Memory<char> scratch(scratch_bytes);
    Work work;
    work.peer = "cub", work.op = "sum", work.type = Element<T>::name, work.n = n;
    work.inputs = layout.count, work.bytes = (n + 1) * sizeof(T);
    work.poison = [&](cudaStream_t s) {
        CHECK(cudaMemsetAsync(outputs.data, Element<T>::poison, outputs.size * sizeof(T), s));
    };
    work.launch = [&](uint64_t i, cudaStream_t s) {
        CHECK(cub::DeviceReduce::Sum(scratch.data, scratch_bytes, input + i * layout.stride,
                                     outputs.data + i * one.stride, int(n), s));
    };
    work.check = [&](const Launched& launched) {
        std::vector<Facts> facts = facts_of<T>(session, layout, launched);
        std::vector<T> sums = to_host(outputs);
        for (uint64_t i = 0; i < layout.count; ++i)
            if (launched[i] && !right_sum(sums[i * one.stride], facts[i])) return false;
        return true;
    };
    std::vector<Timing> timings = measure(work, session.stream, session.effort);
    session.report_all(work, timings, &session.copy_of_bytes(n * sizeof(T)));
}

template <class T>
void measure_max(Session& session, uint64_t n) {
    Layout layout = session.inputs<T>(n), one(layout.count, 1, sizeof(T));
    Memory<T> outputs(one.size());
    const T* input = session.input<T>();
    size_t scratch_bytes = 0;
    CHECK(cub::DeviceReduce::Max(nullptr, scratch_bytes, input, outputs.data, int(n), session.stream));
    Memory<char> scratch(scratch_bytes);
    Work work;
    work.peer = "cub", work.op = "max", work.type = Element<T>::name, work.n = n;
    work.inputs = layout.count, work.bytes = (n + 1) * sizeof(T);
    work.poison = [&](cudaStream_t s) {
        CHECK(cudaMemsetAsync(outputs.data, Element<T>::poison, outputs.size * sizeof(T), s));
    };
    work.launch = [&](uint64_t i, cudaStream_t s) {
        CHECK(cub::DeviceReduce::Max(scratch.data, scratch_bytes, input + i * layout.stride,
                                     outputs.data + i * one.stride, int(n), s));
    };
    work.check = [&](const Launched& launched) {
        std::vector<Facts> facts = facts_of<T>(session, layout, launched);
        std::vector<T> found = to_host(outputs);
        for (uint64_t i = 0; i < layout.count; ++i)
            if (launched[i] && key(found[i * one.stride]) != facts[i].largest) return false;
        return true;
    };
    std::vector<Timing> timings = measure(work, session.stream, session.effort);
    session.report_all(work, timings, &session.copy_of_bytes(n * sizeof(T)));
}

template <class T>
void measure_argmax(Session& session, uint64_t n) {
    Layout layout = session.inputs<T>(n), one(layout.count, 1, sizeof(int64_t));
    Memory<T> largest(one.size());
    Memory<int64_t> places(one.size());
    const T* input = session.input<T>();
    size_t scratch_bytes = 0;
    CHECK(cub::DeviceReduce::ArgMax(nullptr, scratch_bytes, input, largest.data, places.data, int64_t(n),
                                    session.stream));
    Memory<char> scratch(scratch_bytes);
    Work work;
    work.peer = "cub", work.op = "argmax", work.type = Element<T>::name, work.n = n;
    work.inputs = layout.count, work.bytes = n * sizeof(T) + sizeof(int64_t);
    work.poison = [&](cudaStream_t s) {
        CHECK(cudaMemsetAsync(largest.data, Element<T>::poison, largest.size * sizeof(T), s));
        CHECK(cudaMemsetAsync(places.data, 0xff, places.size * sizeof(int64_t), s));
    };
    work.launch = [&](uint64_t i, cudaStream_t s) {
        CHECK(cub::DeviceReduce::ArgMax(scratch.data, scratch_bytes, input + i * layout.stride,
                                        largest.data + i * one.stride, places.data + i * one.stride, int64_t(n), s));
    };
    work.check = [&](const Launched& launched) {
        std::vector<Facts> facts = facts_of<T>(session, layout, launched);
        std::vector<T> found = to_host(largest);
        std::vector<int64_t> where = to_host(places);
        for (uint64_t i = 0; i < layout.count; ++i) {
            if (!launched[i]) continue;
            int64_t place = where[i * one.stride];
            // The element at that place is the largest: which of several, CUB does not promise.
            bool inside = place >= 0 && uint64_t(place) < n;
            if (!inside || key(found[i * one.stride]) != facts[i].largest ||
                key(Element<T>::value(i * layout.stride + uint64_t(place))) != facts[i].largest)
                return false;
        }
        return true;
    };
    std::vector<Timing> timings = measure(work, session.stream, session.effort);
    session.report_all(work, timings, &session.copy_of_bytes(n * sizeof(T)));
}

// All three of one type, where they are selected.
template <class T>
void measure_reductions(Session& session, const std::vector<uint64_t>& logs) {
    const std::string type = Element<T>::name;
    for (uint64_t log : logs) {
        const std::string rest = "/" + type + "/2^" + std::to_string(log);
        if (session.selects("sum" + rest)) measure_sum<T>(session, 1ull << log);
        if (session.selects("max" + rest)) measure_max<T>(session, 1ull << log);
        if (session.selects("argmax" + rest)) measure_argmax<T>(session, 1ull << log);
    }
}

// ---- Thrust -------------------------------------------------------------------------------------------------

// thrust::reduce gives its result to the host: it waits, also in a batch, and it allocates each time.
inline void measure_thrust(Session& session, uint64_t n, bool with_copy) {
    Layout layout = session.inputs<double>(n);
    const double* input = session.input<double>();
    Memory<double> copied(with_copy ? n : 0);
    std::vector<double> host, results(layout.count);
    if (with_copy) {
        host.resize(layout.size());
        CHECK(cudaMemcpy(host.data(), input, host.size() * sizeof(double), cudaMemcpyDeviceToHost));
    }
    Work work;
    work.peer = "thrust", work.op = with_copy ? "sum_with_copy" : "sum", work.type = "f64", work.n = n;
    work.inputs = layout.count, work.bytes = (n + 1) * sizeof(double);
    work.poison = [&](cudaStream_t) { std::fill(results.begin(), results.end(), NAN); };
    work.launch = [&](uint64_t i, cudaStream_t s) {
        const double* first = input + i * layout.stride;
        if (with_copy) {
            CHECK(cudaMemcpyAsync(copied.data, host.data() + i * layout.stride, n * sizeof(double),
                                  cudaMemcpyHostToDevice, s));
            first = copied.data;
        }
        results[i] = thrust::reduce(thrust::cuda::par.on(s), first, first + n, 0.0);
    };
    work.check = [&](const Launched& launched) {
        std::vector<Facts> facts = facts_of<double>(session, layout, launched);
        for (uint64_t i = 0; i < layout.count; ++i)
            if (launched[i] && !right_sum(results[i], facts[i])) return false;
        return true;
    };
    Effort effort = with_copy ? session.effort.of_copies() : session.effort;
    std::vector<Timing> timings = measure(work, session.stream, effort);
    session.report_all(work, timings, with_copy ? nullptr : &session.copy_of_bytes(n * sizeof(double)));
}
