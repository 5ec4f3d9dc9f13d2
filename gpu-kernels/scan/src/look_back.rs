//! What comes before a tile.
//!
//! Every tile publishes its total as soon as it knows it, so no tile waits for a chain of others. 32 consecutive
//! tiles form a group, 32 groups a section. What comes before a tile is then in three places, which one warp asks for
//! at once: the totals of the tiles before it in its group, those of the groups before it in their section, and the
//! result of everything before the section. Only the latter is a chain, from section to section: a link for every 20
//! MiB of `f32`, where it takes 1 µs.
//!
//! A group's total is published by whichever of its tiles published last, long before anyone asks for it: a counter
//! tells ([`arrive`]). The same holds for a section's. Where every block has but one tile, all wait at once and each
//! way through memory counts, so nothing is counted: the group's last tile waits for the others anyway and publishes
//! the total ([`gather`]). Looking at the totals of all tiles before its own instead, a warp of a block at those of
//! each group, makes too many ask for the same lines (H200, 2^20 `f32`: 6.6 against 6.0 µs).
//!
//! One warp waits, and asks for two lines of memory. Where all warps of a block waited, each for the totals of one of
//! 8 groups, so that groups had nothing to publish, scans were slower (H200, 2^28 `f32`: 1,735 against 1,844 GB/s).
//!
//! A total travels in words of 64 bits, each of them half value and half the mark of its launch, so no fence is
//! needed, and nothing has to be cleared.

use gpu_std::atomic::{Ordering, Scope};
use gpu_std::memory::{GlobalMut, Shared};
use gpu_std::{device, opaque, rolled, unroll, warp};

use super::operator::Scan;
use super::tile::{EXCHANGED, identity, of_lane, read, write};
use super::{GROUP, SECTION};
use gpu_collective::Accumulator;

/// The words of one launch: those of the sections' starts, of the groups' totals, of the tiles' totals.
#[derive(Clone, Copy)]
pub(crate) struct Published {
    pub(crate) words: GlobalMut<u64>,
    /// How many tiles there are.
    pub(crate) tiles: u32,
    /// The launch's mark.
    pub(crate) mark: u32,
    /// Whether blocks take several tiles, so that [`arrive`] counts each.
    pub(crate) several: bool,
}

/// The result of everything before a tile, and the same with the tile.
#[derive(Clone, Copy)]
pub(crate) struct Prefix<R> {
    pub(crate) before: R,
    pub(crate) with: R,
}

impl Published {
    /// How many sections there are. There are far fewer tiles than would overflow ([`MAX_TILES`](super::MAX_TILES)).
    #[inline(always)]
    fn sections(self) -> u32 {
        (self.tiles + (SECTION - 1)) >> SECTION.ilog2()
    }

    #[inline(always)]
    fn groups(self) -> u32 {
        (self.tiles + (GROUP - 1)) >> GROUP.ilog2()
    }

    #[inline(always)]
    fn group_slot(self, group: u32) -> u32 {
        self.sections() + group
    }

    #[inline(always)]
    fn tile_slot(self, tile: u32) -> u32 {
        self.sections() + self.groups() + tile
    }

    /// Publishes the accumulator in `slot`.
    #[inline(always)]
    pub(crate) fn publish<A: Accumulator>(self, slot: u32, value: A) {
        let place = self.words.offset(slot as u64 * A::WORDS as u64);
        unroll::<EXCHANGED>(|word| {
            if (word as u32) < A::WORDS {
                let marked = (self.mark as u64) << 32 | value.word(word as u32) as u64;
                place.atomic(word as u32).store(marked, Ordering::Relaxed, Scope::Device);
            }
        });
    }

