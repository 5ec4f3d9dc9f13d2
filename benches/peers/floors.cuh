// Floors: an empty kernel, and one that only loads.
#pragma once

#include "session.cuh"

__global__ void empty() {}

// Loads n4 times 16 bytes and does next to nothing: what a plain launch of a sum takes at least.
constexpr int kReadThreads = 256, kReadLoads = 4;
__global__ void __launch_bounds__(kReadThreads) read_only(const float4* __restrict__ in, uint64_t n4, float* out) {
    const uint64_t tile = kReadThreads * kReadLoads;
    float sum = 0;
    for (uint64_t base = blockIdx.x * tile; base < n4; base += gridDim.x * tile) {
        float4 loaded[kReadLoads];
#pragma unroll
        for (int i = 0; i < kReadLoads; ++i) {
            uint64_t at = base + uint64_t(i) * kReadThreads + threadIdx.x;
            loaded[i] = at < n4 ? __ldg(in + at) : make_float4(0, 0, 0, 0);
        }
#pragma unroll
        for (int i = 0; i < kReadLoads; ++i) sum += (loaded[i].x + loaded[i].y) + (loaded[i].z + loaded[i].w);
    }
    // Never true, but the compiler cannot know.
    if (sum == 1e30f) *out = sum;
}

inline void measure_empty(Session& session) {
    Work work;
    work.peer = "cuda", work.op = "empty";
    work.launch = [](uint64_t, cudaStream_t s) { empty<<<1, 32, 0, s>>>(); };
    work.poison = [](cudaStream_t) {};
    work.check = [](const Launched&) { return true; };
    session.report_all(work, measure(work, session.stream, session.effort), nullptr);
}

// The same loads as a sum of n floats and nothing else.
inline void measure_read(Session& session, uint64_t n) {
    Layout layout = session.inputs<float>(n);
    Memory<float> output(1);
    uint64_t tiles = (n / 4 + kReadThreads * kReadLoads - 1) / (kReadThreads * kReadLoads);
    unsigned blocks = unsigned(std::min<uint64_t>(tiles, session.multiprocessors * (2048 / kReadThreads)));
    Work work;
    work.peer = "cuda", work.op = "read", work.n = n;
    work.inputs = layout.count, work.bytes = n * sizeof(float);
    work.launch = [&](uint64_t i, cudaStream_t s) {
        auto in = reinterpret_cast<const float4*>(session.input<float>() + i * layout.stride);
        read_only<<<blocks, kReadThreads, 0, s>>>(in, n / 4, output.data);
    };
    work.poison = [](cudaStream_t) {};
    work.check = [](const Launched&) { return true; };  // it writes nothing
    std::vector<Timing> timings = measure(work, session.stream, session.effort);
    session.report_all(work, timings, &session.copy_of_bytes(n * sizeof(float)));
}
