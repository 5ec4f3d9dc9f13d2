//! The candidates of a whole array.

use gpu_std::atomic::{Ordering, Scope};
use gpu_std::memory::{Global, GlobalMut};
use gpu_std::thread::{block_idx_x, grid_dim_x, thread_idx_x};
use gpu_std::{device, keep_rolled, unroll};

use super::{COUNT, FILTER_AT_ONCE, FILTER_THREADS};
use crate::composite::{Composite, Ordered, compose};
use crate::order::Order;

/// Writes the composites that do not exceed `bound` to `candidates`, of which there is room for `room`, and how many there are to
/// `header`, where 0 was; in whatever order. Any number of blocks of [`FILTER_THREADS`].
#[device]
#[inline(always)]
pub fn filter<K: Ordered, C: Composite>(
    keys: Global<K>,
    len: u32,
    order: Order,
    bound: Global<C>,
    candidates: GlobalMut<C>,
    room: u32,
    header: GlobalMut<u32>,
) {
    let bound = bound.read(0);
    let highest = K::compared((bound.to_bits() >> 32) as u64);
    let of_tile = FILTER_THREADS * FILTER_AT_ONCE as u32;
    let tiles = len.div_ceil(of_tile);
    let mut tile = block_idx_x();
    while tile < tiles {
        keep_rolled();
        let base = tile * of_tile;
        let (of, left) = (keys.offset(base as u64), len - base);
        let mut words = [<K::Word as gpu_collective::warp::sort::Sortable>::HIGHEST; FILTER_AT_ONCE];
        let own = of.offset(thread_idx_x() as u64);
        if left >= of_tile {
            unroll::<FILTER_AT_ONCE>(|i| words[i] = own.read_streaming(i as u32 * FILTER_THREADS).comparable(order));
        } else {
            let limit = left.saturating_sub(thread_idx_x());
            unroll::<FILTER_AT_ONCE>(|i| {
                // What is not there is any key: it is looked at again.
                words[i] = own.read_only_below(i as u32 * FILTER_THREADS, limit, K::default()).comparable(order);
            });
        }
        let mut least = words[0];
        unroll::<FILTER_AT_ONCE>(|i| least = Ord::min(least, words[i]));
        if least <= highest {
            let mut within = 0u32;
            unroll::<FILTER_AT_ONCE>(|i| within |= ((words[i] <= highest) as u32) << i);
            while within != 0 {
                keep_rolled();
                let at = within.trailing_zeros() * FILTER_THREADS + thread_idx_x();
                within &= within - 1;
                if at < left {
                    let composite = compose::<C, K>(of.read_streaming(at), order, base + at);
                    if composite <= bound {
                        let place = header.atomic(COUNT).fetch_add(1, Ordering::Relaxed, Scope::Device);
                        if place < room {
                            candidates.write(place, composite);
                        }
                    }
                }
            }
        }
        tile += grid_dim_x();
    }
}