    /// Counts one more at counter `index`, those of groups before those of sections, and returns how many were
    /// counted before.
    #[inline(always)]
    fn count<A: Accumulator>(self, index: u32) -> u32 {
        let (sections, groups) = (self.sections(), self.groups());
        let slots = (sections + groups + self.tiles) as u64 * A::WORDS as u64;
        let counter = self.words.offset(slots + index as u64).atomic(0);
        // Whatever an earlier launch left there has a smaller mark, so nothing has to be cleared.
        counter.fetch_max((self.mark as u64) << 32, Ordering::Relaxed, Scope::Device);
        counter.fetch_add(1, Ordering::Relaxed, Scope::Device) as u32
    }

    /// Waits for what is published in `slot`, which may be another one in every lane. For one whole warp.
    #[inline(always)]
    pub(crate) fn wait<A: Accumulator>(self, slot: u32) -> A {
        loop {
            let words = self.ask::<A>(slot, true);
            if warp::warp_vote_all(warp::FULL, self.is_there(words)) {
                return value(words);
            }
        }
    }

    /// Publishes the total of a tile.
    #[inline(always)]
    fn publish_total<A: Accumulator>(self, tile: u32, total: A) {
        self.publish(self.tile_slot(tile), total);
    }

    /// Asks for what is published in `slot`; where `wanted` is not set, it is there.
    #[inline(always)]
    fn ask<A: Accumulator>(self, slot: u32, wanted: bool) -> [u64; EXCHANGED] {
        let mut words = [(self.mark as u64) << 32; EXCHANGED];
        if wanted {
            let place = self.words.offset(slot as u64 * A::WORDS as u64);
            unroll::<EXCHANGED>(|word| {
                if (word as u32) < A::WORDS {
                    words[word] = place.atomic(word as u32).load(Ordering::Relaxed, Scope::Device);
                }
            });
        }
        words
    }

    #[inline(always)]
    fn is_there(self, words: [u64; EXCHANGED]) -> bool {
        let mut all = true;
        unroll::<EXCHANGED>(|word| all &= (words[word] >> 32) as u32 == self.mark);
        all
    }
}

#[inline(always)]
fn value<A: Accumulator>(words: [u64; EXCHANGED]) -> A {
    A::from_words(&mut |word| words[word as usize] as u32)
}

/// Publishes the tile's total and, where blocks take several, those of its group and its section where this was their
/// last. For one whole warp, not the one that waits: both are on their way at once. `scan` is the scan over lanes by
/// `S`.
#[device]
#[inline(always)]
pub(crate) fn arrive<S: Scan>(
    published: Published,
    tile: u32,
    total: S::Register,
    initial: S::Register,
    scan: impl Fn(S::Register) -> S::Register,
) {
    // Opaque, or what follows from it would be kept in registers from tile to tile.
    let lane = opaque(warp::lane_id());
    if lane == 0 {
        published.publish_total(tile, total);
    }
    if !published.several {
        return;
    }
    // The group, then the section, in a loop, so that the code stands there once.
    let (sections, groups) = (published.sections(), published.groups());
    let (mut unit, mut unit_tiles) = (tile, opaque(1));
    while unit_tiles < SECTION {
        unit /= GROUP;
        unit_tiles *= GROUP;
        let is_section = unit_tiles == SECTION;
        // Nobody asks for the total of the last one, which may be incomplete.
        if (unit + 1) * unit_tiles >= published.tiles {
            return;
        }
        let counter = if is_section { groups + unit } else { unit };
        let before = if lane == 0 { published.count::<S::Register>(counter) } else { 0 };
        if of_lane(before, 0) != GROUP - 1 {
            return;
        }
        let members = if is_section { sections } else { sections + groups };
        let mut with = scan(published.wait(members + unit * GROUP + lane));
        let mut slot = sections + unit;
        if is_section {
            // All lanes ask for it, so that they stay together.
            let start = if unit > 0 { published.wait(unit) } else { initial };
            with = S::combine(start, with);
            slot = unit + 1;
        }
        if lane == GROUP - 1 {
            published.publish(slot, with);
        }
        unit_tiles = opaque(unit_tiles);
    }
}

