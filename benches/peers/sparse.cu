// cuSPARSE's products, analyses, solutions and transpositions, of the structures that `sparse --list` prints, on standard
// input: nvcc -O3 -std=c++17 -arch=native sparse.cu -lcusparse. Prints each line with the operation, the algorithm and the
// median milliseconds of 21 launches, or of 3 where one takes longer than 30 ms.
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

constexpr uint32_t kColumns = 8;

// As ../src/suite/sparse.rs has it.
struct Structure {
    std::string kind;
    uint32_t rows = 0, a = 0, b = 0;

    void columns(uint32_t row, std::vector<uint32_t>& columns) const {
        columns.clear();
        auto draw = [&](uint32_t from, uint32_t below, uint32_t count) {
            for (uint32_t k = 1; below > 0 && k <= count; ++k) columns.push_back(from + hash_of(row, k) % below);
        };
        const uint32_t first = row > a ? row - a : 0;
        if (kind == "laplacian") {
            const uint32_t plane = a * a;
            if (row >= plane) columns.push_back(row - plane);
            if (row % plane >= a) columns.push_back(row - a);
            if (row % a) columns.push_back(row - 1);
        } else if (kind == "plane") {
            if (row >= a) columns.push_back(row - a);
            if (row % a) columns.push_back(row - 1);
        } else if (kind == "random") {
            draw(0, row, a - 1);
        } else if (kind == "band") {
            for (uint32_t column = first; column < row; ++column) columns.push_back(column);
        } else if (kind == "sparse") {
            for (uint32_t column = first; column < row; ++column)
                if ((hash_of(row, column) & 0xff) < b) columns.push_back(column);
        } else if (kind == "groups") {
            const uint32_t group = row / a;
            if (group > 0) draw((group - 1) * a, a, b);
        } else if (kind == "power") {
            const uint32_t hash = hash_of(row, 0);
            uint32_t doublings = 0;
            while (doublings < 10 && (hash >> doublings & 1) == 0) ++doublings;
            draw(0, row, a << doublings);
        } else if (kind == "blocks") {
            for (uint32_t column = row / a * a; column < row; ++column) columns.push_back(column);
        } else {
            std::fprintf(stderr, "error: no structures of kind %s\n", kind.c_str());
            std::exit(1);
        }
        std::sort(columns.begin(), columns.end());
        columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
        columns.push_back(row);
    }
};

// The median of kRounds launches, or of three where one takes longer than 30 ms.
static double median(const std::function<void()>& launch) {
    return launch_median(wall(launch) > 30 ? 3 : kRounds, launch);
}

