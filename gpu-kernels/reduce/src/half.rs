//! Reductions of 16-bit floats whose intermediate values need more than 16 bits.
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
