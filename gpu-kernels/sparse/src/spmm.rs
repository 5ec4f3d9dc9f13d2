//! Products of a matrix and a dense one of a few columns: `C = alpha · A · B + beta · C`.
//!
//! Every column is computed in the order that [`spmv`](crate::spmv) states, and has the bits of that product. A short
//! row's entries stay in registers for [`COLUMNS`] columns, or for some of them: where B's rows are contiguous, as many
//! threads as a sector of 32 bytes has columns are side by side, and read it together. Longer rows are the warp's,
//! column after column.

use gpu_std::memory::{Global, GlobalMut};
use gpu_std::parameter::Parameter;
use gpu_std::thread::{block_idx_x, block_idx_y, thread_idx_x};
use gpu_std::{device, keep_rolled, kernel, rolled, unroll, warp};

use crate::check::bounds;
use crate::row::{piece_inline, short_tree, tree, within};
use crate::scalar::{Scalar, combine};
use crate::spmv::{PIECE, limit};
use crate::{NONE, THREADS};

/// Columns that a block computes.
pub const COLUMNS: u32 = 16;

/// A product, but for addresses and factors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Parameter)]
#[repr(C)]
pub struct Product {
    /// Elements from one row of B to the next.
    pub b_row: u64,
    /// Elements from one column of B to the next.
    pub b_column: u64,
    /// Elements from one row of C to the next.
    pub c_row: u64,
    /// Elements from one column of C to the next.
    pub c_column: u64,
    /// Rows of A.
    pub rows: u32,
    /// Entries of A that count: none where `alpha` is zero, so that nothing is read.
    pub entries: u32,
    /// The last column of A.
    pub last: u32,
    /// Columns of B.
    pub columns: u32,
    /// Lanes of a row: 1 or 4.
    pub lanes: u32,
    /// The logarithm of the threads, or lanes, that are side by side for a row's columns; 0 where these are one after
    /// the other.
    pub beside: u32,
}

impl Product {
    /// Rows of a block.
    #[inline(always)]
    pub const fn block_rows(&self) -> u32 {
        (if self.lanes == 1 { THREADS } else { THREADS / 4 }) >> self.beside
    }
}

/// What a block computes with.
#[derive(Clone, Copy)]
struct Operands<T: Scalar> {
    indices: Global<u32>,
    values: Global<T>,
    b: Global<T>,
    c: GlobalMut<T>,
    alpha: T,
    beta: T,
}

impl<T: Scalar> Operands<T> {
    /// A finished sum goes to C.
    #[device]
    #[inline(always)]
    fn finish(&self, shape: &Product, row: u32, column: u32, sum: T) {
        let c = self.c.offset(row as u64 * shape.c_row + column as u64 * shape.c_column);
        c.write(0, combine(self.alpha, sum, self.beta, || c.read(0)));
    }

    /// Rows that `LANES` lanes hold each: columns `from` to `to`, of which its own are the `own`-th and every so many
    /// behind it as there are side by side. For the whole warp.
    #[device]
    #[inline(always)]
    fn short<const LANES: u32>(
        &self,
        shape: &Product,
        (row, counts): (u32, bool),
        (start, end): (u32, u32),
        (from, to, own): (u32, u32, u32),
    ) {
        let first = start + thread_idx_x() % LANES;
        let (indices, values) = (self.indices.offset(first as u64), self.values.offset(first as u64));
        // Mutants: at the end none is left either way.
        let left = if first < end { end - first } else { 0 };
        let columns: [u32; 8] =
            core::array::from_fn(|j| indices.read_only_below(j as u32 * LANES, left, NONE));
        let values: [T; 8] =
            core::array::from_fn(|j| values.read_only_below(j as u32 * LANES, left, T::ZERO));
        let mut column = from;
        while column < to {
            column = rolled(column);
            // A lane that has none goes with the others.
            let (is_there, of_lane) = (column + own < to, (column + own).min(to - 1));
            let b = self.b.offset(of_lane as u64 * shape.b_column);
            let mut sums = [T::ZERO; 8];
            unroll::<8>(|j| {
                if columns[j] != NONE {
                    let element = b.offset(within(columns[j], shape.last) as u64 * shape.b_row).read_only(0);
                    sums[j] = values[j].mul_add(element, T::ZERO);
                }
            });
            let sum = short_tree::<T, LANES, 8>(sums);
            if counts && is_there {
                self.finish(shape, row, of_lane, sum);
            }
            column += 1 << shape.beside;
        }
    }
}