static void measure(cusparseHandle_t handle, const Structure& structure, const char* line) {
    const double one = 1.0, zero = 0.0;
    auto print = [&](const char* operation, const char* algorithm, double ms) {
        print_line((std::string(line) + " | " + operation + " | " + algorithm + " |").c_str(), "cusparse", ms);
    };
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
    const int64_t rows = structure.rows, entries = int64_t(indices.size());
    size_t bytes = 0;
    void* scratch = nullptr;

    cusparseSpMatDescr_t a;
    cusparseDnVecDescr_t b, x;
    SPARSE(cusparseCreateCsr(&a, rows, rows, entries, d_offsets, d_indices, d_values, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                             CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
    SPARSE(cusparseCreateDnVec(&b, rows, d_b, CUDA_R_64F));
    SPARSE(cusparseCreateDnVec(&x, rows, d_x, CUDA_R_64F));

    // ---- products; ALG2 is the one that gives the same bits each time
    const std::pair<const char*, cusparseSpMVAlg_t> spmv_algorithms[] = {{"ALG1", CUSPARSE_SPMV_CSR_ALG1},
                                                                         {"ALG2", CUSPARSE_SPMV_CSR_ALG2}};
    for (const auto& one_of : spmv_algorithms) {
        const char* name = one_of.first;
        const cusparseSpMVAlg_t algorithm = one_of.second;
        SPARSE(cusparseSpMV_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, b, &zero, x, CUDA_R_64F, algorithm,
                                       &bytes));
        CHECK(cudaMalloc(&scratch, bytes + 1));
#if CUSPARSE_VERSION >= 12400
        SPARSE(cusparseSpMV_preprocess(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, b, &zero, x, CUDA_R_64F, algorithm,
                                       scratch));
#endif
        print("spmv", name, median([&] {
                  SPARSE(cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, b, &zero, x, CUDA_R_64F, algorithm,
                                      scratch));
              }));
        CHECK(cudaFree(scratch));
    }

    // ---- with several vectors: all columns are the same
    const std::pair<const char*, cusparseOrder_t> orders[] = {{"row-major", CUSPARSE_ORDER_ROW},
                                                              {"column-major", CUSPARSE_ORDER_COL}};
    for (const auto& one_of : orders) {
        const char* name = one_of.first;
        const cusparseOrder_t order = one_of.second;
        const bool by_rows = order == CUSPARSE_ORDER_ROW;
        std::vector<double> rights(right.size() * kColumns);
        for (size_t row = 0; row < right.size(); ++row)
            for (uint32_t column = 0; column < kColumns; ++column)
                rights[by_rows ? row * kColumns + column : column * right.size() + row] = right[row];
        double *d_rights = upload(rights), *d_outs = upload(rights);
        const int64_t leading = by_rows ? kColumns : rows;
        cusparseDnMatDescr_t many_b, many_c;
        SPARSE(cusparseCreateDnMat(&many_b, rows, kColumns, leading, d_rights, CUDA_R_64F, order));
        SPARSE(cusparseCreateDnMat(&many_c, rows, kColumns, leading, d_outs, CUDA_R_64F, order));
        const std::pair<const char*, cusparseSpMMAlg_t> spmm_algorithms[] = {{"default", CUSPARSE_SPMM_ALG_DEFAULT},
                                                                             {"ALG2", CUSPARSE_SPMM_CSR_ALG2}};
        for (const auto& each : spmm_algorithms) {
            const char* algorithm_name = each.first;
            const cusparseSpMMAlg_t algorithm = each.second;
            // ALG2 is for row-major matrices.
            if (!by_rows && algorithm == CUSPARSE_SPMM_CSR_ALG2) continue;
            SPARSE(cusparseSpMM_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a,
                                           many_b, &zero, many_c, CUDA_R_64F, algorithm, &bytes));
            CHECK(cudaMalloc(&scratch, bytes + 1));
            print("spmm", (std::string(name) + " " + algorithm_name).c_str(), median([&] {
                      SPARSE(cusparseSpMM(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a,
                                          many_b, &zero, many_c, CUDA_R_64F, algorithm, scratch));
                  }));
            CHECK(cudaFree(scratch));
        }
        SPARSE(cusparseDestroyDnMat(many_b));
        SPARSE(cusparseDestroyDnMat(many_c));
        CHECK(cudaFree(d_rights));
        CHECK(cudaFree(d_outs));
    }

    // ---- analyses and systems
    cusparseFillMode_t lower = CUSPARSE_FILL_MODE_LOWER;
    cusparseDiagType_t stored = CUSPARSE_DIAG_TYPE_NON_UNIT;
    SPARSE(cusparseSpMatSetAttribute(a, CUSPARSE_SPMAT_FILL_MODE, &lower, sizeof lower));
    SPARSE(cusparseSpMatSetAttribute(a, CUSPARSE_SPMAT_DIAG_TYPE, &stored, sizeof stored));
    std::vector<double> analyses;
    double solve = 0.0;
    for (int round = 0; round < 5; ++round) {
        cusparseSpSVDescr_t system;
        SPARSE(cusparseSpSV_createDescr(&system));
        SPARSE(cusparseSpSV_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, b, x, CUDA_R_64F,
                                       CUSPARSE_SPSV_ALG_DEFAULT, system, &bytes));
        CHECK(cudaMalloc(&scratch, bytes + 1));
        analyses.push_back(wall([&] {
            SPARSE(cusparseSpSV_analysis(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, b, x, CUDA_R_64F,
                                         CUSPARSE_SPSV_ALG_DEFAULT, system, scratch));
        }));
        if (round == 4) {
            solve = median([&] {
                SPARSE(cusparseSpSV_solve(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, b, x, CUDA_R_64F,
                                          CUSPARSE_SPSV_ALG_DEFAULT, system));
            });
        }
        SPARSE(cusparseSpSV_destroyDescr(system));
        CHECK(cudaFree(scratch));
    }
    print("analysis", "SpSV", upper_median(analyses));
    print("solve", "SpSV", solve);

    // ---- the transposition: compressed columns
    uint32_t *t_offsets = upload(offsets), *t_indices = upload(indices);
    double* t_values = upload(values);
    SPARSE(cusparseCsr2cscEx2_bufferSize(handle, int(rows), int(rows), int(entries), d_values, (int*)d_offsets, (int*)d_indices,
                                         t_values, (int*)t_offsets, (int*)t_indices, CUDA_R_64F, CUSPARSE_ACTION_NUMERIC,
                                         CUSPARSE_INDEX_BASE_ZERO, CUSPARSE_CSR2CSC_ALG_DEFAULT, &bytes));
    CHECK(cudaMalloc(&scratch, bytes + 1));
    print("transpose", "Csr2cscEx2", median([&] {
              SPARSE(cusparseCsr2cscEx2(handle, int(rows), int(rows), int(entries), d_values, (int*)d_offsets, (int*)d_indices,
                                        t_values, (int*)t_offsets, (int*)t_indices, CUDA_R_64F, CUSPARSE_ACTION_NUMERIC,
                                        CUSPARSE_INDEX_BASE_ZERO, CUSPARSE_CSR2CSC_ALG_DEFAULT, scratch));
          }));
    for (void* memory : {(void*)d_offsets, (void*)d_indices, (void*)d_values, (void*)d_b, (void*)d_x, (void*)t_offsets,
                         (void*)t_indices, (void*)t_values, scratch})
        CHECK(cudaFree(memory));
    SPARSE(cusparseDestroySpMat(a));
    SPARSE(cusparseDestroyDnVec(b));
    SPARSE(cusparseDestroyDnVec(x));
}

int main() {
    cusparseHandle_t handle;
    SPARSE(cusparseCreate(&handle));
    int version = 0;
    SPARSE(cusparseGetVersion(handle, &version));
    std::printf("# cuSPARSE %d\n", version);
    each_line([&](const char* line) {
        char kind[16];
        Structure structure;
        if (std::sscanf(line, "%15s %u %u %u", kind, &structure.rows, &structure.a, &structure.b) != 4) return;
        structure.kind = kind;
        measure(handle, structure, line);
    });
    SPARSE(cusparseDestroy(handle));
}
