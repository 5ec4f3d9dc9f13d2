//! Reductions whose accumulator is the element in a register.

use crate::number::{Integer, Number, Register};
use crate::operator::Reduction;

macro_rules! simple {
    ($($(#[$doc:meta])* $name:ident<T: $bound:ident>, $text:literal: $identity:expr, $empty:expr, $combine:expr;)*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name<T>(core::marker::PhantomData<fn() -> T>);

        impl<T: $bound> Reduction for $name<T> {
            type Item = T;
            type Local = T::Register;
            type Accumulator = T::Register;
            type Output = T;
            const NAME: &'static str = $text;
            const IDENTITY: T::Register = $identity;
            const EMPTY: Option<T> = $empty;
            #[inline(always)]
            fn start(_: u32) -> T::Register {
                Self::IDENTITY
            }
            #[inline(always)]
            fn take(local: T::Register, item: T, _: u32) -> T::Register {
                Self::combine(local, item.extend())
            }
            #[inline(always)]
            fn widen(local: T::Register, _: u64) -> T::Register {
                local
            }
            #[inline(always)]
            fn combine(a: T::Register, b: T::Register) -> T::Register {
                $combine(a, b)
            }
            #[inline(always)]
            fn output(total: T::Register, _: u32) -> T {
                T::narrow(total)
            }
        }
    )* };
}

simple! {
    /// The sum. Integers wrap in their own type; [`WideSum`](super::WideSum) does not.
    Sum<T: Number>, "sum": T::Register::NOTHING, Some(T::ZERO), T::Register::plus;
    /// The product. Integers wrap.
    Product<T: Number>, "product": T::Register::ONE, Some(T::ONE), T::Register::times;
    /// The smallest: NaN if there is one, and -0 is smaller than +0.
    Min<T: Number>, "minimum": T::Register::HIGHEST, None, T::Register::smaller;
    /// The largest: NaN if there is one, and +0 is larger than -0.
    Max<T: Number>, "maximum": T::Register::LOWEST, None, T::Register::larger;
    /// The largest of numbers that are not negative, 0 for none.
    Largest<T: Number>, "maximum norm": T::Register::LOWEST, Some(T::ZERO), T::Register::larger;
    /// The bits that all have.
    And<T: Integer>, "bitwise and": T::ONES, Some(T::FULL), core::ops::BitAnd::bitand;
    /// The bits that any has.
    Or<T: Integer>, "bitwise or": T::NONE, Some(T::ZERO), core::ops::BitOr::bitor;
    /// The bits that an odd number of them has.
    Xor<T: Integer>, "bitwise exclusive or": T::NONE, Some(T::ZERO), core::ops::BitXor::bitxor;
}

/// The smallest and the largest, two outputs.
#[derive(Clone, Copy, Debug)]
pub struct MinMax<T>(core::marker::PhantomData<fn() -> T>);

impl<T: Number> Reduction for MinMax<T> {
    type Item = T;
    type Local = (T::Register, T::Register);
    type Accumulator = (T::Register, T::Register);
    type Output = T;
    const NAME: &'static str = "minimum and maximum";
    const OUTPUTS: u32 = 2;
    const IDENTITY: Self::Accumulator = (T::Register::HIGHEST, T::Register::LOWEST);
    const EMPTY: Option<T> = None;
    #[inline(always)]
    fn start(_: u32) -> Self::Local {
        Self::IDENTITY
    }
    #[inline(always)]
    fn take(local: Self::Local, item: T, _: u32) -> Self::Local {
        Self::combine(local, (item.extend(), item.extend()))
    }
    #[inline(always)]
    fn widen(local: Self::Local, _: u64) -> Self::Accumulator {
        local
    }
    #[inline(always)]
    fn combine(a: Self::Accumulator, b: Self::Accumulator) -> Self::Accumulator {
        (a.0.smaller(b.0), a.1.larger(b.1))
    }
    #[inline(always)]
    fn output(total: Self::Accumulator, index: u32) -> T {
        T::narrow(if index == 0 { total.0 } else { total.1 })
    }
}
