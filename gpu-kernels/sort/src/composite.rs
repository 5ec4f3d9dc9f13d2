//! What networks and merges sort: a key's word, with the key's index below it where that is wanted.
//!
//! Indices differ, so nothing is equal: a sort that need not be stable gives the stable result.

use gpu_collective::warp::sort::Sortable;
use gpu_std::atomic::AtomicElement;

use super::order::{Key, Order};

/// A word and an index in one number: `u32` words of up to 32 bits alone, `u64` those of 64 bits alone or of up to 32 with an
/// index, `u128` those of 64 with an index.
pub trait Composite: Sortable {
    /// Items of a lane in a network: what fits in registers.
    const ITEMS: usize = 128 / size_of::<Self>();
    /// Bits behind the word and its index.
    fn to_bits(self) -> u128;
    /// Those.
    fn of_bits(bits: u128) -> Self;
}

macro_rules! composites {
    ($($t:ty)*) => { $(
        impl Composite for $t {
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
composites!(u32 u64 u128);

/// Whether there is an index beside words of `K`.
#[inline(always)]
const fn has_index<C, K>() -> bool {
    let word = if size_of::<K>() == 8 { 8 } else { 4 };
    size_of::<C>() > word
}

/// The composite of a key.
#[inline(always)]
pub(super) fn compose<C: Composite, K: Ordered>(key: K, order: Order, index: u32) -> C {
    let word = key.word(K::narrow(order.set), K::narrow(order.clear)).wide();
    if has_index::<C, K>() { C::of_bits((word as u128) << 32 | index as u128) } else { C::of_bits(word as u128) }
}

/// Its key again.
#[inline(always)]
pub(super) fn key_of<C: Composite, K: Ordered>(composite: C, order: Order) -> K {
    let bits = composite.to_bits();
    let word = if has_index::<C, K>() { bits >> 32 } else { bits };
    K::narrow(word as u64).unordered(K::narrow(order.set), K::narrow(order.clear))
}

/// Its index.
#[inline(always)]
pub(super) fn index_of<C: Composite>(composite: C) -> u32 {
    composite.to_bits() as u32
}

/// Keys whose words can be turned back.
pub trait Ordered: Key + Ord {
    /// What threads of a block and blocks of a grid compare: a word of 32 bits, or of 64.
    type Word: AtomicElement + Sortable;
    /// In 64 bits.
    fn wide(self) -> u64;
    /// The key with this word.
    #[must_use]
    fn unordered(self, set: Self, clear: Self) -> Self;
    /// Its word as a number of [`Ordered::Word`].
    fn comparable(self, order: Order) -> Self::Word;
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
            fn wide(self) -> u64 {
                self as u64
            }
            #[inline(always)]
            fn unordered(self, set: Self, clear: Self) -> Self {
                // Both masks flip the highest bit or neither does: it says which of them was taken.
                self ^ if ((self ^ set) as $signed) < 0 { set } else { clear }
            }
            #[inline(always)]
            fn comparable(self, order: Order) -> $word {
                self.word(order.set as $t, order.clear as $t) as $word
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
    fn keys_come_back_with_their_indices() {
        for order in [Order::UNSIGNED, Order::signed(16), Order::float(16)] {
            for order in [order, order.descending(16)] {
                for key in 0..=u16::MAX {
                    let composite: u64 = compose(key, order, 7);
                    assert_eq!((key_of::<u64, u16>(composite, order), index_of(composite)), (key, 7));
                    assert_eq!(key_of::<u32, u16>(compose(key, order, 7), order), key);
                }
            }
        }
        let order = Order::float(64).descending(64);
        for key in [0, 1, 1 << 63, u64::MAX, 0x7ff8 << 48, 0xfff0 << 48] {
            let composite: u128 = compose(key, order, u32::MAX);
            assert_eq!((key_of::<u128, u64>(composite, order), index_of(composite)), (key, u32::MAX));
            assert_eq!(key_of::<u64, u64>(compose(key, order, 0), order), key);
        }
    }
}
