//! Transposition of a matrix of 4-byte elements.
//!
//! A block moves one [`TILE`] × [`TILE`] tile through shared memory, so that both the reads and the writes are whole
//! rows of a tile. Where the tile is complete and every row starts on a 16-byte boundary, a thread takes a 4 × 4 patch:
//! four 16-byte loads, a transposition in registers, four 16-byte stores to shared memory, and the same out again.
//! Elsewhere (borders, odd leading dimensions, views that start anywhere) it moves single elements.
//!
//! # Bank conflicts
//! Neither form pads its tile. Rows are stored rotated by exclusive-or, as in CUTLASS's layouts: element `(r, c)` lies in
//! column `c ^ r`, 16-byte group `g` of row `r` in group `g ^ (r / 4)`. So the 32 elements (or the 8 groups that one
//! pass of the memory serves) of a row and of a column always lie in different banks.
//!
//! # Order of the tiles
//! Consecutive blocks go *down* the input, so that they write along the output's rows. Writes that are close in time
//! then share DRAM pages (H200, 16384²: 4,129 GB/s against 4,013 along the input's rows, 3,995 in 16 × 16 groups).

pub mod variants;

use gpu_std::memory::{Global, GlobalMut, Shared};
use gpu_std::shared::{self, SharedLayout};
use gpu_std::thread::{
    block_idx_x, grid_dependency_synchronize, sync_threads, thread_idx_x, trigger_launch_completion,
};
use gpu_std::{device, kernel};

/// Rows and columns of a tile. 64 was the fastest of {32, 64, 128, 256}² on the H200, square or not.
pub const TILE: u32 = 64;
/// Threads of a block: one for each 4 × 4 patch of the tile.
pub const THREADS: u32 = (TILE / PATCH) * (TILE / PATCH);
/// Bytes of dynamic shared memory.
pub const SHARED_BYTES: u32 = SharedLayout::new().array::<u32>(TILE * TILE).bytes();

/// Rows and columns of a patch: 16 bytes.
const PATCH: u32 = 4;
/// Patches in a row of a tile.
const PATCHES: u32 = TILE / PATCH;
/// The same as a length of arrays.
const P: usize = PATCH as usize;

/// Transposes the `rows` × `columns` matrix `input` (row-major, rows `input_ld` elements apart) into the `columns` ×
/// `rows` matrix `output` (row-major, rows `output_ld` apart).
///
/// Launch `tiles_down * tiles_across` blocks of [`THREADS`] threads with [`SHARED_BYTES`], where `tiles_down` =
/// ⌈rows / [`TILE`]⌉ and `tiles_across` = ⌈columns / [`TILE`]⌉.
#[kernel(module = transpose_b32, launch_bounds(256), programmatic)]
pub fn transpose_b32(
    input: Global<u32>,
    output: GlobalMut<u32>,
    rows: u64,
    columns: u64,
    input_ld: u64,
    output_ld: u64,
    tiles_down: u32,
) {
    let tile = shared::dynamic().array::<u32>(TILE * TILE);
    let tiles_down = tiles_down.max(1); // so that the divisions have no path for zero
    let row = (block_idx_x() % tiles_down) as u64 * TILE as u64;
    let column = (block_idx_x() / tiles_down) as u64 * TILE as u64;
    let source = input.offset(row * input_ld + column);
    let target = output.offset(column * output_ld + row);
    // How much of the tile lies in the matrix.
    let height = (rows - row).min(TILE as u64) as u32;
    let width = (columns - column).min(TILE as u64) as u32;

    grid_dependency_synchronize();
    trigger_launch_completion();
    let aligned = (input.address() | output.address()).is_multiple_of(16)
        && (input_ld | output_ld).is_multiple_of(PATCH as u64);
    if aligned && height == TILE && width == TILE {
        by_patches(source, target, input_ld, output_ld, tile);
    } else {
        by_elements(source, target, input_ld, output_ld, height, width, tile);
    }
}

/// A whole tile, 16 bytes at a time.
#[device]
#[inline(always)]
fn by_patches(source: Global<u32>, target: GlobalMut<u32>, input_ld: u64, output_ld: u64, tile: Shared<u32>) {
    // A warp reads two rows of patches: each of its loads covers two rows of 256 bytes.
    let across = thread_idx_x() % PATCHES;
    let down = thread_idx_x() / PATCHES;
    let patch: [[u32; P]; P] = core::array::from_fn(|i| {
        source.offset((down * PATCH + i as u32) as u64 * input_ld).read_streaming_vec(across * PATCH)
    });
    for i in 0..P {
        let transposed: [u32; P] = core::array::from_fn(|j| patch[j][i]);
        tile.write_vec(patch_at(across * PATCH + i as u32, down), transposed);
    }
    sync_threads();
    for i in 0..PATCH {
        let row = down + i * (THREADS / PATCHES);
        let values: [u32; P] = tile.read_vec(patch_at(row, across));
        target.offset(row as u64 * output_ld).write_streaming_vec(across * PATCH, values);
    }
}

/// Where 16-byte group `group` of row `row` of the transposed tile lies.
fn patch_at(row: u32, group: u32) -> u32 {
    row * TILE + (group ^ (row / PATCH)) * PATCH
}

/// Any part of a tile, one element at a time.
#[device]
#[inline(always)]
fn by_elements(
    source: Global<u32>,
    target: GlobalMut<u32>,
    input_ld: u64,
    output_ld: u64,
    height: u32,
    width: u32,
    tile: Shared<u32>,
) {
    /// Elements of a row or column that the block moves at a time, and how often that is.
    const STEP: u32 = THREADS / TILE;
    const STEPS: usize = (TILE / STEP) as usize;
    let along = thread_idx_x() % TILE;
    let first = thread_idx_x() / TILE;

    // All loads are asked for before the first is used.
    let values: [u32; STEPS] = core::array::from_fn(|step| {
        let row = first + step as u32 * STEP;
        if row < height && along < width {
            source.offset(row as u64 * input_ld).read_streaming(along)
        } else {
            0
        }
    });
    for step in 0..STEPS {
        let row = first + step as u32 * STEP;
        tile.write(element_at(row, along), values[step]);
    }
    sync_threads();
    for step in 0..STEPS as u32 {
        let column = first + step * STEP;
        if column < width && along < height {
            target
                .offset(column as u64 * output_ld)
                .write_streaming(along, tile.read(element_at(along, column)));
        }
    }
}

/// Where element (`row`, `column`) of the tile lies.
fn element_at(row: u32, column: u32) -> u32 {
    row * TILE + (column ^ row)
}
