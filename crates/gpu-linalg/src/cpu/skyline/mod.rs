//! Cholesky's factorisation of a skyline matrix, column of tiles by column, the tiles of a column on all cores. Rows
//! of tiles are packed: whatever the order of the matrix, vectors run along the columns of a tile. The chains, and so
//! the bits, are those of the kernel: of the columns before a tile's a sum from zero, then those of the tile's.

mod launch;

use gpu_core::cores;
use gpu_factor_kernels::Root;
use gpu_factor_kernels::tiled::TILE;
use gpu_std::float::Float;

use crate::matrix::Layout;
use crate::plan::skyline::Structure;
use crate::reference::factor::pivot;

/// Rows and columns of a tile.
const SIDE: usize = TILE as usize;

/// A row of tiles, from its first one to the diagonal's: rows of the matrix one after the other.
struct Row<T> {
    first: usize,
    width: usize,
    elements: Vec<T>,
}

/// A tile.
type Tile<T> = [[T; SIDE]; SIDE];

impl<T: Float> Row<T> {
    fn range(&self, row: usize, column: usize) -> core::ops::Range<usize> {
        let at = row * self.width + (column - self.first) * SIDE;
        at..at + SIDE
    }

    fn tile(&self, column: usize) -> Tile<T> {
        let mut tile = [[T::ZERO; SIDE]; SIDE];
        for (row, elements) in tile.iter_mut().enumerate() {
            elements.copy_from_slice(&self.elements[self.range(row, column)]);
        }
        tile
    }

    fn set_tile(&mut self, column: usize, tile: &Tile<T>) {
        for (row, elements) in tile.iter().enumerate() {
            let range = self.range(row, column);
            self.elements[range].copy_from_slice(elements);
        }
    }

    /// The columns from tile `from` up to tile `to`, transposed: a column's elements side by side.
    fn transposed(&self, from: usize, to: usize) -> Vec<[T; SIDE]> {
        let column = |at: usize| core::array::from_fn(|row| self.elements[row * self.width + at]);
        ((from - self.first) * SIDE..(to - self.first) * SIDE).map(column).collect()
    }
}

/// A column of tiles that rows below the diagonal need: the rows before it, transposed, its factor, and the
/// reciprocals of its pivots' roots.
struct Column<T> {
    number: usize,
    first: usize,
    before: Vec<[T; SIDE]>,
    factor: Vec<[T; SIDE]>,
    roots: [T; SIDE],
}

impl<T: Float> Column<T> {
    /// Tile `number` of a row below.
    #[inline(always)]
    fn solve<const ROWS: usize, const COLUMNS: usize>(&self, row: &Row<T>) -> Tile<T> {
        let mut tile = row.tile(self.number);
        self.subtract::<ROWS, COLUMNS>(row, &mut tile);
        for elements in &mut tile {
            for at in 0..SIDE {
                let solved = elements[at] * self.roots[at];
                elements[at] = solved;
                for (other, &factor) in elements.iter_mut().zip(&self.factor[at]).skip(at + 1) {
                    *other = (-solved).mul_add(factor, *other);
                }
            }
        }
        tile
    }

    /// Subtracts the products of the columns that a row has before this one, `ROWS` × `COLUMNS` elements at a time in
    /// registers.
    #[inline(always)]
    fn subtract<const ROWS: usize, const COLUMNS: usize>(&self, row: &Row<T>, tile: &mut Tile<T>) {
        let first = self.first.max(row.first);
        let before = &self.before[(first - self.first) * SIDE..];
        let offset = (first - row.first) * SIDE;
        for (group, rows) in tile.chunks_exact_mut(ROWS).enumerate() {
            for at in (0..SIDE).step_by(COLUMNS) {
                let mut sums = [[T::ZERO; COLUMNS]; ROWS];
                for (k, across) in before.iter().enumerate() {
                    let across = &across[at..at + COLUMNS];
                    for (i, sums) in sums.iter_mut().enumerate() {
                        let left = row.elements[(group * ROWS + i) * row.width + offset + k];
                        for (sum, &across) in sums.iter_mut().zip(across) {
                            *sum = left.mul_add(across, *sum);
                        }
                    }
                }
                for (sums, row) in sums.iter().zip(&mut *rows) {
                    for (a, &sum) in row[at..at + COLUMNS].iter_mut().zip(sums) {
                        // The sum as a product has it: never -0.
                        *a = *a + -(sum + T::ZERO);
                    }
                }
            }
        }
    }
}

