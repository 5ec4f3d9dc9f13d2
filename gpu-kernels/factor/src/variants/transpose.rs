//! The transposition through shared memory (seed: C. González, 2012, listing 8.13; Ruetsch and Micikevicius, 2009).

use gpu_std::float::Float;
use gpu_std::memory::{Global, GlobalMut};
use gpu_std::shared::{self, SharedLayout};
use gpu_std::thread::{block_idx_x, block_idx_y, sync_threads, thread_idx_x, thread_idx_y};
use gpu_std::{device, kernel, rolled};

use super::TILE;

/// Rows of threads of a block.
pub const TRANSPOSE_ROWS: u32 = 8;

/// Dynamic shared memory of the transposition, in bytes.
pub const fn transpose_shared_bytes<T: Float>() -> u32 {
    SharedLayout::new().array::<T>(TILE * (TILE + 1)).bytes()
}

#[device]
#[inline(always)]
fn transpose<T: Float>(input: Global<T>, output: GlobalMut<T>, rows: u32, columns: u32) {
    let tile = shared::dynamic().array::<T>(TILE * (TILE + 1));
    let (x, y) = (thread_idx_x(), thread_idx_y());
    let (first_column, first_row) = (block_idx_x() * TILE, block_idx_y() * TILE);
    let mut at = y;
    while at < TILE {
        at = rolled(at);
        if first_row + at < rows && first_column + x < columns {
            tile.write(at * (TILE + 1) + x, input.read((first_row + at) * columns + first_column + x));
        }
        at += TRANSPOSE_ROWS;
    }
    sync_threads();
    let mut at = y;
    while at < TILE {
        at = rolled(at);
        if first_column + at < columns && first_row + x < rows {
            output.write((first_column + at) * rows + first_row + x, tile.read(x * (TILE + 1) + at));
        }
        at += TRANSPOSE_ROWS;
    }
}

macro_rules! kernels {
    ($($T:ty: $transpose:ident, $product:ident, $subtract:ident, $solve:ident;)*) => { $(
        #[doc = concat!("The transposed of a `rows` × `columns` matrix of `", stringify!($T), "`.")]
        ///
        /// Launch blocks of [`TILE`] × [`TRANSPOSE_ROWS`] threads, one a tile, with [`transpose_shared_bytes`].
        #[kernel(images = sm_75, launch_bounds(256))]
        pub fn $transpose(input: Global<$T>, output: GlobalMut<$T>, rows: u32, columns: u32) {
            transpose::<$T>(input, output, rows, columns);
        }
    )* };
}
crate::textbook_instances!(kernels);
