//! What comes before a tile.
//!
//! Every tile publishes its total as soon as it knows it, so no tile waits for a chain of others. 32 consecutive tiles form a
//! group; the group's last tile waits for the totals of the others anyway, so it publishes their combination. 32 groups
//! form a section. What comes before a tile is then in three places, which one warp asks for at once: the totals of the tiles
//! before it in its group, those of the groups before it in their section, and the result of everything before the section.
//! Only the latter is a chain, from section to section: a link for every 24 MiB of `f32`, where it takes 1 µs.
//!
//! One warp waits, and asks for two lines of memory. Where all warps of a block waited, each for the totals of one of 8 groups, so
//! that groups had nothing to publish, scans were slower (H200, 2^28 `f32`: 1,735 against 1,844 GB/s).
//!
//! A total travels in words of 64 bits, each of them half value and half the mark of its launch, so no fence is needed, and
//! nothing has to be cleared.

use gpu_std::atomic::{Ordering, Scope};
use gpu_std::memory::{GlobalMut, Shared};
use gpu_std::{device, unroll, warp};

use super::operator::Scan;
use super::tile::{MAX_WORDS, identity, of_lane, read, warp_scan, write};
use super::{GROUP, SECTION};
use crate::reduce::Accumulator;

/// The words of one launch: those of the sections' starts, of the groups' totals, of the tiles' totals.
#[derive(Clone, Copy)]
pub(super) struct Published {
    pub(super) words: GlobalMut<u64>,
    /// How many tiles there are.
    pub(super) tiles: u32,
    /// The launch's mark.
    pub(super) mark: u32,
}

/// The result of everything before a tile, and the same with the tile.
#[derive(Clone, Copy)]
pub(super) struct Prefix<R> {
    pub(super) before: R,
    pub(super) with: R,
}

impl Published {
    #[inline(always)]
    fn group_slot(self, group: u32) -> u32 {
        self.tiles.div_ceil(SECTION) + group
    }

    #[inline(always)]
    fn tile_slot(self, tile: u32) -> u32 {
        self.tiles.div_ceil(SECTION) + self.tiles.div_ceil(GROUP) + tile
    }

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
        self.publish(self.tile_slot(tile), total);
    }

    /// Asks for what is published in `slot`; where `wanted` is not set, it is there.
    #[inline(always)]
    fn ask<A: Accumulator>(self, slot: u32, wanted: bool) -> [u64; MAX_WORDS] {
        let mut words = [(self.mark as u64) << 32; MAX_WORDS];
        if wanted {
            let place = self.words.offset(slot as u64 * A::WORDS as u64);
            unroll::<MAX_WORDS>(|word| {
                if (word as u32) < A::WORDS {
                    words[word] = place.atomic(word as u32).load(Ordering::Relaxed, Scope::Device);
                }
            });
        }
        words
    }

    #[inline(always)]
    fn is_there(self, words: [u64; MAX_WORDS]) -> bool {
        let mut all = true;
        unroll::<MAX_WORDS>(|word| all &= (words[word] >> 32) as u32 == self.mark);
        all
    }
}

#[inline(always)]
fn value<A: Accumulator>(words: [u64; MAX_WORDS]) -> A {
    A::from_words(&mut |word| words[word as usize] as u32)
}

/// Waits for what comes before the tile and leaves it in `nodes`, two accumulators. For the first warp; a barrier has to follow,
/// then [`prefix`].
#[device]
#[inline(always)]
pub(super) fn gather<S: Scan>(
    published: Published,
    tile: u32,
    total: S::Register,
    initial: S::Register,
    nodes: Shared<u32>,
) {
    let lane = warp::lane_id();
    let (rank, group, section) = (tile % GROUP, tile / GROUP % GROUP, tile / SECTION);
    let tile_slot = published.tile_slot(tile - rank + lane);
    let group_slot = published.group_slot(section * GROUP + lane);

    // All three are asked for before the first is waited for.
    let mut of_tile = published.ask::<S::Register>(tile_slot, lane < rank);
    let mut of_group = published.ask::<S::Register>(group_slot, lane < group);
    let mut of_start = published.ask::<S::Register>(section, section > 0);

    // ---- The tiles of the group
    while !published.is_there(of_tile) {
        of_tile = published.ask::<S::Register>(tile_slot, true);
    }
    let own = lane == rank;
    let tiles = if own {
        total
    } else if lane < rank {
        value(of_tile)
    } else {
        identity::<S>()
    };
    let tiles = warp_scan::<S>(tiles);
    let ends_group = rank == GROUP - 1;
    if ends_group && own {
        published.publish(published.group_slot(tile / GROUP), tiles);
    }

    // ---- The groups of the section, and its start
    while !published.is_there(of_group) {
        of_group = published.ask::<S::Register>(group_slot, true);
    }
    let of_own_group = of_lane(tiles, GROUP - 1);
    let groups = if lane < group {
        value(of_group)
    } else if lane == group && ends_group {
        of_own_group
    } else {
        identity::<S>()
    };
    let groups = warp_scan::<S>(groups);
    while !published.is_there(of_start) {
        of_start = published.ask::<S::Register>(section, true);
    }
    let start = if section > 0 { value(of_start) } else { initial };

    // ---- Together
    let before_group = S::combine(start, of_lane(groups, group.wrapping_sub(1) % GROUP));
    let before_group = if group > 0 { before_group } else { start };
    let before = S::combine(before_group, of_lane(tiles, rank.wrapping_sub(1) % GROUP));
    let before = if rank > 0 { before } else { before_group };
    let with = if ends_group {
        S::combine(start, of_lane(groups, group))
    } else {
        S::combine(before_group, of_lane(tiles, rank))
    };
    if lane == 0 {
        if (tile + 1).is_multiple_of(SECTION) && tile + 1 < published.tiles {
            published.publish(section + 1, with);
        }
        write(nodes, 2, 0, before);
        write(nodes, 2, 1, with);
    }
}

/// What the first warp left.
#[inline(always)]
pub(super) fn prefix<S: Scan>(nodes: Shared<u32>) -> Prefix<S::Register> {
    Prefix { before: read(nodes, 2, 0), with: read(nodes, 2, 1) }
}
