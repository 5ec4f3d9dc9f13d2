//! What can be counted, and in what.

use gpu_sort_kernels::histogram::{Binning, EvenF32, EvenF64, EvenInteger};

use super::launch::Launch;

/// A type of samples: `i8` to `i32`, `u8` to `u32`, `f32`, `f64`.
pub trait HistogramSample: Launch {
    /// What the bounds of bins are given as: `i64` for whole numbers, of which there can be one more than the
    /// largest; the type itself for floats.
    type Bound: Copy;
    /// For messages.
    #[doc(hidden)]
    fn to_f64(bound: Self::Bound) -> f64;
    /// As a bound.
    #[doc(hidden)]
    fn to_bound(self) -> Self::Bound;
    /// The bins from `lower` to `upper`, if there are any.
    #[doc(hidden)]
    fn even(lower: Self::Bound, upper: Self::Bound, bins: u32) -> Option<Self::Even>;
    /// The bin of a sample.
    #[doc(hidden)]
    fn even_bin(even: &Self::Even, sample: Self) -> u32;
}

macro_rules! integers {
    ($($t:ty as $bits:ty;)*) => { $(
        impl HistogramSample for $t {
            type Bound = i64;
            fn to_f64(bound: i64) -> f64 {
                bound as f64
            }
            fn to_bound(self) -> i64 {
                i64::from(self)
            }
            fn even(lower: i64, upper: i64, bins: u32) -> Option<EvenInteger> {
                const LEAST: i64 = <$t>::MIN as i64;
                let possible = LEAST <= lower && lower < upper && upper <= <$t>::MAX as i64 + 1;
                // Samples are numbered from the least one of their type.
                possible.then(|| EvenInteger::new((lower - LEAST) as u32, (upper - lower) as u64, bins, Self::FLIP))
            }
            fn even_bin(even: &EvenInteger, sample: $t) -> u32 {
                even.bin(sample as $bits)
            }
        }
    )* };
}
integers! { u8 as u8; i8 as u8; u16 as u16; i16 as u16; u32 as u32; i32 as u32; }

macro_rules! floats {
    ($($t:ty as $even:ty;)*) => { $(
        impl HistogramSample for $t {
            type Bound = $t;
            fn to_f64(bound: $t) -> f64 {
                f64::from(bound)
            }
            fn to_bound(self) -> $t {
                self
            }
            fn even(lower: $t, upper: $t, bins: u32) -> Option<$even> {
                let range = upper - lower;
                let scale = bins as $t / range;
                (range > 0.0 && range.is_finite() && scale.is_finite()).then(|| <$even>::new(lower, upper, bins))
            }
            fn even_bin(even: &$even, sample: $t) -> u32 {
                even.bin(sample)
            }
        }
    )* };
}
floats! { f32 as EvenF32; f64 as EvenF64; }

/// A type of counts: `u32`, which wraps, or `u64`.
pub trait HistogramCount: gpu_core::Element {
    /// Whether it has 64 bits.
    #[doc(hidden)]
    const WIDE: bool;
    /// The sum.
    #[doc(hidden)]
    #[must_use]
    fn plus(self, other: Self) -> Self;
    /// One more.
    #[doc(hidden)]
    #[must_use]
    fn next(self) -> Self;
}

macro_rules! counts {
    ($($t:ty: $wide:literal;)*) => { $(
        impl HistogramCount for $t {
            const WIDE: bool = $wide;
            fn plus(self, other: $t) -> $t {
                self.wrapping_add(other)
            }
            fn next(self) -> $t {
                self.wrapping_add(1)
            }
        }
    )* };
}
counts! { u32: false; u64: true; }
