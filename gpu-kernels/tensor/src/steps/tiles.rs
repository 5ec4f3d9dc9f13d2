//! Tiles in shared memory (`wgmma`): a warpgroup multiplies 64 rows of A by 128 columns of B where they lie, and no
//! factor goes through registers.
//!
//! Lines of a tile have 128 bytes, and the pieces of 16 bytes in them are exchanged: that with number `p` of line `l`
//! is at `p ^ l % 8`, so that those of the same columns are in different banks. The copy engine would do that by
//! itself; here threads do.

use gpu_std::barrier::fence_proxy;
use gpu_std::half::bf16;
use gpu_std::memory::{Global, GlobalMut, Shared};
use gpu_std::shared::{self, SharedLayout};
use gpu_std::thread::{block_idx_x, sync_threads, thread_idx_x};
use gpu_std::{device, keep_rolled, kernel, unroll, warp, wgmma};

use super::{STEP_THREADS, STEP_TILE, eight, vectors, write_pair};
use crate::place::Place;

/// Elements along `k` of a tile, and in a line.
const DEPTH: u32 = wgmma::depth::<bf16>();
/// Elements of a tile.
pub(super) const TILE: u32 = STEP_TILE * DEPTH;
/// Sums of a thread: a warpgroup's are 64 × 128.
pub(super) const SUMS: usize = 64;

/// Dynamic shared memory of a block.
pub const STEP_TILES_BYTES: u32 = SharedLayout::new().array::<bf16>(TILE).array::<bf16>(TILE).bytes();

/// Blocks of [`STEP_THREADS`](crate::STEP_THREADS) threads, two warpgroups, with
/// [`STEP_TILES_BYTES`](crate::STEP_TILES_BYTES), one for each tile of [`STEP_TILE`](crate::STEP_TILE)² of C.
#[kernel(images = sm_90a, launch_bounds(256, 2))]
pub fn tensor_step_tiles(a: Global<bf16>, b: Global<bf16>, c: GlobalMut<f32>, m: u32, n: u32, k: u32) {
    let mut memory = shared::dynamic();
    let (a_tile, b_tile) = (memory.array::<bf16>(TILE), memory.array::<bf16>(TILE));
    let thread = thread_idx_x();
    let Place { row, column, .. } = Place::of(block_idx_x(), m.div_ceil(STEP_TILE), n.div_ceil(STEP_TILE));
    let (row, column) = (row * STEP_TILE, column * STEP_TILE);
    let mut sums = [0; SUMS];
    let mut first = 0;
    while first < k {
        keep_rolled();
        unroll::<{ vectors(DEPTH) }>(|turn| {
            let vector = thread + turn as u32 * STEP_THREADS;
            let (line, piece) = (vector / 8, vector % 8);
            let of_a = eight(a, row + line, first + 8 * piece, [m, k]);
            write_piece(a_tile, line, piece, of_a);
            // Lines of B are across `k`: its tile is two of 64 columns, one behind the other.
            let (line, piece) = (vector / 16, vector % 16);
            let of_b = eight(b, first + line, column + 8 * piece, [k, n]);
            write_piece(b_tile.offset(piece / 8 * (TILE / 2)), line, piece % 8, of_b);
        });
        // What threads have written is read by the tensor cores, on another way to memory.
        fence_proxy();
        sync_threads();
        multiply(&mut sums, a_tile, b_tile);
        // All have read what is overwritten next.
        sync_threads();
        first += DEPTH;
    }
    write(c, &sums, row, column, [m, n]);
}

/// Writes 16 bytes to where they belong in a tile with lines of 128.
#[device]
#[inline(always)]
fn write_piece(tile: Shared<bf16>, line: u32, piece: u32, words: [u32; 4]) {
    tile.cast::<u32>().write_vec(line * (DEPTH / 2) + (piece ^ (line % 8)) * 4, words);
}

/// Adds the product of the warpgroup's half of a tile of A and of one of B to its sums.
#[device]
#[inline(always)]
pub(super) fn multiply(sums: &mut [u32; SUMS], a_tile: Shared<bf16>, b_tile: Shared<bf16>) {
    let own = a_tile.offset(thread_idx_x() / 128 * (TILE / 2));
    wgmma::multiply_add::<bf16, false, true, SUMS>(sums, own, b_tile);
}

/// Writes the block's sums, of a tile that begins there: of each eight columns a lane has two neighbours of two rows.
#[device]
#[inline(always)]
pub(super) fn write(c: GlobalMut<f32>, sums: &[u32; SUMS], row: u32, column: u32, shape: [u32; 2]) {
    let lane = warp::lane_id();
    let (row, column) = (row + thread_idx_x() / 32 * 16 + lane / 4, column + lane % 4 * 2);
    unroll::<{ SUMS / 4 }>(|block| {
        unroll::<2>(|half| {
            let at = block * 4 + half * 2;
            let (row, column) = (row + 8 * half as u32, column + 8 * block as u32);
            write_pair(c, row, column, shape, [sums[at], sums[at + 1]]);
        });
    });
}
