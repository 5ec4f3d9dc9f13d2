// Written by gpu-builder; do not edit.

/// Module `reduce_f32`: `sum_f32`.
pub static REDUCE_F32: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_f32",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_f32.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("reduce_f32.sm_90.ptx"),
        },
    ],
};

/// Module `transpose_b32`: `transpose_b32`.
pub static TRANSPOSE_B32: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "transpose_b32",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("transpose_b32.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("transpose_b32.sm_90.ptx"),
        },
    ],
};

/// Module `transpose_variants`: `transpose_naive_gather`, `transpose_naive_scatter`, `transpose_padded_16`, `transpose_padded_32`, `transpose_patch`, `transpose_patch_half`, `transpose_shared_16`, `transpose_shared_32`, `transpose_shared_stores_16`, `transpose_shared_stores_32`.
pub static TRANSPOSE_VARIANTS: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "transpose_variants",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("transpose_variants.sm_75.ptx"),
        },
    ],
};
