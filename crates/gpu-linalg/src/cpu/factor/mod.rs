//! Cholesky factorisations in tiles that fit the registers.
//!
//! Rows lie side by side in strips, as many as a tile of [`gemm`](super::gemm) is wide, column after column. A block of
//! columns of a strip is a tile: what is before it is taken off as in a product, then it is solved for. So an element's
//! sum is still one chain of fused multiply-subtracts over ascending columns: the bits are those of
//! [`reference::factor`](crate::reference::factor).

mod large;
mod whole;

use gpu_factor_kernels::Root;

use super::launch::add_products;
use crate::reference::factor::pivot;

pub(crate) use large::large;
pub(crate) use whole::potrf;

/// Memory that a matrix leaves to the next.
#[derive(Default)]
struct Buffers<T> {
    strips: Vec<T>,
    /// Of each block of columns its rows of the factor, negated: what is before it, and the block on the diagonal,
    /// column after column.
    packed: Vec<T>,
    /// What columns are multiplied by.
    roots: Vec<T>,
}

impl<T: Root> Buffers<T> {
    /// Strips of `N` of `n` rows and columns, all zeros.
    #[inline(always)]
    fn clear<const M: usize, const N: usize>(&mut self, n: usize) {
        let columns = n.next_multiple_of(M);
        self.packed.clear();
        self.strips.clear();
        self.strips.resize(columns * n.next_multiple_of(N), T::ZERO);
        self.roots.clear();
        self.roots.resize(columns, T::ZERO);
    }

    /// Factors what is in the strips, of `n` rows and columns; the order of the first minor that is not positive
    /// definite, or zero.
    #[inline(always)]
    fn factor<const M: usize, const N: usize>(&mut self, n: usize) -> u32 {
        let Self { strips, packed, roots } = self;
        let len = n.next_multiple_of(M) * N;
        let mut failed = 0;
        for first in (0..n).step_by(M) {
            let width = M.min(n - first);
            let place = |row: usize, column: usize| (first + row) / N * len + column * N + (first + row) % N;
            let start = packed.len();
            packed.resize(start + (first + M) * M, T::ZERO);
            for row in 0..width {
                for k in 0..first {
                    packed[start + k * M + row] = -strips[place(row, k)];
                }
            }
            let block = &mut packed[start..];
            for strip in strips.chunks_exact_mut(len).skip(first / N) {
                subtract::<T, M, N>(strip, first, block);
            }
            // ---- the block on the diagonal
            let mut square = [[T::ZERO; M]; M];
            for row in 0..width {
                (0..=row).for_each(|column| square[row][column] = strips[place(row, first + column)]);
            }
            for j in 0..width {
                let nan = (-T::ONE).sqrt();
                let (root, reciprocal) = pivot(square[j][j]).unwrap_or_else(|| {
                    failed = if failed == 0 { (first + j) as u32 + 1 } else { failed };
                    (nan, nan)
                });
                roots[first + j] = reciprocal;
                square[j][j] = root;
                for i in j + 1..width {
                    square[i][j] = square[i][j] * reciprocal;
                    let factor = -square[i][j];
                    block[(first + j) * M + i] = factor;
                    (j + 1..=i).for_each(|column| {
                        square[i][column] = factor.mul_add(square[column][j], square[i][column]);
                    });
                }
            }
            for strip in strips.chunks_exact_mut(len).skip(first / N) {
                solve::<T, M, N>(strip, first, block, roots);
            }
            for row in 0..width {
                (0..=row).for_each(|column| strips[place(row, first + column)] = square[row][column]);
            }
        }
        failed
    }
}

/// Takes off a strip's block of columns what is before it.
#[inline(always)]
fn subtract<T: Root, const M: usize, const N: usize>(strip: &mut [T], first: usize, block: &[T]) {
    let (known, rest) = strip.split_at_mut(first * N);
    add_products(&block[..first * M], known, tile::<T, M, N>(rest));
}

