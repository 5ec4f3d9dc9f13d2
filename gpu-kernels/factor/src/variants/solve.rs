//! A step of the triangular solve `X · Lᵀ = B` (seed: C. González, 2012, listing 8.16).

use gpu_std::float::Float;
use gpu_std::memory::{Global, GlobalMut};
use gpu_std::thread::{block_idx_x, sync_threads, thread_idx_x, thread_idx_y};
use gpu_std::{device, kernel, rolled};

/// Threads of a block along a row.
pub const SOLVE_COLUMNS: u32 = 32;
/// Rows of a block.
pub const SOLVE_ROWS: u32 = 8;

/// Column `k` is divided, and taken from the columns behind it. In the listing a thread scales an element that others
/// read; here all read it as it was, and one writes it behind the barrier.
#[device]
#[inline(always)]
fn step<T: Float>(l: Global<T>, x: GlobalMut<T>, rows: u32, columns: u32, k: u32) {
    let row = block_idx_x() * SOLVE_ROWS + thread_idx_y();
    let is_there = row < rows;
    let x = x.offset(row as u64 * columns as u64);
    let mut solved = T::ZERO;
    if is_there {
        solved = x.read(k) * (T::ONE / l.read(k * columns + k));
    }
    sync_threads();
    if is_there {
        if thread_idx_x() == 0 {
            x.write(k, solved);
        }
        let mut column = k + 1 + thread_idx_x();
        while column < columns {
            column = rolled(column);
            x.write(column, (-l.read(column * columns + k)).mul_add(solved, x.read(column)));
            column += SOLVE_COLUMNS;
        }
    }
}

macro_rules! kernels {
    ($($T:ty: $transpose:ident, $product:ident, $subtract:ident, $solve:ident;)*) => { $(
        #[doc = concat!("Step `k` of `columns` of `X · Lᵀ = B`, `rows` rows of `", stringify!($T), "`, X in the place of B.")]
        ///
        /// Launch blocks of [`SOLVE_COLUMNS`] × [`SOLVE_ROWS`] threads, enough of them for all rows.
        #[kernel(images = sm_75, launch_bounds(256))]
        pub fn $solve(l: Global<$T>, x: GlobalMut<$T>, rows: u32, columns: u32, k: u32) {
            step::<$T>(l, x, rows, columns, k);
        }
    )* };
}
crate::textbook_instances!(kernels);
