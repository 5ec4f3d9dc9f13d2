// The first result of a fresh process.
#pragma once

#include <unistd.h>

#include <cub/device/device_reduce.cuh>

#include "session.cuh"

// The child: prints the milliseconds until the context was there, and from then to the first sum.
inline int first_result_child(uint64_t n, int device) {
    std::vector<float> values(n);
    for (uint64_t i = 0; i < n; ++i) values[i] = Element<float>::value(i);

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

inline void measure_first_result(Session& session, uint64_t n) {
    char program[4096];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length < 0) {
        std::fprintf(stderr, "error: /proc/self/exe cannot be read\n");
        std::exit(1);
    }
    program[length] = 0;
    std::string command = "CUDA_CACHE_DISABLE=1 '" + std::string(program) + "' --first-result " +
                          std::to_string(n) + " --device " + std::to_string(session.options.device);
    double exact = 0, magnitude = 0;
    for (uint64_t i = 0; i < n; ++i) {
        exact += Element<float>::value(i);
        magnitude += std::fabs(Element<float>::value(i));
    }
    std::vector<double> contexts, firsts;
    for (int child = 0; child < (session.options.quick ? 1 : 5); ++child) {
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
    session.report.add(work, {"fresh_process", "wall", summarize(contexts), 1}, nullptr);
    work.op = "first_result", work.n = n;
    session.report.add(work, {"fresh_process", "wall", summarize(firsts), 1}, nullptr);
}
