//! Sum of an array, in one launch and in an order that depends on its length alone.
//!
//! # Order of combination
//! The array is cut into tiles of [`TILE`] elements, and every block takes [`tiles_per_block`] consecutive ones. Four
//! accumulators a thread, one for each element of a 16-byte load, run down the block's tiles; then come fixed trees:
//! the four accumulators, the lanes of a warp, the warps of a block. The blocks' partial sums are combined the same
//! way, thread `t` of one block taking partials `t`, `t + THREADS`, and so on. Nothing in it depends on the device, so
//! a CPU that follows the same order gets the same bits (`gpu_reduce::reference`).
//!
//! # One launch
//! A second launch costs 3 to 4 µs, as much as reading 16 MB. So the block that *starts* last also finishes: it took
//! the last ticket, hence every other block is running already and its partial sum will come. A partial travels as one
//! 64-bit word, value and "it is there" together, so that no fence is needed and nothing waits for one; the ticket is
//! drawn while the first loads are under way. Compared with the usual "last block done" ticket this takes a
//! fence and an atomic off the end of the critical path (H200, 2^20 elements: 4.5 against 5.2 µs).
//!
//! The words and the ticket are zero before the launch, and zero again after it.

use gpu_std::atomic::{Ordering, Scope};
use gpu_std::memory::{Global, GlobalMut, Shared};
use gpu_std::shared::{self, SharedLayout};
use gpu_std::thread::{
    block_idx_x, grid_dependency_synchronize, grid_dim_x, sync_threads, thread_idx_x,
    trigger_launch_completion,
};
use gpu_std::warp;
use gpu_std::{device, kernel};

/// Threads of a block. 512 with four loads each was the fastest of {256, 512, 1024} × {1, 2, 4, 8} at 2^20 elements and
/// within 0.5 % of the fastest at 2^28 (H200).
pub const THREADS: u32 = 512;
/// Elements of one load: 16 bytes.
const LANES: usize = 4;
/// Loads that a thread has in flight.
const LOADS: usize = 4;
/// Elements that a block reads at a time.
pub const TILE: u32 = THREADS * (LANES * LOADS) as u32;
/// The most blocks, hence partial sums. Enough that the last wave costs little on any device, few enough that adding
/// up the partials does not show (H200, 2^28: 2048 and 4096 alike, 8192 1 % slower, 16384 3 %).
pub const MAX_BLOCKS: u32 = 4096;

const WARPS: u32 = THREADS / 32;

/// Bytes of dynamic shared memory: a value for each warp, and the block's ticket.
pub const SHARED_BYTES: u32 = SharedLayout::new().array::<f32>(WARPS).array::<u32>(1).bytes();

/// What a sum starts from: -0.0 is the identity of IEEE addition (0.0 would turn a sum of -0.0 into 0.0).
pub const IDENTITY: f32 = -0.0;

/// How many consecutive tiles each block takes, for an array of `len` elements.
pub const fn tiles_per_block(len: u64) -> u64 {
    let per_block = len.div_ceil(TILE as u64).div_ceil(MAX_BLOCKS as u64);
    if per_block == 0 { 1 } else { per_block }
}

/// How many blocks an array of `len` elements needs; at least one.
pub const fn blocks(len: u64) -> u32 {
    let blocks = len.div_ceil(TILE as u64).div_ceil(tiles_per_block(len));
    if blocks == 0 { 1 } else { blocks as u32 }
}

