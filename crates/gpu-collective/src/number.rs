//! The numbers that are reduced, and what a thread holds of them in registers.
//!
//! Integers of 1 and 2 bytes are computed with in 32 bits and cut to size at the end: modulo 2^8 or 2^16 that is the
//! same, and the GPU has no narrower arithmetic.

use gpu_std::half::{Float16, bf16, f16};
use gpu_std::memory::Element;
use gpu_std::opaque;

use super::item::Item;

/// What threads and blocks hand to each other: 1 to 6 words of 32 bits, which are shuffled and published one by one.
///
/// ```
/// use gpu_collective::Accumulator;
///
/// /// The smallest of some values, and the largest.
/// #[derive(Clone, Copy, Debug, PartialEq)]
/// struct Extremes(f32, f32);
///
/// impl Accumulator for Extremes {
///     const WORDS: u32 = 2;
///     fn word(self, index: u32) -> u32 {
///         if index == 0 { self.0.to_bits() } else { self.1.to_bits() }
///     }
///     fn from_words(word: &mut impl FnMut(u32) -> u32) -> Self {
///         Self(f32::from_bits(word(0)), f32::from_bits(word(1)))
///     }
/// }
/// let extremes = Extremes(-1.0, 2.0);
/// assert_eq!(Extremes::from_words(&mut |index| extremes.word(index)), extremes);
/// ```
pub trait Accumulator: Copy + Send + Sync + 'static {
    /// How many words; at most [`MAX_WORDS`](super::MAX_WORDS).
    const WORDS: u32;
    /// Word `index`.
    fn word(self, index: u32) -> u32;
    /// The accumulator whose word `i` is `word(i)`.
    fn from_words(word: &mut impl FnMut(u32) -> u32) -> Self;
}

macro_rules! one_word {
    ($($t:ty: $to:expr, $from:expr;)*) => { $(
        impl Accumulator for $t {
            const WORDS: u32 = 1;
            #[inline(always)]
            fn word(self, _: u32) -> u32 {
                $to(self)
            }
            #[inline(always)]
            fn from_words(word: &mut impl FnMut(u32) -> u32) -> Self {
                $from(word(0))
            }
        }
    )* };
}
one_word! {
    u32: |v| v, |v| v;
    i32: |v| v as u32, |v| v as i32;
    f32: f32::to_bits, f32::from_bits;
}

macro_rules! two_words {
    ($($t:ty: $to:expr, $from:expr;)*) => { $(
        impl Accumulator for $t {
            const WORDS: u32 = 2;
            #[inline(always)]
            fn word(self, index: u32) -> u32 {
                let bits: u64 = $to(self);
                // Opaque, so that the half is in a register of its own: rustc's NVPTX backend would store it as 32
                // bits of the register of 64 that an `add.f64` wrote, which ptxas (13.0) can take for a conversion to
                // `u32`.
                opaque((bits >> (32 * index)) as u32)
            }
            #[inline(always)]
            fn from_words(word: &mut impl FnMut(u32) -> u32) -> Self {
                let low = word(0) as u64;
                $from((word(1) as u64) << 32 | low)
            }
        }
    )* };
}
two_words! {
    u64: |v| v, |v| v;
    i64: |v| v as u64, |v| v as i64;
    f64: f64::to_bits, f64::from_bits;
}

impl Accumulator for u128 {
    const WORDS: u32 = 4;
    #[inline(always)]
    fn word(self, index: u32) -> u32 {
        (self >> (32 * index)) as u32
    }
    #[inline(always)]
    fn from_words(word: &mut impl FnMut(u32) -> u32) -> Self {
        let low = u64::from_words(word) as u128;
        (u64::from_words(&mut |index| word(2 + index)) as u128) << 64 | low
    }
}

impl<A: Accumulator, B: Accumulator> Accumulator for (A, B) {
    const WORDS: u32 = A::WORDS + B::WORDS;
    #[inline(always)]
    fn word(self, index: u32) -> u32 {
        if index < A::WORDS { self.0.word(index) } else { self.1.word(index - A::WORDS) }
    }
    #[inline(always)]
    fn from_words(word: &mut impl FnMut(u32) -> u32) -> Self {
        let first = A::from_words(word);
        (first, B::from_words(&mut |index| word(A::WORDS + index)))
    }
}

