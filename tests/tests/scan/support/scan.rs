//! Elements for the tests of scans.

use bytemuck::NoUninit;
use core::fmt::Debug;
pub use gpu_tests::data::random;

use gpu_scan::{Element, bf16, f16};

/// Inclusive and exclusive, forward and reverse.
pub const MODES: [(bool, bool); 4] = [(false, false), (true, false), (false, true), (true, true)];

/// A type of elements, with what the serial oracles need.
pub trait Sample: Element + Debug {
    /// What the oracles compute with: the same type, `f32` for 16-bit floats.
    type Oracle: Copy;
    /// Small whole numbers of which sums are exact, and products too, being mostly of ones.
    fn small(seed: u64, len: usize) -> Vec<Self>;
    /// Any bits; without NaN and infinities, which hide everything after them, for odd seeds.
    fn any_bits(seed: u64, len: usize) -> Vec<Self>;
    /// For the oracle.
    fn oracle(self) -> Self::Oracle;
    /// From the oracle.
    fn round(value: Self::Oracle) -> Self;
    /// The sum, wrapping.
    fn sum_of(a: Self::Oracle, b: Self::Oracle) -> Self::Oracle;
    /// The product, wrapping.
    fn product_of(a: Self::Oracle, b: Self::Oracle) -> Self::Oracle;
    /// The smaller; there is no NaN.
    fn smaller_of(a: Self::Oracle, b: Self::Oracle) -> Self::Oracle;
    /// The larger; there is no NaN.
    fn larger_of(a: Self::Oracle, b: Self::Oracle) -> Self::Oracle;
}

macro_rules! floats {
    ($($t:ident as $wide:ident, $bits:ty: $widen:expr, $round:expr;)*) => { $(
        impl Sample for $t {
            type Oracle = $wide;
            fn small(seed: u64, len: usize) -> Vec<Self> {
                let small = |i| match random(seed, i) % 4001 {
                    0 => -2.0,
                    1 => 0.5,
                    n => (n % 2 * 2) as f32 - 1.0,
                };
                (0..len).map(|i| Self::round(small(i) as $wide)).collect()
            }
            fn any_bits(seed: u64, len: usize) -> Vec<Self> {
                let keep = |value: &$t| seed % 2 == 0 || value.oracle().is_finite();
                (0..).map(|i| $t::from_bits(random(seed, i) as $bits)).filter(keep).take(len).collect()
            }
            fn oracle(self) -> $wide {
                $widen(self)
            }
            fn round(value: $wide) -> $t {
                $round(value)
            }
            fn sum_of(a: $wide, b: $wide) -> $wide {
                a + b
            }
            fn product_of(a: $wide, b: $wide) -> $wide {
                a * b
            }
            fn smaller_of(a: $wide, b: $wide) -> $wide {
                if a.total_cmp(&b).is_le() { a } else { b }
            }
            fn larger_of(a: $wide, b: $wide) -> $wide {
                if a.total_cmp(&b).is_ge() { a } else { b }
            }
        }
    )* };
}
floats! {
    f32 as f32, u32: |v| v, |v| v;
    f64 as f64, u64: |v| v, |v| v;
    f16 as f32, u16: f16::to_f32, f16::from_f32;
    bf16 as f32, u16: bf16::to_f32, bf16::from_f32;
}

macro_rules! integers {
    ($($t:ident)*) => { $(
        impl Sample for $t {
            type Oracle = $t;
            fn small(seed: u64, len: usize) -> Vec<Self> {
                Self::any_bits(seed, len)
            }
            fn any_bits(seed: u64, len: usize) -> Vec<Self> {
                // Odd ones, so that products do not vanish.
                (0..len).map(|i| random(seed, i) as $t | 1).collect()
            }
            fn oracle(self) -> $t {
                self
            }
            fn round(value: $t) -> $t {
                value
            }
            fn sum_of(a: $t, b: $t) -> $t {
                a.wrapping_add(b)
            }
            fn product_of(a: $t, b: $t) -> $t {
                a.wrapping_mul(b)
            }
            fn smaller_of(a: $t, b: $t) -> $t {
                Ord::min(a, b)
            }
            fn larger_of(a: $t, b: $t) -> $t {
                Ord::max(a, b)
            }
        }
    )* };
}
integers!(i8 i16 i32 i64 u8 u16 u32 u64);

/// The oracle: one element after the other. Bit for bit what a scan gives wherever nothing is rounded on the way.
pub fn serial<T: Copy, A: Copy, O>(
    values: &[T],
    (exclusive, reverse): (bool, bool),
    initial: A,
    step: impl Fn(A, T) -> A,
    output: impl Fn(A) -> O,
) -> Vec<O> {
    let mut state = initial;
    let mut result = |value: &T| {
        let before = state;
        state = step(state, *value);
        output(if exclusive { before } else { state })
    };
    if !reverse {
        return values.iter().map(result).collect();
    }
    let mut results: Vec<O> = values.iter().rev().map(&mut result).collect();
    results.reverse();
    results
}

/// What a float prints identifies its bits, of a NaN only that it is one.
#[track_caller]
pub fn assert_same<T: Debug + NoUninit>(actual: &[T], expected: &[T], context: impl Fn() -> String) {
    assert_eq!(actual.len(), expected.len(), "{}", context());
    // A text for each value takes longer than the scans.
    if bytemuck::cast_slice::<T, u8>(actual) == bytemuck::cast_slice::<T, u8>(expected) {
        return;
    }
    let text = |value: &T| format!("{value:?}").replace("-NaN", "NaN");
    for (index, (a, b)) in actual.iter().zip(expected).enumerate() {
        assert_eq!(text(a), text(b), "{}: [{index}]", context());
    }
}

/// Calls `$check::<T>(device, addition in the wider type, initial value)` for every type `T` that has a wider one.
macro_rules! every_wide_type {
    ($check:ident, $device:expr) => {
        $check::<u8>($device, u32::wrapping_add, 7);
        $check::<i8>($device, i32::wrapping_add, -7);
        $check::<u16>($device, u32::wrapping_add, 1 << 31);
        $check::<i16>($device, i32::wrapping_add, 0);
        $check::<u32>($device, u64::wrapping_add, 1 << 40);
        $check::<i32>($device, i64::wrapping_add, -1);
        $check::<gpu_scan::f16>($device, |a, b| a + b, 0.5);
        $check::<gpu_scan::bf16>($device, |a, b| a + b, -0.0);
        $check::<f32>($device, |a, b| a + b, 1e9);
    };
}
pub(crate) use every_wide_type;
