//! What comes before a tile.
//!
//! Every tile publishes its total as soon as it knows it, and nothing else, so no tile waits for a chain of others. A block
//! that needs the result of everything before its tile asks for the totals of all tiles of the section before it, a warp
//! for each group, at once: one way to memory and back, as all of them are under way at the same time. Only the result at
//! the start of a section is a chain: the last tile of one publishes it for the next. With 256 tiles a section that
//! is a link for every 6 MiB, every 3.5 µs at full speed, where a link takes about 1 µs.
//!
//! A total travels in words of 64 bits, each of them half value and half the mark of its launch, so no fence is needed, and
//! nothing has to be cleared.

use gpu_std::atomic::{Ordering, Scope};
use gpu_std::memory::{GlobalMut, Shared};
use gpu_std::thread::thread_idx_x;
use gpu_std::{device, unroll, warp};

use super::GROUP;
use super::operator::Scan;
use super::tile::{MAX_WORDS, identity, read, warp_scan, write};
use crate::reduce::Accumulator;

/// The words of one launch.
#[derive(Clone, Copy)]
pub(super) struct Published {
    /// Those of the sections' starts, then those of the tiles' totals.
    pub(super) words: GlobalMut<u64>,
    /// How many sections there are.
    pub(super) sections: u32,
    /// The launch's mark.
    pub(super) mark: u32,
}

/// The result of everything before a tile, and the same with the tile.
pub(super) struct Prefix<R> {
    pub(super) before: R,
    pub(super) with: R,
}

impl Published {
    /// Publishes the accumulator in `slot`.
    #[inline(always)]
    fn publish<A: Accumulator>(self, slot: u32, value: A) {
        let place = self.words.offset(slot as u64 * A::WORDS as u64);
        unroll::<MAX_WORDS>(|word| {
            if (word as u32) < A::WORDS {
                let marked = (self.mark as u64) << 32 | value.word(word as u32) as u64;
                place.atomic(word as u32).store(marked, Ordering::Relaxed, Scope::Device);
            }
        });
    }

    /// Publishes the total of a tile.
    #[inline(always)]
    pub(super) fn publish_total<A: Accumulator>(self, tile: u32, total: A) {
        self.publish(self.sections + tile, total);
    }

    /// Publishes the result of everything before a section.
    #[inline(always)]
    pub(super) fn publish_section<A: Accumulator>(self, section: u32, before: A) {
        self.publish(section, before);
    }
}

/// Waits for what is published in `slot`.
#[device]
#[inline(always)]
fn wait<A: Accumulator>(published: Published, slot: u32) -> A {
    let place = published.words.offset(slot as u64 * A::WORDS as u64);
    let mut words = [0; MAX_WORDS];
    loop {
        let mut all = true;
        unroll::<MAX_WORDS>(|word| {
            if (word as u32) < A::WORDS {
                words[word] = place.atomic(word as u32).load(Ordering::Relaxed, Scope::Device);
                all &= (words[word] >> 32) as u32 == published.mark;
            }
        });
        if all {
            break;
        }
    }
    A::from_words(&mut |word| words[word as usize] as u32)
}

/// Where the threads find the section's start, the group up to and with the tile, the group before the tile; and how many
/// places there are. Before these are the groups of the section.
const fn places<const W: usize>() -> (u32, u32, u32, u32) {
    (W as u32, W as u32 + 1, W as u32 + 2, W as u32 + 3)
}

/// The warps' first half: each warp waits for the totals of one group of the section and leaves in `nodes` what the threads
/// need of it. A barrier has to follow, then [`prefix`].
#[device]
#[inline(always)]
pub(super) fn gather<S: Scan, const W: usize>(
    published: Published,
    tile: u32,
    total: S::Register,
    nodes: Shared<u32>,
) {
    let (warp, lane) = (thread_idx_x() / 32, warp::lane_id());
    let (own_group, rank) = (tile / GROUP % W as u32, tile % GROUP);
    let section = tile / (GROUP * W as u32);
    if warp > own_group {
        return;
    }
    let (at_start, at_with, at_before, len) = places::<W>();
    let own = warp == own_group;
    // In the own group the lane of the own tile has nothing to wait for, so it takes the section's start.
    let start = own && lane == rank;
    let mut value = identity::<S>();
    if (!own || lane <= rank) && !(start && section == 0) {
        let total_slot = published.sections + section * (GROUP * W as u32) + warp * GROUP + lane;
        value = wait(published, if start { section } else { total_slot });
    }
    if start {
        write(nodes, len, at_start, value);
        value = total;
    }
    value = warp_scan::<S>(value);
    if own {
        if lane == rank {
            write(nodes, len, at_with, value);
        }
        if lane + 1 == rank {
            write(nodes, len, at_before, value);
        }
    } else if lane == 31 {
        write(nodes, len, warp, value);
    }
}

/// The second half: what comes before the tile, from what the warps left.
#[device]
#[inline(always)]
pub(super) fn prefix<S: Scan, const W: usize>(
    tile: u32,
    initial: S::Register,
    nodes: Shared<u32>,
) -> Prefix<S::Register> {
    let own_group = tile / GROUP % W as u32;
    let (at_start, at_with, at_before, len) = places::<W>();
    let mut before = if tile < GROUP * W as u32 { initial } else { read(nodes, len, at_start) };
    unroll::<W>(|group| {
        if (group as u32) < own_group {
            before = S::combine(before, read(nodes, len, group as u32));
        }
    });
    let with = S::combine(before, read(nodes, len, at_with));
    if !tile.is_multiple_of(GROUP) {
        before = S::combine(before, read(nodes, len, at_before));
    }
    Prefix { before, with }
}