/// Replaces a tile by its factor, of which there are `width` columns: the order of the first minor that is not
/// positive, or zero, and the reciprocals of the pivots' roots.
fn factor<T: Root>(tile: &mut Tile<T>, width: usize) -> (u32, [T; SIDE]) {
    let (mut failed, mut roots) = (0, [T::ZERO; SIDE]);
    for at in 0..width {
        let nan = (-T::ONE).sqrt();
        let (root, reciprocal) = pivot(tile[at][at]).unwrap_or_else(|| {
            failed = if failed == 0 { at as u32 + 1 } else { failed };
            (nan, nan)
        });
        roots[at] = reciprocal;
        tile[at][at] = root;
        for row in &mut tile[at + 1..] {
            row[at] = row[at] * reciprocal;
        }
        let scaled: [T; SIDE] = core::array::from_fn(|row| tile[row][at]);
        for (row, elements) in tile.iter_mut().enumerate().skip(at + 1) {
            for column in at + 1..=row {
                elements[column] = (-scaled[row]).mul_add(scaled[column], elements[column]);
            }
        }
    }
    (failed, roots)
}

/// Factors the lower triangle of `a`. The order of the first minor that is not positive, or zero; the triangle is
/// unspecified then.
pub(crate) fn potrf_skyline<T: Root>(structure: &Structure, a: &mut [T], layout: Layout) -> u32 {
    let size = structure.size;
    // The columns that row `row` of tile row `number` has in the matrix.
    let stored = |number: usize, row: usize| {
        let row = number * SIDE + row;
        if row < size { structure.starts[row] as usize..row + 1 } else { 0..0 }
    };
    let shared = &*a;
    let pack = |number: usize| {
        let first = structure.firsts[number] as usize / SIDE;
        let width = (number + 1 - first) * SIDE;
        let mut elements = vec![T::ZERO; SIDE * width];
        for row in 0..SIDE {
            for column in stored(number, row) {
                elements[row * width + column - first * SIDE] =
                    shared[layout.index(number * SIDE + row, column)];
            }
        }
        Row { first, width, elements }
    };
    let mut rows: Vec<Row<T>> = cores::collect(structure.firsts.len(), pack);
    let mut failed = 0;
    for number in 0..rows.len() {
        let (own, below) = rows[number..].split_first_mut().expect("there is this row");
        let mut column = Column {
            number,
            first: own.first,
            before: own.transposed(own.first, number),
            factor: Vec::new(),
            roots: [T::ZERO; SIDE],
        };
        let mut tile = own.tile(number);
        launch::subtract(&column, own, &mut tile);
        let (order, roots) = factor(&mut tile, (size - number * SIDE).min(SIDE));
        if failed == 0 && order != 0 {
            failed = (number * SIDE) as u32 + order;
        }
        own.set_tile(number, &tile);
        column.factor = (0..SIDE).map(|at| core::array::from_fn(|row| tile[row][at])).collect();
        column.roots = roots;
        cores::elements(below, |_, row| {
            if row.first <= number {
                let tile = launch::solve(&column, row);
                row.set_tile(number, &tile);
            }
        });
    }
    for (number, packed) in rows.iter().enumerate() {
        for row in 0..SIDE {
            for column in stored(number, row) {
                let at = row * packed.width + column - packed.first * SIDE;
                a[layout.index(number * SIDE + row, column)] = packed.elements[at];
            }
        }
    }
    failed
}
