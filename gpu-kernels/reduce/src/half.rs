//! Reductions of 16-bit floats whose intermediate values need more than 16 bits, and the kernels.
//!
//! All of them compute in `f32`: a product of two is exact there (22 bits of `f16`, 16 of `bf16`), and the result is
//! rounded once, at the end. Squares for the Euclidean norm are summed in `f64`, as those of `f32` are.

use core::marker::PhantomData;

use super::number::Number;
use super::operator::{Map, Mapped, Reduction};
use super::operators::{NormL2, Sum};

/// The same value in 32 bits.
#[derive(Clone, Copy, Debug)]
pub struct Extended<T>(PhantomData<fn() -> T>);

impl<T: Number<Register = f32>> Map for Extended<T> {
    type Item = T;
    type Output = f32;
    #[inline(always)]
    fn map(item: T) -> f32 {
        item.extend()
    }
}

/// The square in 32 bits.
#[derive(Clone, Copy, Debug)]
pub struct ExtendedSquare<T>(PhantomData<fn() -> T>);

impl<T: Number<Register = f32>> Map for ExtendedSquare<T> {
    type Item = T;
    type Output = f32;
    #[inline(always)]
    fn map(item: T) -> f32 {
        item.extend() * item.extend()
    }
}

/// The product of a pair in 32 bits.
#[derive(Clone, Copy, Debug)]
pub struct ExtendedTimes<T>(PhantomData<fn() -> T>);

impl<T: Number<Register = f32>> Map for ExtendedTimes<T>
where
    (T, T): super::item::Item,
{
    type Item = (T, T);
    type Output = f32;
    #[inline(always)]
    fn map((a, b): (T, T)) -> f32 {
        a.extend() * b.extend()
    }
}

/// The result of `R`, rounded to `T`. That of nothing is zero.
#[derive(Clone, Copy, Debug)]
pub struct Narrowed<T, R>(PhantomData<fn() -> (T, R)>);

impl<T: Number<Register = f32>, R: Reduction<Output = f32>> Reduction for Narrowed<T, R> {
    type Item = R::Item;
    type Local = R::Local;
    type Accumulator = R::Accumulator;
    type Output = T;
    const NAME: &'static str = R::NAME;
    const IDENTITY: R::Accumulator = R::IDENTITY;
    const EMPTY: Option<T> = Some(T::ZERO);
    #[inline(always)]
    fn start(first: u32) -> R::Local {
        R::start(first)
    }
    #[inline(always)]
    fn take(local: R::Local, item: R::Item, offset: u32) -> R::Local {
        R::take(local, item, offset)
    }
    #[inline(always)]
    fn widen(local: R::Local, base: u64) -> R::Accumulator {
        R::widen(local, base)
    }
    #[inline(always)]
    fn combine(a: R::Accumulator, b: R::Accumulator) -> R::Accumulator {
        R::combine(a, b)
    }
    #[inline(always)]
    fn output(total: R::Accumulator, index: u32) -> T {
        T::narrow(R::output(total, index))
    }
}

/// The sum of 16-bit floats as `f32`.
pub type ExtendedSum<T> = Mapped<Extended<T>, Sum<f32>>;
/// The sum of the squares of 16-bit floats.
pub type HalfSumOfSquares<T> = Narrowed<T, Mapped<ExtendedSquare<T>, Sum<f32>>>;
/// The sum of the products of two arrays of 16-bit floats.
pub type HalfDot<T> = Narrowed<T, Mapped<ExtendedTimes<T>, Sum<f32>>>;
/// The Euclidean norm of 16-bit floats.
pub type HalfNormL2<T> = Narrowed<T, Mapped<Extended<T>, NormL2<f32>>>;

/// As [`reduce_instances`](crate::reduce_instances), of 16-bit floats.
#[macro_export]
macro_rules! reduce_half_instances {
    ($with:ident) => {
        $with! { sm_75_90 sm_75 sm_75, f16, 8, 4, 4;
            (several) sum_f16: HalfSums<f16> => Sum<f16>, ExtendedSum<f16>, NormL1<f16>;
        }
        $with! { sm_75_90 sm_75 sm_75, f16, 8, 4, 4;
            minmax_f16: MinMax<f16>;
            (several) max_f16: Extreme<f16> => Max<f16>, Min<f16>, NormMax<f16>;
            (several) argmax_f16: Place<f16> => ArgMax<f16>, ArgMin<f16>;
        }
        $with! { sm_75_90 sm_75 sm_75, f16, 8, 4, 4;
            product_f16: Product<f16>;
            sum_of_squares_f16: HalfSumOfSquares<f16>;
            norm_l2_f16: HalfNormL2<f16>;
            (two) dot_f16: HalfDot<f16>;
        }
        $with! { sm_75_90 sm_75 sm_75, bf16, 8, 4, 4;
            (several) sum_bf16: HalfSums<bf16> => Sum<bf16>, ExtendedSum<bf16>, NormL1<bf16>;
        }
        $with! { sm_75_90 sm_75 sm_75, bf16, 8, 4, 4;
            minmax_bf16: MinMax<bf16>;
            (several) max_bf16: Extreme<bf16> => Max<bf16>, Min<bf16>, NormMax<bf16>;
            (several) argmax_bf16: Place<bf16> => ArgMax<bf16>, ArgMin<bf16>;
        }
        $with! { sm_75_90 sm_75 sm_75, bf16, 8, 4, 4;
            product_bf16: Product<bf16>;
            sum_of_squares_bf16: HalfSumOfSquares<bf16>;
            norm_l2_bf16: HalfNormL2<bf16>;
            (two) dot_bf16: HalfDot<bf16>;
        }
    };
}
