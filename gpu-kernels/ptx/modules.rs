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

/// Module `reduce_extremes_f32`: `argmax_f32`, `argmin_f32`, `max_f32`, `min_f32`, `minmax_f32`.
pub static REDUCE_EXTREMES_F32: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_extremes_f32",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_extremes_f32.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("reduce_extremes_f32.sm_90.ptx"),
        },
    ],
};

/// Module `reduce_more_f32`: `all_f32`, `any_f32`, `count_f32`, `dot_f32`, `norm_l1_f32`, `norm_l2_f32`, `norm_max_f32`, `product_f32`, `sum_of_squares_f32`.
pub static REDUCE_MORE_F32: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_more_f32",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_more_f32.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("reduce_more_f32.sm_90.ptx"),
        },
    ],
};

/// Module `reduce_f64`: `sum_f64`.
pub static REDUCE_F64: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_f64",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_f64.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("reduce_f64.sm_90.ptx"),
        },
    ],
};

/// Module `reduce_extremes_f64`: `argmax_f64`, `argmin_f64`, `max_f64`, `min_f64`, `minmax_f64`.
pub static REDUCE_EXTREMES_F64: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_extremes_f64",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_extremes_f64.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("reduce_extremes_f64.sm_90.ptx"),
        },
    ],
};

/// Module `reduce_more_f64`: `all_f64`, `any_f64`, `count_f64`, `dot_f64`, `norm_l1_f64`, `norm_l2_f64`, `norm_max_f64`, `product_f64`, `sum_of_squares_f64`.
pub static REDUCE_MORE_F64: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_more_f64",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_more_f64.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("reduce_more_f64.sm_90.ptx"),
        },
    ],
};

/// Module `reduce_i8`: `wide_sum_i8`.
pub static REDUCE_I8: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_i8",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_i8.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("reduce_i8.sm_90.ptx"),
        },
    ],
};

/// Module `reduce_extremes_i8`: `argmax_i8`, `argmin_i8`, `max_i8`, `min_i8`, `minmax_i8`.
pub static REDUCE_EXTREMES_I8: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_extremes_i8",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_extremes_i8.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("reduce_extremes_i8.sm_90.ptx"),
        },
    ],
};

/// Module `reduce_more_i8`: `norm_l1_i8`, `norm_max_i8`.
pub static REDUCE_MORE_I8: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_more_i8",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_more_i8.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("reduce_more_i8.sm_90.ptx"),
        },
    ],
};

/// Module `reduce_i16`: `wide_sum_i16`.
pub static REDUCE_I16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_i16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_i16.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("reduce_i16.sm_90.ptx"),
        },
    ],
};

/// Module `reduce_extremes_i16`: `argmax_i16`, `argmin_i16`, `max_i16`, `min_i16`, `minmax_i16`.
pub static REDUCE_EXTREMES_I16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_extremes_i16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_extremes_i16.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("reduce_extremes_i16.sm_90.ptx"),
        },
    ],
};

/// Module `reduce_more_i16`: `norm_l1_i16`, `norm_max_i16`.
pub static REDUCE_MORE_I16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_more_i16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_more_i16.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("reduce_more_i16.sm_90.ptx"),
        },
    ],
};

/// Module `reduce_i32`: `wide_sum_i32`.
pub static REDUCE_I32: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_i32",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_i32.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("reduce_i32.sm_90.ptx"),
        },
    ],
};

/// Module `reduce_extremes_i32`: `argmax_i32`, `argmin_i32`, `max_i32`, `min_i32`, `minmax_i32`.
pub static REDUCE_EXTREMES_I32: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_extremes_i32",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_extremes_i32.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("reduce_extremes_i32.sm_90.ptx"),
        },
    ],
};

/// Module `reduce_more_i32`: `norm_l1_i32`, `norm_max_i32`.
pub static REDUCE_MORE_I32: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_more_i32",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_more_i32.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("reduce_more_i32.sm_90.ptx"),
        },
    ],
};

/// Module `reduce_i64`: `wide_sum_i64`.
pub static REDUCE_I64: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_i64",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_i64.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("reduce_i64.sm_90.ptx"),
        },
    ],
};

/// Module `reduce_extremes_i64`: `argmax_i64`, `argmin_i64`, `max_i64`, `min_i64`, `minmax_i64`.
pub static REDUCE_EXTREMES_I64: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_extremes_i64",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_extremes_i64.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("reduce_extremes_i64.sm_90.ptx"),
        },
    ],
};

/// Module `reduce_more_i64`: `norm_l1_i64`, `norm_max_i64`.
pub static REDUCE_MORE_I64: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_more_i64",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_more_i64.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("reduce_more_i64.sm_90.ptx"),
        },
    ],
};

/// Module `reduce_u8`: `sum_u8`, `wide_sum_u8`.
pub static REDUCE_U8: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_u8",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_u8.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("reduce_u8.sm_90.ptx"),
        },
    ],
};

/// Module `reduce_extremes_u8`: `argmax_u8`, `argmin_u8`, `max_u8`, `min_u8`, `minmax_u8`.
pub static REDUCE_EXTREMES_U8: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_extremes_u8",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_extremes_u8.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("reduce_extremes_u8.sm_90.ptx"),
        },
    ],
};

/// Module `reduce_more_u8`: `all_u8`, `and_u8`, `any_u8`, `count_u8`, `dot_u8`, `norm_l1_u8`, `norm_max_u8`, `or_u8`, `product_u8`, `sum_of_squares_u8`, `xor_u8`.
pub static REDUCE_MORE_U8: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_more_u8",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_more_u8.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("reduce_more_u8.sm_90.ptx"),
        },
    ],
};

/// Module `reduce_u16`: `sum_u16`, `wide_sum_u16`.
pub static REDUCE_U16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_u16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_u16.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("reduce_u16.sm_90.ptx"),
        },
    ],
};

/// Module `reduce_extremes_u16`: `argmax_u16`, `argmin_u16`, `max_u16`, `min_u16`, `minmax_u16`.
pub static REDUCE_EXTREMES_U16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_extremes_u16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_extremes_u16.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("reduce_extremes_u16.sm_90.ptx"),
        },
    ],
};

/// Module `reduce_more_u16`: `all_u16`, `and_u16`, `any_u16`, `count_u16`, `dot_u16`, `norm_l1_u16`, `norm_max_u16`, `or_u16`, `product_u16`, `sum_of_squares_u16`, `xor_u16`.
pub static REDUCE_MORE_U16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_more_u16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_more_u16.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("reduce_more_u16.sm_90.ptx"),
        },
    ],
};

/// Module `reduce_u32`: `sum_u32`, `wide_sum_u32`.
pub static REDUCE_U32: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_u32",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_u32.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("reduce_u32.sm_90.ptx"),
        },
    ],
};

/// Module `reduce_extremes_u32`: `argmax_u32`, `argmin_u32`, `max_u32`, `min_u32`, `minmax_u32`.
pub static REDUCE_EXTREMES_U32: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_extremes_u32",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_extremes_u32.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("reduce_extremes_u32.sm_90.ptx"),
        },
    ],
};

/// Module `reduce_more_u32`: `all_u32`, `and_u32`, `any_u32`, `count_u32`, `dot_u32`, `norm_l1_u32`, `norm_max_u32`, `or_u32`, `product_u32`, `sum_of_squares_u32`, `xor_u32`.
pub static REDUCE_MORE_U32: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_more_u32",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_more_u32.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("reduce_more_u32.sm_90.ptx"),
        },
    ],
};

/// Module `reduce_u64`: `sum_u64`, `wide_sum_u64`.
pub static REDUCE_U64: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_u64",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_u64.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("reduce_u64.sm_90.ptx"),
        },
    ],
};

/// Module `reduce_extremes_u64`: `argmax_u64`, `argmin_u64`, `max_u64`, `min_u64`, `minmax_u64`.
pub static REDUCE_EXTREMES_U64: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_extremes_u64",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_extremes_u64.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("reduce_extremes_u64.sm_90.ptx"),
        },
    ],
};

/// Module `reduce_more_u64`: `all_u64`, `and_u64`, `any_u64`, `count_u64`, `dot_u64`, `norm_l1_u64`, `norm_max_u64`, `or_u64`, `product_u64`, `sum_of_squares_u64`, `xor_u64`.
pub static REDUCE_MORE_U64: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_more_u64",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_more_u64.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("reduce_more_u64.sm_90.ptx"),
        },
    ],
};

/// Module `reduce_f16`: `extended_sum_f16`, `sum_f16`.
pub static REDUCE_F16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_f16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_f16.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("reduce_f16.sm_90.ptx"),
        },
    ],
};

/// Module `reduce_extremes_f16`: `argmax_f16`, `argmin_f16`, `max_f16`, `min_f16`, `minmax_f16`.
pub static REDUCE_EXTREMES_F16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_extremes_f16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_extremes_f16.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("reduce_extremes_f16.sm_90.ptx"),
        },
    ],
};

/// Module `reduce_more_f16`: `all_f16`, `any_f16`, `count_f16`, `dot_f16`, `norm_l1_f16`, `norm_l2_f16`, `norm_max_f16`, `product_f16`, `sum_of_squares_f16`.
pub static REDUCE_MORE_F16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_more_f16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_more_f16.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("reduce_more_f16.sm_90.ptx"),
        },
    ],
};

/// Module `reduce_bf16`: `extended_sum_bf16`, `sum_bf16`.
pub static REDUCE_BF16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_bf16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_bf16.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("reduce_bf16.sm_90.ptx"),
        },
    ],
};

/// Module `reduce_extremes_bf16`: `argmax_bf16`, `argmin_bf16`, `max_bf16`, `min_bf16`, `minmax_bf16`.
pub static REDUCE_EXTREMES_BF16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_extremes_bf16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_extremes_bf16.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("reduce_extremes_bf16.sm_90.ptx"),
        },
    ],
};

