//! What a block asks for before it may read anything: bytes that it will very likely read first.

use gpu_std::thread::{block_idx_x, grid_dim_x, thread_idx_x};
use gpu_std::{device, unroll};

use super::{COUNTED, OFFSETS, Starts, weight};
use crate::reduce::THREADS;
use crate::reduce::item::{Item, Source};

/// Bytes of a line of the L2.
const LINE: u32 = 128;
/// Lines of elements that a thread asks for. All blocks of an H200 together ask for 17 MB, for which memory takes 4 µs.
const LINES: usize = 1;

/// The number of segments before the block's first one, if all are alike and `count`.
#[inline(always)]
pub(super) fn likely_first(count: u64) -> u64 {
    (block_idx_x() as u64 * count).checked_div(grid_dim_x() as u64).unwrap_or(0)
}

/// Asks for the offsets around the `likely` first one, and for the first elements of a share that begins there.
///
/// Nothing of them is read, so this may stand before the launch waits for the one before: memory works while that one ends, this one
/// begins, and the block looks for its first segment. How many segments there are must be known without memory.
#[device]
#[inline(always)]
pub(super) fn ask<I: Item>(source: I::Source, len: u64, starts: Starts, share: u64, likely: u64) {
    if starts.form == COUNTED {
        return;
    }
    let thread = thread_idx_x();
    let begin = (block_idx_x() as u64 * share).saturating_sub(likely * weight::<I>() as u64);
    unroll::<LINES>(|line| {
        let element = (thread + line as u32 * THREADS) as u64 * (LINE / I::BYTES) as u64;
        if element < share && begin + element < len {
            source.offset(begin + element).prefetch(0);
        }
    });
    if starts.form == OFFSETS {
        // The search looks at as many as there are threads, half of them before the likely place.
        let last = likely + (THREADS / 2 + starts.count.checked_div(grid_dim_x()).unwrap_or(0)) as u64;
        let offset =
            likely.saturating_sub((THREADS / 2) as u64) + (thread * (LINE / size_of::<u32>() as u32)) as u64;
        if offset < last.min(starts.count as u64) {
            starts.offsets.offset(offset).prefetch(0);
        }
    }
}
