//! Transposition of square matrices in place: a block swaps a tile with the one across the diagonal.
//!
//! As [`super::tile`], with both tiles in shared memory. Where rows do not start on 16-byte boundaries, it moves single
//! elements.

use super::registers::turn;
use super::tile::{THREADS, store_piece};
use gpu_std::memory::{Element, GlobalMut, Shared};
use gpu_std::shared::{self, SharedLayout};
use gpu_std::thread::{
    block_idx_x, grid_dependency_synchronize, sync_threads, thread_idx_x, trigger_launch_completion,
};
use gpu_std::{device, kernel};

/// The size of the two tiles of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Square {
    /// Rows and columns of each.
    pub side: u32,
    /// Bytes of shared memory.
    pub shared_bytes: u32,
}

impl Square {
    const fn new(bytes: u32, side: u32) -> Self {
        Self { side, shared_bytes: SharedLayout::new().array::<u8>(2 * side * side * bytes).bytes() }
    }
}

/// Blocks for a matrix of `tiles` × `tiles` tiles: see [`pair`].
pub const fn blocks(tiles: u64) -> u64 {
    tiles.div_ceil(2) * (tiles + 1)
}

/// The tile (row, column) on or above the diagonal that block `block` takes; `None` for a block too many.
///
/// Row `y` of the triangle has `tiles - y` tiles and row `tiles - 1 - y` has `y + 1`: side by side they fill a row of a rectangle.
#[inline(always)]
pub fn pair(block: u32, tiles: u32) -> Option<(u32, u32)> {
    let width = (tiles + 1).max(1); // so that the division has no path for zero
    let (x, y) = (block % width, block / width);
    let of_row = tiles - y;
    if x < of_row {
        Some((y, y + x))
    } else if y == tiles - 1 - y {
        None
    } else {
        Some((tiles - 1 - y, tiles - 1 - y + (x - of_row)))
    }
}

/// Where the two tiles of a block lie, and the matrix they are in.
#[derive(Clone, Copy)]
struct Pair {
    rows: [u64; 2],
    columns: [u64; 2],
    side: u64,
    /// 2, or 1 on the diagonal.
    tiles: u32,
}

impl Pair {
    /// The part of tile `tile` inside the matrix: rows and columns.
    #[inline(always)]
    fn size<const T: u32>(&self, tile: u32) -> (u32, u32) {
        let (row, column) = self.start(tile);
        ((self.side - row).min(T as u64) as u32, (self.side - column).min(T as u64) as u32)
    }

    /// Where tile `tile` starts.
    #[inline(always)]
    fn start(&self, tile: u32) -> (u64, u64) {
        if tile == 0 { (self.rows[0], self.columns[0]) } else { (self.rows[1], self.columns[1]) }
    }
}

/// Both tiles, 16 bytes at a time; `ld` in words.
#[device]
#[inline(always)]
fn by_vectors<const E: u32, const T: u32, const UNITS: usize>(
    data: GlobalMut<u32>,
    ld: u64,
    pair: Pair,
    shared: Shared<u32>,
) {
    let vector = 16 / E;
    let groups = T / vector;
    let units = T / 4 * groups;
    let thread = thread_idx_x();
    let patches: [[[u32; 4]; 4]; UNITS] = core::array::from_fn(|unit| {
        let unit = thread + unit as u32 * THREADS;
        // On the diagonal the second tile's threads load the first one again, and do not store it.
        let tile = (unit / units).min(pair.tiles - 1);
        let (across, down) = (unit % groups, unit % units / groups);
        let (row, column) = pair.start(tile);
        let (height, width) = pair.size::<T>(tile);
        let first = column / vector as u64 * 4 + (across.min(width / vector - 1) * 4) as u64;
        core::array::from_fn(|i| {
            let row = row + (4 * down + i as u32).min(height - 1) as u64;
            data.offset(row * ld + first).read_vec(0)
        })
    });
    for unit in 0..UNITS {
        let number = thread + unit as u32 * THREADS;
        let (tile, across, down) = (number / units, number % groups, number % units / groups);
        let turned = turn::<E>(patches[unit]);
        let there = shared.offset(tile * (T * T * E / 4));
        for k in 0..vector as usize {
            store_piece::<E>(there, across * vector + k as u32, across, groups, down, turned, k);
        }
    }
    sync_threads();
    for step in 0..4 * UNITS {
        let item = thread + step as u32 * THREADS;
        let tile = item / (4 * units);
        let (group, column) = (item % groups, item % (4 * units) / groups);
        if tile < pair.tiles {
            let (row, first) = pair.start(tile);
            let (height, width) = pair.size::<T>(tile);
            if column < width && group * vector < height {
                let at = column * groups + (group ^ (column / vector % groups));
                let values: [u32; 4] = shared.offset(tile * (T * T * E / 4)).read_vec(4 * at);
                let line = data.offset((first + column as u64) * ld + row / vector as u64 * 4);
                line.write_vec(4 * group, values);
            }
        }
    }
}

