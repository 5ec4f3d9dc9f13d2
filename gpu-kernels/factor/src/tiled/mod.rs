//! Cholesky's factorisation of large matrices by a single launch: a block of threads a tile after the other, each
//! waiting for the panels that it needs.
//!
//! The lower triangle is cut into tiles of [`TILE`] × [`TILE`]. A tile of row `i` and column `j` is `A - Σ L(i, k) ·
//! L(j, k)ᵀ` over the `k < j`, and then factored, on the diagonal, or solved with the factor there (left-looking;
//! Golub and Van Loan, *Matrix Computations*, 4th ed., 4.2.8). Tiles are handed out column by column, that on the
//! diagonal as early as may be: what a tile waits for was handed out before, so some block always goes on, however few
//! there are (Buttari, Langou, Kurzak and Dongarra, *A class of parallel tiled linear algebra algorithms*, 2009).
//!
//! What one tile knows of its columns the others are told a panel of [`PANEL`] at a time. So the way from one pivot to
//! the next leads through panels, not tiles: while a tile on the diagonal is factored, the one below it is solved a
//! panel behind, and the next one on the diagonal takes off that panel's products.
//!
//! A block's first warp looks which panels are known, and factors the squares on the diagonal while the others take
//! off the products of the panel before: there it has nothing to do with those, as its part of a tile lies above the
//! diagonal when they begin.
//!
//! Of a skyline only the tiles are there of which some row is, and of a tile's sums only the panels that both rows of
//! tiles have. They are handed out in an order of its own ([`TASK`]).
//!
//! # Order of operations
//! That of the kernels of steps (`factor_step_f32`, `factor_step_f64`) where what is added is one chain: of an element
//! the sum of the products of the columns before its tile's, from zero, is subtracted from A's, and then those of its
//! tile's columns are, in ascending order. What is left of a skyline counts as zero: its factor has the bits of the
//! matrix that has zeros there.

mod matrix;
mod panels;
mod products;

use gpu_collective::grid::tickets;
use gpu_std::atomic::{Ordering, Scope};
use gpu_std::float::Float;
use gpu_std::memory::{Global, GlobalMut, Shared};
use gpu_std::shared::{self, SharedLayout};
use gpu_std::thread::{sync_threads, thread_idx_x};
use gpu_std::warp::{FULL, WarpShuffleValue, lane_id, sync_warp};
use gpu_std::{device, keep_rolled, kernel};

use crate::block::{PANEL, STEP};
use crate::pivot::Root;
use matrix::Matrix;
pub use matrix::{NO_ROW, Shape};
use panels::Panels;
use products::{Sums, products};

/// Rows and columns of a tile: those of a step, as the order of operations wants it.
pub const TILE: u32 = STEP;
/// Threads of a block.
pub const THREADS: u32 = 256;
/// Words of `progress` before the tiles': the next tile to hand out.
pub const HEAD: u32 = 1;
/// Words of a tile in a skyline's table, in which they are in the order in which they are handed out: row and column.
pub const TASK: u32 = 2;

/// Panels of a tile.
const PANELS: u32 = TILE / PANEL;
/// Stages of products: one that is worked on, the others on their way.
const STAGES: u32 = 3;
/// Elements from one column of a panel to the next in shared memory: four more than there are rows, so that what lanes
/// read together falls into different banks.
const PITCH: u32 = TILE + 4;
/// Bytes that follow every fourth column: what lanes write together is four columns apart.
const GAP: u32 = 32;

/// Words of a block: row and column of its tile, two by which the first warp tells the others what is known, and the
/// matrix's number.
const WORDS: u32 = 5;
/// The row of a tile where none is left.
const NO_TILE: u32 = u32::MAX;

/// Where a column of a panel begins in shared memory.
#[inline(always)]
const fn place<T: Float>(column: u32) -> u32 {
    column * PITCH + column / 4 * (GAP / size_of::<T>() as u32)
}

/// Elements of a panel.
const fn panel_len<T: Float>() -> u32 {
    place::<T>(PANEL)
}

/// Bytes of dynamic shared memory of a block.
pub const fn shared_bytes<T: Float>() -> u32 {
    SharedLayout::new()
        .array::<T>(2 * STAGES * panel_len::<T>())
        .array::<T>(2 * PANEL)
        .array::<u64>(2)
        .array::<u32>(WORDS)
        .bytes()
}

