//! The runs of equal keys: where they begin, and the key of each.
//!
//! Two launches. The first counts the runs that begin in each block's part of the keys. In the second every block adds up
//! the counts of those before it (at most [`MAX_BLOCKS`](super::MAX_BLOCKS), 8 KiB from the second-level cache, which takes less than
//! a launch between the two would), and writes where its runs begin, each at its number. Keys are compared by their bits, so there are four
//! pairs of kernels: by width. They are read twice, 16 bytes at a time, four loads a thread in flight.
//!
//! A warp takes consecutive rows of 32 loads, so that a key's predecessor is in the lane below, and a run's number follows from
//! counts over lanes: those of two rows are scanned as halves of one word.

use gpu_std::memory::{Global, GlobalMut, Shared};
use gpu_std::shared::SharedLayout;
use gpu_std::thread::{
    block_idx_x, grid_dependency_synchronize, grid_dim_x, sync_threads, thread_idx_x,
    trigger_launch_completion,
};
use gpu_std::{device, kernel, opaque, shared, unroll, warp};

use super::item::Item;
use super::quad::{Quads, Words};
use super::{LOAD_BYTES, THREADS, WARPS, tile};
use crate::scan::Packed;

/// Loads of a thread that are in flight.
const ROWS: usize = 4;

/// Where the offsets of the runs begin, in words, after the number of runs: what [`COUNTED`](super::COUNTED) segments ask for.
pub const RUNS_HEADER: u32 = 4;

/// Bytes of dynamic shared memory: counts of the warps, twice.
pub const RUNS_SHARED_BYTES: u32 = SharedLayout::new().array::<u32>(2 * WARPS).bytes();

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

/// Counts the runs that begin in each block's part of `len` keys.
///
/// `V` is [`per_load`](super::per_load). Launch [`blocks`](super::blocks)`(len)` blocks of [`THREADS`] threads with
/// [`RUNS_SHARED_BYTES`]; `counts` has a word for each.
#[device]
#[inline(always)]
pub fn count_runs<K: Bits, const V: usize>(
    keys: Global<K>,
    len: u64,
    tiles_per_block: u64,
    counts: GlobalMut<u32>,
) {
    const { assert!(V as u32 == super::per_load::<K>() && THREADS * (V * ROWS) as u32 == tile::<K>()) };
    let warp_totals = shared::dynamic().array::<u32>(2 * WARPS);

    grid_dependency_synchronize();
    trigger_launch_completion();

    let each = tiles_per_block * tile::<K>() as u64;
    let mut base = block_idx_x() as u64 * each;
    let end = (base + each).min(len);
    let mut count = 0;
    while base < end {
        let part = Tile::new(keys, base, end);
        let heads = part.heads::<V>(&part.load::<V>());
        unroll::<ROWS>(|row| count += heads[row].count_ones());
        base += tile::<K>() as u64;
    }
    let total = block_sum(count, warp_totals);
    if thread_idx_x() == 0 {
        counts.write(block_idx_x(), total);
    }
}