/// Module `reduce_more_bf16`: `all_bf16`, `any_bf16`, `count_bf16`, `dot_bf16`, `norm_l1_bf16`, `norm_l2_bf16`, `norm_max_bf16`, `product_bf16`, `sum_of_squares_bf16`.
pub static REDUCE_MORE_BF16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_more_bf16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_more_bf16.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("reduce_more_bf16.sm_90.ptx"),
        },
    ],
};

/// Module `reduce_unordered_f32`: `sum_unordered_f32`.
pub static REDUCE_UNORDERED_F32: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_unordered_f32",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_unordered_f32.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("reduce_unordered_f32.sm_90.ptx"),
        },
    ],
};

/// Module `reduce_unordered_f64`: `sum_unordered_f64`.
pub static REDUCE_UNORDERED_F64: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_unordered_f64",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_unordered_f64.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("reduce_unordered_f64.sm_90.ptx"),
        },
    ],
};

/// Module `reduce_runs_b8`: `find_runs_b8`.
pub static REDUCE_RUNS_B8: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_runs_b8",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_runs_b8.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("reduce_runs_b8.sm_90.ptx"),
        },
    ],
};

/// Module `reduce_runs_b16`: `find_runs_b16`.
pub static REDUCE_RUNS_B16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_runs_b16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_runs_b16.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("reduce_runs_b16.sm_90.ptx"),
        },
    ],
};

/// Module `reduce_runs_b32`: `find_runs_b32`.
pub static REDUCE_RUNS_B32: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_runs_b32",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_runs_b32.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("reduce_runs_b32.sm_90.ptx"),
        },
    ],
};

/// Module `reduce_runs_b64`: `find_runs_b64`.
pub static REDUCE_RUNS_B64: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_runs_b64",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_runs_b64.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("reduce_runs_b64.sm_90.ptx"),
        },
    ],
};

/// Module `reduce_segments_f32`: `sum_f32`.
pub static REDUCE_SEGMENTS_F32: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_segments_f32",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_segments_f32.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("reduce_segments_f32.sm_90.ptx"),
        },
    ],
};

/// Module `reduce_segments_extremes_f32`: `argmax_f32`, `argmin_f32`, `max_f32`, `min_f32`, `minmax_f32`.
pub static REDUCE_SEGMENTS_EXTREMES_F32: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_segments_extremes_f32",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_segments_extremes_f32.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("reduce_segments_extremes_f32.sm_90.ptx"),
        },
    ],
};

/// Module `reduce_segments_more_f32`: `all_f32`, `any_f32`, `count_f32`, `norm_l1_f32`, `norm_l2_f32`, `norm_max_f32`, `product_f32`, `sum_of_squares_f32`.
pub static REDUCE_SEGMENTS_MORE_F32: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_segments_more_f32",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_segments_more_f32.sm_75.ptx"),
        },
    ],
};

/// Module `reduce_segments_f64`: `sum_f64`.
pub static REDUCE_SEGMENTS_F64: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_segments_f64",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_segments_f64.sm_75.ptx"),
        },
    ],
};

/// Module `reduce_segments_extremes_f64`: `argmax_f64`, `argmin_f64`, `max_f64`, `min_f64`, `minmax_f64`.
pub static REDUCE_SEGMENTS_EXTREMES_F64: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_segments_extremes_f64",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_segments_extremes_f64.sm_75.ptx"),
        },
    ],
};

/// Module `reduce_segments_more_f64`: `all_f64`, `any_f64`, `count_f64`, `norm_l1_f64`, `norm_l2_f64`, `norm_max_f64`, `product_f64`, `sum_of_squares_f64`.
pub static REDUCE_SEGMENTS_MORE_F64: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_segments_more_f64",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_segments_more_f64.sm_75.ptx"),
        },
    ],
};

/// Module `reduce_segments_i8`: `wide_sum_i8`.
pub static REDUCE_SEGMENTS_I8: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_segments_i8",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_segments_i8.sm_75.ptx"),
        },
    ],
};

/// Module `reduce_segments_extremes_i8`: `argmax_i8`, `argmin_i8`, `max_i8`, `min_i8`, `minmax_i8`.
pub static REDUCE_SEGMENTS_EXTREMES_I8: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_segments_extremes_i8",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_segments_extremes_i8.sm_75.ptx"),
        },
    ],
};

/// Module `reduce_segments_more_i8`: `norm_l1_i8`, `norm_max_i8`.
pub static REDUCE_SEGMENTS_MORE_I8: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_segments_more_i8",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_segments_more_i8.sm_75.ptx"),
        },
    ],
};

/// Module `reduce_segments_i16`: `wide_sum_i16`.
pub static REDUCE_SEGMENTS_I16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_segments_i16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_segments_i16.sm_75.ptx"),
        },
    ],
};

/// Module `reduce_segments_extremes_i16`: `argmax_i16`, `argmin_i16`, `max_i16`, `min_i16`, `minmax_i16`.
pub static REDUCE_SEGMENTS_EXTREMES_I16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_segments_extremes_i16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_segments_extremes_i16.sm_75.ptx"),
        },
    ],
};

/// Module `reduce_segments_more_i16`: `norm_l1_i16`, `norm_max_i16`.
pub static REDUCE_SEGMENTS_MORE_I16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_segments_more_i16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_segments_more_i16.sm_75.ptx"),
        },
    ],
};

/// Module `reduce_segments_i32`: `wide_sum_i32`.
pub static REDUCE_SEGMENTS_I32: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_segments_i32",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_segments_i32.sm_75.ptx"),
        },
    ],
};

/// Module `reduce_segments_extremes_i32`: `argmax_i32`, `argmin_i32`, `max_i32`, `min_i32`, `minmax_i32`.
pub static REDUCE_SEGMENTS_EXTREMES_I32: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_segments_extremes_i32",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_segments_extremes_i32.sm_75.ptx"),
        },
    ],
};

/// Module `reduce_segments_more_i32`: `norm_l1_i32`, `norm_max_i32`.
pub static REDUCE_SEGMENTS_MORE_I32: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_segments_more_i32",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_segments_more_i32.sm_75.ptx"),
        },
    ],
};

/// Module `reduce_segments_i64`: `wide_sum_i64`.
pub static REDUCE_SEGMENTS_I64: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_segments_i64",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_segments_i64.sm_75.ptx"),
        },
    ],
};

/// Module `reduce_segments_extremes_i64`: `argmax_i64`, `argmin_i64`, `max_i64`, `min_i64`, `minmax_i64`.
pub static REDUCE_SEGMENTS_EXTREMES_I64: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_segments_extremes_i64",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_segments_extremes_i64.sm_75.ptx"),
        },
    ],
};

/// Module `reduce_segments_more_i64`: `norm_l1_i64`, `norm_max_i64`.
pub static REDUCE_SEGMENTS_MORE_I64: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_segments_more_i64",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_segments_more_i64.sm_75.ptx"),
        },
    ],
};

/// Module `reduce_segments_u8`: `sum_u8`, `wide_sum_u8`.
pub static REDUCE_SEGMENTS_U8: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_segments_u8",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_segments_u8.sm_75.ptx"),
        },
    ],
};

/// Module `reduce_segments_extremes_u8`: `argmax_u8`, `argmin_u8`, `max_u8`, `min_u8`, `minmax_u8`.
pub static REDUCE_SEGMENTS_EXTREMES_U8: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_segments_extremes_u8",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_segments_extremes_u8.sm_75.ptx"),
        },
    ],
};

/// Module `reduce_segments_more_u8`: `all_u8`, `and_u8`, `any_u8`, `count_u8`, `norm_l1_u8`, `norm_max_u8`, `or_u8`, `product_u8`, `sum_of_squares_u8`, `xor_u8`.
pub static REDUCE_SEGMENTS_MORE_U8: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_segments_more_u8",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_segments_more_u8.sm_75.ptx"),
        },
    ],
};

/// Module `reduce_segments_u16`: `sum_u16`, `wide_sum_u16`.
pub static REDUCE_SEGMENTS_U16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_segments_u16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_segments_u16.sm_75.ptx"),
        },
    ],
};

/// Module `reduce_segments_extremes_u16`: `argmax_u16`, `argmin_u16`, `max_u16`, `min_u16`, `minmax_u16`.
pub static REDUCE_SEGMENTS_EXTREMES_U16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_segments_extremes_u16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_segments_extremes_u16.sm_75.ptx"),
        },
    ],
};

/// Module `reduce_segments_more_u16`: `all_u16`, `and_u16`, `any_u16`, `count_u16`, `norm_l1_u16`, `norm_max_u16`, `or_u16`, `product_u16`, `sum_of_squares_u16`, `xor_u16`.
pub static REDUCE_SEGMENTS_MORE_U16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_segments_more_u16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_segments_more_u16.sm_75.ptx"),
        },
    ],
};

/// Module `reduce_segments_u32`: `sum_u32`, `wide_sum_u32`.
pub static REDUCE_SEGMENTS_U32: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_segments_u32",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_segments_u32.sm_75.ptx"),
        },
    ],
};

/// Module `reduce_segments_extremes_u32`: `argmax_u32`, `argmin_u32`, `max_u32`, `min_u32`, `minmax_u32`.
pub static REDUCE_SEGMENTS_EXTREMES_U32: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_segments_extremes_u32",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_segments_extremes_u32.sm_75.ptx"),
        },
    ],
};

/// Module `reduce_segments_more_u32`: `all_u32`, `and_u32`, `any_u32`, `count_u32`, `norm_l1_u32`, `norm_max_u32`, `or_u32`, `product_u32`, `sum_of_squares_u32`, `xor_u32`.
pub static REDUCE_SEGMENTS_MORE_U32: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_segments_more_u32",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_segments_more_u32.sm_75.ptx"),
        },
    ],
};

