// CUB's sums by key, run-length encoding and unique items.
#pragma once

#include <cub/device/device_reduce.cuh>
#include <cub/device/device_run_length_encode.cuh>
#include <cub/device/device_select.cuh>

#include "reduce.cuh"
#include "segments.cuh"
#include "session.cuh"

// Fills the runs of an array, the first with the hash of `first`: a warp a run.
__global__ void generate_runs(uint32_t* keys, const uint32_t* offsets, uint64_t runs, uint64_t first) {
    uint64_t warps = uint64_t(gridDim.x) * blockDim.x / 32;
    for (uint64_t run = (uint64_t(blockIdx.x) * blockDim.x + threadIdx.x) / 32; run < runs; run += warps)
        for (uint64_t i = offsets[run] + threadIdx.x % 32; i < offsets[run + 1]; i += 32) keys[i] = hash(first + run);
}

// Counts the runs whose key is not right, or whose length is not; `lengths` may be null.
__global__ void count_wrong_runs(const uint32_t* unique, const uint32_t* lengths, const uint32_t* offsets, uint64_t runs,
                                 uint64_t first, unsigned long long* wrong) {
    uint64_t step = uint64_t(gridDim.x) * blockDim.x;
    for (uint64_t run = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x; run < runs; run += step)
        if (unique[run] != hash(first + run) || (lengths && lengths[run] != offsets[run + 1] - offsets[run]))
            atomicAdd(wrong, 1ull);
}

// The arrays of keys of ../src/suite/runs.rs: the key of run r of input i is hash(i * n + r).
struct Runs {
    Session& session;
    const std::string kind;
    const Layout layout;
    uint64_t count;  // of runs in an array
    Memory<uint32_t> offsets, keys;

    Runs(Session& session, uint64_t n, uint64_t length)
        : session(session),
          kind(length ? size_name(length) : "power_law"),
          layout(Layout::filling(n, sizeof(uint32_t), session.rotated_bytes)) {
        const std::vector<uint32_t> host = segment_offsets(n, length);
        count = host.size() - 1;
        offsets.resize(host.size());
        keys.resize(layout.size());
        upload(offsets.data, host.data(), host.size(), session.stream);
        for (uint64_t i = 0; i < layout.count; ++i) {
            generate_runs<<<session.multiprocessors * kStepBlocks, kStepThreads, 0, session.stream>>>(
                keys.data + i * layout.stride, offsets.data, count, i * n);
            CHECK(cudaGetLastError());
        }
        CHECK(cudaStreamSynchronize(session.stream));
    }

    const uint32_t* of(uint64_t i) const { return keys.data + i * layout.stride; }

    // Whether the launched ones found all runs: their keys, their number and, where there are any, their lengths.
    template <class Count>
    bool right(const Launched& launched, const Memory<uint32_t>& unique, const Memory<uint32_t>* lengths,
               const Memory<Count>& counts) const {
        const std::vector<Count> found = to_host(counts);
        for (uint64_t i = 0; i < layout.count; ++i)
            if (launched[i] && found[i] != count) return false;
        return none_wrong(launched, [&](uint64_t i, unsigned long long* wrong) {
            count_wrong_runs<<<session.multiprocessors * kStepBlocks, kStepThreads>>>(
                unique.data + i * layout.stride, lengths ? lengths->data + i * layout.stride : nullptr, offsets.data, count,
                i * layout.elements, wrong);
        });
    }
};

template <class T>
void poison(const Memory<T>& memory, int byte, cudaStream_t stream) {
    CHECK(cudaMemsetAsync(memory.data, byte, memory.size * sizeof(T), stream));
}

