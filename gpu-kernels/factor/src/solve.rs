//! Solutions of `A · X = B`, A being factored: a warp for each matrix of a batch and some right-hand sides.
//!
//! # Order of operations
//! Forwards, of every element one chain of fused multiply-adds in ascending order of columns, from the element, and
//! then the product with the reciprocal of the diagonal's element; backwards the same in descending order of rows.

use gpu_std::float::Float;
use gpu_std::memory::{Global, GlobalMut, Shared};
use gpu_std::parameter::Parameter;
use gpu_std::shared::{self, SharedLayout};
use gpu_std::thread::{block_idx_x, thread_idx_x};
use gpu_std::warp::{FULL, WarpShuffleValue, shuffle_idx, sync_warp};
use gpu_std::{device, opaque, unroll};

use crate::batch::Batch;

/// Right-hand sides of a block, of 32 threads.
pub const SOLVE_RHS: u32 = 4;
/// The most rows of a matrix.
pub const SOLVE_MOST: u32 = 512;

const R: usize = SOLVE_RHS as usize;
const LANES: u32 = 32;

/// The right-hand sides of a launch. Element (i, c) lies `i · row + c · column` behind a matrix's first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Parameter)]
#[repr(C)]
pub struct Solve {
    /// Elements from one row to the next; not of matrices with sizes of their own.
    pub row: u64,
    /// Elements from one column to the next; of matrices with sizes of their own 1 or 0: whether columns are
    /// contiguous.
    pub column: u64,
    /// Elements from one matrix to the next.
    pub stride: u64,
    /// Columns.
    pub count: u32,
    /// Blocks for each matrix.
    pub blocks: u32,
}

/// Bytes of dynamic shared memory of a block, for matrices of at most so many rows.
pub const fn solve_shared_bytes<T: Float>(most: u32) -> u32 {
    SharedLayout::new().array::<T>(SOLVE_RHS * most).bytes()
}

/// Reads [`R`] solutions.
#[device]
#[inline(always)]
fn solutions<T: Float, const V: usize>(x: Shared<T>, k: u32) -> [T; R] {
    let mut all = [T::ZERO; R];
    unroll::<R>(|group| {
        if group < R / V {
            let some = x.read_vec::<V>(k * SOLVE_RHS + (group * V) as u32);
            unroll::<V>(|v| all[group * V + v] = some[v]);
        }
    });
    all
}

/// Solves for the right-hand sides of a block. Launch [`Solve::blocks`] blocks of 32 threads for each matrix, with
/// [`solve_shared_bytes`] for the largest.
#[device]
#[inline(always)]
pub(crate) fn solve<T: Float + WarpShuffleValue, const V: usize>(
    l: Global<T>,
    b: GlobalMut<T>,
    table: Global<u64>,
    batch: &Batch,
    shape: &Solve,
) {
    let (number, part) = (block_idx_x() / shape.blocks, block_idx_x() % shape.blocks);
    let (place, lane) = (batch.place(table, number), thread_idx_x());
    let size = place.size;
    let l = l.offset(place.first);
    let at = |row: u32, column: u32| l.offset(row as u64 * place.row + column as u64 * place.column);
    let (mut row_step, mut column_step, mut start) = (shape.row, shape.column, number as u64 * shape.stride);
    if batch.size == 0 {
        start = table.offset(3 * number as u64).read_only(2) * shape.count as u64;
        (row_step, column_step) = if shape.column != 0 { (shape.count as u64, 1) } else { (1, size as u64) };
    }
    let b = b.offset(start + (part * SOLVE_RHS) as u64 * column_step);
    let columns = shape.count - part * SOLVE_RHS;
    let x = shared::dynamic().array::<T>(0);

    // ---- forwards: L · Y = B
    let mut first = 0;
    // Mutants: from the size on there are no rows.
    while first < size {
        let row = first + lane;
        let exists = row < size;
        // Lanes beyond the last row compute with it.
        let safe = row.min(size - 1);
        let mut sums = [T::ZERO; R];
        unroll::<R>(|r| {
            if exists && (r as u32) < columns {
                sums[r] = b.offset(row as u64 * row_step + r as u64 * column_step).read(0);
            }
        });
        let reciprocal = T::ONE / at(safe, safe).read(0);
        let mut k = 0;
        while k < opaque(first) {
            let mut ahead = [T::ZERO; 4];
            unroll::<4>(|step| ahead[step] = at(safe, k + step as u32).read(0));
            unroll::<4>(|step| {
                let known = solutions::<T, V>(x, k + step as u32);
                unroll::<R>(|r| sums[r] = (-ahead[step]).mul_add(known[r], sums[r]));
            });
            k += 4;
        }
        let width = (size - first).min(LANES);
        let mut j = 0;
        // Mutants: lanes from the width on have no rows.
        while j < opaque(width) {
            // Above the diagonal lies what is not the factor's.
            let factor = at(safe, (first + j).min(safe)).read(0);
            unroll::<R>(|r| {
                let known = shuffle_idx(FULL, sums[r] * reciprocal, j);
                if lane == j {
                    sums[r] = known;
                    // Mutants: they are not equal.
                } else if lane > j {
                    sums[r] = (-factor).mul_add(known, sums[r]);
                }
            });
            j += 1;
        }
        if exists {
            unroll::<R>(|r| x.write(row * SOLVE_RHS + r as u32, sums[r]));
        }
        sync_warp(FULL);
        first += LANES;
    }

    // ---- backwards: Lᵀ · X = Y
    while first > 0 {
        first -= LANES;
        let row = first + lane;
        let exists = row < size;
        let safe = row.min(size - 1);
        let mut sums = solutions::<T, V>(x, safe);
        let reciprocal = T::ONE / at(safe, safe).read(0);
        let mut k = size;
        while k > opaque(first + LANES) {
            k -= 1;
            let factor = at(k, safe).read(0);
            let known = solutions::<T, V>(x, k);
            unroll::<R>(|r| sums[r] = (-factor).mul_add(known[r], sums[r]));
        }
        let mut j = (size - first).min(LANES);
        while j > opaque(0) {
            j -= 1;
            // Above the diagonal lies what is not the factor's.
            let factor = at((first + j).max(safe), safe).read(0);
            unroll::<R>(|r| {
                let known = shuffle_idx(FULL, sums[r] * reciprocal, j);
                if lane == j {
                    sums[r] = known;
                    // Mutants: they are not equal.
                } else if lane < j {
                    sums[r] = (-factor).mul_add(known, sums[r]);
                }
            });
        }
        // The lanes that are not there have read the last row's.
        sync_warp(FULL);
        if exists {
            unroll::<R>(|r| {
                x.write(row * SOLVE_RHS + r as u32, sums[r]);
                if (r as u32) < columns {
                    b.offset(row as u64 * row_step + r as u64 * column_step).write(0, sums[r]);
                }
            });
        }
        sync_warp(FULL);
    }
}
