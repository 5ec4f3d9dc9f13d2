// cuSOLVER's Cholesky factorisations at the sizes that `factor --list` prints, on standard input:
// nvcc -O3 -std=c++17 -arch=native factor.cu -lcusolver -lcublas. Prints each line with its peer and the milliseconds of a call: as in
// ../src/factor.rs, a factorisation has fresh matrices each time, and the copy's own milliseconds are taken off.
//
// One matrix is factored by potrf; a batch by potrfBatched, and where it has one right-hand side solved by potrsBatched, which has no more.
#include <cusolverDn.h>

#include "sweep.cuh"

#define CHECK_CUSOLVER(call)                                                                              \
    do {                                                                                                  \
        cusolverStatus_t check_status = (call);                                                           \
        if (check_status != CUSOLVER_STATUS_SUCCESS) {                                                    \
            std::fprintf(stderr, "error: %s:%d: %s: status %d\n", __FILE__, __LINE__, #call,              \
                         int(check_status));                                                              \
            std::exit(1);                                                                                 \
        }                                                                                                 \
    } while (0)

// The calls of each type.
template <class T>
struct Calls;

template <>
struct Calls<float> {
    static constexpr auto buffer = cusolverDnSpotrf_bufferSize;
    static constexpr auto potrf = cusolverDnSpotrf;
    static constexpr auto potrs = cusolverDnSpotrs;
    static constexpr auto potrf_batched = cusolverDnSpotrfBatched;
    static constexpr auto potrs_batched = cusolverDnSpotrsBatched;
};

template <>
struct Calls<double> {
    static constexpr auto buffer = cusolverDnDpotrf_bufferSize;
    static constexpr auto potrf = cusolverDnDpotrf;
    static constexpr auto potrs = cusolverDnDpotrs;
    static constexpr auto potrf_batched = cusolverDnDpotrfBatched;
    static constexpr auto potrs_batched = cusolverDnDpotrsBatched;
};

// Matrix after matrix of `leading` elements a column, with n on the diagonal.
template <class T>
__global__ void diagonals(T* a, uint64_t n, uint64_t leading, uint64_t stride, uint64_t count) {
    const uint64_t step = uint64_t(gridDim.x) * blockDim.x;
    for (uint64_t i = blockIdx.x * uint64_t(blockDim.x) + threadIdx.x; i < n * count; i += step)
        a[i / n * stride + i % n * (leading + 1)] = T(n);
}

template <class T>
__global__ void addresses(T** out, T* first, uint64_t stride, uint64_t count) {
    const uint64_t i = blockIdx.x * uint64_t(blockDim.x) + threadIdx.x;
    if (i < count) out[i] = first + i * stride;
}

template <class T>
static T* device(uint64_t elements) {
    T* memory;
    CHECK(cudaMalloc(&memory, std::max<uint64_t>(elements, 1) * sizeof(T)));
    return memory;
}

template <class T>
static T** device_addresses(T* first, uint64_t stride, uint64_t count) {
    T** all = device<T*>(count);
    addresses<<<unsigned((count + 255) / 256), 256>>>(all, first, stride, count);
    CHECK(cudaGetLastError());
    return all;
}

template <class T>
static void of_type(cusolverDnHandle_t solver, const char* line, const char* op, int n, int count, bool upper, int gap, int columns) {
    using C = Calls<T>;
    const cublasFillMode_t triangle = upper ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
    const int leading = n + gap;
    // The last column has no gap behind it.
    const uint64_t stride = uint64_t(leading) * (n - 1) + n, elements = stride * count;
    T *fresh = device<T>(elements), *a = device<T>(elements);
    int* info = device<int>(count);
    fill<<<4096, 256>>>(fresh, elements, elements);
    diagonals<<<1024, 256>>>(fresh, uint64_t(n), uint64_t(leading), stride, uint64_t(count));
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());

    T* work = nullptr;
    T** of_a = nullptr;
    int work_size = 0;
    if (count == 1) {
        CHECK_CUSOLVER(C::buffer(solver, triangle, n, a, leading, &work_size));
        work = device<T>(work_size);
    } else {
        of_a = device_addresses(a, stride, count);
    }
    auto copy = [&] { CHECK(cudaMemcpyAsync(a, fresh, elements * sizeof(T), cudaMemcpyDeviceToDevice)); };
    auto factor = [&] {
        if (count == 1) CHECK_CUSOLVER(C::potrf(solver, triangle, n, a, leading, work, work_size, info));
        else CHECK_CUSOLVER(C::potrf_batched(solver, triangle, n, of_a, leading, info, count));
    };
    if (std::strcmp(op, "potrf") == 0) {
        const double both = batch_median([&] { copy(), factor(); });
        print_line(line, "cusolver", both - batch_median(copy));
    } else if (count == 1 || columns == 1) {
        copy(), factor();
        T* b = device<T>(uint64_t(n) * columns * count);
        fill<<<4096, 256>>>(b, uint64_t(n) * columns * count, uint64_t(n) * columns * count);
        CHECK(cudaGetLastError());
        T** of_b = device_addresses(b, uint64_t(n) * columns, count);
        print_line(line, "cusolver", batch_median([&] {
                       if (count == 1) CHECK_CUSOLVER(C::potrs(solver, triangle, n, columns, a, leading, b, n, info));
                       else CHECK_CUSOLVER(C::potrs_batched(solver, triangle, n, 1, of_a, leading, of_b, n, info, count));
                   }));
        CHECK(cudaFree(b));
        CHECK(cudaFree(of_b));
    }
    int found = 0;
    CHECK(cudaMemcpy(&found, info, sizeof found, cudaMemcpyDeviceToHost));
    if (found != 0) std::fprintf(stderr, "%s: info %d\n", line, found);
    CHECK(cudaFree(fresh));
    CHECK(cudaFree(a));
    CHECK(cudaFree(info));
    CHECK(cudaFree(work));
    CHECK(cudaFree(of_a));
}

int main() {
    cusolverDnHandle_t solver;
    CHECK_CUSOLVER(cusolverDnCreate(&solver));
    int version = 0;
    CHECK_CUSOLVER(cusolverGetVersion(&version));
    std::printf("# cuSOLVER %d\n", version);
    char op[16], type[16], triangle[8];
    int n, count, gap, columns;
    each_line([&](const char* line) {
        if (std::sscanf(line, "%15s %15s %d %d %7s %d %d", op, type, &n, &count, triangle, &gap, &columns) != 7) return;
        if (std::strcmp(op, "potrf") != 0 && std::strcmp(op, "potrs") != 0) return;
        const bool upper = triangle[0] == 'u';
        if (std::strcmp(type, "f32") == 0) of_type<float>(solver, line, op, n, count, upper, gap, columns);
        else of_type<double>(solver, line, op, n, count, upper, gap, columns);
    });
}
