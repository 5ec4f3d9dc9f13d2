//! Transposition of tiles 16 bytes at a time: where every row starts on a 16-byte boundary.
//!
//! A block moves one tile through shared memory, so that both the reads and the writes are whole rows of a tile. A
//! thread takes patches of four rows by 16 bytes: four 16-byte loads, a transposition in registers, stores of four
//! elements of each column to shared memory, and 16 bytes at a time out again.
//!
//! # Bank conflicts
//! The tile is not padded. In shared memory it is stored by columns, and 16-byte group `g` of column `c` lies in group
//! `g ^ (c / (16 / E))`. Eight lanes that store neighbouring patches then use different groups, and so do eight lanes
//! that read one column: each pass of the memory serves all banks.
//!
//! # Borders
//! Rows and columns are multiples of a vector, so a vector lies inside the matrix or outside. Those outside are loaded
//! from the last row or vector inside (which costs no memory access of its own and keeps the loads free of branches)
//! and not stored.

use super::grid::Grid;
use super::registers::turn;
use gpu_std::memory::{Global, GlobalMut, Shared};
use gpu_std::shared::{self, SharedLayout};
use gpu_std::thread::{
    block_idx_x, grid_dependency_synchronize, sync_threads, thread_idx_x, trigger_launch_completion,
};
use gpu_std::{device, kernel};

/// Threads of a block.
pub const THREADS: u32 = 256;

/// The size of a tile of elements of so many bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tile {
    /// Rows of the input, a row of the output.
    pub rows: u32,
    /// Columns of the input.
    pub columns: u32,
    /// Bytes of shared memory.
    pub shared_bytes: u32,
}

impl Tile {
    /// A tile of `rows` × `columns` elements of `bytes` bytes.
    pub const fn new(bytes: u32, rows: u32, columns: u32) -> Self {
        Self { rows, columns, shared_bytes: SharedLayout::new().array::<u8>(rows * columns * bytes).bytes() }
    }
}

/// Moves the tile: `source` and `target` are where it starts, the leading dimensions are in words, `height` × `width`
/// is what of it lies in the matrix.
#[device]
#[inline(always)]
fn move_tile<const E: u32, const R: u32, const C: u32, const UNITS: usize>(
    source: Global<u32>,
    target: GlobalMut<u32>,
    (input_ld, output_ld): (u64, u64),
    (height, width): (u32, u32),
    tile: Shared<u32>,
) {
    let vector = 16 / E;
    let groups = R / vector; // of a column in shared memory
    let thread = thread_idx_x();

    // All loads are asked for before the first is used.
    let patches: [[[u32; 4]; 4]; UNITS] = core::array::from_fn(|unit| {
        let (across, down) = patch::<E, R, C>(thread + unit as u32 * THREADS);
        let vector_in_row = across.min(width / vector - 1);
        core::array::from_fn(|i| {
            let row = (4 * down + i as u32).min(height - 1);
            source.offset(row as u64 * input_ld).read_streaming_vec(vector_in_row * 4)
        })
    });
    for unit in 0..UNITS {
        let (across, down) = patch::<E, R, C>(thread + unit as u32 * THREADS);
        let turned = turn::<E>(patches[unit]);
        for k in 0..vector as usize {
            store_piece::<E>(tile, across * vector + k as u32, across, groups, down, turned, k);
        }
    }
    sync_threads();
    for step in 0..4 * UNITS {
        let item = thread + step as u32 * THREADS;
        let (group, column) = (item % groups, item / groups);
        if column < width && group * vector < height {
            let at = column * groups + (group ^ (column / vector % groups));
            let values: [u32; 4] = tile.read_vec(4 * at);
            target.offset(column as u64 * output_ld).write_streaming_vec(4 * group, values);
        }
    }
}

