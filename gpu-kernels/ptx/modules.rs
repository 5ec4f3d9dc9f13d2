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

/// Module `transpose_b8`: `transpose_b8`.
pub static TRANSPOSE_B8: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "transpose_b8",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("transpose_b8.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("transpose_b8.sm_90.ptx"),
        },
    ],
};

/// Module `transpose_b16`: `transpose_b16`.
pub static TRANSPOSE_B16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "transpose_b16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("transpose_b16.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("transpose_b16.sm_90.ptx"),
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

/// Module `transpose_b64`: `transpose_b64`.
pub static TRANSPOSE_B64: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "transpose_b64",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("transpose_b64.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("transpose_b64.sm_90.ptx"),
        },
    ],
};

/// Module `transpose_b128`: `transpose_b128`.
pub static TRANSPOSE_B128: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "transpose_b128",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("transpose_b128.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("transpose_b128.sm_90.ptx"),
        },
    ],
};

/// Module `transpose_skew_b8`: `transpose_skew_b8`.
pub static TRANSPOSE_SKEW_B8: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "transpose_skew_b8",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("transpose_skew_b8.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("transpose_skew_b8.sm_90.ptx"),
        },
    ],
};

/// Module `transpose_skew_b16`: `transpose_skew_b16`.
pub static TRANSPOSE_SKEW_B16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "transpose_skew_b16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("transpose_skew_b16.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("transpose_skew_b16.sm_90.ptx"),
        },
    ],
};

/// Module `transpose_skew_b32`: `transpose_skew_b32`.
pub static TRANSPOSE_SKEW_B32: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "transpose_skew_b32",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("transpose_skew_b32.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("transpose_skew_b32.sm_90.ptx"),
        },
    ],
};

/// Module `transpose_skew_b64`: `transpose_skew_b64`.
pub static TRANSPOSE_SKEW_B64: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "transpose_skew_b64",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("transpose_skew_b64.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("transpose_skew_b64.sm_90.ptx"),
        },
    ],
};

/// Module `transpose_elements_b8`: `transpose_elements_b8`.
pub static TRANSPOSE_ELEMENTS_B8: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "transpose_elements_b8",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("transpose_elements_b8.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("transpose_elements_b8.sm_90.ptx"),
        },
    ],
};

/// Module `transpose_elements_b16`: `transpose_elements_b16`.
pub static TRANSPOSE_ELEMENTS_B16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "transpose_elements_b16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("transpose_elements_b16.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("transpose_elements_b16.sm_90.ptx"),
        },
    ],
};

/// Module `transpose_elements_b32`: `transpose_elements_b32`.
pub static TRANSPOSE_ELEMENTS_B32: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "transpose_elements_b32",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("transpose_elements_b32.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("transpose_elements_b32.sm_90.ptx"),
        },
    ],
};

/// Module `transpose_elements_b64`: `transpose_elements_b64`.
pub static TRANSPOSE_ELEMENTS_B64: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "transpose_elements_b64",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("transpose_elements_b64.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("transpose_elements_b64.sm_90.ptx"),
        },
    ],
};

/// Module `transpose_elements_b128`: `transpose_elements_b128`.
pub static TRANSPOSE_ELEMENTS_B128: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "transpose_elements_b128",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("transpose_elements_b128.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("transpose_elements_b128.sm_90.ptx"),
        },
    ],
};

/// Module `transpose_square_b8`: `transpose_square_b8`.
pub static TRANSPOSE_SQUARE_B8: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "transpose_square_b8",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("transpose_square_b8.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("transpose_square_b8.sm_90.ptx"),
        },
    ],
};

/// Module `transpose_square_b16`: `transpose_square_b16`.
pub static TRANSPOSE_SQUARE_B16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "transpose_square_b16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("transpose_square_b16.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("transpose_square_b16.sm_90.ptx"),
        },
    ],
};

/// Module `transpose_square_b32`: `transpose_square_b32`.
pub static TRANSPOSE_SQUARE_B32: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "transpose_square_b32",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("transpose_square_b32.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("transpose_square_b32.sm_90.ptx"),
        },
    ],
};

/// Module `transpose_square_b64`: `transpose_square_b64`.
pub static TRANSPOSE_SQUARE_B64: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "transpose_square_b64",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("transpose_square_b64.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("transpose_square_b64.sm_90.ptx"),
        },
    ],
};

/// Module `transpose_square_b128`: `transpose_square_b128`.
pub static TRANSPOSE_SQUARE_B128: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "transpose_square_b128",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("transpose_square_b128.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("transpose_square_b128.sm_90.ptx"),
        },
    ],
};

/// Module `transpose_rectangle_b8`: `transpose_columns_b8`, `transpose_rows_b8`.
pub static TRANSPOSE_RECTANGLE_B8: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "transpose_rectangle_b8",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("transpose_rectangle_b8.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("transpose_rectangle_b8.sm_90.ptx"),
        },
    ],
};

/// Module `transpose_rectangle_b16`: `transpose_columns_b16`, `transpose_rows_b16`.
pub static TRANSPOSE_RECTANGLE_B16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "transpose_rectangle_b16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("transpose_rectangle_b16.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("transpose_rectangle_b16.sm_90.ptx"),
        },
    ],
};

/// Module `transpose_rectangle_b32`: `transpose_columns_b32`, `transpose_rows_b32`.
pub static TRANSPOSE_RECTANGLE_B32: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "transpose_rectangle_b32",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("transpose_rectangle_b32.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("transpose_rectangle_b32.sm_90.ptx"),
        },
    ],
};

/// Module `transpose_rectangle_b64`: `transpose_columns_b64`, `transpose_rows_b64`.
pub static TRANSPOSE_RECTANGLE_B64: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "transpose_rectangle_b64",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("transpose_rectangle_b64.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("transpose_rectangle_b64.sm_90.ptx"),
        },
    ],
};

/// Module `transpose_rectangle_b128`: `transpose_columns_b128`, `transpose_rows_b128`.
pub static TRANSPOSE_RECTANGLE_B128: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "transpose_rectangle_b128",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("transpose_rectangle_b128.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("transpose_rectangle_b128.sm_90.ptx"),
        },
    ],
};

/// Module `transpose_tune_b8`: `transpose_b8_tall`, `transpose_b8_wide`.
pub static TRANSPOSE_TUNE_B8: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "transpose_tune_b8",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("transpose_tune_b8.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("transpose_tune_b8.sm_90.ptx"),
        },
    ],
};

/// Module `transpose_tune_b16`: `transpose_b16_square`, `transpose_b16_wide`.
pub static TRANSPOSE_TUNE_B16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "transpose_tune_b16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("transpose_tune_b16.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("transpose_tune_b16.sm_90.ptx"),
        },
    ],
};

/// Module `transpose_tune_b64`: `transpose_b64_square`, `transpose_b64_wide`.
pub static TRANSPOSE_TUNE_B64: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "transpose_tune_b64",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("transpose_tune_b64.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("transpose_tune_b64.sm_90.ptx"),
        },
    ],
};

/// Module `transpose_tune_b128`: `transpose_b128_tall`.
pub static TRANSPOSE_TUNE_B128: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "transpose_tune_b128",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("transpose_tune_b128.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("transpose_tune_b128.sm_90.ptx"),
        },
    ],
};

/// Module `transpose_tune_skew`: `transpose_skew_b32_small`, `transpose_skew_b32_wide`, `transpose_skew_b8_slim`.
pub static TRANSPOSE_TUNE_SKEW: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "transpose_tune_skew",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("transpose_tune_skew.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("transpose_tune_skew.sm_90.ptx"),
        },
    ],
};
