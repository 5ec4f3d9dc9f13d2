//! The runs of equal keys: where they begin, and the key of each.
//!
//! Two launches. The first counts the runs that begin in each block's part of the keys. In the second every block adds up
//! the counts of those before it (at most [`MAX_BLOCKS`](super::MAX_BLOCKS), 8 KiB from the second-level cache, which takes less than
//! a launch between the two would), and writes where its runs begin, each at its number. Keys are compared by their bits, so there are four
//! pairs of kernels: by width. They are read twice, 16 bytes at a time, four loads a thread in flight.
//!
//! A warp takes consecutive rows of 32 loads, so that a key's predecessor is in the lane below, and a run's number follows from
//! counts over lanes: those of two rows are scanned as halves of one word.

use gpu_std::memory::{Global, GlobalMut};
use gpu_std::shared::SharedLayout;
use gpu_std::thread::{
    grid_dependency_synchronize, grid_dim_x, sync_threads, thread_idx_x, trigger_launch_completion,
};
use gpu_std::{device, kernel, opaque, shared, unroll, warp};

use super::item::Item;
use super::quad::{Quads, Words};
use super::{LOAD_BYTES, THREADS, WARPS, tile};
use crate::scan::look_back::{Prefix, Published, arrive, gather, prefix};
use crate::scan::whole::{NONE, Tickets, mark};
use crate::scan::{GROUP, HEADER_WORDS, MAX_BLOCKS, Packed, SECTION, Sum};

/// Loads of a thread that are in flight.
const ROWS: usize = 4;

/// Where the offsets of the runs begin, in words, after the number of runs: what [`COUNTED`](super::COUNTED) segments ask for.
pub const RUNS_HEADER: u32 = 4;

/// Bytes of dynamic shared memory.
pub const RUNS_SHARED_BYTES: u32 = SharedLayout::new()
    .array::<u32>(WARPS)
    .array::<u32>(2)
    .array::<u64>(1)
    .array::<u32>(2 * ROOM_WORDS)
    .bytes();

/// The bits of a key: `u8`, `u16`, `u32` or `u64`.
pub trait Bits: Packed + Item<Source = Global<Self>, Source: Quads<Quad = Words>> {}
impl Bits for u8 {}
impl Bits for u16 {}
impl Bits for u32 {}
impl Bits for u64 {}

/// A tile of keys, as a thread sees it.
struct Tile<K: Bits> {
    /// From the tile's first on.
    keys: Global<K>,
    /// How many there are.
    left: u32,
    /// Whether it is the first tile.
    is_first: bool,
    /// Whether loads of 16 bytes are aligned.
    whole: bool,
}

impl<K: Bits> Tile<K> {
    #[inline(always)]
    fn new(keys: Global<K>, base: u64, end: u64) -> Self {
        Self {
            keys: keys.offset(base),
            left: (end - base).min(tile::<K>() as u64) as u32,
            is_first: base == 0,
            whole: keys.address().is_multiple_of(LOAD_BYTES as u64),
        }
    }

    /// The first key of the thread's load in a row.
    #[inline(always)]
    fn place<const V: usize>(row: u32) -> u32 {
        ((thread_idx_x() / 32 * ROWS as u32 + row) * 32 + warp::lane_id()) * V as u32
    }

    /// The thread's loads, all asked for before the first is used.
    #[device]
    #[inline(always)]
    fn load<const V: usize>(&self) -> [[u32; 4]; ROWS] {
        let mut rows = [[0; 4]; ROWS];
        if self.whole && self.left == tile::<K>() {
            unroll::<ROWS>(|row| {
                rows[row] =
                    self.keys.cast::<u32>().read_vec::<4>(Self::place::<V>(row as u32) / V as u32 * 4);
            });
        } else {
            // A loop over rows, so that its code stands there once; each row then finds its registers by selection.
            let mut row = 0;
            while row < ROWS as u32 {
                let place = Self::place::<V>(row);
                if place < self.left {
                    let words = self.keys.offset(place as u64).one_by_one(self.left - place);
                    unroll::<ROWS>(|other| {
                        if other as u32 == row {
                            rows[other] = words;
                        }
                    });
                }
                // Opaque, or the loop would be unrolled all the same.
                row = opaque(row + 1);
            }
        }
        rows
    }