/// Writes, for each run, where it begins and its key, each at the run's number: `offsets[RUNS_HEADER + run]`, `unique[run]`; behind
/// the last offset stands `len`, and the number of runs in `offsets[0]` and `runs[0]`.
///
/// To be launched as [`count_runs`], with the counts that it wrote. `len` is less than 2^32.
#[device]
#[inline(always)]
pub fn write_runs<K: Bits, const V: usize>(
    keys: Global<K>,
    len: u64,
    tiles_per_block: u64,
    counts: Global<u32>,
    runs: GlobalMut<u32>,
    offsets: GlobalMut<u32>,
    unique: GlobalMut<K>,
) {
    const { assert!(V as u32 == super::per_load::<K>() && THREADS * (V * ROWS) as u32 == tile::<K>()) };
    let warp_totals = shared::dynamic().array::<u32>(2 * WARPS);
    let (thread, block) = (thread_idx_x(), block_idx_x());

    grid_dependency_synchronize();
    trigger_launch_completion();

    let mut before = 0;
    let mut other = thread;
    while other < block {
        before += counts.read(other);
        other += THREADS;
    }
    let mut number = block_sum(before, warp_totals);

    let starts = offsets.offset(RUNS_HEADER as u64);
    let each = tiles_per_block * tile::<K>() as u64;
    let mut base = block as u64 * each;
    let end = (base + each).min(len);
    // The other half of the counts: the first is still being read.
    let mut turn = WARPS;
    while base < end {
        let part = Tile::new(keys, base, end);
        let rows = part.load::<V>();
        let heads = part.heads::<V>(&rows);
        // At most 16 heads a lane, 512 a row.
        let pairs: [u32; ROWS / 2] = core::array::from_fn(|pair| {
            let own = heads[2 * pair].count_ones() | heads[2 * pair + 1].count_ones() << 16;
            inclusive(own)
        });
        let totals: [u32; ROWS / 2] =
            core::array::from_fn(|pair| warp::shuffle_idx(warp::FULL, pairs[pair], 31));
        let of_row = |row: usize, pairs: &[u32; ROWS / 2]| pairs[row / 2] >> (16 * (row % 2)) & 0xffff;
        let mut of_warp = 0;
        unroll::<ROWS>(|row| of_warp += of_row(row, &totals));
        if warp::lane_id() == 0 {
            warp_totals.write(turn + thread / 32, of_warp);
        }
        sync_threads();
        let mut first = number;
        unroll::<{ WARPS as usize }>(|warp| {
            let total = warp_totals.read(turn + warp as u32);
            first += if (warp as u32) < thread / 32 { total } else { 0 };
            number += total;
        });
        turn ^= WARPS;
        unroll::<ROWS>(|row| {
            let place = Tile::<K>::place::<V>(row as u32);
            let mut run = first + of_row(row, &pairs) - heads[row].count_ones();
            if V <= 4 {
                unroll::<V>(|j| {
                    if heads[row] >> j & 1 == 1 {
                        starts.write(run, base as u32 + place + j as u32);
                        unique.write(run, K::unpack(&rows[row], j));
                        run += 1;
                    }
                });
            } else {
                // 32 or 64 stores written out do not fit the registers (ptxas 13.0): the key is read again, which L1 has.
                let mut left = heads[row];
                while left > 0 {
                    let at = place + left.trailing_zeros();
                    starts.write(run, base as u32 + at);
                    unique.write(run, part.keys.read(at));
                    run += 1;
                    left &= left - 1;
                }
            }
            first += of_row(row, &totals);
        });
        base += tile::<K>() as u64;
    }
    if block == grid_dim_x() - 1 && thread == 0 {
        starts.write(number, len as u32);
        offsets.write(0, number);
        runs.write(0, number);
    }
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

/// The sum over the block, in every thread. One barrier.
#[device]
#[inline(always)]
fn block_sum(value: u32, warp_totals: Shared<u32>) -> u32 {
    let sum = inclusive(value);
    if warp::lane_id() == 31 {
        warp_totals.write(thread_idx_x() / 32, sum);
    }
    sync_threads();
    let mut total = 0;
    unroll::<{ WARPS as usize }>(|warp| total += warp_totals.read(warp as u32));
    total
}

macro_rules! kernels {
    ($($module:ident $count:ident $write:ident: $k:ty, $v:literal;)*) => { $(
        /// Counts runs of `keys`. How to launch it is said at [`count_runs`].
        #[kernel(module = $module, launch_bounds(256, 4), programmatic)]
        pub fn $count(keys: Global<$k>, len: u64, tiles_per_block: u64, counts: GlobalMut<u32>) {
            count_runs::<$k, $v>(keys, len, tiles_per_block, counts);
        }

        /// Writes where runs of `keys` begin. How to launch it is said at [`write_runs`].
        #[kernel(module = $module, launch_bounds(256, 4), programmatic)]
        pub fn $write(
            keys: Global<$k>,
            len: u64,
            tiles_per_block: u64,
            counts: Global<u32>,
            runs: GlobalMut<u32>,
            offsets: GlobalMut<u32>,
            unique: GlobalMut<$k>,
        ) {
            write_runs::<$k, $v>(keys, len, tiles_per_block, counts, runs, offsets, unique);
        }
    )* };
}
kernels! {
    reduce_runs_b8 count_runs_b8 write_runs_b8: u8, 16;
    reduce_runs_b16 count_runs_b16 write_runs_b16: u16, 8;
    reduce_runs_b32 count_runs_b32 write_runs_b32: u32, 4;
    reduce_runs_b64 count_runs_b64 write_runs_b64: u64, 2;
}
