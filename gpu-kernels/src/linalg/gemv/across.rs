//! Sums across the lines: a lane has a vector of results, and warps take the lines in turn.

use gpu_std::float::Float;
use gpu_std::memory::{Global, GlobalMut};
use gpu_std::thread::{block_idx_x, sync_threads, thread_idx_x};
use gpu_std::{device, shared, unroll};

use super::{Shape, THREADS, UNROLL, WARPS, deliver};
use crate::linalg::scalar::Scalar;

/// Results of a block.
pub const fn results_per_block<T>() -> u32 {
    32 * super::vector::<T>()
}

/// Computes a piece of the sums of [`results_per_block`] results. Launch as many blocks as those need, for each piece, with
/// [`shared_bytes`](super::shared_bytes).
#[device]
#[inline(always)]
pub(super) fn across<T: Scalar, const V: usize>(
    a: Global<T>,
    x: Global<T>,
    y: GlobalMut<T>,
    partials: GlobalMut<T::Sum>,
    shape: &Shape,
    factors: (T::Sum, T::Sum),
) {
    let per_block = const { results_per_block::<T>() };
    let blocks = shape.results.div_ceil(per_block);
    let piece = block_idx_x() / blocks;
    let first = (block_idx_x() - piece * blocks) * per_block;
    let (warp, lane) = (thread_idx_x() / 32, thread_idx_x() % 32);
    let index = first + lane * V as u32;

    let start = piece * shape.piece;
    let length = shape.piece.min(shape.length.saturating_sub(start));
    let (lines, x) = (a.offset(start as u64 * shape.leading), x.offset(start as u64));
    let left = shape.results.saturating_sub(index);
    let sums: [T::Sum; V] = if shape.vectors != 0 && left >= V as u32 {
        chains(warp, length, |line| {
            (lines.offset(line as u64 * shape.leading).read_streaming_vec(index), x.read_only(line).widen())
        })
    } else {
        // What is beyond the last result counts as zero, and is not read.
        chains(warp, length, |line| {
            let line_start = lines.offset(line as u64 * shape.leading + index as u64);
            let read =
                |j: usize| if (j as u32) < left { line_start.read_only(j as u32) } else { T::default() };
            (core::array::from_fn(read), x.read_only(line).widen())
        })
    };

    // Of each warp its sums, of each lane's vector element after element.
    let memory = shared::dynamic().array::<T::Sum>(THREADS * V as u32);
    unroll::<V>(|j| memory.write((warp * V as u32 + j as u32) * 32 + lane, sums[j]));
    sync_threads();
    let mut at = thread_idx_x();
    while at < per_block {
        let (j, lane) = (at / 32, at % 32);
        let mut sum = memory.read(at);
        unroll::<{ WARPS as usize }>(|warp| {
            if warp > 0 {
                sum = sum + memory.read(warp as u32 * per_block + at);
            }
        });
        let index = first + lane * V as u32 + j;
        if index < shape.results {
            deliver::<T>(shape, piece, index, sum, factors, y, partials);
        }
        at += THREADS;
    }
}

/// The sums of the lines of warp `warp`, of which `read` reads the lane's vector and the factor.
#[device]
#[inline(always)]
fn chains<T: Scalar, const V: usize>(
    warp: u32,
    length: u32,
    read: impl Fn(u32) -> ([T; V], T::Sum),
) -> [T::Sum; V] {
    let mut sums = [T::Sum::ZERO; V];
    let mut line = warp;
    while line + (UNROLL - 1) * WARPS < length {
        let lines: [([T; V], T::Sum); UNROLL as usize] =
            core::array::from_fn(|step| read(line + step as u32 * WARPS));
        unroll::<{ UNROLL as usize }>(|step| {
            let (a, x) = lines[step];
            unroll::<V>(|j| sums[j] = a[j].widen().mul_add(x, sums[j]));
        });
        line += UNROLL * WARPS;
    }
    while line < length {
        let (a, x) = read(line);
        unroll::<V>(|j| sums[j] = a[j].widen().mul_add(x, sums[j]));
        line += WARPS;
    }
    sums
}
