//! Separable filters in one pass: each row's horizontal chain once, then one link of the vertical chain of each of
//! the `K` rows of outputs that it belongs to.
//!
//! A lane holds `K - 1` partial sums for each of its columns. Each new row's link turns sum `j` into sum `j - 1`, so
//! the renaming is free: the sums shift as they grow, and the oldest leaves as a result.
//!
//! Of an H200 whose memory gives 16 bytes a clock and multiprocessor, 128 elements of `f32`, read and written, take
//! 64 clocks; at four warps' instructions a clock, 5 × 5 taps are 10 of them, 11 × 11 are 22.

use gpu_std::constant::Constant;
use gpu_std::float::Float;
use gpu_std::memory::{Global, GlobalMut};
use gpu_std::{device, unroll};

use super::geometry::Geometry;
use super::march::march;
use super::pixel::{Pixel, store_left};

/// Computes a block's outputs, `K` × `K` taps each. `weights` are the `K` of the row, then those of the column.
#[device]
#[inline(always)]
pub(super) fn separable<T: Pixel, const V: usize, const K: usize, const C: usize, const N: usize>(
    input: Global<T>,
    output: GlobalMut<T>,
    geometry: Geometry,
    outside: T,
    weights: Constant<T::Sum, N>,
) {
    let mut sums = [[T::Sum::ZERO; V]; K];
    march::<T, V, K, C>(input, &geometry, outside, |place, number, column, window| {
        let mut line = [T::Sum::ZERO; V];
        unroll::<V>(|v| line[v] = weights.read(0) * window.at(v));
        unroll::<K>(|tap| {
            if tap > 0 {
                let weight = weights.read(tap as u32);
                unroll::<V>(|v| line[v] = weight.mul_add(window.at(v + tap * C), line[v]));
            }
        });
        // Results first: after that, each sum can grow where the one before stood.
        if number + 1 >= K as u32 {
            let mut done = [T::Sum::ZERO; V];
            unroll::<V>(|v| done[v] = weights.read(2 * K as u32 - 1).mul_add(line[v], sums[0][v]));
            store::<T, V>(output, &geometry, place, number + 1 - K as u32, column, done);
        }
        unroll::<K>(|j| {
            // Mutants: the last sum is written below.
            if j + 2 < K {
                let weight = weights.read((2 * K - 2 - j) as u32);
                unroll::<V>(|v| sums[j][v] = weight.mul_add(line[v], sums[j + 1][v]));
            }
        });
        unroll::<V>(|v| sums[K - 2][v] = weights.read(K as u32) * line[v]);
    });
}

/// Writes a lane's results of the strip's row `number`.
#[device]
#[inline(always)]
pub(super) fn store<T: Pixel, const V: usize>(
    output: GlobalMut<T>,
    geometry: &Geometry,
    place: super::geometry::Place,
    number: u32,
    column: u32,
    sums: [T::Sum; V],
) {
    let row = output.offset(
        place.image as u64 * geometry.output_stride + (place.row + number) as u64 * geometry.output_pitch,
    );
    let left = geometry.output_row.saturating_sub(column);
    store_left::<T, V>(row.offset(column as u64), geometry.flip, geometry.output_aligned != 0, left, sums);
}
