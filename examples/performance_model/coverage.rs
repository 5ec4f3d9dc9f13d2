//! Which kernels of the workspace are predicted, and why others are not.
//!
//! predicted.txt has a line for each kernel that some row launches: the kernel, and such a row. A test holds it against
//! gpu-kernels, so that a new kernel is predicted or has a reason here; in a release it runs all of these rows.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::io::Write;
use std::path::Path;

use gpu_examples::table::Table;
use serde::Serialize;

/// Kernels that rows launch, and the first row that does.
const PREDICTED: &str = include_str!("predicted.txt");

/// Why kernels are in no row, and which, by their names without types.
const LEFT_OUT: &[(&str, &str)] = &[
    (
        "example `calibrate` measures with it what the model is fed with",
        "calibrate_add_atomic calibrate_add_global calibrate_add_register calibrate_barrier \
         calibrate_branches calibrate_chase calibrate_copy calibrate_copy_wide calibrate_dependent \
         calibrate_divergent calibrate_empty_0 calibrate_empty_1 calibrate_empty_3 \
         calibrate_empty_6 calibrate_gather calibrate_issue calibrate_merged calibrate_pass \
         calibrate_read calibrate_read_once calibrate_scatter calibrate_shared calibrate_write",
    ),
    (
        "a reduction as `sum` and `max` are, with an operator of which no program has a case",
        "argmin count minmax norm_l1 or product sum_of_squares wide_sum",
    ),
    (
        "sums of columns with an operator of which no program has a case",
        "columns_argmax columns_max columns_minmax columns_norm_l2 columns_or columns_product \
         columns_sum_of_squares columns_weighted_sum",
    ),
    (
        "sums of segments with an operator of which no program has a case",
        "segments_argmax segments_max segments_minmax segments_norm_l2 segments_or segments_product \
         segments_sum_of_squares segments_weighted_sum",
    ),
    (
        "a scan with an operator of which no program has a case",
        "scan_and scan_columns_and scan_columns_min scan_columns_product scan_columns_wide_sum \
         scan_columns_xor scan_min scan_product scan_segments_and scan_segments_min \
         scan_segments_product scan_segments_wide_sum scan_segments_xor scan_wide_sum scan_xor",
    ),
    (
        "a filter of a width, or with borders, of which no program has a case",
        "full_5 full_7 full_9 general_full general_separable separable_3 separable_7 separable_9 \
         sobel_general scipy_add scipy_correlate scipy_correlate1d scipy_uniform",
    ),
    (
        "a stencil of which no program has a case",
        "stencil_box_4 stencil_resize_nearest stencil_signal_constant stencil_signal_global \
         stencil_signal_shared stencil_sobel_filter stencil_sobel_magnitude stencil_step \
         stencil_texture_resize stencil_texture_sample_1d stencil_texture_sample_2d \
         stencil_texture_sample_3d",
    ),
    (
        "no shape of the rows is factored with it",
        "factor_copy factor_narrow factor_product factor_solve_step factor_step factor_strips \
         factor_subtract factor_transpose factor_widen",
    ),
    ("triangular products, and copies, of which no program has a shape", "level3_copy level3_spread"),
    (
        "the plan takes it for no row; `--tiles` predicts what `gemm` chooses between",
        "linalg_gemm linalg_gemm_aligned_tn linalg_gemm_aligned_tt linalg_gemm_bulk_tn \
         linalg_gemm_bulk_tt linalg_gemm_flat linalg_gemm_large_ab linalg_gemm_low linalg_gemm_short \
         linalg_gemm_tensor linalg_gemm_tensor_flat",
    ),
    (
        "no row launches it",
        "linalg_matrix_add linalg_swap linalg_vector_add histogram_edges sort_gather sort_keys \
         top_k_digits_last",
    ),
    (
        "no array of the rows has such an order of axes or such sides",
        "transpose_columns transpose_rows transpose_square_wide",
    ),
    ("the plan takes it for no row", "tensor_pairs"),
];

