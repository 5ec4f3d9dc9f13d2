//! The textbook's scans: inclusive sums of `f32`, a block of [`THREADS`] threads taking [`TILE`] elements.
//!
//! | kernel | what it does |
//! |---|---|
//! | `scan_hillis_steele_f32` | one block: every element adds the one 1, 2, 4, … places before it |
//! | `scan_blelloch_f32` | one block: a tree of sums upwards, then of prefixes downwards |
//! | `scan_tiles_f32` | each block scans its tile and writes its total |
//! | `scan_tiles_padded_f32` | the same; a gap after every 32 elements spares the tree its bank conflicts |
//! | `scan_add_before_f32` | adds to each tile the sum of those before it |
//! | `scan_totals_f32` | each block writes the total of its tile, and nothing else |
//! | `scan_tiles_from_f32` | each block scans its tile, beginning with the sum of those before it |
//! | `scan_sum_all_f32` | one launch: each block adds up the totals of all tiles before its own |
//! | `scan_look_back_f32` | one launch: each block looks back over totals until it finds a prefix |
//!
//! G. E. Blelloch, *Prefix sums and their applications*, 1990; W. D. Hillis and G. L. Steele, *Data parallel
//! algorithms*, 1986; M. Harris, S. Sengupta, J. D. Owens, *Parallel prefix sum (scan) with CUDA*, GPU Gems 3, 2007;
//! D. Merrill and M. Garland, *Single-pass parallel prefix scan with decoupled look-back*, 2016. The fast scan is
//! [`super::whole()`].

use gpu_collective::warp::reduce;
use gpu_std::atomic::{Ordering, Scope};
use gpu_std::memory::{Global, GlobalMut, Shared};
use gpu_std::shared::{self, SharedLayout};
use gpu_std::thread::{block_idx_x, grid_dim_x, sync_threads, thread_idx_x};
use gpu_std::warp::{self, FULL};
use gpu_std::{device, kernel, unroll};

/// Threads of a block.
pub const THREADS: u32 = 512;
/// Elements of a tile: two a thread.
pub const TILE: u32 = 2 * THREADS;

/// Dynamic shared memory of a block, in bytes: two tiles, or one with gaps, and some words.
pub const SHARED_BYTES: u32 = SharedLayout::new().array::<f32>(2 * TILE).array::<u32>(4).bytes();

/// A thread's two elements, or two results.
type Two = [f32; 2];

/// Elements `t` and `t + THREADS` of the tile that starts at `base`; 0 beyond the end.
#[device]
#[inline(always)]
fn take(input: Global<f32>, len: u64, base: u64) -> Two {
    core::array::from_fn(|half| {
        let index = base + (thread_idx_x() + half as u32 * THREADS) as u64;
        if index < len { input.offset(index).read(0) } else { 0.0 }
    })
}

/// Writes both where they came from.
#[device]
#[inline(always)]
fn give(output: GlobalMut<f32>, len: u64, base: u64, values: Two) {
    unroll::<2>(|half| {
        let index = base + (thread_idx_x() + half as u32 * THREADS) as u64;
        if index < len {
            output.offset(index).write(0, values[half]);
        }
    });
}

/// Where element `index` lies in shared memory.
#[inline(always)]
const fn place<const PADDED: bool>(index: u32) -> u32 {
    if PADDED { index + index / 32 } else { index }
}

