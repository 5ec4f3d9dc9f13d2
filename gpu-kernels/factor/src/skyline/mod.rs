//! Cholesky's factorisation of a block skyline matrix by a single launch: a block of threads a tile after the other,
//! each waiting for the tiles that it needs.
//!
//! The lower triangle is cut into tiles of [`TILE`] × [`TILE`]; those left of a row's first one are not there. A tile
//! of row `i` and column `k` is `A - Σ L(i, j) · L(k, j)ᵀ` over the `j < k` that both rows have, and then factored, on the
//! diagonal, or solved with the factor there (left-looking; Golub and Van Loan, *Matrix Computations*, 4th ed., 4.2.8). Tiles are handed
//! out column by column, that on the diagonal as early as may be: what a tile waits for was handed out before, so some block always goes on, however few there
//! are (Buttari, Langou, Kurzak and Dongarra, *A class of parallel tiled linear algebra algorithms*, 2009).
//!
//! # Order of operations
//! An element of L is one chain of fused multiply-subtracts, from A's element on, over ascending columns from the first
//! column of the first tile that both rows have, what is left of a row's skyline counting as zero. Within a tile of the diagonal it is then
//! multiplied by the [reciprocal of the pivot's root](crate::Root); below it zero is added to it, and it is multiplied by the
//! quotient of one and the root. It is a function of the structure alone.

mod load;
mod tile;

use gpu_std::atomic::{Ordering, Scope};
use gpu_std::float::Float;
use gpu_std::memory::{Global, GlobalMut};
use gpu_std::parameter::Parameter;
use gpu_std::shared::{self, SharedLayout};
use gpu_std::thread::{grid_dim_x, sync_threads, thread_idx_x};
use gpu_std::{device, keep_rolled, kernel, rolled};

use gpu_std::warp::WarpShuffleValue;
use load::{STAGE_ROW_BYTES, Strip};
use tile::Tile;

use crate::pivot::Root;

/// Rows and columns of a tile.
pub const TILE: u32 = 64;
/// Threads of a block.
pub const THREADS: u32 = 256;
/// Words of `progress` before the tiles': the next tile to hand out, what says which pivot failed, and how many blocks
/// have ended.
pub const HEAD: u32 = 3;
/// Blocks of a multiprocessor.
pub const BLOCKS: u32 = 2;

/// The first column of a row that is not there: none is as large.
pub const NO_ROW: u32 = u32::MAX;

/// Elements from one column of the transposed factor of the diagonal to the next.
const PITCH: u32 = TILE + 1;

/// A matrix and its structure, but for addresses.
///
/// `tables` holds, one after the other: the first tile of every row of tiles; where the row's tiles are among
/// `progress`, less that first tile; the column from which on all rows of it are there; the first column of every row, and [`NO_ROW`] for the rows that the last tiles have beyond the
/// matrix; and row and column of every tile, in the order in which they are handed out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Parameter)]
#[repr(C)]
pub struct Shape {
    /// Elements from one row to the next of a matrix whose rows are contiguous, else from one column to the next.
    pub leading: u64,
    /// Rows, and columns.
    pub size: u32,
    /// Tiles that are there.
    pub tiles: u32,
    /// Whether rows are contiguous: 1 or 0.
    pub rows_contiguous: u32,
    /// Whether 16 bytes of a row may be copied at once: 1 or 0.
    pub vectors: u32,
}

impl Shape {
    /// Rows of tiles.
    pub const fn tile_rows(&self) -> u32 {
        self.size.div_ceil(TILE)
    }

    /// Where the rows' places begin in the tables.
    const fn places(&self) -> u32 {
        self.tile_rows()
    }

    /// Where the columns begin from which on all rows of a row of tiles are there.
    const fn wholes(&self) -> u32 {
        2 * self.tile_rows()
    }

    /// Where the rows' first columns begin.
    const fn starts(&self) -> u32 {
        3 * self.tile_rows()
    }

    /// Where the tiles begin.
    const fn order(&self) -> u32 {
        self.starts() + self.tile_rows() * TILE
    }
}

/// Bytes of dynamic shared memory of a block.
pub const fn shared_bytes<T: Float>() -> u32 {
    SharedLayout::new()
        .array::<u32>(4)
        .array::<T>(3 * TILE)
        .array::<u8>(room_bytes(size_of::<T>() as u32))
        .bytes()
}

/// Two stages of two strips, or a factor of the diagonal.
const fn room_bytes(element: u32) -> u32 {
    let (stages, factor) = (4 * TILE * STAGE_ROW_BYTES, TILE * PITCH * element);
    if stages > factor { stages } else { factor }
}

/// Waits until a tile is known, for the warp.
#[device]
#[inline(always)]
fn wait_for(progress: GlobalMut<u32>, at: u32) {
    if gpu_std::warp::lane_id() == 0 {
        while progress.atomic(at).load(Ordering::Acquire, Scope::Device) == 0 {
            keep_rolled();
        }
    }
    gpu_std::warp::sync_warp(gpu_std::warp::FULL);
}

