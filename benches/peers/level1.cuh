// cuBLAS's operations on vectors of floats.
#pragma once

#include <cublas_v2.h>

#include "session.cuh"
#include "cublas.cuh"

// ---- what is done in place ----------------------------------------------------------------------------------

// Copies of the inputs that launches change, and how often each was changed.
template <class T>
struct InPlace {
    Session& session;
    const Layout layout;
    Memory<T> copies;
    std::vector<uint64_t> times;

    InPlace(Session& session, uint64_t n)
        : session(session), layout(session.inputs<T>(n)), copies(layout.size()), times(layout.count) {
        // Launches read them before the first set of timings, too.
        set(session.stream);
        CHECK(cudaStreamSynchronize(session.stream));
    }

    void set(cudaStream_t stream) {
        CHECK(cudaMemcpyAsync(copies.data, session.input<T>(), layout.size() * sizeof(T), cudaMemcpyDeviceToDevice, stream));
        std::fill(times.begin(), times.end(), 0);
    }

    // Where the one of that number lies, which is changed now.
    T* change(uint64_t i) {
        ++times[i];
        return copies.data + i * layout.stride;
    }
};

// Counts the elements that are not what so many launches make of them: each multiplies by `factor` and adds the term. cuBLAS does not say
// whether it fuses: a launch rounds up to three times, and each time by at most the roundoff of the sum of the magnitudes.
template <class T, class Term>
__global__ void count_wrong_updates(const T* before, const T* after, uint64_t n, uint64_t times, double factor, Term term,
                                    unsigned long long* wrong) {
    const double roundoff = sizeof(T) == 4 ? 0x1p-24 : 0x1p-53;
    uint64_t step = uint64_t(gridDim.x) * blockDim.x;
    for (uint64_t i = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
        double value = before[i], added = double(times) * term(i), expected = pow(factor, double(times)) * value + added;
        // The reference rounds, too: what is right is less than four roundings from it.
        double bound = (3.0 * double(times) + 4.0) * roundoff * (fabs(value) + fabs(added));
        if (!(fabs(double(after[i]) - expected) <= bound)) atomicAdd(wrong, 1ull);
    }
}

template <class T, class Term>
bool right_updates(const InPlace<T>& copies, double factor, Term term_of) {
    Session& session = copies.session;
    // Those of which there was no launch must be what they were.
    return none_wrong(Launched(copies.layout.count, 1), [&](uint64_t i, unsigned long long* wrong) {
        const uint64_t first = i * copies.layout.stride;
        count_wrong_updates<<<session.multiprocessors * kStepBlocks, kStepThreads>>>(
            session.input<T>() + first, copies.copies.data + first, copies.layout.elements, copies.times[i], factor,
            term_of(i), wrong);
    });
}

// What multiples are taken of, and what is multiplied with in place: those of ../src/suite/linalg_level1.rs.
template <class T>
T alpha() {
    return Element<T>::value(1);
}
constexpr float kFactor = -1023.0f / 1024.0f;

struct Nothing {
    __device__ double operator()(uint64_t) const { return 0; }
};

struct Multiple {
    const float* x;
    double alpha;
    __device__ double operator()(uint64_t i) const { return alpha * double(x[i]); }
};

// y = alpha * x + y: each input and the one after it, which is x.
inline void measure_axpy(Session& session, cublasHandle_t cublas, uint64_t n) {
    InPlace<float> y(session, n);
    auto x = [&](uint64_t i) { return session.input<float>() + (i + 1) % y.layout.count * y.layout.stride; };
    Work work;
    work.peer = "cublas", work.op = "axpy", work.n = n;
    work.inputs = y.layout.count, work.bytes = 3 * n * sizeof(float);
    work.poison = [&](cudaStream_t s) { y.set(s); };
    work.launch = [&](uint64_t i, cudaStream_t) {
        const float factor = alpha<float>();
        CHECK_CUBLAS(cublasSaxpy(cublas, int(n), &factor, x(i), 1, y.change(i), 1));
    };
    work.check = [&](const Launched&) {
        return right_updates(y, 1.0, [&](uint64_t i) { return Multiple{x(i), alpha<float>()}; });
    };
    std::vector<Timing> timings = measure(work, session.stream, session.effort);
    session.report_all(work, timings, &session.copy_of_bytes(work.bytes));
}

inline void measure_scale(Session& session, cublasHandle_t cublas, uint64_t n) {
    InPlace<float> x(session, n);
    Work work;
    work.peer = "cublas", work.op = "scale", work.n = n;
    work.inputs = x.layout.count, work.bytes = 2 * n * sizeof(float);
    work.poison = [&](cudaStream_t s) { x.set(s); };
    work.launch = [&](uint64_t i, cudaStream_t) { CHECK_CUBLAS(cublasSscal(cublas, int(n), &kFactor, x.change(i), 1)); };
    work.check = [&](const Launched&) {
        return right_updates(x, double(kFactor), [](uint64_t) { return Nothing(); });
    };
    std::vector<Timing> timings = measure(work, session.stream, session.effort);
    session.report_all(work, timings, &session.copy_of_bytes(work.bytes));
}

