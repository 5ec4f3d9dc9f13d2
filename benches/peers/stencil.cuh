// NPP's filters of images of one channel, borders replicated.
//
// NPP states no order of operations and rounds as it likes; its Gaussians have weights of their own. So full filters are compared with
// sums in doubles, within what floats may err by, and of the others it is only checked that the pixels were written.
#pragma once

#include <type_traits>

#include "npp.cuh"
#include "session.cuh"

// The weights of the full filters of ../src/suite/stencil.rs.
__host__ __device__ inline float filter_weight(int at) { return float((double(at) - 40.5) / 4096.0); }

// Counts the pixels of a filtered image that are farther from the exact result than taps² roundings of sums of the sizes: first for the
// weights as they are, then for the filter turned by 180°, as a convolution takes it.
__global__ void count_wrong_filtered(const float* input, const float* output, int side, int taps, unsigned long long* wrong) {
    const uint64_t n = uint64_t(side) * side, step = uint64_t(gridDim.x) * blockDim.x;
    for (uint64_t i = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
        const int y = int(i / side), x = int(i % side);
        double sums[2] = {0, 0}, sizes[2] = {0, 0};
        for (int tap = 0; tap < taps * taps; ++tap) {
            const int from_y = min(max(y + tap / taps - taps / 2, 0), side - 1);
            const int from_x = min(max(x + tap % taps - taps / 2, 0), side - 1);
            const double value = input[uint64_t(from_y) * side + from_x];
            for (int turned : {0, 1}) {
                const double product = value * filter_weight(turned ? taps * taps - 1 - tap : tap);
                sums[turned] += product, sizes[turned] += fabs(product);
            }
        }
        // A product and a sum are two roundings a tap where they are not fused. NaN is no small difference.
        for (int turned : {0, 1})
            if (!(fabs(output[i] - sums[turned]) <= 2.0 * taps * taps * 6e-8 * sizes[turned])) atomicAdd(wrong + turned, 1ull);
    }
}

// Counts the pixels that look like what outputs are filled with before a launch.
template <class T>
__global__ void count_unwritten(const T* output, uint64_t n, unsigned long long* wrong) {
    const uint64_t step = uint64_t(gridDim.x) * blockDim.x;
    for (uint64_t i = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
        const bool looks = std::is_same_v<T, float> ? output[i] != output[i] : output[i] == T(Element<T>::poison);
        if (looks) atomicAdd(wrong, 1ull);
    }
}

// One of NPP's functions: `run` gets an input and an output; taps > 0 says that it is a full filter.
template <class T, class Run>
void measure_filter(Session& session, const char* op, uint64_t side, int taps, Run run) {
    const uint64_t n = side * side;
    Layout layout = session.inputs<T>(n);
    const T* input = session.input<T>();
    Memory<T> outputs(layout.size());
    Work work;
    work.peer = "npp", work.op = op, work.type = Element<T>::name, work.n = n, work.rows = side, work.cols = side;
    work.inputs = layout.count, work.bytes = 2 * n * sizeof(T);
    work.poison = [&](cudaStream_t s) {
        CHECK(cudaMemsetAsync(outputs.data, Element<T>::poison, outputs.size * sizeof(T), s));
    };
    work.launch = [&](uint64_t i, cudaStream_t) {
        run(input + i * layout.stride, outputs.data + i * layout.stride);
    };
    work.check = [&](const Launched& launched) {
        Memory<unsigned long long> wrong(2);
        unsigned long long counts[2];
        for (uint64_t i = 0; i < layout.count; ++i) {
            if (!launched[i]) continue;
            CHECK(cudaMemset(wrong.data, 0, sizeof counts));
            const unsigned blocks = session.multiprocessors * kStepBlocks;
            const T* output = outputs.data + i * layout.stride;
            if constexpr (std::is_same_v<T, float>) {
                if (taps)
                    count_wrong_filtered<<<blocks, kStepThreads>>>(input + i * layout.stride, output, int(side), taps, wrong.data);
            }
            if (!taps) count_unwritten<<<blocks, kStepThreads>>>(output, n, wrong.data);
            CHECK(cudaGetLastError());
            CHECK(cudaMemcpy(counts, wrong.data, sizeof counts, cudaMemcpyDeviceToHost));
            // A byte may well be what it was before; one in sixteen may not.
            const uint64_t allowed = std::is_same_v<T, float> ? 0 : n / 16;
            if (taps ? std::min(counts[0], counts[1]) > 0 : counts[0] > allowed) return false;
        }
        return true;
    };
    std::vector<Timing> timings = measure(work, session.stream, session.effort);
    session.report_all(work, timings, &session.copy_of_bytes(work.bytes));
}

inline void measure_filters(Session& session, const std::vector<uint64_t>& sides) {
    NppStreamContext context = npp_context(session);
    for (uint64_t side : sides) {
        const int length = int(side);
        const NppiSize size = {length, length};
        const NppiPoint origin = {0, 0};
        auto name = [&](const char* prefix) { return prefix + std::to_string(side) + "x" + std::to_string(side); };
        auto gauss = [&](NppiMaskSize mask) {
            return [=](const float* in, float* out) {
                CHECK_NPP(nppiFilterGaussBorder_32f_C1R_Ctx(in, length * 4, size, origin, out, length * 4, size, mask,
                                                            NPP_BORDER_REPLICATE, context));
            };
        };
        if (session.selects(name("gaussian_5x5/f32/")))
            measure_filter<float>(session, "gaussian_5x5", side, 0, gauss(NPP_MASK_SIZE_5_X_5));
        if (session.selects(name("gaussian_11x11/f32/")))
            measure_filter<float>(session, "gaussian_11x11", side, 0, gauss(NPP_MASK_SIZE_11_X_11));
        if (session.selects(name("gaussian_5x5/u8/")))
            measure_filter<uint8_t>(session, "gaussian_5x5", side, 0, [=](const uint8_t* in, uint8_t* out) {
                CHECK_NPP(nppiFilterGaussBorder_8u_C1R_Ctx(in, length, size, origin, out, length, size, NPP_MASK_SIZE_5_X_5,
                                                           NPP_BORDER_REPLICATE, context));
            });
        for (int taps : {3, 11}) {
            const char* op = taps == 3 ? "filter_3x3" : "filter_11x11";
            if (!session.selects(name(taps == 3 ? "filter_3x3/f32/" : "filter_11x11/f32/"))) continue;
            std::vector<float> weights;
            for (int at = 0; at < taps * taps; ++at) weights.push_back(filter_weight(at));
            Memory<float> kernel(weights.size());
            upload(kernel.data, weights.data(), weights.size(), session.stream);
            const float* data = kernel.data;
            measure_filter<float>(session, op, side, taps, [=](const float* in, float* out) {
                CHECK_NPP(nppiFilterBorder_32f_C1R_Ctx(in, length * 4, size, origin, out, length * 4, size, data, {taps, taps},
                                                       {taps / 2, taps / 2}, NPP_BORDER_REPLICATE, context));
            });
        }
        // One direction: NPP's magnitude writes more than that.
        if (session.selects(name("sobel_magnitude/f32/")))
            measure_filter<float>(session, "sobel_magnitude", side, 0, [=](const float* in, float* out) {
                CHECK_NPP(nppiFilterSobelHorizMaskBorder_32f_C1R_Ctx(in, length * 4, size, origin, out, length * 4, size,
                                                                     NPP_MASK_SIZE_3_X_3, NPP_BORDER_REPLICATE, context));
            });
    }
}
