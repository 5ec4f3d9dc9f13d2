//! Sums along the lines: lanes share a line and what they read of `x` serves [`LINES`] of them.

use gpu_collective::warp::all_reduce;
use gpu_std::memory::{Global, GlobalMut};
use gpu_std::thread::{block_idx_x, thread_idx_x};
use gpu_std::{device, rolled, unroll};

use super::{LINES, Shape, UNROLL, WARPS, chain, deliver};
use crate::scalar::Scalar;

/// Lines of a block of which `width` lanes share one.
pub const fn lines_per_block(width: u32) -> u32 {
    WARPS * 32 / width * LINES
}

/// Computes a piece of the sums of [`lines_per_block`] results. Launch as many blocks as those need, for each piece.
#[device]
#[inline(always)]
pub(super) fn along<T: Scalar, const V: usize>(
    a: Global<T>,
    x: Global<T>,
    y: GlobalMut<T>,
    partials: GlobalMut<T::Sum>,
    shape: &Shape,
    factors: (T::Sum, T::Sum),
) {
    let blocks = shape.results.div_ceil(lines_per_block(shape.width));
    let piece = block_idx_x() / blocks;
    let block = block_idx_x() - piece * blocks;
    let lane = thread_idx_x() % shape.width;
    let group = thread_idx_x() / shape.width;
    let first = block * lines_per_block(shape.width) + group * LINES;

    let start = piece * shape.piece;
    let part = Part {
        // Lines beyond the last read that one again.
        lines: core::array::from_fn(|line| {
            let line = (first + line as u32).min(shape.results - 1);
            a.offset(line as u64 * shape.leading + start as u64)
        }),
        x: x.offset(start as u64),
        length: shape.piece.min(shape.length.saturating_sub(start)),
    };
    let sums = if shape.vectors != 0 && shape.x_vectors != 0 {
        part.sums::<V, true>(lane, shape.width)
    } else {
        part.sums::<V, false>(lane, shape.width)
    };
    unroll::<{ LINES as usize }>(|line| {
        let sum = all_reduce(sums[line], shape.width, |first, second| first + second);
        if lane == 0 && first + (line as u32) < shape.results {
            deliver::<T>(shape, piece, first + line as u32, sum, factors, y, partials);
        }
    });
}

/// A piece of [`LINES`] lines.
struct Part<T: Scalar> {
    lines: [Global<T>; LINES as usize],
    x: Global<T>,
    length: u32,
}

impl<T: Scalar> Part<T> {
    /// The lane's sums.
    #[device]
    #[inline(always)]
    fn sums<const V: usize, const ALIGNED: bool>(&self, lane: u32, width: u32) -> [T::Sum; LINES as usize] {
        let mut sums = [<T::Sum as gpu_std::float::Float>::ZERO; LINES as usize];
        let whole = self.length / V as u32;
        let mut first = 0;
        // Mutants: the last ones may as well come with what is left, in the same order.
        while first + UNROLL * width <= whole {
            self.add::<{ UNROLL as usize }, V, ALIGNED>(&mut sums, first + lane, width, None);
            first += UNROLL * width;
        }
        // What is left, a quarter of lines of 2000 elements, is asked for at once too; where it is by single
        // elements, those of a vector are enough.
        while first < whole {
            if ALIGNED {
                self.add::<{ UNROLL as usize }, V, ALIGNED>(&mut sums, first + lane, width, Some(whole));
                first += UNROLL * width;
            } else {
                self.add::<1, V, ALIGNED>(&mut sums, first + lane, width, Some(whole));
                first += width;
            }
        }
        // The last elements make no whole vector; the lane whose turn it is takes them.
        if lane == whole % width {
            let mut at = whole * V as u32;
            while at < self.length {
                at = rolled(at);
                let x = self.x.read_only(at).widen();
                unroll::<{ LINES as usize }>(|line| {
                    let a = self.lines[line].read_only(at).widen();
                    sums[line] = gpu_std::float::mul_add(a, x, sums[line]);
                });
                at += 1;
            }
        }
        sums
    }

    /// Adds `N` vectors, `width` apart, as far as they are before `end`, if there is one.
    #[device]
    #[inline(always)]
    fn add<const N: usize, const V: usize, const ALIGNED: bool>(
        &self,
        sums: &mut [T::Sum; LINES as usize],
        vector: u32,
        width: u32,
        end: Option<u32>,
    ) {
        let place = |step: usize| vector + step as u32 * width;
        // Those beyond the end read the last one again.
        let at = |step: usize| end.map_or(place(step), |end| place(step).min(end - 1)) * V as u32;
        let x: [[T; V]; N] = core::array::from_fn(|step| read::<T, V, ALIGNED>(self.x, at(step)));
        let a: [[[T; V]; N]; LINES as usize] = core::array::from_fn(|line| {
            core::array::from_fn(|step| stream::<T, V, ALIGNED>(self.lines[line], at(step)))
        });
        unroll::<N>(|step| {
            if end.is_none_or(|end| place(step) < end) {
                unroll::<{ LINES as usize }>(|line| sums[line] = chain(a[line][step], x[step], sums[line]));
            }
        });
    }
}

/// `V` elements that others read, too.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
fn read<T: Scalar, const V: usize, const ALIGNED: bool>(from: Global<T>, at: u32) -> [T; V] {
    if ALIGNED { from.read_only_vec(at) } else { elements(from, at) }
}

/// `V` elements that nobody reads again.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
fn stream<T: Scalar, const V: usize, const ALIGNED: bool>(from: Global<T>, at: u32) -> [T; V] {
    // Single elements share their sector with the thread's next ones, so they had better stay in the L1.
    if ALIGNED { from.read_streaming_vec(at) } else { elements(from, at) }
}

#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
fn elements<T: Scalar, const V: usize>(from: Global<T>, at: u32) -> [T; V] {
    core::array::from_fn(|j| from.read_only(at + j as u32))
}
