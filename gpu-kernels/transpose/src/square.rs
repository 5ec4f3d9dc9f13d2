//! Transposition of square matrices in place: a block swaps a tile with the one across the diagonal.
//!
//! As [`super::tile`], for both tiles at once, each with shared memory of its own.
//! Where rows do not start on 16-byte boundaries, it moves single elements.

use super::registers::turn;
use super::tile::{THREADS, store_piece};
use gpu_std::memory::{Element, GlobalMut, Shared};
use gpu_std::shared::{self, SharedLayout};
use gpu_std::thread::{
    block_idx_x, grid_dependency_synchronize, sync_threads, thread_idx_x, trigger_launch_completion,
};
use gpu_std::{device, kernel};

/// The size of the tiles of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Square {
    /// Rows and columns.
    pub side: u32,
    /// Bytes of shared memory: both tiles.
    pub shared_bytes: u32,
}

impl Square {
    const fn new(bytes: u32, side: u32) -> Self {
        Self { side, shared_bytes: SharedLayout::new().array::<u8>(2 * side * side * bytes).bytes() }
    }
}

/// Tiles of the side of a group: blocks that follow each other take the tiles of a group and of the one across the
/// diagonal, so that both sides of the exchange move so many tiles' rows next to each other at about the same time.
const GROUP: u32 = 4;

/// The tiles of the side of a group of a matrix of `tiles` × `tiles` tiles: of few there are no groups, whose blocks
/// along the diagonal are half for nothing.
const fn group(tiles: u64) -> u32 {
    // Mutants: from how many tiles on there are groups is a matter of speed.
    if tiles < 16 { 1 } else { GROUP }
}

/// Blocks for a matrix of `tiles` × `tiles` tiles: see [`pair`].
pub const fn blocks(tiles: u64) -> u64 {
    let group = group(tiles) as u64;
    let groups = tiles.div_ceil(group);
    groups.div_ceil(2) * (groups + 1) * (group * group)
}

/// The tile (row, column) on or above the diagonal that block `block` takes; `None` for a block too many.
#[inline(always)]
pub fn pair(block: u32, tiles: u32) -> Option<(u32, u32)> {
    let group = group(tiles as u64);
    let (row, column) = of_triangle(block / (group * group), tiles.div_ceil(group))?;
    let inside = block % (group * group);
    let (row, column) = (row * group + inside / group, column * group + inside % group);
    if row <= column && column < tiles { Some((row, column)) } else { None }
}

