//! The variants' launches: their only unsafe code.

use gpu_core::{Stream, View, ViewMut};
use gpu_std::constant::Constant;
use gpu_stencil_kernels::variants as kernels;

use super::{BlurVariant, Mask, sobel_launch_config};
use crate::error::Error;

/// Enqueues a correlation, the views being long enough for `[rows, columns]`, and they and the mask on the stream's
/// device.
pub(super) fn blur(
    variant: BlurVariant,
    stream: &Stream,
    input: View<'_, f32>,
    mask: &Mask,
    mut output: ViewMut<'_, f32>,
    [rows, columns]: [u32; 2],
) -> Result<(), Error> {
    let (input, output, radius) = (input.as_global(), output.as_global_mut(), mask.radius);
    let weights = mask.buffer.view().as_global();
    let config = variant.launch_config(rows, columns, radius);
    match variant {
        // SAFETY: the kernel reads the input's pixels and the weights of this radius and writes the output's pixels,
        // which views and buffer hold; the output is exclusive, and the memory is freed only after the work enqueued
        // before.
        BlurVariant::Global => unsafe {
            kernels::stencil_blur_global::launch(
                stream, config, input, output, weights, rows, columns, radius,
            )
        },
        // SAFETY: as above; the configuration has the tile of this radius.
        BlurVariant::Shared => unsafe {
            kernels::stencil_blur_shared::launch(
                stream, config, input, output, weights, rows, columns, radius,
            )
        },
        // SAFETY: as above.
        BlurVariant::ReadOnly => unsafe {
            kernels::stencil_blur_read_only::launch(
                stream, config, input, output, weights, rows, columns, radius,
            )
        },
        BlurVariant::Constant => {
            let weights = Constant::new(mask.weights);
            // SAFETY: as above; a table of the largest mask has all weights of a smaller one.
            unsafe {
                kernels::stencil_blur_constant::launch(
                    stream, config, input, output, weights, rows, columns, radius,
                )
            }
        }
    }?;
    Ok(())
}

/// Enqueues Sobel's three launches, the views being long enough for `[rows, columns]` and on the stream's device.
pub(super) fn sobel(
    stream: &Stream,
    input: View<'_, f32>,
    mut gx: ViewMut<'_, f32>,
    mut gy: ViewMut<'_, f32>,
    mut magnitude: ViewMut<'_, f32>,
    [rows, columns]: [u32; 2],
) -> Result<(), Error> {
    let config = sobel_launch_config(rows, columns);
    let filters = Constant::new(kernels::SOBEL_FILTERS);
    let (input, magnitude) = (input.as_global(), magnitude.as_global_mut());
    let (gx, gy) = (gx.as_global_mut(), gy.as_global_mut());
    for (output, horizontal) in [(gx, 1), (gy, 0)] {
        // SAFETY: the kernel reads and writes the images' pixels, which the views hold; the outputs are exclusive,
        // and the memory is freed only after the work enqueued before.
        unsafe {
            kernels::stencil_sobel_filter::launch(
                stream, config, input, output, filters, horizontal, rows, columns,
            )?;
        }
    }
    let (gx, gy) = (gx.as_global(), gy.as_global());
    // SAFETY: as above; both derivatives are written before this launch begins.
    unsafe { kernels::stencil_sobel_magnitude::launch(stream, config, gx, gy, magnitude, rows, columns)? };
    Ok(())
}
