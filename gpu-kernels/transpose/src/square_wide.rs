//! Transposition of large square matrices of bytes in place: as [`super::square`], in tiles of 256 × 256.
//!
//! With tiles of 128 × 128 a warp moves pieces of 128 bytes of the matrix's rows, and that alone keeps the memory
//! from its speed (H200, of the copy's at 16384²: 0.862, and a kernel that swaps such tiles and does not turn them is
//! no faster, 0.857; with pieces of 256 bytes that one reaches 0.940). Pieces of 256 bytes are half of a warp's, so
//! that the stores of a thread's columns to shared memory meet all banks in another way than in [`super::tile`] (see
//! [`word`]).
//!
//! # Order
//! Two such tiles fill the registers of a multiprocessor. Its one block therefore takes pair after pair, and the next
//! pair's tiles are on the way to registers while this one's are stored: the first as soon as the first one of this
//! pair is in shared memory, the second as soon as the second one is, which follows it in the same place. (H200, of
//! the copy's speed at 16384² and 8192²: 0.915 and 0.911; a block for every pair 0.911 and 0.854; shared memory for
//! both tiles, 128 KB, 0.916 and 0.918.)

use super::registers::turn;
use super::square::of_triangle;
use gpu_std::memory::{GlobalMut, Shared};
use gpu_std::shared::{self, SharedLayout};
use gpu_std::thread::{
    block_idx_x, grid_dependency_synchronize, grid_dim_x, sync_threads, thread_idx_x,
    trigger_launch_completion,
};
use gpu_std::{device, kernel};

/// Threads of a block of the kernel with wide tiles.
pub const SQUARE_WIDE_THREADS: u32 = 512;
/// Rows and columns of a wide tile.
pub const SQUARE_WIDE_SIDE: u32 = 256;
/// Bytes of shared memory: one tile. Every GPU from 7.5 on has them.
pub const SQUARE_WIDE_SHARED_BYTES: u32 = SharedLayout::new().array::<u8>(T * T).bytes();

const T: u32 = SQUARE_WIDE_SIDE;
/// 16-byte vectors of a row of a tile.
const VECTORS: u32 = T / 16;
/// Patches of four rows by 16 bytes of a thread.
const UNITS: usize = (T * T / 64 / SQUARE_WIDE_THREADS) as usize;

/// What a thread holds of a tile.
type Patches = [[[u32; 4]; 4]; UNITS];

/// Pairs of tiles of a matrix of `tiles` × `tiles` tiles, those on the diagonal with themselves.
pub const fn square_wide_pairs(tiles: u64) -> u64 {
    tiles * (tiles + 1) / 2
}

/// The tile (row, column) on or above the diagonal of pair `number` of a matrix.
#[inline(always)]
pub fn square_wide_pair(number: u32, tiles: u32) -> (u32, u32) {
    // All numbers below that of the pairs have a place.
    of_triangle(number, tiles).unwrap_or((0, 0))
}

/// The matrices and the pairs of tiles in them.
#[derive(Clone, Copy)]
struct Work {
    data: GlobalMut<u32>,
    side: u32,
    /// 16-byte vectors from row to row, and from matrix to matrix.
    ld: u32,
    stride: u64,
    tiles: u32,
}

/// A pair: where its matrix starts, and the first row and column of its first tile, which are the first column and
/// row of the second.
#[derive(Clone, Copy)]
struct Pair {
    matrix: GlobalMut<u32>,
    row: u32,
    column: u32,
}

impl Work {
    /// Pair `item` of all matrices.
    #[inline(always)]
    fn pair(&self, item: u32) -> Pair {
        let pairs = (square_wide_pairs(self.tiles as u64) as u32).max(1); // so that the division has no path for zero
        let matrix = self.data.offset((item / pairs) as u64 * self.stride * 4);
        let (row, column) = square_wide_pair(item % pairs, self.tiles);
        Pair { matrix, row: row * T, column: column * T }
    }

    /// The vector `vector` of row `row` of the matrix.
    #[inline(always)]
    fn at(&self, matrix: GlobalMut<u32>, row: u32, vector: u32) -> GlobalMut<u32> {
        matrix.offset((row as u64 * self.ld as u64 + vector as u64) * 4)
    }

    /// Rows or columns from `first` on that are inside the matrix, of a tile's.
    #[inline(always)]
    fn inside(&self, first: u32) -> u32 {
        (self.side - first).min(T)
    }
}

/// The thread's patch `unit`: which vector of the rows, which four rows.
#[inline(always)]
fn patch(unit: usize) -> (u32, u32) {
    let number = thread_idx_x() + unit as u32 * SQUARE_WIDE_THREADS;
    (number % VECTORS, number / VECTORS)
}

