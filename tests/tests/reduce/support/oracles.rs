//! Every reduction of one array beside what it should be, computed one element after the other.

use core::cmp::Ordering;

use gpu_reduce::kernels::Number;
use gpu_std::half::{bf16, f16};

use crate::support::reduce::Sample;

/// The oracles of sums and products. They are exact in the type they accumulate in if the elements are
/// [`Sample::whole_numbers`], and the result is narrowed once.
pub trait Oracle: Sample {
    fn total(values: &[Self]) -> Self;
    fn product(values: &[Self]) -> Self;
    fn squares(values: &[Self]) -> Self;
    fn absolute(self) -> Self::Magnitude;
    fn magnitudes(values: &[Self]) -> Self::Magnitude;
    fn is_zero(self) -> bool;

    fn least(values: &[Self]) -> Self {
        *values.iter().min_by(|a, b| a.order(b)).unwrap()
    }
    fn greatest(values: &[Self]) -> Self {
        *values.iter().max_by(|a, b| a.order(b)).unwrap()
    }
    /// The first of those that none comes before.
    fn first(values: &[Self], before: Ordering) -> u64 {
        let better =
            |best: usize, at: usize| if values[at].order(&values[best]) == before { at } else { best };
        (0..values.len()).reduce(better).unwrap() as u64
    }
}

macro_rules! floats {
    ($($t:ident: $wide:expr, $narrow:expr;)*) => { $(
        impl Oracle for $t {
            fn total(values: &[Self]) -> Self {
                $narrow(values.iter().map($wide).sum())
            }
            fn product(values: &[Self]) -> Self {
                $narrow(values.iter().map($wide).product())
            }
            fn squares(values: &[Self]) -> Self {
                $narrow(values.iter().map($wide).map(|value| value * value).sum())
            }
            fn absolute(self) -> Self {
                $narrow($wide(&self).abs())
            }
            fn magnitudes(values: &[Self]) -> Self {
                $narrow(values.iter().map($wide).map(f64::abs).sum())
            }
            fn is_zero(self) -> bool {
                $wide(&self) == 0.0
            }
        }

        impl EuclideanOracle for $t {
            fn norm(values: &[Self]) -> Self {
                $narrow(values.iter().map($wide).map(|value| value * value).sum::<f64>().sqrt())
            }
        }
    )* };
}

/// The oracle of the Euclidean norm, under the same condition.
pub trait EuclideanOracle: Oracle {
    fn norm(values: &[Self]) -> Self;
}

floats! {
    f32: |value: &f32| f64::from(*value), |value: f64| value as f32;
    f64: |value: &f64| *value, |value: f64| value;
    f16: |value: &f16| f64::from(value.to_f32()), |value: f64| f16::from_f32(value as f32);
    bf16: |value: &bf16| f64::from(value.to_f32()), |value: f64| bf16::from_f32(value as f32);
}

macro_rules! integers {
    ($($t:ident: $absolute:expr;)*) => { $(
        impl Oracle for $t {
            fn total(values: &[Self]) -> Self {
                values.iter().fold(0, |sum, &value| sum.wrapping_add(value))
            }
            fn product(values: &[Self]) -> Self {
                values.iter().fold(1, |product, &value| product.wrapping_mul(value))
            }
            fn squares(values: &[Self]) -> Self {
                values.iter().fold(0, |sum, &value| sum.wrapping_add(value.wrapping_mul(value)))
            }
            fn absolute(self) -> Self::Magnitude {
                $absolute(self)
            }
            fn magnitudes(values: &[Self]) -> Self::Magnitude {
                values.iter().fold(0, |sum, &value| sum.wrapping_add(value.absolute()))
            }
            fn is_zero(self) -> bool {
                self == 0
            }
        }

        impl BitsOracle for $t {
            fn bits(values: &[Self], combine: fn(u64, u64) -> u64, nothing: u64) -> Self {
                values.iter().fold(nothing, |bits, &value| combine(bits, value as u64)) as $t
            }
            fn wide(values: &[Self]) -> i128 {
                values.iter().map(|&value| value as i128).sum()
            }
        }
    )* };
}

