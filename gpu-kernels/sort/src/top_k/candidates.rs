//! The candidates that a block holds in shared memory.

use gpu_std::atomic::{Ordering, Scope};
use gpu_std::memory::Shared;
use gpu_std::thread::{sync_threads, thread_idx_x};
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
        let place = self.count.atomic(0).fetch_add(1, Ordering::Relaxed, Scope::Block);
        // Mutants: one more lies where bounds were that nobody asks for again; by digits there is room for all.
        if place < self.room {
            self.items.write(place, candidate);
        }
    }
}

/// Hands the first `k` of `known` candidates to `emit`, with their ranks; by a block of `P` threads, behind a barrier. Up to `COUNTED`
/// are counted, more are sorted: counting has no barriers, but reads for each all others.
#[device]
#[inline(always)]
pub(super) fn emit_first<C: Composite, const P: usize, const COUNTED: u32>(
    held: Candidates<C>,
    known: u32,
    k: u32,
    emit: impl Fn(u32, C),
) {
    let (thread, threads) = (thread_idx_x(), P as u32);
    // Mutants: either way puts them in the same order.
    let is_counted = known <= COUNTED;
    if is_counted {
        // There is room: no more are counted than half of it.
        // Mutants: a fourth has room, too, and nobody reads it.
        if thread < 3 {
            held.items.write(known + thread, C::HIGHEST);
        }
        sync_threads();
    } else {
        sort::<C, P>(held, known);
    }
    let mut at = thread;
    while at < known {
        keep_rolled();
        let own = held.items.read(at);
        let mut rank = at;
        if is_counted {
            rank = 0;
            let mut other = 0;
            // Behind the last are some that do not count.
            while other < known {
                keep_rolled();
                unroll::<4>(|i| rank += (held.items.read(other + i as u32) < own) as u32);
                other += 4;
            }
        }
        if rank < k {
            emit(rank, own);
        }
        at += threads;
    }
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
