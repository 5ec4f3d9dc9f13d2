//! Counts, truth values, and sums in 64 bits.

use crate::number::{Integer, Number, Register};
use crate::operator::Reduction;

/// How many are not zero. NaN is not zero.
///
/// A thread counts in 32 bits: it cannot see more elements than its block has.
#[derive(Clone, Copy, Debug)]
pub struct Count<T>(core::marker::PhantomData<fn() -> T>);

impl<T: Number> Reduction for Count<T> {
    type Item = T;
    type Local = u32;
    type Accumulator = u64;
    type Output = u64;
    const NAME: &'static str = "count of non-zeros";
    const IDENTITY: u64 = 0;
    const EMPTY: Option<u64> = Some(0);
    #[inline(always)]
    fn start(_: u32) -> u32 {
        0
    }
    #[inline(always)]
    fn take(local: u32, item: T, _: u32) -> u32 {
        local + item.is_nonzero() as u32
    }
    #[inline(always)]
    fn widen(local: u32, _: u64) -> u64 {
        local as u64
    }
    #[inline(always)]
    fn combine(a: u64, b: u64) -> u64 {
        a + b
    }
    #[inline(always)]
    fn output(total: u64, _: u32) -> u64 {
        total
    }
}

macro_rules! truth {
    ($($(#[$doc:meta])* $name:ident, $text:literal, $identity:literal, $combine:expr;)*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name<T>(core::marker::PhantomData<fn() -> T>);

        impl<T: Number> Reduction for $name<T> {
            type Item = T;
            type Local = u32;
            type Accumulator = u32;
            type Output = u8;
            const NAME: &'static str = $text;
            const IDENTITY: u32 = $identity;
            const EMPTY: Option<u8> = Some($identity);
            #[inline(always)]
            fn start(_: u32) -> u32 {
                $identity
            }
            #[inline(always)]
            fn take(local: u32, item: T, _: u32) -> u32 {
                $combine(local, item.is_nonzero() as u32)
            }
            #[inline(always)]
            fn widen(local: u32, _: u64) -> u32 {
                local
            }
            #[inline(always)]
            fn combine(a: u32, b: u32) -> u32 {
                $combine(a, b)
            }
            #[inline(always)]
            fn output(total: u32, _: u32) -> u8 {
                total as u8
            }
        }
    )* };
}

truth! {
    /// Whether any is not zero, 0 or 1.
    Any, "any", 0, |a, b| a | b;
    /// Whether none is zero, 0 or 1.
    All, "all", 1, |a, b| a & b;
}

/// The sum of integers in 64 bits.
#[derive(Clone, Copy, Debug)]
pub struct WideSum<T>(core::marker::PhantomData<fn() -> T>);

impl<T: Integer> Reduction for WideSum<T> {
    type Item = T;
    type Local = T::Partial;
    type Accumulator = T::Wide;
    type Output = T::Wide;
    const NAME: &'static str = "sum in 64 bits";
    const IDENTITY: T::Wide = T::WIDE_ZERO;
    const EMPTY: Option<T::Wide> = Some(T::WIDE_ZERO);
    #[inline(always)]
    fn start(_: u32) -> T::Partial {
        T::EMPTY
    }
    #[inline(always)]
    fn take(local: T::Partial, item: T, _: u32) -> T::Partial {
        item.add_to(local)
    }
    #[inline(always)]
    fn widen(local: T::Partial, _: u64) -> T::Wide {
        T::widen(local)
    }
    #[inline(always)]
    fn combine(a: T::Wide, b: T::Wide) -> T::Wide {
        a.plus(b)
    }
    #[inline(always)]
    fn output(total: T::Wide, _: u32) -> T::Wide {
        total
    }
}
