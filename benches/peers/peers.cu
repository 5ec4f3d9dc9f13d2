// The vendor's versions of what bench-gpu measures, by the same protocol, on the same inputs, in the same JSON:
// CUB's sum, cuBLAS's transposition, the runtime's device-to-device copy; and two floors, an empty kernel and a
// kernel that only loads. Build it with build.sh.

#include <cstring>
#include <ctime>
#include <map>

#include <unistd.h>

#include <cublas_v2.h>
#include <cub/device/device_reduce.cuh>

#include "protocol.cuh"

#define CHECK_CUBLAS(call)                                                                                \
    do {                                                                                                  \
        cublasStatus_t check_status = (call);                                                             \
        if (check_status != CUBLAS_STATUS_SUCCESS) {                                                      \
            std::fprintf(stderr, "error: %s:%d: %s: status %d\n", __FILE__, __LINE__, #call,              \
                         int(check_status));                                                              \
            std::exit(1);                                                                                 \
        }                                                                                                 \
    } while (0)

// ---- kernels ----------------------------------------------------------------------------------------------

__global__ void empty() {}

__global__ void generate(float* out, uint64_t n) {
    uint64_t step = uint64_t(gridDim.x) * blockDim.x;
    for (uint64_t i = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) out[i] = value(i);
}

// Loads n4 times 16 bytes and does next to nothing: no sum can be faster.
constexpr int kReadThreads = 512, kReadLoads = 4;
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

// Counts the elements of an output that are not the input's, which starts at `first` in the generated numbers.
// rows > 0: the output is the transposed of a rows × cols matrix; else a copy.
__global__ void count_wrong(const float* output, uint64_t n, uint64_t first, uint64_t rows, uint64_t cols,
                            unsigned long long* wrong) {
    uint64_t step = uint64_t(gridDim.x) * blockDim.x;
    for (uint64_t i = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
        uint64_t source = rows ? (i % rows) * cols + i / rows : i;
        if (__float_as_uint(output[i]) != __float_as_uint(value(first + source))) atomicAdd(wrong, 1ull);
    }
}

// Adds the sum and the sum of magnitudes of an input, in double.
__global__ void reference_sum(const float* input, uint64_t n, double* sums) {
    uint64_t step = uint64_t(gridDim.x) * blockDim.x;
    double sum = 0, magnitude = 0;
    for (uint64_t i = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
        sum += input[i];
        magnitude += fabs(double(input[i]));
    }
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_down_sync(~0u, sum, distance);
        magnitude += __shfl_down_sync(~0u, magnitude, distance);
    }
    if (threadIdx.x % 32 == 0) {
        atomicAdd(&sums[0], sum);
        atomicAdd(&sums[1], magnitude);
    }
}

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

// ---- results ----------------------------------------------------------------------------------------------

struct Options {
    std::vector<std::string> filters;
    std::string json, commit = "unknown";
    bool quick = false;
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
        std::printf("%-8s %-12s %11llu  %-13s %12.2f us  min %12.2f  +- %8.2f  %8.1f GB/s\n", work.peer.c_str(),
                    work.op.c_str(), (unsigned long long)work.n, timing.mode, s.median * 1e3, s.min * 1e3,
                    s.mad * 1e3, gbs);
        std::fflush(stdout);
        if (!file) return;
        std::fprintf(file,
                     "{\"suite\":\"gpu\",\"peer\":\"%s\",\"op\":\"%s\",\"type\":\"f32\",\"n\":%llu,\"rows\":%s,"
                     "\"cols\":%s,\"mode\":\"%s\",\"clock\":\"%s\",\"ms_median\":%.6f,\"ms_min\":%.6f,"
                     "\"ms_mad\":%.6f,\"samples\":%llu,\"launches\":%llu,\"inputs\":%llu,\"bytes\":%llu,"
                     "\"gbs\":%.3f,\"copy_fraction\":%s,\"device\":\"%s\",\"driver\":\"%s\",\"commit\":\"%s\","
                     "\"date\":\"%s\"}\n",
                     work.peer.c_str(), work.op.c_str(), (unsigned long long)work.n, rows.c_str(), cols.c_str(),
                     timing.mode, timing.clock, s.median, s.min, s.mad, (unsigned long long)s.samples,
                     (unsigned long long)timing.launches, (unsigned long long)work.inputs,
                     (unsigned long long)work.bytes, gbs, fraction.c_str(), device.c_str(), driver.c_str(),
                     commit.c_str(), date.c_str());
        std::fflush(file);
    }
};

// ---- cases ------------------------------------------------------------------------------------------------

