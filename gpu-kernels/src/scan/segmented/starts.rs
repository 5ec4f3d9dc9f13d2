//! Where segments start: a bit for each element of a tile, in shared memory.

use gpu_std::atomic::{Ordering, Scope};
use gpu_std::memory::{Element, Global, Shared};
use gpu_std::thread::{sync_threads, thread_idx_x};
use gpu_std::warp::{self, FULL, warp_vote_ballot};
use gpu_std::{device, opaque, unroll};

/// Segments start at elements with a flag that is not zero.
pub const BY_FLAGS: u32 = 0;
/// Segments start at the offsets in an array of `u32` that do not decrease.
pub const BY_OFFSETS: u32 = 1;
/// Segments have all the same length.
pub const OF_LENGTH: u32 = 2;
/// Segments are runs of equal keys of 1 byte; for 2, 4 and 8 bytes the next numbers.
pub const BY_KEY: u32 = 3;

/// What says where segments start. One starts at the first element in any case.
#[derive(Clone, Copy)]
pub struct Starts {
    /// In which way: one of the constants.
    pub kind: u32,
    /// Flags, offsets or keys.
    pub array: Global<u8>,
    /// How many offsets there are, or the length of segments, at most that of the array.
    pub count: u64,
}

/// A tile of an array.
#[derive(Clone, Copy)]
pub(super) struct Tile {
    /// Its first element.
    pub(super) base: u64,
    /// Its elements.
    pub(super) left: u32,
    /// Elements of the array.
    pub(super) len: u64,
    /// Whether it is read backwards: then segments start with their last element.
    pub(super) reverse: bool,
}

impl Starts {
    /// Sets the bits of the tile's elements in `bits`, which has room for `words` words of 32. `found` is room for one number. Barriers.
    #[device]
    #[inline(always)]
    pub(super) fn mark<const W: usize>(self, tile: Tile, bits: Shared<u32>, words: u32, found: Shared<u64>) {
        // Opaque, or addresses and numbers of the thread would be kept while vectors are on their way.
        let thread = opaque(thread_idx_x());
        match self.kind {
            BY_FLAGS => vote::<W, 4>(tile, bits, words, |at, other| {
                let flags = self.array.offset(tile.base);
                flags.read(if tile.reverse { other } else { at }) != 0
            }),
            BY_OFFSETS | OF_LENGTH => {
                let mut word = thread;
                while word < words {
                    bits.write(word, 0);
                    word += 32 * W as u32;
                }
                // Backwards, an element starts a segment if one starts at the next.
                let from = tile.base + tile.reverse as u64;
                if self.kind == BY_OFFSETS && thread < 32 {
                    let first = self.first_offset(from, tile.len);
                    if thread == 0 {
                        found.write(0, first);
                    }
                }
                sync_threads();
                let (first, step) = match self.kind {
                    BY_OFFSETS => (found.read(0), 1),
                    _ => (distance_to_multiple(from, self.count), self.count),
                };
                // The number of an offset, or already the distance from the tile's first element.
                let mut at = first + thread as u64 * step;
                loop {
                    let distance = match self.kind {
                        BY_OFFSETS if at >= self.count => break,
                        BY_OFFSETS => self.array.cast::<u32>().offset(at).read(0) as u64 - from,
                        _ => at,
                    };
                    if distance >= tile.left as u64 {
                        break;
                    }
                    set(bits, distance as u32);
                    at += 32 * W as u64 * step;
                }
            }
            kind if kind == BY_KEY => vote::<W, 2>(tile, bits, words, self.differs::<u8>(tile)),
            kind if kind == BY_KEY + 1 => vote::<W, 2>(tile, bits, words, self.differs::<u16>(tile)),
            kind if kind == BY_KEY + 2 => vote::<W, 2>(tile, bits, words, self.differs::<u32>(tile)),
            _ => vote::<W, 2>(tile, bits, words, self.differs::<u64>(tile)),
        }
        sync_threads();
        // The array's first element, or backwards its last.
        if thread == 0 {
            if tile.reverse && tile.base + tile.left as u64 == tile.len {
                set(bits, tile.left - 1);
            } else if !tile.reverse && tile.base == 0 {
                set(bits, 0);
            }
        }
        sync_threads();
    }

