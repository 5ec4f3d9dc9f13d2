//! Some of an array's items, in their order: those with a flag, those that a predicate keeps, those that differ from
//! the one before.
//!
//! One launch, one pass ([`single_pass()`]): a block votes on a tile's items, publishes how many it keeps, and learns how
//! many are kept before it. Meanwhile it has put the kept ones side by side in shared memory, from where they go to
//! memory, neighbours to neighbours, and reads its next tile. The items that are not kept can go to an array of their own the same way.
//!
//! Runs of equal items are found by it too: with the first item of each its number goes to memory, and from these
//! numbers come the lengths (`runs.rs`).
//!
//! Items are moved as bits of 1, 2, 4, 8 or 16 bytes.

mod kernels;
mod runs;
mod selector;

pub use kernels::*;
pub use runs::*;
pub use selector::{Flags, Kept, Predicate, Rows, Selector, Unique};

use gpu_collective::Accumulator;
pub use gpu_collective::grid::{HEADER_WORDS, MAX_TILES};
use gpu_collective::grid::{Pass, Plus, Prefix, TileWork, scratch_words, single_pass};
use gpu_std::memory::{Element, Global, GlobalMut, Shared};
use gpu_std::shared::SharedLayout;
use gpu_std::thread::{sync_threads, thread_idx_x};
use gpu_std::warp::{self, FULL, warp_vote_ballot};
use gpu_std::{device, opaque, shared, unroll};

/// Warps of a block.
pub const WARPS: usize = 8;
/// Blocks on a multiprocessor, the most that fit. They take tiles until none is left.
pub const BLOCKS: u32 = 5;

