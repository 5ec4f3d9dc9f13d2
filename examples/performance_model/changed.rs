//! Kernels that have changed since they were timed: such a time is none of what is counted today.
//!
//! Of each kernel that a row launches, ptxas made the machine code for 9.0 of the PTX that was committed when the row
//! was measured, and of the present one. Where the two differ by more than a twentieth of their instructions, or there
//! was no kernel of that name, the kernel stands here with the moment of the last such result: older ones do not count,
//! whatever they are. No time enters that.

/// Kernels, and the last result of what they were before, as numbers of the digits of a date.
const CHANGED: [(&str, u64); 48] = [
    ("factor_skyline_f32", 20_261_125_233_213),
    ("factor_skyline_f64", 20_261_125_233_213),
    ("factor_tiled_f32", 20_261_127_154_223),
    ("factor_tiled_f64", 20_261_127_154_223),
    ("find_runs_b32", 20_261_123_030_002),
    ("full_f32_3", 20_261_122_180_708),
    ("full_f32x3_3", 20_261_122_180_708),
    ("linalg_elementwise_f32", 20_261_121_075_317),
    ("linalg_gemm_aligned_nn_f64", 20_261_128_031_908),
    ("linalg_gemm_aligned_nt_f64", 20_261_128_031_908),
    ("linalg_gemm_aligned_tn_f64", 20_261_128_031_908),
    ("linalg_gemm_aligned_tt_f64", 20_261_128_031_908),
    ("linalg_gemm_bulk_nn_f64", 20_261_128_031_908),
    ("linalg_gemm_bulk_nt_f64", 20_261_128_031_908),
    ("linalg_gemm_bulk_tn_f64", 20_261_128_031_908),
    ("linalg_gemm_bulk_tt_f64", 20_261_128_031_908),
    ("linalg_gemm_finish_f32", 20_261_123_030_002),
    ("linalg_gemm_finish_f64", 20_261_122_180_708),
    ("linalg_gemm_large_b_f32", 20_261_125_184_314),
    ("linalg_gemm_large_f32", 20_261_128_031_908),
    ("linalg_gemm_medium_f32", 20_261_126_000_839),
    ("linalg_gemm_tensor_halves_f64", 20_261_125_184_314),
    ("scan_sum_f32", 20_261_122_180_708),
    ("scan_sum_f64", 20_261_122_180_708),
    ("scan_sum_u32", 20_261_122_180_708),
    ("scan_sum_u8", 20_261_122_180_708),
    ("select_flagged_b32", 20_261_123_030_002),
    ("select_starts_b32", 20_261_129_122_514),
    ("select_unique_b32", 20_261_123_030_002),
    ("separable_f32_5", 20_261_122_180_708),
    ("separable_f64_5", 20_261_122_180_708),
    ("separable_u16x3_5", 20_261_122_180_708),
    ("separable_u8_11", 20_261_122_180_708),
    ("separable_u8_5", 20_261_122_180_708),
    ("sobel_f32", 20_261_122_180_708),
    ("sort_count_b32", 20_261_123_030_002),
    ("sort_few_keys_b32", 20_261_123_030_002),
    ("sparse_groups_narrow", 20_261_128_185_636),
    ("sparse_order_narrow", 20_261_128_185_636),
    ("sparse_spmm_f64", 20_261_129_180_208),
    ("stencil_march_f64", 20_261_122_083_459),
    ("tensor_finish_bf16", 20_261_127_022_358),
    ("tensor_finish_i8", 20_261_127_022_358),
    ("top_k_digits_last_b64", 20_261_123_092_611),
    ("transpose_b64", 20_261_121_075_317),
    ("transpose_skew_b8", 20_261_122_115_010),
    ("transpose_square_b128", 20_261_121_122_650),
    ("transpose_square_b64", 20_261_121_122_650),
];

/// A date and time as a number that grows with it.
pub fn moment(date: &str) -> u64 {
    date.bytes().filter(u8::is_ascii_digit).fold(0, |number, digit| 10 * number + u64::from(digit - b'0'))
}

/// Whether a result of then is of kernels that have changed since.
pub fn is_outdated<'a>(mut kernels: impl Iterator<Item = &'a str>, then: u64) -> bool {
    kernels.any(|kernel| CHANGED.iter().any(|&(changed, last)| changed == kernel && then <= last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_before_a_change_do_not_count() {
        let [before, after] = ["2026-11-25T18:43:14Z", "2026-11-25T18:43:15Z"].map(moment);
        assert_eq!((before, after), (20_261_125_184_314, 20_261_125_184_315));
        let kernels = ["fill", "linalg_gemm_large_b_f32"];
        assert!(is_outdated(kernels.into_iter(), before) && !is_outdated(kernels.into_iter(), after));
        assert!(!is_outdated(["linalg_gemm_thin_f32"].into_iter(), 0));
    }

    #[test]
    fn each_stands_once_and_in_order() {
        assert!(CHANGED.is_sorted_by(|one, other| one.0 < other.0));
    }
}
