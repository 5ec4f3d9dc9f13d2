//! Some of an array's items, in their order: those with a flag, those that a predicate keeps, those that differ from the one before.
//!
//! One launch, one pass: a block takes a tile, by a ticket, votes on its items, publishes how many it keeps, and learns how many are
//! kept before it as a scan's tile learns its prefix (`look_back.rs`). Meanwhile it has put the kept ones side by side in shared memory,
//! from where they go to memory, neighbours to neighbours. The items that are not kept can go to an array of their own the same way.
//!
//! Items are moved as bits of 1, 2, 4, 8 or 16 bytes.

mod kernels;
mod selector;

pub use kernels::*;
pub use selector::{Flags, Kept, Predicate, Selector, Unique};

use gpu_std::atomic::{Ordering, Scope};
use gpu_std::memory::{Element, Global, GlobalMut};
use gpu_std::shared::SharedLayout;
use gpu_std::thread::{sync_threads, thread_idx_x};
use gpu_std::warp::{self, FULL, warp_vote_ballot};
use gpu_std::{device, shared, unroll};

use super::look_back::{Published, arrive, gather, prefix};
use super::operator::Sum;
use super::{GROUP, SECTION};

/// Warps of a block.
pub const WARPS: usize = 8;
/// The words of scratch memory before those of the tiles: the ticket.
pub const HEADER_WORDS: u32 = 2;
/// The most tiles: they are counted in 32 bits.
pub const MAX_TILES: u64 = 1 << 31;

/// The operator by which counts are added up.
type Counts = Sum<u64>;
/// The mark of published words: they are cleared before each launch.
const MARK: u32 = 1;

/// How a selection is cut: pure numbers that kernels and hosts share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Warps of a block.
    pub warps: u32,
    /// Items of a thread.
    pub rows: u32,
    /// Bytes of an item.
    pub item_bytes: u32,
}

impl Shape {
    /// That of the kernels in the PTX modules: as many items a thread as registers allow, with three or four blocks on a
    /// multiprocessor.
    pub const fn new(item_bytes: u32) -> Self {
        let rows = match item_bytes {
            1..=4 => 12,
            8 => 8,
            _ => 6,
        };
        Self { warps: WARPS as u32, rows, item_bytes }
    }

    /// Threads of a block.
    pub const fn threads(self) -> u32 {
        32 * self.warps
    }

    /// Items of a tile.
    pub const fn tile(self) -> u32 {
        self.threads() * self.rows
    }

    /// Tiles of an array.
    pub const fn tiles(self, len: u64) -> u64 {
        len.div_ceil(self.tile() as u64)
    }

    /// Words of 64 bits of scratch memory for so many tiles: the header, two for each section, group and tile, and the counters of
    /// sections and groups.
    pub const fn scratch_words(self, tiles: u64) -> u64 {
        let counters = tiles.div_ceil(SECTION as u64) + tiles.div_ceil(GROUP as u64);
        HEADER_WORDS as u64 + 2 * (counters + tiles) + counters
    }

    /// Bytes of dynamic shared memory of a block.
    pub const fn shared_bytes(self) -> u32 {
        SharedLayout::new()
            .array::<u32>(self.warps)
            .array::<u32>(4)
            .array::<u32>(1)
            .array::<u8>(self.tile() * self.item_bytes)
            .bytes()
    }
}

/// Writes the items that `selector` keeps to `kept.selected`, how many there are to `kept.count`, and where it asks for it the others to
/// `kept.rejected`.
///
/// `L` items a thread, `W` warps: what [`Shape`] says. `words` has the shape's scratch words, all zero. Launch a block for each tile.
#[device]
#[inline(always)]
pub fn select<T: Element, S: Selector<T>, const L: usize, const W: usize>(
    items: Global<T>,
    len: u64,
    selector: S,
    kept: Kept<T>,
    words: GlobalMut<u64>,
) {
    let mut memory = shared::dynamic();
    let warp_counts = memory.array::<u32>(W as u32);
    let nodes = memory.array::<u32>(4);
    let block_ticket = memory.array::<u32>(1);
    let exchange = memory.array::<T>(0);
    let (thread, lane) = (thread_idx_x(), warp::lane_id());
    let tile_len = 32 * (W * L) as u32;
    let tiles = len.div_ceil(tile_len as u64) as u32;

    if thread == 0 {
        block_ticket.write(0, words.atomic(0).fetch_add(1, Ordering::Relaxed, Scope::Device) as u32);
    }
    sync_threads();
    let tile = block_ticket.read(0);
    let base = tile as u64 * tile_len as u64;
    let left = (len - base).min(tile_len as u64) as u32;

    // ---- Which items are kept
    let first = thread / 32 * 32 * L as u32 + lane;
    let part = items.offset(base);
    let mut loaded = [T::default(); L];
    let mut keeps = [false; L];
    if left == tile_len {
        unroll::<L>(|row| loaded[row] = part.read(first + 32 * row as u32));
        unroll::<L>(|row| keeps[row] = selector.keep(part, base, first + 32 * row as u32, loaded[row]));
    } else {
        // Behind the end the last item once more: a condition would keep the loads apart.
        let place = |row: usize| (first + 32 * row as u32).min(left - 1);
        unroll::<L>(|row| loaded[row] = part.read(place(row)));
        unroll::<L>(|row| {
            let is_item = first + 32 * (row as u32) < left;
            keeps[row] = selector.keep(part, base, place(row), loaded[row]) && is_item;
        });
    }
    let mut votes = [0; L];
    let mut count = 0;
    unroll::<L>(|row| {
        votes[row] = warp_vote_ballot(FULL, keeps[row]);
        count += votes[row].count_ones();
    });
    if lane == 0 {
        warp_counts.write(thread / 32, count);
    }
    sync_threads();
    let (mut before, mut total) = (0, 0);
    unroll::<W>(|warp| {
        let of_warp = warp_counts.read(warp as u32);
        before += if (warp as u32) < thread / 32 { of_warp } else { 0 };
        total += of_warp;
    });
    let published = Published { words: words.offset(HEADER_WORDS as u64), tiles, mark: MARK, several: true };
    // Not the warp that will wait.
    if thread / 32 == 1 {
        arrive::<Counts>(published, tile, total as u64, 0);
    }

    // ---- The kept ones side by side, the others behind them
    unroll::<L>(|row| {
        let at = first + 32 * row as u32;
        let rank = before + (votes[row] & ((1 << lane) - 1)).count_ones();
        let is_kept = votes[row] >> lane & 1 == 1;
        let to = if is_kept { rank } else { total + at - rank };
        if is_kept || (kept.partition && at < left) {
            exchange.write(to, loaded[row]);
        }
        before += votes[row].count_ones();
    });

    // ---- How many are kept before the tile
    if thread < 32 {
        gather::<Counts>(published, tile, total as u64, 0, nodes);
    }
    sync_threads();
    let prefix = prefix::<Counts>(nodes);
    if tile == tiles - 1 && thread == 0 {
        kept.count.write(0, prefix.with);
    }
    let selected = kept.selected.offset(prefix.before);
    let mut at = thread;
    while at < total {
        selected.write(at, exchange.read(at));
        at += 32 * W as u32;
    }
    if kept.partition {
        let rejected = kept.rejected.offset(base - prefix.before);
        let mut at = thread;
        while at < left - total {
            rejected.write(at, exchange.read(total + at));
            at += 32 * W as u32;
        }
    }
}
