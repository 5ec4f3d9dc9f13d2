//! What networks and merges sort: a key's word, with the key's index below it where that is wanted.
//!
//! Indices differ, so nothing is equal: a sort that need not be stable gives the stable result.

use gpu_collective::Accumulator;
use gpu_collective::warp::sort::Sortable;

/// A word and an index in one number: `u32` words of up to 32 bits alone or of 8 or 16 with an index in the rest, `u64` those of 64
/// bits alone or of up to 32 with an index of 32, `u128` those of 64 with an index.
pub trait Composite: Sortable + Accumulator {
    /// Items of a lane in a network: what fits in registers, and a network of 16 has 63 comparisons.
    const ITEMS: usize = if size_of::<Self>() == 16 { 4 } else { 16 };
    /// What keys are read as.
    type Raw: Raw;
    /// Bits behind the word and its index.
    fn to_bits(self) -> u128;
    /// Those.
    fn of_bits(bits: u128) -> Self;
    /// Without its lowest `bits` bits, which may be all.
    #[must_use]
    fn shifted(self, bits: u32) -> Self;
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
            #[inline(always)]
            fn shifted(self, bits: u32) -> Self {
                self.checked_shr(bits).unwrap_or(0)
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

#[cfg(all(test, not(target_arch = "nvptx64")))]
mod tests {
    use super::*;
    use crate::order::Order;

    #[test]
    fn keys_come_back_from_their_words() {
        for order in [Order::UNSIGNED, Order::signed(16), Order::float(16)] {
            for order in [order, order.descending(16)] {
                let (set, clear) = (order.set as u32, order.clear as u32);
                for key in 0..=u16::MAX {
                    let word = u32::from(key).turned(set, clear, 15);
                    assert_eq!(
                        (u64::from(word), word.turned_back(set, clear, 15)),
                        (order.word(key.into(), 16), key.into())
                    );
                }
            }
        }
        let order = Order::float(64).descending(64);
        for key in [0, 1, 1 << 63, u64::MAX, 0x7ff8 << 48, 0xfff0 << 48] {
            let word = key.turned(order.set, order.clear, 63);
            assert_eq!((word, word.turned_back(order.set, order.clear, 63)), (order.word(key, 64), key));
        }
    }
}
