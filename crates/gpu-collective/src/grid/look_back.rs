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

use super::{GROUP, SECTION};
use crate::number::Register;
use crate::warp::{from_lane, inclusive_scan};
use crate::words::{read, write};
use crate::{Accumulator, MAX_WORDS};

/// An associative operator on what tiles have as totals. It need not commute.
///
/// # Order of combination
/// With `p`, the totals of the tiles of a group scanned as lanes are, `g`, those of the groups of a section scanned the
/// same way, and `s`, the result of everything before the section, what comes before a tile is `(s ⊕ g) ⊕ p`. The
/// first section starts with the initial value.
pub trait Operator {
    /// What it combines.
    type Value: Accumulator;
    /// Whether [`gather`] shall have less code, which takes a little longer.
    const COMPACT: bool = false;
    /// What changes nothing.
    fn identity() -> Self::Value;
    /// The combination of two, of which `before` comes first.
    fn combine(before: Self::Value, after: Self::Value) -> Self::Value;
    /// The inclusive scan over the lanes of a warp, in whose order tiles are combined.
    #[inline(always)]
    fn warp_scan(value: Self::Value) -> Self::Value {
        inclusive_scan(value, Self::combine)
    }
    /// The same, where nobody waits for it: with less code, perhaps.
    #[inline(always)]
    fn warp_scan_arriving(value: Self::Value) -> Self::Value {
        Self::warp_scan(value)
    }
}

/// Addition, which wraps where the numbers are integers.
#[derive(Clone, Copy, Debug)]
pub struct Plus<R>(core::marker::PhantomData<fn() -> R>);

impl<R: Register> Operator for Plus<R> {
    type Value = R;
    #[inline(always)]
    fn identity() -> R {
        R::NOTHING
    }
    #[inline(always)]
    fn combine(before: R, after: R) -> R {
        before.plus(after)
    }
}

/// What the tiles of one launch have published: the words of the sections' starts, of the groups' totals, of the
/// tiles' totals.
///
/// ```
/// use gpu_collective::grid::tickets::{mark, tile};
/// use gpu_collective::grid::{HEADER_WORDS, Tickets, TileStates};
/// use gpu_std::prelude::*;
///
/// /// A chain: each block waits for the one that drew its ticket before.
/// #[kernel]
/// pub fn chain(result: GlobalMut<u32>, words: GlobalMut<u64>, capacity: u64) {
///     let (room, blocks) = (shared::dynamic().array::<u64>(1), thread::grid_dim_x());
///     let tickets = Tickets { words, tiles: blocks, capacity };
///     if thread::thread_idx_x() == 0 {
///         room.write(0, tickets.draw());
///     }
///     thread::sync_threads();
///     let (own, mark) = (tile(room.read(0)), mark(room.read(0)));
///     let words = words.offset(u64::from(HEADER_WORDS));
///     let states = TileStates { words, tiles: blocks, mark, several: false };
///     let before: u32 = if own > 0 { states.wait(own - 1) } else { 1 };
///     if warp::lane_id() == 0 {
///         states.publish(own, 2 * before);
///         result.write(own, 2 * before);
///     }
///     tickets.finish(own + blocks, mark, room, blocks);
/// }
/// # use gpu_std::launch::LaunchConfig;
/// # let device = gpu_core::Device::simulator();
/// # let (mut result, mut words) = (device.zeroed::<u32>(4)?, device.zeroed::<u64>(6)?);
/// # let (a, b) = (result.view_mut().as_global_mut(), words.view_mut().as_global_mut());
/// # unsafe { chain::launch(&device.default_stream(), LaunchConfig::linear(4, 32).shared(8), a, b, 6)? };
/// assert_eq!(result.to_vec()?, [2, 4, 8, 16]);
/// # Ok::<(), gpu_core::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct TileStates {
    /// Where they are: [`scratch_words`](super::scratch_words) less the header.
    pub words: GlobalMut<u64>,
    /// How many tiles there are.
    pub tiles: u32,
    /// The launch's mark ([`mark`](super::tickets::mark)).
    pub mark: u32,
    /// Whether blocks take several tiles, so that [`arrive`] counts each.
    pub several: bool,
}

/// The result of everything before a tile, and the same with the tile.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prefix<R> {
    /// Without the tile.
    pub before: R,
    /// With it.
    pub with: R,
}

/// The most words of an accumulator.
const WORDS: usize = MAX_WORDS as usize;

