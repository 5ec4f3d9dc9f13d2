// cuSPARSE's products, analyses and solutions with the matrices of benches/src/suite/sparse.rs:
// nvcc -O3 -std=c++17 -arch=native sparse.cu -lcusparse. Prints each operation with the median milliseconds of 21 launches.
#include <cusparse.h>

#include "sweep.cuh"

#define SPARSE(call)                                                                    \
    do {                                                                                \
        cusparseStatus_t status = (call);                                               \
        if (status != CUSPARSE_STATUS_SUCCESS) {                                        \
            std::fprintf(stderr, "%s: %s\n", #call, cusparseGetErrorString(status));    \
            std::exit(1);                                                               \
        }                                                                               \
    } while (0)

constexpr int kRounds = 21;

// As ../src/suite/sparse.rs has it.
static uint32_t hash_of(uint32_t a, uint32_t b) {
    uint32_t h = a * 0x9e3779b9u ^ b * 0x7f4a7c15u;
    h = (h ^ (h >> 16)) * 0x85ebca6bu;
    h = (h ^ (h >> 13)) * 0xc2b2ae35u;
    return h ^ (h >> 16);
}

struct Structure {
    const char* name;
    int kind;  // 0 Laplacian, 1 random, 2 band
    uint32_t rows, extra;

    void columns(uint32_t row, std::vector<uint32_t>& columns) const {
        columns.clear();
        if (kind == 0) {
            uint32_t plane = extra * extra;
            if (row >= plane) columns.push_back(row - plane);
            if (row % plane >= extra) columns.push_back(row - extra);
            if (row % extra) columns.push_back(row - 1);
        } else if (kind == 1) {
            for (uint32_t k = 1; row > 0 && k < extra; ++k) columns.push_back(hash_of(row, k) % row);
            std::sort(columns.begin(), columns.end());
            columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
        } else {
            for (uint32_t column = row > extra ? row - extra : 0; column < row; ++column) columns.push_back(column);
        }
        columns.push_back(row);
    }
};

static void print(const Structure& structure, const std::string& operation, double ms, double bytes) {
    std::printf("%-16s %-28s %10.4f ms %8.0f GB/s\n", structure.name, operation.c_str(), ms, bytes / ms / 1e6);
    std::fflush(stdout);
}

int main(int argc, char** argv) {
    const Structure structures[] = {
        {"laplacian 216", 0, 216 * 216 * 216, 216},
        {"random 5M x 8", 1, 5000000, 8},
        {"band 200k x 16", 2, 200000, 16},
    };
    cusparseHandle_t handle;
    SPARSE(cusparseCreate(&handle));
    const double one = 1.0, zero = 0.0;
    for (const Structure& structure : structures) {
        if (argc > 1 && std::string(structure.name).find(argv[1]) == std::string::npos) continue;
        std::vector<uint32_t> offsets = {0}, indices, columns;
        std::vector<double> values;
        for (uint32_t row = 0; row < structure.rows; ++row) {
            structure.columns(row, columns);
            for (uint32_t column : columns) {
                indices.push_back(column);
                values.push_back(column == row ? 1.0 : -0.5 / double(columns.size()));
            }
            offsets.push_back(uint32_t(indices.size()));
        }
        std::vector<double> right(structure.rows);
        for (uint32_t row = 0; row < structure.rows; ++row) right[row] = double(hash_of(row, 0) >> 8) / double(1 << 24);
        uint32_t *d_offsets = upload(offsets), *d_indices = upload(indices);
        double *d_values = upload(values), *d_b = upload(right), *d_x = upload(right);
        int64_t rows = structure.rows, entries = int64_t(indices.size());
        double matrix_bytes = 12.0 * double(entries) + 4.0 * double(rows + 1);

        cusparseSpMatDescr_t a;
        cusparseDnVecDescr_t b, x;
        SPARSE(cusparseCreateCsr(&a, rows, rows, entries, d_offsets, d_indices, d_values, CUSPARSE_INDEX_32I,
                                 CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
        SPARSE(cusparseCreateDnVec(&b, rows, d_b, CUDA_R_64F));
        SPARSE(cusparseCreateDnVec(&x, rows, d_x, CUDA_R_64F));

        for (auto [name, algorithm] : {std::pair<const char*, cusparseSpMVAlg_t>{"spmv (ALG1)", CUSPARSE_SPMV_CSR_ALG1},
                                       {"spmv (ALG2, reproducible)", CUSPARSE_SPMV_CSR_ALG2}}) {
            size_t bytes;
            void* scratch;
            SPARSE(cusparseSpMV_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, b, &zero, x, CUDA_R_64F,
                                           algorithm, &bytes));
            CHECK(cudaMalloc(&scratch, bytes + 1));
#if CUSPARSE_VERSION >= 12400
            SPARSE(cusparseSpMV_preprocess(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, b, &zero, x, CUDA_R_64F,
                                           algorithm, scratch));
#endif
            double ms = launch_median(kRounds, [&] {
                SPARSE(cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, b, &zero, x, CUDA_R_64F, algorithm,
                                    scratch));
            });
            print(structure, name, ms, matrix_bytes + 16.0 * double(rows));
            CHECK(cudaFree(scratch));
        }

        cusparseFillMode_t lower = CUSPARSE_FILL_MODE_LOWER;
        cusparseDiagType_t stored = CUSPARSE_DIAG_TYPE_NON_UNIT;
        SPARSE(cusparseSpMatSetAttribute(a, CUSPARSE_SPMAT_FILL_MODE, &lower, sizeof lower));
        SPARSE(cusparseSpMatSetAttribute(a, CUSPARSE_SPMAT_DIAG_TYPE, &stored, sizeof stored));
        std::vector<double> analyses;
        double solve = 0.0;
        for (int round = 0; round < 5; ++round) {
            cusparseSpSVDescr_t system;
            size_t bytes;
            void* scratch;
            SPARSE(cusparseSpSV_createDescr(&system));
            SPARSE(cusparseSpSV_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, b, x, CUDA_R_64F,
                                           CUSPARSE_SPSV_ALG_DEFAULT, system, &bytes));
            CHECK(cudaMalloc(&scratch, bytes + 1));
            analyses.push_back(wall([&] {
                SPARSE(cusparseSpSV_analysis(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, b, x, CUDA_R_64F,
                                             CUSPARSE_SPSV_ALG_DEFAULT, system, scratch));
            }));
            if (round == 4) {
                solve = launch_median(kRounds, [&] {
                    SPARSE(cusparseSpSV_solve(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, b, x, CUDA_R_64F,
                                              CUSPARSE_SPSV_ALG_DEFAULT, system));
                });
            }
            SPARSE(cusparseSpSV_destroyDescr(system));
            CHECK(cudaFree(scratch));
        }
        print(structure, "analysis", upper_median(analyses), 0.0);
        print(structure, "solve", solve, matrix_bytes + 16.0 * double(rows));

        // ---- the transposition: compressed columns
        uint32_t *t_offsets = upload(offsets), *t_indices = upload(indices);
        double* t_values = upload(values);
        size_t bytes;
        void* scratch;
        auto convert = [&](bool asks) {
            if (asks) {
                SPARSE(cusparseCsr2cscEx2_bufferSize(handle, int(rows), int(rows), int(entries), d_values, (int*)d_offsets,
                                                     (int*)d_indices, t_values, (int*)t_offsets, (int*)t_indices, CUDA_R_64F,
                                                     CUSPARSE_ACTION_NUMERIC, CUSPARSE_INDEX_BASE_ZERO,
                                                     CUSPARSE_CSR2CSC_ALG_DEFAULT, &bytes));
            } else {
                SPARSE(cusparseCsr2cscEx2(handle, int(rows), int(rows), int(entries), d_values, (int*)d_offsets,
                                          (int*)d_indices, t_values, (int*)t_offsets, (int*)t_indices, CUDA_R_64F,
                                          CUSPARSE_ACTION_NUMERIC, CUSPARSE_INDEX_BASE_ZERO, CUSPARSE_CSR2CSC_ALG_DEFAULT,
                                          scratch));
            }
        };
        convert(true);
        CHECK(cudaMalloc(&scratch, bytes + 1));
        print(structure, "transpose", launch_median(kRounds, [&] { convert(false); }), 2.0 * matrix_bytes);
        for (void* memory : {(void*)d_offsets, (void*)d_indices, (void*)d_values, (void*)d_b, (void*)d_x, (void*)t_offsets,
                             (void*)t_indices, (void*)t_values, scratch})
            CHECK(cudaFree(memory));
        SPARSE(cusparseDestroySpMat(a));
        SPARSE(cusparseDestroyDnVec(b));
        SPARSE(cusparseDestroyDnVec(x));
    }
    SPARSE(cusparseDestroy(handle));
}