// Sums of the values of each run. As ours, it reads keys and values and writes keys, sums and one number of 32 bits; ours also writes where
// the runs start, and reads it again, which is counted on neither side.
inline void measure_reduce_by_key(Session& session, uint64_t n, uint64_t length) {
    Runs runs(session, n, length);
    Layout layout = session.inputs<float>(n);
    const float* input = session.input<float>();
    Memory<uint32_t> unique(layout.size()), counts(layout.count);
    Memory<float> sums(layout.size());
    auto reduce = [&](void* scratch, size_t& bytes, uint64_t i, cudaStream_t s) {
        CHECK(cub::DeviceReduce::ReduceByKey(scratch, bytes, runs.of(i), unique.data + i * layout.stride,
                                             input + i * layout.stride, sums.data + i * layout.stride, counts.data + i,
                                             cuda::std::plus<>(), int(n), s));
    };
    size_t scratch_bytes = 0;
    reduce(nullptr, scratch_bytes, 0, session.stream);
    Memory<char> scratch(scratch_bytes);
    Work work;
    work.peer = "cub", work.op = "reduce_by_key_" + runs.kind, work.n = n;
    work.inputs = layout.count, work.bytes = (n + runs.count) * (sizeof(uint32_t) + sizeof(float)) + sizeof(uint32_t);
    work.poison = [&](cudaStream_t s) { poison(unique, 0xa5, s), poison(sums, 0xff, s), poison(counts, 0xa5, s); };
    work.launch = [&](uint64_t i, cudaStream_t s) { reduce(scratch.data, scratch_bytes, i, s); };
    work.check = [&](const Launched& launched) {
        if (!runs.right(launched, unique, nullptr, counts)) return false;
        return none_wrong(launched, [&](uint64_t i, unsigned long long* wrong) {
            count_wrong_segments<<<session.multiprocessors * kStepBlocks, kStepThreads>>>(
                input + i * layout.stride, runs.offsets.data, runs.count, sums.data + i * layout.stride, wrong);
        });
    };
    std::vector<Timing> timings = measure(work, session.stream, session.effort);
    session.report_all(work, timings, &session.copy_of_bytes(work.bytes));
}

// Of a run CUB writes the item and a length of 32 bits, 8 bytes; ours the item, a start and a length of 64 bits, 20 bytes.
inline void measure_encode(Session& session, uint64_t n, uint64_t length) {
    Runs runs(session, n, length);
    const Layout layout = runs.layout;
    Memory<uint32_t> values(layout.size()), lengths(layout.size()), counts(layout.count);
    auto encode = [&](void* scratch, size_t& bytes, uint64_t i, cudaStream_t s) {
        CHECK(cub::DeviceRunLengthEncode::Encode(scratch, bytes, runs.of(i), values.data + i * layout.stride,
                                                 lengths.data + i * layout.stride, counts.data + i, int(n), s));
    };
    size_t scratch_bytes = 0;
    encode(nullptr, scratch_bytes, 0, session.stream);
    Memory<char> scratch(scratch_bytes);
    Work work;
    work.peer = "cub", work.op = "run_length_encode_" + runs.kind, work.type = "u32", work.n = n;
    work.inputs = layout.count, work.bytes = (n + 2 * runs.count + 1) * sizeof(uint32_t);
    work.poison = [&](cudaStream_t s) { poison(values, 0xa5, s), poison(lengths, 0xa5, s), poison(counts, 0xa5, s); };
    work.launch = [&](uint64_t i, cudaStream_t s) { encode(scratch.data, scratch_bytes, i, s); };
    work.check = [&](const Launched& launched) { return runs.right(launched, values, &lengths, counts); };
    std::vector<Timing> timings = measure(work, session.stream, session.effort);
    session.report_all(work, timings, &session.copy_of_bytes(work.bytes));
}

inline void measure_unique(Session& session, uint64_t n, uint64_t length) {
    Runs runs(session, n, length);
    const Layout layout = runs.layout;
    Memory<uint32_t> unique(layout.size());
    Memory<unsigned long long> counts(layout.count);
    auto select = [&](void* scratch, size_t& bytes, uint64_t i, cudaStream_t s) {
        CHECK(cub::DeviceSelect::Unique(scratch, bytes, runs.of(i), unique.data + i * layout.stride, counts.data + i,
                                        int64_t(n), s));
    };
    size_t scratch_bytes = 0;
    select(nullptr, scratch_bytes, 0, session.stream);
    Memory<char> scratch(scratch_bytes);
    Work work;
    work.peer = "cub", work.op = "unique_" + runs.kind, work.type = "u32", work.n = n;
    work.inputs = layout.count, work.bytes = (n + runs.count) * sizeof(uint32_t) + sizeof(unsigned long long);
    work.poison = [&](cudaStream_t s) { poison(unique, 0xa5, s), poison(counts, 0xa5, s); };
    work.launch = [&](uint64_t i, cudaStream_t s) { select(scratch.data, scratch_bytes, i, s); };
    work.check = [&](const Launched& launched) { return runs.right(launched, unique, nullptr, counts); };
    std::vector<Timing> timings = measure(work, session.stream, session.effort);
    session.report_all(work, timings, &session.copy_of_bytes(work.bytes));
}