/// Module `reduce_segments_u64`: `sum_u64`, `wide_sum_u64`.
pub static REDUCE_SEGMENTS_U64: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_segments_u64",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_segments_u64.sm_75.ptx"),
        },
    ],
};

/// Module `reduce_segments_extremes_u64`: `argmax_u64`, `argmin_u64`, `max_u64`, `min_u64`, `minmax_u64`.
pub static REDUCE_SEGMENTS_EXTREMES_U64: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_segments_extremes_u64",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_segments_extremes_u64.sm_75.ptx"),
        },
    ],
};

/// Module `reduce_segments_more_u64`: `all_u64`, `and_u64`, `any_u64`, `count_u64`, `norm_l1_u64`, `norm_max_u64`, `or_u64`, `product_u64`, `sum_of_squares_u64`, `xor_u64`.
pub static REDUCE_SEGMENTS_MORE_U64: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_segments_more_u64",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_segments_more_u64.sm_75.ptx"),
        },
    ],
};

/// Module `reduce_segments_f16`: `extended_sum_f16`, `sum_f16`.
pub static REDUCE_SEGMENTS_F16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_segments_f16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_segments_f16.sm_75.ptx"),
        },
    ],
};

/// Module `reduce_segments_extremes_f16`: `argmax_f16`, `argmin_f16`, `max_f16`, `min_f16`, `minmax_f16`.
pub static REDUCE_SEGMENTS_EXTREMES_F16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_segments_extremes_f16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_segments_extremes_f16.sm_75.ptx"),
        },
    ],
};

/// Module `reduce_segments_more_f16`: `all_f16`, `any_f16`, `count_f16`, `norm_l1_f16`, `norm_l2_f16`, `norm_max_f16`, `product_f16`, `sum_of_squares_f16`.
pub static REDUCE_SEGMENTS_MORE_F16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_segments_more_f16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_segments_more_f16.sm_75.ptx"),
        },
    ],
};

/// Module `reduce_segments_bf16`: `extended_sum_bf16`, `sum_bf16`.
pub static REDUCE_SEGMENTS_BF16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_segments_bf16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_segments_bf16.sm_75.ptx"),
        },
    ],
};

/// Module `reduce_segments_extremes_bf16`: `argmax_bf16`, `argmin_bf16`, `max_bf16`, `min_bf16`, `minmax_bf16`.
pub static REDUCE_SEGMENTS_EXTREMES_BF16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_segments_extremes_bf16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_segments_extremes_bf16.sm_75.ptx"),
        },
    ],
};

/// Module `reduce_segments_more_bf16`: `all_bf16`, `any_bf16`, `count_bf16`, `norm_l1_bf16`, `norm_l2_bf16`, `norm_max_bf16`, `product_bf16`, `sum_of_squares_bf16`.
pub static REDUCE_SEGMENTS_MORE_BF16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_segments_more_bf16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_segments_more_bf16.sm_75.ptx"),
        },
    ],
};

/// Module `reduce_columns_f32`: `sum_f32`.
pub static REDUCE_COLUMNS_F32: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_columns_f32",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_columns_f32.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("reduce_columns_f32.sm_90.ptx"),
        },
    ],
};

/// Module `reduce_columns_extremes_f32`: `argmax_f32`, `argmin_f32`, `max_f32`, `min_f32`, `minmax_f32`.
pub static REDUCE_COLUMNS_EXTREMES_F32: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_columns_extremes_f32",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_columns_extremes_f32.sm_75.ptx"),
        },
    ],
};

/// Module `reduce_columns_more_f32`: `all_f32`, `any_f32`, `count_f32`, `norm_l1_f32`, `norm_l2_f32`, `norm_max_f32`, `product_f32`, `sum_of_squares_f32`.
pub static REDUCE_COLUMNS_MORE_F32: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_columns_more_f32",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_columns_more_f32.sm_75.ptx"),
        },
    ],
};

/// Module `reduce_columns_f64`: `sum_f64`.
pub static REDUCE_COLUMNS_F64: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_columns_f64",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_columns_f64.sm_75.ptx"),
        },
    ],
};

/// Module `reduce_columns_extremes_f64`: `argmax_f64`, `argmin_f64`, `max_f64`, `min_f64`, `minmax_f64`.
pub static REDUCE_COLUMNS_EXTREMES_F64: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_columns_extremes_f64",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_columns_extremes_f64.sm_75.ptx"),
        },
    ],
};

/// Module `reduce_columns_more_f64`: `all_f64`, `any_f64`, `count_f64`, `norm_l1_f64`, `norm_l2_f64`, `norm_max_f64`, `product_f64`, `sum_of_squares_f64`.
pub static REDUCE_COLUMNS_MORE_F64: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_columns_more_f64",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_columns_more_f64.sm_75.ptx"),
        },
    ],
};

/// Module `reduce_columns_i8`: `wide_sum_i8`.
pub static REDUCE_COLUMNS_I8: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_columns_i8",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_columns_i8.sm_75.ptx"),
        },
    ],
};

/// Module `reduce_columns_extremes_i8`: `argmax_i8`, `argmin_i8`, `max_i8`, `min_i8`, `minmax_i8`.
pub static REDUCE_COLUMNS_EXTREMES_I8: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_columns_extremes_i8",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_columns_extremes_i8.sm_75.ptx"),
        },
    ],
};

/// Module `reduce_columns_more_i8`: `norm_l1_i8`, `norm_max_i8`.
pub static REDUCE_COLUMNS_MORE_I8: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_columns_more_i8",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_columns_more_i8.sm_75.ptx"),
        },
    ],
};

/// Module `reduce_columns_i16`: `wide_sum_i16`.
pub static REDUCE_COLUMNS_I16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_columns_i16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_columns_i16.sm_75.ptx"),
        },
    ],
};

/// Module `reduce_columns_extremes_i16`: `argmax_i16`, `argmin_i16`, `max_i16`, `min_i16`, `minmax_i16`.
pub static REDUCE_COLUMNS_EXTREMES_I16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_columns_extremes_i16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_columns_extremes_i16.sm_75.ptx"),
        },
    ],
};

/// Module `reduce_columns_more_i16`: `norm_l1_i16`, `norm_max_i16`.
pub static REDUCE_COLUMNS_MORE_I16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_columns_more_i16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_columns_more_i16.sm_75.ptx"),
        },
    ],
};

/// Module `reduce_columns_i32`: `wide_sum_i32`.
pub static REDUCE_COLUMNS_I32: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_columns_i32",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_columns_i32.sm_75.ptx"),
        },
    ],
};

/// Module `reduce_columns_extremes_i32`: `argmax_i32`, `argmin_i32`, `max_i32`, `min_i32`, `minmax_i32`.
pub static REDUCE_COLUMNS_EXTREMES_I32: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_columns_extremes_i32",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_columns_extremes_i32.sm_75.ptx"),
        },
    ],
};

/// Module `reduce_columns_more_i32`: `norm_l1_i32`, `norm_max_i32`.
pub static REDUCE_COLUMNS_MORE_I32: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_columns_more_i32",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_columns_more_i32.sm_75.ptx"),
        },
    ],
};

/// Module `reduce_columns_i64`: `wide_sum_i64`.
pub static REDUCE_COLUMNS_I64: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_columns_i64",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_columns_i64.sm_75.ptx"),
        },
    ],
};

/// Module `reduce_columns_extremes_i64`: `argmax_i64`, `argmin_i64`, `max_i64`, `min_i64`, `minmax_i64`.
pub static REDUCE_COLUMNS_EXTREMES_I64: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_columns_extremes_i64",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_columns_extremes_i64.sm_75.ptx"),
        },
    ],
};

/// Module `reduce_columns_more_i64`: `norm_l1_i64`, `norm_max_i64`.
pub static REDUCE_COLUMNS_MORE_I64: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_columns_more_i64",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_columns_more_i64.sm_75.ptx"),
        },
    ],
};

/// Module `reduce_columns_u8`: `sum_u8`, `wide_sum_u8`.
pub static REDUCE_COLUMNS_U8: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_columns_u8",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_columns_u8.sm_75.ptx"),
        },
    ],
};

/// Module `reduce_columns_extremes_u8`: `argmax_u8`, `argmin_u8`, `max_u8`, `min_u8`, `minmax_u8`.
pub static REDUCE_COLUMNS_EXTREMES_U8: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_columns_extremes_u8",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_columns_extremes_u8.sm_75.ptx"),
        },
    ],
};

/// Module `reduce_columns_more_u8`: `all_u8`, `and_u8`, `any_u8`, `count_u8`, `norm_l1_u8`, `norm_max_u8`, `or_u8`, `product_u8`, `sum_of_squares_u8`, `xor_u8`.
pub static REDUCE_COLUMNS_MORE_U8: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_columns_more_u8",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_columns_more_u8.sm_75.ptx"),
        },
    ],
};

/// Module `reduce_columns_u16`: `sum_u16`, `wide_sum_u16`.
pub static REDUCE_COLUMNS_U16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_columns_u16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_columns_u16.sm_75.ptx"),
        },
    ],
};

/// Module `reduce_columns_extremes_u16`: `argmax_u16`, `argmin_u16`, `max_u16`, `min_u16`, `minmax_u16`.
pub static REDUCE_COLUMNS_EXTREMES_U16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_columns_extremes_u16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_columns_extremes_u16.sm_75.ptx"),
        },
    ],
};

/// Module `reduce_columns_more_u16`: `all_u16`, `and_u16`, `any_u16`, `count_u16`, `norm_l1_u16`, `norm_max_u16`, `or_u16`, `product_u16`, `sum_of_squares_u16`, `xor_u16`.
pub static REDUCE_COLUMNS_MORE_U16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_columns_more_u16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_columns_more_u16.sm_75.ptx"),
        },
    ],
};

