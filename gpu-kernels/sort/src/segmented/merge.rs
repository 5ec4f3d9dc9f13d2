//! One pass over the long segments: pairs of sorted runs merged.

use gpu_collective::block::merge::{merge_path, merge_path_of_warp, merge_serially};
use gpu_std::memory::{Global, GlobalMut, Shared};
use gpu_std::thread::{block_idx_x, grid_dim_x, sync_threads, thread_idx_x};
use gpu_std::{device, keep_rolled, rolled, shared, unroll, warp};

use super::memory::{Arrays, padded, segment, store, tile_of_row};
use super::{Job, LONG, WARPS, list_start, passes, tile};
use crate::composite::Composite;

/// Pass `pass` of [`Job::passes`]: merges runs of long segments, from `from` to `to` or, in the last pass, to the output. A segment of
/// less than the most tiles joins in when as many passes are left as it needs. Any number of blocks.
#[device]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "those of the kernel")]
pub fn merge_pass<C: Composite, const L: usize>(
    job: Job,
    pass: u32,
    offsets: Global<u32>,
    counts: Global<u32>,
    lists: Global<u32>,
    from: Global<C>,
    to: GlobalMut<C>,
    keys_output: GlobalMut<u8>,
    indices: GlobalMut<u32>,
) {
    let bytes = size_of::<C>() as u32;
    let of_tile = tile(bytes);
    let thread = thread_idx_x();
    let mut memory = shared::dynamic();
    let splits = memory.array::<u32>(16);
    let items: Shared<C> = memory.array::<C>(of_tile + 32 * WARPS);
    // There are no keys to be read.
    let arrays = Arrays { keys: keys_output.as_global(), keys_output, indices };
    let list = lists.offset(list_start(LONG, job.segments as u64, job.len, bytes));
    let tiles_of_row = job.row.div_ceil(of_tile as u64) as u32;
    let entries = if job.row > 0 { job.segments * tiles_of_row } else { counts.read(LONG) };

    let mut entry = block_idx_x();
    while entry < entries {
        keep_rolled();
        let (number, tile) = if job.row > 0 {
            tile_of_row(entry, tiles_of_row)
        } else {
            (list.read(2 * entry), list.read(2 * entry + 1))
        };
        entry += grid_dim_x();
        let (start, len) = segment(job, offsets, number);
        let idle = job.passes - passes(len.div_ceil(of_tile as u64));
        if pass >= idle {
            // ---- The runs, and which parts of them make this tile
            let run = of_tile << (pass - idle);
            // A segment has less than 2^32 elements, and runs may reach beyond that.
            let place = tile as u64 * of_tile as u64;
            let pair = place & !(2 * run as u64 - 1);
            let (a_len, b_len) = (
                (len - pair).min(run as u64) as u32,
                (len - pair).saturating_sub(run as u64).min(run as u64) as u32,
            );
            let source = from.offset(start + pair);
            let b_source = source.offset(run as u64);
            let first = (place - pair) as u32;
            let count = (len - place).min(of_tile as u64) as u32;
            if warp::uniform(thread < 64) {
                let diagonal = if thread < 32 { first } else { first + count };
                let split =
                    merge_path_of_warp(|at| source.read(at), a_len, |at| b_source.read(at), b_len, diagonal);
                if warp::lane_id() == 0 {
                    splits.write(thread / 32, split);
                }
            }
            sync_threads();
            let (a, a_end) = (splits.read(0), splits.read(1));
            let of_a = a_end - a;
            let b = first - a;

            // ---- Merged in shared memory
            let mut row = 0;
            while row < L as u32 {
                row = rolled(row);
                let mut read = [C::HIGHEST; 4];
                let at = |i: usize| (row + i as u32) * 32 * WARPS + thread;
                unroll::<4>(|i| {
                    let at = at(i);
                    if at < count {
                        read[i] = if at < of_a {
                            source.offset(a as u64).read(at)
                        } else {
                            b_source.offset(b as u64).read(at - of_a)
                        };
                    }
                });
                unroll::<4>(|i| items.write(padded::<C>(at(i)), read[i]));
                row += 4;
            }
            sync_threads();
            let read = |at: u32| items.read(padded::<C>(at));
            let diagonal = (thread * L as u32).min(count);
            let taken = merge_path(read, of_a, |at| read(of_a + at), count - of_a, diagonal);
            let merged: [C; L] = merge_serially(read, (taken, of_a), (of_a + diagonal - taken, count));
            sync_threads();
            let own = padded::<C>(thread * L as u32);
            unroll::<L>(|item| items.write(own + item as u32, merged[item]));
            sync_threads();

            // ---- To memory
            let mut at = thread;
            while at < count {
                at = rolled(at);
                let composite = read(at);
                if pass + 1 == job.passes {
                    store(arrays, job, composite, number, start, tile * of_tile + at);
                } else {
                    to.offset(start + place).write(at, composite);
                }
                at += 32 * WARPS;
            }
            // Mutants: up to the next tile's first barrier only `splits` is written, read before the last one.
            sync_threads();
        }
    }
}