#[device]
#[inline(always)]
fn product<T: Scalar>(offsets: Global<u32>, operands: &Operands<T>, shape: &Product) {
    let lane = warp::lane_id();
    let lanes = if shape.lanes == 1 { 1 } else { 4 };
    let from = block_idx_y() * COLUMNS;
    let to = shape.columns.min(from + COLUMNS);
    let unit = thread_idx_x() / lanes;
    let row = block_idx_x() * shape.block_rows() + (unit >> shape.beside);
    let inside = row < shape.rows;
    let own = unit & ((1 << shape.beside) - 1);
    let (mut start, mut end) = (0, 0);
    // Mutants: of no entries all bounds are zero.
    if inside && shape.entries > 0 {
        (start, end) = bounds(offsets, row, shape.entries);
    }
    // Mutants: a row that just fits its lanes has the same sum from a warp.
    let long = end - start > limit(lanes);
    let is_first = lane.is_multiple_of(lanes);
    let stop = if long { start } else { end };
    let counts = inside && !long && is_first;
    if lanes == 1 {
        operands.short::<1>(shape, (row, counts), (start, stop), (from, to, own));
    } else {
        operands.short::<4>(shape, (row, counts), (start, stop), (from, to, own));
    }
    let mut left = warp::warp_vote_ballot(warp::FULL, long && is_first && own == 0);
    while left != 0 {
        keep_rolled();
        let whose = left.trailing_zeros();
        left &= left - 1;
        let start = warp::shuffle_idx(warp::FULL, start, whose);
        let end = warp::shuffle_idx(warp::FULL, end, whose);
        let row = warp::shuffle_idx(warp::FULL, row, whose);
        let mut column = from;
        while column < to {
            keep_rolled();
            let b = operands.b.offset(column as u64 * shape.b_column);
            let (mut total, mut number) = (T::ZERO, 0);
            // Mutants: the sum of a piece without entries is zero, and the sign of a zero gets lost in the end.
            while number * PIECE < end - start {
                number = rolled(number);
                let at = start + number * PIECE;
                let until = at + (end - at).min(PIECE);
                let (indices, values) = (operands.indices, operands.values);
                let sum =
                    piece_inline::<T, true, 4>(indices, values, (b, shape.b_row, shape.last), at, until);
                if lane == number % 32 {
                    total = total + sum;
                }
                number += 1;
            }
            let sum = tree(total);
            if lane == 0 {
                operands.finish(shape, row, column, sum);
            }
            column += 1;
        }
    }
}

macro_rules! kernels {
    ($($T:ty: $product:ident;)*) => { $(
        #[doc = concat!("Products of matrices of `", stringify!($T), "` with dense ones: in blocks of [`THREADS`],")]
        /// which have [`Product::block_rows`] each, a row of blocks for [`COLUMNS`] columns.
        #[kernel(images = sm_75, launch_bounds(256, 3))]
        pub fn $product(
            offsets: Global<u32>,
            indices: Global<u32>,
            values: Global<$T>,
            b: Global<$T>,
            c: GlobalMut<$T>,
            shape: Product,
            alpha: $T,
            beta: $T,
        ) {
            product::<$T>(offsets, &Operands { indices, values, b, c, alpha, beta }, &shape);
        }
    )* };
}

kernels! {
    f32: sparse_spmm_f32;
    f64: sparse_spmm_f64;
}
