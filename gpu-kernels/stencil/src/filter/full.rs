//! Filters of `K` × `K` weights, one by one: each row of the input adds to the chains of the `K` rows of outputs that
//! it belongs to.
//!
//! The sums shift as in [`super::separable`], by the first tap of each row. 11 × 11 taps are 121 multiply-adds an
//! output: on an H200, at 128 a clock and multiprocessor, 121 clocks for 128 outputs, about twice what memory takes.

use gpu_std::constant::Constant;
use gpu_std::float::Float;
use gpu_std::memory::{Global, GlobalMut};
use gpu_std::{device, unroll};

use super::geometry::Geometry;
use super::march::march;
use super::pixel::Pixel;
use super::separable::store;

/// Computes a block's outputs. `weights` are those of one row after the other.
#[device]
#[inline(always)]
pub(super) fn full<T: Pixel, const V: usize, const K: usize, const C: usize, const N: usize>(
    input: Global<T>,
    output: GlobalMut<T>,
    geometry: Geometry,
    outside: T,
    weights: Constant<T::Sum, N>,
) {
    let mut sums = [[T::Sum::ZERO; V]; K];
    march::<T, V, K, C>(input, &geometry, outside, |place, number, column, window| {
        // The last row of weights ends the oldest sums, the first one begins new ones. Taps on the outside: each
        // value is picked out of the window once, and used for all sums.
        unroll::<K>(|tap| {
            let mut values = [T::Sum::ZERO; V];
            unroll::<V>(|v| values[v] = window.at(v + tap * C));
            unroll::<K>(|j| {
                let weight = weights.read(((K - 1 - j) * K + tap) as u32);
                if j + 1 == K && tap == 0 {
                    unroll::<V>(|v| sums[j][v] = weight * values[v]);
                } else {
                    unroll::<V>(|v| sums[j][v] = weight.mul_add(values[v], sums[j][v]));
                }
            });
        });
        if number + 1 >= K as u32 {
            store::<T, V>(output, &geometry, place, number + 1 - K as u32, column, sums[0]);
        }
        unroll::<K>(|j| {
            if j + 1 < K {
                sums[j] = sums[j + 1];
            }
        });
    });
}
