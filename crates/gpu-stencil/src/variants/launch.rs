//! The variants' launches: their only unsafe code.

use gpu_core::{Stream, View, ViewMut};
use gpu_std::constant::Constant;
use gpu_stencil_kernels::variants as kernels;

use super::{BlurVariant, Mask, sobel_launch_config};

/// Enqueues a correlation, the views being long enough for `[rows, columns]`, and they and the mask on the stream's
/// device.
pub(super) fn blur(
    variant: BlurVariant,
    stream: &Stream,
    input: View<'_, f32>,
    mask: &Mask,
    output: ViewMut<'_, f32>,
    [rows, columns]: [u32; 2],
) -> gpu_core::Result<()> {
    let (weights, radius) = (mask.buffer.view(), mask.radius);
    let config = variant.launch_config(rows, columns, radius);
    // SAFETY: the kernels read the input's pixels and the weights of this radius, which a table of the largest mask has
    // too, and write the output's pixels, which views and buffer hold; the configuration has the tile of this radius.
    // The output is exclusive, and the memory is freed only after the work enqueued before.
    unsafe {
        match variant {
            BlurVariant::Global => stream.launch::<kernels::stencil_blur_global>(
                config,
                (input, output, weights, rows, columns, radius),
            ),
            BlurVariant::Shared => stream.launch::<kernels::stencil_blur_shared>(
                config,
                (input, output, weights, rows, columns, radius),
            ),
            BlurVariant::ReadOnly => stream.launch::<kernels::stencil_blur_read_only>(
                config,
                (input, output, weights, rows, columns, radius),
            ),
            BlurVariant::Constant => {
                let weights = Constant::new(mask.weights);
                stream.launch::<kernels::stencil_blur_constant>(
                    config,
                    (input, output, weights, rows, columns, radius),
                )
            }
        }
    }
}

/// Enqueues Sobel's three launches, the views being long enough for `[rows, columns]` and on the stream's device.
pub(super) fn sobel(
    stream: &Stream,
    input: View<'_, f32>,
    mut gx: ViewMut<'_, f32>,
    mut gy: ViewMut<'_, f32>,
    magnitude: ViewMut<'_, f32>,
    [rows, columns]: [u32; 2],
) -> gpu_core::Result<()> {
    let config = sobel_launch_config(rows, columns);
    let filters = Constant::new(kernels::SOBEL_FILTERS);
    for (output, horizontal) in [(gx.reborrow(), 1), (gy.reborrow(), 0)] {
        let arguments = (input, output, filters, horizontal, rows, columns);
        // SAFETY: the kernel reads and writes the images' pixels, which the views hold; the outputs are exclusive,
        // and the memory is freed only after the work enqueued before.
        unsafe { stream.launch::<kernels::stencil_sobel_filter>(config, arguments)? };
    }
    let arguments = (View::from(gx), View::from(gy), magnitude, rows, columns);
    // SAFETY: as above; both derivatives are written before this launch begins.
    unsafe { stream.launch::<kernels::stencil_sobel_magnitude>(config, arguments) }
}
