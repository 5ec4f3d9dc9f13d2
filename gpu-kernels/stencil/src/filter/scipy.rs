//! scipy.ndimage's filters, operation by operation: sums in `f64` without fused operations, in the order of its C
//! code (`ni_filters.c`), every pass converted to the element's type as C does it. For comparisons; speed does not
//! matter.

use gpu_std::constant::Constant;
use gpu_std::memory::{Element, Global, GlobalMut};
use gpu_std::parameter::Parameter;
use gpu_std::thread::{block_idx_x, thread_idx_x};
use gpu_std::{device, kernel, rolled};

use super::divisor::WideDivisor;
use super::geometry::MAX_EXTENT;
use crate::border::source;

/// Threads of a block.
pub const THREADS: u32 = 64;
/// The most weights of a pass along an axis.
pub const LINE_WEIGHTS: usize = MAX_EXTENT as usize;
/// SciPy leaves out the weights of a full filter that are no larger than this.
pub const NO_WEIGHT: f64 = f64::EPSILON;

/// `correlate1d` with a symmetric filter: the two elements of a pair are added first.
pub const SYMMETRIC: u32 = 1;
/// `correlate1d` with an antisymmetric filter: they are subtracted first.
pub const ANTISYMMETRIC: u32 = 2;
/// `correlate1d` with any other filter.
pub const PLAIN: u32 = 0;

/// What is filtered. Images are dense, rows of pixels of `channels` elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Parameter)]
#[repr(C)]
pub struct Lines {
    /// Elements of all images.
    pub elements: u64,
    /// Lines of all images.
    pub count: u64,
    /// Elements from one to the next along the lines.
    pub step: WideDivisor,
    /// Elements of a line, to divide by.
    pub along: WideDivisor,
    /// Elements of a line.
    pub length: u32,
    /// The border mode.
    pub mode: u32,
    /// Weights.
    pub taps: u32,
    /// Elements before an output that its window starts at; negative where it starts behind.
    pub before: i32,
    /// [`PLAIN`], [`SYMMETRIC`] or [`ANTISYMMETRIC`].
    pub symmetry: u32,
    /// Nothing.
    pub reserved: u32,
}

/// An element as SciPy converts it.
pub trait Exact: Element {
    /// The same value.
    fn to_f64(self) -> f64;
    /// C's conversion on the machines SciPy's builds run on: towards zero, and what does not fit wraps around.
    fn from_f64(sum: f64) -> Self;
    /// The sum as NumPy has it: integers wrap around.
    fn sum(self, other: Self) -> Self;
}

macro_rules! exact {
    ($($T:ty: $from:expr, $sum:expr;)*) => { $(
        impl Exact for $T {
            #[inline(always)]
            fn to_f64(self) -> f64 {
                self as f64
            }
            #[inline(always)]
            fn from_f64(sum: f64) -> $T {
                let from: fn(f64) -> $T = $from;
                from(sum)
            }
            #[inline(always)]
            fn sum(self, other: $T) -> $T {
                let sum: fn($T, $T) -> $T = $sum;
                sum(self, other)
            }
        }
    )* };
}
exact! {
    u8: |sum| sum as i32 as u8, u8::wrapping_add;
    u16: |sum| sum as i32 as u16, u16::wrapping_add;
    i16: |sum| sum as i32 as i16, i16::wrapping_add;
    f32: |sum| sum as f32, |a, b| a + b;
    f64: |sum| sum, |a, b| a + b;
}

/// A line of an input: what `correlate1d` and `uniform_filter1d` have in their buffer, border included.
#[derive(Clone, Copy)]
pub struct Line<R> {
    /// Element number `i` of the line.
    pub read: R,
    /// Elements.
    pub length: u32,
    /// The border mode.
    pub mode: u32,
    /// What is outside.
    pub outside: f64,
}

impl<R: Fn(i32) -> f64> Line<R> {
    /// What place `index` of the line, or beyond, holds.
    #[inline(always)]
    fn at(&self, index: i32) -> f64 {
        let index = source(index, self.length as i32, self.mode);
        if index < 0 { self.outside } else { (self.read)(index) }
    }

