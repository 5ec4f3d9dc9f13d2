//! Sixteen bytes from any element on.
//!
//! A segment starts anywhere, but loads of 16 bytes start at multiples of 16. So a thread reads the words that hold
//! its elements, one after the other, and shifts them into place where elements are shorter: 9 instructions, where
//! one load for each element would take a thread sixteen of `u8`. All but the first of these loads find their sectors
//! on the way to the L1: they are the plain cached ones.

use gpu_std::bits::funnel_shift_right;
use gpu_std::half::{bf16, f16};
use gpu_std::memory::Global;
use gpu_std::{device, keep_rolled, opaque, unroll};

use super::LOAD_BYTES;
use super::item::Source;

/// One or two arrays that are read 16 bytes at a time, whatever the alignment.
pub trait Quads: Source {
    /// 16 bytes of each array.
    type Quad: Copy;
    /// What stands where nothing was read.
    const NOTHING: Self::Quad;
    /// The first 16 bytes, which are aligned.
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn quad(self) -> Self::Quad;
    /// The same, of which no other load will want a part: past the L1.
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn streamed(self) -> Self::Quad;
    /// The first `wanted` elements, or as many of them as 16 bytes hold, one after the other.
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn one_by_one(self, wanted: u32) -> Self::Quad;
    /// The same by aligned words: those that hold these elements, all of which have to be there.
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn by_words(self, wanted: u32) -> Self::Quad;
    /// As [`Quads::one_by_one`] in a loop: little code, and slow.
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn in_turn(self, wanted: u32) -> Self::Quad;
    /// What stands behind the first `elements` of 16 bytes, whole words.
    fn behind(quad: Self::Quad, elements: u32) -> Self::Quad;
    /// Element `index` of 16 bytes.
    fn item(quad: Self::Quad, index: u32) -> Self::Item;
}

/// 16 bytes of one array.
pub type Words = [u32; 4];

macro_rules! quads {
    ($($t:ty, $bits:ty: $from:expr;)*) => { $(
        impl Quads for Global<$t> {
            type Quad = Words;
            const NOTHING: Words = [0; 4];
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            fn quad(self) -> Words {
                self.cast::<u32>().read_only_vec(0)
            }
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            fn streamed(self) -> Words {
                self.cast::<u32>().read_streaming_vec(0)
            }
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            fn one_by_one(self, wanted: u32) -> Words {
                one_by_one(self.cast::<$bits>(), wanted)
            }
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            fn by_words(self, wanted: u32) -> Words {
                by_words(self.cast::<$bits>(), wanted)
            }
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            fn in_turn(self, wanted: u32) -> Words {
                in_turn(self.cast::<$bits>(), wanted)
            }
            #[inline(always)]
            fn behind([a, b, c, d]: Words, elements: u32) -> Words {
                match elements * size_of::<$t>() as u32 / 4 {
                    0 => [a, b, c, d],
                    1 => [b, c, d, d],
                    2 => [c, d, d, d],
                    _ => [d, d, d, d],
                }
            }
            #[inline(always)]
            fn item(quad: Words, index: u32) -> $t {
                const BYTES: u32 = size_of::<$t>() as u32;
                let (word, bit) = (index * BYTES / 4, index * BYTES % 4 * 8);
                let low = (quad[word as usize] >> bit) as u64;
                let bits = if BYTES == 8 { (quad[word as usize + 1] as u64) << 32 | low } else { low };
                $from(bits as $bits)
            }
        }

        impl Quads for (Global<$t>, Global<$t>) {
            type Quad = (Words, Words);
            const NOTHING: Self::Quad = ([0; 4], [0; 4]);
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            fn quad(self) -> Self::Quad {
                (self.0.quad(), self.1.quad())
            }
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            fn streamed(self) -> Self::Quad {
                (self.0.streamed(), self.1.streamed())
            }
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            fn one_by_one(self, wanted: u32) -> Self::Quad {
                (self.0.one_by_one(wanted), self.1.one_by_one(wanted))
            }
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            fn by_words(self, wanted: u32) -> Self::Quad {
                (self.0.by_words(wanted), self.1.by_words(wanted))
            }
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            fn in_turn(self, wanted: u32) -> Self::Quad {
                (self.0.in_turn(wanted), self.1.in_turn(wanted))
            }
            #[inline(always)]
            fn behind(quad: Self::Quad, elements: u32) -> Self::Quad {
                (<Global<$t> as Quads>::behind(quad.0, elements), <Global<$t> as Quads>::behind(quad.1, elements))
            }
            #[inline(always)]
            fn item(quad: Self::Quad, index: u32) -> ($t, $t) {
                (<Global<$t> as Quads>::item(quad.0, index), <Global<$t> as Quads>::item(quad.1, index))
            }
        }
    )* };
}
quads! {
    f32, u32: f32::from_bits;
    f64, u64: f64::from_bits;
    f16, u16: f16::from_bits;
    bf16, u16: bf16::from_bits;
    i8, u8: |bits| bits as i8;
    i16, u16: |bits| bits as i16;
    i32, u32: |bits| bits as i32;
    i64, u64: |bits| bits as i64;
    u8, u8: |bits| bits;
    u16, u16: |bits| bits;
    u32, u32: |bits| bits;
    u64, u64: |bits| bits;
}

