//! Which reductions there are of which elements.

use gpu_core::{Stream, View};
use gpu_reduce_kernels as kernels;
use gpu_reduce_kernels::{Integer, Number, Real};
use gpu_std::half::{bf16, f16};

use crate::api::mean::Exact;
use crate::instance::{AlongColumns, Instance, Segmented};
use crate::launch::SumUnordered;
use crate::operand::Operand;

/// A type of elements that can be reduced: `f32`, `f64`, `f16`, `bf16`, `i8` to `i64`, `u8` to `u64`.
pub trait Element: gpu_core::Element + Number<Magnitude: gpu_core::Element> + Operand {
    /// The sum; integers wrap.
    type Sum: Instance + Segmented<Item = Self, Output = Self> + AlongColumns;
    /// The product; integers wrap.
    type Product: Instance + Segmented<Item = Self, Output = Self> + AlongColumns;
    /// The smallest.
    type Min: Instance + Segmented<Item = Self, Output = Self> + AlongColumns;
    /// The largest.
    type Max: Instance + Segmented<Item = Self, Output = Self> + AlongColumns;
    /// The smallest and the largest.
    type MinMax: Instance + Segmented<Item = Self, Output = Self> + AlongColumns;
    /// Where the smallest is.
    type ArgMin: Instance + Segmented<Item = Self, Output = u64> + AlongColumns;
    /// Where the largest is.
    type ArgMax: Instance + Segmented<Item = Self, Output = u64> + AlongColumns;
    /// The sum of squares; integers wrap.
    type SumOfSquares: Instance + Segmented<Item = Self, Output = Self> + AlongColumns;
    /// The sum of magnitudes.
    type NormL1: Instance + Segmented<Item = Self, Output = Self::Magnitude> + AlongColumns;
    /// The largest magnitude.
    type NormMax: Instance + Segmented<Item = Self, Output = Self::Magnitude> + AlongColumns;
    /// Whether any is not zero.
    type Any: Instance + Segmented<Item = Self, Output = u8> + AlongColumns;
    /// Whether none is zero.
    type All: Instance + Segmented<Item = Self, Output = u8> + AlongColumns;
    /// How many are not zero.
    type Count: Instance + Segmented<Item = Self, Output = u64> + AlongColumns;
    /// The sum of products; integers wrap.
    type Dot: Instance<Item = Self::Pair, Output = Self>;
    /// `(Self, Self)`.
    type Pair: Operand;
    /// One view as what a reduction of one array takes.
    fn one(view: View<'_, Self>) -> <Self as Operand>::Views<'_>;
    /// Two views as what a reduction of two arrays takes.
    fn two<'a>(a: View<'a, Self>, b: View<'a, Self>) -> <Self::Pair as Operand>::Views<'a>;
    /// The kernel of [`sum_unordered`](crate::sum_unordered), where it is not that of [`sum`](crate::sum()).
    #[doc(hidden)]
    const SUM_UNORDERED: Option<SumUnordered<Self>> = None;
    /// The sum that a mean is made of.
    type Total: Instance + Segmented<Item = Self> + AlongColumns;
    /// What a mean is.
    type Mean: gpu_core::Element;
    /// The mean of `len` elements with that sum.
    fn mean(total: <Self::Total as kernels::Reduction>::Output, len: usize) -> Self::Mean;
    /// The exact sum of integers.
    #[doc(hidden)]
    const EXACT: Option<Exact<Self>> = None;
}

/// `i8` to `i64`, `u8` to `u64`.
pub trait IntegerElement: Element + Integer<Wide: gpu_core::Element> {
    /// The bits that all have.
    type And: Instance + Segmented<Item = Self, Output = Self> + AlongColumns;
    /// The bits that any has.
    type Or: Instance + Segmented<Item = Self, Output = Self> + AlongColumns;
    /// The bits that an odd number of them has.
    type Xor: Instance + Segmented<Item = Self, Output = Self> + AlongColumns;
    /// The sum in 64 bits.
    type WideSum: Instance + Segmented<Item = Self, Output = Self::Wide> + AlongColumns;
}

/// Floating-point elements of any width: `f32`, `f64`, `f16` and `bf16`. (`gpu_linalg::RealElement` are those that are computed
/// with as they are, `f32` and `f64`.)
pub trait FloatElement: Element + Real {
    /// The Euclidean norm.
    type NormL2: Instance + Segmented<Item = Self, Output = Self> + AlongColumns;
}

macro_rules! elements {
    ($(
        $t:ty: $squares:ident, $dot:ident, $total:ident, $mean:ty
        $(, unordered $unordered:ident)? $(, of $bits:literal)?;
    )*) => { $(
        impl Element for $t {
            $( const SUM_UNORDERED: Option<SumUnordered<Self>> = Some(kernels::$unordered::launch::<Stream>); )?
            $( const EXACT: Option<Exact<Self>> = Some(Exact {
                most: 1 << (64 - $bits),
                element: |value| value as i128,
                wrapped: |total| total as u64,
                mean: |sum, len| sum as $mean / len as $mean,
            }); )?
            type Sum = kernels::Sum<$t>;
            type Product = kernels::Product<$t>;
            type Min = kernels::Min<$t>;
            type Max = kernels::Max<$t>;
            type MinMax = kernels::MinMax<$t>;
            type ArgMin = kernels::ArgMin<$t>;
            type ArgMax = kernels::ArgMax<$t>;
            type SumOfSquares = kernels::$squares<$t>;
            type NormL1 = kernels::NormL1<$t>;
            type NormMax = kernels::NormMax<$t>;
            type Any = kernels::Any<$t>;
            type All = kernels::All<$t>;
            type Count = kernels::Count<$t>;
            type Dot = kernels::$dot<$t>;
            type Pair = ($t, $t);
            fn one(view: View<'_, Self>) -> View<'_, Self> {
                view
            }
            fn two<'a>(a: View<'a, Self>, b: View<'a, Self>) -> (View<'a, Self>, View<'a, Self>) {
                (a, b)
            }
            type Total = kernels::$total<$t>;
            type Mean = $mean;
            fn mean(total: <Self::Total as kernels::Reduction>::Output, len: usize) -> $mean {
                total as $mean / len as $mean
            }
        }
    )* };
}
elements! {
    f32: SumOfSquares, Dot, Sum, f32, unordered sum_unordered_f32;
    f64: SumOfSquares, Dot, Sum, f64, unordered sum_unordered_f64;
    f16: HalfSumOfSquares, HalfDot, ExtendedSum, f32;
    bf16: HalfSumOfSquares, HalfDot, ExtendedSum, f32;
    i8: SumOfSquares, Dot, WideSum, f64, of 8;
    i16: SumOfSquares, Dot, WideSum, f64, of 16;
    i32: SumOfSquares, Dot, WideSum, f64, of 32;
    i64: SumOfSquares, Dot, WideSum, f64, of 64;
    u8: SumOfSquares, Dot, WideSum, f64, of 8;
    u16: SumOfSquares, Dot, WideSum, f64, of 16;
    u32: SumOfSquares, Dot, WideSum, f64, of 32;
    u64: SumOfSquares, Dot, WideSum, f64, of 64;
}

macro_rules! integers {
    ($($t:ty)*) => { $(
        impl IntegerElement for $t {
            type And = kernels::And<$t>;
            type Or = kernels::Or<$t>;
            type Xor = kernels::Xor<$t>;
            type WideSum = kernels::WideSum<$t>;
        }
    )* };
}
integers!(i8 i16 i32 i64 u8 u16 u32 u64);

impl FloatElement for f32 {
    type NormL2 = kernels::NormL2<f32>;
}
impl FloatElement for f64 {
    type NormL2 = kernels::NormL2<f64>;
}
impl FloatElement for f16 {
    type NormL2 = kernels::HalfNormL2<f16>;
}
impl FloatElement for bf16 {
    type NormL2 = kernels::HalfNormL2<bf16>;
}