struct Session {
    Options options;
    Report report;
    Effort effort;
    cudaStream_t stream = nullptr;
    cublasHandle_t cublas = nullptr;
    uint64_t rotated_bytes = 0;
    unsigned multiprocessors = 0;
    Memory<float> input;                            // the generated numbers, as many as were needed so far
    std::map<uint64_t, std::vector<Timing>> copies;  // by elements

    bool selects(const std::string& name) const {
        if (options.filters.empty()) return true;
        for (const std::string& filter : options.filters)
            if (name.find(filter) != std::string::npos) return true;
        return false;
    }

    // Inputs of `elements` elements, on the device.
    Layout inputs(uint64_t elements) {
        Layout layout = Layout::filling(elements, rotated_bytes);
        if (input.size < layout.size()) {
            input.resize(layout.size());
            generate<<<multiprocessors * 8, 256, 0, stream>>>(input.data, input.size);
            CHECK(cudaGetLastError());
            CHECK(cudaStreamSynchronize(stream));
        }
        return layout;
    }

    // Whether the launched ones of `outputs` hold their inputs, copied or transposed.
    bool right(const Memory<float>& outputs, Layout layout, const Launched& launched, uint64_t rows, uint64_t cols) {
        Memory<unsigned long long> wrong(1);
        unsigned long long count = 0;
        CHECK(cudaMemcpy(wrong.data, &count, sizeof count, cudaMemcpyHostToDevice));
        for (uint64_t i = 0; i < layout.count; ++i) {
            if (!launched[i]) continue;
            count_wrong<<<multiprocessors * 8, 256, 0, stream>>>(outputs.data + i * layout.stride, layout.elements,
                                                                i * layout.stride, rows, cols, wrong.data);
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

    // The runtime's copy: measured and reported once.
    const std::vector<Timing>& copy(uint64_t n) {
        auto found = copies.find(n);
        if (found != copies.end()) return found->second;
        Layout layout = inputs(n);
        Memory<float> outputs(layout.size());
        Work work;
        work.peer = "cuda", work.op = "copy", work.n = n;
        work.inputs = layout.count, work.bytes = 2 * n * sizeof(float);
        work.poison = [&](cudaStream_t s) {
            CHECK(cudaMemsetAsync(outputs.data, 0xff, outputs.size * sizeof(float), s));
        };
        work.launch = [&](uint64_t i, cudaStream_t s) {
            CHECK(cudaMemcpyAsync(outputs.data + i * layout.stride, input.data + i * layout.stride,
                                  n * sizeof(float), cudaMemcpyDeviceToDevice, s));
        };
        work.check = [&](const Launched& launched) { return right(outputs, layout, launched, 0, 0); };
        std::vector<Timing> timings = measure(work, stream, effort);
        report_all(work, timings, &timings);
        return copies[n] = timings;
    }

    void sum(uint64_t n) {
        Layout layout = inputs(n), one(layout.count, 1);
        Memory<float> outputs(one.size());
        size_t scratch_bytes = 0;
        CHECK(cub::DeviceReduce::Sum(nullptr, scratch_bytes, input.data, outputs.data, int(n), stream));
        Memory<char> scratch(scratch_bytes);
        Work work;
        work.peer = "cub", work.op = "sum", work.n = n;
        work.inputs = layout.count, work.bytes = (n + 1) * sizeof(float);
        work.poison = [&](cudaStream_t s) {
            CHECK(cudaMemsetAsync(outputs.data, 0xff, outputs.size * sizeof(float), s));
        };
        work.launch = [&](uint64_t i, cudaStream_t s) {
            CHECK(cub::DeviceReduce::Sum(scratch.data, scratch_bytes, input.data + i * layout.stride,
                                         outputs.data + i * one.stride, int(n), s));
        };
        work.check = [&](const Launched& launched) {
            Memory<double> sums(2 * layout.count);
            CHECK(cudaMemset(sums.data, 0, sums.size * sizeof(double)));
            for (uint64_t i = 0; i < layout.count; ++i) {
                if (!launched[i]) continue;
                unsigned blocks = unsigned(std::min<uint64_t>((n + 1023) / 1024, multiprocessors * 8));
                reference_sum<<<blocks, 256>>>(input.data + i * layout.stride, n, sums.data + 2 * i);
                CHECK(cudaGetLastError());
            }
            CHECK(cudaDeviceSynchronize());
            std::vector<double> expected(sums.size);
            std::vector<float> actual(outputs.size);
            CHECK(cudaMemcpy(expected.data(), sums.data, sums.size * sizeof(double), cudaMemcpyDeviceToHost));
            CHECK(cudaMemcpy(actual.data(), outputs.data, outputs.size * sizeof(float), cudaMemcpyDeviceToHost));
            for (uint64_t i = 0; i < layout.count; ++i) {
                // CUB does not state its order. A NaN makes the comparison false: not right.
                double error = std::fabs(double(actual[i * one.stride]) - expected[2 * i]);
                if (launched[i] && !(error <= 1e-6 * expected[2 * i + 1])) return false;
            }
            return true;
        };
        std::vector<Timing> timings = measure(work, stream, effort);
        const std::vector<Timing>& copied = copy(n / 2);
        report_all(work, timings, &copied);

        // The floor: the same loads and nothing else.
        uint64_t tiles = (n / 4 + kReadThreads * kReadLoads - 1) / (kReadThreads * kReadLoads);
        unsigned blocks = unsigned(std::min<uint64_t>(tiles, multiprocessors * (2048 / kReadThreads)));
        work.peer = "cuda", work.op = "read", work.bytes = n * sizeof(float);
        work.launch = [&](uint64_t i, cudaStream_t s) {
            auto in = reinterpret_cast<const float4*>(input.data + i * layout.stride);
            read_only<<<blocks, kReadThreads, 0, s>>>(in, n / 4, outputs.data);
        };
        work.check = [](const Launched&) { return true; };  // it writes nothing
        report_all(work, measure(work, stream, effort), &copied);
    }

    void transpose(uint64_t rows, uint64_t cols) {
        uint64_t n = rows * cols;
        Layout layout = inputs(n);
        Memory<float> outputs(layout.size());
        Work work;
        work.peer = "cublas", work.op = "transpose", work.n = n, work.rows = rows, work.cols = cols;
        work.inputs = layout.count, work.bytes = 2 * n * sizeof(float);
        work.poison = [&](cudaStream_t s) {
            CHECK(cudaMemsetAsync(outputs.data, 0xff, outputs.size * sizeof(float), s));
        };
        // Row-major rows × cols is column-major cols × rows: C (rows × cols, column-major) = A^T. B is not read.
        work.launch = [&](uint64_t i, cudaStream_t) {
            const float one = 1, zero = 0;
            float* out = outputs.data + i * layout.stride;
            CHECK_CUBLAS(cublasSgeam(cublas, CUBLAS_OP_T, CUBLAS_OP_N, int(rows), int(cols), &one,
                                     input.data + i * layout.stride, int(cols), &zero, out, int(rows), out,
                                     int(rows)));
        };
        work.check = [&](const Launched& launched) { return right(outputs, layout, launched, rows, cols); };
        std::vector<Timing> timings = measure(work, stream, effort);
        report_all(work, timings, &copy(n));
    }

    void empty_kernel() {
        Work work;
        work.peer = "cuda", work.op = "empty";
        work.launch = [](uint64_t, cudaStream_t s) { empty<<<1, 32, 0, s>>>(); };
        work.poison = [](cudaStream_t) {};
        work.check = [](const Launched&) { return true; };
        report_all(work, measure(work, stream, effort), nullptr);
    }

    void first_result(uint64_t n);
};

// ---- the first result of a fresh process --------------------------------------------------------------------

// The child: prints the milliseconds until the context was there, and from then to the first sum.
int first_result_child(uint64_t n, int device) {
    std::vector<float> values(n);
    for (uint64_t i = 0; i < n; ++i) values[i] = value(i);

    auto start = std::chrono::steady_clock::now();
    CHECK(cudaSetDevice(device));
    CHECK(cudaFree(nullptr));
    double context = milliseconds_since(start);

    start = std::chrono::steady_clock::now();
    Memory<float> input(n), output(1);
    CHECK(cudaMemcpy(input.data, values.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    size_t scratch_bytes = 0;
    CHECK(cub::DeviceReduce::Sum(nullptr, scratch_bytes, input.data, output.data, int(n)));
    Memory<char> scratch(scratch_bytes);
    CHECK(cub::DeviceReduce::Sum(scratch.data, scratch_bytes, input.data, output.data, int(n)));
    float sum = NAN;
    CHECK(cudaMemcpy(&sum, output.data, sizeof sum, cudaMemcpyDeviceToHost));
    double first = milliseconds_since(start);
    std::printf("%.6f %.6f %.9g\n", context, first, double(sum));
    return 0;
}

void Session::first_result(uint64_t n) {
    char program[4096];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length < 0) {
        std::fprintf(stderr, "error: /proc/self/exe cannot be read\n");
        std::exit(1);
    }
    program[length] = 0;
    std::string command = "CUDA_CACHE_DISABLE=1 '" + std::string(program) + "' --first-result " +
                          std::to_string(n) + " --device " + std::to_string(options.device);
    double exact = 0, magnitude = 0;
    for (uint64_t i = 0; i < n; ++i) {
        exact += value(i);
        magnitude += std::fabs(value(i));
    }
    std::vector<double> contexts, firsts;
    for (int child = 0; child < (options.quick ? 1 : 5); ++child) {
        double context = 0, first = 0, sum = 0;
        std::FILE* pipe = popen(command.c_str(), "r");
        bool read = pipe && std::fscanf(pipe, "%lf %lf %lf", &context, &first, &sum) == 3;
        bool ended_well = pipe && pclose(pipe) == 0;
        if (!read || !ended_well || !(std::fabs(sum - exact) <= 1e-6 * magnitude)) {
            std::fprintf(stderr, "error: the first result of a process was wrong, or it failed\n");
            std::exit(1);
        }
        contexts.push_back(context);
        firsts.push_back(first);
    }
    Work work;
    work.peer = "cub", work.op = "context";
    report.add(work, {"fresh_process", "wall", summarize(contexts), 1}, nullptr);
    work.op = "first_result", work.n = n;
    report.add(work, {"fresh_process", "wall", summarize(firsts), 1}, nullptr);
}

// ---- command line -------------------------------------------------------------------------------------------

const char* const kUsage =
    "peers [--filter TEXT]... [--json FILE] [--quick] [--device N] [--commit HASH]\n"
    "Measures the vendor's versions of what bench-gpu measures, with its sizes, modes and JSON.\n";

int main(int argc, char** argv) {
    Options options;
    uint64_t first_result_of = 0;
    for (int i = 1; i < argc; ++i) {
        std::string argument = argv[i];
        auto operand = [&]() -> std::string {
            if (++i < argc) return argv[i];
            std::fprintf(stderr, "error: %s needs a value\n%s", argument.c_str(), kUsage);
            std::exit(2);
        };
        if (argument == "--filter") options.filters.push_back(operand());
        else if (argument == "--json") options.json = operand();
        else if (argument == "--quick") options.quick = true;
        else if (argument == "--device") options.device = std::atoi(operand().c_str());
        else if (argument == "--commit") options.commit = operand();
        else if (argument == "--first-result") first_result_of = std::strtoull(operand().c_str(), nullptr, 10);
        else {
            bool help = argument == "--help";
            std::fprintf(help ? stdout : stderr, "%s", kUsage);
            return help ? 0 : 2;
        }
    }
    if (first_result_of) return first_result_child(first_result_of, options.device);

    Session session;
    session.options = options;
    session.effort = options.quick ? Effort::quick() : Effort();
    CHECK(cudaSetDevice(options.device));
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, options.device));
    int driver = 0;
    CHECK(cudaDriverGetVersion(&driver));
    session.report.device = properties.name;
    session.report.driver = std::to_string(driver / 1000) + "." + std::to_string(driver % 1000 / 10);
    session.report.commit = options.commit;
    session.rotated_bytes = std::max(kRotatedCaches * uint64_t(properties.l2CacheSize), kMinRotatedBytes);
    session.multiprocessors = unsigned(properties.multiProcessorCount);
    if (!options.json.empty() && !(session.report.file = std::fopen(options.json.c_str(), "w"))) {
        std::fprintf(stderr, "error: %s cannot be written\n", options.json.c_str());
        return 1;
    }
    CHECK(cudaStreamCreateWithFlags(&session.stream, cudaStreamNonBlocking));
    CHECK_CUBLAS(cublasCreate(&session.cublas));
    CHECK_CUBLAS(cublasSetStream(session.cublas, session.stream));

    // The sizes of ../src/suite.rs.
    struct Shape {
        uint64_t rows, cols;
    };
    std::vector<uint64_t> logs = {10, 16, 20, 24, 28}, copies;
    std::vector<Shape> shapes = {{1024, 1024}, {4096, 4096}, {16384, 16384}, {16381, 16363}};
    if (options.quick) logs = {10, 16}, shapes = {{64, 64}, {256, 256}, {61, 67}};
    const uint64_t first = options.quick ? 10 : 20;

    if (session.selects("first_result/f32/2^" + std::to_string(first))) session.first_result(1ull << first);
    if (session.selects("empty")) session.empty_kernel();
    for (uint64_t log : logs)
        if (session.selects("sum/f32/2^" + std::to_string(log))) session.sum(1ull << log);
    for (Shape s : shapes)
        if (session.selects("transpose/f32/" + std::to_string(s.rows) + "x" + std::to_string(s.cols)))
            session.transpose(s.rows, s.cols);
    for (uint64_t log : logs)
        if (session.selects("copy/f32/2^" + std::to_string(log))) session.copy(1ull << log);
    for (Shape s : shapes)
        if (session.selects("copy/f32/" + std::to_string(s.rows * s.cols))) session.copy(s.rows * s.cols);

    CHECK_CUBLAS(cublasDestroy(session.cublas));
    CHECK(cudaStreamDestroy(session.stream));
    if (session.report.file) std::fclose(session.report.file);
    return 0;
}
