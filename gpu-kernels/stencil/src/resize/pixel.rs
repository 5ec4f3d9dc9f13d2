//! Elements of images, and the type that is computed in.

use gpu_std::float::Float;
use gpu_std::memory::Element;

use super::Axis;

/// An element of an image: `f32`, `f64`, and, computed with as `f32`, `u8`, `u16` and `i16`.
pub trait Pixel: Element {
    /// What is computed in.
    type Value: Float;
    /// The same value.
    fn widen(self) -> Self::Value;
    /// The nearest value, ties to even. Integers come only with values that they can hold.
    fn narrow(value: Self::Value) -> Self;
    /// `remainder / (2 · axis.output)`, less than one.
    fn weight(remainder: u32, axis: Axis) -> Self::Value;
}

/// `remainder / (2 · axis.output)`, rounded to `f64` with an error of one unit in the last place at most, and then to
/// `f32`: every weight that `f32` can hold is exact.
#[inline(always)]
fn weight(remainder: u32, axis: Axis) -> f32 {
    (remainder as f64 * axis.reciprocal) as f32
}

impl Pixel for f32 {
    type Value = f32;
    #[inline(always)]
    fn widen(self) -> f32 {
        self
    }
    #[inline(always)]
    fn narrow(value: f32) -> f32 {
        value
    }
    #[inline(always)]
    fn weight(remainder: u32, axis: Axis) -> f32 {
        weight(remainder, axis)
    }
}

impl Pixel for f64 {
    type Value = f64;
    #[inline(always)]
    fn widen(self) -> f64 {
        self
    }
    #[inline(always)]
    fn narrow(value: f64) -> f64 {
        value
    }
    #[inline(always)]
    fn weight(remainder: u32, axis: Axis) -> f64 {
        // Correctly rounded: the product with the reciprocal would not be.
        remainder as f64 / (2.0 * axis.output as f64)
    }
}

/// From here on to twice as much, neighbouring numbers of `f32` are one apart: adding it rounds to a whole number, to
/// the nearest and ties to even, which then stands in the lowest bits. One addition, where a conversion has a quarter
/// of its rate.
const WHOLE: f32 = 12_582_912.0;

macro_rules! integers {
    ($($T:ty)*) => { $(
        impl Pixel for $T {
            type Value = f32;
            #[inline(always)]
            fn widen(self) -> f32 {
                self as f32
            }
            #[inline(always)]
            fn narrow(value: f32) -> Self {
                (value + WHOLE).to_bits() as $T
            }
            #[inline(always)]
            fn weight(remainder: u32, axis: Axis) -> f32 {
                weight(remainder, axis)
            }
        }
    )* };
}
integers!(u8 u16 i16);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_round_to_nearest_ties_to_even() {
        for value in [-32768.0f32, -2.5, -1.5, -0.5, -0.49, 0.5, 1.5, 2.5, 2.51, 32766.5, 32767.0] {
            assert_eq!(i16::narrow(value), value.round_ties_even() as i16, "{value}");
        }
        for value in [0.0f32, 0.5, 1.5, 254.5, 254.51, 255.0] {
            assert_eq!(u8::narrow(value), value.round_ties_even() as u8, "{value}");
        }
        for value in [0.0f32, 0.5, 65534.5, 65534.504, 65535.0] {
            assert_eq!(u16::narrow(value), value.round_ties_even() as u16, "{value}");
        }
    }
}