/// Module `reduce_columns_u32`: `sum_u32`, `wide_sum_u32`.
pub static REDUCE_COLUMNS_U32: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_columns_u32",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_columns_u32.sm_75.ptx"),
        },
    ],
};

/// Module `reduce_columns_extremes_u32`: `argmax_u32`, `argmin_u32`, `max_u32`, `min_u32`, `minmax_u32`.
pub static REDUCE_COLUMNS_EXTREMES_U32: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_columns_extremes_u32",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_columns_extremes_u32.sm_75.ptx"),
        },
    ],
};

/// Module `reduce_columns_more_u32`: `all_u32`, `and_u32`, `any_u32`, `count_u32`, `norm_l1_u32`, `norm_max_u32`, `or_u32`, `product_u32`, `sum_of_squares_u32`, `xor_u32`.
pub static REDUCE_COLUMNS_MORE_U32: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_columns_more_u32",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_columns_more_u32.sm_75.ptx"),
        },
    ],
};

/// Module `reduce_columns_u64`: `sum_u64`, `wide_sum_u64`.
pub static REDUCE_COLUMNS_U64: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_columns_u64",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_columns_u64.sm_75.ptx"),
        },
    ],
};

/// Module `reduce_columns_extremes_u64`: `argmax_u64`, `argmin_u64`, `max_u64`, `min_u64`, `minmax_u64`.
pub static REDUCE_COLUMNS_EXTREMES_U64: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_columns_extremes_u64",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_columns_extremes_u64.sm_75.ptx"),
        },
    ],
};

/// Module `reduce_columns_more_u64`: `all_u64`, `and_u64`, `any_u64`, `count_u64`, `norm_l1_u64`, `norm_max_u64`, `or_u64`, `product_u64`, `sum_of_squares_u64`, `xor_u64`.
pub static REDUCE_COLUMNS_MORE_U64: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_columns_more_u64",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_columns_more_u64.sm_75.ptx"),
        },
    ],
};

/// Module `reduce_columns_f16`: `extended_sum_f16`, `sum_f16`.
pub static REDUCE_COLUMNS_F16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_columns_f16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_columns_f16.sm_75.ptx"),
        },
    ],
};

/// Module `reduce_columns_extremes_f16`: `argmax_f16`, `argmin_f16`, `max_f16`, `min_f16`, `minmax_f16`.
pub static REDUCE_COLUMNS_EXTREMES_F16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_columns_extremes_f16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_columns_extremes_f16.sm_75.ptx"),
        },
    ],
};

/// Module `reduce_columns_more_f16`: `all_f16`, `any_f16`, `count_f16`, `norm_l1_f16`, `norm_l2_f16`, `norm_max_f16`, `product_f16`, `sum_of_squares_f16`.
pub static REDUCE_COLUMNS_MORE_F16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_columns_more_f16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_columns_more_f16.sm_75.ptx"),
        },
    ],
};

/// Module `reduce_columns_bf16`: `extended_sum_bf16`, `sum_bf16`.
pub static REDUCE_COLUMNS_BF16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_columns_bf16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_columns_bf16.sm_75.ptx"),
        },
    ],
};

/// Module `reduce_columns_extremes_bf16`: `argmax_bf16`, `argmin_bf16`, `max_bf16`, `min_bf16`, `minmax_bf16`.
pub static REDUCE_COLUMNS_EXTREMES_BF16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_columns_extremes_bf16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_columns_extremes_bf16.sm_75.ptx"),
        },
    ],
};

/// Module `reduce_columns_more_bf16`: `all_bf16`, `any_bf16`, `count_bf16`, `norm_l1_bf16`, `norm_l2_bf16`, `norm_max_bf16`, `product_bf16`, `sum_of_squares_bf16`.
pub static REDUCE_COLUMNS_MORE_BF16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_columns_more_bf16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_columns_more_bf16.sm_75.ptx"),
        },
    ],
};

/// Module `reduce_variants`: `sum_divergent_f64`, `sum_final_global_f64`, `sum_final_shared_f64`, `sum_first_add_f64`, `sum_first_add_last_warp_f64`, `sum_last_warp_f64`, `sum_sequential_f64`, `sum_several_f64`, `sum_strided_f64`, `sum_unrolled_f64`.
pub static REDUCE_VARIANTS: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_variants",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_variants.sm_75.ptx"),
        },
    ],
};

/// Module `reduce_variants_f32`: `sum_divergent_f32`, `sum_final_global_f32`, `sum_final_shared_f32`, `sum_first_add_f32`, `sum_first_add_last_warp_f32`, `sum_last_warp_f32`, `sum_sequential_f32`, `sum_several_f32`, `sum_strided_f32`, `sum_unrolled_f32`.
pub static REDUCE_VARIANTS_F32: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "reduce_variants_f32",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("reduce_variants_f32.sm_75.ptx"),
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

/// Module `transpose_square_wide_b8`: `transpose_square_wide_b8`.
pub static TRANSPOSE_SQUARE_WIDE_B8: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "transpose_square_wide_b8",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("transpose_square_wide_b8.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("transpose_square_wide_b8.sm_90.ptx"),
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

/// Module `scan_f32`: `scan_sum_f32`.
pub static SCAN_F32: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "scan_f32",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("scan_f32.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("scan_f32.sm_90.ptx"),
        },
    ],
};

/// Module `scan_wide_f32`: `scan_wide_sum_f32`.
pub static SCAN_WIDE_F32: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "scan_wide_f32",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("scan_wide_f32.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("scan_wide_f32.sm_90.ptx"),
        },
    ],
};

/// Module `scan_more_f32`: `scan_min_f32`, `scan_product_f32`.
pub static SCAN_MORE_F32: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "scan_more_f32",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("scan_more_f32.sm_75.ptx"),
        },
    ],
};

/// Module `scan_f64`: `scan_sum_f64`.
pub static SCAN_F64: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "scan_f64",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("scan_f64.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("scan_f64.sm_90.ptx"),
        },
    ],
};

/// Module `scan_more_f64`: `scan_max_f64`, `scan_min_f64`, `scan_product_f64`.
pub static SCAN_MORE_F64: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "scan_more_f64",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("scan_more_f64.sm_75.ptx"),
        },
    ],
};

/// Module `scan_f16`: `scan_sum_f16`.
pub static SCAN_F16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "scan_f16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("scan_f16.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("scan_f16.sm_90.ptx"),
        },
    ],
};

/// Module `scan_wide_f16`: `scan_wide_sum_f16`.
pub static SCAN_WIDE_F16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "scan_wide_f16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("scan_wide_f16.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("scan_wide_f16.sm_90.ptx"),
        },
    ],
};

/// Module `scan_more_f16`: `scan_max_f16`, `scan_min_f16`, `scan_product_f16`.
pub static SCAN_MORE_F16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "scan_more_f16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("scan_more_f16.sm_75.ptx"),
        },
    ],
};

/// Module `scan_bf16`: `scan_sum_bf16`.
pub static SCAN_BF16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "scan_bf16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("scan_bf16.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("scan_bf16.sm_90.ptx"),
        },
    ],
};

/// Module `scan_wide_bf16`: `scan_wide_sum_bf16`.
pub static SCAN_WIDE_BF16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "scan_wide_bf16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("scan_wide_bf16.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("scan_wide_bf16.sm_90.ptx"),
        },
    ],
};

/// Module `scan_more_bf16`: `scan_max_bf16`, `scan_min_bf16`, `scan_product_bf16`.
pub static SCAN_MORE_BF16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "scan_more_bf16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("scan_more_bf16.sm_75.ptx"),
        },
    ],
};

/// Module `scan_u8`: `scan_sum_u8`.
pub static SCAN_U8: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "scan_u8",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("scan_u8.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("scan_u8.sm_90.ptx"),
        },
    ],
};

/// Module `scan_wide_u8`: `scan_wide_sum_i8`, `scan_wide_sum_u8`.
pub static SCAN_WIDE_U8: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "scan_wide_u8",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("scan_wide_u8.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("scan_wide_u8.sm_90.ptx"),
        },
    ],
};

/// Module `scan_more_u8`: `scan_and_u8`, `scan_min_u8`, `scan_product_u8`, `scan_xor_u8`.
pub static SCAN_MORE_U8: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "scan_more_u8",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("scan_more_u8.sm_75.ptx"),
        },
    ],
};

/// Module `scan_u16`: `scan_sum_u16`.
pub static SCAN_U16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "scan_u16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("scan_u16.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("scan_u16.sm_90.ptx"),
        },
    ],
};

/// Module `scan_wide_u16`: `scan_wide_sum_i16`, `scan_wide_sum_u16`.
pub static SCAN_WIDE_U16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "scan_wide_u16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("scan_wide_u16.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("scan_wide_u16.sm_90.ptx"),
        },
    ],
};

/// Module `scan_more_u16`: `scan_and_u16`, `scan_max_i16`, `scan_max_u16`, `scan_min_i16`, `scan_min_u16`, `scan_or_u16`, `scan_product_u16`, `scan_xor_u16`.
pub static SCAN_MORE_U16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "scan_more_u16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("scan_more_u16.sm_75.ptx"),
        },
    ],
};

/// Module `scan_u32`: `scan_sum_u32`.
pub static SCAN_U32: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "scan_u32",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("scan_u32.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("scan_u32.sm_90.ptx"),
        },
    ],
};

/// Module `scan_wide_u32`: `scan_wide_sum_i32`, `scan_wide_sum_u32`.
pub static SCAN_WIDE_U32: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "scan_wide_u32",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("scan_wide_u32.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("scan_wide_u32.sm_90.ptx"),
        },
    ],
};

