//! What levels of memory move and multiprocessors issue.

use gpu_std::float::{mul_add, sqrt};
use gpu_std::memory::{Global, GlobalMut};
use gpu_std::thread::{self, block_idx_x, clock64, grid_dim_x, thread_idx_x};
use gpu_std::{device, kernel, rolled, warp};

/// Accesses of a thread in each turn of the loops of [`calibrate_read()`]: all on their way before one is used.
pub const READS: u32 = 4;

#[device]
#[inline(always)]
fn all(words: [u32; 4]) -> u32 {
    words[0] ^ words[1] ^ words[2] ^ words[3]
}

/// Each block reads `turns` times [`READS`] · 4 · 4 bytes a thread, from a place in `input` that moves on: it begins at
/// word `block · apart` and wraps where `mask` says, a power of two of words less one.
///
/// Launch blocks of any size. Small windows stay in the first-level cache, larger ones in the second.
#[kernel(images = sm_75, launch_bounds(1024))]
pub fn calibrate_read(input: Global<u32>, output: GlobalMut<u32>, apart: u32, mask: u32, turns: u32) {
    let threads = thread::block_dim_x();
    let (mut place, mut turn) = (block_idx_x() * apart + thread_idx_x() * 4, 0);
    let mut sum = 0_u32;
    while turn < turns {
        turn = rolled(turn) + 1;
        // In variables of their own: an array of them would lie in local memory.
        let first: [u32; 4] = input.read_vec(place & mask);
        let second: [u32; 4] = input.read_vec((place + threads * 4) & mask);
        let third: [u32; 4] = input.read_vec((place + threads * 8) & mask);
        let fourth: [u32; 4] = input.read_vec((place + threads * 12) & mask);
        sum ^= all(first) ^ all(second) ^ all(third) ^ all(fourth);
        place += threads * 16;
    }
    // The input is zeros, which the compiler does not know.
    if sum != 0 {
        output.write(0, sum);
    }
}

/// Reads `groups` groups of four words of `input` in all, once: every thread the next that no other has.
#[kernel(images = sm_75, launch_bounds(1024))]
pub fn calibrate_read_once(input: Global<u32>, output: GlobalMut<u32>, groups: u32) {
    let step = grid_dim_x() * thread::block_dim_x();
    let mut group = thread::index_1d();
    let mut sum = 0_u32;
    while group + 3 * step < groups {
        let far = input.offset(group as u64 * 4);
        let first: [u32; 4] = far.read_vec(0);
        let second: [u32; 4] = far.offset(step as u64 * 4).read_vec(0);
        let third: [u32; 4] = far.offset(step as u64 * 8).read_vec(0);
        let fourth: [u32; 4] = far.offset(step as u64 * 12).read_vec(0);
        sum ^= all(first) ^ all(second) ^ all(third) ^ all(fourth);
        group += 4 * step;
    }
    while group < groups {
        let value: [u32; 4] = input.offset(group as u64 * 4).read_vec(0);
        sum ^= all(value);
        group += step;
    }
    if sum != 0 {
        output.write(0, sum);
    }
}

/// Writes `groups` groups of four words of `output`, once.
#[kernel(images = sm_75, launch_bounds(1024))]
pub fn calibrate_write(output: GlobalMut<u32>, groups: u32) {
    let step = grid_dim_x() * thread::block_dim_x();
    let mut group = thread::index_1d();
    while group < groups {
        output.offset(group as u64 * 4).write_vec(0, [0_u32; 4]);
        group += step;
    }
}

/// Copies `groups` groups of four words, once.
#[kernel(images = sm_75, launch_bounds(1024))]
pub fn calibrate_copy_wide(input: Global<u32>, output: GlobalMut<u32>, groups: u32) {
    let step = grid_dim_x() * thread::block_dim_x();
    let mut group = thread::index_1d();
    while group < groups {
        let place = group as u64 * 4;
        let value: [u32; 4] = input.offset(place).read_vec(0);
        output.offset(place).write_vec(0, value);
        group += step;
    }
}

