//! The loop of all kernels that read each element once and write it once: what is to be written depends on all tiles
//! before, by their totals.
//!
//! A block takes a tile, by a ticket, publishes its total, and learns what comes before it ([`look_back`](super::look_back)).
//! Meanwhile it reads its next tile: the one that waits lies in shared memory. So there are two rooms for a tile.
//!
//! Tickets are drawn behind all waiting, so that tiles start in their order: a block that held a ticket while it still
//! waits would make all later tiles wait for it (scan of 2^28 `f32` on an H200: 1,844 against 2,692 GB/s). The ticket's
//! way is hidden behind the stores.

use gpu_std::memory::{GlobalMut, Shared};
use gpu_std::shared::{Dynamic, SharedLayout};
use gpu_std::thread::{grid_dim_x, sync_threads, thread_idx_x};
use gpu_std::{device, opaque, warp};

use super::look_back::{Operator, Prefix, TileStates, arrive, gather, prefix};
use super::tickets::{NONE, Tickets, mark, tile};
use super::{HEADER_WORDS, SECTION};
use crate::Accumulator;

/// What a block does with a tile.
pub trait TileWork<O: Operator> {
    /// What a thread remembers of a tile while it waits, in registers.
    type Held: Copy;

    /// Whether registers are scarce: then what the pass itself has to remember lies in shared memory, and its code is
    /// shorter where that takes little longer.
    const COMPACT: bool = false;

    /// Reads a tile into room `room` (0 or 1), and calls `publish` once, by all threads, with the tile's total.
    fn read(&self, tile: u32, room: u32, publish: impl FnOnce(O::Value)) -> Self::Held;

    /// Writes what was read of `tile` into room `room`; `around` is what comes before it.
    fn write(&self, tile: u32, room: u32, around: Prefix<O::Value>, held: Self::Held);
}

/// A launch's tiles, and the memory in which its blocks meet.
#[derive(Clone, Copy)]
pub struct Pass {
    /// How many tiles there are.
    pub tiles: u32,
    /// Scratch memory, [`scratch_words`](super::scratch_words) at least: zero before the first launch that is given
    /// them; launches have to use them one after the other.
    pub words: GlobalMut<u64>,
    /// How many words there are.
    pub capacity: u64,
    nodes: Shared<u32>,
    ticket: Shared<u64>,
    kept: Shared<u32>,
}

impl Pass {
    /// With the shared memory that it needs, taken from `memory`.
    #[inline(always)]
    pub fn new<O: Operator>(tiles: u32, words: GlobalMut<u64>, capacity: u64, memory: &mut Dynamic) -> Self {
        Self {
            tiles,
            words,
            capacity,
            nodes: memory.array(2 * <O::Value as Accumulator>::WORDS),
            ticket: memory.array(1),
            kept: memory.array(2),
        }
    }

    /// A layout with room for what [`Pass::new`] takes, for accumulators of `words` words.
    #[must_use]
    pub const fn layout(layout: SharedLayout, words: u32) -> SharedLayout {
        layout.array::<u32>(2 * words).array::<u64>(1).array::<u32>(2)
    }
}

