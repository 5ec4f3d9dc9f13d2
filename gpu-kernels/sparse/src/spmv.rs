//! Products of a matrix and a vector: `y = alpha · A · x + beta · y`.
//!
//! # Order of operations
//! A row's entries are cut into pieces of [`PIECE`]. Entry `k` of a piece belongs to chain `k mod 32`; a chain is one of
//! fused multiply-adds in ascending order, from zero; the 32 chains are added at the distances 16, 8, 4, 2, 1. The sum
//! of piece `p` is added to chain `p mod 32` of 32 more, which are added likewise. The result is `fma(alpha, sum + 0,
//! beta · y)`, or `alpha · (sum + 0)` where `beta` is zero.
//!
//! That depends on the length of the row alone. Who computes it does not matter: a thread that has all chains of a short
//! row in registers, lanes that share them, or warps of several blocks that take a piece each. All kernels give the same
//! bits.
//!
//! # Who computes it
//! * [`rows`](sparse_spmv_1_f32): each row by 1 or 4 lanes, if that is what it can hold in registers; longer ones,
//!   which should be few, by the whole warp, one after the other.
//! * [`balanced`](sparse_spmv_balanced_f32): rows and entries are laid out on one line, a row before its entries (the
//!   merge path of Merrill and Garland, *Merge-based parallel sparse matrix-vector multiplication*, SC 2016), and each
//!   block has [`SPAN`] of it: the rows, and the pieces of long rows, that start there.

use gpu_std::memory::{Global, GlobalMut};
use gpu_std::parameter::Parameter;
use gpu_std::thread::{block_idx_x, sync_threads, thread_idx_x};
use gpu_std::{device, keep_rolled, kernel, opaque, rolled, unroll, warp};

use crate::scalar::{Scalar, combine};
use crate::{NONE, THREADS};

/// Entries of a piece: the longest that one warp adds while others wait for it.
pub const PIECE: u32 = 1024;
/// Rows and entries, together, of a block that is balanced: some pieces.
pub const SPAN: u32 = 2 * PIECE;

/// A product, but for addresses and factors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Parameter)]
#[repr(C)]
pub struct Shape {
    /// Rows.
    pub rows: u32,
    /// Entries that count: none where `alpha` is zero, so that nothing is read.
    pub entries: u32,
}

/// Lanes that have all chains of a row of up to so many entries in registers.
pub const fn limit(lanes: u32) -> u32 {
    if lanes == 1 { 8 } else { 32 }
}

/// What is read.
#[derive(Clone, Copy)]
struct Sources<T: Scalar> {
    indices: Global<u32>,
    values: Global<T>,
    x: Global<T>,
}

/// The lanes' chains, added.
#[device]
#[inline(always)]
fn tree<T: Scalar>(mut sum: T) -> T {
    let mut distance = 16;
    while distance > 0 {
        sum = sum + warp::shuffle_xor(warp::FULL, sum, distance);
        distance /= 2;
    }
    sum
}

/// The sum of a piece from entry `start` to `end`, by a warp. Not inlined, as several places call it.
#[device]
#[inline(never)]
fn piece<T: Scalar>(indices: Global<u32>, values: Global<T>, x: Global<T>, start: u32, end: u32) -> T {
    let mut sum = T::ZERO;
    let mut at = start + warp::lane_id();
    while at < end {
        at = rolled(at);
        let (indices, values) = (indices.offset(at as u64), values.offset(at as u64));
        let columns: [u32; 4] =
            core::array::from_fn(|j| indices.read_only_below(32 * j as u32, end - at, NONE));
        let factors: [T; 4] =
            core::array::from_fn(|j| values.read_only_below(32 * j as u32, end - at, T::ZERO));
        unroll::<4>(|j| {
            if columns[j] != NONE {
                sum = factors[j].mul_add(x.read_only(columns[j]), sum);
            }
        });
        at += 128;
    }
    tree(sum)
}

impl<T: Scalar> Sources<T> {
    /// The sum of a piece from entry `start` to `end`, by a warp.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn piece(&self, start: u32, end: u32) -> T {
        piece(self.indices, self.values, self.x, start, end)
    }

    /// The sum of a row, by a warp.
    #[device]
    #[inline(always)]
    fn row(&self, start: u32, end: u32) -> T {
        let (mut total, mut at, mut number) = (T::ZERO, start, 0);
        while at < end {
            keep_rolled();
            let stop = at + (end - at).min(PIECE);
            let sum = self.piece(at, stop);
            if warp::lane_id() == number % 32 {
                total = total + sum;
            }
            (at, number) = (stop, number + 1);
        }
        tree(total)
    }

    /// The sum of a row of at most `32` entries, or 8 of one lane, by as many lanes as have `J` chains each.
    #[device]
    #[inline(always)]
    fn short<const LANES: u32, const J: usize>(&self, start: u32, end: u32) -> T {
        let first = start + thread_idx_x() % LANES;
        let (indices, values) = (self.indices.offset(first as u64), self.values.offset(first as u64));
        let left = if first < end { end - first } else { 0 };
        let columns: [u32; J] =
            core::array::from_fn(|j| indices.read_only_below(j as u32 * LANES, left, NONE));
        let values: [T; J] =
            core::array::from_fn(|j| values.read_only_below(j as u32 * LANES, left, T::ZERO));
        let mut sums = [T::ZERO; J];
        unroll::<J>(|j| {
            if columns[j] != NONE {
                sums[j] = values[j].mul_add(self.x.read_only(columns[j]), T::ZERO);
            }
        });
        // Chains that are not there are zeros.
        unroll::<3>(|step| {
            let half = J >> (step + 1);
            if half > 0 {
                unroll::<4>(|j| {
                    if j < half {
                        sums[j] = sums[j] + sums[j + half];
                    }
                });
            }
        });
        let mut sum = sums[0];
        let mut distance = LANES / 2;
        while distance > 0 {
            sum = sum + warp::shuffle_xor(warp::FULL, sum, distance);
            distance /= 2;
        }
        sum
    }
}

