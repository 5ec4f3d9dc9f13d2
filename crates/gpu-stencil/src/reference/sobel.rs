//! Sobel's gradients.

use gpu_core::vectors;
use gpu_kernels::stencil::filter::arctangent::{Coefficients, atan2};
use gpu_kernels::stencil::filter::sobel::{along_x, difference, magnitude, smooth};
use rayon::prelude::*;

use super::filter::{Rows, band_height};
use crate::border::Border;
use crate::image::ImageLayout;
use crate::launch::Pixel;
use crate::plan::Window;

/// An output that may be wanted.
pub type Wanted<'a, T> = Option<(&'a mut [T], ImageLayout)>;

/// What is computed of a pixel.
#[derive(Clone, Copy)]
enum Of {
    Gx,
    Gy,
    Magnitude,
    Direction,
}

/// The gradients of `input` that are wanted: along x, along y, their magnitude, their direction.
///
/// # Panics
/// Where extents do not fit together, or a slice is shorter than its images.
pub fn sobel<T: Pixel>(
    window: Window,
    border: Border<T>,
    input: (&[T], ImageLayout),
    [gx, gy, magnitude]: [Wanted<'_, T::Gradient>; 3],
    direction: Wanted<'_, T::Sum>,
) {
    for (output, of) in [(gx, Of::Gx), (gy, Of::Gy), (magnitude, Of::Magnitude)] {
        if let Some(output) = output {
            one::<T, T::Gradient>(window, border, input, output, of);
        }
    }
    if let Some(output) = direction {
        one::<T, T::Sum>(window, border, input, output, Of::Direction);
    }
}

/// One of the outputs.
fn one<T: Pixel, G: gpu_core::Element + gpu_kernels::stencil::filter::Pixel<Sum = T::Sum>>(
    window: Window,
    border: Border<T>,
    (input, input_layout): (&[T], ImageLayout),
    (output, layout): (&mut [G], ImageLayout),
    of: Of,
) {
    let (height, channels) = (band_height(layout.height()), layout.channels());
    for number in 0..layout.count() {
        let image = (&input[input_layout.index(number, 0, 0, 0)..], input_layout);
        let rows = super::filter::image_rows(output, layout, number);
        rows.par_chunks_mut(height * layout.pitch()).enumerate().for_each(|(band, output)| {
            let as_they_are = None::<fn(&[T::Sum], &mut [T::Sum])>;
            let mut rows = Rows::new(window, border, image, layout.row(), false);
            for (y, output) in output.chunks_mut(layout.pitch()).enumerate() {
                rows.advance(band * height + y, &as_they_are);
                let lines = [0, 1, 2].map(|number| rows.row(number));
                vectors::run(
                    #[inline(always)]
                    || {
                        for (at, output) in output[..layout.row()].iter_mut().enumerate() {
                            let at = |row: usize, tap: usize| lines[row][at + tap * channels];
                            *output = G::narrow(value(at, of));
                        }
                    },
                );
            }
        });
    }
}

/// What is wanted of the window that `at` reads, by row and column.
#[inline(always)]
fn value<S: Coefficients>(at: impl Fn(usize, usize) -> S, of: Of) -> S {
    let gx = || along_x([0, 1, 2].map(|row| difference(at(row, 0), at(row, 2))));
    let smoothed = |row| smooth(at(row, 0), at(row, 1), at(row, 2));
    let gy = || difference(smoothed(0), smoothed(2));
    match of {
        Of::Gx => gx(),
        Of::Gy => gy(),
        Of::Magnitude => magnitude(gx(), gy()),
        Of::Direction => atan2(gy(), gx()),
    }
}