/// `V` elements are 16 bytes; a stage holds `DEPTH` columns.
#[device]
#[inline(always)]
fn factor<T: Root + WarpShuffleValue, const V: usize, const DEPTH: u32>(
    a: GlobalMut<T>,
    tables: Global<u32>,
    progress: GlobalMut<u32>,
    info: GlobalMut<u32>,
    shape: Shape,
) {
    let mut memory = shared::dynamic();
    let ticket = memory.array::<u32>(4);
    let columns = memory.array::<T>(2 * TILE);
    let inverses = memory.array::<T>(TILE);
    let room = memory.array::<u8>(room_bytes(size_of::<T>() as u32)).cast::<T>();
    loop {
        keep_rolled();
        if thread_idx_x() == 0 {
            ticket.write(0, progress.atomic(0).fetch_add(1, Ordering::Relaxed, Scope::Device));
        }
        sync_threads();
        let number = ticket.read(0);
        if number >= shape.tiles {
            break;
        }
        let row = tables.read_only(shape.order() + 2 * number);
        let column = tables.read_only(shape.order() + 2 * number + 1);
        let first = tables.read_only(row).max(tables.read_only(column));
        let row_place = tables.read_only(shape.places() + row);
        let column_place = tables.read_only(shape.places() + column);

        // ---- A less the products of the tiles to the left
        let mut tile = Tile::<T>::load(a, tables, &shape, row, column);
        let left = Strip::<T, V, DEPTH>::new(tables, &shape, row);
        let upper = Strip::<T, V, DEPTH>::new(tables, &shape, column);
        let steps = TILE / DEPTH;
        let (mut at, end) = (first * steps, column * steps);
        // The first stage without a column that is known to be known.
        let mut known = first;
        let stage = |at: u32| {
            let half = room.offset(at % 2 * (2 * TILE * Strip::<T, V, DEPTH>::PITCH));
            (half, half.offset(TILE * Strip::<T, V, DEPTH>::PITCH))
        };
        let mut copied = at;
        while at < end {
            at = rolled(at);
            // The stage at hand, the first time, and the one after it.
            while copied < (at + 2).min(end) {
                copied = rolled(copied);
                if copied / steps >= known {
                    known = load::wait_for_some(progress, row_place, column_place, copied / steps, column);
                }
                let (left_stage, upper_stage) = stage(copied);
                left.copy(a.as_global(), tables, &shape, copied * DEPTH, left_stage);
                if row != column {
                    upper.copy(a.as_global(), tables, &shape, copied * DEPTH, upper_stage);
                }
                gpu_std::async_copy::commit();
                copied += 1;
            }
            if at + 1 < end {
                gpu_std::async_copy::wait::<1>();
            } else {
                gpu_std::async_copy::wait::<0>();
            }
            sync_threads();
            let (left_stage, upper_stage) = stage(at);
            let upper_stage = if row == column { left_stage } else { upper_stage };
            tile.subtract::<V>(left_stage, upper_stage);
            // Nobody fills a stage that others still read.
            sync_threads();
            at += 1;
        }

        // ---- the tile itself
        let width = (shape.size - column * TILE).min(TILE);
        if row == column {
            let failed = tile.factor::<V>(room, inverses, width);
            if failed != 0 && thread_idx_x() == 0 {
                // The smaller the order of the minor, the larger: zero is none.
                let order = column * TILE + failed;
                progress.atomic(1).fetch_max(order.wrapping_neg(), Ordering::Relaxed, Scope::Device);
            }
        } else {
            wait_for(progress, HEAD + column_place.wrapping_add(column));
            load::transposed(a.as_global(), tables, &shape, column, room);
            sync_threads();
            if thread_idx_x() < TILE {
                inverses.write(thread_idx_x(), T::ONE / room.read(thread_idx_x() * (PITCH + 1)));
            }
            sync_threads();
            tile.solve(columns, room, inverses);
        }
        tile.store(a, tables, &shape, row, column);
        // What all threads have written is released by one; and nobody overwrites what others still read.
        sync_threads();
        if thread_idx_x() == 0 {
            let at = HEAD + row_place.wrapping_add(column);
            progress.atomic(at).store(1, Ordering::Release, Scope::Device);
        }
    }
    // The last block to end knows what all have found.
    if thread_idx_x() == 0
        && progress.atomic(2).fetch_add(1, Ordering::AcqRel, Scope::Device) == grid_dim_x() - 1
    {
        info.write(0, progress.atomic(1).load(Ordering::Relaxed, Scope::Device).wrapping_neg());
    }
}

macro_rules! kernels {
    ($($name:ident: $T:ty, $v:literal, $depth:literal;)*) => { $(
        #[doc = concat!("The factorisation of a matrix of `", stringify!($T), "`: any number of blocks of [`THREADS`] threads, with [`shared_bytes`].")]
        ///
        /// `progress` has [`HEAD`] words and one for every tile, all zero before. `info` becomes the order of the first leading
        /// minor that is not positive, or zero.
        #[kernel(images = sm_75_80, launch_bounds(256, 2))]
        pub fn $name(
            a: GlobalMut<$T>,
            tables: Global<u32>,
            progress: GlobalMut<u32>,
            info: GlobalMut<u32>,
            shape: Shape,
        ) {
            factor::<$T, $v, $depth>(a, tables, progress, info, shape);
        }
    )* };
}
kernels! {
    factor_skyline_f32: f32, 4, 32;
    factor_skyline_f64: f64, 2, 16;
}
