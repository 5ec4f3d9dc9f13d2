//! Latencies, in cycles of the device's clock.

use gpu_std::atomic::{Ordering, Scope};
use gpu_std::memory::GlobalMut;
use gpu_std::thread::{self, clock64};
use gpu_std::{kernel, rolled, shared};

/// How [`calibrate_chase()`] accesses memory: through all caches.
pub const CHASE_CACHED: u32 = 0;
/// Past the first-level cache.
pub const CHASE_VOLATILE: u32 = 1;
/// By an atomic addition of zero, which the second-level cache does.
pub const CHASE_ATOMIC: u32 = 2;

/// Goes from word to word, each of which holds the index of the next: `cycles[0]` is what `steps` of them took,
/// `cycles[1]` where it ended. `first` says where it begins, `how` is one of the constants above.
///
/// Launch one thread. Where each word lies apart from the one before, no access is on its way while another is.
#[kernel(images = sm_75, launch_bounds(1))]
pub fn calibrate_chase(links: GlobalMut<u32>, cycles: GlobalMut<u64>, first: u32, steps: u32, how: u32) {
    let (mut here, mut step) = (first, 0);
    let start = clock64();
    if how == CHASE_CACHED {
        while step < steps {
            step = rolled(step) + 1;
            here = links.read(here);
        }
    } else if how == CHASE_VOLATILE {
        while step < steps {
            step = rolled(step) + 1;
            here = links.read_volatile(here);
        }
    } else {
        while step < steps {
            step = rolled(step) + 1;
            here = links.atomic(here).fetch_add(0, Ordering::Relaxed, Scope::Device);
        }
    }
    let end = clock64();
    cycles.write(0, end - start);
    cycles.write(1, here as u64);
}

/// Each thread reads a word of shared memory `steps` times, each time where the time before said: its lane times
/// `stride` words from the first, which holds that number. `cycles[b]` is what block `b`'s first thread waited.
///
/// Launch blocks of any size, with 32 · `stride` words of shared memory, at least one.
#[kernel(images = sm_75, launch_bounds(1024))]
pub fn calibrate_shared(cycles: GlobalMut<u64>, stride: u32, steps: u32) {
    let words = shared::dynamic().array::<u32>(if stride == 0 { 1 } else { 32 * stride });
    let (thread, mut step) = (thread::thread_idx_x(), 0);
    let mut here = thread % 32 * stride;
    if thread < 32 && (thread == 0 || stride > 0) {
        words.write(here, here);
    }
    thread::sync_threads();
    let start = clock64();
    while step < steps {
        step = rolled(step) + 1;
        here = words.read(here);
    }
    let end = clock64();
    // Where a thread ended is known, but not to the compiler.
    if here != thread % 32 * stride {
        cycles.write(thread::block_idx_x(), 0);
    }
    thread::sync_threads();
    if thread == 0 {
        cycles.write(thread::block_idx_x(), end - start);
    }
}

/// A block meets at a barrier `steps` times: `cycles[0]`. Launch one block of any size.
#[kernel(images = sm_75, launch_bounds(1024))]
pub fn calibrate_barrier(cycles: GlobalMut<u64>, steps: u32) {
    let mut step = 0;
    let start = clock64();
    while step < steps {
        step = rolled(step) + 1;
        thread::sync_threads();
    }
    let end = clock64();
    if thread::thread_idx_x() == 0 {
        cycles.write(0, end - start);
    }
}