/// Sums `len` elements of `input` into `output[0]`.
///
/// Launch [`blocks`]`(len)` blocks of [`THREADS`] threads with [`SHARED_BYTES`]. `partials` holds a word for each block
/// and `ticket` one; both are zero before and after.
// Three blocks: asked for none or four, ptxas (13.0) keeps two loads in flight instead of four.
#[kernel(module = reduce_f32, launch_bounds(512, 3), programmatic)]
pub fn sum_f32(
    input: Global<f32>,
    len: u64,
    tiles_per_block: u64,
    partials: GlobalMut<u64>,
    ticket: GlobalMut<u32>,
    output: GlobalMut<f32>,
) {
    let mut memory = shared::dynamic();
    let warp_sums = memory.array::<f32>(WARPS);
    let block_ticket = memory.array::<u32>(1);
    let thread = thread_idx_x();
    let blocks = grid_dim_x();

    grid_dependency_synchronize();
    trigger_launch_completion();

    // The ticket's way to memory and back is hidden behind the loads. `inc` wraps after the last block, so it leaves
    // zero; and ptxas does not turn it into a warp-wide sum, whose broadcast would wait for memory here (`add` does).
    let drawn = if thread == 0 && blocks > 1 {
        ticket.atomic(0).fetch_inc(blocks - 1, Ordering::Relaxed, Scope::Device)
    } else {
        0
    };

    // ---- This block's tiles ------------------------------------------------------------------------------------
    let begin = block_idx_x() as u64 * tiles_per_block * TILE as u64;
    let end = (begin + tiles_per_block * TILE as u64).min(len);
    let aligned = input.address().is_multiple_of(16);
    let mut sums = [IDENTITY; LANES];
    let mut base = begin;
    while base < end {
        let tile = input.offset(base);
        let left = end - base;
        if aligned && left >= TILE as u64 {
            add_tile(&mut sums, |index| tile.read_streaming_vec::<LANES>(index));
        } else {
            add_tile(&mut sums, |index| {
                core::array::from_fn(|lane| {
                    let index = index + lane as u32;
                    if (index as u64) < left { tile.read_streaming(index) } else { IDENTITY }
                })
            });
        }
        base += TILE as u64;
    }
    let sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);

    // ---- The block's sum ---------------------------------------------------------------------------------------
    if thread == 0 {
        block_ticket.write(0, drawn);
    }
    let sum = block_sum(sum, warp_sums);
    if blocks == 1 {
        if thread == 0 {
            output.write(0, sum);
        }
        return;
    }
    if thread == 0 {
        partials.atomic(block_idx_x()).store(pack(sum), Ordering::Relaxed, Scope::Device);
    }

    // ---- The block that started last adds up the partial sums ----------------------------------------------------
    if block_ticket.read(0) != blocks - 1 {
        return;
    }
    let mut total = IDENTITY;
    let mut block = thread;
    while block < blocks {
        let word = partials.atomic(block);
        let mut value = word.load(Ordering::Relaxed, Scope::Device);
        while !is_there(value) {
            value = word.load(Ordering::Relaxed, Scope::Device);
        }
        total += unpack(value);
        word.store(0, Ordering::Relaxed, Scope::Device);
        block += THREADS;
    }
    sync_threads();
    let total = block_sum(total, warp_sums);
    if thread == 0 {
        output.write(0, total);
    }
}

/// Adds one tile to the thread's accumulators. All loads are asked for before the first is used.
#[device]
#[inline(always)]
fn add_tile(sums: &mut [f32; LANES], load: impl Fn(u32) -> [f32; LANES]) {
    let first = thread_idx_x() * LANES as u32;
    let loaded: [[f32; LANES]; LOADS] =
        core::array::from_fn(|load_index| load(first + load_index as u32 * THREADS * LANES as u32));
    for values in loaded {
        for lane in 0..LANES {
            sums[lane] += values[lane];
        }
    }
}

/// The sum over the block, in thread 0: a tree over the lanes of each warp, then one over the warps.
#[device]
#[inline(always)]
fn block_sum(value: f32, warp_sums: Shared<f32>) -> f32 {
    let mut sum = warp_sum(value, 32);
    let warp = thread_idx_x() / 32;
    if warp::lane_id() == 0 {
        warp_sums.write(warp, sum);
    }
    sync_threads();
    if warp == 0 {
        let lane = warp::lane_id();
        sum = if lane < WARPS { warp_sums.read(lane) } else { IDENTITY };
        sum = warp_sum(sum, WARPS);
    }
    sum
}

/// The sum of the first `lanes` lanes (a power of two), in lane 0: lane `i` adds lane `i + lanes / 2`, and so on.
#[device]
#[inline(always)]
fn warp_sum(mut value: f32, lanes: u32) -> f32 {
    let mut distance = lanes / 2;
    while distance > 0 {
        value += warp::shuffle_down(u32::MAX, value, distance);
        distance /= 2;
    }
    value
}

/// A partial sum with the mark that it is there.
fn pack(sum: f32) -> u64 {
    1 << 32 | sum.to_bits() as u64
}

fn is_there(word: u64) -> bool {
    word >> 32 != 0
}

fn unpack(word: u64) -> f32 {
    f32::from_bits(word as u32)
}
