//! A tile of slots sorted at a time.

use gpu_collective::block::merge::{merge_path, merge_serially};
use gpu_collective::warp::sort::sort_groups;
use gpu_std::memory::{Global, GlobalMut, Shared};
use gpu_std::thread::{block_idx_x, grid_dim_x, sync_threads, thread_idx_x};
use gpu_std::warp::{FULL, sync_warp};
use gpu_std::{device, keep_rolled, rolled, shared, unroll};

use super::memory::{Arrays, Slots, Stretch, load, padded, segment, store_part, tile_of_row};
use super::{ALL, CLASSES, Job, LONG, WARPS, class, list_start, passes, tile};
use crate::composite::Composite;

/// Sorts segments of up to a tile to the output, and the tiles of longer ones to `first` or, where an odd number of passes less
/// than [`Job::passes`] is to merge them, `second`. `counts` and `lists` are what [`super::classify`] has written, for rows nothing.
/// Any number of blocks; `L` is [`Composite::ITEMS`].
#[device]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "those of the kernel")]
pub fn sort_tiles<C: Composite, const L: usize>(
    job: Job,
    keys: Global<u8>,
    offsets: Global<u32>,
    counts: Global<u32>,
    lists: Global<u32>,
    keys_output: GlobalMut<u8>,
    indices: GlobalMut<u32>,
    first: GlobalMut<C>,
    second: GlobalMut<C>,
) {
    // Mutants: a lane has more items, or it does not compile.
    const { assert!(L == C::ITEMS && L >= 4) };
    let bytes = size_of::<C>() as u32;
    let of_tile = tile(bytes);
    let thread = thread_idx_x();
    let mut memory = shared::dynamic();
    let of_class = memory.array::<u32>(16);
    let of_slots = memory.array::<u32>(4 * 32 * WARPS);
    let of_long = memory.array::<u32>(4);
    let items: Shared<C> = memory.array::<C>(of_tile + 32 * WARPS);
    let arrays = Arrays { keys, keys_output, indices };

    let is_rows = job.row > 0;
    let tiles_of_row = job.row.div_ceil(of_tile as u64) as u32;
    // Mutants: one more has room in both arrays, which have 16 words, and nobody reads it.
    if thread < CLASSES {
        let count = if !is_rows {
            counts.read(thread)
        } else if class(job.row, bytes) != thread {
            0
        } else {
            job.segments * if thread == LONG { tiles_of_row } else { 1 }
        };
        of_class.write(thread, count);
    }
    sync_threads();

    let mut unit = block_idx_x();
    loop {
        keep_rolled();
        // ---- Which class, and which tile of it
        let mut class = 0;
        let mut slots = 0;
        while class < CLASSES {
            class = rolled(class);
            slots = if class == LONG { 1 } else { (32 * WARPS) >> class };
            let tiles = of_class.read(class).div_ceil(slots);
            if unit < tiles {
                break;
            }
            unit -= tiles;
            class += 1;
        }
        if class == CLASSES {
            break;
        }
        let is_long = class == LONG;

        // ---- Its slots
        if thread < slots {
            let entry = unit * slots + thread;
            let (mut start, mut len, mut number) = (0, 0, 0);
            if entry < of_class.read(class) {
                let list = lists.offset(list_start(class, job.segments as u64, job.len, bytes));
                let tile;
                (number, tile) = match (is_rows, is_long) {
                    (true, true) => tile_of_row(entry, tiles_of_row),
                    (true, false) => (entry, 0),
                    (false, true) => (list.read(2 * entry), list.read(2 * entry + 1)),
                    (false, false) => (list.read(entry), 0),
                };
                let of_segment;
                (start, of_segment) = segment(job, offsets, number);
                let before = tile as u64 * of_tile as u64;
                start += before;
                len = (of_segment - before).min(of_tile as u64) as u32;
                if is_long {
                    // What is before the tile, and whether it goes to the second array.
                    let merged = passes(of_segment.div_ceil(of_tile as u64));
                    of_long.write_vec(0, [before as u32, (job.passes - merged) % 2]);
                }
            }
            Slots::write(of_slots, thread, start, len, number);
        }
        sync_threads();

        // ---- To shared memory, each warp its part
        let [before, to_second] = if is_long { of_long.read_vec(0) } else { [0, 0] };
        let lanes = if is_long { 32 * WARPS } else { 1 << class };
        let width = lanes * L as u32;
        let of_warp = 32 * L as u32;
        let of_first = thread / 32 * of_warp;
        let mut slots =
            Slots { words: of_slots, shift: width.trailing_zeros(), before, stretch: None, row: None };
        // Mutants: a slot of just the warp's items may as well be looked up as a slot, or be a row.
        if width >= of_warp {
            // All of the warp's items are of one segment.
            let (at, start, len, _) = slots.at(of_first);
            slots.stretch = Some(Stretch { from: start + at as u64, len: len.saturating_sub(at) });
        } else if is_rows && job.limit == ALL {
            // Rows one behind the other.
            let of_slots = of_warp >> slots.shift;
            let from = (unit * (of_slots * WARPS) + thread / 32 * of_slots) as u64 * job.row;
            let all = job.segments as u64 * job.row;
            let most = of_slots as u64 * job.row;
            slots.stretch = Some(Stretch { from, len: all.saturating_sub(from).min(most) as u32 });
            // Mutants: rows that fill their slots are the same either way.
            if job.row < width as u64 {
                slots.row = Some(job.row as u32);
            }
        }
        load(arrays, job, items, slots);
        sync_warp(FULL);

        // ---- Sorted in registers, and merged where a slot has several warps
        let own = padded::<C>(thread * L as u32);
        let mut held = [C::HIGHEST; L];
        let mut there = L as u32;
        if let (Some(row), Some(stretch)) = (slots.row, slots.stretch) {
            // What is behind a row was not written, nor rows that there are not.
            let before = (thread % 32) >> class;
            let of_row = if before * row < stretch.len { row } else { 0 };
            there = of_row.saturating_sub((thread & (lanes - 1)) * L as u32);
        }
        unroll::<L>(|item| {
            if (item as u32) < there {
                held[item] = items.read(own + item as u32);
            }
        });
        sort_groups(&mut held, lanes.min(32));
        unroll::<L>(|item| items.write(own + item as u32, held[item]));
        let mut sorted = 32 * L as u32;
        while sorted < width {
            sorted = rolled(sorted);
            sync_threads();
            let merged = merged::<C, L>(items, thread, sorted);
            sync_threads();
            unroll::<L>(|item| items.write(own + item as u32, merged[item]));
            sorted *= 2;
        }
        // Mutants: where a warp would do, so does the block.
        if width > 32 * L as u32 {
            sync_threads();
        } else {
            sync_warp(FULL);
        }

        // ---- To memory
        let merged = if to_second == 1 { second } else { first };
        store_part(arrays, job, items, slots, is_long.then_some(merged));
        sync_threads();
        unit += grid_dim_x();
        // Classes before are counted again.
        let mut below = 0;
        while below < class {
            below = rolled(below);
            let slots = if below == LONG { 1 } else { (32 * WARPS) >> below };
            unit += of_class.read(below).div_ceil(slots);
            below += 1;
        }
    }
}

/// The thread's `L` items of pairs of runs of `sorted` items merged.
#[device]
#[inline(always)]
fn merged<C: Composite, const L: usize>(items: Shared<C>, thread: u32, sorted: u32) -> [C; L] {
    let place = thread * L as u32;
    let pair = place & !(2 * sorted - 1);
    let diagonal = place - pair;
    let read = |at: u32| items.read(padded::<C>(at));
    let a = merge_path(|at| read(pair + at), sorted, |at| read(pair + sorted + at), sorted, diagonal);
    let b = diagonal - a;
    merge_serially(read, (pair + a, pair + sorted), (pair + sorted + b, pair + 2 * sorted))
}
