//! What a kernel that serves several reductions is told.

use gpu_std::half::{bf16, f16};
use gpu_std::memory::Global;

use crate::item::{Item, Source};
use crate::number::Number;
use crate::quad::{Quads, Words};

/// Three words: what becomes of an element's bits as it is read, and what the kernel says of the third.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The bits that stay. This word and the next hold as many elements' masks, all alike, as 64 bits do.
    pub keep: u64,
    /// Of what stays, the bits that are turned over; of results too where those are elements.
    pub turn: u64,
    /// Which of several, as the kernel's reduction has it.
    pub which: u64,
}

impl Choice {
    /// Elements as they are.
    pub const AS_IT_IS: Self = Self { keep: ALL, turn: 0, which: 0 };
}

/// A type of elements whose bits can be changed.
pub trait Maskable: Number + Item<Source = Global<Self>, Source: Quads<Item = Self, Quad = Words>> {
    /// What turns the order of the values into the one that kernels of extremes know: that of unsigned integers, or
    /// of floats.
    const ORDER: u64;
    /// What turns that order over. NaN stays NaN, and the order of zeros is turned over as well.
    const REVERSED: u64;
    /// What leaves the magnitude of a number that is not a signed integer; whether it is zero can be seen of that too.
    const MAGNITUDE: u64;
    /// The bits.
    fn raw_bits(self) -> u64;
    /// The element of the lowest bits.
    fn from_raw_bits(bits: u64) -> Self;
    /// With the bits of a mask turned over.
    #[inline(always)]
    fn turned(self, turn: u64) -> Self {
        Self::from_raw_bits(self.raw_bits() ^ turn)
    }
}

macro_rules! maskable {
    ($($t:ident as $bits:ty: $order:expr, $reversed:expr, $magnitude:expr, $to:expr, $from:expr;)*) => { $(
        impl Maskable for $t {
            const ORDER: u64 = $order;
            const REVERSED: u64 = $reversed;
            const MAGNITUDE: u64 = $magnitude;
            #[inline(always)]
            fn raw_bits(self) -> u64 {
                let bits: $bits = $to(self);
                bits as u64
            }
            #[inline(always)]
            fn from_raw_bits(bits: u64) -> Self {
                $from(bits as $bits)
            }
        }
    )* };
}
maskable! {
    f32 as u32: 0, SIGN_32, !SIGN_32, f32::to_bits, f32::from_bits;
    f64 as u64: 0, SIGN_64, !SIGN_64, f64::to_bits, f64::from_bits;
    f16 as u16: 0, SIGN_16, !SIGN_16, f16::to_bits, f16::from_bits;
    bf16 as u16: 0, SIGN_16, !SIGN_16, bf16::to_bits, bf16::from_bits;
    i8 as u8: SIGN_8, ALL, ALL, |v| v as u8, |v| v as i8;
    i16 as u16: SIGN_16, ALL, ALL, |v| v as u16, |v| v as i16;
    i32 as u32: SIGN_32, ALL, ALL, |v| v as u32, |v| v as i32;
    i64 as u64: SIGN_64, ALL, ALL, |v| v as u64, |v| v as i64;
    u8 as u8: 0, ALL, ALL, |v| v, |v| v;
    u16 as u16: 0, ALL, ALL, |v| v, |v| v;
    u32 as u32: 0, ALL, ALL, |v| v, |v| v;
    u64 as u64: 0, ALL, ALL, |v| v, |v| v;
}
/// Every bit.
pub(super) const ALL: u64 = !0;
const SIGN_8: u64 = 0x8080_8080_8080_8080;
const SIGN_16: u64 = 0x8000_8000_8000_8000;
const SIGN_32: u64 = 0x8000_0000_8000_0000;
const SIGN_64: u64 = 1 << 63;

// ---- What a kernel reads --------------------------------------------------------------------------------------------

/// An element as such a kernel reads it: with changed bits if `MASKED`, otherwise as it is.
#[derive(Clone, Copy, Debug)]
pub struct Told<T, const MASKED: bool>(pub T);

impl<T: Maskable, const MASKED: bool> Item for Told<T, MASKED> {
    type Source = ToldSource<T, MASKED>;
    const BYTES: u32 = T::BYTES;
    const ARRAYS: u32 = 1;
    const ANY: Self = Self(T::ANY);
}

/// An array, and what the kernel is told.
#[derive(Clone, Copy)]
pub struct ToldSource<T: Maskable, const MASKED: bool> {
    /// The array.
    pub array: Global<T>,
    /// The words.
    pub choice: Choice,
}

impl<T: Maskable, const MASKED: bool> ToldSource<T, MASKED> {
    /// 32 bits at a time are changed by one instruction.
    #[inline(always)]
    fn words(self, words: Words) -> Words {
        if !MASKED {
            return words;
        }
        let Choice { keep, turn, .. } = self.choice;
        let of = |mask: u64, word: usize| {
            // Masks of shorter elements are the same in all words.
            if T::BYTES == 8 && word % 2 == 1 { (mask >> 32) as u32 } else { mask as u32 }
        };
        core::array::from_fn(|word| words[word] & of(keep, word) ^ of(turn, word))
    }
}

impl<T: Maskable, const MASKED: bool> Source for ToldSource<T, MASKED> {
    type Item = Told<T, MASKED>;
    #[inline(always)]
    fn is_aligned(self) -> bool {
        self.array.is_aligned()
    }
    #[inline(always)]
    fn offset(self, elements: u64) -> Self {
        Self { array: self.array.offset(elements), ..self }
    }
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn read(self, index: u32) -> Self::Item {
        let bits = Source::read(self.array, index).raw_bits();
        let Choice { keep, turn, .. } = self.choice;
        Told(T::from_raw_bits(if MASKED { bits & keep ^ turn } else { bits }))
    }
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn read_vec<const V: usize>(self, index: u32) -> [Self::Item; V] {
        // Words, as bytes would be put together again to be masked.
        let first = if T::BYTES == 8 { index * 2 } else { index / (4 / T::BYTES) };
        let words = self.words(self.array.cast::<u32>().read_streaming_vec(first));
        core::array::from_fn(|lane| Self::item(words, lane as u32))
    }
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn prefetch(self, index: u32) {
        self.array.prefetch(index);
    }
}

impl<T: Maskable, const MASKED: bool> Quads for ToldSource<T, MASKED> {
    type Quad = Words;
    const NOTHING: Words = [0; 4];
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn quad(self) -> Words {
        self.words(self.array.quad())
    }
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn streamed(self) -> Words {
        self.words(self.array.streamed())
    }
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn one_by_one(self, wanted: u32) -> Words {
        self.words(self.array.one_by_one(wanted))
    }
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn by_words(self, wanted: u32) -> Words {
        self.words(self.array.by_words(wanted))
    }
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn in_turn(self, wanted: u32) -> Words {
        self.words(self.array.in_turn(wanted))
    }
    #[inline(always)]
    fn behind(quad: Words, elements: u32) -> Words {
        Global::<T>::behind(quad, elements)
    }
    #[inline(always)]
    fn item(quad: Words, index: u32) -> Self::Item {
        Told(Global::<T>::item(quad, index))
    }
}
