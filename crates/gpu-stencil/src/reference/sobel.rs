//! Sobel's gradients.

use gpu_core::cores;
use gpu_core::vectors::{self, Work};
use gpu_stencil_kernels::filter::arctangent::{Coefficients, atan2};
use gpu_stencil_kernels::filter::sobel::{along_x, difference, magnitude, smooth};

use super::filter::{Rows, band_height};
use crate::border::Border;
use crate::launch::Pixel;
use crate::plan::Window;
use gpu_core::ImageLayout;

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
fn one<T: Pixel, G: gpu_core::Element + gpu_stencil_kernels::filter::Pixel<Sum = T::Sum>>(
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
        cores::chunks(rows, height * layout.pitch(), 1, |band, output| {
            let as_they_are = None::<fn(&[T::Sum], &mut [T::Sum])>;
            let mut rows = Rows::new(window, border, image, layout.row(), false);
            for (y, output) in output.chunks_mut(layout.pitch()).enumerate() {
                rows.advance(band * height + y, &as_they_are);
                let lines = [0, 1, 2].map(|number| rows.row(number));
                vectors::run(Row { lines, channels, of, output: &mut output[..layout.row()] });
            }
        });
    }
}

/// A row of an output, and the three rows that it comes of.
struct Row<'a, S, G> {
    lines: [&'a [S]; 3],
    channels: usize,
    of: Of,
    output: &'a mut [G],
}

impl<S: Coefficients, G: gpu_stencil_kernels::filter::Pixel<Sum = S>> Work for Row<'_, S, G> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { lines, channels, of, output } = self;
        // As long as the output, so that no access needs a check.
        let len = output.len();
        let taps = lines.map(|line| [0, 1, 2].map(|tap| &line[tap * channels..][..len]));
        for (at, output) in output.iter_mut().enumerate() {
            *output = G::narrow(value(&taps, at, of));
        }
    }
}

/// The elements of the windows of a row of outputs, by row and column of the window.
type Taps<'a, S> = [[&'a [S]; 3]; 3];

// Functions, all inlined: closures that are used twice would stay functions of their own, compiled for the oldest
// machines.

#[inline(always)]
fn gx<S: Coefficients>(taps: &Taps<'_, S>, at: usize) -> S {
    along_x([
        difference(taps[0][0][at], taps[0][2][at]),
        difference(taps[1][0][at], taps[1][2][at]),
        difference(taps[2][0][at], taps[2][2][at]),
    ])
}

#[inline(always)]
fn gy<S: Coefficients>(taps: &Taps<'_, S>, at: usize) -> S {
    difference(
        smooth(taps[0][0][at], taps[0][1][at], taps[0][2][at]),
        smooth(taps[2][0][at], taps[2][1][at], taps[2][2][at]),
    )
}

/// What is wanted of the window of output `at`.
#[inline(always)]
fn value<S: Coefficients>(taps: &Taps<'_, S>, at: usize, of: Of) -> S {
    match of {
        Of::Gx => gx(taps, at),
        Of::Gy => gy(taps, at),
        Of::Magnitude => magnitude(gx(taps, at), gy(taps, at)),
        Of::Direction => atan2(gy(taps, at), gx(taps, at)),
    }
}
