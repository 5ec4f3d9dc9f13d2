//! The launches: the crate's only unsafe code.
//!
//! Kernels move words of as many bytes as an element has, whatever they mean.

use gpu_core::{BatchLayout, Element, Layout, Result, Stream, View, ViewMut};
use gpu_transpose_kernels as kernels;

use crate::in_place::InPlace;
use crate::plan::{Elements, Kernel, Tiles};

/// Launches the kernel of the name.
macro_rules! launch {
    ($stream:ident, $kernel:ident, $config:expr, $arguments:expr) => {
        // SAFETY: the plan covers exactly the elements of the input's and of the output's axes, which both views hold
        // (checked by the caller); accesses of 16 bytes are planned only where addresses and strides are multiples of
        // it. What is written is exclusive, and everything is freed only after the work enqueued before.
        unsafe { $stream.launch::<kernels::$kernel>($config, $arguments) }
    };
}

/// Enqueues a tiled kernel.
pub(crate) fn tiles<T: Element>(
    stream: &Stream,
    plan: &Tiles,
    input: View<'_, T>,
    output: ViewMut<'_, T>,
) -> Result<()> {
    let Tiles { launch, grid, rows, columns, input_ld, output_ld, .. } = *plan;
    // The parameter's type, words or bytes, is that of the kernel.
    macro_rules! tiled {
        ($kernel:ident) => {
            launch!(
                stream,
                $kernel,
                launch,
                (input.untyped(), output.untyped(), grid, rows, columns, input_ld, output_ld)
            )
        };
    }
    match (plan.kernel, plan.bytes) {
        (Kernel::Aligned, 1) => tiled!(transpose_b8),
        (Kernel::Aligned, 2) => tiled!(transpose_b16),
        (Kernel::Aligned, 4) => tiled!(transpose_b32),
        (Kernel::Aligned, 8) => tiled!(transpose_b64),
        (Kernel::Aligned, _) => tiled!(transpose_b128),
        (Kernel::Skewed, 1) => tiled!(transpose_skew_b8),
        (Kernel::Skewed, 2) => tiled!(transpose_skew_b16),
        (Kernel::Skewed, 4) => tiled!(transpose_skew_b32),
        (Kernel::Skewed, _) => tiled!(transpose_skew_b64),
    }
}

/// Enqueues the kernel that moves single elements.
pub(crate) fn elements<T: Element>(
    stream: &Stream,
    plan: &Elements,
    input: View<'_, T>,
    output: ViewMut<'_, T>,
) -> Result<()> {
    let Elements { launch, grid, walk, last, .. } = *plan;
    macro_rules! moved {
        ($kernel:ident) => {
            launch!(stream, $kernel, launch, (input.untyped(), output.untyped(), grid, walk, last))
        };
    }
    match plan.bytes {
        1 => moved!(transpose_elements_b8),
        2 => moved!(transpose_elements_b16),
        4 => moved!(transpose_elements_b32),
        8 => moved!(transpose_elements_b64),
        _ => moved!(transpose_elements_b128),
    }
}

/// Enqueues the transposition of a batch in place.
pub(crate) fn in_place<T: Element>(
    stream: &Stream,
    plan: InPlace,
    BatchLayout { matrix, count, stride }: BatchLayout,
    mut data: ViewMut<'_, T>,
    mut scratch: ViewMut<'_, T>,
) -> Result<()> {
    match plan {
        InPlace::Nothing => Ok(()),
        InPlace::Square { launch, tiles } => {
            let (side, ld, stride) = (matrix.rows() as u64, matrix.leading_dimension() as u64, stride as u64);
            macro_rules! square {
                ($kernel:ident) => {
                    launch!(stream, $kernel, launch, (data.untyped(), side, ld, stride, tiles))
                };
            }
            match size_of::<T>() {
                1 => square!(transpose_square_b8),
                2 => square!(transpose_square_b16),
                4 => square!(transpose_square_b32),
                8 => square!(transpose_square_b64),
                _ => square!(transpose_square_b128),
            }
        }
        InPlace::SquareWide { launch, tiles, items } => {
            // The plan has checked that they are vectors, and how many.
            let (side, ld) = (matrix.rows() as u32, (matrix.leading_dimension() / 16) as u32);
            let stride = (stride / 16) as u64;
            launch!(
                stream,
                transpose_square_wide_b8,
                launch,
                (data.untyped(), side, ld, stride, tiles, items)
            )
        }
        InPlace::Rectangle { .. } => {
            for number in 0..count {
                let one = data.reborrow().into_slice(number * stride..);
                rectangle(stream, plan, matrix, one, scratch.reborrow())?;
            }
            Ok(())
        }
    }
}

fn rectangle<T: Element>(
    stream: &Stream,
    plan: InPlace,
    matrix: Layout,
    mut data: ViewMut<'_, T>,
    mut scratch: ViewMut<'_, T>,
) -> Result<()> {
    let InPlace::Rectangle { blocks, a, b, .. } = plan else { return Ok(()) };
    let launch = gpu_std::launch::LaunchConfig::linear(blocks, kernels::THREADS);
    let (rows, columns) = (matrix.lines() as u32, matrix.contiguous() as u32);
    macro_rules! passes {
        ($rows:ident, $columns:ident) => {{
            // With nothing in common the rotation moves nothing.
            if a != rows {
                launch!(
                    stream,
                    $columns,
                    launch,
                    (data.reborrow().untyped(), scratch.reborrow().untyped(), rows, columns, a, b, 1)
                )?;
            }
            launch!(
                stream,
                $rows,
                launch,
                (data.reborrow().untyped(), scratch.reborrow().untyped(), rows, columns, b)
            )?;
            launch!(
                stream,
                $columns,
                launch,
                (data.reborrow().untyped(), scratch.reborrow().untyped(), rows, columns, a, b, 0)
            )?;
        }};
    }
    match size_of::<T>() {
        1 => passes!(transpose_rows_b8, transpose_columns_b8),
        2 => passes!(transpose_rows_b16, transpose_columns_b16),
        4 => passes!(transpose_rows_b32, transpose_columns_b32),
        8 => passes!(transpose_rows_b64, transpose_columns_b64),
        _ => passes!(transpose_rows_b128, transpose_columns_b128),
    }
    Ok(())
}
