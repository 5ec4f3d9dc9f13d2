// The vendor's versions of what bench-gpu measures, by the same protocol, on the same inputs, in the same JSON. Build it
// with build.sh.
//
//   protocol.cuh      how a launch is timed, the inputs
//   session.cuh       the device, the inputs on it, the runtime's copy, the records
//   floors.cuh        an empty kernel, and one that only loads
//   reduce.cuh        CUB's sum, max and argmax; Thrust's sum
//   scan.cuh          CUB's and Thrust's inclusive sums
//   scan_rows.cuh     CUB's inclusive sums of rows
//   sort.cuh          CUB's radix sort
//   histogram.cuh     CUB's histograms
//   select.cuh        CUB's compaction and partition
//   segments.cuh      CUB's sums of segments (segments.hpp: their lengths), cuBLAS's sums of columns
//   runs.cuh          CUB's sums by key, run-length encoding and unique items
//   npp.cuh           what NPP's functions need
//   stencil.cuh       NPP's filters of images
//   transpose.cuh     cuBLAS's transposition
//   linalg.cuh        cuBLAS's products and sums
//   level1.cuh        cuBLAS's operations on vectors
//   level2.cuh        cuBLAS's outer products, and products with a triangle
//   resize.cuh        NPP's bilinear resize
//   first_result.cuh  the first result of a fresh process

#include "first_result.cuh"
#include "floors.cuh"
#include "histogram.cuh"
#include "level1.cuh"
#include "level2.cuh"
#include "linalg.cuh"
#include "reduce.cuh"
#include "resize.cuh"
#include "runs.cuh"
#include "scan.cuh"
#include "scan_rows.cuh"
#include "segments.cuh"
#include "select.cuh"
#include "sort.cuh"
#include "stencil.cuh"
#include "transpose.cuh"

