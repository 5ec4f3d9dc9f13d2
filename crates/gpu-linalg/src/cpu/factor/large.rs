//! Large matrices, left-looking in steps of columns.
//!
//! A task is a panel of the rows below a step's block on the diagonal: the sums of its products with the block's rows,
//! over all columns before, then its solution. What is known of a panel stays in strips, so that no product packs
//! anything: a strip is either factor. While one thread makes the next block, the others go on with this one's panels.

use gpu_factor_kernels::Root;
use rayon::prelude::*;

use super::{Buffers, load, solve, store, subtract};
use crate::api::Triangle;
use crate::cpu::launch::{Tiles, by_tiles};
use crate::matrix::Layout;
use crate::plan::factor::{STEP, strides};
use crate::reference::finish;

/// Rows of a panel: whole strips of any width, and a step has whole panels.
const PANEL: usize = 64;
/// A panel's elements in a step.
const TILE: usize = PANEL * STEP;

/// Factors a matrix in place, with the bits of [`crate::potrf`]'s steps. The order of the first minor that is not
/// positive definite, or zero.
///
/// # Panics
/// Where the slice is shorter than the matrix.
pub(crate) fn large<T: Root>(triangle: Triangle, (a, layout): (&mut [T], Layout)) -> u32 {
    let n = layout.rows();
    let strides = strides(triangle, layout);
    // All at once: the allocator keeps one large piece for the next call, of many small ones pages are new every time.
    let mut memory = vec![T::ZERO; tiles(n) * TILE];
    // In one of the pool's threads: else each step would wake them anew.
    rayon::scope(|_| steps(n, a, strides, memory.chunks_exact_mut(TILE).collect()))
}

/// The most tiles that are known at a time: those of the rows below a block, and of the block before.
fn tiles(n: usize) -> usize {
    let known = |step: usize| (n - step * STEP).div_ceil(PANEL) * step + (step - 1) * (STEP / PANEL);
    (1..n.div_ceil(STEP)).map(known).max().unwrap_or(0)
}

/// Step after step; `free` has memory for as many tiles as are known at a time.
fn steps<'m, T: Root>(
    n: usize,
    a: &mut [T],
    (row, column): (usize, usize),
    mut free: Vec<&'m mut [T]>,
) -> u32 {
    let strides = (row, column);
    let rows = (STEP..n).step_by(PANEL).map(|first| PANEL.min(n - first));
    let mut below: Vec<Panel<'m, T>> = rows.map(|rows| Panel { rows, known: Vec::new() }).collect();
    let mut square = Square::new(a, strides, 0, STEP.min(n));
    square.factor();
    let mut order = 0;
    loop {
        square.store(a, strides);
        order = if order == 0 { square.order() } else { order };
        let end = square.first + square.width;
        if end >= n {
            return order;
        }
        for panel in &mut below {
            panel.known.push(free.pop().expect("as many as are known at a time"));
        }
        let mut next = Square::new(a, strides, end, STEP.min(n - end));
        next.rows = below.drain(..next.width.div_ceil(PANEL)).collect();
        let mut lines = panels_of(&mut a[end * row + square.first * column..], strides, n - end);
        let (beside_next, beside_rest) = lines.split_at_mut(next.rows.len());
        let solve = |(panel, lines): (&mut Panel<'m, T>, &mut Vec<&mut [T]>)| {
            by_tiles::<T, _>(Solve { panel, lines, by_columns: row == 1, square: &square })
        };
        // An idle thread takes what is behind, so that the next block is ready in time.
        rayon::join(
            || below.par_iter_mut().zip(beside_rest).for_each(solve),
            || {
                next.rows.par_iter_mut().zip(beside_next).for_each(solve);
                next.subtract();
                next.factor();
            },
        );
        free.extend(square.rows.into_iter().flat_map(|panel| panel.known));
        square = next;
    }
}

/// The part that each panel has of each of a step's columns, or of each of its rows, where rows are contiguous.
fn panels_of<T>(a: &mut [T], (row, column): (usize, usize), rows: usize) -> Vec<Vec<&mut [T]>> {
    let mut panels: Vec<Vec<&mut [T]>> = (0..rows).step_by(PANEL).map(|_| Vec::with_capacity(STEP)).collect();
    if row == 1 {
        for line in a.chunks_mut(column).take(STEP) {
            for (panel, part) in panels.iter_mut().zip(line[..rows].chunks_mut(PANEL)) {
                panel.push(part);
            }
        }
    } else {
        for (at, line) in a.chunks_mut(row).take(rows).enumerate() {
            panels[at / PANEL].push(&mut line[..STEP]);
        }
    }
    panels
}

/// Rows of the factor, as far as they are known: a tile for each step, in strips, column after column.
struct Panel<'m, T> {
    rows: usize,
    known: Vec<&'m mut [T]>,
}

/// A block on the diagonal, and its rows of the factor.
struct Square<'m, T> {
    first: usize,
    width: usize,
    rows: Vec<Panel<'m, T>>,
    buffers: Buffers<T>,
    /// That of the first minor of the block that is not positive definite, or zero.
    failed: u32,
}