/// Module `scan_more_u32`: `scan_and_u32`, `scan_max_i32`, `scan_max_u32`, `scan_min_i32`, `scan_min_u32`, `scan_or_u32`, `scan_product_u32`, `scan_xor_u32`.
pub static SCAN_MORE_U32: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "scan_more_u32",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("scan_more_u32.sm_75.ptx"),
        },
    ],
};

/// Module `scan_u64`: `scan_sum_u64`.
pub static SCAN_U64: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "scan_u64",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("scan_u64.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("scan_u64.sm_90.ptx"),
        },
    ],
};

/// Module `scan_more_u64`: `scan_and_u64`, `scan_max_i64`, `scan_max_u64`, `scan_min_i64`, `scan_min_u64`, `scan_or_u64`, `scan_product_u64`, `scan_xor_u64`.
pub static SCAN_MORE_U64: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "scan_more_u64",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("scan_more_u64.sm_75.ptx"),
        },
    ],
};

/// Module `scan_variants`: `scan_add_before_f32`, `scan_blelloch_f32`, `scan_hillis_steele_f32`, `scan_look_back_f32`, `scan_sum_all_f32`, `scan_tiles_f32`, `scan_tiles_from_f32`, `scan_tiles_padded_f32`, `scan_totals_f32`.
pub static SCAN_VARIANTS: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "scan_variants",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("scan_variants.sm_75.ptx"),
        },
    ],
};

/// Module `linalg_gemm_f32`: `linalg_gemm_f32`, `linalg_gemm_small_f32`.
pub static LINALG_GEMM_F32: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "linalg_gemm_f32",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("linalg_gemm_f32.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 80,
            exact: false,
            isa: 74,
            ptx: include_str!("linalg_gemm_f32.sm_80.ptx"),
        },
    ],
};

/// Module `linalg_gemm_wide_f32`: `linalg_gemm_wide_f32`.
pub static LINALG_GEMM_WIDE_F32: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "linalg_gemm_wide_f32",
    images: &[
        ::gpu_std::launch::Image {
            arch: 80,
            exact: false,
            isa: 74,
            ptx: include_str!("linalg_gemm_wide_f32.sm_80.ptx"),
        },
    ],
};

/// Module `linalg_gemm_f64`: `linalg_gemm_f64`.
pub static LINALG_GEMM_F64: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "linalg_gemm_f64",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("linalg_gemm_f64.sm_75.ptx"),
        },
    ],
};

/// Module `linalg_gemv_f32`: `linalg_gemv_across_f32`, `linalg_gemv_along_f32`, `linalg_gemv_finish_f32`.
pub static LINALG_GEMV_F32: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "linalg_gemv_f32",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("linalg_gemv_f32.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("linalg_gemv_f32.sm_90.ptx"),
        },
    ],
};

/// Module `linalg_gemv_f64`: `linalg_gemv_across_f64`, `linalg_gemv_along_f64`, `linalg_gemv_finish_f64`.
pub static LINALG_GEMV_F64: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "linalg_gemv_f64",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("linalg_gemv_f64.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("linalg_gemv_f64.sm_90.ptx"),
        },
    ],
};

/// Module `linalg_gemv_f16`: `linalg_gemv_across_f16`, `linalg_gemv_along_f16`, `linalg_gemv_finish_f16`.
pub static LINALG_GEMV_F16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "linalg_gemv_f16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("linalg_gemv_f16.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("linalg_gemv_f16.sm_90.ptx"),
        },
    ],
};

/// Module `linalg_gemv_bf16`: `linalg_gemv_across_bf16`, `linalg_gemv_along_bf16`, `linalg_gemv_finish_bf16`.
pub static LINALG_GEMV_BF16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "linalg_gemv_bf16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("linalg_gemv_bf16.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("linalg_gemv_bf16.sm_90.ptx"),
        },
    ],
};

/// Module `linalg_gemm_tensor_f64`: `linalg_gemm_tensor_f64`, `linalg_gemm_tensor_small_f64`.
pub static LINALG_GEMM_TENSOR_F64: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "linalg_gemm_tensor_f64",
    images: &[
        ::gpu_std::launch::Image {
            arch: 80,
            exact: false,
            isa: 74,
            ptx: include_str!("linalg_gemm_tensor_f64.sm_80.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 90,
            exact: false,
            isa: 78,
            ptx: include_str!("linalg_gemm_tensor_f64.sm_90.ptx"),
        },
    ],
};

/// Module `linalg_level2`: `linalg_ger_f32`, `linalg_ger_f64`, `linalg_triangle_f32`, `linalg_triangle_f64`.
pub static LINALG_LEVEL2: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "linalg_level2",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("linalg_level2.sm_75.ptx"),
        },
    ],
};

/// Module `linalg_elementwise`: `linalg_elementwise_f32`, `linalg_elementwise_f64`, `linalg_swap_f32`, `linalg_swap_f64`.
pub static LINALG_ELEMENTWISE: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "linalg_elementwise",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("linalg_elementwise.sm_75.ptx"),
        },
    ],
};

/// Module `linalg_variants`: `linalg_gemm_naive`, `linalg_gemm_shared`, `linalg_gemv_column_f32`, `linalg_gemv_column_f64`, `linalg_gemv_column_i32`, `linalg_gemv_row_f32`, `linalg_gemv_row_f64`, `linalg_gemv_row_i32`, `linalg_gemv_rows_f32`, `linalg_gemv_rows_f64`, `linalg_gemv_rows_i32`, `linalg_matrix_add`, `linalg_vector_add`.
pub static LINALG_VARIANTS: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "linalg_variants",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("linalg_variants.sm_75.ptx"),
        },
    ],
};

/// Module `sort_b8`: `sort_count_b8`, `sort_keys_b8`, `sort_pairs_b8_b32`, `sort_pairs_b8_b64`.
pub static SORT_B8: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "sort_b8",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("sort_b8.sm_75.ptx"),
        },
    ],
};

/// Module `sort_b16`: `sort_count_b16`, `sort_keys_b16`, `sort_pairs_b16_b32`, `sort_pairs_b16_b64`.
pub static SORT_B16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "sort_b16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("sort_b16.sm_75.ptx"),
        },
    ],
};

/// Module `sort_b32`: `sort_count_b32`, `sort_keys_b32`, `sort_pairs_b32_b32`, `sort_pairs_b32_b64`.
pub static SORT_B32: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "sort_b32",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("sort_b32.sm_75.ptx"),
        },
    ],
};

/// Module `sort_b64`: `sort_count_b64`, `sort_keys_b64`, `sort_pairs_b64_b32`, `sort_pairs_b64_b64`.
pub static SORT_B64: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "sort_b64",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("sort_b64.sm_75.ptx"),
        },
    ],
};

/// Module `sort_gather`: `sort_gather_b128`, `sort_gather_b16`, `sort_gather_b8`.
pub static SORT_GATHER: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "sort_gather",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("sort_gather.sm_75.ptx"),
        },
    ],
};

/// Module `histogram_u8`: `histogram_edges_u8`, `histogram_even_u8`.
pub static HISTOGRAM_U8: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "histogram_u8",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("histogram_u8.sm_75.ptx"),
        },
    ],
};

/// Module `histogram_u16`: `histogram_edges_u16`, `histogram_even_u16`.
pub static HISTOGRAM_U16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "histogram_u16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("histogram_u16.sm_75.ptx"),
        },
    ],
};

/// Module `histogram_u32`: `histogram_edges_u32`, `histogram_even_u32`.
pub static HISTOGRAM_U32: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "histogram_u32",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("histogram_u32.sm_75.ptx"),
        },
    ],
};

/// Module `histogram_f32`: `histogram_edges_f32`, `histogram_even_f32`.
pub static HISTOGRAM_F32: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "histogram_f32",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("histogram_f32.sm_75.ptx"),
        },
    ],
};

/// Module `histogram_f64`: `histogram_edges_f64`, `histogram_even_f64`.
pub static HISTOGRAM_F64: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "histogram_f64",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("histogram_f64.sm_75.ptx"),
        },
    ],
};

/// Module `select_b8`: `describe_runs_b8`, `select_flagged_b8`, `select_starts_b8`, `select_unique_b8`.
pub static SELECT_B8: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "select_b8",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("select_b8.sm_75.ptx"),
        },
    ],
};

/// Module `select_b16`: `describe_runs_b16`, `select_flagged_b16`, `select_starts_b16`, `select_unique_b16`.
pub static SELECT_B16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "select_b16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("select_b16.sm_75.ptx"),
        },
    ],
};

/// Module `select_b32`: `describe_runs_b32`, `select_flagged_b32`, `select_starts_b32`, `select_unique_b32`.
pub static SELECT_B32: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "select_b32",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("select_b32.sm_75.ptx"),
        },
    ],
};

/// Module `select_b64`: `describe_runs_b64`, `select_flagged_b64`, `select_starts_b64`, `select_unique_b64`.
pub static SELECT_B64: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "select_b64",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("select_b64.sm_75.ptx"),
        },
    ],
};

/// Module `select_b128`: `describe_runs_b128`, `select_flagged_b128`, `select_starts_b128`, `select_unique_b128`.
pub static SELECT_B128: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "select_b128",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("select_b128.sm_75.ptx"),
        },
    ],
};

/// Module `scan_segments_f32`: `scan_segments_min_f32`, `scan_segments_sum_f32`.
pub static SCAN_SEGMENTS_F32: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "scan_segments_f32",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("scan_segments_f32.sm_75.ptx"),
        },
    ],
};

/// Module `scan_segments_f64`: `scan_segments_max_f64`, `scan_segments_min_f64`, `scan_segments_sum_f64`.
pub static SCAN_SEGMENTS_F64: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "scan_segments_f64",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("scan_segments_f64.sm_75.ptx"),
        },
    ],
};

