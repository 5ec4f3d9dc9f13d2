//! What can be sorted.

use std::ops::Range;

use gpu_sort_kernels::{self as kernels, DIGIT_BITS, Order};
use gpu_std::half::{bf16, f16};

use gpu_core::Error;

/// A type of keys: `i8` to `i64`, `u8` to `u64`, `f16`, `bf16`, `f32`, `f64`.
pub trait SortKey: crate::launch::Launch {
    /// The order of its bits, from the smallest key to the largest.
    const ORDER: Order;
    /// How many bits.
    const BITS: u32 = 8 * size_of::<Self>() as u32;
    /// Its bits.
    fn to_word(self) -> u64;
}

macro_rules! keys {
    ($($t:ty: $order:expr, $to:expr;)*) => { $(
        impl SortKey for $t {
            const ORDER: Order = $order;
            fn to_word(self) -> u64 {
                $to(self)
            }
        }
    )* };
}
keys! {
    u8: Order::UNSIGNED, u64::from;
    u16: Order::UNSIGNED, u64::from;
    u32: Order::UNSIGNED, u64::from;
    u64: Order::UNSIGNED, |key| key;
    i8: Order::signed(8), |key| u64::from(key as u8);
    i16: Order::signed(16), |key| u64::from(key as u16);
    i32: Order::signed(32), |key| u64::from(key as u32);
    i64: Order::signed(64), |key| key as u64;
    f16: Order::float(16), |key: f16| u64::from(key.to_bits());
    bf16: Order::float(16), |key: bf16| u64::from(key.to_bits());
    f32: Order::float(32), |key: f32| u64::from(key.to_bits());
    f64: Order::float(64), f64::to_bits;
}

/// In which direction keys are sorted, and by which of their bits.
///
/// ```
/// use gpu_sort::{SortOptions, sort};
/// let keys = [0x21u8, 0x12, 0x11, 0x22];
/// assert_eq!(sort(&keys, SortOptions::ascending())?.to_vec()?, [0x11, 0x12, 0x21, 0x22]);
/// assert_eq!(sort(&keys, SortOptions::descending())?.to_vec()?, [0x22, 0x21, 0x12, 0x11]);
/// // By the lower four bits alone; keys that agree in them stay in their order.
/// assert_eq!(sort(&keys, SortOptions::ascending().by_bits(0..4))?.to_vec()?, [0x21, 0x11, 0x12, 0x22]);
/// # Ok::<(), gpu_sort::Error>(())
/// ```
///
/// Unless told otherwise, [`SortOptions::ascending`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SortOptions {
    descending: bool,
    bits: Option<Range<u32>>,
}

impl SortOptions {
    /// The smallest key first.
    pub const fn ascending() -> Self {
        Self { descending: false, bits: None }
    }

    /// The largest key first. Equal keys stay in their order.
    pub const fn descending() -> Self {
        Self { descending: true, bits: None }
    }

    /// By the bits `bits` of the keys' words alone, counted from the lowest: a pass over the keys for each 8 of them.
    /// A key's word is the unsigned number that stands for it: the key itself if it is unsigned, with its highest bit
    /// flipped if it is signed, and for floats with all bits flipped where the sign is set and the highest one where
    /// it is not.
    #[must_use]
    pub const fn by_bits(self, bits: Range<u32>) -> Self {
        Self { bits: Some(bits), ..self }
    }

    /// What it says for keys of type `K`.
    pub(crate) fn checked<K: SortKey>(&self) -> Result<Sorting, Error> {
        let bits = self.bits.clone().unwrap_or(0..K::BITS);
        if bits.start > bits.end || bits.end > K::BITS {
            return Err(Error::Bits { start: bits.start, end: bits.end, width: K::BITS });
        }
        let order = if self.descending { K::ORDER.descending(K::BITS) } else { K::ORDER };
        // No bits at all: a pass by an empty digit, which changes nothing.
        let first_bit = if bits.is_empty() { 0 } else { bits.start };
        Ok(Sorting { order, width: K::BITS, first_bit, bits: bits.end - bits.start })
    }
}

/// By what keys of a width are sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sorting {
    pub(crate) order: Order,
    /// Bits of a key.
    pub(crate) width: u32,
    pub(crate) first_bit: u32,
    pub(crate) bits: u32,
}

impl Sorting {
    /// The passes by no bits at all, of which one copies the keys, and counts them where indices go with them.
    pub(crate) const PASSES_OF_NO_BITS: u32 = 1;

    /// By none of the bits: all keys stay where they are.
    pub(crate) const fn by_no_bits(self) -> Self {
        Self { first_bit: 0, bits: 0, ..self }
    }

    /// How many digits there are to sort by, at least one.
    pub(crate) const fn passes(&self) -> u32 {
        if self.bits == 0 { Self::PASSES_OF_NO_BITS } else { self.bits.div_ceil(DIGIT_BITS as u32) }
    }

    /// One of them, from the lowest.
    pub(crate) fn digit(&self, pass: u32) -> kernels::Digit {
        let below = pass * DIGIT_BITS as u32;
        self.order.digit(self.first_bit + below, (self.bits - below).min(DIGIT_BITS as u32))
    }

    /// The bits of a key that count, as an unsigned number.
    pub(crate) fn rank<K: SortKey>(&self, key: K) -> u64 {
        self.rank_of(key.to_word())
    }

    /// The same of a key's bits.
    pub(crate) fn rank_of(&self, bits: u64) -> u64 {
        let word = self.order.word(bits, self.width);
        if self.bits == 0 { 0 } else { word >> self.first_bit & u64::MAX >> (64 - self.bits) }
    }
}
