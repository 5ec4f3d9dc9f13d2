// The device, the inputs on it that all cases share, and what becomes of the results.
#pragma once

#include <cstring>
#include <ctime>
#include <map>
#include <tuple>

#include "protocol.cuh"

// ---- memory -----------------------------------------------------------------------------------------------

template <class T>
struct Memory {
    T* data = nullptr;
    uint64_t size = 0;

    Memory() = default;
    explicit Memory(uint64_t size) { resize(size); }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    ~Memory() { cudaFree(data); }

    void resize(uint64_t elements) {
        CHECK(cudaFree(data));
        data = nullptr;
        CHECK(cudaMalloc(&data, std::max<uint64_t>(elements, 1) * sizeof(T)));
        size = elements;
    }
};

// Copies to the device on the stream that reads it. cudaMemcpy returns before pageable memory has arrived, and a stream that does not block
// does not wait for it.
template <class T>
void upload(T* to, const T* from, uint64_t elements, cudaStream_t stream) {
    CHECK(cudaMemcpyAsync(to, from, elements * sizeof(T), cudaMemcpyHostToDevice, stream));
}

// ---- kernels ----------------------------------------------------------------------------------------------

// Blocks of 256 threads that run through an array in steps of the grid.
constexpr unsigned kStepThreads = 256, kStepBlocks = 8;

template <class T>
__global__ void generate(T* out, uint64_t n) {
    uint64_t step = uint64_t(gridDim.x) * blockDim.x;
    for (uint64_t i = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step)
        out[i] = Element<T>::value(i);
}

// Counts the elements of an output that are not the input's, which starts at `first` in the generated numbers.
// rows > 0: the output is the transposed of a rows × cols matrix; else a copy.
__global__ void count_wrong(const float* output, uint64_t n, uint64_t first, uint64_t rows, uint64_t cols,
                            unsigned long long* wrong) {
    uint64_t step = uint64_t(gridDim.x) * blockDim.x;
    for (uint64_t i = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
        uint64_t source = rows ? (i % rows) * cols + i / rows : i;
        float expected = Element<float>::value(first + source);
        if (__float_as_uint(output[i]) != __float_as_uint(expected)) atomicAdd(wrong, 1ull);
    }
}

// Whether `count` finds nothing wrong in any launched output; it gets the output's number and where to count.
template <class Count>
bool none_wrong(const Launched& launched, Count count) {
    Memory<unsigned long long> wrong(1);
    unsigned long long found = 0;
    CHECK(cudaMemset(wrong.data, 0, sizeof found));
    for (uint64_t i = 0; i < launched.size(); ++i) {
        if (!launched[i]) continue;
        count(i, wrong.data);
        CHECK(cudaGetLastError());
    }
    CHECK(cudaMemcpy(&found, wrong.data, sizeof found, cudaMemcpyDeviceToHost));
    return found == 0;
}

// ---- results ----------------------------------------------------------------------------------------------

struct Options {
    std::vector<std::string> filters;
    std::string json, commit = "unknown";
    bool quick = false, warm = false;
    int device = 0;
};

std::string now() {
    char text[32];
    std::time_t seconds = std::time(nullptr);
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&seconds));
    return text;
}

struct Report {
    std::FILE* file = nullptr;
    std::string device, driver, commit, date = now();

    // `copy`: the copy of as many bytes in the same mode, if there is one.
    void add(const Work& work, const Timing& timing, const Summary* copy) {
        const Summary& s = timing.summary;
        double gbs = s.median > 0 ? double(work.bytes) / 1e6 / s.median : 0;
        std::string rows = work.rows ? std::to_string(work.rows) : "null";
        std::string cols = work.rows ? std::to_string(work.cols) : "null";
        std::string fraction = copy && s.median > 0 ? std::to_string(copy->median / s.median) : "null";
        std::printf("%-8s %-20s %-4s %11llu  %-13s %12.2f us  min %12.2f  +- %8.2f  %8.1f GB/s\n", work.peer.c_str(),
                    work.op.c_str(), work.type.c_str(), (unsigned long long)work.n, timing.mode, s.median * 1e3, s.min * 1e3,
                    s.mad * 1e3, gbs);
        std::fflush(stdout);
        if (!file) return;
        std::fprintf(file,
                     "{\"suite\":\"gpu\",\"peer\":\"%s\",\"op\":\"%s\",\"type\":\"%s\",\"n\":%llu,\"rows\":%s,"
                     "\"cols\":%s,\"mode\":\"%s\",\"clock\":\"%s\",\"ms_median\":%.6f,\"ms_min\":%.6f,"
                     "\"ms_mad\":%.6f,\"samples\":%llu,\"launches\":%llu,\"inputs\":%llu,\"bytes\":%llu,"
                     "\"gbs\":%.3f,\"copy_fraction\":%s,\"device\":\"%s\",\"driver\":\"%s\",\"commit\":\"%s\","
                     "\"date\":\"%s\"}\n",
                     work.peer.c_str(), work.op.c_str(), work.type.c_str(), (unsigned long long)work.n, rows.c_str(), cols.c_str(),
                     timing.mode, timing.clock, s.median, s.min, s.mad, (unsigned long long)s.samples,
                     (unsigned long long)timing.launches, (unsigned long long)work.inputs,
                     (unsigned long long)work.bytes, gbs, fraction.c_str(), device.c_str(), driver.c_str(),
                     commit.c_str(), date.c_str());
        std::fflush(file);
    }
};

