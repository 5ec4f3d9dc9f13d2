//! The variants' launches: their only unsafe code.

use gpu_core::{Layout, Result, Stream, View, ViewMut};
use gpu_transpose_kernels::variants as kernels;

use super::Variant;

/// Enqueues the transposition. Everything has been checked: same device, both buffers long enough.
pub(super) fn transpose(
    variant: Variant,
    stream: &Stream,
    input: View<'_, f32>,
    matrix: Layout,
    mut output: ViewMut<'_, f32>,
    output_ld: usize,
) -> Result<()> {
    let config = variant.launch_config(matrix);
    let (rows, columns) = (matrix.rows() as u64, matrix.columns() as u64);
    let (input_ld, output_ld) = (matrix.leading_dimension() as u64, output_ld as u64);
    macro_rules! launch {
        ($kernel:ident $(, $first:expr)?) => {{
            // The kernels move words of 4 bytes, whatever they mean.
            let output = output.reborrow().untyped();
            let arguments = (input.untyped(), output, rows, columns, input_ld, output_ld $(, $first)?);
            // SAFETY: the kernel reads the elements of a `matrix` and writes those of its transposed form, which both
            // views hold; threads outside do neither. The views do not overlap, as the output is exclusive, and are
            // freed only after the work enqueued before.
            unsafe { stream.launch::<kernels::$kernel>(config, arguments) }
        }};
    }
    match variant {
        Variant::NaiveScatter => launch!(transpose_naive_scatter),
        Variant::NaiveGather => launch!(transpose_naive_gather),
        Variant::Shared16 => launch!(transpose_shared_16),
        Variant::Shared32 => launch!(transpose_shared_32),
        Variant::SharedStores16 => launch!(transpose_shared_stores_16),
        Variant::SharedStores32 => launch!(transpose_shared_stores_32),
        Variant::Padded16 => launch!(transpose_padded_16),
        Variant::Padded32 => launch!(transpose_padded_32),
        Variant::Patch => launch!(transpose_patch),
        Variant::PatchSplit => launch!(transpose_patch_half, 0)
            .and_then(|()| launch!(transpose_patch_half, kernels::PATCH_LONG / 2)),
    }
}