/// The oracles of what only integers have.
pub trait BitsOracle: Oracle {
    fn bits(values: &[Self], combine: fn(u64, u64) -> u64, nothing: u64) -> Self;
    fn wide(values: &[Self]) -> i128;
}

integers! {
    i8: i8::unsigned_abs;
    i16: i16::unsigned_abs;
    i32: i32::unsigned_abs;
    i64: i64::unsigned_abs;
    u8: core::convert::identity;
    u16: core::convert::identity;
    u32: core::convert::identity;
    u64: core::convert::identity;
}

/// The largest of magnitudes, which are not negative.
pub fn largest<M: Number + Sample>(magnitudes: impl Iterator<Item = M>) -> M {
    magnitudes.max_by(|a, b| a.order(b)).unwrap()
}

/// `$test!(name, kind type)` for each type of elements, whose reductions are what [`every_reduction!`] has of its kind.
macro_rules! every_type {
    ($test:ident) => {
        $test!(all_of_f16, float f16);
        $test!(all_of_bf16, float bf16);
        $test!(all_of_f32, float f32);
        $test!(all_of_f64, float f64);
        $test!(all_of_i8, integer i8);
        $test!(all_of_i16, integer i16);
        $test!(all_of_i32, integer i32);
        $test!(all_of_i64, integer i64);
        $test!(all_of_u8, integer u8);
        $test!(all_of_u16, integer u16);
        $test!(all_of_u32, integer u32);
        $test!(all_of_u64, integer u64);
    };
}

/// Calls `$check!(reduction, oracle)` for every reduction of one array of `$E`, which is `integer` or `float`. The
/// elements must be [`Sample::whole_numbers`].
#[macro_export]
macro_rules! every_reduction {
    ($E:ident, $check:ident) => {
        $check!(Sum<$E>, |v| vec![$E::total(v)]);
        $check!(Product<$E>, |v| vec![$E::product(v)]);
        $check!(<$E as Element>::SumOfSquares, |v| vec![$E::squares(v)]);
        $check!(Min<$E>, |v| vec![$E::least(v)]);
        $check!(Max<$E>, |v| vec![$E::greatest(v)]);
        $check!(MinMax<$E>, |v| vec![$E::least(v), $E::greatest(v)]);
        $check!(ArgMin<$E>, |v| vec![$E::first(v, Ordering::Less)]);
        $check!(ArgMax<$E>, |v| vec![$E::first(v, Ordering::Greater)]);
        $check!(NormL1<$E>, |v| vec![$E::magnitudes(v)]);
        $check!(NormMax<$E>, |v| vec![largest(v.iter().map(|value| value.absolute()))]);
        $check!(Any<$E>, |v| vec![u8::from(v.iter().any(|value| !value.is_zero()))]);
        $check!(All<$E>, |v| vec![u8::from(!v.iter().any(|value| value.is_zero()))]);
        $check!(Count<$E>, |v| vec![v.iter().filter(|value| !value.is_zero()).count() as u64]);
    };
    (float $E:ident, $check:ident) => {
        every_reduction!($E, $check);
        $check!(<$E as FloatElement>::NormL2, |v| vec![$E::norm(v)]);
    };
    (integer $E:ident, $check:ident) => {
        every_reduction!($E, $check);
        $check!(And<$E>, |v| vec![$E::bits(v, |a, b| a & b, u64::MAX)]);
        $check!(Or<$E>, |v| vec![$E::bits(v, |a, b| a | b, 0)]);
        $check!(Xor<$E>, |v| vec![$E::bits(v, |a, b| a ^ b, 0)]);
        $check!(WideSum<$E>, |v| vec![$E::wide(v) as <$E as Integer>::Wide]);
    };
}
