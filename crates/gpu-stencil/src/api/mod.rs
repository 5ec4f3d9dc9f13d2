//! Validate, plan, launch.

mod correlate;
mod named;
mod sobel;

pub use correlate::{
    convolve, convolve_into, convolve_separable, convolve_separable_into, correlate, correlate_into,
    correlate_separable, correlate_separable_into,
};
pub use named::{
    box_mean, box_mean_into, gaussian, gaussian_into, laplace, laplace_into, sharpen, sharpen_into,
};
pub use sobel::{Gradients, sobel, sobel_into};

use crate::border::Border;
use crate::error::Error;
use crate::plan::Window;
use crate::weights::before;
use gpu_core::ImageLayout;

/// Where the windows of a filter of these extents lie.
fn window<T>(
    (width, height): (usize, usize),
    origin: (isize, isize),
    border: Border<T>,
    convolve: bool,
) -> Window {
    let taps = (width as u32, height as u32);
    if matches!(border, Border::Valid) {
        // An output's window starts with it: there is nothing to move.
        return Window { taps, left: 0, top: 0 };
    }
    Window { taps, left: before(width, origin.0, convolve), top: before(height, origin.1, convolve) }
}

/// The extents of the result, without gaps, of a filter of images like `input`.
fn result_layout<T>(
    input: ImageLayout,
    (width, height): (usize, usize),
    border: Border<T>,
) -> Result<ImageLayout, Error> {
    let dense = if matches!(border, Border::Valid) {
        if input.width() < width || input.height() < height {
            let image = (input.width(), input.height());
            return Err(Error::FilterOutsideImage { filter: (width, height), image });
        }
        ImageLayout::new(input.width() + 1 - width, input.height() + 1 - height, input.channels())?
    } else {
        ImageLayout::new(input.width(), input.height(), input.channels())?
    };
    Ok(dense.with_batch(input.count(), dense.span())?)
}

/// Refuses an output of other extents than the result's.
fn expect_extents(result: ImageLayout, output: ImageLayout) -> Result<(), Error> {
    let extents = |layout: ImageLayout| [layout.width(), layout.height(), layout.channels(), layout.count()];
    let (expected, actual) = (extents(result), extents(output));
    if expected == actual { Ok(()) } else { Err(Error::Extents { expected, actual }) }
}
