//! The candidates of a whole array.

use gpu_std::atomic::{Ordering, Scope};
use gpu_std::memory::{Global, GlobalMut};
use gpu_std::thread::{block_idx_x, grid_dim_x, thread_idx_x};
use gpu_std::{device, keep_rolled, unroll};

use super::{COUNT, FILTER_BYTES, FILTER_THREADS};
use crate::composite::{Composite, Masks, Ordered, compose};
use crate::order::Order;

/// Writes the composites that do not exceed `bound` to `candidates`, of which there is room for `room`, and how many there are to
/// `header`, where 0 was; in whatever order. Any number of blocks of [`FILTER_THREADS`]. A thread reads `L` keys, [`FILTER_BYTES`], at
/// a time, `V` in each load of 16 bytes.
#[device]
#[inline(always)]
pub fn filter<K: Ordered, C: Composite, const L: usize, const V: usize>(
    keys: Global<K>,
    len: u32,
    order: Order,
    bound: Global<C>,
    candidates: GlobalMut<C>,
    room: u32,
    header: GlobalMut<u32>,
) {
    const { assert!(L * size_of::<K>() == FILTER_BYTES && V * size_of::<K>() == 16 && L <= 64) };
    let bound = bound.read(0);
    let highest = K::compared((bound.to_bits() >> 32) as u64);
    let masks = Masks::new(order);
    let look = |index: u32| {
        let composite = compose::<C, K>(keys.offset(index as u64).read_streaming(0), masks, index);
        if composite <= bound {
            let place = header.atomic(COUNT).fetch_add(1, Ordering::Relaxed, Scope::Device);
            if place < room {
                candidates.write(place, composite);
            }
        }
    };
    // Loads are aligned: the tiles begin with the first key at a multiple of 16 bytes.
    let head = ((keys.address() as u32).wrapping_neg() % 16 / size_of::<K>() as u32).min(len);
    let of_tile = FILTER_THREADS * L as u32;
    let tiles = (len - head) / of_tile;
    let mut tile = block_idx_x();
    while tile < tiles {
        keep_rolled();
        let own = head + tile * of_tile + thread_idx_x() * V as u32;
        let of = keys.offset(own as u64);
        let mut words = [K::compared(0); L];
        unroll::<L>(|load| {
            if load < L / V {
                let read: [K; V] = of.read_streaming_vec(load as u32 * FILTER_THREADS * V as u32);
                unroll::<V>(|i| words[load * V + i] = read[i].comparable(masks));
            }
        });
        let mut least = words[0];
        unroll::<L>(|i| least = Ord::min(least, words[i]));
        if least <= highest {
            // Rare: looked at one load after the other.
            let mut load = 0;
            while load < L as u32 / V as u32 {
                keep_rolled();
                let mut i = 0;
                while i < V as u32 {
                    keep_rolled();
                    look(own + load * FILTER_THREADS * V as u32 + i);
                    i += 1;
                }
                load += 1;
            }
        }
        tile += grid_dim_x();
    }
    // What is before the tiles and behind them.
    let before = of_tile * tiles;
    let mut rest = block_idx_x() * FILTER_THREADS + thread_idx_x();
    while rest < len - before {
        keep_rolled();
        look(if rest < head { rest } else { rest + before });
        rest += grid_dim_x() * FILTER_THREADS;
    }
}
