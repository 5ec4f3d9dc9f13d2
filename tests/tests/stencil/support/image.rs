//! Images in buffers, what should be in them, and serial oracles of filters.
#![allow(dead_code, reason = "each test has its part")]

use gpu_core::{Buffer, Device};
use gpu_stencil::{Border, Image, ImageLayout, ImageMut, Pixel, Sum};
use gpu_tests::compare::{Bits, assert_same_bits};
use gpu_tests::data::floats;

/// A type of pixels, and how the oracles compute with it.
pub trait Element: Pixel<Sum: Bits, Gradient: Bits> + Bits {
    /// A value made of one of [`floats`].
    fn of(value: f32) -> Self;
    /// The same value.
    fn to_sum(self) -> Self::Sum;
    /// The nearest value: rounded to the nearest even, saturated.
    fn from_sum(sum: Self::Sum) -> Self;
}

macro_rules! elements {
    ($($T:ty: $of:expr, $from:expr;)*) => { $(
        impl Element for $T {
            fn of(value: f32) -> $T {
                let of: fn(f32) -> $T = $of;
                of(value)
            }
            fn to_sum(self) -> Self::Sum {
                self as Self::Sum
            }
            fn from_sum(sum: Self::Sum) -> $T {
                let from: fn(Self::Sum) -> $T = $from;
                from(sum)
            }
        }
    )* };
}
// Rust's conversions saturate.
elements! {
    f32: |value| value, |sum| sum;
    f64: f64::from, |sum| sum;
    u8: |value| value.to_bits() as u8, |sum| sum.round_ties_even() as u8;
    u16: |value| (value.to_bits() >> 3) as u16, |sum| sum.round_ties_even() as u16;
    i16: |value| (value.to_bits() >> 3) as i16, |sum| sum.round_ties_even() as i16;
}

pub const BORDERS: [&str; 6] = ["reflect", "mirror", "nearest", "wrap", "constant", "valid"];

/// Border mode `number`.
pub fn border<T: Element>(number: usize) -> Border<T> {
    match BORDERS[number] {
        "reflect" => Border::Reflect,
        "mirror" => Border::Mirror,
        "nearest" => Border::Nearest,
        "wrap" => Border::Wrap,
        "constant" => Border::Constant(T::of(-0.37)),
        _ => Border::Valid,
    }
}

/// Images in a buffer, gaps and an offset included, and what should be there.
pub struct Subject<T: Element> {
    pub layout: ImageLayout,
    pub values: Vec<T>,
    offset: usize,
    buffer: Buffer<T>,
}

impl<T: Element> Subject<T> {
    pub fn new(device: &Device, layout: ImageLayout, offset: usize, seed: u64) -> Self {
        let values: Vec<T> = floats(seed, offset + layout.span() + 3).into_iter().map(T::of).collect();
        let buffer = device.upload(&values).unwrap();
        Self { layout, values, offset, buffer }
    }

    pub fn image(&self) -> Image<'_, T> {
        Image::new(self.buffer.slice(self.offset..), self.layout).unwrap()
    }

    pub fn image_mut(&mut self) -> ImageMut<'_, T> {
        ImageMut::new(self.buffer.slice_mut(self.offset..), self.layout).unwrap()
    }

    /// What is at (`x`, `y`), or beyond.
    pub fn get(&self, image: usize, y: i64, x: i64, channel: usize, border: Border<T>) -> T {
        let (width, height) = (self.layout.width() as i64, self.layout.height() as i64);
        match (walk(y, height, border), walk(x, width, border)) {
            (Some(y), Some(x)) => {
                self.values[self.offset + self.layout.index(image, y as usize, x as usize, channel)]
            }
            _ => match border {
                Border::Constant(value) => value,
                other => panic!("{other:?} has a value everywhere"),
            },
        }
    }

    /// Every pixel is to be `value(image, y, x, channel)`; the rest stays.
    pub fn expect(&mut self, value: impl Fn(usize, i64, i64, usize) -> T) {
        for image in 0..self.layout.count() {
            for y in 0..self.layout.height() {
                for x in 0..self.layout.width() {
                    for channel in 0..self.layout.channels() {
                        let at = self.offset + self.layout.index(image, y, x, channel);
                        self.values[at] = value(image, y as i64, x as i64, channel);
                    }
                }
            }
        }
    }

    /// What is in the buffer now.
    pub fn found(&self) -> Found<T> {
        Found { layout: self.layout, offset: self.offset, values: self.buffer.to_vec().unwrap() }
    }

    #[track_caller]
    pub fn check(&self, context: &str) {
        assert_same_bits(&self.buffer.to_vec().unwrap(), &self.values, context);
    }
}