    /// `correlate1d`: the sum for a window of `taps` elements from `first` on.
    #[inline(always)]
    pub fn correlate(&self, first: i32, taps: i32, symmetry: u32, weight: impl Fn(u32) -> f64) -> f64 {
        // What comes first is the last element, or the one in the middle; then, in order, those before it, or the
        // pairs around it.
        let start = if symmetry == PLAIN { taps - 1 } else { taps / 2 };
        let mut sum = 0.0;
        let mut turn = 0;
        while turn <= start {
            let tap = if turn == 0 { start } else { turn - 1 };
            // One loop for both elements of a pair: the place of an element is most of the code.
            let is_pair = turn > 0 && symmetry != PLAIN;
            let (mut part, mut side) = (0.0, 0);
            while side <= is_pair as u32 {
                side = rolled(side);
                let value = self.at(first + if side == 0 { tap } else { taps - 1 - tap });
                part = match (side, symmetry) {
                    (0, _) => value,
                    (_, SYMMETRIC) => part + value,
                    _ => part - value,
                };
                side += 1;
            }
            let product = part * weight(tap as u32);
            sum = if turn == 0 { product } else { sum + product };
            turn += 1;
        }
        sum
    }

    /// `uniform_filter1d`: gives `write` every output of a line, whose first one has a window from `first` on.
    #[inline(always)]
    pub fn means(&self, first: i32, taps: i32, mut write: impl FnMut(u32, f64)) {
        let mut sum = 0.0;
        // First the window fills; then each element that comes takes the place of another.
        let mut index = 1 - taps;
        while index < self.length as i32 {
            let (mut change, mut side) = (0.0, 0);
            while side <= (index > 0) as u32 {
                side = rolled(side);
                let value = self.at(first + index + if side == 0 { taps - 1 } else { -1 });
                change = if side == 0 { value } else { change - value };
                side += 1;
            }
            sum += change;
            if index >= 0 {
                write(index as u32, sum / taps as f64);
            }
            index += 1;
        }
    }
}

/// The number of the thread in the grid.
#[device]
#[inline(always)]
fn index() -> u64 {
    block_idx_x() as u64 * THREADS as u64 + thread_idx_x() as u64
}

/// `correlate1d`, a thread an element.
#[device]
#[inline(always)]
fn correlate1d<T: Exact>(
    input: Global<T>,
    output: GlobalMut<T>,
    lines: Lines,
    outside: f64,
    weights: Constant<f64, LINE_WEIGHTS>,
) {
    let at = index();
    if at >= lines.elements {
        return;
    }
    let (step, number) = (lines.step.get(), lines.step.quotient(at));
    let place = (number - lines.along.quotient(number) * lines.along.get()) as i32;
    let start = input.offset(at - place as u64 * step);
    let line = Line {
        read: |index: i32| start.offset(index as u64 * step).read(0).to_f64(),
        length: lines.length,
        mode: lines.mode,
        outside,
    };
    let sum =
        line.correlate(place - lines.before, lines.taps as i32, lines.symmetry, |tap| weights.read(tap));
    output.offset(at).write(0, T::from_f64(sum));
}

/// `uniform_filter1d`, a thread a line: each of its outputs is computed from the one before.
#[device]
#[inline(always)]
fn uniform_filter1d<T: Exact>(input: Global<T>, output: GlobalMut<T>, lines: Lines, outside: f64) {
    let number = index();
    if number >= lines.count {
        return;
    }
    // Lines that lie in one another, then those behind them.
    let step = lines.step.get();
    let first = number + lines.step.quotient(number) * (step * (lines.length as u64 - 1));
    let (start, output) = (input.offset(first), output.offset(first));
    let line = Line {
        read: |index: i32| start.offset(index as u64 * step).read(0).to_f64(),
        length: lines.length,
        mode: lines.mode,
        outside,
    };
    line.means(-lines.before, lines.taps as i32, |index, mean| {
        output.offset(index as u64 * step).write(0, T::from_f64(mean));
    });
}

/// The image of a full filter: lines are its rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Parameter)]
#[repr(C)]
pub struct Rectangle {
    /// Elements of all images.
    pub elements: u64,
    /// Elements of a row, to divide by.
    pub row: WideDivisor,
    /// Rows of an image, to divide by.
    pub rows: WideDivisor,
    /// Pixels of a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Elements of a pixel.
    pub channels: u32,
    /// Weights of a row of the filter.
    pub taps_x: u32,
    /// Rows of the filter.
    pub taps_y: u32,
    /// Pixels left of an output that its window starts at.
    pub left: i32,
    /// Rows above it.
    pub top: i32,
    /// The border mode.
    pub mode: u32,
}