impl<T: Root> Square<'_, T> {
    /// That of the columns from `first` on, as it is in the matrix.
    fn new(a: &[T], (row, column): (usize, usize), first: usize, width: usize) -> Self {
        let mut square = Self { first, width, rows: Vec::new(), buffers: Buffers::default(), failed: 0 };
        let a = &a[first * (row + column)..];
        by_tiles::<T, _>(Load { a, strides: (row, column), width, buffers: &mut square.buffers });
        square
    }

    /// Takes the products of its rows off.
    fn subtract(&mut self) {
        let Self { width, rows, buffers, .. } = self;
        let (m, n) = by_tiles::<T, _>(Sizes);
        let strips = buffers.strips.par_chunks_mut(width.next_multiple_of(m) * n).enumerate();
        strips.for_each_init(Vec::new, |sums, (number, strip)| {
            by_tiles::<T, _>(Products { rows, number, strip, sums });
        });
    }

    fn factor(&mut self) {
        self.failed = by_tiles::<T, _>(Factor { width: self.width, buffers: &mut self.buffers });
    }

    fn store(&self, a: &mut [T], (row, column): (usize, usize)) {
        let a = &mut a[self.first * (row + column)..];
        by_tiles::<T, _>(Store {
            a,
            strides: (row, column),
            width: self.width,
            strips: &self.buffers.strips,
        });
    }

    /// The order of the matrix's minor that is not positive definite, or zero.
    fn order(&self) -> u32 {
        if self.failed == 0 { 0 } else { self.first as u32 + self.failed }
    }
}

/// What is known in one step of row `row` of a block, and of the rows that share its strip.
#[inline(always)]
fn strip_of<'a, T: Root, const N: usize>(rows: &'a [Panel<'_, T>], step: usize, row: usize) -> &'a [T] {
    &rows[row / PANEL].known[step][row % PANEL / N * N * STEP..][..N * STEP]
}

/// Adds to tiles, of which each is `M` columns of a strip, the products of what is known of the strip in one step and
/// of the rows that are the tiles' columns.
#[inline(always)]
fn add_step<T: Root, const M: usize, const N: usize>(
    (rows, step): (&[Panel<'_, T>], usize),
    known: &[T],
    tiles: &mut [[[T; N]; M]],
) {
    for (number, sums) in tiles.iter_mut().enumerate() {
        let column = number * M;
        let factors = strip_of::<T, N>(rows, step, column);
        let part = column % N / M;
        // In registers meanwhile.
        let mut tile = *sums;
        for (factors, known) in factors.as_chunks::<N>().0.iter().zip(known.as_chunks::<N>().0) {
            let factors = &factors.as_chunks::<M>().0[part];
            for i in 0..M {
                for j in 0..N {
                    tile[i][j] = factors[i].mul_add(known[j], tile[i][j]);
                }
            }
        }
        *sums = tile;
    }
}

/// An element with its sum of products taken off.
#[inline(always)]
fn less<T: Root>(a: T, sum: T) -> T {
    a + finish(-T::ONE, sum, T::ZERO, || a)
}

/// Rows and columns of tiles.
struct Sizes;

impl Tiles for Sizes {
    type Output = (usize, usize);

    #[inline(always)]
    fn run<const M: usize, const N: usize>(self) -> (usize, usize) {
        const { assert!(N.is_multiple_of(M) && PANEL.is_multiple_of(N) && STEP.is_multiple_of(PANEL)) }
        (M, N)
    }
}

/// Fills a block's strips from the matrix.
struct Load<'a, T> {
    a: &'a [T],
    strides: (usize, usize),
    width: usize,
    buffers: &'a mut Buffers<T>,
}

impl<T: Root> Tiles for Load<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const M: usize, const N: usize>(self) {
        self.buffers.clear::<M, N>(self.width);
        load::<T, M, N>(&mut self.buffers.strips, self.width, self.strides, |at| self.a[at]);
    }
}

/// Writes a factored block to the matrix.
struct Store<'a, T> {
    a: &'a mut [T],
    strides: (usize, usize),
    width: usize,
    strips: &'a [T],
}

impl<T: Root> Tiles for Store<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const M: usize, const N: usize>(self) {
        store::<T, M, N>(self.strips, self.width, self.strides, self.a);
    }
}

/// Factors a block in its strips.
struct Factor<'a, T> {
    width: usize,
    buffers: &'a mut Buffers<T>,
}

impl<T: Root> Tiles for Factor<'_, T> {
    type Output = u32;

    #[inline(always)]
    fn run<const M: usize, const N: usize>(self) -> u32 {
        self.buffers.factor::<M, N>(self.width)
    }
}

/// Takes the products of its rows off a strip of a block, as far as the diagonal.
struct Products<'a, 'm, T> {
    rows: &'a [Panel<'m, T>],
    number: usize,
    strip: &'a mut [T],
    sums: &'a mut Vec<T>,
}

