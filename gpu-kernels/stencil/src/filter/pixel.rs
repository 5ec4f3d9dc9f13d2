//! Elements of images, and the type that their sums are computed in.
//!
//! Integers are computed with as `f32`: exactly up to 24 bits, so every pixel is. The one rounding at the end is to
//! the nearest integer, ties to even, saturated; NaN becomes the smallest value. No conversion instruction is used:
//! on GPUs they run at half the pace of additions or less. An integer from 0 to 2^16 - 1 put under the exponent of
//! 2^23 is 2^23 more than itself, and the addition of 2^23 rounds to integers.

use gpu_std::bits::byte_permute;
use gpu_std::float::Float;
use gpu_std::memory::{Element, GlobalMut, Shared};
use gpu_std::{device, opaque, unroll};

/// An element of images: `u8`, `u16`, `i16` and `f32`, computed with as `f32`, and `f64`.
pub trait Pixel: Element {
    /// What sums are computed in.
    type Sum: Float;
    /// The sign bits of the elements of a word: without them, signed integers are unsigned ones, as much more as the
    /// sign bit counts. The fast kernels of `u16` take `i16` too.
    const FLIP: u32 = 0;

    /// The same value.
    fn widen(self) -> Self::Sum;

    /// The nearest value.
    fn narrow(sum: Self::Sum) -> Self;

    /// Gives `put` the `V` elements of a row in shared memory from `index` on, a multiple of `V`, with their numbers;
    /// `flip` is [`Self::FLIP`] of what they are.
    fn load<const V: usize>(row: Shared<Self>, index: u32, flip: u32, put: impl FnMut(usize, Self::Sum));

    /// Writes what `V` sums round to: all, to a multiple of 16 bytes, if `whole`; else one by one as many as are
    /// `left`.
    fn store<const V: usize>(row: GlobalMut<Self>, flip: u32, whole: bool, left: u32, sums: [Self::Sum; V]);
}

/// Writes what `V` sums round to, or as many of them as are `left` of a row: `place` is that of the first, a multiple
/// of 16 bytes where it `is_aligned`.
#[device]
#[inline(always)]
pub(super) fn store_left<T: Pixel, const V: usize>(
    place: GlobalMut<T>,
    flip: u32,
    is_aligned: bool,
    left: u32,
    sums: [T::Sum; V],
) {
    // Mutants: what just fits may be written one by one.
    let whole = is_aligned && left >= V as u32;
    // Opaque, or all comparisons were made before the march and kept in registers during it.
    T::store::<V>(place, flip, whole, opaque(left), sums);
}

/// 2^23: of the sum of it and a number below it, ulps are integers.
const UNITS: f32 = 8_388_608.0;
/// Its bits.
const UNITS_BITS: u32 = 0x4b00_0000;

/// `sum` between `low` and `high`, and NaN as `low`.
#[inline(always)]
fn clamp(sum: f32, low: f32, high: f32) -> f32 {
    sum.max(low).min(high)
}

macro_rules! floats {
    ($($T:ty: $vector:literal;)*) => { $(
        impl Pixel for $T {
            type Sum = $T;

            #[inline(always)]
            fn widen(self) -> $T {
                self
            }

            #[inline(always)]
            fn narrow(sum: $T) -> $T {
                sum
            }

            #[inline(always)]
            fn load<const V: usize>(row: Shared<$T>, index: u32, _: u32, mut put: impl FnMut(usize, $T)) {
                const { assert!(V == $vector, "16 bytes") };
                let values: [$T; V] = row.read_vec(index);
                unroll::<V>(|j| put(j, values[j]));
            }

            #[inline(always)]
            fn store<const V: usize>(row: GlobalMut<$T>, _: u32, whole: bool, left: u32, sums: [$T; V]) {
                if whole {
                    // 16 bytes at a time: a lane may have more.
                    unroll::<4>(|part| {
                        if part * $vector < V {
                            let part = part * $vector;
                            let values: [$T; $vector] = core::array::from_fn(|j| sums[part + j]);
                            row.write_streaming_vec::<$vector>(part as u32, values);
                        }
                    });
                } else {
                    unroll::<V>(|v| {
                        if (v as u32) < left {
                            row.write(v as u32, sums[v]);
                        }
                    });
                }
            }
        }
    )* };
}
floats! {
    f32: 4;
    f64: 2;
}

impl Pixel for u8 {
    type Sum = f32;

    #[inline(always)]
    fn widen(self) -> f32 {
        self as f32
    }

    #[inline(always)]
    fn narrow(sum: f32) -> u8 {
        // What is stored is not to be a part of the float itself: the compiler may not see that the rest does not
        // matter.
        opaque(bits_of_u8(sum) & 0xff) as u8
    }

    #[inline(always)]
    fn load<const V: usize>(row: Shared<u8>, index: u32, _: u32, mut put: impl FnMut(usize, f32)) {
        const { assert!(V == 8 || V == 16, "two words or four") };
        let row = row.offset(index).cast::<u32>();
        let words: [u32; 4] = if V == 16 {
            row.read_vec(0)
        } else {
            let [low, high] = row.read_vec(0);
            [low, high, 0, 0]
        };
        unroll::<V>(|j| {
            // The byte below the three upper ones of 2^23.
            let bits = byte_permute(words[j / 4], UNITS_BITS, 0x7650 | (j % 4) as u32);
            put(j, f32::from_bits(bits) - UNITS);
        });
    }

