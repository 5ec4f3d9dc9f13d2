//! Triangular systems, in the kernel's order.

use gpu_core::cores;
use gpu_level3_kernels::{BLOCK, SQUARE, Solve};
use gpu_std::float::Float;

use super::launch::{Tiles, add_products, by_tiles};
use crate::plan::level3::Form;

const ROWS: usize = BLOCK as usize;
const EACH: usize = SQUARE as usize;
/// So many products are worth a second thread: to wake it takes some 15 µs.
const SHARED: usize = 1 << 18;

/// Solves `L · X = alpha · B` as the kernel does, in place, and into a copy where the shape has one.
///
/// # Panics
/// Where a slice is shorter than the shape says.
pub(crate) fn solve<T: Float>(
    shape: &Solve,
    form: Form,
    l: &[T],
    b: &mut [T],
    x: &mut [T],
    info: &mut [u32],
    alpha: T,
) {
    for (number, info) in info.iter_mut().enumerate().take(shape.count as usize) {
        let l = Lower::new(shape, l, number);
        let zero = (0..shape.size as usize).filter(|&row| l.diagonal(row) == T::ZERO);
        let index = |row: usize| match shape.backward != 0 {
            true => shape.first - row as u32,
            false => shape.first + row as u32,
        };
        let least = zero.map(index).min().unwrap_or(u32::MAX);
        *info = if shape.further != 0 { least.min(*info) } else { least };
    }
    let (rows, columns, count) = (shape.size as usize, shape.columns as usize, shape.count as usize);
    let tiles = by_tiles::<T, _>(Sizes);
    let at = |row: usize, column: usize, number: usize| {
        place(shape.b_start, [(row, shape.b_row), (column, shape.b_column), (number, shape.b_batch)])
    };
    let right = &*b;
    let one = |number: usize| {
        // Groups of as many right-hand sides as a tile has, row after row.
        let mut solution = vec![T::ZERO; rows * columns.next_multiple_of(tiles.1)];
        for (group, values) in solution.chunks_exact_mut(rows * tiles.1).enumerate() {
            for (row, values) in values.chunks_exact_mut(tiles.1).enumerate() {
                for (column, value) in (group * tiles.1..columns).zip(values) {
                    *value = alpha * right[at(row, column, number)];
                }
            }
        }
        system(Lower::new(shape, l, number), form, rows, tiles, &mut solution);
        solution
    };
    let solutions: Vec<Vec<T>> = match count == 1 || rows * rows * columns * count < SHARED {
        true => (0..count).map(one).collect(),
        false => cores::collect(count, one),
    };
    for (number, solution) in solutions.into_iter().enumerate() {
        for (group, values) in solution.chunks_exact(rows * tiles.1).enumerate() {
            for (row, values) in values.chunks_exact(tiles.1).enumerate() {
                for (column, &value) in (group * tiles.1..columns).zip(values) {
                    b[at(row, column, number)] = value;
                    if shape.copied != 0 {
                        let parts = [(row, shape.x_row), (column, shape.x_column), (number, shape.x_batch)];
                        x[place(shape.x_start, parts)] = value;
                    }
                }
            }
        }
    }
}

/// A place in memory, of which the kernel counts modulo 2^64.
#[inline(always)]
fn place(start: u64, parts: [(usize, u64); 3]) -> usize {
    parts.iter().fold(start, |at, &(number, step)| at.wrapping_add((number as u64).wrapping_mul(step)))
        as usize
}

/// One of the triangles.
#[derive(Clone, Copy)]
struct Lower<'a, T> {
    elements: &'a [T],
    start: u64,
    row: u64,
    column: u64,
    is_unit: bool,
}

impl<'a, T: Float> Lower<'a, T> {
    fn new(shape: &Solve, elements: &'a [T], number: usize) -> Self {
        let start = place(shape.l_start, [(number, shape.l_batch), (0, 0), (0, 0)]) as u64;
        Self { elements, start, row: shape.l_row, column: shape.l_column, is_unit: shape.unit != 0 }
    }

    fn at(&self, row: usize, column: usize) -> usize {
        place(self.start, [(row, self.row), (column, self.column), (0, 0)])
    }

    fn diagonal(&self, row: usize) -> T {
        if self.is_unit { T::ONE } else { self.elements[self.at(row, row)] }
    }