impl<T: Root> Tiles for Products<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const M: usize, const N: usize>(self) {
        let Self { rows, number, strip, sums } = self;
        let len = strip.len().min((number + 1) * N * N);
        sums.clear();
        sums.resize(len, T::ZERO);
        for step in 0..rows[0].known.len() {
            let known = strip_of::<T, N>(rows, step, number * N);
            let (tiles, _) = sums.as_chunks_mut::<N>().0.as_chunks_mut::<M>();
            add_step((rows, step), known, tiles);
        }
        strip.iter_mut().zip(&*sums).for_each(|(a, &sum)| *a = less(*a, sum));
    }
}

/// Solves for a panel's part of a step.
struct Solve<'t, 'a, 'm, T> {
    panel: &'t mut Panel<'m, T>,
    /// The rows' part of each column, or the columns' part of each row.
    lines: &'t mut [&'a mut [T]],
    by_columns: bool,
    square: &'t Square<'m, T>,
}

impl<T: Root> Tiles for Solve<'_, '_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const M: usize, const N: usize>(self) {
        let Self { panel, lines, by_columns, square } = self;
        let Some((tile, known)) = panel.known.split_last_mut() else { return };
        let strips = &mut tile[..panel.rows.next_multiple_of(N) * STEP];
        strips.fill(T::ZERO);
        for (step, known) in known.iter().enumerate() {
            for (known, strip) in known.chunks_exact(N * STEP).zip(strips.chunks_exact_mut(N * STEP)) {
                let (tiles, _) = strip.as_chunks_mut::<N>().0.as_chunks_mut::<M>();
                add_step((&square.rows, step), known, tiles);
            }
        }
        for (number, strip) in strips.chunks_exact_mut(N * STEP).enumerate() {
            let lanes = number * N..((number + 1) * N).min(panel.rows);
            let (columns, _) = strip.as_chunks_mut::<N>();
            if by_columns {
                for (line, column) in lines.iter().zip(columns) {
                    column.iter_mut().zip(&line[lanes.clone()]).for_each(|(sum, &a)| *sum = less(a, *sum));
                }
            } else {
                for (lane, line) in lines[lanes.clone()].iter().enumerate() {
                    let sums = columns.iter_mut().map(|column| &mut column[lane]);
                    sums.zip(&**line).for_each(|(sum, &a)| *sum = less(a, *sum));
                }
            }
            let mut rest = &square.buffers.packed[..];
            for block in (0..STEP).step_by(M) {
                let (of_block, after) = rest.split_at((block + M) * M);
                subtract::<T, M, N>(strip, block, of_block);
                solve::<T, M, N>(strip, block, of_block, &square.buffers.roots);
                rest = after;
            }
            let (columns, _) = strip.as_chunks::<N>();
            if by_columns {
                for (line, column) in lines.iter_mut().zip(columns) {
                    let line = &mut line[lanes.clone()];
                    line.copy_from_slice(&column[..line.len()]);
                }
            } else {
                for (lane, line) in lines[lanes].iter_mut().enumerate() {
                    line.iter_mut().zip(columns).for_each(|(a, column)| *a = column[lane]);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::values::{SHAPES, bits, matrix};
    use super::*;
    use crate::reference;

    /// Step after step with the references of products and of steps.
    fn expected<T: Root>(triangle: Triangle, a: &mut [T], layout: Layout) -> u32 {
        let n = layout.rows();
        let mut order = 0;
        for first in (0..n).step_by(STEP) {
            let (width, rows) = (STEP.min(n - first), n - first);
            let leading = if first == 0 { 0 } else { rows };
            let mut added = vec![T::ZERO; width * leading];
            let (row, column) = strides(triangle, layout);
            for j in 0..width {
                for i in j..leading {
                    let of = |i: usize, k: usize| a[(first + i) * row + k * column];
                    let sum = (0..first).fold(T::ZERO, |sum, k| of(i, k).mul_add(of(j, k), sum));
                    added[i + j * leading] = finish(-T::ONE, sum, T::ZERO, || sum);
                }
            }
            let failed = reference::factor::step(triangle, (a, layout), (first, width), (&added, leading));
            order = if order == 0 { failed } else { order };
        }
        order
    }

    fn check<T: Root + Into<f64>>(of: fn(f64) -> T) {
        for n in [1, 128, 129, 200, 256, 321, 391, 515] {
            for (order, triangle) in SHAPES {
                let (mut a, layout) = matrix(of, n, order, 3);
                for bad in [None, Some((n / 2, -1.0)), Some((n - 1, f64::NAN))] {
                    if let Some((at, value)) = bad {
                        a[layout.index(at, at)] = of(value);
                    }
                    let (mut wanted, mut actual) = (a.clone(), a.clone());
                    let order = expected(triangle, &mut wanted, layout);
                    assert_eq!(large(triangle, (&mut actual, layout)), order);
                    assert!(bits(&actual) == bits(&wanted), "{n}, {layout:?}, {triangle:?}, {bad:?}");
                }
            }
        }
    }

    #[test]
    fn large_matrices_have_the_bits_of_the_reference() {
        check::<f32>(|value| value as f32);
        check::<f64>(|value| value);
    }
}