/// The patch numbered `unit`: which vector of the rows, which four rows. Eight lanes go along the rows where a column
/// of four elements is less than 16 bytes, so that a warp's stores to shared memory meet all banks.
#[inline(always)]
fn patch<const E: u32, const R: u32, const C: u32>(unit: u32) -> (u32, u32) {
    // Mutants: which patch a thread takes makes no difference to the result.
    let lanes = if E < 4 { 8 } else { C * E / 16 };
    let (lane, rest) = (unit % lanes, unit / lanes);
    (rest / (R / 4) * lanes + lane, rest % (R / 4))
}

/// Stores four rows of column `column`: `E` words of `turned`, from `k * E` on.
#[inline(always)]
pub(super) fn store_piece<const E: u32>(
    tile: Shared<u32>,
    column: u32,
    across: u32,
    groups: u32,
    down: u32,
    turned: [u32; 16],
    k: usize,
) {
    let base = column * groups;
    let swizzle = across % groups;
    match E {
        1 => tile.write(4 * (base + ((down / 4) ^ swizzle)) + down % 4, turned[k]),
        2 => tile.write_vec(
            4 * (base + ((down / 2) ^ swizzle)) + down % 2 * 2,
            [turned[(2 * k) % 16], turned[(2 * k + 1) % 16]],
        ),
        _ => {
            for part in 0..E / 4 {
                let first = k * E as usize + 4 * part as usize;
                let values: [u32; 4] = core::array::from_fn(|i| turned[(first + i) % 16]);
                tile.write_vec(4 * (base + ((down * (E / 4) + part) ^ swizzle)), values);
            }
        }
    }
}

macro_rules! tiled {
    ($($name:ident, $images:ident, $size:ident: $E:literal bytes, $R:literal x $C:literal;)*) => { $(
        #[doc = concat!("The tile of `", stringify!($name), "`.")]
        pub const $size: Tile = Tile::new($E, $R, $C);

        #[doc = concat!("Transposes matrices of elements of ", $E, " bytes, whose rows and strides are multiples of 16 bytes.")]
        ///
        /// `input` has `rows` rows of `columns` elements, `input_ld` words apart; `output` has `columns` rows,
        /// `output_ld` words apart. Strides in `grid` are in words. Launch a block of [`THREADS`] threads for each of
        /// its tiles.
        #[kernel(images = $images, launch_bounds(256), programmatic)]
        pub fn $name(
            input: Global<u32>,
            output: GlobalMut<u32>,
            grid: Grid,
            rows: u64,
            columns: u64,
            input_ld: u64,
            output_ld: u64,
        ) {
            const UNITS: usize = ($R * $C * $E / 64 / THREADS) as usize;
            let tile = shared::dynamic().array::<u32>($R * $C * $E / 4);
            let place = grid.place(block_idx_x());
            let height = (rows - place.down as u64 * $R).min($R) as u32;
            let width = (columns - place.across as u64 * $C).min($C) as u32;
            grid_dependency_synchronize();
            trigger_launch_completion();
            move_tile::<$E, $R, $C, UNITS>(
                input.offset(place.source),
                output.offset(place.target),
                (input_ld, output_ld),
                (height, width),
                tile,
            );
        }
    )* };
}

// Chosen on the H200 at 16384², times of the copy: 2 bytes 64 × 128 0.961, 128 × 64 0.937, 128 × 128 0.94; 4 bytes 64
// × 64 0.978, the best of {32, 64, 128, 256}²; for 1, 8 and 16 bytes larger and wider tiles are within 1 % of these.
tiled! {
    transpose_b8, sm_75_90, TILE_B8: 1 bytes, 128 x 128;
    transpose_b16, sm_75_90, TILE_B16: 2 bytes, 64 x 128;
    transpose_b32, sm_75_90, TILE_B32: 4 bytes, 64 x 64;
    transpose_b64, sm_75_90, TILE_B64: 8 bytes, 64 x 32;
    transpose_b128, sm_75_90, TILE_B128: 16 bytes, 32 x 32;
}