/// Each thread reads `steps` times four words, `stride` words from those of its neighbours and one from its own last, of a window
/// of its block that wraps where `mask` says: `cycles[b]` is what block `b` took.
///
/// Launch blocks of any size; blocks begin `apart` words from one another.
#[kernel(images = sm_75, launch_bounds(1024))]
pub fn calibrate_gather(
    input: Global<u32>,
    cycles: GlobalMut<u64>,
    apart: u32,
    stride: u32,
    mask: u32,
    steps: u32,
) {
    let first = thread_idx_x() % 32 * stride + thread_idx_x() / 32;
    let from = input.offset(block_idx_x() as u64 * apart as u64);
    let (mut step, mut sum) = (0, 0_u32);
    thread::sync_threads();
    let start = clock64();
    while step < steps {
        // Words that warps read in turn, so that each line is there when the next warp wants it.
        let at = first + step;
        sum ^= from.read(at & mask)
            ^ from.read((at + 8) & mask)
            ^ from.read((at + 16) & mask)
            ^ from.read((at + 24) & mask);
        step = rolled(step) + 1;
    }
    thread::sync_threads();
    let end = clock64();
    if sum != 0 {
        cycles.write(block_idx_x(), 0);
    } else if thread_idx_x() == 0 {
        cycles.write(block_idx_x(), end - start);
    }
}

/// Each thread writes `steps` words of a window of its block: `stride` words from those of the neighbours in its warp,
/// `warps_apart` from those of the warp before, `steps_apart` from its own last. Windows begin `apart` words from one
/// another and wrap where `mask` says.
#[kernel(images = sm_75, launch_bounds(1024))]
pub fn calibrate_scatter(
    output: GlobalMut<u32>,
    apart: u32,
    stride: u32,
    warps_apart: u32,
    steps_apart: u32,
    mask: u32,
    steps: u32,
) {
    let mut place = thread_idx_x() % 32 * stride + thread_idx_x() / 32 * warps_apart;
    let to = output.offset(block_idx_x() as u64 * apart as u64);
    let mut step = 0;
    while step < steps {
        to.write(place & mask, 0);
        place += steps_apart;
        step = rolled(step) + 1;
    }
}

/// What [`calibrate_issue()`] issues: a fused multiply-add of `f32`.
pub const ISSUE_F32: u32 = 0;
/// One of `f64`.
pub const ISSUE_F64: u32 = 1;
/// A multiply-add of 32-bit integers.
pub const ISSUE_I32: u32 = 2;
/// An exclusive or and a shift of 32-bit integers, two instructions.
pub const ISSUE_LOGIC: u32 = 3;
/// A square root of `f32`, correctly rounded, with the addition that keeps it from settling.
pub const ISSUE_ROOT: u32 = 4;
/// A shuffle between the lanes of a warp.
pub const ISSUE_SHUFFLE: u32 = 5;
/// Instructions of a turn of its loop.
pub const ISSUES: u32 = 64;

/// A chain of [`ISSUES`] · `turns` instructions in each thread, each of which waits for the one before: `cycles[b]` is
/// what block `b` took. One warp shows how long an instruction takes, many how many a cycle starts.
#[kernel(images = sm_75, launch_bounds(1024))]
pub fn calibrate_issue(cycles: GlobalMut<u64>, what: u32, turns: u32, seed: u32) {
    thread::sync_threads();
    let start = clock64();
    // No clock has come so far, of which the compiler knows nothing: what follows waits for it.
    let lane = seed + thread_idx_x() + (start >> 63) as u32;
    let (mut turn, mut single, mut double, mut whole) = (0, lane as f32, lane as f64, lane);
    if what == ISSUE_F32 {
        let factor = seed as f32;
        while turn < turns {
            turn = rolled(turn) + 1;
            gpu_std::unroll::<64>(|_| single = mul_add(single, factor, factor));
        }
    } else if what == ISSUE_F64 {
        let factor = seed as f64;
        while turn < turns {
            turn = rolled(turn) + 1;
            gpu_std::unroll::<64>(|_| double = mul_add(double, factor, factor));
        }
    } else if what == ISSUE_I32 {
        while turn < turns {
            turn = rolled(turn) + 1;
            gpu_std::unroll::<64>(|_| whole = whole.wrapping_mul(lane).wrapping_add(seed));
        }
    } else if what == ISSUE_LOGIC {
        while turn < turns {
            turn = rolled(turn) + 1;
            gpu_std::unroll::<64>(|_| whole = (whole ^ lane) >> (seed & 31));
        }
    } else if what == ISSUE_ROOT {
        while turn < turns {
            turn = rolled(turn) + 1;
            gpu_std::unroll::<64>(|_| single = sqrt(single) + 2.0);
        }
    } else {
        while turn < turns {
            turn = rolled(turn) + 1;
            gpu_std::unroll::<64>(|_| whole = warp::shuffle_xor(u32::MAX, whole, 1));
        }
    }
    // None of them ends at these numbers, of which the compiler knows nothing: the clock is not read before.
    if single == 0.5 || double == 0.5 || whole == 0xffff_fffe {
        cycles.write(block_idx_x(), 0);
    }
    thread::sync_threads();
    let end = clock64();
    if thread_idx_x() == 0 {
        cycles.write(block_idx_x(), end - start);
    }
}
