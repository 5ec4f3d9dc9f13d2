//! A tile's way between global memory and registers.
//!
//! Where everything is aligned and the tile is complete, a thread moves whole vectors. Elsewhere a warp moves its rows element
//! by element, neighbouring lanes neighbouring elements, and exchanges them through shared memory.

use gpu_std::memory::{Global, GlobalMut, Shared};
use gpu_std::warp::{self, sync_warp};
use gpu_std::{device, opaque, unroll};

use super::packed::Packed;

/// Where a thread's vectors lie in their tile, which is read backwards in a reverse scan.
#[derive(Clone, Copy)]
pub(super) struct Places {
    /// The first element of its vector in row 0.
    first: u32,
    /// From there to the vector in the next row, modulo 2^32.
    step: u32,
    /// How many vectors of the row lie before it.
    before: u32,
    reverse: bool,
}

impl Places {
    /// Those of thread `thread` of `32 * warps`, with `rows` vectors of `vector` elements.
    #[inline(always)]
    pub(super) fn new(thread: u32, warps: u32, vector: u32, rows: u32, reverse: bool) -> Self {
        let lane = thread % 32;
        let unit = thread / 32 * rows * 32 + lane;
        let last = 32 * warps * rows - 1;
        Self {
            first: if reverse { last - unit } else { unit } * vector,
            step: if reverse { (32 * vector).wrapping_neg() } else { 32 * vector },
            before: if reverse { 31 - lane } else { lane },
            reverse,
        }
    }

    #[inline(always)]
    fn vector(self, row: u32) -> u32 {
        self.first.wrapping_add(self.step.wrapping_mul(row))
    }
}

/// Elements that are asked for before the first is waited for, where they are read one by one.
const AT_ONCE: usize = 4;

/// The thread's vectors of `V` elements in `N` words each. The tile has `left` elements; beyond them is `fill`.
///
/// `exchange` is room for a row of the warp.
#[device]
#[inline(always)]
pub(super) fn load<T: Packed, const V: usize, const N: usize, const L: usize>(
    tile: Global<T>,
    places: Places,
    left: u32,
    whole: bool,
    fill: T,
    exchange: Shared<u32>,
) -> [[u32; N]; L] {
    let mut vectors = [[0; N]; L];
    if whole {
        let words = tile.cast::<u32>();
        unroll::<L>(|row| {
            vectors[row] = words.read_vec::<N>(places.vector(row as u32) / V as u32 * N as u32)
        });
    } else {
        // A loop over rows, so that its code stands there once; each row then finds its registers by selection.
        let elements = exchange.cast::<T>();
        let lane = warp::lane_id();
        let mut row = 0;
        while row < L as u32 {
            let start = places.vector(row) - places.before * V as u32;
            let mut at = lane;
            while at < 32 * V as u32 {
                let loaded: [T; AT_ONCE] = core::array::from_fn(|i| {
                    let (at, among) = (at + 32 * i as u32, i < V);
                    if among && start + at < left { tile.read(start + at) } else { fill }
                });
                unroll::<AT_ONCE>(|i| {
                    if i < V {
                        elements.write(at + 32 * i as u32, loaded[i]);
                    }
                });
                at += 32 * AT_ONCE as u32;
            }
            sync_warp(warp::FULL);
            let vector = exchange.read_vec::<N>(places.before * N as u32);
            unroll::<L>(|other| {
                if other as u32 == row {
                    vectors[other] = vector;
                }
            });
            sync_warp(warp::FULL);
            // Opaque, or the loop would be unrolled all the same.
            row = opaque(row + 1);
        }
    }
    if places.reverse {
        unroll::<L>(|row| vectors[row] = T::reverse(vectors[row]));
    }
    vectors
}

/// Writes a row's vectors, `M` words each.
#[device]
#[inline(always)]
pub(super) fn store<T: Packed, const V: usize, const M: usize>(
    tile: GlobalMut<T>,
    places: Places,
    row: u32,
    vector: [u32; M],
    left: u32,
    whole: bool,
    exchange: Shared<u32>,
) {
    let vector = if places.reverse { T::reverse(vector) } else { vector };
    if whole {
        let index = places.vector(row) / V as u32 * M as u32;
        tile.cast::<u32>().write_streaming_vec(index, vector);
        return;
    }
    let elements = exchange.cast::<T>();
    exchange.write_vec(places.before * M as u32, vector);
    sync_warp(warp::FULL);
    let start = places.vector(row) - places.before * V as u32;
    let mut at = warp::lane_id();
    while at < 32 * V as u32 {
        if start + at < left {
            tile.write_streaming(start + at, elements.read(at));
        }
        at += 32;
    }
    sync_warp(warp::FULL);
}
