//! The candidates that a block holds in shared memory.

use gpu_collective::warp::sort::{Sortable, sort_groups, sort_lanes};
use gpu_std::atomic::{Ordering, Scope};
use gpu_std::memory::Shared;
use gpu_std::thread::{sync_threads, thread_idx_x};
use gpu_std::warp::{self, FULL};
use gpu_std::{device, keep_rolled, unroll};

use crate::composite::Composite;

/// Candidates in whatever order.
#[derive(Clone, Copy)]
pub(super) struct Candidates<C: Composite> {
    pub(super) count: Shared<u32>,
    pub(super) items: Shared<C>,
    /// How many may be held.
    pub(super) room: u32,
}

impl<C: Composite> Candidates<C> {
    /// One more, which is counted even if there is no room.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub(super) fn append(self, candidate: C) {
        let place = self.reserve(1);
        // Mutants: one more lies where bounds were that nobody asks for again; by digits there is room for all.
        if place < self.room {
            self.items.write(place, candidate);
        }
    }

    /// The first of so many places more.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub(super) fn reserve(self, places: u32) -> u32 {
        self.count.atomic(0).fetch_add(places, Ordering::Relaxed, Scope::Block)
    }
}

/// Hands the first `k` of `known` candidates to `emit`, with their ranks; by a block of `P` threads, behind a barrier.
/// Of few, two threads each compare one with the others, which waits less than a sort. More, up to `LISTED`, are sorted
/// in lists of a warp's lanes, and each finds its rank in the other lists; still more are sorted together.
#[device]
#[inline(always)]
pub(super) fn emit_first<C: Composite, const P: usize, const LISTED: u32>(
    held: Candidates<C>,
    known: u32,
    k: u32,
    emit: impl Fn(u32, C),
) {
    let (thread, threads) = (thread_idx_x(), P as u32);
    let emitted = k.min(known);
    // Mutants: either way puts them in the same order.
    if known <= threads / 2 {
        // There is room: no more are compared than a fourth of it.
        // Mutants: some more of the highest do not count.
        if thread < 8 {
            held.items.write(known + thread, C::HIGHEST);
        }
        sync_threads();
        let (at, half) = (thread / 2, thread % 2);
        let own = if at < known { held.items.read(at) } else { C::HIGHEST };
        // Mutants: a warp without candidates finds ranks that nobody reads.
        let end = if at < known { known } else { 0 };
        let mut rank = 0;
        let mut other = 4 * half;
        while other < end {
            keep_rolled();
            unroll::<4>(|i| rank = held.items.read(other + i as u32).add_if_at_most(own, rank, 1));
            other += 8;
        }
        // No two are equal, so that one of them is the own one.
        rank = (rank + warp::shuffle_xor(FULL, rank, 1)).wrapping_sub(1);
        // Mutants: the other half would write the same.
        if half == 0 && at < known && rank < emitted {
            emit(rank, own);
        }
    } else if known <= LISTED {
        // There is room: no more are listed than half of it.
        let len = known.next_multiple_of(32);
        if thread < len - known {
            held.items.write(known + thread, C::HIGHEST);
        }
        sync_threads();
        let mut at = thread;
        while at < len {
            keep_rolled();
            held.items.write(at, sorted_lanes(held.items.read(at)));
            at += threads;
        }
        sync_threads();
        let mut at = thread;
        while at < len {
            keep_rolled();
            let own = held.items.read(at);
            let mut rank = at % 32;
            let mut list = 0;
            while list < len {
                keep_rolled();
                // Mutants: of its own list none more is below it.
                if list != at - at % 32 {
                    rank += below(held.items.offset(list), own);
                }
                list += 32;
            }
            if rank < emitted {
                emit(rank, own);
            }
            at += threads;
        }
    } else {
        sort::<C, P>(held, known);
        let mut rank = thread;
        while rank < emitted {
            keep_rolled();
            emit(rank, held.items.read(rank));
            rank += threads;
        }
    }
}

/// The values of the lanes in order.
#[device]
#[inline(always)]
pub(super) fn sorted_lanes<C: Sortable>(own: C) -> C {
    // Written out; wider ones would be long.
    if size_of::<C>() <= 8 {
        return sort_lanes(own);
    }
    let mut items = [own];
    sort_groups(&mut items, 32);
    items[0]
}

/// How many of the 32 items of a sorted list are below `own`.
#[device]
#[inline(always)]
fn below<C: Composite>(list: Shared<C>, own: C) -> u32 {
    let mut below = 0;
    unroll::<5>(|step| {
        let half = 16 >> step as u32;
        if list.read(below + half - 1).is_less(own) {
            below += half;
        }
    });
    below + list.read(below).is_less(own) as u32
}

/// Sorts so many candidates: K. E. Batcher's bitonic sort, whose merges begin with the mirror image.
#[device]
#[inline(never)]
pub(super) fn sort<C: Composite, const P: usize>(held: Candidates<C>, known: u32) {
    let (thread, threads) = (thread_idx_x(), P as u32);
    let len = known.next_power_of_two();
    let mut at = known + thread;
    while at < len {
        keep_rolled();
        held.items.write(at, C::HIGHEST);
        at += threads;
    }
    sync_threads();
    let mut size = 2;
    while size <= len {
        keep_rolled();
        let mut distance = size / 2;
        while distance > 0 {
            keep_rolled();
            let mut pair = thread;
            while pair < len / 2 {
                keep_rolled();
                let within = pair & (distance - 1);
                let low = 2 * (pair - within) + within;
                let high = if 2 * distance == size { low + size - 1 - 2 * within } else { low + distance };
                let (a, b) = (held.items.read(low), held.items.read(high));
                // Mutants: equal ones may change places.
                if b < a {
                    held.items.write(low, b);
                    held.items.write(high, a);
                }
                pair += threads;
            }
            sync_threads();
            distance /= 2;
        }
        size *= 2;
    }
}