/// An unsigned integer as wide as an element.
trait Bits: gpu_std::memory::Element {
    const NONE: Self;
    fn wide(self) -> u64;
}
macro_rules! bits {
    ($($t:ty)*) => { $(
        impl Bits for $t {
            const NONE: Self = 0;
            #[inline(always)]
            fn wide(self) -> u64 {
                self as u64
            }
        }
    )* };
}
bits!(u8 u16 u32 u64);

/// Elements in 16 bytes.
const fn per_quad<B: Bits>() -> u32 {
    LOAD_BYTES / size_of::<B>() as u32
}

#[device]
#[inline(always)]
fn one_by_one<B: Bits>(array: Global<B>, wanted: u32) -> Words {
    let mut words = [0u32; 4];
    unroll::<{ LOAD_BYTES as usize }>(|index| {
        if (index as u32) < per_quad::<B>() {
            let bits = array.read_only_below(index as u32, wanted, B::NONE).wide();
            let byte = index * size_of::<B>();
            words[byte / 4] |= (bits as u32) << (byte % 4 * 8);
            if size_of::<B>() == 8 {
                words[byte / 4 + 1] = (bits >> 32) as u32;
            }
        }
    });
    words
}

#[device]
#[inline(always)]
fn by_words<B: Bits>(array: Global<B>, wanted: u32) -> Words {
    let bytes = size_of::<B>() as u32;
    // Mutants: an element of 4 bytes is a word, and read by either.
    if bytes >= 4 {
        return one_by_one(array, wanted);
    }
    let beyond = array.address() as u32 % 4;
    let from = array.offset((beyond as u64 / bytes as u64).wrapping_neg()).cast::<u32>();
    let count = if wanted > 0 { (beyond + wanted.min(per_quad::<B>()) * bytes).div_ceil(4) } else { 0 };
    let words: [u32; 5] = core::array::from_fn(|word| from.read_only_below(word as u32, count, 0));
    core::array::from_fn(|word| funnel_shift_right(words[word], words[word + 1], 8 * beyond))
}

#[device]
#[inline(always)]
fn in_turn<B: Bits>(array: Global<B>, wanted: u32) -> Words {
    let bits = 8 * size_of::<B>();
    let mut words = [0; 4];
    let mut first = 0;
    // A word's elements come in from above, or both words of one; the first are at the bottom in the end.
    while first < opaque(per_quad::<B>()) {
        keep_rolled();
        let mut above = 0;
        unroll::<4>(|index| {
            // Mutants: an element beyond the word is read in vain.
            if bits * index < 32 {
                let part = array.read_only_below(first + index as u32, wanted, B::NONE);
                above |= part.wide() << (bits * index);
            }
        });
        let [_, b, c, d] = words;
        let (low, high) = (above as u32, (above >> 32) as u32);
        words = if bits == 64 { [c, d, low, high] } else { [b, c, d, low] };
        // Mutants: of 32 bits there is one in a word either way.
        first += if bits < 32 { 32 / bits as u32 } else { 1 };
    }
    words
}
