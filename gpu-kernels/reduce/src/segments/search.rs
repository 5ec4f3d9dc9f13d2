//! Finding a block's first segment: a search by the whole block.

use gpu_std::thread::{sync_threads_count, thread_idx_x};
use gpu_std::{device, keep_rolled, opaque};

use crate::THREADS;

/// Places before the guess that a window has: a guess may be a little too high.
const BEFORE: u64 = 64;

/// The first place of a window around `guess`.
#[inline(always)]
pub(super) const fn window(guess: u64) -> u64 {
    guess.saturating_sub(BEFORE)
}

/// The first of `count` places of which `is_before` does not hold, or `count`: first it holds, from there on it does
/// not. All threads of the block together; what they wrote to shared memory before, all see behind it.
///
/// Of the places still in question each thread looks at one at a time, which takes as long as memory does.
#[device]
#[inline(always)]
pub(super) fn first_not(count: u64, is_before: impl Fn(u64) -> bool) -> u64 {
    // Opaque, or in a loop around it the compiler would keep the first places.
    let (thread, threads) = (opaque(thread_idx_x()) as u64, THREADS as u64);
    let (mut first, mut left) = (0, count);
    while left > 0 {
        keep_rolled();
        let step = left / threads + 1;
        let at = thread * step + step - 1;
        // Mutants: of the place behind those in question it is known that it is not before.
        let passed = sync_threads_count(at < left && is_before(first + at)) as u64 * step;
        first += passed;
        left = if left - passed < step { left - passed } else { step - 1 };
    }
    first
}
