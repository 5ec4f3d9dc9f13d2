//! The Euclidean norm, finite wherever its value is.

use gpu_std::float::{abs, sqrt};

use crate::operator::Reduction;

/// The square root of the sum of squares, without overflow or underflow on the way.
///
/// Of `f32` the squares are exact in `f64`, and there is room for 2^767 of them. For `f64` there are three sums, as
/// in J. L. Blue, *A portable Fortran program to find the Euclidean norm of a vector*, ACM TOMS 4 (1978): squares of
/// ordinary numbers as they are, those of large ones scaled down, those of small ones scaled up. Unlike a running
/// maximum this takes no division and no order.
#[derive(Clone, Copy, Debug)]
pub struct NormL2<T>(core::marker::PhantomData<fn() -> T>);

impl Reduction for NormL2<f32> {
    type Item = f32;
    type Local = f64;
    type Accumulator = f64;
    type Output = f32;
    const NAME: &'static str = "Euclidean norm";
    const IDENTITY: f64 = 0.0;
    const EMPTY: Option<f32> = Some(0.0);
    #[inline(always)]
    fn start(_: u32) -> f64 {
        0.0
    }
    #[inline(always)]
    fn take(local: f64, item: f32, _: u32) -> f64 {
        let value = item as f64;
        local + value * value
    }
    #[inline(always)]
    fn widen(local: f64, _: u64) -> f64 {
        local
    }
    #[inline(always)]
    fn combine(a: f64, b: f64) -> f64 {
        a + b
    }
    #[inline(always)]
    fn output(total: f64, _: u32) -> f32 {
        sqrt(total) as f32
    }
}

/// Squares of numbers above this one are scaled: 2^51 of those below do not overflow.
const LARGE: f64 = power_of_two(486);
/// Squares of numbers below this one are scaled: those above do not underflow.
const SMALL: f64 = power_of_two(-511);
/// What large numbers are multiplied with before they are squared.
const DOWN: f64 = power_of_two(-538);
/// What small numbers are multiplied with before they are squared.
const UP: f64 = power_of_two(537);

const fn power_of_two(exponent: i64) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

impl Reduction for NormL2<f64> {
    type Item = f64;
    /// Sums of the squares of large, ordinary and small numbers.
    type Local = (f64, (f64, f64));
    type Accumulator = (f64, (f64, f64));
    type Output = f64;
    const NAME: &'static str = "Euclidean norm";
    const IDENTITY: Self::Accumulator = (0.0, (0.0, 0.0));
    const EMPTY: Option<f64> = Some(0.0);
    #[inline(always)]
    fn start(_: u32) -> Self::Local {
        Self::IDENTITY
    }
    #[inline(always)]
    fn take((large, (ordinary, small)): Self::Local, item: f64, _: u32) -> Self::Local {
        let value = abs(item);
        // One multiplication chooses the scale; a NaN is ordinary.
        let is_large = value > LARGE;
        let is_small = value < SMALL;
        let scaled = value
            * if is_large {
                DOWN
            } else if is_small {
                UP
            } else {
                1.0
            };
        let square = scaled * scaled;
        (
            large + if is_large { square } else { 0.0 },
            (
                ordinary + if is_large | is_small { 0.0 } else { square },
                small + if is_small { square } else { 0.0 },
            ),
        )
    }
    #[inline(always)]
    fn widen(local: Self::Local, _: u64) -> Self::Accumulator {
        local
    }
    #[inline(always)]
    fn combine(a: Self::Accumulator, b: Self::Accumulator) -> Self::Accumulator {
        (a.0 + b.0, (a.1.0 + b.1.0, a.1.1 + b.1.1))
    }
    #[inline(always)]
    fn output((large, (ordinary, small)): Self::Accumulator, _: u32) -> f64 {
        if large > 0.0 {
            // Ordinary ones in the scale of the large ones; small ones are below half a unit in the last place.
            return sqrt(large + (ordinary * DOWN) * DOWN) / DOWN;
        }
        if ordinary > 0.0 || ordinary.is_nan() {
            return sqrt(ordinary + (small / UP) / UP);
        }
        sqrt(small) / UP
    }
}
