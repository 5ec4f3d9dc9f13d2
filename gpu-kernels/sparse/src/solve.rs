//! Triangular systems: `A · x = alpha · b`, A a lower or an upper triangle.
//!
//! # Order of operations
//! The entries of a row beside the diagonal are one chain of fused multiply-adds, from zero, from the far side towards
//! the diagonal; the solution is `(alpha · b - sum) · (1 / diagonal)`, each operation rounded once. (The inverse is at
//! hand before the last value that a row waits for, where a division would come after it.) With a unit diagonal it is
//! `alpha · b - sum`. That is a function of the matrix alone: all ways to solve give the same bits.
//!
//! * [`free`](crate::free): free of synchronisation, rows in their own order.
//! * [`chains`](crate::chains): the same, a warp 32 rows, solved in its registers.
//! * [`ordered`](crate::ordered): free of synchronisation, rows in the order of their levels.
//! * [`packed`](crate::packed): the same, rows of at most 128 entries, which are kept a second time in that order.
//! * [`levels`](fn@sparse_solve_levels_f32): level by level over rows ordered by them; a launch for a level of many
//!   rows, and one of a single block for a run of levels of few.

use gpu_std::memory::{Global, GlobalMut};
use gpu_std::parameter::Parameter;
use gpu_std::thread::{block_idx_y, grid_dim_x, index_1d, sync_threads};
use gpu_std::{device, keep_rolled, kernel};

use crate::THREADS;
use crate::levels::Rows;
use crate::order::CLASSES;
use crate::scalar::Scalar;
use crate::waiting::{Strides, System};

/// A run of levels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Parameter)]
#[repr(C)]
pub struct Run {
    /// The first.
    pub first: u32,
    /// How many.
    pub count: u32,
}

/// The rows of `run`'s levels: those of level `l` are `order[starts[7 l]..starts[7 (l + 1)]]`.
#[device]
#[inline(always)]
fn levels<T: Scalar>(
    offsets: Global<u32>,
    system: System<T>,
    order: Global<u32>,
    starts: Global<u32>,
    shape: &Rows,
    run: Run,
) {
    let system = system.of(block_idx_y());
    let solution = |row: u32| system.x.offset(row as u64 * system.strides.x_row);
    let mut level = run.first;
    while level < run.first + run.count {
        keep_rolled();
        let end = starts.read_only((level + 1) * CLASSES);
        let mut at = starts.read_only(level * CLASSES) + index_1d();
        while at < end {
            keep_rolled();
            let row = order.read_only(at);
            let number = shape.numbered(row);
            let rest = shape.beside(offsets, system.indices, row);
            let (right, inverse) = system.ends(row, &rest, shape);
            let (mut sum, mut entry) = (T::ZERO, 0);
            while entry < rest.left {
                keep_rolled();
                let place = rest.place(entry);
                let other = shape.numbered(shape.other(system.indices.read_only(place), number));
                sum = system.values.read_only(place).mul_add(T::from_word(solution(other).read(0)), sum);
                entry += 1;
            }
            solution(row).write(0, ((right - sum) * inverse).to_word());
            at += grid_dim_x() * THREADS;
        }
        // Of a run of several levels there is one block.
        sync_threads();
        level += 1;
    }
}

/// Makes all bits of the solutions ones, where those have gaps between them: a thread a row, in blocks of [`THREADS`],
/// a row of blocks a system.
#[kernel(images = sm_75, launch_bounds(256))]
pub fn sparse_unknown(x: GlobalMut<u32>, row: u64, column: u64, rows: u32, words: u32) {
    let number = index_1d();
    if number < rows {
        let at = number as u64 * row + block_idx_y() as u64 * column;
        let element = x.offset(at * words as u64);
        element.write(0, u32::MAX);
        if words > 1 {
            element.write(1, u32::MAX);
        }
    }
}

macro_rules! kernels {
    ($($T:ty, $Word:ty: $levels:ident;)*) => { $(
        #[doc = concat!("Systems of `", stringify!($T), "`, some levels: any number of blocks of [`THREADS`] for one level, one block for several; a row of blocks a system.")]
        #[kernel(images = sm_75, launch_bounds(256))]
        pub fn $levels(
            offsets: Global<u32>,
            indices: Global<u32>,
            values: Global<$T>,
            b: Global<$T>,
            x: GlobalMut<$Word>,
            order: Global<u32>,
            starts: Global<u32>,
            shape: Rows,
            strides: Strides,
            run: Run,
            alpha: $T,
        ) {
            levels::<$T>(offsets, System { indices, values, b, x, alpha, strides }, order, starts, &shape, run);
        }
    )* };
}

kernels! {
    f32, u32: sparse_solve_levels_f32;
    f64, u64: sparse_solve_levels_f64;
}
