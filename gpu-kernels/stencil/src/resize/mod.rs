//! Resizing: every output samples the input at one place, from the nearest pixel or from the four around it.
//!
//! Pixels are areas, and a place is that of their centre: along either axis output `o` of `n` samples the `w` pixels
//! of the input at `(o + 1/2) · w / n - 1/2` (OpenCV's `INTER_LINEAR`, NPP, SciPy's `zoom` with `grid_mode`). The
//! places are rational numbers, and [`Axis`] computes them as such: whole part and remainder are exact for all
//! extents, and a weight is that remainder over `2n`, rounded to the type that is computed in. So halving, doubling
//! and any other ratio meet exactly the places they should, however wide the image.
//!
//! The nearest pixel never lies outside, and of the four around a place at most the outermost do, by one:
//! [`neighbour`] says what stands for it.
//!
//! The bilinear value of `a b` above `c d` is `lerp(lerp(a, b, x), lerp(c, d, x), y)`, where `lerp(a, b, t)` is
//! `fma(t, b - a, a)`: what is equal stays equal. Integers are widened to `f32`, and rounded once, at the end, to the
//! nearest, ties to even; the result never leaves the range of its four pixels, so nothing has to be saturated.

mod bilinear;
mod half;
mod kernels;
mod nearest;
mod pixel;

pub use bilinear::*;
pub use half::*;
pub use kernels::*;
pub use nearest::*;
pub use pixel::Pixel;

use gpu_std::device;
use gpu_std::parameter::Parameter;
use gpu_std::thread::{block_idx_x, thread_idx_x};

/// Threads of a block.
pub const THREADS: u32 = 256;

/// What is outside is the outermost pixel: a mode of [`neighbour`]. Mirrored at its edge, that is the same.
pub const CLAMP: u32 = 0;
/// The image repeats.
pub const WRAP: u32 = 1;
/// A value of the caller's is outside.
pub const BORDER: u32 = 2;

/// Which of `length` pixels stands for pixel `index`, at most one outside; negative where it is the caller's value.
///
/// Not a `#[device]` function: the CPU reference calls it too.
#[inline(always)]
pub fn neighbour(index: i32, length: u32, mode: u32) -> i32 {
    let last = length as i32 - 1;
    let (before, after) = if mode == WRAP { (last, 0) } else { (0, last) };
    // Mutants: pixel 0 is inside.
    let outside = if index < 0 { before } else { after };
    if index >= 0 && index <= last {
        index
    } else if mode == BORDER {
        -1
    } else {
        outside
    }
}

/// One axis of a resize. Extents are at most `i32::MAX`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Parameter)]
#[repr(C)]
pub struct Axis {
    /// `1 / (2 · output)`.
    pub reciprocal: f64,
    /// Pixels of the input.
    pub input: u32,
    /// Pixels of the output.
    pub output: u32,
}

/// A place between two pixels of the input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The pixel to the left, or above; -1 where that is outside.
    pub index: i32,
    /// How far beyond it, out of `2 · output`.
    pub remainder: u32,
}

/// How far apart the places of two neighbouring outputs are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// Whole pixels.
    pixels: i32,
    /// And so much more, out of `2 · output`.
    remainder: u32,
    /// What is missing to one more.
    room: u32,
}

impl Place {
    /// The place of the next output: without the division that [`Axis::place`] takes.
    #[inline(always)]
    pub fn next(self, step: Step) -> Self {
        let carries = self.remainder >= step.room;
        let remainder = if carries { self.remainder - step.room } else { self.remainder + step.remainder };
        Self { index: self.index + step.pixels + carries as i32, remainder }
    }
}

impl Axis {
    /// The axis that makes `output` pixels of `input`, neither zero.
    pub fn new(input: u32, output: u32) -> Self {
        Self { reciprocal: 1.0 / (2.0 * output as f64), input, output }
    }

    /// Quotient and remainder of `numerator`, less than 2^63, by `2 · output`.
    ///
    /// The quotient is less than 2^32, so the product with the reciprocal errs by less than 2^-19, and what it is cut
    /// off to by one at most. A division of 64 bits would be several times as long, and check for the zero that
    /// cannot be.
    #[inline(always)]
    fn divide(self, numerator: u64) -> (u32, u32) {
        let by = 2 * self.output as i64;
        let estimate = (numerator as f64 * self.reciprocal) as u32;
        let remainder = numerator as i64 - estimate as i64 * by;
        if remainder < 0 {
            (estimate - 1, (remainder + by) as u32)
        } else if remainder >= by {
            (estimate + 1, (remainder - by) as u32)
        } else {
            (estimate, remainder as u32)
        }
    }

    // `2 · output` times the centre of `output`, in pixels of the input.
    #[inline(always)]
    fn centre(self, output: u32) -> u64 {
        (2 * output as u64 + 1) * self.input as u64
    }

    /// Where output `output` samples: `(output + 1/2) · input / outputs - 1/2`.
    ///
    /// Like all of this type not a `#[device]` function: the CPU reference calls it too.
    #[inline(always)]
    pub fn place(self, output: u32) -> Place {
        // One more than it should be, so that nothing is negative.
        let (above, remainder) = self.divide(self.centre(output) + self.output as u64);
        Place { index: above as i32 - 1, remainder }
    }

