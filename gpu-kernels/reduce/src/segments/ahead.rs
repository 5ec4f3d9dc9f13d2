//! What a block asks for before it knows its first segment: bytes that it will very likely read first.
//!
//! Memory would be idle while the last blocks of one launch end, the next launch begins, and its blocks look for
//! their segments and list the parts. Nothing is read here, so all of this may stand before the launch waits for the
//! one before.

use gpu_std::device;
use gpu_std::thread::thread_idx_x;

use super::search::window;
use super::{COUNTED, OFFSETS, Starts, weight};
use crate::item::{Item, Source};
use crate::{THREADS, tile};

/// Bytes of a line of the L2: one question brings all of it (H200: as fast as one for each sector, and as bulk
/// prefetches).
const LINE: u32 = 128;
/// Lines of elements that a block asks for at a time: 16 KiB, 9 MB of all blocks of an H200, once before the wait and
/// once behind the search, so that memory has something to do while the parts are listed (2^26 `f32`, segments of
/// 2^12: 62.8 µs, without the second time 63.7; of 1000: 64.4 and 65.1). All 32 KiB before the wait: 63.6 and 65.8,
/// as the launch before still reads; with 64 KiB there all kinds of segments are slower: 34 MB do not stay in the L2.
const LINES: u32 = 128;
/// Lines of offsets, from the first one of the window on.
const OFFSET_LINES: u32 = 2 * THREADS / (LINE / OFFSET_BYTES);
const OFFSET_BYTES: u32 = size_of::<u32>() as u32;

/// The number of segments before the place `begin` of the path, which ends at `path_end`, if all `count` are alike.
#[inline(always)]
pub(super) fn likely_first(begin: u64, path_end: u64, count: u64) -> u64 {
    // In floats, which is far shorter than a division: it is a guess, and off by less than the search around it looks
    // at.
    (begin as f32 * (count as f32 / path_end as f32)) as u32 as u64
}

/// Asks for the offsets around the `likely` first segment of the share from `begin` on, and for the elements that
/// begin there.
#[device]
#[inline(always)]
pub(super) fn ask<I: Item>(source: I::Source, len: u64, starts: Starts, begin: u64, share: u64, likely: u64) {
    // How many there are has to be known without memory.
    if starts.form == COUNTED || !are_long::<I>(starts.count as u64, len) {
        return;
    }
    let first = begin.saturating_sub(likely * weight::<I>() as u64);
    ask_elements::<I>(source, first, len.min(first + share));
    // Mutants: one line of offsets more may be asked for, of those that are there.
    if starts.form == OFFSETS && thread_idx_x() < OFFSET_LINES {
        let offset = window(likely) + (thread_idx_x() * (LINE / OFFSET_BYTES)) as u64;
        // Mutants: behind the offset of the last segment stands its end.
        if offset < starts.count as u64 {
            starts.offsets.offset(offset).prefetch(0);
        }
    }
}

/// Asks for the elements behind those that [`ask`] asked for, of the share from `begin` on, whose first segment is
/// now known; `count` segments in all.
#[device]
#[inline(always)]
pub(super) fn ask_more<I: Item>(source: I::Source, len: u64, count: u64, begin: u64, share: u64, first: u64) {
    if are_long::<I>(count, len) {
        let element = begin.saturating_sub(first * weight::<I>() as u64);
        ask_elements::<I>(source, element + (LINES * (LINE / I::BYTES)) as u64, len.min(element + share));
    }
}

/// Whether elements are worth asking for: where segments are short, instructions are the limit, not memory, which
/// then has the more offsets to bring (segments of 8: 97.5 µs with these questions, 94.3 without).
#[inline(always)]
fn are_long<I: Item>(count: u64, len: u64) -> bool {
    // Mutants: nothing but time depends on it.
    count * (tile::<I>() / 8) as u64 <= len
}

/// Asks for [`LINES`] lines of elements from `first` on, those before `end`.
#[device]
#[inline(always)]
fn ask_elements<I: Item>(source: I::Source, first: u64, end: u64) {
    let element = first + (thread_idx_x() * (LINE / I::BYTES)) as u64;
    // Mutants: one line more may be asked for, of those before the end.
    let is_asked = thread_idx_x() < LINES;
    if is_asked && element < end {
        source.offset(element).prefetch(0);
    }
}
