//! Cholesky factorisations, and the steps of large ones, in tiles that fit the registers.
//!
//! Rows lie side by side in strips, as many as a tile of [`gemm`](super::gemm) is wide, column after column. A block of
//! columns of a strip is a tile: what is before it is taken off as in a product, then it is solved for. So an element's
//! sum is still one chain of fused multiply-subtracts over ascending columns: the bits are those of
//! [`reference::factor`](crate::reference::factor).

use core::ops::Range;

use gpu_factor_kernels::Root;
use rayon::prelude::*;

use super::gemm::add_products;
use super::launch::{Tiles, by_tiles};
use crate::api::Triangle;
use crate::matrix::{BatchLayout, Layout};
use crate::plan::factor::strides;
use crate::reference::factor::pivot;

/// Rows of a step that are one task.
const TASK: usize = 64;
/// Multiply-adds of a batch that are not worth a second thread: to wake it takes some 15 µs.
const SERIAL: usize = 60_000;

/// Matrices that are read, and how they lie.
type From<'a, T> = Option<(&'a [T], BatchLayout)>;

/// [`crate::potrf_to`] of slices, of matrices of which each is factored whole, as
/// [`reference::potrf`](crate::reference::potrf); `None`: in place. Gives the orders of minors.
///
/// # Panics
/// Where a slice is shorter than its batch.
pub(crate) fn potrf<T: Root>(
    triangle: Triangle,
    from: From<'_, T>,
    (to, layout): (&mut [T], BatchLayout),
    info: &mut [u32],
) {
    if layout.is_empty() {
        return info.fill(0);
    }
    let each = layout.stride.max(layout.matrix.span());
    let n = layout.matrix.rows();
    let one = |buffers: &mut Buffers<T>, number: usize, to: &mut [T]| {
        let from = from.map(|(from, layout)| (&from[number * layout.stride..], layout.matrix));
        by_tiles::<T, _>(Whole { triangle, from, to: (to, layout.matrix), buffers })
    };
    if layout.count * n * n * n / 6 < SERIAL {
        let mut buffers = Buffers::default();
        for (number, (to, info)) in to.chunks_mut(each).zip(info).enumerate() {
            *info = one(&mut buffers, number, to);
        }
    } else {
        to.par_chunks_mut(each).zip(info).enumerate().for_each_init(Buffers::default, |buffers, matrix| {
            let (number, (to, info)) = matrix;
            *info = one(buffers, number, to);
        });
    }
}

/// A step of a large matrix: to the columns from `first` on, of the rows from there on, `added` is added, column after
/// column of so many elements; then the block on the diagonal is factored, and the rows below are solved for. The order
/// of the first minor that is not positive definite, or zero.
pub(crate) fn step<T: Root>(
    triangle: Triangle,
    (a, layout): (&mut [T], Layout),
    (first, width): (usize, usize),
    (added, leading): (&[T], usize),
) -> u32 {
    let n = layout.rows();
    let mut buffers = Buffers::default();
    let (row, column) = strides(triangle, layout);
    let added = Added { sums: added, leading };
    let square =
        Square { a: &mut a[first * (row + column)..], row, column, width, added, buffers: &mut buffers };
    let order = by_tiles::<T, _>(square);
    // Lines of the rows below, in parts for each task.
    let mut tasks: Vec<Vec<&mut [T]>> = (first + width..n).step_by(TASK).map(|_| Vec::new()).collect();
    let by_columns = row == 1;
    if by_columns {
        for line in a[first * column..].chunks_mut(column).take(width) {
            for (task, part) in tasks.iter_mut().zip(line[first + width..n].chunks_mut(TASK)) {
                task.push(part);
            }
        }
    } else {
        let lines = a.get_mut((first + width) * row..).unwrap_or(&mut []).chunks_mut(row);
        for (at, line) in lines.enumerate() {
            tasks[at / TASK].push(&mut line[first..first + width]);
        }
    }
    let Buffers { packed, roots, .. } = &buffers;
    tasks.into_par_iter().enumerate().for_each_init(Vec::new, |strip, (number, mut lines)| {
        let rows = width + number * TASK..(width + (number + 1) * TASK).min(n - first);
        by_tiles::<T, _>(Below { lines: &mut lines, by_columns, rows, width, added, packed, roots, strip });
    });
    if order == 0 { 0 } else { first as u32 + order }
}

