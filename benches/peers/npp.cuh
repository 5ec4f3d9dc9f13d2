// What NPP's functions need: a check of their status, and a context.
#pragma once

#include <npp.h>

#include "session.cuh"

#define CHECK_NPP(call)                                                                                   \
    do {                                                                                                  \
        NppStatus check_status = (call);                                                                  \
        if (check_status != NPP_NO_ERROR) {                                                               \
            std::fprintf(stderr, "error: %s:%d: %s: status %d\n", __FILE__, __LINE__, #call,              \
                         int(check_status));                                                              \
            std::exit(1);                                                                                 \
        }                                                                                                 \
    } while (0)

// What NPP wants to know of the device and the stream.
inline NppStreamContext npp_context(const Session& session) {
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, session.options.device));
    NppStreamContext context{};
    context.hStream = session.stream;
    context.nCudaDeviceId = session.options.device;
    context.nMultiProcessorCount = properties.multiProcessorCount;
    context.nMaxThreadsPerMultiProcessor = properties.maxThreadsPerMultiProcessor;
    context.nMaxThreadsPerBlock = properties.maxThreadsPerBlock;
    context.nSharedMemPerBlock = properties.sharedMemPerBlock;
    context.nCudaDevAttrComputeCapabilityMajor = properties.major;
    context.nCudaDevAttrComputeCapabilityMinor = properties.minor;
    CHECK(cudaStreamGetFlags(session.stream, &context.nStreamFlags));
    return context;
}
