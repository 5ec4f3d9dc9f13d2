//! The reductions that the PTX modules hold.
//!
//! | Reduction | Accumulator | Output |
//! |---|---|---|
//! | [`Sum`], [`Product`], [`SumOfSquares`], [`Dot`] | the element's type; integers wrap | the same |
//! | [`WideSum`] | 64 bits | `i64` or `u64` |
//! | [`Min`], [`Max`], [`MinMax`] | the element's type | the same; [`MinMax`] two |
//! | [`ArgMin`], [`ArgMax`] | an integer in the value's order, and an index of 64 bits | the index, `u64` |
//! | [`NormL1`], [`NormMax`] | the magnitude's type: unsigned for integers; the sum wraps | the same |
//! | [`NormL2`] | `f64` for `f32`; for `f64` three sums of scaled squares | the element's type |
//! | [`And`], [`Or`], [`Xor`] | the element's type | the same |
//! | [`Any`], [`All`] | a truth value | `u8`, 0 or 1 |
//! | [`Count`] | 64 bits | `u64` |

mod arg;
mod logic;
mod norm;
mod simple;

pub use arg::{ArgMax, ArgMin};
pub use logic::{All, Any, Count, WideSum};
pub use norm::NormL2;
pub use simple::{And, Largest, Max, Min, MinMax, Or, Product, Sum, Xor};

use super::number::{Number, Register};
use super::operator::{Map, Mapped};

/// The absolute value. Of integers it has the unsigned type, so that every one has one.
#[derive(Clone, Copy, Debug)]
pub struct Absolute<T>(core::marker::PhantomData<fn() -> T>);

impl<T: Number> Map for Absolute<T> {
    type Item = T;
    type Output = T::Magnitude;
    #[inline(always)]
    fn map(item: T) -> T::Magnitude {
        item.magnitude()
    }
}

/// The square, in the element's type.
#[derive(Clone, Copy, Debug)]
pub struct Square<T>(core::marker::PhantomData<fn() -> T>);

impl<T: Number> Map for Square<T> {
    type Item = T;
    type Output = T;
    #[inline(always)]
    fn map(item: T) -> T {
        T::narrow(item.extend().times(item.extend()))
    }
}

/// The product of a pair, rounded before it is added.
#[derive(Clone, Copy, Debug)]
pub struct Times<T>(core::marker::PhantomData<fn() -> T>);

impl<T: Number> Map for Times<T>
where
    (T, T): super::item::Item,
{
    type Item = (T, T);
    type Output = T;
    #[inline(always)]
    fn map((a, b): (T, T)) -> T {
        T::narrow(a.extend().times(b.extend()))
    }
}

/// The sum of the squares.
pub type SumOfSquares<T> = Mapped<Square<T>, Sum<T>>;
/// The sum of the products of two arrays' elements.
pub type Dot<T> = Mapped<Times<T>, Sum<T>>;
/// The sum of the magnitudes.
pub type NormL1<T> = Mapped<Absolute<T>, Sum<<T as Number>::Magnitude>>;
/// The largest magnitude; 0 for none.
pub type NormMax<T> = Mapped<Absolute<T>, Largest<<T as Number>::Magnitude>>;
