//! Elements for the tests of reductions.

use core::cmp::Ordering;
use core::fmt::Debug;
use gpu_tests::data::random;

use gpu_reduce::kernels::Number;
use gpu_std::half::{bf16, f16};

/// A type of elements, with what the serial oracles need.
pub trait Sample: Number + gpu_core::Element + Debug {
    /// Small whole numbers, sums and products of which are exact in floats; no zeros among the first.
    #[allow(dead_code, reason = "not every test needs exact results")]
    fn whole_numbers(len: usize) -> Vec<Self>;
    /// Any bits.
    fn any_bits(seed: u64, len: usize) -> Vec<Self>;
    /// The sum, wrapping.
    #[allow(dead_code, reason = "not every test adds")]
    fn add(self, other: Self) -> Self;
    /// The product, wrapping.
    #[allow(dead_code, reason = "not every test multiplies")]
    fn mul(self, other: Self) -> Self;
    /// The order of the values; there is no NaN.
    #[allow(dead_code, reason = "not every test compares")]
    fn order(&self, other: &Self) -> Ordering;
}

macro_rules! floats {
    ($($t:ident)*) => { $(
        impl Sample for $t {
            fn whole_numbers(len: usize) -> Vec<Self> {
                // Mostly ones, so that a product stays within what is exact.
                let small = |i| match random(1, i) % 3001 { 0 => -2.0, 1 => 0.5, 2 => -4.0, n => (n % 2 * 2) as $t - 1.0 };
                (0..len).map(small).collect()
            }
            fn any_bits(seed: u64, len: usize) -> Vec<Self> {
                // Half of the inputs without NaN and infinities: those hide everything else.
                let keep = |value: &$t| seed % 2 == 0 || value.is_finite();
                (0..).map(|i| $t::from_bits(random(seed, i) as _)).filter(keep).take(len).collect()
            }
            fn add(self, other: Self) -> Self {
                self + other
            }
            fn mul(self, other: Self) -> Self {
                self * other
            }
            fn order(&self, other: &Self) -> Ordering {
                self.total_cmp(other)
            }
        }
    )* };
}
floats!(f32 f64);

macro_rules! integers {
    ($($t:ident)*) => { $(
        impl Sample for $t {
            fn whole_numbers(len: usize) -> Vec<Self> {
                Self::any_bits(1, len)
            }
            fn any_bits(seed: u64, len: usize) -> Vec<Self> {
                (0..len).map(|i| random(seed, i) as $t).collect()
            }
            fn add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            fn mul(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            fn order(&self, other: &Self) -> Ordering {
                self.cmp(other)
            }
        }
    )* };
}
integers!(i8 i16 i32 i64 u8 u16 u32 u64);

macro_rules! halves {
    ($($t:ident)*) => { $(
        impl Sample for $t {
            fn whole_numbers(len: usize) -> Vec<Self> {
                f32::whole_numbers(len).into_iter().map($t::from_f32).collect()
            }
            fn any_bits(seed: u64, len: usize) -> Vec<Self> {
                let keep = |value: &$t| seed % 2 == 0 || value.to_f32().is_finite();
                (0..).map(|i| $t::from_bits(random(seed, i) as u16)).filter(keep).take(len).collect()
            }
            fn add(self, other: Self) -> Self {
                $t::from_f32(self.to_f32() + other.to_f32())
            }
            fn mul(self, other: Self) -> Self {
                $t::from_f32(self.to_f32() * other.to_f32())
            }
            fn order(&self, other: &Self) -> Ordering {
                self.to_f32().total_cmp(&other.to_f32())
            }
        }
    )* };
}
halves!(f16 bf16);

/// The bits, with one pattern for all NaNs.
#[allow(dead_code, reason = "not every test compares bits")]
pub fn bits_of<T: Debug>(values: &[T]) -> Vec<String> {
    // What a float prints identifies its bits: the shortest digits that give them back, and the sign of zero.
    values.iter().map(|value| format!("{value:?}").replace("-NaN", "NaN")).collect()
}