/// Module `scan_segments_u32`: `scan_segments_max_i32`, `scan_segments_max_u32`, `scan_segments_min_i32`, `scan_segments_min_u32`, `scan_segments_sum_u32`.
pub static SCAN_SEGMENTS_U32: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "scan_segments_u32",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("scan_segments_u32.sm_75.ptx"),
        },
    ],
};

/// Module `scan_segments_u64`: `scan_segments_min_u64`, `scan_segments_sum_u64`.
pub static SCAN_SEGMENTS_U64: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "scan_segments_u64",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("scan_segments_u64.sm_75.ptx"),
        },
    ],
};

/// Module `scan_segments_wide_f32`: `scan_segments_wide_sum_f32`.
pub static SCAN_SEGMENTS_WIDE_F32: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "scan_segments_wide_f32",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("scan_segments_wide_f32.sm_75.ptx"),
        },
    ],
};

/// Module `scan_segments_more_f32`: `scan_segments_product_f32`.
pub static SCAN_SEGMENTS_MORE_F32: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "scan_segments_more_f32",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("scan_segments_more_f32.sm_75.ptx"),
        },
    ],
};

/// Module `scan_segments_more_f64`: `scan_segments_product_f64`.
pub static SCAN_SEGMENTS_MORE_F64: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "scan_segments_more_f64",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("scan_segments_more_f64.sm_75.ptx"),
        },
    ],
};

/// Module `scan_segments_f16`: `scan_segments_min_f16`, `scan_segments_sum_f16`.
pub static SCAN_SEGMENTS_F16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "scan_segments_f16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("scan_segments_f16.sm_75.ptx"),
        },
    ],
};

/// Module `scan_segments_wide_f16`: `scan_segments_wide_sum_f16`.
pub static SCAN_SEGMENTS_WIDE_F16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "scan_segments_wide_f16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("scan_segments_wide_f16.sm_75.ptx"),
        },
    ],
};

/// Module `scan_segments_more_f16`: `scan_segments_product_f16`.
pub static SCAN_SEGMENTS_MORE_F16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "scan_segments_more_f16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("scan_segments_more_f16.sm_75.ptx"),
        },
    ],
};

/// Module `scan_segments_bf16`: `scan_segments_max_bf16`, `scan_segments_min_bf16`, `scan_segments_sum_bf16`.
pub static SCAN_SEGMENTS_BF16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "scan_segments_bf16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("scan_segments_bf16.sm_75.ptx"),
        },
    ],
};

/// Module `scan_segments_wide_bf16`: `scan_segments_wide_sum_bf16`.
pub static SCAN_SEGMENTS_WIDE_BF16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "scan_segments_wide_bf16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("scan_segments_wide_bf16.sm_75.ptx"),
        },
    ],
};

/// Module `scan_segments_more_bf16`: `scan_segments_product_bf16`.
pub static SCAN_SEGMENTS_MORE_BF16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "scan_segments_more_bf16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("scan_segments_more_bf16.sm_75.ptx"),
        },
    ],
};

/// Module `scan_segments_wide_u32`: `scan_segments_wide_sum_i32`, `scan_segments_wide_sum_u32`.
pub static SCAN_SEGMENTS_WIDE_U32: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "scan_segments_wide_u32",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("scan_segments_wide_u32.sm_75.ptx"),
        },
    ],
};

/// Module `scan_segments_more_u32`: `scan_segments_and_u32`, `scan_segments_or_u32`, `scan_segments_product_u32`, `scan_segments_xor_u32`.
pub static SCAN_SEGMENTS_MORE_U32: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "scan_segments_more_u32",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("scan_segments_more_u32.sm_75.ptx"),
        },
    ],
};

/// Module `scan_segments_more_u64`: `scan_segments_and_u64`, `scan_segments_or_u64`, `scan_segments_product_u64`, `scan_segments_xor_u64`.
pub static SCAN_SEGMENTS_MORE_U64: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "scan_segments_more_u64",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("scan_segments_more_u64.sm_75.ptx"),
        },
    ],
};

/// Module `scan_segments_u8`: `scan_segments_min_u8`, `scan_segments_sum_u8`.
pub static SCAN_SEGMENTS_U8: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "scan_segments_u8",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("scan_segments_u8.sm_75.ptx"),
        },
    ],
};

/// Module `scan_segments_wide_u8`: `scan_segments_wide_sum_i8`, `scan_segments_wide_sum_u8`.
pub static SCAN_SEGMENTS_WIDE_U8: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "scan_segments_wide_u8",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("scan_segments_wide_u8.sm_75.ptx"),
        },
    ],
};

/// Module `scan_segments_more_u8`: `scan_segments_and_u8`, `scan_segments_or_u8`, `scan_segments_product_u8`, `scan_segments_xor_u8`.
pub static SCAN_SEGMENTS_MORE_U8: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "scan_segments_more_u8",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("scan_segments_more_u8.sm_75.ptx"),
        },
    ],
};

/// Module `scan_segments_u16`: `scan_segments_max_i16`, `scan_segments_max_u16`, `scan_segments_min_i16`, `scan_segments_min_u16`, `scan_segments_sum_u16`.
pub static SCAN_SEGMENTS_U16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "scan_segments_u16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("scan_segments_u16.sm_75.ptx"),
        },
    ],
};

/// Module `scan_segments_wide_u16`: `scan_segments_wide_sum_i16`, `scan_segments_wide_sum_u16`.
pub static SCAN_SEGMENTS_WIDE_U16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "scan_segments_wide_u16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("scan_segments_wide_u16.sm_75.ptx"),
        },
    ],
};

/// Module `scan_segments_more_u16`: `scan_segments_and_u16`, `scan_segments_or_u16`, `scan_segments_product_u16`, `scan_segments_xor_u16`.
pub static SCAN_SEGMENTS_MORE_U16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "scan_segments_more_u16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("scan_segments_more_u16.sm_75.ptx"),
        },
    ],
};

/// Module `scan_columns_f32`: `scan_columns_min_f32`, `scan_columns_sum_f32`.
pub static SCAN_COLUMNS_F32: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "scan_columns_f32",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("scan_columns_f32.sm_75.ptx"),
        },
    ],
};

/// Module `scan_columns_f64`: `scan_columns_max_f64`, `scan_columns_min_f64`, `scan_columns_sum_f64`.
pub static SCAN_COLUMNS_F64: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "scan_columns_f64",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("scan_columns_f64.sm_75.ptx"),
        },
    ],
};

/// Module `scan_columns_u32`: `scan_columns_max_i32`, `scan_columns_max_u32`, `scan_columns_min_i32`, `scan_columns_min_u32`, `scan_columns_sum_u32`.
pub static SCAN_COLUMNS_U32: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "scan_columns_u32",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("scan_columns_u32.sm_75.ptx"),
        },
    ],
};

/// Module `scan_columns_u64`: `scan_columns_max_i64`, `scan_columns_max_u64`, `scan_columns_min_i64`, `scan_columns_min_u64`, `scan_columns_sum_u64`.
pub static SCAN_COLUMNS_U64: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "scan_columns_u64",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("scan_columns_u64.sm_75.ptx"),
        },
    ],
};

/// Module `scan_columns_wide_f32`: `scan_columns_wide_sum_f32`.
pub static SCAN_COLUMNS_WIDE_F32: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "scan_columns_wide_f32",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("scan_columns_wide_f32.sm_75.ptx"),
        },
    ],
};

/// Module `scan_columns_more_f32`: `scan_columns_product_f32`.
pub static SCAN_COLUMNS_MORE_F32: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "scan_columns_more_f32",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("scan_columns_more_f32.sm_75.ptx"),
        },
    ],
};

/// Module `scan_columns_more_f64`: `scan_columns_product_f64`.
pub static SCAN_COLUMNS_MORE_F64: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "scan_columns_more_f64",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("scan_columns_more_f64.sm_75.ptx"),
        },
    ],
};

/// Module `scan_columns_f16`: `scan_columns_max_f16`, `scan_columns_min_f16`, `scan_columns_sum_f16`.
pub static SCAN_COLUMNS_F16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "scan_columns_f16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("scan_columns_f16.sm_75.ptx"),
        },
    ],
};

/// Module `scan_columns_wide_f16`: `scan_columns_wide_sum_f16`.
pub static SCAN_COLUMNS_WIDE_F16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "scan_columns_wide_f16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("scan_columns_wide_f16.sm_75.ptx"),
        },
    ],
};

/// Module `scan_columns_more_f16`: `scan_columns_product_f16`.
pub static SCAN_COLUMNS_MORE_F16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "scan_columns_more_f16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("scan_columns_more_f16.sm_75.ptx"),
        },
    ],
};

/// Module `scan_columns_bf16`: `scan_columns_max_bf16`, `scan_columns_min_bf16`, `scan_columns_sum_bf16`.
pub static SCAN_COLUMNS_BF16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "scan_columns_bf16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("scan_columns_bf16.sm_75.ptx"),
        },
    ],
};

/// Module `scan_columns_wide_bf16`: `scan_columns_wide_sum_bf16`.
pub static SCAN_COLUMNS_WIDE_BF16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "scan_columns_wide_bf16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("scan_columns_wide_bf16.sm_75.ptx"),
        },
    ],
};

/// Module `scan_columns_more_bf16`: `scan_columns_product_bf16`.
pub static SCAN_COLUMNS_MORE_BF16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "scan_columns_more_bf16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("scan_columns_more_bf16.sm_75.ptx"),
        },
    ],
};

/// Module `scan_columns_wide_u32`: `scan_columns_wide_sum_i32`, `scan_columns_wide_sum_u32`.
pub static SCAN_COLUMNS_WIDE_U32: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "scan_columns_wide_u32",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("scan_columns_wide_u32.sm_75.ptx"),
        },
    ],
};