    /// A bit for each key of each load that begins a run.
    #[device]
    #[inline(always)]
    fn heads<const V: usize>(&self, rows: &[[u32; 4]; ROWS]) -> [u32; ROWS] {
        let mut heads = [0; ROWS];
        // The key before a row is the lowest lane's to read; the others' are in the lanes below.
        let mut before_row = [K::ANY; ROWS];
        if warp::lane_id() == 0 {
            unroll::<ROWS>(|row| {
                let place = Self::place::<V>(row as u32);
                if place < self.left && (place > 0 || !self.is_first) {
                    before_row[row] = self.keys.offset((place as u64).wrapping_sub(1)).read(0);
                }
            });
        }
        unroll::<ROWS>(|row| {
            let place = Self::place::<V>(row as u32);
            let high = warp::shuffle_up(warp::FULL, rows[row][3], 1);
            // Only keys of 8 bytes end in two words.
            let low = if V == 2 { warp::shuffle_up(warp::FULL, rows[row][2], 1) } else { 0 };
            let below = K::unpack(&[0, 0, low, high], V - 1);
            let mut previous = if warp::lane_id() == 0 { before_row[row] } else { below };
            unroll::<V>(|j| {
                let key = K::unpack(&rows[row], j);
                heads[row] |= ((key != previous) as u32) << j;
                previous = key;
            });
            heads[row] |= (self.is_first && place == 0) as u32;
            let there = self.left.saturating_sub(place);
            heads[row] &= if there < V as u32 { (1 << there) - 1 } else { u32::MAX };
        });
        heads
    }
}

/// Where a tile waits, in words of shared memory: for each thread its keys, then the heads of its rows and how many heads there are in each row
/// up to the thread's, 16 bits each. A thread reads only what it wrote, so no barrier is needed.
const ROOM_WORDS: u32 = THREADS * (ROWS + 1) as u32 * 4;

/// Tiles of so many keys.
const fn tiles<K: Bits>(len: u64) -> u64 {
    len.div_ceil(tile::<K>() as u64)
}

/// Blocks that find the runs of `len` keys: they take tiles until none is left.
pub const fn runs_blocks<K: Bits>(len: u64) -> u32 {
    let tiles = tiles::<K>(len);
    if tiles < MAX_BLOCKS as u64 { tiles as u32 } else { MAX_BLOCKS }
}

/// Words of scratch memory for the runs of `len` keys: the header, those of each section, group and tile, and the counters of groups and
/// sections.
pub const fn runs_words<K: Bits>(len: u64) -> u64 {
    let tiles = tiles::<K>(len);
    let counters = tiles.div_ceil(SECTION as u64) + tiles.div_ceil(GROUP as u64);
    HEADER_WORDS as u64 + tiles + 2 * counters
}

/// Those of row `row`.
#[inline(always)]
fn of_row(pairs: &[u32; ROWS / 2], row: usize) -> u32 {
    pairs[row / 2] >> (16 * (row % 2)) & 0xffff
}