/// What is added to a step's columns, if the distance from one to the next is not zero.
#[derive(Clone, Copy)]
struct Added<'a, T> {
    sums: &'a [T],
    leading: usize,
}

impl<T: Root> Added<'_, T> {
    /// An element of A with what is added to it.
    #[inline(always)]
    fn to(&self, a: T, row: usize, column: usize) -> T {
        if self.leading == 0 { a } else { a + self.sums[row + column * self.leading] }
    }
}

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

/// A matrix that is factored whole.
struct Whole<'a, T> {
    triangle: Triangle,
    from: Option<(&'a [T], Layout)>,
    to: (&'a mut [T], Layout),
    buffers: &'a mut Buffers<T>,
}

impl<T: Root> Tiles for Whole<'_, T> {
    type Output = u32;

    #[inline(always)]
    fn run<const M: usize, const N: usize>(self) -> u32 {
        let Self { triangle, from, to: (to, layout), buffers } = self;
        let n = layout.rows();
        buffers.clear::<M, N>(n);
        let (from, of) = from.unwrap_or((&*to, layout));
        load::<T, M, N>(&mut buffers.strips, n, strides(triangle, of), |at, _, _| from[at]);
        let order = buffers.factor::<M, N>(n);
        store::<T, M, N>(&buffers.strips, n, strides(triangle, layout), to);
        order
    }
}

/// The block on the diagonal of a step.
struct Square<'a, T> {
    /// From the block on.
    a: &'a mut [T],
    row: usize,
    column: usize,
    width: usize,
    added: Added<'a, T>,
    buffers: &'a mut Buffers<T>,
}

impl<T: Root> Tiles for Square<'_, T> {
    type Output = u32;

    #[inline(always)]
    fn run<const M: usize, const N: usize>(self) -> u32 {
        let Self { a, row, column, width, added, buffers } = self;
        buffers.clear::<M, N>(width);
        let of = |at: usize, i, j| added.to(a[at], i, j);
        load::<T, M, N>(&mut buffers.strips, width, (row, column), of);
        let order = buffers.factor::<M, N>(width);
        store::<T, M, N>(&buffers.strips, width, (row, column), a);
        order
    }
}