const char* const kUsage =
    "peers [--filter TEXT]... [--json FILE] [--quick] [--warm] [--device N] [--commit HASH]\n"
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
        else if (argument == "--warm") options.warm = true;
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
    // Layout::filling makes two inputs of no bytes.
    session.rotated_bytes =
        options.warm ? 0 : std::max(kRotatedCaches * uint64_t(properties.l2CacheSize), kMinRotatedBytes);
    session.multiprocessors = unsigned(properties.multiProcessorCount);
    if (!options.json.empty() && !(session.report.file = std::fopen(options.json.c_str(), "w"))) {
        std::fprintf(stderr, "error: %s cannot be written\n", options.json.c_str());
        return 1;
    }
    CHECK(cudaStreamCreateWithFlags(&session.stream, cudaStreamNonBlocking));
    cublasHandle_t cublas = nullptr;
    CHECK_CUBLAS(cublasCreate(&cublas));
    CHECK_CUBLAS(cublasSetStream(cublas, session.stream));
    // Floats are multiplied as floats: no tf32.
    CHECK_CUBLAS(cublasSetMathMode(cublas, CUBLAS_DEFAULT_MATH));

    // The sizes of ../src/suite.rs.
    struct Shape {
        uint64_t rows, cols;
    };
    std::vector<uint64_t> logs = {10, 16, 20, 24, 28};
    std::vector<uint64_t> sorted = {16, 20, 24, 27};
    std::vector<Shape> shapes = {{1024, 1024}, {4096, 4096}, {16384, 16384}, {16381, 16363}};
    std::vector<uint64_t> literature = {500000, 1000000, 5000000, 10000000, 30000000, 60000000, 100000000};
    std::vector<uint64_t> squares = {512, 1024, 2048, 4096, 8192};
    std::vector<Shape> factors = {{1024, 1024}, {4096, 4096}, {16384, 16384}, {100000, 2000}, {2000, 100000}};
    std::vector<uint64_t> images = {1024, 4096, 16384};
    std::vector<uint64_t> lengths = {8, 32, 256, 4096, 1048576, 0};
    std::vector<uint64_t> runs = {8, 256, 0};
    std::vector<uint64_t> triangles = {4096, 16384};
    if (options.quick) logs = {10, 16}, shapes = {{64, 64}, {256, 256}, {61, 67}}, literature = {1000};
    if (options.quick) sorted = {10, 12};
    if (options.quick) images = {64, 250};
    if (options.quick) triangles = {130};
    if (options.quick) squares = {65}, factors = {{64, 64}, {3, 1000}, {1000, 3}};
    const uint64_t first = options.quick ? 10 : 20;
    const uint64_t segment_elements = options.quick ? kQuickSegmentElements : kSegmentElements;
    const uint64_t added = options.quick ? 1ull << 10 : 1ull << 28;
    const std::vector<uint64_t> filtered = options.quick ? std::vector<uint64_t>{64} : std::vector<uint64_t>{4096, 16384};
    const Shape columns = options.quick ? Shape{256, 256} : Shape{16384, 16384};
    auto matrix = [](Shape s) { return "/f32/" + std::to_string(s.rows) + "x" + std::to_string(s.cols); };

    if (session.selects("first_result/f32/" + size_name(1ull << first))) measure_first_result(session, 1ull << first);
    if (session.selects("empty")) measure_empty(session);
    measure_reductions<float>(session, logs);
    measure_reductions<double>(session, logs);
    measure_reductions<int32_t>(session, logs);
    measure_reductions<uint8_t>(session, logs);
    measure_scans<float>(session, logs);
    measure_scans<double>(session, logs);
    measure_scans<int32_t>(session, logs);
    measure_scans<uint8_t>(session, logs);
    for (bool pairs : {false, true})
        for (uint64_t log : sorted)
            if (session.selects((pairs ? "sort_pairs/i32/" : "sort/i32/") + size_name(1ull << log)))
                measure_sort(session, 1ull << log, pairs);
    for (uint64_t log : logs)
        if (session.selects("histogram/f32/" + size_name(1ull << log))) measure_histogram<float>(session, 1ull << log);
    for (uint64_t log : logs)
        if (session.selects("histogram/u8/" + size_name(1ull << log))) measure_histogram<uint8_t>(session, 1ull << log);
    for (bool partition : {false, true})
        for (uint64_t log : logs)
            if (session.selects((partition ? "partition/i32/" : "select/i32/") + size_name(1ull << log)))
                measure_select(session, 1ull << log, partition);
    for (uint64_t log : logs)
        if (session.selects("sum/f32/" + size_name(1ull << log))) measure_read(session, 1ull << log);
    for (uint64_t n : literature)
        if (session.selects("sum/f64/" + size_name(n))) measure_thrust(session, n, false);
    for (uint64_t n : literature)
        if (session.selects("sum_with_copy/f64/" + size_name(n))) measure_thrust(session, n, true);
    for (uint64_t length : lengths)
        if (session.selects("segments/f32/" + (length ? size_name(length) : "power_law")))
            measure_segments(session, segment_elements, length);
    for (uint64_t length : runs) {
        const std::string kind = length ? size_name(length) : "power_law";
        if (session.selects("reduce_by_key/f32/" + kind)) measure_reduce_by_key(session, segment_elements, length);
        if (session.selects("run_length_encode/u32/" + kind)) measure_encode(session, segment_elements, length);
        if (session.selects("unique/u32/" + kind)) measure_unique(session, segment_elements, length);
    }
    if (session.selects("scan_rows" + matrix(columns))) measure_scan_rows(session, columns.rows, columns.cols);
    if (session.selects("columns" + matrix(columns))) measure_columns(session, cublas, columns.rows, columns.cols);
    for (Shape s : shapes)
        if (session.selects("transpose" + matrix(s))) measure_transpose(session, cublas, s.rows, s.cols);
    for (uint64_t n : squares)
        if (session.selects("gemm" + matrix({n, n}))) measure_gemm<float>(session, cublas, n);
    for (uint64_t n : squares)
        if (session.selects("gemm/f64/" + std::to_string(n) + "x" + std::to_string(n)))
            measure_gemm<double>(session, cublas, n);
    for (bool transposed : {false, true})
        for (Shape s : factors)
            if (session.selects((transposed ? "gemv_transposed" : "gemv") + matrix(s)))
                measure_gemv(session, cublas, s.rows, s.cols, transposed);
    measure_level2<float>(session, cublas, triangles);
    measure_level2<double>(session, cublas, triangles);
    measure_level1(session, cublas, added);
    for (uint64_t side : images)
        if (session.selects("resize_half" + matrix({side, side}))) measure_resize_half(session, side, side);
    measure_filters(session, filtered);
    if (session.selects("add/f32/" + size_name(added))) measure_add(session, cublas, added);
    for (uint64_t log : logs)
        if (session.selects("copy/f32/" + size_name(1ull << log))) session.copy(1ull << log);
    for (Shape s : shapes)
        if (session.selects("copy/f32/" + size_name(s.rows * s.cols))) session.copy(s.rows * s.cols);

    CHECK_CUBLAS(cublasDestroy(cublas));
    CHECK(cudaStreamDestroy(session.stream));
    if (session.report.file) std::fclose(session.report.file);
    return 0;
}