/// A row of `LANES` lanes each; longer ones by the warp.
#[device]
#[inline(always)]
fn rows<T: Scalar, const LANES: u32, const J: usize>(
    offsets: Global<u32>,
    sources: &Sources<T>,
    y: GlobalMut<T>,
    shape: &Shape,
    (alpha, beta): (T, T),
) {
    let row = (block_idx_x() * (THREADS / LANES)) + thread_idx_x() / LANES;
    let inside = row < shape.rows;
    let (mut start, mut end) = (0, 0);
    if inside && shape.entries > 0 {
        (start, end) = (offsets.read_only(row), offsets.read_only(row + 1));
    }
    let long = end - start > limit(LANES);
    // A long row has nothing for its lanes alone.
    let sum = sources.short::<LANES, J>(start, if long { start } else { end });
    let first = thread_idx_x().is_multiple_of(LANES);
    if inside && !long && first {
        y.write(row, combine(alpha, sum, beta, || y.read(row)));
    }
    let mut left = warp::warp_vote_ballot(warp::FULL, long && first);
    while left != 0 {
        keep_rolled();
        let lane = left.trailing_zeros();
        left &= left - 1;
        let (start, end) =
            (warp::shuffle_idx(warp::FULL, start, lane), warp::shuffle_idx(warp::FULL, end, lane));
        let sum = sources.row(start, end);
        if warp::lane_id() == lane {
            y.write(row, combine(alpha, sum, beta, || y.read(row)));
        }
    }
}

