// cuBLAS, whose failed call ends the program.
#pragma once

#include <cublas_v2.h>

#include <cstdio>
#include <cstdlib>

#define CHECK_CUBLAS(call)                                                                                \
    do {                                                                                                  \
        cublasStatus_t check_status = (call);                                                             \
        if (check_status != CUBLAS_STATUS_SUCCESS) {                                                      \
            std::fprintf(stderr, "error: %s:%d: %s: status %d\n", __FILE__, __LINE__, #call,              \
                         int(check_status));                                                              \
            std::exit(1);                                                                                 \
        }                                                                                                 \
    } while (0)
