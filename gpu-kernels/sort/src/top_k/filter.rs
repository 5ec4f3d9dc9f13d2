//! The candidates of a whole array.

use gpu_collective::warp::sort::Sortable;
use gpu_std::atomic::{Ordering, Scope};
use gpu_std::memory::{Global, GlobalMut};
use gpu_std::thread::{block_idx_x, grid_dim_x, thread_idx_x};
use gpu_std::{device, keep_rolled, unroll};

use super::array::{Array, Loaded, compose, word_of};
use super::{COUNT, FILTER_THREADS};
use crate::composite::Composite;

/// Writes the composites that do not exceed `bound` to `candidates`, of which there is room for `room`, and how many there are to
/// `header`, where 0 was; in whatever order. Any number of blocks of [`FILTER_THREADS`].
#[device]
#[inline(always)]
pub fn filter<K: Loaded, C: Composite, const LOADS: usize>(
    keys: Array<K>,
    len: u32,
    bound: Global<C>,
    candidates: GlobalMut<C>,
    room: u32,
    header: GlobalMut<u32>,
) {
    const { assert!(LOADS == K::LOADS) };
    let bound = bound.read(0);
    let highest: K::Word = word_of(bound);
    let look = |index: u32| {
        let composite: C = compose(keys.offset(index as u64).word(0), index);
        // Mutants: without the bound itself there is one candidate less; if that is too few, a block selects from all.
        if composite <= bound {
            let place = header.atomic(COUNT).fetch_add(1, Ordering::Relaxed, Scope::Device);
            if place < room {
                candidates.write(place, composite);
            }
        }
    };
    // Loads are aligned: the tiles begin with the first key at a multiple of 16 bytes.
    let head = keys.head().min(len);
    let of_load = keys.of_load();
    let of_tile = FILTER_THREADS * LOADS as u32 * of_load;
    let tiles = (len - head) / of_tile;
    let mut tile = block_idx_x();
    while tile < tiles {
        keep_rolled();
        let own = head + tile * of_tile + thread_idx_x() * of_load;
        let of = keys.offset(own as u64);
        let mut loads = [[0; 4]; LOADS];
        unroll::<LOADS>(|load| loads[load] = of.load(load as u32 * FILTER_THREADS));
        let mut least = K::Word::HIGHEST;
        unroll::<LOADS>(|load| {
            unroll::<16>(|i| {
                if i < K::PER_LOAD {
                    least = Ord::min(least, keys.part(loads[load], i));
                }
            })
        });
        if least <= highest {
            // Rare: looked at one after the other, from memory.
            let mut load = 0;
            while load < LOADS as u32 * of_load {
                keep_rolled();
                look(own + load / of_load * FILTER_THREADS * of_load + load % of_load);
                load += 1;
            }
        }
        tile += grid_dim_x();
    }
    // What is before the tiles and behind them.
    let within = of_tile * tiles;
    let mut rest = block_idx_x() * FILTER_THREADS + thread_idx_x();
    while rest < len - within {
        keep_rolled();
        look(if rest < head { rest } else { rest + within });
        rest += grid_dim_x() * FILTER_THREADS;
    }
}