    /// `each` of the first `columns` elements of `rows` rows, with their places there: along what is contiguous.
    fn visit(&self, (first, rows): (usize, usize), columns: usize, mut each: impl FnMut(usize, usize, T)) {
        if self.row.wrapping_add(1) <= 2 {
            for column in 0..columns {
                let (low, high) = (self.at(first, column), self.at(first + rows - 1, column));
                let line = &self.elements[low.min(high)..=low.max(high)];
                if low <= high {
                    line.iter().enumerate().for_each(|(row, &value)| each(row, column, value));
                } else {
                    line.iter().rev().enumerate().for_each(|(row, &value)| each(row, column, value));
                }
            }
        } else if columns > 0 {
            for row in 0..rows {
                let (low, high) = (self.at(first + row, 0), self.at(first + row, columns - 1));
                let line = &self.elements[low.min(high)..=low.max(high)];
                if low <= high {
                    line.iter().enumerate().for_each(|(column, &value)| each(row, column, value));
                } else {
                    line.iter().rev().enumerate().for_each(|(column, &value)| each(row, column, value));
                }
            }
        }
    }
}

/// Solves a system whose right-hand sides are groups of `rows` times `tiles.1` elements.
fn system<T: Float>(l: Lower<'_, T>, form: Form, rows: usize, tiles: (usize, usize), x: &mut [T]) {
    let group = rows * tiles.1;
    for first in (0..rows).step_by(ROWS) {
        let strip = Strip::new(l, form, first, ROWS.min(rows - first), tiles.0);
        if strip.height * (first + EACH) * x.len() / rows < SHARED {
            x.chunks_exact_mut(group).for_each(|x| by_tiles::<T, _>(Rows { strip: &strip, x }));
        } else if x.len() > group {
            cores::chunks(x, group, 1, |_, x| by_tiles::<T, _>(Rows { strip: &strip, x }));
        } else {
            let (known, rest) = x.split_at_mut(first * tiles.1);
            let own = &mut rest[..strip.height * tiles.1];
            cores::chunks(own, tiles.0 * tiles.1, 1, |number, own| {
                by_tiles::<T, _>(Before { strip: &strip, number, known, own });
            });
            by_tiles::<T, _>(Diagonal { strip: &strip, own });
        }
    }
}

/// Rows and columns of the tiles that the machine's registers hold.
struct Sizes;

impl Tiles for Sizes {
    type Output = (usize, usize);

    #[inline(always)]
    fn run<const M: usize, const N: usize>(self) -> (usize, usize) {
        (M, N)
    }
}

/// Rows of L up to the diagonal's block and with it, their signs changed; and the inverses of their squares.
struct Strip<T> {
    form: Form,
    /// The first row, and how many.
    first: usize,
    height: usize,
    /// Rows of a tile side by side, column after column; of rows that are not there, and above the diagonal, zero.
    elements: Vec<T>,
    /// Rows of a square, and the inverses' rows; of squares of one row, the reciprocals.
    square: usize,
    inverses: Vec<[T; EACH]>,
}

impl<T: Float> Strip<T> {
    fn new(l: Lower<'_, T>, form: Form, first: usize, height: usize, tile: usize) -> Self {
        let square = if form == Form::Few { 1 } else { EACH };
        let columns = first + height;
        let mut elements = vec![T::ZERO; height.next_multiple_of(tile) * columns];
        let pack = |(number, elements): (usize, &mut [T])| {
            let (top, end) = (number * tile, height.min((number + 1) * tile));
            l.visit((first + top, end - top), first + top, |row, column, value| {
                elements[column * tile + row] = -value;
            });
            for row in top..end {
                for column in first + top..first + row {
                    elements[column * tile + row - top] = -l.elements[l.at(first + row, column)];
                }
            }
        };
        if elements.len() < SHARED / 4 {
            elements.chunks_exact_mut(tile * columns).enumerate().for_each(pack);
        } else {
            cores::chunks(&mut elements, tile * columns, 1, |number, tile| pack((number, tile)));
        }
        let own =
            |row: usize, column: usize| elements[(row / tile * columns + first + column) * tile + row % tile];
        let mut inverses = vec![[T::ZERO; EACH]; height];
        for (top, inverse) in (0..height).step_by(square).zip(inverses.chunks_mut(square)) {
            for i in 0..inverse.len() {
                let mut sums = [T::ZERO; EACH];
                sums[i] = T::ONE;
                for (m, above) in inverse[..i].iter().enumerate() {
                    let factor = own(top + i, top + m);
                    for (sum, &known) in sums[..m + 1].iter_mut().zip(above) {
                        *sum = factor.mul_add(known, *sum);
                    }
                }
                let reciprocal = T::ONE / l.diagonal(first + top + i);
                for (inverse, &sum) in inverse[i][..i + 1].iter_mut().zip(&sums) {
                    *inverse = sum * reciprocal;
                }
            }
        }
        Self { form, first, height, elements, square, inverses }
    }

