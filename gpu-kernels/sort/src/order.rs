//! What a key's bits stand for.

use gpu_std::memory::Element;
use gpu_std::parameter::Parameter;

/// The bits of a key: `u8`, `u16`, `u32` or `u64`.
pub trait Key: Element {
    /// How many bits.
    const BITS: u32 = 8 * size_of::<Self>() as u32;
    /// The lowest bits of a wider word.
    fn narrow(word: u64) -> Self;
    /// The bits from `shift` on.
    fn shifted(self, shift: u32) -> u32;
    /// All bits like the highest.
    fn signs(self) -> u32;
    /// The word of an order of which these are the masks.
    #[must_use]
    fn word(self, set: Self, clear: Self) -> Self;
}

macro_rules! keys {
    ($($t:ty as $signed:ty;)*) => { $(
        impl Key for $t {
            #[inline(always)]
            fn narrow(word: u64) -> Self {
                word as $t
            }
            #[inline(always)]
            fn shifted(self, shift: u32) -> u32 {
                (self >> shift) as u32
            }
            #[inline(always)]
            fn signs(self) -> u32 {
                ((self as $signed) >> (<$t>::BITS - 1)) as u32
            }
            #[inline(always)]
            fn word(self, set: Self, clear: Self) -> Self {
                self ^ if (self as $signed) < 0 { set } else { clear }
            }
        }
    )* };
}
keys! { u8 as i8; u16 as i16; u32 as i32; u64 as i64; }

/// Which order keys are sorted in: two masks.
///
/// A key becomes a word whose order as an unsigned number is the one wanted, by flipping the bits of a mask: of `set`
/// where its highest bit is set, of `clear` where it is not. That is one-to-one, so only equal keys become equal
/// words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Parameter)]
#[repr(C)]
pub struct Order {
    /// What is flipped in keys whose highest bit is set.
    pub set: u64,
    /// What is flipped in the others.
    pub clear: u64,
}

impl Order {
    /// Unsigned numbers.
    pub const UNSIGNED: Self = Self { set: 0, clear: 0 };

    /// Numbers in two's complement, of `bits` bits.
    pub const fn signed(bits: u32) -> Self {
        let sign = 1 << (bits - 1);
        Self { set: sign, clear: sign }
    }

    /// IEEE 754 numbers of `bits` bits in their total order (IEEE 754-2019, 5.10): NaNs with a sign, negative infinity,
    /// negative numbers, -0, +0, positive numbers, infinity, NaNs without; NaNs by their payloads.
    pub const fn float(bits: u32) -> Self {
        Self { set: u64::MAX >> (64 - bits), clear: 1 << (bits - 1) }
    }

    /// The opposite order of keys of `bits` bits.
    #[must_use]
    pub const fn descending(self, bits: u32) -> Self {
        let all = u64::MAX >> (64 - bits);
        Self { set: self.set ^ all, clear: self.clear ^ all }
    }

    /// The word of a key of `bits` bits.
    pub const fn word(self, key: u64, bits: u32) -> u64 {
        key ^ if key >> (bits - 1) & 1 == 1 { self.set } else { self.clear }
    }

    /// A key that no other comes after: that whose word has all `bits` bits.
    pub const fn last(self, bits: u32) -> u64 {
        let all = u64::MAX >> (64 - bits);
        // Its highest bit is the one that its mask flips into a one.
        let if_set = all ^ self.set;
        if if_set >> (bits - 1) & 1 == 1 { if_set } else { all ^ self.clear }
    }

    /// The digit of the words' bits from `shift` on, `bits` bits.
    pub const fn digit(self, shift: u32, bits: u32) -> Digit {
        let mask = (1 << bits) - 1;
        let (set, clear) = ((self.set >> shift) as u32 & mask, (self.clear >> shift) as u32 & mask);
        Digit { shift, mask, clear, differs: set ^ clear }
    }
}

/// One digit of the words that an [`Order`] makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Parameter)]
#[repr(C)]
pub struct Digit {
    /// Its lowest bit.
    pub shift: u32,
    /// Its bits, shifted down.
    pub mask: u32,
    /// What is flipped where the key's highest bit is not set.
    pub clear: u32,
    /// What else is flipped where it is.
    pub differs: u32,
}

impl Digit {
    /// That of a key.
    #[inline(always)]
    pub fn of<K: Key>(self, key: K) -> u32 {
        (key.shifted(self.shift) ^ self.clear ^ (key.signs() & self.differs)) & self.mask
    }
}

#[cfg(all(test, not(target_arch = "nvptx64")))]
mod tests {
    use super::*;

    /// All keys of 8 bits, and those of `f32` that matter, in an order that the type's own comparison knows.
    #[test]
    fn words_are_ordered_as_the_type_is() {
        let signed = Order::signed(8);
        for (a, b) in (i8::MIN..i8::MAX).zip(i8::MIN + 1..=i8::MAX) {
            let [a, b] = [a, b].map(|key| u64::from(key as u8));
            assert!(signed.word(a, 8) < signed.word(b, 8));
            assert!(signed.descending(8).word(a, 8) > signed.descending(8).word(b, 8));
        }
        let floats =
            [-f32::NAN, f32::NEG_INFINITY, -1.5, -1e-45, -0.0, 0.0, 1e-45, 2.5, f32::INFINITY, f32::NAN];
        for pair in floats.windows(2) {
            let [a, b] = [pair[0], pair[1]].map(|key| u64::from(key.to_bits()));
            assert!(f32::total_cmp(&pair[0], &pair[1]).is_lt());
            assert!(Order::float(32).word(a, 32) < Order::float(32).word(b, 32), "{pair:?}");
        }
    }

    #[test]
    fn the_last_key_has_all_bits() {
        for bits in [8, 16, 32, 64] {
            for order in [Order::UNSIGNED, Order::signed(bits), Order::float(bits)] {
                for order in [order, order.descending(bits)] {
                    assert_eq!(
                        order.word(order.last(bits), bits),
                        u64::MAX >> (64 - bits),
                        "{order:?}, {bits}"
                    );
                }
            }
        }
    }

    #[test]
    fn digits_are_those_of_the_words() {
        let keys = [0, 1, 0x8000_0000, 0xffff_ffff, 0xbf80_1234, 0x7f80_0001u32];
        for order in [Order::UNSIGNED, Order::signed(32), Order::float(32), Order::float(32).descending(32)] {
            for (shift, bits) in [(0, 8), (8, 8), (24, 8), (29, 3), (13, 5)] {
                for key in keys {
                    let word = order.word(key.into(), 32) as u32;
                    let expected = word >> shift & ((1 << bits) - 1);
                    assert_eq!(order.digit(shift, bits).of(key), expected, "{order:?}, {key:x}, {shift}");
                }
            }
        }
    }
}
