//! Where the tiles of a matrix are: of a whole triangle, or of a skyline.

use gpu_std::float::Float;
use gpu_std::memory::{Global, GlobalMut, Shared};
use gpu_std::parameter::Parameter;
use gpu_std::{device, keep_rolled, opaque};

use super::{HEAD, TASK, TILE};
use crate::block::Elements;

/// The first column of a row that is not there: none is as large.
pub const NO_ROW: u32 = u32::MAX;

/// A matrix, or several that have the same shape, but for addresses.
///
/// The structure of a skyline is in tables, one after the other: the first column of every row of tiles; where its
/// tiles' words are among `progress`, less its first tile; the column from which on all rows of it are there; the
/// first column of every row, and [`NO_ROW`] for the rows that the last tiles have beyond the matrix; and the
/// [words](super::TASK) of every tile, in the order in which they are handed out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Parameter)]
#[repr(C)]
pub struct Shape {
    /// Elements from one row to the next.
    pub row: u64,
    /// Elements from one column to the next; this or the other is one.
    pub column: u64,
    /// Elements from one matrix to the next.
    pub stride: u64,
    /// Rows, and columns.
    pub size: u32,
    /// Whether rows are one element apart and 16 bytes of a column may be copied at once: 1 or 0.
    pub vectors: u32,
    /// Tiles that are there, of a matrix.
    pub tiles: u32,
    /// Matrices; of skylines one.
    pub count: u32,
}

impl Shape {
    /// Rows of tiles.
    pub const fn tile_rows(&self) -> u32 {
        self.size.div_ceil(TILE)
    }
}

/// The two rows of tiles that a tile's products are of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Rows {
    /// The tile's own.
    Own,
    /// That of the tile on the diagonal, in the tile's column.
    Column,
}

/// The matrix that a block works on, and the tables of its structure, if that is a skyline.
#[derive(Clone, Copy)]
pub(super) struct Matrix<T: Float, const SKYLINE: bool> {
    /// The first matrix.
    pub(super) l: Elements<T>,
    pub(super) tables: Global<u32>,
    pub(super) shape: Shape,
    /// Shared memory: how far the two rows of tiles are from the first matrix's first element.
    starts: Shared<u64>,
    /// The same: the matrix's number.
    number: Shared<u32>,
}

impl<T: Float, const SKYLINE: bool> Matrix<T, SKYLINE> {
    #[device]
    #[inline(always)]
    pub(super) fn new(
        (a, tables, shape): (GlobalMut<T>, Global<u32>, Shape),
        starts: Shared<u64>,
        number: Shared<u32>,
    ) -> Self {
        let l = Elements { first: a, row: shape.row, column: shape.column };
        Self { l, tables, shape, starts, number }
    }

    /// Tells the block of its next tile: by one thread, before a barrier.
    #[device]
    #[inline(always)]
    pub(super) fn begin(&self, number: u32, rows: [u32; 2]) {
        let start = number as u64 * self.shape.stride;
        self.starts.write(Rows::Own as u32, start + (rows[0] * TILE) as u64 * self.shape.row);
        self.starts.write(Rows::Column as u32, start + (rows[1] * TILE) as u64 * self.shape.row);
        self.number.write(0, number);
    }

    /// The matrix's number. It is read where it is needed, as the tables are.
    #[device]
    #[inline(always)]
    pub(super) fn number(&self) -> u32 {
        if SKYLINE { 0 } else { self.number.read(opaque(0)) }
    }

    /// How far a row of tiles is from the first matrix's first element. It is read where it is needed, but early: what
    /// waits for an address is waited for by others.
    #[device]
    #[inline(always)]
    pub(super) fn start_of(&self, rows: Rows) -> u64 {
        self.starts.read(opaque(rows as u32))
    }

    /// From an element of a row of tiles on, which is so far from the first element.
    #[device]
    #[inline(always)]
    pub(super) fn at(&self, start: u64, row: u32, column: u32) -> GlobalMut<T> {
        self.l.at(row, column).offset(start)
    }

    /// A word of the tables. It is read where it is needed: the compiler would hold it in a register all the while.
    #[device]
    #[inline(always)]
    fn table(&self, place: u32) -> u32 {
        self.tables.read_only(opaque(place))
    }

    /// The first column of the rows of a tile.
    #[device]
    #[inline(always)]
    pub(super) fn first(&self, tile_row: u32) -> u32 {
        if SKYLINE { self.table(tile_row) } else { 0 }
    }

    /// The word of `progress` of tile `column` of a row of tiles: how many of its panels are known.
    #[device]
    #[inline(always)]
    pub(super) fn word(&self, tile_row: u32, column: u32) -> u32 {
        let of_row = if SKYLINE {
            self.table(self.shape.tile_rows() + tile_row)
        } else {
            HEAD + self.number() * self.shape.tiles + tile_row * (tile_row + 1) / 2
        };
        of_row.wrapping_add(column)
    }

    /// Whether all rows of a tile have what is right of this column.
    #[device]
    #[inline(always)]
    pub(super) fn is_whole(&self, tile_row: u32, column: u32) -> bool {
        // Mutants: an element at a time it is the same.
        !SKYLINE || column >= self.table(2 * self.shape.tile_rows() + tile_row)
    }

    /// The first column of a row that is there.
    #[device]
    #[inline(always)]
    pub(super) fn start(&self, row: u32) -> u32 {
        if SKYLINE { self.table(3 * self.shape.tile_rows() + row) } else { 0 }
    }

    /// Row and column of tile `number` in the order in which they are handed out: (0, 0), and then column `c` after
    /// column: (c + 1, c), (c + 1, c + 1), (c + 2, c), … A skyline has a table of them.
    #[device]
    #[inline(always)]
    pub(super) fn tile(&self, number: u32) -> (u32, u32) {
        let rows = self.shape.tile_rows();
        if SKYLINE {
            let place = (3 + TILE) * rows + TASK * number;
            // With a wrong column the block would wait without end for tiles that no block has.
            return (self.table(place), self.table(place + 1));
        }
        if number == 0 {
            return (0, 0);
        }
        // From the first column on, every time: to remember the last one would take registers.
        let (mut column, mut before) = (0, number - 1);
        while before >= rows - column {
            keep_rolled();
            before -= rows - column;
            column += 1;
        }
        match before {
            0 => (column + 1, column),
            1 => (column + 1, column + 1),
            other => (column + other, column),
        }
    }
}