    /// Some columns of a tile of rows.
    #[inline(always)]
    fn tile<const M: usize>(&self, number: usize, columns: core::ops::Range<usize>) -> &[T] {
        let start = number * (self.first + self.height);
        &self.elements[(start + columns.start) * M..(start + columns.end) * M]
    }
}

/// Rows of a tile; those that are not there are zero.
#[inline(always)]
fn load<T: Float, const M: usize, const N: usize>(own: &[[T; N]]) -> [[T; N]; M] {
    let mut sums = [[T::ZERO; N]; M];
    sums.iter_mut().zip(own).for_each(|(sums, own)| *sums = *own);
    sums
}

/// All of a strip, for a group of right-hand sides.
struct Rows<'a, T> {
    strip: &'a Strip<T>,
    x: &'a mut [T],
}

impl<T: Float> Tiles for Rows<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const M: usize, const N: usize>(self) {
        let Self { strip, x } = self;
        let (known, rest) = x.split_at_mut(strip.first * N);
        let own = &mut rest[..strip.height * N];
        for (number, own) in own.chunks_mut(M * N).enumerate() {
            Before { strip, number, known, own }.run::<M, N>();
        }
        Diagonal { strip, own }.run::<M, N>();
    }
}

/// What the rows `known` take off a tile's.
struct Before<'a, T> {
    strip: &'a Strip<T>,
    number: usize,
    known: &'a [T],
    own: &'a mut [T],
}

impl<T: Float> Tiles for Before<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const M: usize, const N: usize>(self) {
        let Self { strip, number, known, own } = self;
        if known.is_empty() {
            return;
        }
        let (own, _) = own.as_chunks_mut::<N>();
        let factors = strip.tile::<M>(number, 0..strip.first);
        if strip.form == Form::Narrow {
            let mut parts = [[[T::ZERO; N]; M]; 4];
            for (part, sums) in parts.iter_mut().enumerate() {
                let mut tile = *sums;
                let factors = factors.as_chunks::<M>().0.iter().skip(part).step_by(4);
                for (a, b) in factors.zip(known.as_chunks::<N>().0.iter().skip(part).step_by(4)) {
                    for i in 0..M {
                        for j in 0..N {
                            tile[i][j] = a[i].mul_add(b[j], tile[i][j]);
                        }
                    }
                }
                *sums = tile;
            }
            for (i, own) in own.iter_mut().enumerate() {
                for (j, own) in own.iter_mut().enumerate() {
                    let sum = (parts[0][i][j] + parts[1][i][j]) + (parts[2][i][j] + parts[3][i][j]);
                    *own = *own + sum;
                }
            }
        } else {
            let mut sums = load::<T, M, N>(own);
            add_products(factors, known, &mut sums);
            own.iter_mut().zip(&sums).for_each(|(own, sums)| *own = *sums);
        }
    }
}

/// The rows of a block, whose rows before have been taken off.
struct Diagonal<'a, T> {
    strip: &'a Strip<T>,
    own: &'a mut [T],
}

impl<T: Float> Tiles for Diagonal<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const M: usize, const N: usize>(self) {
        let Self { strip, own } = self;
        let (own, _) = own.as_chunks_mut::<N>();
        for top in (0..own.len()).step_by(strip.square) {
            let end = own.len().min(top + strip.square);
            let mut solved = [[T::ZERO; N]; EACH];
            if strip.square == 1 {
                let reciprocal = strip.inverses[top][0];
                solved[0] = own[top];
                solved[0].iter_mut().for_each(|value| *value = *value * reciprocal);
            } else {
                for (i, (sums, inverse)) in solved.iter_mut().zip(&strip.inverses[top..end]).enumerate() {
                    let mut tile = *sums;
                    for (&factor, right) in inverse[..i + 1].iter().zip(&own[top..end]) {
                        for j in 0..N {
                            tile[j] = factor.mul_add(right[j], tile[j]);
                        }
                    }
                    *sums = tile;
                }
            }
            own[top..end].copy_from_slice(&solved[..end - top]);
            // Of the tile at the square's end some rows are solved already.
            for number in end / M..own.len().div_ceil(M) {
                let rows = number * M..own.len().min((number + 1) * M);
                let mut sums = load::<T, M, N>(&own[rows.clone()]);
                let columns = strip.first + top..strip.first + end;
                add_products(strip.tile::<M>(number, columns), solved[..end - top].as_flattened(), &mut sums);
                for (row, sums) in rows.zip(&sums).filter(|(row, _)| *row >= end) {
                    own[row] = *sums;
                }
            }
        }
    }
}