/// Waits for what comes before the tile and leaves it in `nodes`, two accumulators. For one whole warp; a barrier has
/// to follow, then [`prefix`].
///
/// `total` is that of the tile. Where blocks take several tiles it is published and asked for as the others are.
/// `scan` is the scan over lanes by `S`. With `in_turn`, a constant, there is less code, which takes a little longer.
#[device]
#[inline(always)]
pub(crate) fn gather<S: Scan>(
    published: Published,
    tile: u32,
    total: S::Register,
    initial: S::Register,
    nodes: Shared<u32>,
    scan: impl Fn(S::Register) -> S::Register,
    in_turn: bool,
) {
    // Opaque where registers are scarce, or what follows from it would be kept from tile to tile.
    let lane = if in_turn { opaque(warp::lane_id()) } else { warp::lane_id() };
    let (rank, group, section) = (tile % GROUP, tile / GROUP % GROUP, tile / SECTION);
    let tile_slot = published.tile_slot(tile - rank + lane);
    // The lane behind those of the groups before it asks for the section's start.
    let group_slot = if lane == group { section } else { published.group_slot(section * GROUP + lane) };
    let is_known = lane == rank && !published.several;
    let ends_group = rank == GROUP - 1;

    // All are asked for before the first is waited for.
    let of_tile = published.ask::<S::Register>(tile_slot, lane <= rank && !is_known);
    let is_start = lane == group && section > 0;
    let of_group = published.ask::<S::Register>(group_slot, lane < group || is_start);

    // ---- The tiles of the group, then the groups of the section
    let nothing = Prefix { before: identity::<S>(), with: identity::<S>() };
    let (mut tiles, mut groups) = (nothing, nothing);
    let mut words = of_tile;
    let mut gather_level = |level: u32| {
        let of_groups = level == 1;
        let own = if of_groups { group } else { rank };
        let slot = if of_groups { group_slot } else { tile_slot };
        words = if of_groups { of_group } else { of_tile };
        // Lanes leave together. What is there stays: there is nothing in the slots of lanes that want none.
        while !warp::warp_vote_all(warp::FULL, published.is_there(words)) {
            if !published.is_there(words) {
                words = published.ask::<S::Register>(slot, true);
            }
        }
        // What the lane of the tile or group itself has: the tile's total may be known, and that of the group where
        // the tile ends it.
        let mut of_own = if published.several { value(words) } else { total };
        if of_groups {
            of_own = if ends_group { groups.with } else { identity::<S>() };
        }
        let before = if lane < own { value(words) } else { identity::<S>() };
        let scanned = scan(if lane == own { of_own } else { before });
        if !of_groups && ends_group && is_known {
            published.publish(published.group_slot(tile / GROUP), scanned);
        }
        tiles = groups;
        groups =
            Prefix { before: of_lane(scanned, own.wrapping_sub(1) % GROUP), with: of_lane(scanned, own) };
    };
    if in_turn {
        let mut level = 0;
        while level < 2 {
            level = rolled(level);
            gather_level(level);
            level += 1;
        }
    } else {
        gather_level(0);
        gather_level(1);
    }
    let start = of_lane(value(words), group);
    let start = if section > 0 { start } else { initial };

    let before_group = S::combine(start, groups.before);
    let before_group = if group > 0 { before_group } else { start };
    let before = S::combine(before_group, tiles.before);
    let before = if rank > 0 { before } else { before_group };
    let with_group = S::combine(start, groups.with);
    let with_tile = S::combine(before_group, tiles.with);
    if lane == 0 {
        write(nodes, 2, 0, before);
        write(nodes, 2, 1, if ends_group { with_group } else { with_tile });
    }
}

/// What the first warp left.
#[inline(always)]
pub(crate) fn prefix<S: Scan>(nodes: Shared<u32>) -> Prefix<S::Register> {
    Prefix { before: read(nodes, 2, 0), with: read(nodes, 2, 1) }
}
