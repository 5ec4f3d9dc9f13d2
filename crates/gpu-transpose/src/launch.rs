//! The launch: the crate's only unsafe code.

use gpu_core::{Stream, View, ViewMut};
use gpu_kernels::transpose::transpose_b32;
use gpu_std::memory::{Global, GlobalMut};

use crate::error::Error;
use crate::matrix::Matrix;
use crate::plan::Plan;

/// Enqueues the transposition. Everything has been checked: same device, both buffers long enough.
pub(crate) fn transpose(
    stream: &Stream,
    input: View<'_, f32>,
    matrix: Matrix,
    plan: Plan,
    mut output: ViewMut<'_, f32>,
    output_ld: usize,
) -> Result<(), Error> {
    // The kernel moves words of 4 bytes, whatever they mean.
    // SAFETY: f32 and u32 have the same size and alignment, and any bits are a value of either.
    let (source, target) = unsafe {
        (
            Global::<u32>::from_raw(input.as_global().address()),
            GlobalMut::<u32>::from_raw(output.as_global_mut().address()),
        )
    };
    // SAFETY: the kernel reads the elements of a `matrix` and writes those of its transposed form, which both views
    // hold. They do not overlap, as the output is exclusive, and are freed only after the work enqueued before.
    unsafe {
        transpose_b32::launch(
            stream,
            plan.launch(),
            source,
            target,
            matrix.rows() as u64,
            matrix.columns() as u64,
            matrix.leading_dimension() as u64,
            output_ld as u64,
            plan.tiles_down,
        )
    }?;
    Ok(())
}