/// The place (row, column) on or above the diagonal of `side` × `side` places with so many places before it.
///
/// Row `y` of the triangle has `side - y` places and row `side - 1 - y` has `y + 1`: side by side they fill a row of
/// a rectangle.
#[inline(always)]
pub(super) fn of_triangle(number: u32, side: u32) -> Option<(u32, u32)> {
    let width = (side + 1).max(1); // so that the division has no path for zero
    let (x, y) = (number % width, number / width);
    let of_row = side - y;
    if x < of_row {
        Some((y, y + x))
    } else if y == side - 1 - y {
        None
    } else {
        Some((side - 1 - y, side - 1 - y + (x - of_row)))
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
    let first = load_tile::<E, T, UNITS>(data, ld, &pair, 0);
    // On the diagonal this is the first one again, which then is stored once.
    let second = load_tile::<E, T, UNITS>(data, ld, &pair, pair.tiles - 1);
    let other = shared.offset(T * T * E / 4);
    turn_tile::<E, T, UNITS>(first, shared);
    turn_tile::<E, T, UNITS>(second, other);
    sync_threads();
    store_tile::<E, T, UNITS>(data, ld, &pair, 0, shared);
    if pair.tiles == 2 {
        store_tile::<E, T, UNITS>(data, ld, &pair, 1, other);
    }
}

/// The patches of a tile that this thread turns. Where the tile ends before, they are some of its others.
#[device]
#[inline(always)]
fn load_tile<const E: u32, const T: u32, const UNITS: usize>(
    data: GlobalMut<u32>,
    ld: u64,
    pair: &Pair,
    tile: u32,
) -> [[[u32; 4]; 4]; UNITS] {
    let vector = 16 / E;
    let groups = T / vector;
    let (row, column) = pair.start(tile);
    let (height, width) = pair.size::<T>(tile);
    core::array::from_fn(|unit| {
        let unit = thread_idx_x() + unit as u32 * THREADS;
        let (across, down) = (unit % groups, unit / groups);
        let first = column / vector as u64 * 4 + (across.min(width / vector - 1) * 4) as u64;
        core::array::from_fn(|i| {
            let row = row + (4 * down + i as u32).min(height - 1) as u64;
            data.offset(row * ld + first).read_vec(0)
        })
    })
}

/// Stores a tile's columns to shared memory.
#[device]
#[inline(always)]
fn turn_tile<const E: u32, const T: u32, const UNITS: usize>(
    patches: [[[u32; 4]; 4]; UNITS],
    shared: Shared<u32>,
) {
    let vector = 16 / E;
    let groups = T / vector;
    gpu_std::unroll::<UNITS>(|unit| {
        let number = thread_idx_x() + unit as u32 * THREADS;
        let (across, down) = (number % groups, number / groups);
        let turned = turn::<E>(patches[unit]);
        for k in 0..vector as usize {
            store_piece::<E>(shared, across * vector + k as u32, across, groups, down, turned, k);
        }
    });
}

/// Writes the turned tile `tile` to where the other one is.
#[device]
#[inline(always)]
fn store_tile<const E: u32, const T: u32, const UNITS: usize>(
    data: GlobalMut<u32>,
    ld: u64,
    pair: &Pair,
    tile: u32,
    shared: Shared<u32>,
) {
    let vector = 16 / E;
    let groups = T / vector;
    let (row, first) = pair.start(tile);
    let (height, width) = pair.size::<T>(tile);
    for step in 0..4 * UNITS {
        let item = thread_idx_x() + step as u32 * THREADS;
        let (group, column) = (item % groups, item / groups);
        if column < width && group * vector < height {
            let at = column * groups + (group ^ (column / vector % groups));
            let values: [u32; 4] = shared.read_vec(4 * at);
            let line = data.offset((first + column as u64) * ld + row / vector as u64 * 4);
            line.write_vec(4 * group, values);
        }
    }
}

/// Both tiles, element by element; `ld` in elements. The first goes to shared memory, where each element of the
/// second then takes the place of the one that it is exchanged with.
#[device]
#[inline(always)]
fn by_elements<U: Element, const T: u32>(data: GlobalMut<U>, ld: u64, pair: Pair, shared: Shared<U>) {
    let at = |row: u32, column: u32| row * T + (column ^ row);
    let second = pair.tiles - 1;
    each::<U, T>(data, ld, &pair, 0, |line, row, column| shared.write(at(row, column), line.read(column)));
    sync_threads();
    each::<U, T>(data, ld, &pair, second, |line, row, column| {
        let here = line.read(column);
        line.write(column, shared.read(at(column, row)));
        shared.write(at(column, row), here);
    });
    if second == 1 {
        sync_threads();
        each::<U, T>(data, ld, &pair, 0, |line, row, column| {
            line.write(column, shared.read(at(row, column)));
        });
    }
}

/// Calls `take` for the elements of tile `tile` that this thread takes, along its rows: with where the row starts,
/// row and column.
#[device]
#[inline(always)]
fn each<U: Element, const T: u32>(
    data: GlobalMut<U>,
    ld: u64,
    pair: &Pair,
    tile: u32,
    take: impl Fn(GlobalMut<U>, u32, u32),
) {
    let (top, left) = pair.start(tile);
    let (height, width) = pair.size::<T>(tile);
    let mut item = thread_idx_x();
    // Mutants: right behind the last element there is no row of the tile.
    while item < T * T {
        let (row, column) = (item / T, item % T);
        if row < height && column < width {
            take(data.offset((top + row as u64) * ld + left), row, column);
        }
        item += THREADS;
    }
}

macro_rules! squares {
    ($($name:ident, $images:ident, $size:ident: $U:ty, $T:literal, $blocks:literal blocks;)*) => { $(
        #[doc = concat!("The tiles of `", stringify!($name), "`.")]
        pub const $size: Square = Square::new(size_of::<$U>() as u32, $T);

        #[doc = concat!("Transposes square matrices of elements as wide as a `", stringify!($U), "` in place.")]
        ///
        /// `side` rows of `side` elements, `ld` apart; the next matrix is `stride` after. Launch [`blocks`]`(tiles)`
        /// blocks of [`THREADS`] threads for each matrix, `tiles` being ⌈side / tile⌉.
        #[kernel(images = $images, launch_bounds(256, $blocks), programmatic)]
        pub fn $name(data: GlobalMut<$U>, side: u64, ld: u64, stride: u64, tiles: u32) {
            const E: u32 = size_of::<$U>() as u32;
            const UNITS: usize = ($T * $T * E / 64 / THREADS) as usize;
            const { assert!(UNITS as u32 * 64 * THREADS == $T * $T * E) };
            let of_one = (blocks(tiles as u64) as u32).max(1);
            let matrix = data.offset((block_idx_x() / of_one) as u64 * stride);
            let shared = shared::dynamic().array::<u32>($T * $T * E / 2);
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

// Rows of 256 bytes were the fastest (H200, times of the copy at 16384²: 2 bytes 0.940, of 128 bytes 0.865), but two
// tiles of as many bytes of 1 byte are more than the registers of 256 threads hold (0.695, of 128 bytes 0.867): those
// are of another kernel, for large matrices (`square_wide.rs`, 0.915). Blocks of a multiprocessor: as many as keep
// all loads in flight.
squares! {
    transpose_square_b8, sm_75_90, SQUARE_B8: u8, 128, 4 blocks;
    transpose_square_b16, sm_75_90, SQUARE_B16: u16, 128, 3 blocks;
    transpose_square_b32, sm_75_90, SQUARE_B32: u32, 64, 4 blocks;
    transpose_square_b64, sm_75_90, SQUARE_B64: u64, 64, 3 blocks;
    transpose_square_b128, sm_75_90, SQUARE_B128: u128, 32, 4 blocks;
}
