//! Sums that go into a matrix: `C = alpha · S + beta · C`.
//!
//! # Order of operations
//! That of products: `fma(alpha, s + 0, beta · c)`, or `alpha · (s + 0)` where `beta` is zero; `c` is not read then.

use gpu_std::device;
use gpu_std::float::Float;
use gpu_std::memory::{Global, GlobalMut};
use gpu_std::parameter::Parameter;
use gpu_std::thread::{block_idx_x, thread_idx_x};

use super::invert::THREADS;
use super::spread::TILE;

const LINES: u32 = THREADS / TILE;

/// What is written, but for addresses: row-major squares or rectangles at a constant distance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Parameter)]
#[repr(C)]
pub struct Merge {
    /// Elements of the sums from one row to the next.
    pub sums_leading: u64,
    /// Elements from the sums of one matrix to those of the next.
    pub sums_batch: u64,
    /// Elements of C from one row to the next.
    pub leading: u64,
    /// Elements from one C to the next.
    pub batch: u64,
    /// Rows of C.
    pub rows: u32,
    /// Columns of C.
    pub columns: u32,
    /// Matrices.
    pub count: u32,
}

impl Merge {
    /// Blocks of a launch.
    pub const fn grid(&self) -> u128 {
        self.rows.div_ceil(TILE) as u128 * self.columns.div_ceil(TILE) as u128 * self.count as u128
    }
}

/// Writes a tile of a matrix.
#[device]
#[inline(always)]
pub(super) fn merge<T: Float>(sums: Global<T>, c: GlobalMut<T>, shape: &Merge, alpha: T, beta: T) {
    let (down, across) = (shape.rows.div_ceil(TILE), shape.columns.div_ceil(TILE));
    let rest = block_idx_x() / across;
    let column = block_idx_x() % across * TILE + thread_idx_x() % TILE;
    let (number, first) = (rest / down, rest % down * TILE);
    let sums = sums.offset(number as u64 * shape.sums_batch);
    let c = c.offset(number as u64 * shape.batch);
    let mut line = thread_idx_x() / TILE;
    while line < TILE {
        let row = first + line;
        if row < shape.rows && column < shape.columns {
            let sum = sums.offset(row as u64 * shape.sums_leading).read(column) + T::ZERO;
            let c = c.offset(row as u64 * shape.leading);
            let value = if beta == T::ZERO { alpha * sum } else { alpha.mul_add(sum, beta * c.read(column)) };
            c.write(column, value);
        }
        line += LINES;
    }
}