/// Loads the tile at (`row`, `column`). Where it ends before, vectors come more than once.
#[device]
#[inline(always)]
fn load(work: &Work, matrix: GlobalMut<u32>, row: u32, column: u32) -> Patches {
    let (height, width) = (work.inside(row), work.inside(column));
    core::array::from_fn(|unit| {
        let (across, down) = patch(unit);
        let vector = column / 16 + across.min(width / 16 - 1);
        core::array::from_fn(|i| {
            let row = row + (4 * down + i as u32).min(height - 1);
            work.at(matrix, row, vector).read_vec(0)
        })
    })
}

/// Where the rows 4 `down` to 4 `down` + 3 of a column of vector `across` lie in its 64 words of shared memory.
///
/// The columns that a warp stores at once are of 16 vectors of rows, and so are 16 × 2 words; eight times four banks
/// are met by `across % 8`, and the two vectors that have the same take other pairs of the four words.
#[inline(always)]
fn word(across: u32, down: u32) -> u32 {
    4 * ((down / 4) ^ (across % 8)) + ((down % 4) ^ (across / 8 * 2))
}

/// Stores the columns of a tile to shared memory.
#[device]
#[inline(always)]
fn turn_tile(patches: Patches, shared: Shared<u32>) {
    gpu_std::unroll::<UNITS>(|unit| {
        let (across, down) = patch(unit);
        let turned = turn::<1>(patches[unit]);
        let first = across * 16 * (T / 4) + word(across, down);
        for k in 0..16 {
            shared.write(first + k as u32 * (T / 4), turned[k]);
        }
    });
}

/// Writes the columns of the tile that was at (`row`, `column`) to where they are rows.
#[device]
#[inline(always)]
fn store(work: &Work, matrix: GlobalMut<u32>, row: u32, column: u32, shared: Shared<u32>) {
    let (height, width) = (work.inside(row), work.inside(column));
    gpu_std::unroll::<{ 4 * UNITS }>(|step| {
        let item = thread_idx_x() + step as u32 * SQUARE_WIDE_THREADS;
        let (vector, line) = (item % VECTORS, item / VECTORS);
        let [a, b, c, d] = shared.read_vec::<4>(4 * (line * VECTORS + (vector ^ (line / 16 % 8))));
        // See `word`: of the second half of the columns.
        let values = if step >= 2 * UNITS { [c, d, a, b] } else { [a, b, c, d] };
        if line < width && vector * 16 < height {
            work.at(matrix, column + line, row / 16 + vector).write_vec(0, values);
        }
    });
}

/// Transposes square matrices of bytes in place, whose rows start on 16-byte boundaries and whose sides are multiples
/// of 16.
///
/// `side` rows of `side` bytes, `ld` vectors of 16 bytes apart; the next matrix is `stride` vectors after. `items` is
/// [`square_wide_pairs`]`(tiles)` for each matrix, `tiles` being ⌈side / [`SQUARE_WIDE_SIDE`]⌉. Launch at most as
/// many blocks of [`SQUARE_WIDE_THREADS`] threads with [`SQUARE_WIDE_SHARED_BYTES`]: each takes every so many-th
/// item.
#[kernel(images = sm_75_90, launch_bounds(512, 1), programmatic)]
pub fn transpose_square_wide_b8(
    data: GlobalMut<u32>,
    side: u32,
    ld: u32,
    stride: u64,
    tiles: u32,
    items: u32,
) {
    let work = Work { data, side, ld, stride, tiles };
    let shared = shared::dynamic().array::<u32>(T * T / 4);
    let mut item = block_idx_x();
    // Mutants: there are no more blocks than items.
    if item >= items {
        return;
    }
    let mut pair = work.pair(item);
    grid_dependency_synchronize();
    trigger_launch_completion();
    let mut first = load(&work, pair.matrix, pair.row, pair.column);
    let mut second = first;
    if pair.row != pair.column {
        second = load(&work, pair.matrix, pair.column, pair.row);
    }
    loop {
        let Pair { matrix, row, column } = pair;
        item += grid_dim_x();
        let more = item < items;
        if more {
            pair = work.pair(item);
        }
        turn_tile(first, shared);
        sync_threads();
        if more {
            first = load(&work, pair.matrix, pair.row, pair.column);
        }
        store(&work, matrix, row, column, shared);
        sync_threads();
        if row != column {
            turn_tile(second, shared);
            sync_threads();
        }
        if more && pair.row != pair.column {
            second = load(&work, pair.matrix, pair.column, pair.row);
        }
        if row != column {
            store(&work, matrix, column, row, shared);
        }
        if !more {
            return;
        }
        sync_threads();
    }
}