/// Writes, for each run, where it begins and its key, each at the run's number: `offsets[RUNS_HEADER + run]`, `unique[run]`; behind
/// the last offset stands `len`, and the number of runs in `offsets[0]` and `runs[0]`.
///
/// `V` is [`per_load`](super::per_load). Launch [`runs_blocks`] blocks of [`THREADS`] threads with [`RUNS_SHARED_BYTES`]. `words` has
/// [`runs_words`], `capacity` in all, which were zero before the first launch that was given them. `len` is not zero and less than 2^32.
#[device]
#[inline(always)]
pub fn find_runs<K: Bits, const V: usize>(
    keys: Global<K>,
    len: u64,
    runs: GlobalMut<u32>,
    offsets: GlobalMut<u32>,
    unique: GlobalMut<K>,
    words: GlobalMut<u64>,
    capacity: u64,
) {
    const { assert!(V as u32 == super::per_load::<K>() && THREADS * (V * ROWS) as u32 == tile::<K>()) };
    let mut memory = shared::dynamic();
    let warp_totals = memory.array::<u32>(WARPS);
    let nodes = memory.array::<u32>(2);
    let block_ticket = memory.array::<u64>(1);
    let rooms = memory.array::<u32>(2 * ROOM_WORDS);
    let thread = thread_idx_x();
    let tiles = tiles::<K>(len) as u32;
    let tickets = Tickets { words, tiles, capacity };
    let starts = offsets.offset(RUNS_HEADER as u64);

    grid_dependency_synchronize();
    trigger_launch_completion();

    if thread == 0 {
        block_ticket.write(0, tickets.draw());
    }
    sync_threads();
    let ticket = block_ticket.read(0);
    let (mark, several) = (mark(ticket), tiles > grid_dim_x() || tiles > SECTION);
    // Opaque: the compiler would keep what follows from the number of tiles.
    let published = || Published { words: words.offset(HEADER_WORDS as u64), tiles: opaque(tiles), mark, several };
    // The tile that was read last: how many runs begin before it is asked for when the next one has been read.
    let mut held = NONE;
    let (mut held_before, mut room) = (0, 0);
    let mut tile = ticket as u32;
    loop {
        let (mut before, mut total) = (0, 0);
        if tile < tiles {
            let part = Tile::new(keys, tile as u64 * super::tile::<K>() as u64, len);
            let rows = part.load::<V>();
            let own = rooms.offset(room + opaque(thread) * 4);
            unroll::<ROWS>(|row| own.write_vec(row as u32 * THREADS * 4, rows[row]));
            let heads = part.heads::<V>(&rows);
            // At most 16 heads a lane, 512 a row.
            let pair_of = |pair: usize, of: fn(u32) -> u32| of(heads[2 * pair]) | of(heads[2 * pair + 1]) << 16;
            let up_to: [u32; ROWS / 2] =
                core::array::from_fn(|pair| inclusive(pair_of(pair, u32::count_ones)));
            let [low, high] = core::array::from_fn(|pair| pair_of(pair, |heads| heads));
            own.write_vec(ROWS as u32 * THREADS * 4, [low, high, up_to[0], up_to[1]]);
            let of_rows: [u32; ROWS / 2] = core::array::from_fn(|pair| warp::shuffle_idx(warp::FULL, up_to[pair], 31));
            let mut of_warp = 0;
            unroll::<ROWS>(|row| of_warp += of_row(&of_rows, row));
            if warp::lane_id() == 0 {
                warp_totals.write(thread / 32, of_warp);
            }
            sync_threads();
            unroll::<{ WARPS as usize }>(|warp| {
                let of_warp = warp_totals.read(warp as u32);
                before += if (warp as u32) < thread / 32 { of_warp } else { 0 };
                total += of_warp;
            });
            if thread == 0 && !several {
                published().publish_total(tile, total);
            }
            // Not the warp that waits: both are on their way at once.
            if thread / 32 == 1 && several {
                arrive::<Sum<u32>>(published(), tile, total, 0);
            }
        }
        room = ROOM_WORDS - room;

        // Of several tiles, what comes before the one held; of a single one, what comes before it at once.
        let asking = if several { held } else { tile };
        if thread < 32 && asking < tiles {
            gather::<Sum<u32>>(published(), asking, total, 0, nodes);
        }
        let mut around = Prefix { before: 0, with: 0 };
        if held != NONE {
            sync_threads();
            around = prefix::<Sum<u32>>(nodes);
        }
        // Drawn behind all waiting, so that tiles start in their order, as a scan's do (`scan/whole.rs`).
        let draws = tile < tiles && several;
        let next = if draws && thread == 0 { tickets.draw() } else { 0 };
        if held != NONE {
            let base = held * super::tile::<K>();
            let own = rooms.offset(room + opaque(thread) * 4);
            let mut first = around.before + held_before;
            let part = keys.offset(base as u64);
            let [low, high, up_to @ ..]: [u32; 4] = own.read_vec(ROWS as u32 * THREADS * 4);
            let all_heads = [low, high];
            unroll::<ROWS>(|row| {
                let words: [u32; 4] = own.read_vec(row as u32 * THREADS * 4);
                let heads = of_row(&all_heads, row);
                let place = Tile::<K>::place::<V>(row as u32);
                let mut run = first + of_row(&up_to, row) - heads.count_ones();
                if V <= 4 {
                    unroll::<V>(|j| {
                        if heads >> j & 1 == 1 {
                            starts.write(run, base + place + j as u32);
                            unique.write(run, K::unpack(&words, j));
                            run += 1;
                        }
                    });
                } else {
                    // 32 or 64 stores written out do not fit the registers (ptxas 13.0): the key is read again, which L1 has.
                    let mut left = heads;
                    while left > 0 {
                        let at = place + left.trailing_zeros();
                        starts.write(run, base + at);
                        unique.write(run, part.read(at));
                        run += 1;
                        left &= left - 1;
                    }
                }
                first += warp::shuffle_idx(warp::FULL, of_row(&up_to, row), 31);
            });
            if held == tiles - 1 && thread == 0 {
                starts.write(around.with, len as u32);
                offsets.write(0, around.with);
                runs.write(0, around.with);
            }
        }
        if tile >= tiles {
            break;
        }
        (held, held_before) = (tile, before);
        if draws {
            if thread == 0 {
                block_ticket.write(0, next);
            }
            sync_threads();
            tile = block_ticket.read(0) as u32;
        } else {
            tile += tiles;
        }
    }
    tickets.finish(tile, mark, block_ticket, grid_dim_x());
}

/// The sum over the lanes up to each.
#[device]
#[inline(always)]
fn inclusive(mut value: u32) -> u32 {
    unroll::<5>(|step| {
        let (below, inside) = warp::warp_shuffle_up(warp::FULL, value, 1 << step, 32);
        value += if inside { below } else { 0 };
    });
    value
}

macro_rules! kernels {
    ($($module:ident $find:ident: $k:ty, $v:literal;)*) => { $(
        /// Finds runs of `keys`. How to launch it is said at [`find_runs`].
        #[kernel(module = $module, launch_bounds(256, 5), programmatic)]
        pub fn $find(
            keys: Global<$k>,
            len: u64,
            runs: GlobalMut<u32>,
            offsets: GlobalMut<u32>,
            unique: GlobalMut<$k>,
            words: GlobalMut<u64>,
            capacity: u64,
        ) {
            find_runs::<$k, $v>(keys, len, runs, offsets, unique, words, capacity);
        }
    )* };
}
kernels! {
    reduce_runs_b8 find_runs_b8: u8, 16;
    reduce_runs_b16 find_runs_b16: u16, 8;
    reduce_runs_b32 find_runs_b32: u32, 4;
    reduce_runs_b64 find_runs_b64: u64, 2;
}
