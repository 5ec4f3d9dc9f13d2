//! Reductions that another one's kernel computes of changed bits.
//!
//! The minimum of numbers is the maximum of what their order turns over; of signed integers it is that of unsigned ones with the sign bit
//! turned; `and` is `or` of the bits that are not set. So a kernel of *masked* elements takes two words, [`Mask`], changes 32 bits at
//! a time where they are loaded (one instruction), and turns its results back where they are written. A maximum serves the minimum, and
//! both of signed and of unsigned integers, and the maximum norm.

use core::marker::PhantomData;

use gpu_std::half::{bf16, f16};
use gpu_std::memory::Global;

use super::item::{Item, Source};
use super::number::{Integer, Number, Register};
use super::operator::Reduction;
use super::operators::{
    All, And, Any, ArgMax, ArgMin, Count, Largest, Max, Min, MinMax, NormL1, NormMax, Or, Sum,
};
use super::quad::{Quads, Words};

/// What becomes of an element's bits: those of `keep` stay, then those of `turn` are turned over. Both hold as many elements' masks,
/// all alike, as 64 bits do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mask {
    /// The bits that stay.
    pub keep: u64,
    /// The bits that are turned over, of results too where those are elements.
    pub turn: u64,
}

/// A type of elements that there are masks of.
pub trait Maskable: Number + Item<Source = Global<Self>, Source: Quads<Item = Self, Quad = Words>> {
    /// What turns the order of the values into the one that kernels of extremes know: that of unsigned integers, or of floats.
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
const ALL: u64 = !0;
const SIGN_8: u64 = 0x8080_8080_8080_8080;
const SIGN_16: u64 = 0x8000_8000_8000_8000;
const SIGN_32: u64 = 0x8000_0000_8000_0000;
const SIGN_64: u64 = 1 << 63;

// ---- What a kernel reads --------------------------------------------------------------------------------------------

/// An element whose bits a mask has changed.
#[derive(Clone, Copy, Debug)]
pub struct Masked<T>(pub T);

impl<T: Maskable> Item for Masked<T> {
    type Source = MaskedSource<T>;
    const BYTES: u32 = T::BYTES;
    const ARRAYS: u32 = 1;
    const ANY: Self = Self(T::ANY);
}

/// An array, and what becomes of its elements as they are read.
#[derive(Clone, Copy)]
pub struct MaskedSource<T: Maskable> {
    /// The array.
    pub array: Global<T>,
    /// The mask.
    pub mask: Mask,
}

impl<T: Maskable> MaskedSource<T> {
    #[inline(always)]
    fn words(self, words: Words) -> Words {
        let Mask { keep, turn } = self.mask;
        let of = |mask: u64, word: usize| {
            // Masks of shorter elements are the same in all words.
            if T::BYTES == 8 && word % 2 == 1 { (mask >> 32) as u32 } else { mask as u32 }
        };
        core::array::from_fn(|word| words[word] & of(keep, word) ^ of(turn, word))
    }
}

impl<T: Maskable> Source for MaskedSource<T> {
    type Item = Masked<T>;
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
    fn read(self, index: u32) -> Masked<T> {
        let Mask { keep, turn } = self.mask;
        Masked(T::from_raw_bits(Source::read(self.array, index).raw_bits() & keep ^ turn))
    }
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn read_vec<const V: usize>(self, index: u32) -> [Masked<T>; V] {
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

impl<T: Maskable> Quads for MaskedSource<T> {
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
    fn item(quad: Words, index: u32) -> Masked<T> {
        Masked(Global::<T>::item(quad, index))
    }
}

// ---- What it computes -----------------------------------------------------------------------------------------------

/// A reduction that kernels compute of masked elements: what it writes then.
pub trait Turned: Reduction<Item: Maskable> {
    /// As [`Reduction::output`], of elements that were masked with `turn`.
    #[inline(always)]
    fn turned(total: Self::Accumulator, index: u32, _turn: u64) -> Self::Output {
        Self::output(total, index)
    }
    /// The result of nothing, likewise.
    #[inline(always)]
    fn nothing(_turn: u64) -> Option<Self::Output> {
        Self::EMPTY
    }
}

impl<T: Maskable> Turned for ArgMax<T> {}
impl<T: Maskable> Turned for Count<T> {}
impl<T: Maskable> Turned for Sum<T> {}

/// Of nothing there is a maximum norm, which turns nothing; there is no maximum and no minimum.
impl<T: Maskable> Turned for Largest<T> {
    #[inline(always)]
    fn turned(total: T::Register, index: u32, turn: u64) -> T {
        Self::output(total, index).turned(turn)
    }
}

impl<T: Maskable> Turned for MinMax<T> {
    #[inline(always)]
    fn turned(total: Self::Accumulator, index: u32, turn: u64) -> T {
        Self::output(total, index).turned(turn)
    }
}

impl<T: Maskable + Integer> Turned for Or<T> {
    #[inline(always)]
    fn turned(total: T::Register, index: u32, turn: u64) -> T {
        Self::output(total, index).turned(turn)
    }
    #[inline(always)]
    fn nothing(turn: u64) -> Option<T> {
        Some(Self::turned(Self::IDENTITY, 0, turn))
    }
}

/// Whether any element is not zero, 0 or 1: whether the largest is not. Of elements that are turned over, whether none is zero: whether
/// none has all bits.
#[derive(Clone, Copy, Debug)]
pub struct Truth<T>(PhantomData<fn() -> T>);

/// Some element has bits.
const SOME: u32 = 1;
/// Some element has all bits.
const FULL: u32 = 2;

impl<T: Maskable + Integer> Reduction for Truth<T> {
    type Item = T;
    type Local = T::Register;
    type Accumulator = u32;
    type Output = u8;
    const NAME: &'static str = "truth";
    const IDENTITY: u32 = 0;
    const EMPTY: Option<u8> = Some(0);
    #[inline(always)]
    fn start(_: u32) -> T::Register {
        T::NONE
    }
    #[inline(always)]
    fn take(local: T::Register, item: T, _: u32) -> T::Register {
        local.larger(item.extend())
    }
    #[inline(always)]
    fn widen(local: T::Register, _: u64) -> u32 {
        let largest = T::narrow(local);
        if largest == T::ZERO {
            0
        } else if largest == T::FULL {
            SOME | FULL
        } else {
            SOME
        }
    }
    #[inline(always)]
    fn combine(a: u32, b: u32) -> u32 {
        a | b
    }
    #[inline(always)]
    fn output(total: u32, index: u32) -> u8 {
        Self::turned(total, index, 0)
    }
}

impl<T: Maskable + Integer> Turned for Truth<T> {
    #[inline(always)]
    fn turned(total: u32, _: u32, turn: u64) -> u8 {
        if turn == 0 { (total & SOME != 0) as u8 } else { (total & FULL == 0) as u8 }
    }
    #[inline(always)]
    fn nothing(turn: u64) -> Option<u8> {
        Some(Self::turned(Self::IDENTITY, 0, turn))
    }
}

/// The reduction `R` of masked elements: what kernels are made of.
#[derive(Clone, Copy, Debug)]
pub struct OfMasked<R>(PhantomData<fn() -> R>);

impl<R: Turned> Reduction for OfMasked<R> {
    type Item = Masked<R::Item>;
    type Local = R::Local;
    type Accumulator = R::Accumulator;
    type Output = R::Output;
    const NAME: &'static str = R::NAME;
    const OUTPUTS: u32 = R::OUTPUTS;
    const IDENTITY: R::Accumulator = R::IDENTITY;
    const EMPTY: Option<R::Output> = R::EMPTY;
    #[inline(always)]
    fn start(first: u32) -> R::Local {
        R::start(first)
    }
    #[inline(always)]
    fn take(local: R::Local, item: Masked<R::Item>, offset: u32) -> R::Local {
        R::take(local, item.0, offset)
    }
    #[inline(always)]
    fn widen(local: R::Local, base: u64) -> R::Accumulator {
        R::widen(local, base)
    }
    #[inline(always)]
    fn combine(a: R::Accumulator, b: R::Accumulator) -> R::Accumulator {
        R::combine(a, b)
    }
    #[inline(always)]
    fn output(total: R::Accumulator, index: u32) -> R::Output {
        R::output(total, index)
    }
    #[inline(always)]
    fn output_of(source: MaskedSource<R::Item>, total: R::Accumulator, index: u32) -> R::Output {
        R::turned(total, index, source.mask.turn)
    }
    #[inline(always)]
    fn empty_of(source: MaskedSource<R::Item>) -> Option<R::Output> {
        R::nothing(source.mask.turn)
    }
}

// ---- What is computed by it -----------------------------------------------------------------------------------------

/// A reduction that a kernel of another one computes of masked elements.
pub trait ByMask: Reduction {
    /// The mask with which it does.
    const MASK: Mask;
}

macro_rules! by_mask {
    ($($name:ident<T $(: $bound:ident)?>: $keep:expr, $turn:expr;)*) => { $(
        impl<T: Maskable $(+ $bound)?> ByMask for $name<T> {
            const MASK: Mask = Mask { keep: $keep, turn: $turn };
        }
    )* };
}
by_mask! {
    Max<T>: ALL, T::ORDER;
    Min<T>: ALL, T::ORDER ^ T::REVERSED;
    MinMax<T>: ALL, T::ORDER;
    ArgMax<T>: ALL, T::ORDER;
    ArgMin<T>: ALL, T::ORDER ^ T::REVERSED;
    Or<T: Integer>: ALL, 0;
    And<T: Integer>: ALL, ALL;
    Any<T>: T::MAGNITUDE, 0;
    All<T>: T::MAGNITUDE, ALL;
    Count<T>: T::MAGNITUDE, 0;
    Sum<T>: ALL, 0;
}

// Of signed integers magnitudes are more than a mask.
impl<T: Maskable + Number<Magnitude = T>> ByMask for NormL1<T> {
    const MASK: Mask = Mask { keep: T::MAGNITUDE, turn: 0 };
}
impl<T: Maskable + Number<Magnitude = T>> ByMask for NormMax<T> {
    const MASK: Mask = Mask { keep: T::MAGNITUDE, turn: 0 };
}
