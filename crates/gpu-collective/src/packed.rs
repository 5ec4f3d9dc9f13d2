//! Elements in the 32-bit words that loads and stores move.
//!
//! A thread holds what it loaded as words and takes elements out of them where it needs one: 16 bytes of `u8` are four
//! registers then, and sixteen as elements.

use gpu_std::half::{bf16, f16};
use gpu_std::memory::Element;

/// An element of 1, 2, 4 or 8 bytes.
///
/// ```
/// use gpu_collective::Packed;
/// let mut words = [0x0403_0201, 0];
/// 5u8.pack(&mut words, 4);
/// assert_eq!([0, 3, 4].map(|index| u8::unpack(&words, index)), [1, 4, 5]);
/// assert_eq!(u16::reverse([0x0002_0001]), [0x0001_0002]);
/// ```
pub trait Packed: Element {
    /// How many bytes.
    const BYTES: u32 = size_of::<Self>() as u32;
    /// Element `index` of those in `words`.
    fn unpack<const N: usize>(words: &[u32; N], index: usize) -> Self;
    /// Puts element `index` into `words`, whose bits there are zero.
    fn pack<const N: usize>(self, words: &mut [u32; N], index: usize);
    /// The elements in `words` in the opposite order.
    #[must_use]
    fn reverse<const N: usize>(words: [u32; N]) -> [u32; N];
}

macro_rules! packed {
    ($($t:ty as $bits:ty: $to:expr, $from:expr, $swap:expr;)*) => { $(
        impl Packed for $t {
            #[inline(always)]
            fn unpack<const N: usize>(words: &[u32; N], index: usize) -> Self {
                let each = 4 / size_of::<$t>();
                $from((words[index / each] >> (index % each * 8 * size_of::<$t>())) as $bits)
            }
            #[inline(always)]
            fn pack<const N: usize>(self, words: &mut [u32; N], index: usize) {
                let each = 4 / size_of::<$t>();
                let bits: $bits = $to(self);
                words[index / each] |= (bits as u32) << (index % each * 8 * size_of::<$t>());
            }
            #[inline(always)]
            fn reverse<const N: usize>(words: [u32; N]) -> [u32; N] {
                core::array::from_fn(|index| $swap(words[N - 1 - index]))
            }
        }
    )* };
}
packed! {
    u8 as u8: |v| v, |v| v, u32::swap_bytes;
    i8 as u8: |v| v as u8, |v| v as i8, u32::swap_bytes;
    u16 as u16: |v| v, |v| v, |word: u32| word.rotate_left(16);
    i16 as u16: |v| v as u16, |v| v as i16, |word: u32| word.rotate_left(16);
    f16 as u16: f16::to_bits, f16::from_bits, |word: u32| word.rotate_left(16);
    bf16 as u16: bf16::to_bits, bf16::from_bits, |word: u32| word.rotate_left(16);
    u32 as u32: |v| v, |v| v, |word| word;
    i32 as u32: |v| v as u32, |v| v as i32, |word| word;
    f32 as u32: f32::to_bits, f32::from_bits, |word| word;
}

macro_rules! packed_in_two {
    ($($t:ty: $to:expr, $from:expr;)*) => { $(
        impl Packed for $t {
            #[inline(always)]
            fn unpack<const N: usize>(words: &[u32; N], index: usize) -> Self {
                $from((words[2 * index + 1] as u64) << 32 | words[2 * index] as u64)
            }
            #[inline(always)]
            fn pack<const N: usize>(self, words: &mut [u32; N], index: usize) {
                let bits: u64 = $to(self);
                words[2 * index] = bits as u32;
                words[2 * index + 1] = (bits >> 32) as u32;
            }
            #[inline(always)]
            fn reverse<const N: usize>(words: [u32; N]) -> [u32; N] {
                core::array::from_fn(|index| words[(N - 1 - index) ^ 1])
            }
        }
    )* };
}
packed_in_two! {
    u64: |v| v, |v| v;
    i64: |v| v as u64, |v| v as i64;
    f64: f64::to_bits, f64::from_bits;
}

#[cfg(all(test, not(target_arch = "nvptx64")))]
mod tests {
    use super::*;

    fn there_and_back<T: Packed, const N: usize>(elements: &[T]) {
        let mut words = [0; N];
        elements.iter().enumerate().for_each(|(index, element)| element.pack(&mut words, index));
        let reversed = T::reverse(words);
        for (index, element) in elements.iter().enumerate() {
            assert_eq!(T::unpack(&words, index), *element);
            assert_eq!(T::unpack(&reversed, elements.len() - 1 - index), *element);
        }
    }

    #[test]
    fn elements_come_back_from_their_words() {
        there_and_back::<u8, 2>(&[1, 2, 3, 255, 5, 6, 7, 128]);
        there_and_back::<i8, 1>(&[-1, 2, -128, 127]);
        there_and_back::<i16, 2>(&[-1, 2, -32768, 4]);
        there_and_back::<f16, 1>(&[f16::from_f32(-1.5), f16::from_f32(2.0)]);
        there_and_back::<f32, 4>(&[-1.5, 2.0, 3.0, f32::INFINITY]);
        there_and_back::<f64, 4>(&[-1.5, 1e300]);
        there_and_back::<i64, 2>(&[-5]);
    }
}