/// The operator by which counts are added up.
type Counts = Plus<u64>;

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
    /// That of the kernels in the PTX modules: as many items a thread as registers allow, with three or four blocks
    /// on a multiprocessor, and two tiles within 48 KiB.
    pub const fn new(item_bytes: u32) -> Self {
        let rows = match item_bytes {
            1..=4 => 12,
            8 => 8,
            _ => 5,
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

    /// Words of 64 bits of scratch memory for so many tiles: the header, two for each section, group and tile, and
    /// the counters of groups and sections.
    pub const fn scratch_words(self, tiles: u64) -> u64 {
        scratch_words(tiles, <u64 as Accumulator>::WORDS)
    }

    /// Bytes of dynamic shared memory of a block, which has room for two tiles; `numbers` says whether also for the
    /// items' places in them.
    pub const fn shared_bytes(self, numbers: bool) -> u32 {
        Pass::layout(SharedLayout::new(), <u64 as Accumulator>::WORDS)
            .array::<u32>(self.warps)
            .array::<u8>(2 * self.tile() * self.item_bytes)
            .array::<u16>(if numbers { 2 * self.tile() } else { 0 })
            .bytes()
    }
}

/// Writes the items that `selector` keeps to `kept.selected`, how many there are to `kept.count`, where it asks for it
/// their numbers, and where `kept` asks for it the others to `kept.rejected`.
///
/// `L` items a thread, `W` warps: what [`Shape`] says. `words` has the shape's scratch words, all zero. Launch at
/// most as many blocks as there are tiles.
#[device]
#[inline(always)]
pub fn select<T: Element, S: Selector<T>, const L: usize, const W: usize>(
    items: Global<T>,
    len: u64,
    selector: S,
    kept: Kept<T>,
    words: GlobalMut<u64>,
) {
    // Mutants: there are more.
    const { assert!(W > 1, "one warp waits while another one publishes") };
    let tile_len = 32 * (W * L) as u32;
    let tiles = len.div_ceil(tile_len as u64) as u32;
    let capacity = scratch_words(tiles as u64, <u64 as Accumulator>::WORDS);
    let mut memory = shared::dynamic();
    let pass = Pass::new::<Counts>(tiles, words, capacity, &mut memory);
    let work = Work::<T, S, L, W> {
        items,
        len,
        selector,
        kept,
        warp_counts: memory.array(W as u32),
        // Two tiles: one is read while the other waits for what is kept before it.
        rooms: memory.array(2 * tile_len),
        places: memory.array(if selector.numbers().is_some() { 2 * tile_len } else { 0 }),
    };
    single_pass::<Counts, _>(pass, 0, (), &work);
}

/// What a block does with a tile.
struct Work<T: Element, S: Selector<T>, const L: usize, const W: usize> {
    items: Global<T>,
    len: u64,
    selector: S,
    kept: Kept<T>,
    warp_counts: Shared<u32>,
    rooms: Shared<T>,
    /// The items' places in their tiles, if their numbers are wanted.
    places: Shared<u16>,
}

impl<T: Element, S: Selector<T>, const L: usize, const W: usize> Work<T, S, L, W> {
    const TILE: u32 = 32 * (W * L) as u32;

    #[inline(always)]
    fn part(&self, tile: u32, room: u32) -> Part<T> {
        Part {
            tile,
            tile_len: Self::TILE,
            len: self.len,
            partition: self.kept.partition,
            room: self.rooms.offset(room * Self::TILE),
            places: self.places.offset(room * Self::TILE),
        }
    }
}

impl<T: Element, S: Selector<T>, const L: usize, const W: usize> TileWork<Counts> for Work<T, S, L, W> {
    type Held = ();

    #[device]
    #[inline(always)]
    fn read(&self, tile: u32, room: u32, publish: impl FnOnce(u64)) {
        let total = self.part(tile, room).read::<S, L, W>(self.items, self.selector, self.warp_counts);
        publish(total as u64);
    }

    #[device]
    #[inline(always)]
    fn write(&self, tile: u32, room: u32, around: Prefix<u64>, (): ()) {
        self.part(tile, room).write::<S, W>(self.selector, around, self.kept);
    }
}

/// A tile's items.
#[derive(Clone, Copy)]
struct Part<T: Element> {
    tile: u32,
    tile_len: u32,
    len: u64,
    partition: bool,
    /// Where they wait side by side.
    room: Shared<T>,
    /// The same for their places, if they are wanted.
    places: Shared<u16>,
}

impl<T: Element> Part<T> {
    fn base(self) -> u64 {
        self.tile as u64 * self.tile_len as u64
    }

    fn left(self) -> u32 {
        (self.len - self.base()).min(self.tile_len as u64) as u32
    }

    /// Puts the items that are kept side by side into the room, the others behind them; returns how many are kept. One
    /// barrier.
    #[device]
    #[inline(always)]
    fn read<S: Selector<T>, const L: usize, const W: usize>(
        self,
        items: Global<T>,
        selector: S,
        warp_counts: Shared<u32>,
    ) -> u32 {
        // Opaque: the compiler would keep all addresses of the thread from tile to tile.
        let (thread, lane) = (opaque(thread_idx_x()), warp::lane_id());
        let left = self.left();
        let first = thread / 32 * 32 * L as u32 + lane;
        let rows = Rows { base: self.base(), first, left };
        let mut loaded = [T::default(); L];
        let mut votes = [0; L];
        if left == self.tile_len {
            unroll::<L>(|row| loaded[row] = rows.read::<T, true>(items, row));
            let keeps = selector.keeps::<L, true>(items, rows, loaded);
            unroll::<L>(|row| votes[row] = warp_vote_ballot(FULL, keeps[row]));
        } else {
            unroll::<L>(|row| loaded[row] = rows.read::<T, false>(items, row));
            let keeps = selector.keeps::<L, false>(items, rows, loaded);
            unroll::<L>(|row| {
                votes[row] = warp_vote_ballot(FULL, keeps[row] && first + 32 * (row as u32) < left)
            });
        }
        let mut count = 0;
        unroll::<L>(|row| count += votes[row].count_ones());
        let own_warp = thread / 32;
        if lane == 0 {
            warp_counts.write(own_warp, count);
        }
        sync_threads();
        let (mut before, mut total) = (0, 0);
        unroll::<W>(|warp| {
            let of_warp = warp_counts.read(warp as u32);
            before += if (warp as u32) < own_warp { of_warp } else { 0 };
            total += of_warp;
        });
        // The others that go to memory: none, if they are not wanted.
        let others = if self.partition { left } else { 0 };
        unroll::<L>(|row| {
            let at = first + 32 * row as u32;
            let rank = before + (votes[row] & ((1 << lane) - 1)).count_ones();
            let is_kept = votes[row] >> lane & 1 == 1;
            let to = if is_kept { rank } else { total + at - rank };
            // Mutants: one more goes behind all that count, where there is room as long as one is missing.
            if is_kept || at < others {
                self.room.write(to, loaded[row]);
                if selector.numbers().is_some() {
                    self.places.write(to, at as u16);
                }
            }
            before += votes[row].count_ones();
        });
        total
    }

    /// Writes what [`Part::read`] put into the room; a barrier has to be between.
    #[device]
    #[inline(always)]
    fn write<S: Selector<T>, const W: usize>(self, selector: S, around: Prefix<u64>, kept: Kept<T>) {
        let thread = thread_idx_x();
        let base = self.base();
        let total = (around.with - around.before) as u32;
        if base + self.left() as u64 == self.len && thread == 0 {
            kept.count.write(0, around.with);
        }
        let selected = kept.selected.offset(around.before);
        let mut at = thread;
        while at < total {
            selected.write(at, self.room.read(at));
            if let Some(numbers) = selector.numbers() {
                numbers.offset(around.before).write(at, base + self.places.read(at) as u64);
            }
            at += 32 * W as u32;
        }
        if self.partition {
            let rejected = kept.rejected.offset(base - around.before);
            let mut at = thread;
            while at < self.left() - total {
                rejected.write(at, self.room.read(total + at));
                at += 32 * W as u32;
            }
        }
    }
}