/// Module `scan_columns_more_u32`: `scan_columns_and_u32`, `scan_columns_or_u32`, `scan_columns_product_u32`, `scan_columns_xor_u32`.
pub static SCAN_COLUMNS_MORE_U32: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "scan_columns_more_u32",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("scan_columns_more_u32.sm_75.ptx"),
        },
    ],
};

/// Module `scan_columns_more_u64`: `scan_columns_and_u64`, `scan_columns_or_u64`, `scan_columns_product_u64`, `scan_columns_xor_u64`.
pub static SCAN_COLUMNS_MORE_U64: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "scan_columns_more_u64",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("scan_columns_more_u64.sm_75.ptx"),
        },
    ],
};

/// Module `scan_columns_u8`: `scan_columns_min_u8`, `scan_columns_sum_u8`.
pub static SCAN_COLUMNS_U8: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "scan_columns_u8",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("scan_columns_u8.sm_75.ptx"),
        },
    ],
};

/// Module `scan_columns_wide_u8`: `scan_columns_wide_sum_i8`, `scan_columns_wide_sum_u8`.
pub static SCAN_COLUMNS_WIDE_U8: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "scan_columns_wide_u8",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("scan_columns_wide_u8.sm_75.ptx"),
        },
    ],
};

/// Module `scan_columns_more_u8`: `scan_columns_and_u8`, `scan_columns_or_u8`, `scan_columns_product_u8`, `scan_columns_xor_u8`.
pub static SCAN_COLUMNS_MORE_U8: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "scan_columns_more_u8",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("scan_columns_more_u8.sm_75.ptx"),
        },
    ],
};

/// Module `scan_columns_u16`: `scan_columns_max_i16`, `scan_columns_max_u16`, `scan_columns_min_i16`, `scan_columns_min_u16`, `scan_columns_sum_u16`.
pub static SCAN_COLUMNS_U16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "scan_columns_u16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("scan_columns_u16.sm_75.ptx"),
        },
    ],
};

/// Module `scan_columns_wide_u16`: `scan_columns_wide_sum_i16`, `scan_columns_wide_sum_u16`.
pub static SCAN_COLUMNS_WIDE_U16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "scan_columns_wide_u16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("scan_columns_wide_u16.sm_75.ptx"),
        },
    ],
};

/// Module `scan_columns_more_u16`: `scan_columns_and_u16`, `scan_columns_or_u16`, `scan_columns_product_u16`, `scan_columns_xor_u16`.
pub static SCAN_COLUMNS_MORE_U16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "scan_columns_more_u16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("scan_columns_more_u16.sm_75.ptx"),
        },
    ],
};

/// Module `stencil_resize_u8`: `stencil_resize_bilinear_u8`, `stencil_resize_half_u8`.
pub static STENCIL_RESIZE_U8: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "stencil_resize_u8",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_resize_u8.sm_75.ptx"),
        },
    ],
};

/// Module `stencil_resize_u16`: `stencil_resize_bilinear_u16`, `stencil_resize_half_u16`.
pub static STENCIL_RESIZE_U16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "stencil_resize_u16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_resize_u16.sm_75.ptx"),
        },
    ],
};

/// Module `stencil_resize_i16`: `stencil_resize_bilinear_i16`, `stencil_resize_half_i16`.
pub static STENCIL_RESIZE_I16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "stencil_resize_i16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_resize_i16.sm_75.ptx"),
        },
    ],
};

/// Module `stencil_resize_f32`: `stencil_resize_bilinear_f32`, `stencil_resize_half_f32`.
pub static STENCIL_RESIZE_F32: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "stencil_resize_f32",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_resize_f32.sm_75.ptx"),
        },
    ],
};

/// Module `stencil_resize_f64`: `stencil_resize_bilinear_f64`, `stencil_resize_half_f64`.
pub static STENCIL_RESIZE_F64: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "stencil_resize_f64",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_resize_f64.sm_75.ptx"),
        },
    ],
};

/// Module `stencil_resize_nearest`: `stencil_resize_nearest_b16`, `stencil_resize_nearest_b32`, `stencil_resize_nearest_b64`, `stencil_resize_nearest_b8`.
pub static STENCIL_RESIZE_NEAREST: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "stencil_resize_nearest",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_resize_nearest.sm_75.ptx"),
        },
    ],
};

/// Module `stencil_signal`: `stencil_signal_f32`, `stencil_signal_f64`.
pub static STENCIL_SIGNAL: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "stencil_signal",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_signal.sm_75.ptx"),
        },
    ],
};

/// Module `stencil_variants`: `stencil_blur_constant`, `stencil_blur_global`, `stencil_blur_read_only`, `stencil_blur_shared`, `stencil_sobel_filter`, `stencil_sobel_magnitude`.
pub static STENCIL_VARIANTS: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "stencil_variants",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_variants.sm_75.ptx"),
        },
    ],
};

/// Module `stencil_texture`: `stencil_texture_resize`, `stencil_texture_sample_1d`, `stencil_texture_sample_2d`, `stencil_texture_sample_3d`.
pub static STENCIL_TEXTURE: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "stencil_texture",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_texture.sm_75.ptx"),
        },
    ],
};

/// Module `stencil_signal_variants`: `stencil_signal_constant_f32`, `stencil_signal_constant_f64`, `stencil_signal_global_f32`, `stencil_signal_global_f64`, `stencil_signal_shared_f32`, `stencil_signal_shared_f64`.
pub static STENCIL_SIGNAL_VARIANTS: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "stencil_signal_variants",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_signal_variants.sm_75.ptx"),
        },
    ],
};

/// Module `stencil_strip_f32`: `stencil_box_4_f32`, `stencil_star_4_f32`, `stencil_star_8_f32`.
pub static STENCIL_STRIP_F32: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "stencil_strip_f32",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_strip_f32.sm_75.ptx"),
        },
    ],
};

/// Module `stencil_strip_f64`: `stencil_box_4_f64`, `stencil_star_4_f64`.
pub static STENCIL_STRIP_F64: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "stencil_strip_f64",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_strip_f64.sm_75.ptx"),
        },
    ],
};

/// Module `stencil_step`: `stencil_step_f32`, `stencil_step_f64`.
pub static STENCIL_STEP: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "stencil_step",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_step.sm_75.ptx"),
        },
    ],
};

/// Module `stencil_march`: `stencil_march_f32`, `stencil_march_f64`.
pub static STENCIL_MARCH: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "stencil_march",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_march.sm_75.ptx"),
        },
    ],
};

/// Module `stencil_separable_f32`: `separable_f32_11`, `separable_f32_3`, `separable_f32_5`, `separable_f32_7`, `separable_f32_9`.
pub static STENCIL_SEPARABLE_F32: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "stencil_separable_f32",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_separable_f32.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 80,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_separable_f32.sm_80.ptx"),
        },
    ],
};

/// Module `stencil_separable_f32x3`: `separable_f32x3_11`, `separable_f32x3_3`, `separable_f32x3_5`, `separable_f32x3_7`, `separable_f32x3_9`.
pub static STENCIL_SEPARABLE_F32X3: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "stencil_separable_f32x3",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_separable_f32x3.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 80,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_separable_f32x3.sm_80.ptx"),
        },
    ],
};

/// Module `stencil_separable_f32x4`: `separable_f32x4_11`, `separable_f32x4_3`, `separable_f32x4_5`, `separable_f32x4_7`, `separable_f32x4_9`.
pub static STENCIL_SEPARABLE_F32X4: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "stencil_separable_f32x4",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_separable_f32x4.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 80,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_separable_f32x4.sm_80.ptx"),
        },
    ],
};

/// Module `stencil_separable_f64`: `separable_f64_11`, `separable_f64_3`, `separable_f64_5`, `separable_f64_7`, `separable_f64_9`.
pub static STENCIL_SEPARABLE_F64: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "stencil_separable_f64",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_separable_f64.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 80,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_separable_f64.sm_80.ptx"),
        },
    ],
};

/// Module `stencil_separable_f64x3`: `separable_f64x3_11`, `separable_f64x3_3`, `separable_f64x3_5`, `separable_f64x3_7`, `separable_f64x3_9`.
pub static STENCIL_SEPARABLE_F64X3: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "stencil_separable_f64x3",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_separable_f64x3.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 80,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_separable_f64x3.sm_80.ptx"),
        },
    ],
};

/// Module `stencil_separable_f64x4`: `separable_f64x4_11`, `separable_f64x4_3`, `separable_f64x4_5`, `separable_f64x4_7`, `separable_f64x4_9`.
pub static STENCIL_SEPARABLE_F64X4: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "stencil_separable_f64x4",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_separable_f64x4.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 80,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_separable_f64x4.sm_80.ptx"),
        },
    ],
};

/// Module `stencil_separable_u8`: `separable_u8_11`, `separable_u8_3`, `separable_u8_5`, `separable_u8_7`, `separable_u8_9`.
pub static STENCIL_SEPARABLE_U8: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "stencil_separable_u8",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_separable_u8.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 80,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_separable_u8.sm_80.ptx"),
        },
    ],
};

/// Module `stencil_separable_u8x3`: `separable_u8x3_11`, `separable_u8x3_3`, `separable_u8x3_5`, `separable_u8x3_7`, `separable_u8x3_9`.
pub static STENCIL_SEPARABLE_U8X3: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "stencil_separable_u8x3",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_separable_u8x3.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 80,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_separable_u8x3.sm_80.ptx"),
        },
    ],
};