/// A type of elements.
///
/// ```
/// use gpu_collective::{Number, Register};
/// let sum = 200u8.extend().plus(100u8.extend());
/// assert_eq!((u8::narrow(sum), (-128i8).magnitude()), (44, 128));
/// ```
pub trait Number: Element + Item {
    /// What it is computed with.
    type Register: Register;
    /// What its absolute value fits: the unsigned type of its size, or itself.
    type Magnitude: Number;
    /// Zero.
    const ZERO: Self;
    /// One.
    const ONE: Self;
    /// The same value.
    fn extend(self) -> Self::Register;
    /// The value modulo 2 to the number of bits.
    fn narrow(value: Self::Register) -> Self;
    /// The absolute value.
    fn magnitude(self) -> Self::Magnitude;
    /// Whether it is not zero. NaN is not.
    #[inline(always)]
    fn is_nonzero(self) -> bool {
        self != Self::ZERO
    }
}

/// A number in registers. Integer operations wrap.
pub trait Register: Accumulator {
    /// What changes nothing when added: for floats -0.0 (0.0 would turn a sum of -0.0 into 0.0).
    const NOTHING: Self;
    /// What changes nothing when multiplied with.
    const ONE: Self;
    /// Not less than any other.
    const HIGHEST: Self;
    /// Not greater than any other.
    const LOWEST: Self;
    /// An integer in the order of the values.
    type Key: Key;
    /// The sum.
    #[must_use]
    fn plus(self, other: Self) -> Self;
    /// The product.
    #[must_use]
    fn times(self, other: Self) -> Self;
    /// The smaller: NaN if either is, and -0 is smaller than +0.
    #[must_use]
    fn smaller(self, other: Self) -> Self;
    /// The larger: NaN if either is, and +0 is larger than -0.
    #[must_use]
    fn larger(self, other: Self) -> Self;
    /// Greater for greater values, -0 < +0; the greatest of all for NaN.
    fn ascending(self) -> Self::Key;
    /// Greater for smaller values; the greatest of all for NaN.
    fn descending(self) -> Self::Key;
}

/// An integer that stands for a value's place in an order.
pub trait Key: Accumulator + Ord {
    /// Not greater than any other.
    const LOWEST: Self;
}

macro_rules! keys {
    ($($t:ty)*) => { $(
        impl Key for $t {
            const LOWEST: Self = <$t>::MIN;
        }
    )* };
}
keys!(u32 i32 u64 i64);

/// Bits, and a sum that does not wrap.
pub trait Integer:
    Number<
    Register: core::ops::BitAnd<Output = Self::Register>
                  + core::ops::BitOr<Output = Self::Register>
                  + core::ops::BitXor<Output = Self::Register>,
>
{
    /// All bits set.
    const ONES: Self::Register;
    /// All bits set.
    const FULL: Self;
    /// No bit set.
    const NONE: Self::Register;
    /// What a thread's part of a wide sum is held in: an accumulator takes at most 2^24 elements.
    type Partial: Copy + Send + Sync + 'static;
    /// `i64` or `u64`.
    type Wide: Register + Element;
    /// Nothing added yet.
    const EMPTY: Self::Partial;
    /// Zero.
    const WIDE_ZERO: Self::Wide;
    /// One more element.
    fn add_to(self, partial: Self::Partial) -> Self::Partial;
    /// One element less; the sum wraps.
    fn take_from(self, partial: Self::Partial) -> Self::Partial;
    /// The same in 64 bits.
    fn widen(partial: Self::Partial) -> Self::Wide;
}

/// Floating-point numbers.
pub trait Real: Number {}
impl Real for f32 {}
impl Real for f64 {}
impl Real for f16 {}
impl Real for bf16 {}