// ---- reductions ---------------------------------------------------------------------------------------------

// Adds the sum of the products, or of the magnitudes where there is no y, and the sum of the products' magnitudes.
__global__ void add_products(const float* x, const float* y, uint64_t n, double* sums) {
    uint64_t step = uint64_t(gridDim.x) * blockDim.x;
    double sum = 0, magnitude = 0;
    for (uint64_t i = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
        double product = y ? double(x[i]) * double(y[i]) : fabs(double(x[i]));
        sum += product, magnitude += fabs(product);
    }
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_down_sync(~0u, sum, distance);
        magnitude += __shfl_down_sync(~0u, magnitude, distance);
    }
    if (threadIdx.x % 32 == 0) atomicAdd(sums, sum), atomicAdd(sums + 1, magnitude);
}

enum class Norm { dot, nrm2, asum };

// The dot product of each input and the one after it, or a norm of each. The results stay on the device: with a result on the host each
// call would wait.
inline void measure_norm(Session& session, cublasHandle_t cublas, uint64_t n, Norm norm) {
    Layout layout = session.inputs<float>(n), one(layout.count, 1, sizeof(float));
    const float* input = session.input<float>();
    Memory<float> outputs(one.size());
    auto first = [&](uint64_t i) { return input + i * layout.stride; };
    auto second = [&](uint64_t i) { return input + (i + 1) % layout.count * layout.stride; };
    Work work;
    work.peer = "cublas", work.op = norm == Norm::dot ? "dot" : norm == Norm::nrm2 ? "nrm2" : "asum", work.n = n;
    work.inputs = layout.count, work.bytes = ((norm == Norm::dot ? 2 : 1) * n + 1) * sizeof(float);
    work.poison = [&](cudaStream_t s) {
        CHECK(cudaMemsetAsync(outputs.data, Element<float>::poison, outputs.size * sizeof(float), s));
    };
    work.launch = [&](uint64_t i, cudaStream_t) {
        float* output = outputs.data + i * one.stride;
        if (norm == Norm::dot) CHECK_CUBLAS(cublasSdot(cublas, int(n), first(i), 1, second(i), 1, output));
        else if (norm == Norm::nrm2) CHECK_CUBLAS(cublasSnrm2(cublas, int(n), first(i), 1, output));
        else CHECK_CUBLAS(cublasSasum(cublas, int(n), first(i), 1, output));
    };
    work.check = [&](const Launched& launched) {
        for (uint64_t i = 0; i < layout.count; ++i) {
            if (!launched[i]) continue;
            Memory<double> sums(2);
            CHECK(cudaMemset(sums.data, 0, 2 * sizeof(double)));
            const float* other = norm == Norm::dot ? second(i) : norm == Norm::nrm2 ? first(i) : nullptr;
            const uint64_t wanted = (n + 4 * kStepThreads - 1) / (4 * kStepThreads);
            const unsigned blocks = unsigned(std::min<uint64_t>(wanted, session.multiprocessors * kStepBlocks));
            add_products<<<blocks, kStepThreads>>>(first(i), other, n, sums.data);
            CHECK(cudaGetLastError());
            double exact[2];
            float found = 0;
            CHECK(cudaMemcpy(exact, sums.data, sizeof exact, cudaMemcpyDeviceToHost));
            CHECK(cudaMemcpy(&found, outputs.data + i * one.stride, sizeof found, cudaMemcpyDeviceToHost));
            if (norm == Norm::nrm2) exact[0] = exact[1] = std::sqrt(exact[0]);
            // The bound is that of right_sum; a NaN is not right.
            if (!(std::fabs(found - exact[0]) <= 1e-6 * exact[1])) return false;
        }
        return true;
    };
    CHECK_CUBLAS(cublasSetPointerMode(cublas, CUBLAS_POINTER_MODE_DEVICE));
    std::vector<Timing> timings = measure(work, session.stream, session.effort);
    CHECK_CUBLAS(cublasSetPointerMode(cublas, CUBLAS_POINTER_MODE_HOST));
    session.report_all(work, timings, &session.copy_of_bytes(work.bytes));
}

// All of them, where they are selected.
inline void measure_level1(Session& session, cublasHandle_t cublas, uint64_t n) {
    const std::string rest = "/f32/" + size_name(n);
    if (session.selects("dot" + rest)) measure_norm(session, cublas, n, Norm::dot);
    if (session.selects("nrm2" + rest)) measure_norm(session, cublas, n, Norm::nrm2);
    if (session.selects("asum" + rest)) measure_norm(session, cublas, n, Norm::asum);
    if (session.selects("axpy" + rest)) measure_axpy(session, cublas, n);
    if (session.selects("scale" + rest)) measure_scale(session, cublas, n);
}