/// What was in a buffer.
pub struct Found<T> {
    layout: ImageLayout,
    offset: usize,
    values: Vec<T>,
}

impl<T: Copy> Found<T> {
    pub fn get(&self, image: usize, y: i64, x: i64, channel: usize) -> T {
        self.values[self.offset + self.layout.index(image, y as usize, x as usize, channel)]
    }
}

/// The place inside that stands for place `at`, by SciPy's table of borders, step by step.
fn walk<T>(mut at: i64, length: i64, border: Border<T>) -> Option<i64> {
    while !(0..length).contains(&at) {
        at = match border {
            Border::Reflect if at < 0 => -1 - at,
            Border::Reflect => 2 * length - 1 - at,
            Border::Mirror if length == 1 => 0,
            Border::Mirror if at < 0 => -at,
            Border::Mirror => 2 * length - 2 - at,
            Border::Nearest => at.clamp(0, length - 1),
            Border::Wrap if at < 0 => at + length,
            Border::Wrap => at - length,
            Border::Constant(_) | Border::Valid => return None,
        };
    }
    Some(at)
}

/// Serial oracles.
pub mod oracle {
    use super::*;

    /// Where a window starts, from an output: SciPy's rules, axis by axis.
    fn start<T>(extent: usize, origin: isize, border: Border<T>, convolve: bool) -> i64 {
        let (extent, mut origin) = (extent as i64, origin as i64);
        if matches!(border, Border::Valid) {
            return 0;
        }
        if convolve {
            // convolve1d: the origin negated, and moved by one for even sizes.
            origin = -origin - i64::from(extent % 2 == 0);
        }
        -(extent / 2) - origin
    }

    fn flipped<S: Copy>(weights: &[S], convolve: bool) -> Vec<S> {
        if convolve { weights.iter().rev().copied().collect() } else { weights.to_vec() }
    }

    /// A chain of multiply-adds that starts with a product.
    fn chain<S: Sum>(pairs: impl Iterator<Item = (S, S)>) -> S {
        let mut sum = None;
        for (weight, value) in pairs {
            sum = Some(sum.map_or(weight * value, |sum| weight.mul_add(value, sum)));
        }
        sum.expect("a filter has a weight")
    }

    pub fn full<'a, T: Element>(
        input: &'a Subject<T>,
        taps: (usize, usize),
        weights: &[T::Sum],
        origin: (isize, isize),
        border: Border<T>,
        convolve: bool,
    ) -> impl Fn(usize, i64, i64, usize) -> T + use<'a, T> {
        let weights = flipped(weights, convolve);
        let left = start(taps.0, origin.0, border, convolve);
        let top = start(taps.1, origin.1, border, convolve);
        move |image, y, x, channel| {
            T::from_sum(chain(weights.iter().enumerate().map(|(number, &weight)| {
                let (i, j) = ((number % taps.0) as i64, (number / taps.0) as i64);
                (weight, input.get(image, y + top + j, x + left + i, channel, border).to_sum())
            })))
        }
    }

    pub fn separable<'a, T: Element>(
        input: &'a Subject<T>,
        [row, column]: [&[T::Sum]; 2],
        origin: (isize, isize),
        border: Border<T>,
        convolve: bool,
    ) -> impl Fn(usize, i64, i64, usize) -> T + use<'a, T> {
        let left = start(row.len(), origin.0, border, convolve);
        let top = start(column.len(), origin.1, border, convolve);
        let (row, column) = (flipped(row, convolve), flipped(column, convolve));
        move |image, y, x, channel| {
            let line = |y: i64| {
                chain(row.iter().enumerate().map(|(i, &weight)| {
                    (weight, input.get(image, y, x + left + i as i64, channel, border).to_sum())
                }))
            };
            let rows = column.iter().enumerate().map(|(j, &weight)| (weight, line(y + top + j as i64)));
            T::from_sum(chain(rows))
        }
    }
}