// ---- the session ------------------------------------------------------------------------------------------

struct Session {
    Options options;
    Report report;
    Effort effort;
    cudaStream_t stream = nullptr;
    uint64_t rotated_bytes = 0;
    unsigned multiprocessors = 0;
    // The generated numbers of each type, as many as were needed so far.
    std::tuple<Memory<float>, Memory<double>, Memory<int32_t>, Memory<uint8_t>> numbers;
    std::map<uint64_t, std::vector<Timing>> copies;  // by elements

    bool selects(const std::string& name) const {
        if (options.filters.empty()) return true;
        for (const std::string& filter : options.filters)
            if (name.find(filter) != std::string::npos) return true;
        return false;
    }

    template <class T>
    T* input() {
        return std::get<Memory<T>>(numbers).data;
    }

    // Inputs of `elements` elements, on the device.
    template <class T>
    Layout inputs(uint64_t elements) {
        Layout layout = Layout::filling(elements, sizeof(T), rotated_bytes);
        Memory<T>& memory = std::get<Memory<T>>(numbers);
        if (memory.size < layout.size()) {
            memory.resize(layout.size());
            generate<<<multiprocessors * kStepBlocks, kStepThreads, 0, stream>>>(memory.data, memory.size);
            CHECK(cudaGetLastError());
            CHECK(cudaStreamSynchronize(stream));
        }
        return layout;
    }

    // Whether the launched ones of `outputs` hold their inputs, copied or transposed.
    bool right(const Memory<float>& outputs, Layout layout, const Launched& launched, uint64_t rows, uint64_t cols) {
        Memory<unsigned long long> wrong(1);
        unsigned long long count = 0;
        upload(wrong.data, &count, 1, stream);
        for (uint64_t i = 0; i < layout.count; ++i) {
            if (!launched[i]) continue;
            count_wrong<<<multiprocessors * kStepBlocks, kStepThreads, 0, stream>>>(
                outputs.data + i * layout.stride, layout.elements, i * layout.stride, rows, cols, wrong.data);
            CHECK(cudaGetLastError());
        }
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaMemcpy(&count, wrong.data, sizeof count, cudaMemcpyDeviceToHost));
        return count == 0;
    }

    void report_all(const Work& work, const std::vector<Timing>& timings, const std::vector<Timing>* copy) {
        for (size_t i = 0; i < timings.size(); ++i)
            report.add(work, timings[i], copy ? &(*copy)[i].summary : nullptr);
    }

    // The runtime's copy of n floats: measured and reported once.
    const std::vector<Timing>& copy(uint64_t n) {
        auto found = copies.find(n);
        if (found != copies.end()) return found->second;
        Layout layout = inputs<float>(n);
        Memory<float> outputs(layout.size());
        Work work;
        work.peer = "cuda", work.op = "copy", work.n = n;
        work.inputs = layout.count, work.bytes = 2 * n * sizeof(float);
        work.poison = [&](cudaStream_t s) {
            CHECK(cudaMemsetAsync(outputs.data, Element<float>::poison, outputs.size * sizeof(float), s));
        };
        work.launch = [&](uint64_t i, cudaStream_t s) {
            CHECK(cudaMemcpyAsync(outputs.data + i * layout.stride, input<float>() + i * layout.stride,
                                  n * sizeof(float), cudaMemcpyDeviceToDevice, s));
        };
        work.check = [&](const Launched& launched) { return right(outputs, layout, launched, 0, 0); };
        std::vector<Timing> timings = measure(work, stream, effort);
        report_all(work, timings, &timings);
        return copies[n] = timings;
    }

    // The copy that moves as many bytes as are read of an input.
    const std::vector<Timing>& copy_of_bytes(uint64_t bytes) {
        return copy(std::max<uint64_t>(bytes / (2 * sizeof(float)), 1));
    }
};

// "2^20", or the number.
inline std::string size_name(uint64_t n) {
    for (int log = 0; log < 64; ++log)
        if (n == 1ull << log) return "2^" + std::to_string(log);
    return std::to_string(n);
}