/// Solves for a strip's block of columns, of which only the block on the diagonal is left to take off.
#[inline(always)]
fn solve<T: Root, const M: usize, const N: usize>(strip: &mut [T], first: usize, block: &[T], roots: &[T]) {
    let tile = tile::<T, M, N>(&mut strip[first * N..]);
    let mut columns = *tile;
    let (factors, _) = block[first * M..].as_chunks::<M>();
    for j in 0..M {
        let root = roots[first + j];
        columns[j] = columns[j].map(|a| a * root);
        let known = columns[j];
        for column in j + 1..M {
            let factor = factors[j][column];
            for (a, &known) in columns[column].iter_mut().zip(&known) {
                *a = factor.mul_add(known, *a);
            }
        }
    }
    *tile = columns;
}

/// The first `M` columns of what is left of a strip.
#[inline(always)]
fn tile<T, const M: usize, const N: usize>(rest: &mut [T]) -> &mut [[T; N]; M] {
    &mut rest.as_chunks_mut::<N>().0.as_chunks_mut::<M>().0[0]
}

/// Fills strips with the lower triangle of `n` rows and columns, of which `of` has those at a place.
#[inline(always)]
fn load<T: Root, const M: usize, const N: usize>(
    strips: &mut [T],
    n: usize,
    (row, column): (usize, usize),
    of: impl Fn(usize) -> T,
) {
    for (number, strip) in strips.chunks_exact_mut(n.next_multiple_of(M) * N).enumerate() {
        let last = ((number + 1) * N).min(n);
        for (j, lanes) in strip.as_chunks_mut::<N>().0.iter_mut().enumerate().take(last) {
            for i in j.max(number * N)..last {
                lanes[i - number * N] = of(i * row + j * column);
            }
        }
    }
}

/// Writes the lower triangle of `n` rows and columns.
#[inline(always)]
fn store<T: Root, const M: usize, const N: usize>(
    strips: &[T],
    n: usize,
    (row, column): (usize, usize),
    to: &mut [T],
) {
    for (number, strip) in strips.chunks_exact(n.next_multiple_of(M) * N).enumerate() {
        let last = ((number + 1) * N).min(n);
        for (j, lanes) in strip.as_chunks::<N>().0.iter().enumerate().take(last) {
            for i in j.max(number * N)..last {
                to[i * row + j * column] = lanes[i - number * N];
            }
        }
    }
}

#[cfg(test)]
mod values {
    use super::*;
    use crate::api::Triangle;
    use crate::matrix::{Layout, Order};

    /// A positive definite matrix in memory, with something else in the other triangle and in the gaps.
    pub fn matrix<T: Root>(of: fn(f64) -> T, n: usize, order: Order, gap: usize) -> (Vec<T>, Layout) {
        let layout = Layout::new(order, n, n);
        let layout = layout.and_then(|layout| layout.with_leading_dimension(n.max(1) + gap));
        let layout = layout.expect("it is small");
        let hash = |at: usize| (at as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        let mut a: Vec<T> = (0..layout.span()).map(|at| of(hash(at) as f64 / 16_777_216.0 - 0.5)).collect();
        (0..n).for_each(|i| a[layout.index(i, i)] = of(1.0 + n as f64 / 2.0 + hash(i) as f64 / 1e8));
        (a, layout)
    }

    pub fn bits<T: Root + Into<f64>>(values: &[T]) -> Vec<u64> {
        let one = |value: &T| Into::<f64>::into(*value);
        values.iter().map(|value| if one(value).is_nan() { u64::MAX } else { one(value).to_bits() }).collect()
    }

    pub const SHAPES: [(Order, Triangle); 4] = [
        (Order::RowMajor, Triangle::Lower),
        (Order::ColumnMajor, Triangle::Lower),
        (Order::RowMajor, Triangle::Upper),
        (Order::ColumnMajor, Triangle::Upper),
    ];
}
