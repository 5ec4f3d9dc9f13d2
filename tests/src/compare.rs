//! The one comparison of results.

use std::fmt::Debug;

/// A number, as bits.
pub trait Bits: Copy + Debug {
    /// The bits, with one pattern for every NaN: which NaN an operation gives differs from machine to machine.
    fn bits(self) -> u64;
}

impl Bits for f32 {
    fn bits(self) -> u64 {
        if self.is_nan() { f32::NAN.to_bits() as u64 } else { self.to_bits() as u64 }
    }
}

impl Bits for f64 {
    fn bits(self) -> u64 {
        if self.is_nan() { f64::NAN.to_bits() } else { self.to_bits() }
    }
}

macro_rules! integers {
    ($($t:ty)*) => { $(
        impl Bits for $t {
            fn bits(self) -> u64 {
                self as u64
            }
        }
    )* };
}
integers!(u8 u16 i16);

/// Where two slices first differ in their bits, any NaN being equal to any NaN.
///
/// # Errors
/// Says what differs: the lengths, or the first pair of elements and how many there are.
pub fn same_bits<T: Bits>(actual: &[T], expected: &[T]) -> Result<(), String> {
    if actual.len() != expected.len() {
        return Err(format!("{} elements, expected {}", actual.len(), expected.len()));
    }
    let differs = |&index: &usize| actual[index].bits() != expected[index].bits();
    let Some(first) = (0..actual.len()).find(differs) else { return Ok(()) };
    let count = (first..actual.len()).filter(differs).count();
    let (got, wanted) = (actual[first], expected[first]);
    Err(format!(
        "{count} of {} elements differ, first [{first}]: {got:?} ({:#x}), expected {wanted:?} ({:#x})",
        actual.len(),
        got.bits(),
        wanted.bits()
    ))
}

/// As [`same_bits`], and panics.
#[track_caller]
pub fn assert_same_bits<T: Bits>(actual: &[T], expected: &[T], context: &str) {
    if let Err(difference) = same_bits(actual, expected) {
        panic!("{context}: {difference}");
    }
}

#[cfg(test)]
mod tests {
    use super::same_bits;

    #[test]
    fn equal_slices_are_equal() {
        same_bits::<f32>(&[], &[]).unwrap();
        same_bits(&[1.0f32, -0.0, f32::INFINITY], &[1.0, -0.0, f32::INFINITY]).unwrap();
    }

    #[test]
    fn any_nan_equals_any_nan_and_nothing_else() {
        same_bits(&[f32::from_bits(0x7fc0_0001)], &[f32::from_bits(0xffc1_2345)]).unwrap();
        same_bits(&[f32::NAN], &[1.0]).unwrap_err();
        same_bits(&[f64::INFINITY], &[f64::NAN]).unwrap_err();
    }

    #[test]
    fn signs_lengths_and_last_bits_count() {
        assert!(same_bits(&[0.0f32], &[-0.0]).unwrap_err().contains("first [0]"));
        assert!(same_bits(&[1.0f32, 2.0], &[1.0]).unwrap_err().contains("2 elements, expected 1"));
        assert!(
            same_bits(&[0.0, 1.0f32.next_up()], &[0.0, 1.0])
                .unwrap_err()
                .contains("1 of 2 elements differ, first [1]")
        );
    }
}