impl Rectangle {
    /// `correlate`: the sum for element `at` of the images.
    #[inline(always)]
    pub fn correlate(
        &self,
        at: u64,
        outside: f64,
        read: impl Fn(u64) -> f64,
        weight: impl Fn(u32) -> f64,
    ) -> f64 {
        let row = self.row.get();
        let line = self.row.quotient(at);
        let column = (at - line * row) as u32;
        // No image has pixels of nothing: the compiler need not look.
        let x = column / self.channels.max(1);
        let channel = column - x * self.channels;
        let first = self.rows.quotient(line) * self.rows.get();
        let y = (line - first) as i32;
        let mut sum = 0.0;
        let (mut tap, mut i, mut j) = (0, 0, 0);
        while tap < self.taps_x * self.taps_y {
            tap = rolled(tap);
            let factor = weight(tap);
            // NaN is left out as well, as C does.
            if factor.abs() > NO_WEIGHT {
                let x = source(x as i32 + i - self.left, self.width as i32, self.mode);
                let y = source(y + j - self.top, self.height as i32, self.mode);
                let value = if x < 0 || y < 0 {
                    outside
                } else {
                    let element = x as u64 * self.channels as u64 + channel as u64;
                    read((first + y as u64) * row + element)
                };
                sum += factor * value;
            }
            (i, j) = if i + 1 < self.taps_x as i32 { (i + 1, j) } else { (0, j + 1) };
            tap += 1;
        }
        sum
    }
}

/// `correlate`, a thread an element.
#[device]
#[inline(always)]
fn correlate<T: Exact>(
    input: Global<T>,
    output: GlobalMut<T>,
    rectangle: Rectangle,
    outside: f64,
    weights: Global<f64>,
) {
    let at = index();
    if at < rectangle.elements {
        let read = |at: u64| input.offset(at).read(0).to_f64();
        let sum = rectangle.correlate(at, outside, read, |tap| weights.read(tap));
        output.offset(at).write(0, T::from_f64(sum));
    }
}

/// `output += other`.
#[device]
#[inline(always)]
fn add<T: Exact>(output: GlobalMut<T>, other: Global<T>, elements: u64) {
    let at = index();
    if at < elements {
        let output = output.offset(at);
        output.write(0, output.read(0).sum(other.offset(at).read(0)));
    }
}

/// The kernels: calls the macro `$with` with, for each type, that whose sums have the same bits (integers wrap), and its
/// kernels: of `correlate1d`, `correlate`, `uniform_filter1d`, and sums.
#[macro_export]
macro_rules! scipy_instances {
    ($with:ident) => {
        $with! {
            u8 as u8: scipy_correlate1d_u8, scipy_correlate_u8, scipy_uniform_u8, scipy_add_u8;
            u16 as u16: scipy_correlate1d_u16, scipy_correlate_u16, scipy_uniform_u16, scipy_add_u16;
            i16 as u16: scipy_correlate1d_i16, scipy_correlate_i16, scipy_uniform_i16;
            f32 as f32: scipy_correlate1d_f32, scipy_correlate_f32, scipy_uniform_f32, scipy_add_f32;
            f64 as f64: scipy_correlate1d_f64, scipy_correlate_f64, scipy_uniform_f64, scipy_add_f64;
        }
    };
}

macro_rules! kernels {
    ($($T:ty as $Same:ty: $correlate1d:ident, $correlate:ident, $uniform:ident $(, $add:ident)?;)*) => { $(
        #[doc = concat!("`correlate` of `", stringify!($T), "`: [`THREADS`] threads a block, one an element.")]
        #[kernel(images = sm_75, launch_bounds(64))]
        pub fn $correlate(
            input: Global<$T>,
            output: GlobalMut<$T>,
            rectangle: Rectangle,
            outside: f64,
            weights: Global<f64>,
        ) {
            correlate::<$T>(input, output, rectangle, outside, weights);
        }

        #[doc = concat!("`correlate1d` of `", stringify!($T), "`: [`THREADS`] threads a block, one an element.")]
        #[kernel(images = sm_75, launch_bounds(64))]
        pub fn $correlate1d(
            input: Global<$T>,
            output: GlobalMut<$T>,
            lines: Lines,
            outside: f64,
            weights: Constant<f64, LINE_WEIGHTS>,
        ) {
            correlate1d::<$T>(input, output, lines, outside, weights);
        }

        #[doc = concat!("`uniform_filter1d` of `", stringify!($T), "`: [`THREADS`] threads a block, one a line.")]
        #[kernel(images = sm_75, launch_bounds(64))]
        pub fn $uniform(input: Global<$T>, output: GlobalMut<$T>, lines: Lines, outside: f64) {
            uniform_filter1d::<$T>(input, output, lines, outside);
        }

        $(
            #[doc = concat!("A sum of `", stringify!($T), "`: [`THREADS`] threads a block, one an element.")]
            #[kernel(images = sm_75, launch_bounds(64))]
            pub fn $add(output: GlobalMut<$T>, other: Global<$T>, elements: u64) {
                add::<$T>(output, other, elements);
            }
        )?
    )* };
}
scipy_instances!(kernels);