/// Fills strips with the lower triangle of `n` rows and columns, of which `of` has place, row and column.
#[inline(always)]
fn load<T: Root, const M: usize, const N: usize>(
    strips: &mut [T],
    n: usize,
    (row, column): (usize, usize),
    of: impl Fn(usize, usize, usize) -> T,
) {
    for (number, strip) in strips.chunks_exact_mut(n.next_multiple_of(M) * N).enumerate() {
        let last = ((number + 1) * N).min(n);
        for (j, lanes) in strip.as_chunks_mut::<N>().0.iter_mut().enumerate().take(last) {
            for i in j.max(number * N)..last {
                lanes[i - number * N] = of(i * row + j * column, i, j);
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

/// Rows below the block on the diagonal of a step.
struct Below<'t, 'a, T> {
    /// The rows' part of each column, or the columns' part of each row.
    lines: &'t mut [&'a mut [T]],
    by_columns: bool,
    /// Counted from the block's first.
    rows: Range<usize>,
    width: usize,
    added: Added<'t, T>,
    packed: &'t [T],
    roots: &'t [T],
    strip: &'t mut Vec<T>,
}

impl<T: Root> Tiles for Below<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const M: usize, const N: usize>(self) {
        let Self { lines, by_columns, rows, width, added, packed, roots, strip } = self;
        strip.clear();
        strip.resize(width.next_multiple_of(M) * N, T::ZERO);
        for first in rows.clone().step_by(N) {
            let lanes = first - rows.start..(first + N).min(rows.end) - rows.start;
            let (columns, _) = strip.as_chunks_mut::<N>();
            if by_columns {
                for (j, (line, column)) in lines.iter().zip(columns).enumerate() {
                    for (lane, &a) in line[lanes.clone()].iter().enumerate() {
                        column[lane] = added.to(a, first + lane, j);
                    }
                }
            } else {
                for (lane, line) in lines[lanes.clone()].iter().enumerate() {
                    for (j, &a) in line.iter().enumerate() {
                        columns[j][lane] = added.to(a, first + lane, j);
                    }
                }
            }
            let mut rest = packed;
            for block in (0..width).step_by(M) {
                let (of_block, after) = rest.split_at((block + M) * M);
                subtract::<T, M, N>(strip, block, of_block);
                solve::<T, M, N>(strip, block, of_block, roots);
                rest = after;
            }
            let (columns, _) = strip.as_chunks::<N>();
            if by_columns {
                for (line, column) in lines.iter_mut().zip(columns) {
                    let line = &mut line[lanes.clone()];
                    line.copy_from_slice(&column[..line.len()]);
                }
            } else {
                for (lane, line) in lines[lanes.clone()].iter_mut().enumerate() {
                    line.iter_mut().zip(columns).for_each(|(a, column)| *a = column[lane]);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Order;
    use crate::reference;

    /// A positive definite matrix in memory, with something else in the other triangle and in the gaps.
    fn matrix<T: Root>(of: fn(f64) -> T, n: usize, order: Order, gap: usize) -> (Vec<T>, Layout) {
        let layout = match order {
            Order::RowMajor => Layout::row_major(n, n),
            Order::ColumnMajor => Layout::column_major(n, n),
        };
        let layout = layout.and_then(|layout| layout.with_leading_dimension(n.max(1) + gap));
        let layout = layout.expect("it is small");
        let hash = |at: usize| (at as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        let mut a: Vec<T> = (0..layout.span()).map(|at| of(hash(at) as f64 / 16_777_216.0 - 0.5)).collect();
        (0..n).for_each(|i| a[layout.index(i, i)] = of(1.0 + n as f64 / 2.0 + hash(i) as f64 / 1e8));
        (a, layout)
    }

    fn bits<T: Root + Into<f64>>(values: &[T]) -> Vec<u64> {
        let one = |value: &T| Into::<f64>::into(*value);
        values.iter().map(|value| if one(value).is_nan() { u64::MAX } else { one(value).to_bits() }).collect()
    }

    const SHAPES: [(Order, Triangle); 4] = [
        (Order::RowMajor, Triangle::Lower),
        (Order::ColumnMajor, Triangle::Lower),
        (Order::RowMajor, Triangle::Upper),
        (Order::ColumnMajor, Triangle::Upper),
    ];

    /// With the tiles of every set of instructions.
    fn check_whole<T: Root + Into<f64>>(of: fn(f64) -> T) {
        for n in [1, 2, 5, 6, 7, 11, 12, 13, 16, 17, 24, 31, 33, 64, 65, 128, 200] {
            for (order, triangle) in SHAPES {
                let (mut a, layout) = matrix(of, n, order, n % 3);
                for bad in [None, Some((n / 2, -1.0)), Some((n - 1, f64::NAN))] {
                    if let Some((at, value)) = bad {
                        a[layout.index(at, at)] = of(value);
                    }
                    let (mut expected, mut info) = (a.clone(), [7]);
                    reference::potrf(triangle, None, (&mut expected, layout.into()), &mut info);
                    let run = |way: fn(Whole<'_, T>) -> u32| {
                        let mut l = a.clone();
                        let buffers = &mut Buffers::default();
                        let order = way(Whole { triangle, from: None, to: (&mut l, layout), buffers });
                        (bits(&l), order)
                    };
                    let expected = (bits(&expected), info[0]);
                    assert!(
                        run(|work| work.run::<6, 4>()) == expected,
                        "{n}, {order:?}, {triangle:?}, {bad:?}"
                    );
                    assert!(
                        run(|work| work.run::<6, 8>()) == expected,
                        "{n}, {order:?}, {triangle:?}, {bad:?}"
                    );
                    assert!(
                        run(|work| work.run::<6, 16>()) == expected,
                        "{n}, {order:?}, {triangle:?}, {bad:?}"
                    );
                    assert!(
                        run(|work| work.run::<12, 16>()) == expected,
                        "{n}, {order:?}, {triangle:?}, {bad:?}"
                    );
                    assert!(
                        run(|work| work.run::<12, 32>()) == expected,
                        "{n}, {order:?}, {triangle:?}, {bad:?}"
                    );
                    assert!(
                        run(|work| by_tiles::<T, _>(work)) == expected,
                        "{n}, {order:?}, {triangle:?}, {bad:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn whole_matrices_have_the_bits_of_the_reference() {
        check_whole::<f32>(|value| value as f32);
        check_whole::<f64>(|value| value);
    }

    fn check_batch<T: Root + Into<f64>>(of: fn(f64) -> T) {
        for (n, count) in [(3, 1), (3, 50), (40, 9), (70, 3)] {
            for (order, triangle) in SHAPES {
                let (one, layout) = matrix(of, n, order, 1);
                let stride = layout.span() + 2;
                let batch = BatchLayout::new(layout, count, stride).expect("it is small");
                let mut a = vec![of(9.0); stride * count];
                a.chunks_mut(stride).for_each(|a| a[..one.len()].copy_from_slice(&one));
                a[(count - 1) * stride + layout.index(1, 1)] = of(-5.0);
                let (mut expected, mut actual) = (vec![of(3.0); a.len()], vec![of(3.0); a.len()]);
                let (mut orders, mut info) = (vec![0; count], vec![9; count]);
                reference::potrf(triangle, Some((&a, batch)), (&mut expected, batch), &mut orders);
                potrf(triangle, Some((&a, batch)), (&mut actual, batch), &mut info);
                assert_eq!((bits(&actual), &info), (bits(&expected), &orders), "{n} x {count}");
                let mut actual = a.clone();
                potrf(triangle, None, (&mut actual, batch), &mut info);
                reference::potrf(triangle, None, (&mut a, batch), &mut orders);
                assert_eq!((bits(&actual), &info), (bits(&a), &orders), "{n} x {count}, in place");
            }
        }
    }

    #[test]
    fn batches_have_the_bits_of_the_reference() {
        check_batch::<f32>(|value| value as f32);
        check_batch::<f64>(|value| value);
    }

    fn check_step<T: Root + Into<f64>>(of: fn(f64) -> T) {
        for (n, first, width) in [(5, 0, 5), (130, 0, 128), (130, 128, 2), (391, 128, 128), (321, 0, 128)] {
            for (order, triangle) in SHAPES {
                let (a, layout) = matrix(of, n, order, 3);
                let leading = if first == 0 { 0 } else { n - first + 1 };
                let added: Vec<T> = (0..width * leading).map(|at| of(1.0 / (at + 1) as f64)).collect();
                let (mut expected, mut actual) = (a.clone(), a);
                let wanted = reference::factor::step(
                    triangle,
                    (&mut expected, layout),
                    (first, width),
                    (&added, leading),
                );
                let order = step(triangle, (&mut actual, layout), (first, width), (&added, leading));
                assert_eq!(order, wanted);
                assert!(bits(&actual) == bits(&expected), "{n}, {first}, {layout:?}, {triangle:?}");
            }
        }
    }

    #[test]
    fn steps_have_the_bits_of_the_reference() {
        check_step::<f32>(|value| value as f32);
        check_step::<f64>(|value| value);
    }
}