/// The inclusive scan of a tile and its total: a tree upwards, and one downwards. Begins and ends with a barrier.
#[device]
#[inline(always)]
fn blelloch<const PADDED: bool>(tile: Shared<f32>, own: Two) -> (Two, f32) {
    let thread = thread_idx_x();
    sync_threads();
    unroll::<2>(|half| tile.write(place::<PADDED>(thread + half as u32 * THREADS), own[half]));
    // Upwards: the last of 2, 4, 8, … elements becomes their sum.
    let mut distance = 1;
    // Mutants: in a turn more there is nothing to do for any thread.
    while distance < TILE {
        sync_threads();
        if thread < TILE / (2 * distance) {
            let right = place::<PADDED>((2 * thread + 2) * distance - 1);
            let left = place::<PADDED>((2 * thread + 1) * distance - 1);
            tile.write(right, tile.read(left) + tile.read(right));
        }
        distance *= 2;
    }
    sync_threads();
    let last = place::<PADDED>(TILE - 1);
    let total = tile.read(last);
    sync_threads();
    // Downwards: a left child gets what is before its parent, a right one that and the left child's sum.
    if thread == 0 {
        tile.write(last, 0.0);
    }
    while distance > 1 {
        distance /= 2;
        sync_threads();
        if thread < TILE / (2 * distance) {
            let right = place::<PADDED>((2 * thread + 2) * distance - 1);
            let left = place::<PADDED>((2 * thread + 1) * distance - 1);
            let (sum, before) = (tile.read(left), tile.read(right));
            tile.write(left, before);
            tile.write(right, before + sum);
        }
    }
    sync_threads();
    let results =
        core::array::from_fn(|half| tile.read(place::<PADDED>(thread + half as u32 * THREADS)) + own[half]);
    (results, total)
}

/// The inclusive scan of a tile: every element adds those 1, 2, 4, … places before it, from one buffer to the other.
#[device]
#[inline(always)]
fn hillis_steele(tiles: Shared<f32>, own: Two) -> (Two, f32) {
    let thread = thread_idx_x();
    let (mut from, mut to) = (tiles, tiles.offset(TILE));
    sync_threads();
    unroll::<2>(|half| from.write(thread + half as u32 * THREADS, own[half]));
    let mut distance = 1;
    // Mutants: a turn more copies all.
    while distance < TILE {
        sync_threads();
        unroll::<2>(|half| {
            let index = thread + half as u32 * THREADS;
            let value = from.read(index);
            to.write(index, if index >= distance { from.read(index - distance) + value } else { value });
        });
        (from, to) = (to, from);
        distance *= 2;
    }
    sync_threads();
    (core::array::from_fn(|half| from.read(thread + half as u32 * THREADS)), from.read(TILE - 1))
}

/// One block walks over the array, a tile at a time, `before` being the sum so far.
#[device]
#[inline(always)]
fn walk(input: Global<f32>, output: GlobalMut<f32>, len: u64, scan: impl Fn(Two) -> (Two, f32)) {
    let (mut base, mut before) = (0, 0.0);
    // Mutants: a tile from the end on has no elements.
    while base < len {
        let (results, total) = scan(take(input, len, base));
        give(output, len, base, results.map(|result| before + result));
        before += total;
        base += TILE as u64;
    }
}

/// Scans `len` elements; launch one block.
#[kernel(images = sm_75, launch_bounds(512))]
pub fn scan_hillis_steele_f32(input: Global<f32>, output: GlobalMut<f32>, len: u64) {
    let tiles = shared::dynamic().array(2 * TILE);
    walk(input, output, len, |own| hillis_steele(tiles, own));
}

/// Scans `len` elements, which may be in place; launch one block.
#[kernel(images = sm_75, launch_bounds(512))]
pub fn scan_blelloch_f32(input: Global<f32>, output: GlobalMut<f32>, len: u64) {
    let tile = shared::dynamic().array(2 * TILE);
    walk(input, output, len, |own| blelloch::<false>(tile, own));
}

/// Scans the block's tile, beginning with `before`, and returns the tile's total.
#[device]
#[inline(always)]
fn scan_tile<const PADDED: bool>(input: Global<f32>, output: GlobalMut<f32>, len: u64, before: f32) -> f32 {
    let tile = shared::dynamic().array(2 * TILE);
    let base = block_idx_x() as u64 * TILE as u64;
    let (results, total) = blelloch::<PADDED>(tile, take(input, len, base));
    give(output, len, base, results.map(|result| before + result));
    total
}