/// What becomes of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// It is launched by a row of this name.
    Predicted(&'static str),
    /// It is the source of this kernel for another type, which is predicted.
    OtherType(&'static str),
    /// It is not predicted, for this reason.
    LeftOut(&'static str),
}

/// A line of JSON.
#[derive(Serialize)]
struct Line<'a> {
    kernel: &'a str,
    #[serde(flatten)]
    fate: Fate,
}

/// The kernels of the workspace that have PTX, by their files' names: `sum_f32.sm_75.ptx`.
///
/// # Errors
/// Where a folder cannot be read.
pub fn kernels() -> std::io::Result<BTreeSet<String>> {
    let families = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../gpu-kernels"));
    let mut all = BTreeSet::new();
    for family in families.read_dir()? {
        for file in family?.path().join("ptx").read_dir()? {
            let name = file?.file_name().to_string_lossy().into_owned();
            all.extend(name.split_once(".sm_").map(|(kernel, _)| kernel.to_owned()));
        }
    }
    Ok(all)
}

/// Prints what becomes of each kernel.
///
/// # Errors
/// Where a folder cannot be read, or nothing is said of a kernel.
pub fn print(to: &mut dyn Write, json: bool) -> Result<(), Box<dyn Error>> {
    let kernels = kernels()?;
    let fates = fates(&kernels)?;
    let mut table = Table::new(["kernel", "predicted by", ""]);
    for (kernel, fate) in fates {
        if json {
            writeln!(to, "{}", serde_json::to_string(&Line { kernel, fate })?)?;
        }
        let [by, why] = match fate {
            Fate::Predicted(row) => [row.to_owned(), String::new()],
            Fate::OtherType(other) => ["–".to_owned(), format!("the source of {other}, of another type")],
            Fate::LeftOut(reason) => ["–".to_owned(), reason.to_owned()],
        };
        table.row([kernel.to_owned(), by, why]);
    }
    if !json {
        writeln!(to, "{table}")?;
    }
    Ok(())
}

/// A kernel's name without the types in it: of `separable_u8x3_5` `separable_5`.
fn without_types(kernel: &str) -> String {
    let is_type = |word: &str| {
        let digits = word.trim_start_matches("bf").trim_start_matches("tf");
        let digits = digits.strip_prefix(['f', 'i', 'u', 'b']).unwrap_or(digits);
        digits.len() < word.len() && digits.split('x').all(|part| part.parse::<u32>().is_ok())
    };
    kernel.split('_').filter(|word| !is_type(word)).collect::<Vec<_>>().join("_")
}

/// Kernels and the rows that launch them.
pub fn predicted() -> BTreeMap<&'static str, &'static str> {
    PREDICTED.lines().filter_map(|line| line.split_once(' ')).collect()
}

/// What becomes of each of these kernels.
///
/// # Errors
/// The first that is neither predicted, nor of another type than one that is, nor left out for a reason; reasons of
/// what is predicted or does not exist.
pub fn fates(kernels: &BTreeSet<String>) -> Result<BTreeMap<&str, Fate>, String> {
    let predicted = predicted();
    if let Some(gone) = predicted.keys().find(|&&kernel| !kernels.contains(kernel)) {
        return Err(format!("{gone} is predicted, and there is no such kernel"));
    }
    let types: BTreeMap<String, &str> =
        predicted.keys().map(|&kernel| (without_types(kernel), kernel)).collect();
    let each =
        |&(reason, names): &(&'static str, &'static str)| names.split(' ').map(move |name| (name, reason));
    let left_out: BTreeMap<&str, &str> = LEFT_OUT.iter().flat_map(each).collect();
    let all: BTreeSet<String> = kernels.iter().map(|kernel| without_types(kernel)).collect();
    if let Some(base) = left_out.keys().find(|&&base| types.contains_key(base) || !all.contains(base)) {
        return Err(format!("{base} is left out, and it is predicted or there is no such kernel"));
    }
    let fate = |kernel: &'_ String| {
        let base = without_types(kernel);
        let found = predicted.get(kernel.as_str()).map(|row| Fate::Predicted(row));
        let found = found.or_else(|| types.get(&base).map(|other| Fate::OtherType(other)));
        found.or_else(|| left_out.get(base.as_str()).map(|reason| Fate::LeftOut(reason)))
    };
    kernels
        .iter()
        .map(|kernel| {
            let fate = fate(kernel);
            let fate =
                fate.ok_or_else(|| format!("{kernel} is neither predicted nor left out for a reason"))?;
            Ok((kernel.as_str(), fate))
        })
        .collect()
}