    /// Whether element `at` of the tile has another key than element `other`.
    #[inline(always)]
    fn differs<K: Element>(self, tile: Tile) -> impl Fn(u32, u32) -> bool {
        // What lies before the tile has negative numbers.
        let keys = self.array.cast::<K>().offset(tile.base);
        move |at, other| {
            let neighbour = keys.offset((other as i32) as i64 as u64).read(0);
            keys.read(at) != neighbour
        }
    }

    /// The number of the first offset that is not less than `element`. By a warp: first it looks around where the offset is if all segments
    /// are alike, ever further away; then at 32 offsets at once, which leave a 33rd of those there were.
    #[device]
    #[inline(always)]
    fn first_offset(self, element: u64, len: u64) -> u64 {
        let offsets = self.array.cast::<u32>();
        let lane = warp::lane_id();
        let share = element as f32 / len as f32;
        let guess = ((share * self.count as f32) as u32).min(u32::MAX >> 1);
        // From 2^15 before the guess to 2^15 - 1 behind it, without gaps around it.
        let around = |lane: u32| {
            if lane < 16 { guess.saturating_sub(0x8000 >> lane) } else { guess + (1 << (lane - 16)) - 1 }
        };
        let probe = around(lane) as u64;
        let is_one = probe < self.count;
        let offset = if is_one { offsets.offset(probe).read(0) as u64 } else { u64::MAX };
        let less = warp_vote_ballot(FULL, offset < element).count_ones();
        let mut low = if less > 0 { around(less - 1) as u64 + 1 } else { 0 };
        let mut high = if less < 32 { self.count.min(around(less) as u64) } else { self.count };
        while low < high {
            let step = (high - low).div_ceil(32);
            let probe = low + (lane as u64 + 1) * step - 1;
            let offset = offsets.offset(probe.min(high - 1)).read(0) as u64;
            let less = warp_vote_ballot(FULL, probe < high && offset < element).count_ones() as u64;
            high = high.min(low + (less + 1) * step - 1);
            low += less * step;
        }
        low
    }
}

/// From `from` to the next multiple of `length`. By shifts and subtractions: a division of 64 bits is a call, which needs a stack.
#[inline(always)]
fn distance_to_multiple(from: u64, length: u64) -> u64 {
    let mut rest = from;
    let mut shift = length.leading_zeros().saturating_sub(from.leading_zeros());
    loop {
        if rest >= length << shift {
            rest -= length << shift;
        }
        if shift == 0 {
            break;
        }
        shift -= 1;
    }
    if rest == 0 { 0 } else { length - rest }
}

/// Sets one bit.
#[inline(always)]
fn set(bits: Shared<u32>, at: u32) {
    bits.atomic(at / 32).fetch_or(1 << (at % 32), Ordering::Relaxed, Scope::Block);
}

/// Sets the bits of all elements that start a segment: `starts` is told an element's number and that of its neighbour, before it or backwards
/// behind it, or its own where it has none. A warp asks for those of `AT_ONCE` words of bits at once.
#[device]
#[inline(always)]
fn vote<const W: usize, const AT_ONCE: usize>(
    tile: Tile,
    bits: Shared<u32>,
    words: u32,
    starts: impl Fn(u32, u32) -> bool,
) {
    let (warp, lane) = (opaque(thread_idx_x()) / 32, warp::lane_id());
    let first = (tile.base == 0) as u32;
    let after = tile.base + tile.left as u64 != tile.len;
    let mut word = AT_ONCE as u32 * warp;
    while word < words {
        let mut heads = [false; AT_ONCE];
        // Without a condition around them, all are asked for at once.
        unroll::<AT_ONCE>(|i| {
            let own = ((word + i as u32) * 32 + lane).min(tile.left - 1);
            let other = if tile.reverse {
                if after { own + 1 } else { (own + 1).min(tile.left - 1) }
            } else {
                own.max(first).wrapping_sub(1)
            };
            heads[i] = starts(own, other);
        });
        unroll::<AT_ONCE>(|i| {
            let votes = warp_vote_ballot(FULL, heads[i]);
            let at = (word + i as u32) * 32;
            let valid = if at + 32 <= tile.left { FULL } else { (1u32 << (tile.left.max(at) - at)) - 1 };
            if lane == 0 && word + (i as u32) < words {
                bits.write(word + i as u32, votes & valid);
            }
        });
        word += (W * AT_ONCE) as u32;
    }
}
