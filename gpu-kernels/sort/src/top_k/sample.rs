//! A bound from a sample.

use gpu_collective::grid::is_last_block;
use gpu_collective::warp::all_reduce_pairwise;
use gpu_collective::warp::sort::Sortable;
use gpu_std::memory::{GlobalMut, Shared};
use gpu_std::thread::{block_idx_x, grid_dim_x, sync_threads, thread_idx_x};
use gpu_std::{device, keep_rolled, shared, unroll, warp};

use super::SAMPLED;
use super::array::{Array, Keyed, compose};
use crate::composite::Composite;

/// Minima of a block.
pub const MINIMA: u32 = 2;
/// The most keys that a thread draws.
pub const DRAWS: usize = 8;

/// Draws `draws` keys a thread, at most [`DRAWS`], one from each stretch of the array of as many elements, at a place that depends on nothing but its
/// number; and writes to `bound` the composite of rank `rank`, counted from 0, among the [`MINIMA`] least of each block. Blocks of 256
/// threads, at most 128; `minima` has room for [`MINIMA`] of each, `header` was zero.
#[device]
#[inline(always)]
pub fn sample<K: Keyed, C: Composite>(
    keys: Array<K>,
    stretch: u32,
    draws: u32,
    rank: u32,
    minima: GlobalMut<C>,
    bound: GlobalMut<C>,
    header: GlobalMut<u32>,
) {
    let thread = thread_idx_x();
    let mut memory = shared::dynamic();
    let of_warps: Shared<C> = memory.array(8);
    let all: Shared<C> = memory.array(256);
    let flag = memory.array::<u32>(1);
    let mut least = C::HIGHEST;
    let (mut places, mut drawn) = ([0; DRAWS], [K::Word::HIGHEST; DRAWS]);
    unroll::<DRAWS>(|i| {
        // Less draws are some of them twice.
        let draw = (i as u32).min(draws - 1);
        let number = (draw * grid_dim_x() + block_idx_x()) * 256 + thread;
        // MurmurHash3's finaliser; its highest bits say where in the stretch.
        let mut hash = number.wrapping_mul(0x9e37_79b9);
        hash = (hash ^ hash >> 16).wrapping_mul(0x85eb_ca6b);
        hash = (hash ^ hash >> 13).wrapping_mul(0xc2b2_ae35);
        hash ^= hash >> 16;
        places[i] = number * stretch + ((hash as u64 * stretch as u64) >> 32) as u32;
        drawn[i] = keys.offset(places[i] as u64).word(0);
    });
    unroll::<DRAWS>(|i| least = Ord::min(least, compose(drawn[i], places[i])));
    let least = all_reduce_pairwise(least, 32, Ord::min);
    if warp::lane_id() == 0 {
        of_warps.write(thread / 32, least);
    }
    sync_threads();
    if thread < MINIMA {
        let mut least = C::HIGHEST;
        unroll::<4>(|warp| least = Ord::min(least, of_warps.read(4 * thread + warp as u32)));
        minima.write(MINIMA * block_idx_x() + thread, least);
    }
    if warp::uniform(is_last_block(header.offset(SAMPLED as u64), grid_dim_x(), flag)) {
        let count = MINIMA * grid_dim_x();
        if thread < count {
            all.write(thread, minima.read(thread));
        }
        sync_threads();
        if thread < count {
            let own = all.read(thread);
            let mut before = 0;
            let mut other = 0;
            while other < count {
                keep_rolled();
                unroll::<{ MINIMA as usize }>(|i| before += (all.read(other + i as u32) < own) as u32);
                other += MINIMA;
            }
            if before == rank {
                bound.write(0, own);
            }
        }
    }
}
