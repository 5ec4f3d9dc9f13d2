//! Keys, and the words that stand for them in an order.

use gpu_collective::warp::sort::Sortable;
use gpu_std::memory::Global;
use gpu_std::opaque;

use crate::composite::{Composite, Raw};
use crate::order::Order;

/// Keys of a width.
pub trait Keyed: Copy + 'static {
    /// What words are compared as.
    type Word: Sortable + Raw;
    /// Bytes of a key, where it has `bytes`.
    fn bytes(bytes: u32) -> u32;
    /// Key `at` where that is below `limit`, elsewhere `last`.
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn read(keys: Global<u8>, bytes: u32, at: u32, limit: Option<(u32, Self::Word)>) -> Self::Word;
}

/// Keys that are filtered and selected.
pub trait Loaded: Keyed {
    /// Keys that a thread holds at once.
    const ITEMS: usize;
    /// Loads of 16 bytes that a thread which filters makes at once.
    const LOADS: usize;
    /// Looks at so many keys of a load; some of them twice, where the width is known at run time only.
    const PER_LOAD: usize;
    /// Key `i` of a load.
    fn part(load: [u32; 4], bytes: u32, i: usize) -> Self::Word;
}

macro_rules! keyed {
    ($($t:ty: $items:literal $per_load:literal, $part:expr;)*) => { $(
        impl Keyed for $t {
            type Word = $t;
            #[inline(always)]
            fn bytes(_: u32) -> u32 {
                size_of::<$t>() as u32
            }
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            fn read(keys: Global<u8>, _: u32, at: u32, limit: Option<(u32, $t)>) -> $t {
                match limit {
                    None => keys.cast::<$t>().read_streaming(at),
                    Some((limit, last)) => keys.cast::<$t>().read_only_below(at, limit, last),
                }
            }
        }

        impl Loaded for $t {
            const ITEMS: usize = $items;
            const LOADS: usize = 4;
            const PER_LOAD: usize = $per_load;
            #[inline(always)]
            fn part(load: [u32; 4], _: u32, i: usize) -> $t {
                $part(load, i)
            }
        }
    )* };
}
keyed! {
    u32: 32 4, |load: [u32; 4], i: usize| load[i];
    u64: 16 2, |load: [u32; 4], i: usize| (load[2 * i + 1] as u64) << 32 | load[2 * i] as u64;
}

/// Keys of 1 or 2 bytes.
#[derive(Clone, Copy)]
pub struct Narrow;

impl Keyed for Narrow {
    type Word = u32;
    #[inline(always)]
    fn bytes(bytes: u32) -> u32 {
        bytes
    }
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn read(keys: Global<u8>, bytes: u32, at: u32, limit: Option<(u32, u32)>) -> u32 {
        // One of two loads is made: a branch around each would let none wait for the next.
        let (limit, last) = limit.unwrap_or((u32::MAX, 0));
        let (of_byte, of_two) = if bytes == 1 { (limit, 0) } else { (0, limit) };
        let byte = keys.read_only_below(at, of_byte, 0) as u32;
        let two = keys.cast::<u16>().read_only_below(at, of_two, 0) as u32;
        if at < limit { byte | two } else { last }
    }
}

impl Loaded for Narrow {
    const ITEMS: usize = 16;
    const LOADS: usize = 2;
    const PER_LOAD: usize = 16;
    #[inline(always)]
    fn part(load: [u32; 4], bytes: u32, i: usize) -> u32 {
        load[i / 4] >> (i as u32 % 4 * 8 * bytes % 32) & ((1 << (8 * bytes)) - 1)
    }
}

/// Keys of 1, 2 or 4 bytes, one after the other: for samples.
#[derive(Clone, Copy)]
pub struct Short;

impl Keyed for Short {
    type Word = u32;
    #[inline(always)]
    fn bytes(bytes: u32) -> u32 {
        bytes
    }
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn read(keys: Global<u8>, bytes: u32, at: u32, limit: Option<(u32, u32)>) -> u32 {
        if bytes < 4 {
            return Narrow::read(keys, bytes, at, limit);
        }
        u32::read(keys, bytes, at, limit)
    }
}