macro_rules! integers {
    ($($t:ty: $register:ty, $magnitude:ty, $partial:ty, $wide:ty, $abs:expr;)*) => { $(
        impl Number for $t {
            type Register = $register;
            type Magnitude = $magnitude;
            const ZERO: Self = 0;
            const ONE: Self = 1;
            #[inline(always)]
            fn extend(self) -> $register {
                self as $register
            }
            #[inline(always)]
            fn narrow(value: $register) -> Self {
                value as $t
            }
            #[inline(always)]
            fn magnitude(self) -> $magnitude {
                $abs(self)
            }
        }

        impl Integer for $t {
            const ONES: $register = !0;
            const FULL: Self = !0;
            const NONE: $register = 0;
            type Partial = $partial;
            type Wide = $wide;
            const EMPTY: $partial = 0;
            const WIDE_ZERO: $wide = 0;
            #[inline(always)]
            fn add_to(self, partial: $partial) -> $partial {
                partial.wrapping_add(self as $partial)
            }
            #[inline(always)]
            fn take_from(self, partial: $partial) -> $partial {
                partial.wrapping_sub(self as $partial)
            }
            #[inline(always)]
            fn widen(partial: $partial) -> $wide {
                partial as $wide
            }
        }
    )* };
}
integers! {
    i8: i32, u8, i32, i64, i8::unsigned_abs;
    i16: i32, u16, i64, i64, i16::unsigned_abs;
    i32: i32, u32, i64, i64, i32::unsigned_abs;
    i64: i64, u64, i64, i64, i64::unsigned_abs;
    u8: u32, u8, u32, u64, |v| v;
    u16: u32, u16, u64, u64, |v| v;
    u32: u32, u32, u64, u64, |v| v;
    u64: u64, u64, u64, u64, |v| v;
}

macro_rules! integer_registers {
    ($($t:ty)*) => { $(
        impl Register for $t {
            const NOTHING: Self = 0;
            const ONE: Self = 1;
            const HIGHEST: Self = <$t>::MAX;
            const LOWEST: Self = <$t>::MIN;
            type Key = $t;
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn times(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            #[inline(always)]
            fn smaller(self, other: Self) -> Self {
                Ord::min(self, other)
            }
            #[inline(always)]
            fn larger(self, other: Self) -> Self {
                Ord::max(self, other)
            }
            #[inline(always)]
            fn ascending(self) -> $t {
                self
            }
            #[inline(always)]
            fn descending(self) -> $t {
                !self
            }
        }
    )* };
}
integer_registers!(u32 i32 u64 i64);

// The bits of a float as an integer of the same order: of negative ones all bits but the sign are turned over.
macro_rules! ordered {
    ($value:expr, $key:ty) => {{
        let bits = $value.to_bits() as $key;
        bits ^ ((bits >> (<$key>::BITS - 1)) & <$key>::MAX)
    }};
}

macro_rules! reals {
    ($($t:ident: $key:ty;)*) => { $(
        impl Number for $t {
            type Register = $t;
            type Magnitude = $t;
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            #[inline(always)]
            fn extend(self) -> $t {
                self
            }
            #[inline(always)]
            fn narrow(value: $t) -> $t {
                value
            }
            #[inline(always)]
            fn magnitude(self) -> $t {
                gpu_std::float::abs(self)
            }
        }

        impl Register for $t {
            const NOTHING: Self = -0.0;
            const ONE: Self = 1.0;
            const HIGHEST: Self = $t::INFINITY;
            const LOWEST: Self = $t::NEG_INFINITY;
            type Key = $key;
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self + other
            }
            #[inline(always)]
            fn times(self, other: Self) -> Self {
                self * other
            }
            #[inline(always)]
            fn smaller(self, other: Self) -> Self {
                gpu_std::float::min(self, other)
            }
            #[inline(always)]
            fn larger(self, other: Self) -> Self {
                gpu_std::float::max(self, other)
            }
            #[inline(always)]
            fn ascending(self) -> $key {
                if self.is_nan() { <$key>::MAX } else { ordered!(self, $key) }
            }
            #[inline(always)]
            fn descending(self) -> $key {
                if self.is_nan() { <$key>::MAX } else { !ordered!(self, $key) }
            }
        }
    )* };
}
reals! { f32: i32; f64: i64; }

// Computed with as f32, and rounded at the end.
macro_rules! halves {
    ($($t:ident)*) => { $(
        impl Number for $t {
            type Register = f32;
            type Magnitude = $t;
            const ZERO: Self = $t::ZERO;
            const ONE: Self = $t::ONE;
            #[inline(always)]
            fn extend(self) -> f32 {
                Float16::widen(self)
            }
            #[inline(always)]
            fn narrow(value: f32) -> $t {
                Float16::narrow(value)
            }
            #[inline(always)]
            fn magnitude(self) -> $t {
                Float16::abs(self)
            }
            #[inline(always)]
            fn is_nonzero(self) -> bool {
                Float16::abs(self).to_bits() != 0
            }
        }
    )* };
}
halves!(f16 bf16);
