//! Which segments are of which class.

use gpu_std::atomic::{Ordering, Scope};
use gpu_std::memory::{Global, GlobalMut};
use gpu_std::thread::{block_dim_x, block_idx_x, sync_threads, thread_idx_x};
use gpu_std::{device, rolled, shared};

use super::{CLASSES, LONG, class, list_start, tile};

/// Lists the segments between `segments + 1` offsets by their classes: `counts[c]`, which was 0, becomes the number of class
/// `c`, and `lists`, from [`list_start`] on, has their numbers; of long ones, for each tile the segment's number and the tile's in
/// the segment. In whatever order: what is done with them does not depend on it. A thread for each segment.
#[device]
#[inline(always)]
pub fn classify(
    offsets: Global<u32>,
    segments: u32,
    len: u64,
    composite_bytes: u32,
    counts: GlobalMut<u32>,
    lists: GlobalMut<u32>,
) {
    let mut memory = shared::dynamic();
    let of_block = memory.array::<u32>(CLASSES);
    let starts = memory.array::<u32>(CLASSES);
    let thread = thread_idx_x();
    if thread < CLASSES {
        of_block.write(thread, 0);
    }
    sync_threads();
    let number = block_idx_x() * block_dim_x() + thread;
    let mut elements = 0;
    if number < segments {
        elements = offsets.offset(1).read(number) - offsets.read(number);
    }
    let (mut of, mut place, mut entries) = (0, 0, 0);
    if elements > 0 {
        of = class(elements as u64, composite_bytes);
        entries = if of == LONG { elements.div_ceil(tile(composite_bytes)) } else { 1 };
        place = of_block.atomic(of).fetch_add(entries, Ordering::Relaxed, Scope::Block);
    }
    sync_threads();
    if thread < CLASSES {
        let count = of_block.read(thread);
        // Mutants: of a class without segments nobody asks where they go.
        if count > 0 {
            starts.write(thread, counts.atomic(thread).fetch_add(count, Ordering::Relaxed, Scope::Device));
        }
    }
    sync_threads();
    if elements > 0 {
        let list = lists.offset(list_start(of, segments as u64, len, composite_bytes));
        let first = starts.read(of) + place;
        if of == LONG {
            let mut tile = 0;
            while tile < entries {
                tile = rolled(tile);
                list.write_vec(2 * (first + tile), [number, tile]);
                tile += 1;
            }
        } else {
            list.write(first, number);
        }
    }
}
