//! What networks and merges sort: a key's word, with the key's index below it where that is wanted.
//!
//! Indices differ, so nothing is equal: a sort that need not be stable gives the stable result.

use gpu_collective::warp::sort::Sortable;
use gpu_std::opaque;

use super::order::{Key, Order};

/// A word and an index in one number: `u32` words of up to 32 bits alone, `u64` those of 64 bits alone or of up to 32 with an
/// index, `u128` those of 64 with an index.
pub trait Composite: Sortable {
    /// Items of a lane in a network: what fits in registers, and a network of 16 has 63 comparisons.
    const ITEMS: usize = if size_of::<Self>() == 16 { 8 } else { 16 };
    /// What keys are read as.
    type Raw: Raw;
    /// Bits behind the word and its index.
    fn to_bits(self) -> u128;
    /// Those.
    fn of_bits(bits: u128) -> Self;
}

macro_rules! composites {
    ($($t:ty: $raw:ty;)*) => { $(
        impl Composite for $t {
            type Raw = $raw;
            #[inline(always)]
            fn to_bits(self) -> u128 {
                self as u128
            }
            #[inline(always)]
            fn of_bits(bits: u128) -> Self {
                bits as $t
            }
        }
    )* };
}
composites! { u32: u32; u64: u64; u128: u64; }

/// A key of up to so many bits, in the lowest of them.
pub trait Raw: Copy {
    /// The lowest bits.
    fn narrow(bits: u64) -> Self;
    /// In 64 bits.
    fn wide(self) -> u64;
    /// The word of a key whose highest bit has number `top`, with an order's masks.
    #[must_use]
    fn turned(self, set: Self, clear: Self, top: u32) -> Self;
    /// The key again.
    #[must_use]
    fn turned_back(self, set: Self, clear: Self, top: u32) -> Self;
}

macro_rules! raws {
    ($($t:ty)*) => { $(
        impl Raw for $t {
            #[inline(always)]
            fn narrow(bits: u64) -> Self {
                bits as $t
            }
            #[inline(always)]
            fn wide(self) -> u64 {
                self as u64
            }
            #[inline(always)]
            fn turned(self, set: Self, clear: Self, top: u32) -> Self {
                self ^ if self >> top & 1 == 1 { set } else { clear }
            }
            #[inline(always)]
            fn turned_back(self, set: Self, clear: Self, top: u32) -> Self {
                self ^ if (self ^ set) >> top & 1 == 1 { set } else { clear }
            }
        }
    )* };
}
raws!(u32 u64);

/// Whether there is an index beside words of `K`.
#[inline(always)]
const fn has_index<C, K>() -> bool {
    let word = if size_of::<K>() == 8 { 8 } else { 4 };
    size_of::<C>() > word
}

/// The composite of a key.
#[inline(always)]
pub(super) fn compose<C: Composite, K: Ordered>(key: K, masks: Masks<K>, index: u32) -> C {
    let word = K::widen(key.comparable(masks));
    if has_index::<C, K>() { C::of_bits((word as u128) << 32 | index as u128) } else { C::of_bits(word as u128) }
}

/// An order's masks for keys of a width.
#[derive(Clone, Copy)]
pub struct Masks<K> {
    set: K,
    clear: K,
}

impl<K: Ordered> Masks<K> {
    /// Those of an order.
    #[inline(always)]
    pub(super) fn new(order: Order) -> Self {
        // Opaque, or a choice between the masks would be one between 64 bits each.
        let narrow = |mask: u64| {
            if size_of::<K>() == 8 { K::narrow(mask) } else { K::narrow(opaque(mask as u32) as u64) }
        };
        Self { set: narrow(order.set), clear: narrow(order.clear) }
    }
}

/// Keys whose words can be turned back.
pub trait Ordered: Key + Ord {
    /// What threads of a block and blocks of a grid compare: a word of 32 bits, or of 64.
    type Word: Sortable;
    /// Its word as a number of [`Ordered::Word`].
    fn comparable(self, masks: Masks<Self>) -> Self::Word;
    /// A word of so many bits as a number of [`Ordered::Word`].
    fn compared(word: u64) -> Self::Word;
    /// A word in 64 bits.
    fn widen(word: Self::Word) -> u64;
    /// The word before it; the lowest has none.
    fn before(word: Self::Word) -> Self::Word;
}

macro_rules! ordered {
    ($($t:ty as $signed:ty, $word:ty;)*) => { $(
        impl Ordered for $t {
            type Word = $word;
            #[inline(always)]
            fn comparable(self, masks: Masks<Self>) -> $word {
                self.word(masks.set, masks.clear) as $word
            }
            #[inline(always)]
            fn compared(word: u64) -> $word {
                word as $word
            }
            #[inline(always)]
            fn widen(word: $word) -> u64 {
                word as u64
            }
            #[inline(always)]
            fn before(word: $word) -> $word {
                word.wrapping_sub(1)
            }
        }
    )* };
}
ordered! { u8 as i8, u32; u16 as i16, u32; u32 as i32, u32; u64 as i64, u64; }

#[cfg(all(test, not(target_arch = "nvptx64")))]
mod tests {
    use super::*;

    #[test]
    fn keys_come_back_from_their_words() {
        for order in [Order::UNSIGNED, Order::signed(16), Order::float(16)] {
            for order in [order, order.descending(16)] {
                let (set, clear) = (order.set as u32, order.clear as u32);
                for key in 0..=u16::MAX {
                    let word = u32::from(key).turned(set, clear, 15);
                    assert_eq!((u64::from(word), word.turned_back(set, clear, 15)), (order.word(key.into(), 16), key.into()));
                    let composite: u64 = compose(key, Masks::new(order), 7);
                    assert_eq!(composite, u64::from(word) << 32 | 7);
                }
            }
        }
        let order = Order::float(64).descending(64);
        for key in [0, 1, 1 << 63, u64::MAX, 0x7ff8 << 48, 0xfff0 << 48] {
            let word = key.turned(order.set, order.clear, 63);
            assert_eq!((word, word.turned_back(order.set, order.clear, 63)), (order.word(key, 64), key));
            assert_eq!(compose::<u128, u64>(key, Masks::new(order), 9), u128::from(word) << 32 | 9);
        }
    }
}
