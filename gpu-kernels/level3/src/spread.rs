//! The lower triangle of a matrix written out as a full one: with zeros above the diagonal, or with its mirror image.

use gpu_std::device;
use gpu_std::float::Float;
use gpu_std::memory::{Global, GlobalMut};
use gpu_std::parameter::Parameter;
use gpu_std::shared::{self, SharedLayout};
use gpu_std::thread::{block_idx_x, sync_threads, thread_idx_x};

use super::THREADS;

/// Rows and columns of a tile.
pub const TILE: u32 = 32;

const PITCH: u32 = TILE + 1;
const LINES: u32 = THREADS / TILE;

/// What is written out, but for addresses: squares along the diagonal of the matrices of a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Parameter)]
#[repr(C)]
pub struct Spread {
    /// Elements of A from one row to the next.
    pub row: u64,
    /// Elements of A from one column to the next.
    pub column: u64,
    /// Elements from one A of the batch to the next.
    pub batch: u64,
    /// Rows of A.
    pub size: u32,
    /// Rows of a square; the last one of a matrix is filled with zeros. A square is written row-major, without gaps, and starts
    /// where the one before ends.
    pub square: u32,
    /// Matrices.
    pub count: u32,
    /// Whether the diagonal is taken to be one, and not read: 1 or 0.
    pub unit: u32,
    /// Whether the mirror image stands above the diagonal: 1, or 0 for zeros.
    pub symmetric: u32,
}

impl Spread {
    /// Squares of a matrix.
    pub const fn squares(&self) -> u32 {
        self.size.div_ceil(self.square)
    }

    /// Blocks of a launch.
    pub const fn grid(&self) -> u128 {
        let tiles = self.square.div_ceil(TILE) as u128;
        tiles * tiles * self.squares() as u128 * self.count as u128
    }
}

/// Bytes of dynamic shared memory of a block.
pub const fn spread_shared_bytes<T: Float>() -> u32 {
    SharedLayout::new().array::<T>(TILE * PITCH).bytes()
}

/// Writes a tile of a square.
#[device]
#[inline(always)]
pub(super) fn spread<T: Float>(a: Global<T>, output: GlobalMut<T>, shape: &Spread) {
    let tiles = shape.square.div_ceil(TILE);
    let column_tile = block_idx_x() % tiles;
    let rest = block_idx_x() / tiles;
    let row_tile = rest % tiles;
    let at = rest / tiles;
    let (number, square) = (at / shape.squares(), at % shape.squares());
    let first = square * shape.square;
    let size = (shape.size - first).min(shape.square);
    let a = a
        .offset(number as u64 * shape.batch)
        .offset(first as u64 * shape.row)
        .offset(first as u64 * shape.column);

    // ---- the tile, or the one that it mirrors
    let mut memory = shared::dynamic();
    let tile = memory.array::<T>(TILE * PITCH);
    let (low, high) = (thread_idx_x() % TILE, thread_idx_x() / TILE);
    let above = column_tile > row_tile;
    let (from_row, from_column) = if above { (column_tile, row_tile) } else { (row_tile, column_tile) };
    let rows_are_lines = shape.column == 1;
    let mut other = high;
    while other < TILE {
        let (i, j) = if rows_are_lines { (other, low) } else { (low, other) };
        let (row, column) = (from_row * TILE + i, from_column * TILE + j);
        let mut value = T::ZERO;
        if row < size && column <= row && (!above || shape.symmetric != 0) {
            if column == row && shape.unit != 0 {
                value = T::ONE;
            } else {
                value = a.offset(row as u64 * shape.row).offset(column as u64 * shape.column).read_only(0);
            }
        }
        tile.write(i * PITCH + j, value);
        other += LINES;
    }
    sync_threads();

    let output = output.offset(at as u64 * shape.square as u64 * shape.square as u64);
    let mut i = high;
    while i < TILE {
        let (row, column) = (row_tile * TILE + i, column_tile * TILE + low);
        if row < shape.square && column < shape.square {
            let value = if column <= row {
                tile.read(i * PITCH + low)
            } else if shape.symmetric != 0 {
                tile.read(low * PITCH + i)
            } else {
                T::ZERO
            };
            output.offset(row as u64 * shape.square as u64).write(column, value);
        }
        i += LINES;
    }
}