impl TileStates {
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
    pub fn publish<A: Accumulator>(self, slot: u32, value: A) {
        let place = self.words.offset(slot as u64 * A::WORDS as u64);
        unroll::<WORDS>(|word| {
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
    pub fn wait<A: Accumulator>(self, slot: u32) -> A {
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
    fn ask<A: Accumulator>(self, slot: u32, wanted: bool) -> [u64; WORDS] {
        let mut words = [(self.mark as u64) << 32; WORDS];
        if wanted {
            let place = self.words.offset(slot as u64 * A::WORDS as u64);
            unroll::<WORDS>(|word| {
                if (word as u32) < A::WORDS {
                    words[word] = place.atomic(word as u32).load(Ordering::Relaxed, Scope::Device);
                }
            });
        }
        words
    }

    #[inline(always)]
    fn is_there(self, words: [u64; WORDS]) -> bool {
        let mut all = true;
        unroll::<WORDS>(|word| all &= (words[word] >> 32) as u32 == self.mark);
        all
    }
}

#[inline(always)]
fn value<A: Accumulator>(words: [u64; WORDS]) -> A {
    A::from_words(&mut |word| words[word as usize] as u32)
}

/// Publishes the tile's total and, where blocks take several, those of its group and its section where this was their
/// last. For one whole warp, not the one that waits: both are on their way at once.
#[device]
#[inline(always)]
pub fn arrive<O: Operator>(states: TileStates, tile: u32, total: O::Value, initial: O::Value) {
    // Opaque, or what follows from it would be kept in registers from tile to tile.
    let lane = opaque(warp::lane_id());
    if lane == 0 {
        states.publish_total(tile, total);
    }
    if !states.several {
        return;
    }
    // The group, then the section, in a loop, so that the code stands there once.
    let (sections, groups) = (states.sections(), states.groups());
    let (mut unit, mut unit_tiles) = (tile, opaque(1));
    // Mutants: of 32 sections in vain: the group whose counter that is has long been counted to its end.
    while unit_tiles < SECTION {
        unit /= GROUP;
        unit_tiles *= GROUP;
        let is_section = unit_tiles == SECTION;
        // Nobody asks for the total of the last one, which may be incomplete.
        // Mutants: it is counted in vain then, or published where nobody reads.
        if (unit + 1) * unit_tiles >= states.tiles {
            return;
        }
        let counter = if is_section { groups + unit } else { unit };
        let before = if lane == 0 { states.count::<O::Value>(counter) } else { 0 };
        if from_lane(before, 0) != GROUP - 1 {
            return;
        }
        let members = if is_section { sections } else { sections + groups };
        let mut with = O::warp_scan_arriving(states.wait(members + unit * GROUP + lane));
        let mut slot = sections + unit;
        if is_section {
            // All lanes ask for it, so that they stay together.
            let start = if unit > 0 { states.wait(unit) } else { initial };
            with = O::combine(start, with);
            slot = unit + 1;
        }
        if lane == GROUP - 1 {
            states.publish(slot, with);
        }
        unit_tiles = opaque(unit_tiles);
    }
}

/// Waits for what comes before the tile and leaves it in `nodes`, two accumulators. For one whole warp; a barrier has
/// to follow, then [`prefix`].
///
/// `total` is that of the tile. Where blocks take several tiles it is published and asked for as the others are.
#[device]
#[inline(always)]
pub fn gather<O: Operator>(
    states: TileStates,
    tile: u32,
    total: O::Value,
    initial: O::Value,
    nodes: Shared<u32>,
) {
    // Opaque where registers are scarce, or what follows from it would be kept from tile to tile.
    let lane = if O::COMPACT { opaque(warp::lane_id()) } else { warp::lane_id() };
    let (rank, group, section) = (tile % GROUP, tile / GROUP % GROUP, tile / SECTION);
    let tile_slot = states.tile_slot(tile - rank + lane);
    // The lane behind those of the groups before it asks for the section's start.
    let group_slot = if lane == group { section } else { states.group_slot(section * GROUP + lane) };
    let is_known = lane == rank && !states.several;
    let ends_group = rank == GROUP - 1;

    // All are asked for before the first is waited for.
    let of_tile = states.ask::<O::Value>(tile_slot, lane <= rank && !is_known);
    let is_start = lane == group && section > 0;
    let of_group = states.ask::<O::Value>(group_slot, lane < group || is_start);

    // ---- The tiles of the group, then the groups of the section
    let nothing = Prefix { before: O::identity(), with: O::identity() };
    let (mut tiles, mut groups) = (nothing, nothing);
    let mut words = of_tile;
    let mut gather_level = |level: u32| {
        let of_groups = level == 1;
        let own = if of_groups { group } else { rank };
        let slot = if of_groups { group_slot } else { tile_slot };
        words = if of_groups { of_group } else { of_tile };
        // Lanes leave together. What is there stays: there is nothing in the slots of lanes that want none.
        while !warp::warp_vote_all(warp::FULL, states.is_there(words)) {
            if !states.is_there(words) {
                words = states.ask::<O::Value>(slot, true);
            }
        }
        // What the lane of the tile or group itself has: the tile's total may be known, and that of the group where
        // the tile ends it.
        let mut of_own = if states.several { value(words) } else { total };
        if of_groups {
            of_own = if ends_group { groups.with } else { O::identity() };
        }
        // Mutants: the own lane takes the other value.
        let before = if lane < own { value(words) } else { O::identity() };
        let scanned = O::warp_scan(if lane == own { of_own } else { before });
        if !of_groups && ends_group && is_known {
            states.publish(states.group_slot(tile / GROUP), scanned);
        }
        tiles = groups;
        groups =
            Prefix { before: from_lane(scanned, own.wrapping_sub(1) % GROUP), with: from_lane(scanned, own) };
    };
    if O::COMPACT {
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
    let start = from_lane(value(words), group);
    let start = if section > 0 { start } else { initial };

    let before_group = O::combine(start, groups.before);
    let before_group = if group > 0 { before_group } else { start };
    let before = O::combine(before_group, tiles.before);
    let before = if rank > 0 { before } else { before_group };
    let with_group = O::combine(start, groups.with);
    let with_tile = O::combine(before_group, tiles.with);
    if lane == 0 {
        write(nodes, 2, 0, before);
        write(nodes, 2, 1, if ends_group { with_group } else { with_tile });
    }
}

/// What the first warp left.
#[inline(always)]
pub fn prefix<A: Accumulator>(nodes: Shared<u32>) -> Prefix<A> {
    Prefix { before: read(nodes, 2, 0), with: read(nodes, 2, 1) }
}