/// Module `stencil_separable_u8x4`: `separable_u8x4_11`, `separable_u8x4_3`, `separable_u8x4_5`, `separable_u8x4_7`, `separable_u8x4_9`.
pub static STENCIL_SEPARABLE_U8X4: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "stencil_separable_u8x4",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_separable_u8x4.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 80,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_separable_u8x4.sm_80.ptx"),
        },
    ],
};

/// Module `stencil_separable_u16`: `separable_u16_11`, `separable_u16_3`, `separable_u16_5`, `separable_u16_7`, `separable_u16_9`.
pub static STENCIL_SEPARABLE_U16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "stencil_separable_u16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_separable_u16.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 80,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_separable_u16.sm_80.ptx"),
        },
    ],
};

/// Module `stencil_separable_u16x3`: `separable_u16x3_11`, `separable_u16x3_3`, `separable_u16x3_5`, `separable_u16x3_7`, `separable_u16x3_9`.
pub static STENCIL_SEPARABLE_U16X3: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "stencil_separable_u16x3",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_separable_u16x3.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 80,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_separable_u16x3.sm_80.ptx"),
        },
    ],
};

/// Module `stencil_separable_u16x4`: `separable_u16x4_11`, `separable_u16x4_3`, `separable_u16x4_5`, `separable_u16x4_7`, `separable_u16x4_9`.
pub static STENCIL_SEPARABLE_U16X4: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "stencil_separable_u16x4",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_separable_u16x4.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 80,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_separable_u16x4.sm_80.ptx"),
        },
    ],
};

/// Module `stencil_separable_i16`: `separable_i16_11`, `separable_i16_3`, `separable_i16_5`, `separable_i16_7`, `separable_i16_9`.
pub static STENCIL_SEPARABLE_I16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "stencil_separable_i16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_separable_i16.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 80,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_separable_i16.sm_80.ptx"),
        },
    ],
};

/// Module `stencil_separable_i16x3`: `separable_i16x3_11`, `separable_i16x3_3`, `separable_i16x3_5`, `separable_i16x3_7`, `separable_i16x3_9`.
pub static STENCIL_SEPARABLE_I16X3: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "stencil_separable_i16x3",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_separable_i16x3.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 80,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_separable_i16x3.sm_80.ptx"),
        },
    ],
};

/// Module `stencil_separable_i16x4`: `separable_i16x4_11`, `separable_i16x4_3`, `separable_i16x4_5`, `separable_i16x4_7`, `separable_i16x4_9`.
pub static STENCIL_SEPARABLE_I16X4: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "stencil_separable_i16x4",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_separable_i16x4.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 80,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_separable_i16x4.sm_80.ptx"),
        },
    ],
};

/// Module `stencil_full_f32`: `full_f32_11`, `full_f32_3`, `full_f32_5`, `full_f32_7`, `full_f32_9`.
pub static STENCIL_FULL_F32: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "stencil_full_f32",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_full_f32.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 80,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_full_f32.sm_80.ptx"),
        },
    ],
};

/// Module `stencil_full_f32x3`: `full_f32x3_11`, `full_f32x3_3`, `full_f32x3_5`, `full_f32x3_7`.
pub static STENCIL_FULL_F32X3: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "stencil_full_f32x3",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_full_f32x3.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 80,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_full_f32x3.sm_80.ptx"),
        },
    ],
};

/// Module `stencil_full_f32x4`: `full_f32x4_11`, `full_f32x4_3`, `full_f32x4_5`, `full_f32x4_7`.
pub static STENCIL_FULL_F32X4: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "stencil_full_f32x4",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_full_f32x4.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 80,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_full_f32x4.sm_80.ptx"),
        },
    ],
};

/// Module `stencil_full_u8`: `full_u8_11`, `full_u8_3`, `full_u8_5`, `full_u8_7`, `full_u8_9`.
pub static STENCIL_FULL_U8: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "stencil_full_u8",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_full_u8.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 80,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_full_u8.sm_80.ptx"),
        },
    ],
};

/// Module `stencil_full_u8x3`: `full_u8x3_11`, `full_u8x3_3`, `full_u8x3_5`, `full_u8x3_7`.
pub static STENCIL_FULL_U8X3: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "stencil_full_u8x3",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_full_u8x3.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 80,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_full_u8x3.sm_80.ptx"),
        },
    ],
};

/// Module `stencil_full_u8x4`: `full_u8x4_11`, `full_u8x4_3`, `full_u8x4_5`, `full_u8x4_7`.
pub static STENCIL_FULL_U8X4: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "stencil_full_u8x4",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_full_u8x4.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 80,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_full_u8x4.sm_80.ptx"),
        },
    ],
};

/// Module `stencil_full_u16`: `full_u16_11`, `full_u16_3`, `full_u16_5`, `full_u16_7`.
pub static STENCIL_FULL_U16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "stencil_full_u16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_full_u16.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 80,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_full_u16.sm_80.ptx"),
        },
    ],
};

/// Module `stencil_full_u16x3`: `full_u16x3_11`, `full_u16x3_3`, `full_u16x3_5`, `full_u16x3_7`.
pub static STENCIL_FULL_U16X3: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "stencil_full_u16x3",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_full_u16x3.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 80,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_full_u16x3.sm_80.ptx"),
        },
    ],
};

/// Module `stencil_full_u16x4`: `full_u16x4_11`, `full_u16x4_3`, `full_u16x4_5`, `full_u16x4_7`.
pub static STENCIL_FULL_U16X4: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "stencil_full_u16x4",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_full_u16x4.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 80,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_full_u16x4.sm_80.ptx"),
        },
    ],
};

/// Module `stencil_full_i16`: `full_i16_11`, `full_i16_3`, `full_i16_5`, `full_i16_7`.
pub static STENCIL_FULL_I16: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "stencil_full_i16",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_full_i16.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 80,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_full_i16.sm_80.ptx"),
        },
    ],
};

/// Module `stencil_full_i16x3`: `full_i16x3_11`, `full_i16x3_3`, `full_i16x3_5`, `full_i16x3_7`.
pub static STENCIL_FULL_I16X3: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "stencil_full_i16x3",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_full_i16x3.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 80,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_full_i16x3.sm_80.ptx"),
        },
    ],
};

/// Module `stencil_full_i16x4`: `full_i16x4_11`, `full_i16x4_3`, `full_i16x4_5`, `full_i16x4_7`.
pub static STENCIL_FULL_I16X4: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "stencil_full_i16x4",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_full_i16x4.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 80,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_full_i16x4.sm_80.ptx"),
        },
    ],
};

/// Module `stencil_full_f64`: `full_f64_11`, `full_f64_3`, `full_f64_5`, `full_f64_7`.
pub static STENCIL_FULL_F64: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "stencil_full_f64",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_full_f64.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 80,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_full_f64.sm_80.ptx"),
        },
    ],
};

/// Module `stencil_full_f64x3`: `full_f64x3_11`, `full_f64x3_3`, `full_f64x3_5`, `full_f64x3_7`.
pub static STENCIL_FULL_F64X3: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "stencil_full_f64x3",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_full_f64x3.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 80,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_full_f64x3.sm_80.ptx"),
        },
    ],
};

/// Module `stencil_full_f64x4`: `full_f64x4_11`, `full_f64x4_3`, `full_f64x4_5`, `full_f64x4_7`.
pub static STENCIL_FULL_F64X4: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "stencil_full_f64x4",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_full_f64x4.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 80,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_full_f64x4.sm_80.ptx"),
        },
    ],
};

/// Module `stencil_sobel`: `sobel_f32`, `sobel_f64`, `sobel_general_f32`, `sobel_general_f64`, `sobel_general_i16`, `sobel_general_u16`, `sobel_general_u8`, `sobel_i16`, `sobel_u16`, `sobel_u8`.
pub static STENCIL_SOBEL: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "stencil_sobel",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_sobel.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 80,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_sobel.sm_80.ptx"),
        },
    ],
};

/// Module `stencil_sobel_x3`: `sobel_f32x3`, `sobel_f64x3`, `sobel_i16x3`, `sobel_u16x3`, `sobel_u8x3`.
pub static STENCIL_SOBEL_X3: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "stencil_sobel_x3",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_sobel_x3.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 80,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_sobel_x3.sm_80.ptx"),
        },
    ],
};

/// Module `stencil_sobel_x4`: `sobel_f32x4`, `sobel_f64x4`, `sobel_i16x4`, `sobel_u16x4`, `sobel_u8x4`.
pub static STENCIL_SOBEL_X4: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "stencil_sobel_x4",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_sobel_x4.sm_75.ptx"),
        },
        ::gpu_std::launch::Image {
            arch: 80,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_sobel_x4.sm_80.ptx"),
        },
    ],
};

/// Module `stencil_general`: `general_full_f32`, `general_full_f64`, `general_full_i16`, `general_full_u16`, `general_full_u8`, `general_separable_f32`, `general_separable_f64`, `general_separable_i16`, `general_separable_u16`, `general_separable_u8`.
pub static STENCIL_GENERAL: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "stencil_general",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_general.sm_75.ptx"),
        },
    ],
};

/// Module `stencil_scipy`: `scipy_add_f32`, `scipy_add_f64`, `scipy_add_i16`, `scipy_add_u16`, `scipy_add_u8`, `scipy_correlate1d_f32`, `scipy_correlate1d_f64`, `scipy_correlate1d_i16`, `scipy_correlate1d_u16`, `scipy_correlate1d_u8`, `scipy_correlate_f32`, `scipy_correlate_f64`, `scipy_correlate_i16`, `scipy_correlate_u16`, `scipy_correlate_u8`, `scipy_uniform_f32`, `scipy_uniform_f64`, `scipy_uniform_i16`, `scipy_uniform_u16`, `scipy_uniform_u8`.
pub static STENCIL_SCIPY: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "stencil_scipy",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("stencil_scipy.sm_75.ptx"),
        },
    ],
};