/// Factors a matrix. `V` elements are 16 bytes.
#[device]
#[inline(always)]
fn factor<T: Sums + Root + WarpShuffleValue, const V: usize, const SKYLINE: bool>(
    (a, tables): (GlobalMut<T>, Global<u32>),
    reciprocals: GlobalMut<T>,
    progress: GlobalMut<u32>,
    info: GlobalMut<u32>,
    shape: Shape,
) {
    let mut memory = shared::dynamic();
    let room = memory.array::<T>(2 * STAGES * panel_len::<T>());
    let of_square = memory.array::<T>(2 * PANEL);
    let starts = memory.array::<u64>(2);
    let words = memory.array::<u32>(WORDS);
    let matrix = Matrix::<T, SKYLINE>::new((a, tables, shape), starts, words.offset(4));
    loop {
        keep_rolled();
        if thread_idx_x() == 0 {
            // A tile of every matrix, and then the next one: meanwhile what that waits for becomes known.
            let number = tickets::draw(progress);
            let count = if SKYLINE { 1 } else { shape.count.max(1) };
            let (tile, number) = (number / count, number % count);
            let mut rows = [NO_TILE; 2];
            if tile < shape.tiles {
                (rows[0], rows[1]) = matrix.tile(tile);
                matrix.begin(number, rows);
            }
            words.write_vec(0, rows);
        }
        sync_threads();
        let [row, column]: [u32; 2] = words.read_vec(0);
        if row == NO_TILE {
            break;
        }
        let panels = Panels { matrix, progress, row, column, room, of_square, reciprocals, info };
        let mut sums = T::zeros();
        products::<T, V, SKYLINE>(&mut sums, &matrix, progress, (row, column), room, words.offset(2));
        panels.subtract::<V>(&mut sums);
        panels.solve::<V>(&mut sums);
    }
}

/// Waits until a word of `progress` is larger than `count`: a warp's first lane asks, and says so to the others.
#[device]
#[inline(always)]
fn wait_for(progress: GlobalMut<u32>, word: impl Fn() -> u32, count: u32) {
    if lane_id() == 0 {
        let word = progress.atomic(word());
        while word.load(Ordering::Acquire, Scope::Device) <= count {
            keep_rolled();
        }
    }
    sync_warp(FULL);
}

/// Panel `number` of shared memory.
#[inline(always)]
fn panel<T: Float>(room: Shared<T>, number: u32) -> Shared<T> {
    room.offset(number * panel_len::<T>())
}

macro_rules! kernels {
    ($($name:ident, $skyline:ident, $images:ident: $T:ty, $v:literal;)*) => { $(
        #[doc = concat!("The factorisation of matrices of `", stringify!($T), "`: any number of blocks of")]
        /// [`THREADS`] threads, with [`shared_bytes`].
        ///
        /// `reciprocals` has an element for each row of each matrix; `progress` has [`HEAD`] words and one for each
        /// tile, all zero before. A matrix's word of `info`, zero before, becomes the order of the first leading minor
        /// that is not positive.
        #[kernel(images = $images, launch_bounds(256, 1))]
        pub fn $name(
            a: GlobalMut<$T>,
            reciprocals: GlobalMut<$T>,
            progress: GlobalMut<u32>,
            info: GlobalMut<u32>,
            shape: Shape,
        ) {
            // A whole triangle has no tables: none are read.
            factor::<$T, $v, false>((a, progress.as_global()), reciprocals, progress, info, shape);
        }

        /// That of one skyline matrix, of which `tables` has the structure (see [`Shape`]).
        #[doc = concat!("As [`", stringify!($name), "`](fn@", stringify!($name), ") otherwise.")]
        #[kernel(images = $images, launch_bounds(256, 1))]
        pub fn $skyline(
            a: GlobalMut<$T>,
            tables: Global<u32>,
            reciprocals: GlobalMut<$T>,
            progress: GlobalMut<u32>,
            info: GlobalMut<u32>,
            shape: Shape,
        ) {
            factor::<$T, $v, true>((a, tables), reciprocals, progress, info, shape);
        }
    )* };
}
kernels! {
    factor_tiled_f32, factor_skyline_f32, sm_80: f32, 4;
    factor_tiled_f64, factor_skyline_f64, sm_80_90: f64, 2;
}