    #[inline(always)]
    fn store<const V: usize>(row: GlobalMut<u8>, _: u32, whole: bool, left: u32, sums: [f32; V]) {
        const { assert!(V == 8 || V == 16, "two words or four") };
        let mut words = [0; 4];
        unroll::<4>(|word| {
            if 4 * word < V {
                let pair = |j: usize| {
                    byte_permute(bits_of_u8(sums[4 * word + j]), bits_of_u8(sums[4 * word + j + 1]), 0x7740)
                };
                words[word] = byte_permute(pair(0), pair(2), 0x5410);
            }
        });
        if !whole {
            unroll::<V>(|v| {
                if (v as u32) < left {
                    row.write(v as u32, (words[v / 4] >> (v % 4 * 8)) as u8);
                }
            });
        } else if V == 16 {
            row.cast::<u32>().write_streaming_vec::<4>(0, words);
        } else {
            row.cast::<u32>().write_streaming_vec::<2>(0, [words[0], words[1]]);
        }
    }
}

/// Bits of which the lower 8 are what `sum` rounds to.
#[inline(always)]
fn bits_of_u8(sum: f32) -> u32 {
    (clamp(sum, 0.0, 255.0) + UNITS).to_bits()
}

macro_rules! halves {
    ($($T:ident: $own:literal, |$flip:ident| $known:expr;)*) => { $(
        impl Pixel for $T {
            type Sum = f32;
            const FLIP: u32 = $own;

            #[inline(always)]
            fn widen(self) -> f32 {
                self as f32
            }

            #[inline(always)]
            fn narrow(sum: f32) -> $T {
                // As above.
                opaque((bits_of_half(sum, $own) ^ $own) & 0xffff) as $T
            }

            #[inline(always)]
            fn load<const V: usize>(row: Shared<$T>, index: u32, $flip: u32, mut put: impl FnMut(usize, f32)) {
                const { assert!(V == 8, "four words") };
                let flip = $known;
                let words: [u32; 4] = row.offset(index).cast::<u32>().read_vec(0);
                unroll::<V>(|j| {
                    let selector = if j % 2 == 0 { 0x7610 } else { 0x7632 };
                    let bits = byte_permute(words[j / 2] ^ flip, UNITS_BITS, selector);
                    put(j, f32::from_bits(bits) - zero_of(flip));
                });
            }

            #[inline(always)]
            fn store<const V: usize>(row: GlobalMut<$T>, $flip: u32, whole: bool, left: u32, sums: [f32; V]) {
                let flip = $known;
                // 16 bytes at a time: a lane may have more.
                unroll::<2>(|part| {
                    if part * 8 < V {
                        let pair = |word: usize| {
                            let at = part * 8 + 2 * word;
                            let (low, high) = (bits_of_half(sums[at], flip), bits_of_half(sums[at + 1], flip));
                            byte_permute(low, high, 0x5410) ^ flip
                        };
                        let words = [pair(0), pair(1), pair(2), pair(3)];
                        if whole {
                            row.cast::<u32>().write_streaming_vec::<4>(4 * part as u32, words);
                        } else {
                            unroll::<8>(|v| {
                                let at = (part * 8 + v) as u32;
                                if at < left {
                                    row.write(at, (words[v / 2] >> (v % 2 * 16)) as $T);
                                }
                            });
                        }
                    }
                });
            }
        }
    )* };
}
// What fast kernels read as `i16` is nothing else; they write it for the gradients of `u8`.
halves! {
    u16: 0, |flip| flip;
    i16: 0x8000_8000, |_flip| 0x8000_8000;
}

/// The number that an unsigned zero stands for, below the bits of 2^23: 2^15 less with the sign bit flipped.
#[inline(always)]
fn zero_of(flip: u32) -> f32 {
    f32::from_bits(UNITS_BITS | flip & 0x8000)
}

/// Bits of which the lower 16 are what `sum` rounds to, 2^15 more if signed numbers are to be flipped.
#[inline(always)]
fn bits_of_half(sum: f32, flip: u32) -> u32 {
    let (low, high) = if flip == 0 { (0.0, 65_535.0) } else { (-32_768.0, 32_767.0) };
    (clamp(sum, low, high) + zero_of(flip)).to_bits()
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;

    /// Integers and the halves between them, and what is beyond: against the standard library's rounding and
    /// saturation.
    fn check<T: Pixel<Sum = f32>>(low: i32, high: i32, of: impl Fn(i32) -> T) {
        for twice in 2 * low - 9..=2 * high + 9 {
            for sum in [(twice as f32 / 2.0).next_down(), twice as f32 / 2.0, (twice as f32 / 2.0).next_up()]
            {
                let expected = of((sum.round_ties_even() as i32).clamp(low, high));
                assert_eq!(T::narrow(sum), expected, "{sum}");
            }
        }
        for (sum, expected) in [(f32::INFINITY, high), (f32::NEG_INFINITY, low), (f32::NAN, low), (-0.0, 0)] {
            assert_eq!(T::narrow(sum), of(expected), "{sum}");
        }
        for value in low..=high {
            assert_eq!(of(value).widen(), value as f32);
        }
    }

    #[test]
    fn sums_are_rounded_to_the_nearest_even_and_saturated() {
        check::<u8>(0, 255, |value| value as u8);
        check::<u16>(0, 65_535, |value| value as u16);
        check::<i16>(-32_768, 32_767, |value| value as i16);
    }
}