/// Both tiles, element by element; `ld` in elements.
#[device]
#[inline(always)]
fn by_elements<U: Element, const T: u32>(data: GlobalMut<U>, ld: u64, pair: Pair, shared: Shared<U>) {
    let at = |tile: u32, row: u32, column: u32| (tile * T + row) * T + (column ^ row);
    let mut item = thread_idx_x();
    while item < pair.tiles * (T * T) {
        let (tile, row, column) = (item / (T * T), item / T % T, item % T);
        let (top, left) = pair.start(tile);
        let (height, width) = pair.size::<T>(tile);
        if row < height && column < width {
            let line = data.offset((top + row as u64) * ld + left);
            shared.write(at(tile, row, column), line.read(column));
        }
        item += THREADS;
    }
    sync_threads();
    let mut item = thread_idx_x();
    while item < pair.tiles * (T * T) {
        let (tile, column, row) = (item / (T * T), item / T % T, item % T);
        let (top, left) = pair.start(tile);
        let (height, width) = pair.size::<T>(tile);
        if row < height && column < width {
            let line = data.offset((left + column as u64) * ld + top);
            line.write(row, shared.read(at(tile, row, column)));
        }
        item += THREADS;
    }
}

macro_rules! squares {
    ($($name:ident, $module:ident, $size:ident: $U:ty, $T:literal;)*) => { $(
        #[doc = concat!("The tiles of `", stringify!($name), "`.")]
        pub const $size: Square = Square::new(size_of::<$U>() as u32, $T);

        #[doc = concat!("Transposes square matrices of elements as wide as a `", stringify!($U), "` in place.")]
        ///
        /// `side` rows of `side` elements, `ld` apart; the next matrix is `stride` after. Launch [`blocks`]`(tiles)` blocks of
        /// [`THREADS`] threads for each matrix, `tiles` being ⌈side / tile⌉.
        #[kernel(module = $module, launch_bounds(256), programmatic)]
        pub fn $name(data: GlobalMut<$U>, side: u64, ld: u64, stride: u64, tiles: u32) {
            const E: u32 = size_of::<$U>() as u32;
            const UNITS: usize = (2 * $T * $T * E / 64 / THREADS) as usize;
            let of_one = (tiles.div_ceil(2) * (tiles + 1)).max(1);
            let matrix = data.offset((block_idx_x() / of_one) as u64 * stride);
            let shared = shared::dynamic().array::<u32>(2 * $T * $T * E / 4);
            let Some((down, across)) = pair(block_idx_x() % of_one, tiles) else { return };
            let (down, across) = (down as u64 * $T, across as u64 * $T);
            let tiles = if down == across { 1 } else { 2 };
            let pair = Pair { rows: [down, across], columns: [across, down], side, tiles };
            grid_dependency_synchronize();
            trigger_launch_completion();
            let aligned = data.address().is_multiple_of(16)
                && ((ld | stride | side) * E as u64).is_multiple_of(16);
            if E == 16 || aligned {
                by_vectors::<E, $T, UNITS>(matrix.cast(), ld * E as u64 / 4, pair, shared);
            } else {
                by_elements::<$U, $T>(matrix, ld, pair, shared.cast());
            }
        }
    )* };
}

squares! {
    transpose_square_b8, transpose_square_b8, SQUARE_B8: u8, 128;
    transpose_square_b16, transpose_square_b16, SQUARE_B16: u16, 64;
    transpose_square_b32, transpose_square_b32, SQUARE_B32: u32, 64;
    transpose_square_b64, transpose_square_b64, SQUARE_B64: u64, 32;
    transpose_square_b128, transpose_square_b128, SQUARE_B128: u128, 32;
}
