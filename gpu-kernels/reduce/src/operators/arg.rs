//! Where the extremes are.

use crate::number::{Key, Number, Register};
use crate::operator::Reduction;

macro_rules! arg {
    ($($(#[$doc:meta])* $name:ident, $text:literal, $key:ident;)*) => { $(
        $(#[$doc])*
        ///
        /// A thread holds the greatest key so far and where it was. It starts from the lowest key at the place of its
        /// own first element: if that key is never exceeded, all its elements have it, and the first is where it
        /// says. A thread without elements names a place beyond the end, which loses to the elements that are there.
        #[derive(Clone, Copy, Debug)]
        pub struct $name<T>(core::marker::PhantomData<fn() -> T>);

        impl<T: Number> Reduction for $name<T> {
            type Item = T;
            type Local = (<T::Register as Register>::Key, u32);
            type Accumulator = (<T::Register as Register>::Key, u64);
            type Output = u64;
            const NAME: &'static str = $text;
            const IDENTITY: Self::Accumulator = (Key::LOWEST, u64::MAX);
            const EMPTY: Option<u64> = None;
            #[inline(always)]
            fn start(first: u32) -> Self::Local {
                (Key::LOWEST, first)
            }
            #[inline(always)]
            fn take(local: Self::Local, item: T, offset: u32) -> Self::Local {
                let key = item.extend().$key();
                let better = key > local.0;
                (if better { key } else { local.0 }, if better { offset } else { local.1 })
            }
            #[inline(always)]
            fn widen(local: Self::Local, base: u64) -> Self::Accumulator {
                (local.0, base + local.1 as u64)
            }
            #[inline(always)]
            fn combine(a: Self::Accumulator, b: Self::Accumulator) -> Self::Accumulator {
                let better = (b.0 > a.0)
                    // Mutants: what has one index is one item.
                    | ((b.0 == a.0) & (b.1 < a.1));
                (if better { b.0 } else { a.0 }, if better { b.1 } else { a.1 })
            }
            #[inline(always)]
            fn output(total: Self::Accumulator, _: u32) -> u64 {
                total.1
            }
        }
    )* };
}

arg! {
    /// Where the smallest is: of several the first, and the first NaN if there is one. -0 is smaller than +0.
    ArgMin, "place of the minimum", descending;
    /// Where the largest is: of several the first, and the first NaN if there is one. +0 is larger than -0.
    ArgMax, "place of the maximum", ascending;
}
