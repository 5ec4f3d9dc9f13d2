//! Cholesky's factorisation of a large matrix by a single launch: a block of threads a tile after the other, each waiting for the
//! panels that it needs.
//!
//! The lower triangle is cut into tiles of [`TILE`] × [`TILE`]. A tile of row `i` and column `j` is `A - Σ L(i, k) · L(j, k)ᵀ` over the `k < j`,
//! and then factored, on the diagonal, or solved with the factor there (left-looking; Golub and Van Loan, *Matrix Computations*, 4th
//! ed., 4.2.8). Tiles are handed out column by column, that on the diagonal as early as may be: what a tile waits for was handed
//! out before, so some block always goes on, however few there are (Buttari, Langou, Kurzak and Dongarra, *A class of parallel tiled
//! linear algebra algorithms*, 2009).
//!
//! What one tile knows of its columns the others are told a panel of [`PANEL`] at a time. So the way from one pivot to the next
//! leads through panels, not tiles: while a tile on the diagonal is factored, the one below it is solved a panel behind, and the
//! next one on the diagonal takes off that panel's products.
//!
//! A block's first warp looks which panels are known, and factors the squares on the diagonal while the others take off the products of
//! the panel before: there it has nothing to do with those, as its part of a tile lies above the diagonal when they begin.
//!
//! # Order of operations
//! That of the kernels of steps (`factor_step_f32`, `factor_step_f64`) where what is added is one chain: of an element the
//! sum of the products of the columns before its tile's, from zero, is subtracted from A's, and then those of its tile's
//! columns are, in ascending order.

mod panels;
mod products;

use gpu_std::atomic::{Ordering, Scope};
use gpu_std::float::Float;
use gpu_std::memory::{GlobalMut, Shared};
use gpu_std::parameter::Parameter;
use gpu_std::shared::{self, SharedLayout};
use gpu_std::thread::{sync_threads, thread_idx_x};
use gpu_std::warp::WarpShuffleValue;
use gpu_std::{device, keep_rolled, kernel};

use crate::block::{Elements, PANEL, STEP};
use crate::pivot::Root;
use panels::Panels;
use products::{Sums, products};

/// Rows and columns of a tile: those of a step, as the order of operations wants it.
pub const TILE: u32 = STEP;
/// Threads of a block.
pub const THREADS: u32 = 256;
/// Words of `progress` before the tiles': the next tile to hand out.
pub const HEAD: u32 = 1;

/// Panels of a tile.
const PANELS: u32 = TILE / PANEL;
/// Stages of products: one that is worked on, the others on their way.
const STAGES: u32 = 3;
/// Elements from one column of a panel to the next in shared memory: four more than there are rows, so that what lanes read and
/// write together falls into different banks.
const PITCH: u32 = TILE + 4;
/// Elements of a panel.
const ROOM: u32 = PANEL * PITCH;

/// A matrix, but for its address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Parameter)]
#[repr(C)]
pub struct Shape {
    /// Elements from one row to the next.
    pub row: u64,
    /// Elements from one column to the next; this or the other is one.
    pub column: u64,
    /// Rows, and columns.
    pub size: u32,
    /// Whether rows are one element apart and 16 bytes of a column may be copied at once: 1 or 0.
    pub vectors: u32,
}

impl Shape {
    /// Rows of tiles.
    pub const fn tile_rows(&self) -> u32 {
        self.size.div_ceil(TILE)
    }

    /// Tiles.
    pub const fn tiles(&self) -> u32 {
        let rows = self.tile_rows();
        rows * (rows + 1) / 2
    }

    /// Words of `progress`.
    pub const fn progress_len(&self) -> u32 {
        HEAD + self.tiles()
    }
}

/// Bytes of dynamic shared memory of a block.
pub const fn shared_bytes<T: Float>() -> u32 {
    SharedLayout::new().array::<T>(2 * STAGES * ROOM).array::<T>(PANEL).array::<u32>(4).bytes()
}

/// Where a tile's word of `progress` is: how many of its panels are known.
#[inline(always)]
const fn place(row: u32, column: u32) -> u32 {
    HEAD + row * (row + 1) / 2 + column
}

/// The tiles in the order in which they are handed out: (0, 0), and then column `c` after column: (c + 1, c), (c + 1, c + 1), (c + 2, c), …
struct Order {
    /// The column at hand, and the number of its first tile.
    column: u32,
    first: u32,
}

impl Order {
    /// Row and column of tile `number`, which is beyond those that were asked for before.
    #[device]
    #[inline(always)]
    fn tile(&mut self, number: u32, rows: u32) -> (u32, u32) {
        if number == 0 {
            return (0, 0);
        }
        while number >= self.first + rows - self.column {
            keep_rolled();
            self.first += rows - self.column;
            self.column += 1;
        }
        match number - self.first {
            0 => (self.column + 1, self.column),
            1 => (self.column + 1, self.column + 1),
            other => (self.column + other, self.column),
        }
    }
}

/// Factors a matrix. `V` elements are 16 bytes.
#[device]
#[inline(always)]
fn factor<T: Sums + Root + WarpShuffleValue, const V: usize>(
    a: GlobalMut<T>,
    reciprocals: GlobalMut<T>,
    progress: GlobalMut<u32>,
    info: GlobalMut<u32>,
    shape: Shape,
) {
    let mut memory = shared::dynamic();
    let stages = memory.array::<T>(2 * STAGES * ROOM);
    let of_square = memory.array::<T>(PANEL);
    let words = memory.array::<u32>(4);
    let l = Elements { first: a, row: shape.row, column: shape.column };
    let mut order = Order { column: 0, first: 1 };
    loop {
        keep_rolled();
        if thread_idx_x() == 0 {
            words.write(0, progress.atomic(0).fetch_add(1, Ordering::Relaxed, Scope::Device));
        }
        sync_threads();
        let number = words.read(0);
        if number >= shape.tiles() {
            break;
        }
        let (row, column) = order.tile(number, shape.tile_rows());
        let mut sums = products::<T, V>(&l, progress, &shape, (row, column), stages, words);
        panels::subtract(&mut sums, &l, &shape, (row, column));
        // Nobody reads the stages any longer, nor the number.
        sync_threads();
        let panels = Panels { l, progress, shape, row, column, room: stages, of_square, reciprocals };
        if row == column {
            panels.factor::<V>(&mut sums, info);
        } else {
            panels.solve::<V>(&mut sums);
        }
    }
}

/// Panel `number` of shared memory.
#[inline(always)]
fn panel<T: Float>(room: Shared<T>, number: u32) -> Shared<T> {
    room.offset(number * ROOM)
}

macro_rules! kernels {
    ($($name:ident, $images:ident: $T:ty, $v:literal;)*) => { $(
        #[doc = concat!("The factorisation of a matrix of `", stringify!($T), "`: any number of blocks of [`THREADS`] threads, with [`shared_bytes`].")]
        ///
        /// `reciprocals` has an element for each row; `progress` has [`Shape::progress_len`] words, all zero before. `info`, zero before,
        /// becomes the order of the first leading minor that is not positive.
        #[kernel(images = $images, launch_bounds(256, 1))]
        pub fn $name(
            a: GlobalMut<$T>,
            reciprocals: GlobalMut<$T>,
            progress: GlobalMut<u32>,
            info: GlobalMut<u32>,
            shape: Shape,
        ) {
            factor::<$T, $v>(a, reciprocals, progress, info, shape);
        }
    )* };
}
kernels! {
    factor_tiled_f32, sm_80: f32, 4;
    factor_tiled_f64, sm_80_90: f64, 2;
}