/// Scans each tile by itself, which may be in place, and writes its total; a block a tile.
#[kernel(images = sm_75, launch_bounds(512))]
pub fn scan_tiles_f32(input: Global<f32>, output: GlobalMut<f32>, len: u64, totals: GlobalMut<f32>) {
    let total = scan_tile::<false>(input, output, len, 0.0);
    if thread_idx_x() == 0 {
        totals.write(block_idx_x(), total);
    }
}

/// As `scan_tiles_f32`, without bank conflicts.
#[kernel(images = sm_75, launch_bounds(512))]
pub fn scan_tiles_padded_f32(input: Global<f32>, output: GlobalMut<f32>, len: u64, totals: GlobalMut<f32>) {
    let total = scan_tile::<true>(input, output, len, 0.0);
    if thread_idx_x() == 0 {
        totals.write(block_idx_x(), total);
    }
}

/// What lies before the block's tile, `sums[b - 1]`, read once.
#[device]
#[inline(always)]
fn before_block(sums: Global<f32>) -> f32 {
    let block = block_idx_x();
    if block == 0 {
        return 0.0;
    }
    let found: Shared<f32> = shared::dynamic().array(2 * TILE);
    if thread_idx_x() == 0 {
        found.write(0, sums.read(block - 1));
    }
    sync_threads();
    found.read(0)
}

/// Adds to each tile but the first `sums[b - 1]`, the sum of the tiles before it; a block a tile.
#[kernel(images = sm_75, launch_bounds(512))]
pub fn scan_add_before_f32(data: GlobalMut<f32>, len: u64, sums: Global<f32>) {
    if block_idx_x() > 0 {
        let before = before_block(sums);
        let base = block_idx_x() as u64 * TILE as u64;
        give(data, len, base, take(data.as_global(), len, base).map(|value| before + value));
    }
}

/// Writes the total of each tile; a block a tile.
#[kernel(images = sm_75, launch_bounds(512))]
pub fn scan_totals_f32(input: Global<f32>, len: u64, totals: GlobalMut<f32>) {
    let tile: Shared<f32> = shared::dynamic().array(2 * TILE);
    let thread = thread_idx_x();
    let own = take(input, len, block_idx_x() as u64 * TILE as u64);
    tile.write(thread, own[0] + own[1]);
    let mut half = THREADS / 2;
    while half >= 1 {
        sync_threads();
        if thread < half {
            tile.write(thread, tile.read(thread) + tile.read(thread + half));
        }
        half /= 2;
    }
    if thread == 0 {
        totals.write(block_idx_x(), tile.read(0));
    }
}

/// Scans each tile, beginning with `sums[b - 1]`; a block a tile.
#[kernel(images = sm_75, launch_bounds(512))]
pub fn scan_tiles_from_f32(input: Global<f32>, output: GlobalMut<f32>, len: u64, sums: Global<f32>) {
    let before = before_block(sums);
    scan_tile::<true>(input, output, len, before);
}

// ---- In one launch -----------------------------------------------------------------------------------------------

/// The upper half of a word: nothing yet, the tile's total, or the sum up to and with the tile.
const TOTAL: u64 = 1 << 32;
const PREFIX: u64 = 2 << 32;

/// What a tile's word says once it says anything.
#[device]
#[inline(always)]
fn wait(words: GlobalMut<u64>, tile: u32) -> u64 {
    loop {
        let word = words.atomic(tile).load(Ordering::Relaxed, Scope::Device);
        if word != 0 {
            return word;
        }
    }
}

#[device]
#[inline(always)]
fn publish(words: GlobalMut<u64>, tile: u32, what: u64, value: f32) {
    words.atomic(tile).store(what | value.to_bits() as u64, Ordering::Relaxed, Scope::Device);
}

