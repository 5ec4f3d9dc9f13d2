//! Products of short sums, `k` of some 8: little but writing C.
//!
//! There is nothing to keep in shared memory: a thread reads what it multiplies straight from the caches, and has
//! [`ROWS`] rows of C by `N` columns in registers. Its columns lie [`lanes`] apart, so that what a warp reads of B and
//! writes to C are whole sectors, however rows are aligned. Where C has few columns, a warp takes several rows.

use gpu_std::float::Float;
use gpu_std::memory::{Global, GlobalMut};
use gpu_std::thread::{block_idx_x, thread_idx_x};
use gpu_std::{device, rolled, unroll};

use super::operand::{Operand, Product, columns};
use crate::scalar::combine;

/// Threads of a block.
pub const THREADS: u32 = 256;
/// Rows of C that a thread computes.
pub const ROWS: u32 = 8;
/// Products of a sum that are read before any is added, of elements of `bytes` bytes: as many as there are registers
/// for. They wait together.
pub const fn flight(bytes: usize) -> usize {
    if bytes == 4 { 4 } else { 3 }
}

/// Lanes along a row of C with `n` columns, of which each takes `each`: all of a warp, or so many that they do for the row.
pub const fn lanes(n: u32, each: u32) -> u32 {
    let wanted = n.div_ceil(each);
    // Mutants: of 32 either is 32.
    if wanted >= 32 { 32 } else { wanted.next_power_of_two() }
}

/// Rows and columns of C that a block computes, whose threads take `each` columns.
pub const fn tile(n: u32, each: u32) -> [u32; 2] {
    let lanes = lanes(n, each);
    [THREADS / lanes * ROWS, lanes * each]
}

/// Elements from one row to the next, and from one `k` to the next.
#[device]
#[inline(always)]
fn strides(operand: &Operand) -> (u64, u64) {
    if operand.along_k != 0 { (operand.leading, 1) } else { (1, operand.leading) }
}

/// Computes a [`tile`] of C, a batch's one behind the other. Launch as many blocks as there are, of [`THREADS`] threads.
#[device]
#[inline(always)]
pub(super) fn short<T: Float, const N: usize, const FLIGHT: usize>(
    a: Global<T>,
    b: Global<T>,
    c: GlobalMut<T>,
    product: &Product,
    (alpha, beta): (T, T),
) {
    let (m, n) = (product.m, product.n);
    let lanes = lanes(n, N as u32);
    let [rows, width] = tile(n, N as u32);
    let (down, across) = (m.div_ceil(rows), n.div_ceil(width));
    let number = block_idx_x() / (down * across);
    let place = block_idx_x() - number * (down * across);
    let (tile_row, tile_column) = (place / across * rows, place % across * width);
    if product.leaves_out((tile_row, tile_column), [rows, width]) {
        return;
    }
    // Neighbouring rows by neighbouring lanes, too.
    let apart = THREADS / lanes;
    let row = tile_row + thread_idx_x() / lanes;
    let column = tile_column + thread_idx_x() % lanes;
    let row_of = |i: usize| row + i as u32 * apart;
    let column_of = |j: usize| column + j as u32 * lanes;

    let ((a_row, a_k), (b_column, b_k)) = (strides(&product.a), strides(&product.b));
    let mut a = a.offset(number as u64 * product.a.batch + row as u64 * a_row);
    let mut b = b.offset(number as u64 * product.b.batch + column as u64 * b_column);
    let (a_apart, b_apart) = (apart as u64 * a_row, lanes as u64 * b_column);
    let mut sums = [[T::ZERO; N]; ROWS as usize];
    let mut left = product.k;
    while left > 0 {
        left = rolled(left);
        let mut of_a = [[T::ZERO; ROWS as usize]; FLIGHT];
        let mut of_b = [[T::ZERO; N]; FLIGHT];
        unroll::<FLIGHT>(|k| {
            let exists = (k as u32) < left;
            unroll::<{ ROWS as usize }>(|i| {
                if exists && row_of(i) < m {
                    of_a[k][i] = a.offset(i as u64 * a_apart).read_only(0);
                }
            });
            unroll::<N>(|j| {
                if exists && column_of(j) < n {
                    of_b[k][j] = b.offset(j as u64 * b_apart).read_only(0);
                }
            });
            (a, b) = (a.offset(a_k), b.offset(b_k));
        });
        // What is not there adds `0 · 0`, which no chain shows: see the order of operations.
        unroll::<FLIGHT>(|k| {
            unroll::<{ ROWS as usize }>(|i| {
                unroll::<N>(|j| sums[i][j] = of_a[k][i].mul_add(of_b[k][j], sums[i][j]));
            });
        });
        left = left.saturating_sub(FLIGHT as u32);
    }

    let c = c.offset(number as u64 * product.c_batch + row as u64 * product.c_leading + column as u64);
    unroll::<{ ROWS as usize }>(|i| {
        if row_of(i) < m {
            let c = c.offset(i as u64 * apart as u64 * product.c_leading);
            let (first, end) = columns(product.triangle, row_of(i), n);
            unroll::<N>(|j| {
                if (first..end).contains(&column_of(j)) {
                    let at = j as u32 * lanes;
                    c.write(at, combine(alpha, sums[i][j], beta, || c.read(at)));
                }
            });
        }
    });
}
