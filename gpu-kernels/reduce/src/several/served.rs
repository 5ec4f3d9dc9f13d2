//! What is computed by kernels that serve several reductions.

use gpu_std::half::{bf16, f16};

use super::choice::{ALL, Choice, Maskable};
use super::kernels::{Bits, Extreme, Extremes};
use super::sums::{HalfSums, Sums, Weighable};
use crate::half::ExtendedSum;
use crate::number::Integer;
use crate::operator::Reduction;
use crate::operators::{
    All, And, Any, ArgMax, ArgMin, Count, Max, Min, MinMax, NormL1, NormMax, Or, Sum, SumOfSquares, WideSum,
    Xor,
};

/// A reduction that a kernel for several computes.
pub trait ByChoice: Reduction {
    /// What the kernel is told for it.
    const CHOICE: Choice;
}

macro_rules! by_choice {
    ($($name:ident<T $(: $bound:ident)?>: $keep:expr, $turn:expr, $which:expr;)*) => { $(
        impl<T: Maskable $(+ $bound)?> ByChoice for $name<T> {
            const CHOICE: Choice = Choice { keep: $keep, turn: $turn, which: $which };
        }
    )* };
}
by_choice! {
    Or<T: Integer>: ALL, 0, Bits::<T>::ANY;
    And<T: Integer>: ALL, ALL, Bits::<T>::ANY;
    Xor<T: Integer>: ALL, 0, Bits::<T>::ODD;
    Max<T>: ALL, T::ORDER, Extreme::<T>::ELEMENT;
    Min<T>: ALL, T::ORDER ^ T::REVERSED, Extreme::<T>::ELEMENT;
    Any<T>: T::MAGNITUDE, 0, Extreme::<T>::TRUTH;
    All<T>: T::MAGNITUDE, ALL, Extreme::<T>::TRUTH;
    MinMax<T>: ALL, T::ORDER, Extremes::<T>::BOTH;
    ArgMax<T>: ALL, T::ORDER, 0;
    ArgMin<T>: ALL, T::ORDER ^ T::REVERSED, 0;
    // In 64 bits sums of signed integers are those of unsigned ones.
    WideSum<T: Integer>: ALL, if T::BYTES < 8 { T::ORDER } else { 0 }, Sums::<T, true>::WIDE;
    Count<T>: T::MAGNITUDE, 0, Sums::<T, true>::COUNT;
}

// Norms are of other kernels where magnitudes are more than a mask.
macro_rules! unsigned {
    ($($t:ident)*) => { $(
        impl ByChoice for NormMax<$t> {
            const CHOICE: Choice = Max::<$t>::CHOICE;
        }
        impl ByChoice for Sum<$t> {
            const CHOICE: Choice = Choice { which: Sums::<$t, true>::NARROW, ..Choice::AS_IT_IS };
        }
        impl ByChoice for NormL1<$t> {
            const CHOICE: Choice = Sum::<$t>::CHOICE;
        }
        impl ByChoice for SumOfSquares<$t> {
            const CHOICE: Choice = Choice::AS_IT_IS;
        }
    )* };
}
unsigned!(u8 u16 u32 u64);

macro_rules! signed {
    ($($t:ident as $unsigned:ident)*) => { $(
        impl ByChoice for NormMax<$t> {
            const CHOICE: Choice = Choice { which: Extremes::<$t>::NORM, ..MinMax::<$t>::CHOICE };
        }
        impl ByChoice for Sum<$t> {
            const CHOICE: Choice = Sum::<$unsigned>::CHOICE;
        }
        impl ByChoice for NormL1<$t> {
            const CHOICE: Choice = $t::SIGN;
        }
        impl ByChoice for SumOfSquares<$t> {
            const CHOICE: Choice = $t::ITSELF;
        }
    )* };
}
signed!(i8 as u8 i16 as u16 i32 as u32 i64 as u64);

macro_rules! reals {
    ($($t:ident)*) => { $(
        impl ByChoice for NormMax<$t> {
            const CHOICE: Choice = Choice { keep: $t::MAGNITUDE, ..Max::<$t>::CHOICE };
        }
        impl ByChoice for NormL1<$t> {
            const CHOICE: Choice = $t::SIGN;
        }
        impl ByChoice for SumOfSquares<$t> {
            const CHOICE: Choice = $t::ITSELF;
        }
    )* };
}
reals!(f32 f64);

macro_rules! halves {
    ($($t:ident)*) => { $(
        impl ByChoice for NormMax<$t> {
            const CHOICE: Choice = Choice { keep: $t::MAGNITUDE, ..Max::<$t>::CHOICE };
        }
        impl ByChoice for Sum<$t> {
            const CHOICE: Choice = Choice { which: HalfSums::<$t>::ROUNDED, ..Choice::AS_IT_IS };
        }
        impl ByChoice for NormL1<$t> {
            const CHOICE: Choice = Choice { keep: $t::MAGNITUDE, ..Sum::<$t>::CHOICE };
        }
        impl ByChoice for ExtendedSum<$t> {
            const CHOICE: Choice = Choice { which: HalfSums::<$t>::EXTENDED, ..Choice::AS_IT_IS };
        }
    )* };
}
halves!(f16 bf16);