/// The first row whose place on the line is not before `place`.
#[device]
#[inline(always)]
fn row_at(offsets: Global<u32>, rows: u32, place: u32) -> u32 {
    let (mut low, mut high) = (0, rows);
    while low < high {
        keep_rolled();
        let middle = low + (high - low) / 2;
        if middle + offsets.read_only(middle) < place {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// The rows and pieces that start in the block's part of the line.
///
/// A piece that is not the last of its row is [`PIECE`] long, so no two of those start in the same [`PIECE`] of the
/// line, and neither do two that are the last of rows of several: each has its word of `partials`, the latter in the
/// second half, and `tails` says whose it is.
#[device]
#[inline(always)]
fn balanced<T: Scalar>(
    offsets: Global<u32>,
    sources: &Sources<T>,
    y: GlobalMut<T>,
    partials: GlobalMut<T>,
    tails: GlobalMut<u32>,
    shape: &Shape,
    (alpha, beta): (T, T),
) {
    let (line, slots) = (shape.rows + shape.entries, (shape.rows + shape.entries).div_ceil(PIECE));
    let from = block_idx_x() * SPAN;
    let to = line.min(from.saturating_add(SPAN));
    let thread = thread_idx_x();
    let own = from / PIECE + thread;
    if thread < SPAN / PIECE && own < slots {
        tails.write(own, NONE);
    }
    sync_threads();

    let place = if thread.is_multiple_of(2) { from } else { to };
    let found = row_at(offsets, shape.rows, place);
    let first = warp::shuffle_idx(warp::FULL, found, 0);
    let last = warp::shuffle_idx(warp::FULL, found, 1);

    // Pieces of `row` that start before `to`, those of number `number` and every `step`th from there.
    let pieces = |row: u32, start: u32, end: u32, number: u32, step: u32| {
        let mut at = number * PIECE;
        while at < end - start && row + start + at < to {
            keep_rolled();
            let sum = sources.piece(start + at, end.min(start + at + PIECE));
            let slot = (row + start + at) / PIECE;
            if warp::lane_id() == 0 {
                if at + PIECE >= end - start {
                    partials.write(slots + slot, sum);
                    tails.write(slot, row);
                } else {
                    partials.write(slot, sum);
                }
            }
            at += step * PIECE;
        }
    };

    // ---- the rest of the row that started before
    if first > 0 {
        let row = first - 1;
        let (start, end) = (offsets.read_only(row), offsets.read_only(row + 1));
        if end - start > PIECE {
            let number = (from - (row + start)).div_ceil(PIECE);
            pieces(row, start, end, number + thread / 32, THREADS / 32);
        }
    }
    // ---- the rows that start here, a thread each while they are short
    let mut base = first + thread / 32 * 32;
    while base < last {
        keep_rolled();
        let row = base + warp::lane_id();
        let inside = row < last;
        let (mut start, mut end) = (0, 0);
        if inside {
            (start, end) = (offsets.read_only(row), offsets.read_only(row + 1));
        }
        let long = end - start > limit(1);
        let sum = sources.short::<1, 8>(start, if long { start } else { end });
        if inside && !long {
            y.write(row, combine(alpha, sum, beta, || y.read(row)));
        }
        let mut left = warp::warp_vote_ballot(warp::FULL, long);
        while left != 0 {
            keep_rolled();
            let lane = left.trailing_zeros();
            left &= left - 1;
            let (start, end) =
                (warp::shuffle_idx(warp::FULL, start, lane), warp::shuffle_idx(warp::FULL, end, lane));
            if end - start > PIECE {
                pieces(base + lane, start, end, 0, 1);
            } else {
                // One piece is a chain from zero, and 31 zeros.
                let sum = sources.piece(start, end);
                if warp::lane_id() == lane {
                    y.write(row, combine(alpha, sum, beta, || y.read(row)));
                }
            }
        }
        base += THREADS;
    }
}

/// The rows of several pieces: a warp for each [`PIECE`] of the line.
#[device]
#[inline(always)]
fn finish<T: Scalar>(
    offsets: Global<u32>,
    partials: Global<T>,
    tails: Global<u32>,
    y: GlobalMut<T>,
    shape: &Shape,
    (alpha, beta): (T, T),
) {
    let slots = (shape.rows + shape.entries).div_ceil(PIECE);
    let slot = block_idx_x() * (THREADS / 32) + thread_idx_x() / 32;
    let row = if slot < slots { tails.read_only(slot) } else { NONE };
    if row != NONE {
        let (start, end) = (offsets.read_only(row), offsets.read_only(row + 1));
        let last = (end - start).div_ceil(PIECE) - 1;
        let first = (row + start) / PIECE;
        let mut sum = T::ZERO;
        let mut number = warp::lane_id();
        while number <= opaque(last) {
            keep_rolled();
            let at = if number == last { slots + slot } else { first + number };
            sum = sum + partials.read_only(at);
            number += 32;
        }
        let sum = tree(sum);
        if warp::lane_id() == 0 {
            y.write(row, combine(alpha, sum, beta, || y.read(row)));
        }
    }
}

macro_rules! kernels {
    ($($T:ty: $one:ident, $four:ident, $balanced:ident, $finish:ident;)*) => { $(
        kernels!(row $T, 1, 8, $one);
        kernels!(row $T, 4, 8, $four);

        #[doc = concat!("Products of matrices of `", stringify!($T), "`, but for rows of several pieces: a block for each [`SPAN`] of rows and entries. Of `partials` there are two elements for each [`PIECE`] of them, of `tails` one.")]
        #[kernel(images = sm_75, launch_bounds(256))]
        #[expect(clippy::too_many_arguments, reason = "those of the product")]
        pub fn $balanced(
            offsets: Global<u32>,
            indices: Global<u32>,
            values: Global<$T>,
            x: Global<$T>,
            y: GlobalMut<$T>,
            partials: GlobalMut<$T>,
            tails: GlobalMut<u32>,
            shape: Shape,
            alpha: $T,
            beta: $T,
        ) {
            balanced::<$T>(offsets, &Sources { indices, values, x }, y, partials, tails, &shape, (alpha, beta));
        }

        #[doc = concat!("The rows of several pieces of `", stringify!($T), "`: a warp for each [`PIECE`] of rows and entries.")]
        #[kernel(images = sm_75, launch_bounds(256))]
        pub fn $finish(
            offsets: Global<u32>,
            partials: Global<$T>,
            tails: Global<u32>,
            y: GlobalMut<$T>,
            shape: Shape,
            alpha: $T,
            beta: $T,
        ) {
            finish::<$T>(offsets, partials, tails, y, &shape, (alpha, beta));
        }
    )* };
    (row $T:ty, $lanes:literal, $chains:literal, $name:ident) => {
        #[doc = concat!("Products of matrices of `", stringify!($T), "`, ", stringify!($lanes), " lanes a row, in blocks of [`THREADS`](crate::THREADS).")]
        #[kernel(images = sm_75, launch_bounds(256))]
        #[expect(clippy::too_many_arguments, reason = "those of the product")]
        pub fn $name(
            offsets: Global<u32>,
            indices: Global<u32>,
            values: Global<$T>,
            x: Global<$T>,
            y: GlobalMut<$T>,
            shape: Shape,
            alpha: $T,
            beta: $T,
        ) {
            rows::<$T, $lanes, $chains>(offsets, &Sources { indices, values, x }, y, &shape, (alpha, beta));
        }
    };
}

kernels! {
    f32: sparse_spmv_1_f32, sparse_spmv_4_f32, sparse_spmv_balanced_f32, sparse_spmv_finish_f32;
    f64: sparse_spmv_1_f64, sparse_spmv_4_f64, sparse_spmv_balanced_f64, sparse_spmv_finish_f64;
}