/// An array of keys.
#[derive(Clone, Copy)]
pub struct Array<K: Keyed> {
    keys: Global<u8>,
    bytes: u32,
    set: K::Word,
    clear: K::Word,
}

impl<K: Keyed> Array<K> {
    /// Keys of `bytes` bytes in an order.
    #[inline(always)]
    pub fn new(keys: Global<u8>, bytes: u32, order: Order) -> Self {
        // Opaque, or a choice between the masks would be one between 64 bits each.
        let mask = |mask: u64| {
            K::Word::narrow(if size_of::<K::Word>() == 8 { mask } else { opaque(mask as u32) as u64 })
        };
        Self { keys, bytes: K::bytes(bytes), set: mask(order.set), clear: mask(order.clear) }
    }

    /// The same from key `elements` on.
    #[inline(always)]
    #[must_use]
    pub fn offset(self, elements: u64) -> Self {
        Self { keys: self.keys.offset(elements * self.bytes as u64), ..self }
    }

    #[inline(always)]
    fn turned(self, key: K::Word) -> K::Word {
        key.turned(self.set, self.clear, 8 * self.bytes - 1)
    }

    /// Bytes of a key.
    #[inline(always)]
    pub(super) fn bytes(self) -> u32 {
        self.bytes
    }

    /// Word `at`.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn word(self, at: u32) -> K::Word {
        self.turned(K::read(self.keys, self.bytes, at, None))
    }

    /// Word `at` where that is below `limit`, elsewhere that of `last`.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn word_below(self, at: u32, limit: u32, last: u64) -> K::Word {
        self.turned(K::read(self.keys, self.bytes, at, Some((limit, K::Word::narrow(last)))))
    }

    /// How many keys are before the first at a multiple of 16 bytes.
    #[inline(always)]
    pub(super) fn head(self) -> u32 {
        // A power of two: a shift instead of a division.
        ((self.keys.address() as u32).wrapping_neg() % 16) >> ((self.bytes / 2).min(2) + self.bytes / 8)
    }

    /// Keys of a load.
    #[inline(always)]
    pub(super) fn of_load(self) -> u32 {
        16 >> ((self.bytes / 2).min(2) + self.bytes / 8)
    }

    /// The 16 bytes of load `load`.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub(super) fn load(self, load: u32) -> [u32; 4] {
        self.keys.cast::<u32>().read_streaming_vec(4 * load)
    }

    /// The word of key `i` of a load.
    #[inline(always)]
    pub(super) fn part(self, load: [u32; 4], i: usize) -> K::Word
    where
        K: Loaded,
    {
        self.turned(K::part(load, self.bytes, i))
    }
}

/// A word and an index in one number.
#[inline(always)]
pub(super) fn compose<C: Composite>(word: impl Raw, index: u32) -> C {
    C::of_bits((word.wide() as u128) << 32 | index as u128)
}

/// The word of a composite.
#[inline(always)]
pub(super) fn word_of<W: Raw>(composite: impl Composite) -> W {
    W::narrow((composite.to_bits() >> 32) as u64)
}

#[cfg(all(test, not(target_arch = "nvptx64")))]
mod tests {
    use super::*;

    #[test]
    fn loads_are_cut_into_keys() {
        let bytes: [u8; 16] = core::array::from_fn(|i| i as u8);
        let load = core::array::from_fn(|i| u32::from_le_bytes(bytes[4 * i..][..4].try_into().unwrap()));
        for i in 0..16 {
            assert_eq!(Narrow::part(load, 1, i), i as u32);
            let two = i / 4 * 2 + i % 2;
            assert_eq!(
                Narrow::part(load, 2, i),
                u32::from(bytes[2 * two]) | u32::from(bytes[2 * two + 1]) << 8
            );
        }
        assert_eq!(u64::part(load, 8, 1), u64::from_le_bytes(bytes[8..].try_into().unwrap()));
    }
}