/// Scans the tile that the block's ticket names, with what `before` finds. `before` is called by all threads with the
/// tile, its total and a shared word, and gives the sum before it to thread 0.
#[device]
#[inline(always)]
fn one_pass(
    input: Global<f32>,
    output: GlobalMut<f32>,
    len: u64,
    ticket: GlobalMut<u32>,
    before: impl Fn(u32, f32, Shared<f32>) -> f32,
) {
    let mut memory = shared::dynamic();
    let tile = memory.array::<f32>(2 * TILE);
    let room = memory.array::<u32>(4);
    if thread_idx_x() == 0 {
        // `inc` wraps after the last block, so it leaves zero.
        room.write(0, ticket.atomic(0).fetch_inc(grid_dim_x() - 1, Ordering::Relaxed, Scope::Device));
    }
    sync_threads();
    let number = room.read(0);
    let base = number as u64 * TILE as u64;
    let (results, total) = blelloch::<true>(tile, take(input, len, base));
    sync_threads();
    let sum = before(number, total, tile);
    let found = room.cast::<f32>().offset(1);
    if thread_idx_x() == 0 {
        found.write(0, sum);
    }
    sync_threads();
    let sum = found.read(0);
    give(output, len, base, results.map(|result| sum + result));
}

/// Scans in one launch, each block adding up the totals of all tiles before its own. A block a tile; `words` has one
/// for each and is zero before, `ticket` is zero before and after.
#[kernel(images = sm_75, launch_bounds(512))]
pub fn scan_sum_all_f32(
    input: Global<f32>,
    output: GlobalMut<f32>,
    len: u64,
    words: GlobalMut<u64>,
    ticket: GlobalMut<u32>,
) {
    one_pass(input, output, len, ticket, |tile, total, sums| {
        let thread = thread_idx_x();
        if thread == 0 {
            publish(words, tile, TOTAL, total);
        }
        let (mut sum, mut earlier) = (0.0, thread);
        while earlier < tile {
            sum += f32::from_bits(wait(words, earlier) as u32);
            earlier += THREADS;
        }
        sums.write(thread, sum);
        let mut half = THREADS / 2;
        while half >= 1 {
            sync_threads();
            if thread < half {
                sums.write(thread, sums.read(thread) + sums.read(thread + half));
            }
            half /= 2;
        }
        if thread == 0 { sums.read(0) } else { 0.0 }
    });
}

/// Scans in one launch by decoupled look-back: a warp looks at the 32 tiles before its own, adds up totals from the
/// last prefix among them, and goes on with the 32 before where there is none. As `scan_sum_all_f32` otherwise.
#[kernel(images = sm_75, launch_bounds(512))]
pub fn scan_look_back_f32(
    input: Global<f32>,
    output: GlobalMut<f32>,
    len: u64,
    words: GlobalMut<u64>,
    ticket: GlobalMut<u32>,
) {
    one_pass(input, output, len, ticket, |tile, total, _| {
        let lane = warp::lane_id();
        if thread_idx_x() >= 32 {
            return 0.0;
        }
        if lane == 0 {
            publish(words, tile, if tile == 0 { PREFIX } else { TOTAL }, total);
        }
        let (mut sum, mut end) = (0.0, tile);
        while end > 0 {
            // Lane 0 has the nearest tile. Before the first tile nothing is waited for.
            let word = if lane < end { wait(words, end - 1 - lane) } else { PREFIX };
            let prefixes = warp::warp_vote_ballot(FULL, word >= PREFIX);
            let nearest = if prefixes == 0 { 31 } else { prefixes.trailing_zeros() };
            let part = if lane <= nearest { f32::from_bits(word as u32) } else { 0.0 };
            sum += reduce(part, 32, |first, second| first + second);
            end = if prefixes == 0 { end - 32 } else { 0 };
        }
        // Mutants: the first says the same again, but for the sign of a zero, which gets lost in sums from 0 on.
        if lane == 0 && tile > 0 {
            publish(words, tile, PREFIX, sum + total);
        }
        sum
    });
}