/// Reads and writes all tiles. The block is one-dimensional and has two warps at least: one waits while another one
/// publishes. `nothing` is what a thread holds of no tile, `initial` what comes before the first.
///
/// Launch at most as many blocks as there are tiles.
///
/// ```
/// use gpu_collective::block;
/// use gpu_collective::grid::{Pass, Plus, Prefix, TileWork, scratch_words, single_pass};
/// use gpu_std::prelude::*;
/// use gpu_std::shared::SharedLayout;
///
/// const WARPS: usize = 2;
/// const TILE: u32 = 32 * WARPS as u32;
/// const SHARED: u32 = Pass::layout(SharedLayout::new(), 1).array::<u32>(WARPS as u32).bytes();
///
/// /// Keeps the elements that are not zero, in their order. A thread holds its element and its place in the tile.
/// struct Compact {
///     input: Global<u32>,
///     output: GlobalMut<u32>,
///     len: u32,
///     warps: Shared<u32>,
/// }
///
/// impl TileWork<Plus<u32>> for Compact {
///     type Held = (u32, u32);
///     fn read(&self, tile: u32, _room: u32, publish: impl FnOnce(u32)) -> (u32, u32) {
///         let at = tile * TILE + thread::thread_idx_x();
///         let value = if at < self.len { self.input.read(at) } else { 0 };
///         let kept = block::exclusive_scan::<u32, WARPS>((value != 0) as u32, 0, self.warps, |a, b| a + b);
///         publish(kept.total);
///         (value, kept.before)
///     }
///     fn write(&self, _tile: u32, _room: u32, around: Prefix<u32>, (value, place): (u32, u32)) {
///         if value != 0 {
///             self.output.write(around.before + place, value);
///         }
///     }
/// }
///
/// #[kernel]
/// pub fn compact(input: Global<u32>, output: GlobalMut<u32>, len: u32, words: GlobalMut<u64>, capacity: u64) {
///     let mut memory = shared::dynamic();
///     let pass = Pass::new::<Plus<u32>>(len.div_ceil(TILE), words, capacity, &mut memory);
///     single_pass(pass, 0, (0, 0), &Compact { input, output, len, warps: memory.array(WARPS as u32) });
/// }
///
/// let words = scratch_words(1000_u64.div_ceil(TILE as u64), 1);
/// # use gpu_std::launch::LaunchConfig;
/// # let device = gpu_core::Device::simulator();
/// # let input: Vec<u32> = (0..1000).map(|i| i % 3).collect();
/// # let (from, mut to, mut scratch) = (device.upload(&input)?, device.zeroed(1000)?, device.zeroed(words as usize)?);
/// # let (a, b, c) = (from.view().as_global(), to.view_mut().as_global_mut(), scratch.view_mut().as_global_mut());
/// # let config = LaunchConfig::linear(5, TILE).shared(SHARED);
/// # unsafe { compact::launch(&device.default_stream(), config, a, b, 1000, c, words)? };
/// # let kept: Vec<u32> = input.into_iter().filter(|value| *value != 0).collect();
/// assert_eq!(to.to_vec()?[..kept.len()], kept);
/// # Ok::<(), gpu_core::Error>(())
/// ```
#[device]
#[inline(always)]
pub fn single_pass<O: Operator, T: TileWork<O>>(pass: Pass, initial: O::Value, nothing: T::Held, work: &T) {
    let Pass { tiles, words, capacity, nodes, ticket: block_ticket, kept } = pass;
    let tickets = Tickets { words, tiles, capacity };
    let thread = thread_idx_x();
    // Opaque, or it would be read on both sides of a branch, and the assembler would not know that it is the same in
    // all threads.
    let blocks = if T::COMPACT { opaque(grid_dim_x()) } else { grid_dim_x() };

    // Mutants: a single tile's ticket is 0, drawn or not.
    if tiles > 1 || T::COMPACT {
        if thread == 0 {
            let ticket = if tiles > 1 { tickets.draw() } else { 0 };
            block_ticket.write(0, ticket);
            if T::COMPACT {
                kept.write(0, blocks);
                kept.write(1, mark(ticket));
            }
        }
        sync_threads();
    }
    let first = if tiles > 1 || T::COMPACT { block_ticket.read(0) } else { 0 };
    let mark_of_launch = mark(first);
    let several = tiles > blocks
        // Mutants: a section of tiles, a block each, is scanned either way: its tiles are counted in vain.
        || tiles > SECTION;
    let states = || TileStates {
        words: words.offset(HEADER_WORDS as u64),
        // Opaque, or the numbers of its places would be kept in registers from tile to tile.
        tiles: opaque(tiles),
        mark: if T::COMPACT { kept.read(1) } else { mark_of_launch },
        several,
    };
    // The tile that was read last: what comes before it is asked for when the next one has been read.
    let (mut held, mut of_held) = (NONE, nothing);
    let mut room = 0;
    let mut own = tile(first);
    loop {
        let (mut read, mut total) = (of_held, initial);
        if own < tiles {
            let of_tile = &mut total;
            read = work.read(own, room, |value| {
                *of_tile = value;
                if warp::uniform(opaque(thread) / 32 == 1 && tiles > 1) {
                    arrive::<O>(states(), own, value, initial);
                }
            });
        }
        room = 1 - room;

        // Of several tiles, what comes before the one held; of a single one, what comes before it at once.
        let asking = if several { held } else { own };
        if warp::uniform(thread < 32 && asking < tiles) {
            gather::<O>(states(), asking, total, initial, nodes);
        }
        let is_held = held != NONE;
        let mut around = Prefix { before: initial, with: initial };
        if is_held {
            sync_threads();
            around = prefix(nodes);
        }
        let draws = own < tiles && several;
        let next = if draws && thread == 0 { tickets.draw() } else { 0 };
        if is_held {
            work.write(held, room, around, of_held);
        }
        if own >= tiles {
            break;
        }
        (held, of_held) = (own, read);
        if draws {
            if thread == 0 {
                block_ticket.write(0, next);
            }
            sync_threads();
            own = tile(block_ticket.read(0));
        } else {
            own += tiles;
        }
    }
    if tiles > 1 {
        let (blocks, mark) = if T::COMPACT { (kept.read(0), kept.read(1)) } else { (blocks, mark_of_launch) };
        tickets.finish(own, mark, block_ticket, blocks);
    }
}