    /// From the place of an output to that of the next, for [`Place::next`].
    #[inline(always)]
    pub fn step(self) -> Step {
        let pixels = self.input.checked_div(self.output).unwrap_or(0);
        let remainder = 2 * (self.input - pixels * self.output);
        Step { pixels: pixels as i32, remainder, room: 2 * self.output - remainder }
    }

    /// The pixel that output `output`'s centre is in: the right or lower one where it is between two.
    #[inline(always)]
    pub fn nearest(self, output: u32) -> u32 {
        self.divide(self.centre(output)).0
    }
}

/// What is resized, and by which threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Parameter)]
#[repr(C)]
pub struct Shape {
    /// The columns.
    pub x: Axis,
    /// The rows.
    pub y: Axis,
    /// Elements from one row of the input to the next.
    pub input_pitch: u64,
    /// The same of the output.
    pub output_pitch: u64,
    /// Elements from one image of the input to the next.
    pub input_stride: u64,
    /// The same of the output.
    pub output_stride: u64,
    /// Elements of a pixel.
    pub channels: u32,
    /// What is outside the input: a mode of [`neighbour`].
    pub mode: u32,
    /// Threads that share a row: a power of two, [`THREADS`] at most.
    pub width: u32,
    /// Blocks that share a row.
    pub across: u32,
    /// Blocks that share an image, for each of those.
    pub down: u32,
}

/// What a thread works on.
#[derive(Clone, Copy)]
struct Part {
    /// Which image.
    image: u64,
    /// Number of the block among those that share a row.
    across: u32,
    /// Number of the thread among those of the block that share a row.
    lane: u32,
    /// Number of the thread among those that share a column.
    row: u32,
}

impl Part {
    #[device]
    #[inline(always)]
    fn of_this_thread(shape: Shape) -> Self {
        // None is zero; spelt out, as the checks would stay in the PTX.
        let quotient = |number: u32, by: u32| number.checked_div(by).unwrap_or(0);
        let rest = quotient(block_idx_x(), shape.across);
        let image = quotient(rest, shape.down);
        let group = quotient(thread_idx_x(), shape.width);
        Self {
            image: image as u64,
            across: block_idx_x() - rest * shape.across,
            lane: thread_idx_x() - group * shape.width,
            row: (rest - image * shape.down) * quotient(THREADS, shape.width) + group,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_those_of_the_formula() {
        let many = (0..200).map(|k| (1 + k * 7919 % 1009, 1 + k * 104_729 % 911));
        let limit = i32::MAX as u32 - 4096;
        let wide = [
            (limit, limit),
            (limit, limit - 1),
            (limit - 1, limit),
            (1, limit),
            (limit, 1),
            (limit, 3),
            (limit, 1 << 24),
        ];
        for (input, outputs) in many.chain(wide) {
            let axis = Axis::new(input, outputs);
            let some = (0..outputs)
                .take(1000)
                .chain((0..1000).map(|k| (k * 2_654_435_761u64 % outputs as u64) as u32));
            for output in some.chain(outputs.saturating_sub(1000)..outputs) {
                let Place { index, remainder } = axis.place(output);
                if output + 1 < outputs {
                    assert_eq!(
                        axis.place(output).next(axis.step()),
                        axis.place(output + 1),
                        "{input} to {outputs}"
                    );
                }
                // (o + 1/2) · w / n - 1/2, times 2n.
                let exact = (2 * output as i128 + 1) * input as i128 - outputs as i128;
                let by = 2 * outputs as i128;
                assert!((remainder as i128) < by);
                assert_eq!(
                    index as i128 * by + remainder as i128,
                    exact,
                    "{output} of {outputs} from {input}"
                );
                assert_eq!(axis.nearest(output) as i128, (exact + outputs as i128).div_euclid(by));
                assert!(axis.nearest(output) < input && index >= -1 && index < input as i32);
            }
        }
    }

    #[test]
    fn halving_and_doubling_have_exact_weights() {
        for outputs in [1, 3, 100, (1 << 24) + 1, (1 << 30) - 4096] {
            let half = Axis::new(2 * outputs, outputs);
            let place = half.place(outputs - 1);
            assert_eq!(place, Place { index: 2 * outputs as i32 - 2, remainder: outputs });
            assert_eq!((f32::weight(place.remainder, half), f64::weight(place.remainder, half)), (0.5, 0.5));
        }
        let double = Axis::new(33_554_435, 67_108_870);
        for (output, index, weight) in [(0, -1, 0.75), (1, 0, 0.25), (67_108_869, 33_554_434, 0.25)] {
            let place = double.place(output);
            assert_eq!((place.index, f32::weight(place.remainder, double)), (index, weight));
            assert_eq!(f64::weight(place.remainder, double), f64::from(weight));
        }
    }

    #[test]
    fn neighbours_are_those_of_the_borders() {
        use crate::border::{CONSTANT, NEAREST, REFLECT, WRAP as BORDER_WRAP, source};
        for length in 1..5 {
            for index in -1..=length as i32 {
                let of = |mode| source(index, length as i32, mode);
                assert_eq!(neighbour(index, length, CLAMP), of(NEAREST));
                assert_eq!(neighbour(index, length, CLAMP), of(REFLECT), "mirrored at the edge");
                assert_eq!(neighbour(index, length, WRAP), of(BORDER_WRAP));
                assert_eq!(neighbour(index, length, BORDER), of(CONSTANT));
            }
        }
    }
}
