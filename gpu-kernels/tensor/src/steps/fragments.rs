//! Fragments in registers (`mma`): a warp reads 16 × 16 elements of a factor at a time from shared memory, and
//! multiplies what it has read.
//!
//! A block has 8 warps, two above each other and four side by side, which compute 64 × 32 elements of C each. Lines in
//! shared memory are padded by 16 bytes, so that eight of them that are read together are in different banks.

use gpu_std::half::bf16;
use gpu_std::memory::{Global, GlobalMut, Shared};
use gpu_std::mma::{load_matrices, multiply_add};
use gpu_std::shared::{self, SharedLayout};
use gpu_std::thread::{block_idx_x, sync_threads, thread_idx_x};
use gpu_std::{device, keep_rolled, kernel, unroll, warp};

use super::{STEP_THREADS, STEP_TILE, eight, vectors, write_pair};
use crate::place::Place;

/// Elements along `k` that are in shared memory at a time.
const DEPTH: u32 = 32;
/// From one line to the next of A's tile, whose lines are along `k`, and of B's.
const A_PITCH: u32 = DEPTH + 8;
const B_PITCH: u32 = STEP_TILE + 8;

/// Dynamic shared memory of a block.
pub const STEP_FRAGMENTS_BYTES: u32 =
    SharedLayout::new().array::<bf16>(STEP_TILE * A_PITCH).array::<bf16>(DEPTH * B_PITCH).bytes();

/// Blocks of [`STEP_THREADS`](crate::STEP_THREADS) threads with
/// [`STEP_FRAGMENTS_BYTES`](crate::STEP_FRAGMENTS_BYTES), one for each tile of [`STEP_TILE`](crate::STEP_TILE)² of C.
#[kernel(images = sm_80, launch_bounds(256, 2))]
pub fn tensor_step_fragments(a: Global<bf16>, b: Global<bf16>, c: GlobalMut<f32>, m: u32, n: u32, k: u32) {
    let mut memory = shared::dynamic();
    let a_tile = memory.array::<bf16>(STEP_TILE * A_PITCH);
    let b_tile = memory.array::<bf16>(DEPTH * B_PITCH);
    let thread = thread_idx_x();
    let Place { row, column, .. } = Place::of(block_idx_x(), m.div_ceil(STEP_TILE), n.div_ceil(STEP_TILE));
    let (row, column) = (row * STEP_TILE, column * STEP_TILE);
    let (down, right) = (thread / 128 * 64, thread / 32 % 4 * 32);
    let mut sums = [0; 64];
    let mut first = 0;
    while first < k {
        keep_rolled();
        unroll::<{ vectors(DEPTH) }>(|turn| {
            let vector = thread + turn as u32 * STEP_THREADS;
            let (line, at) = (vector / 4, vector % 4 * 8);
            let of_a = eight(a, row + line, first + at, [m, k]);
            a_tile.cast::<u32>().write_vec((line * A_PITCH + at) / 2, of_a);
            let (line, at) = (vector / 16, vector % 16 * 8);
            let of_b = eight(b, first + line, column + at, [k, n]);
            b_tile.cast::<u32>().write_vec((line * B_PITCH + at) / 2, of_b);
        });
        sync_threads();
        multiply(a_tile.offset(down * A_PITCH), b_tile.offset(right), 0, &mut sums);
        multiply(a_tile.offset(down * A_PITCH), b_tile.offset(right), 16, &mut sums);
        // All have read what is overwritten next.
        sync_threads();
        first += DEPTH;
    }
    let lane = warp::lane_id();
    let (row, column) = (row + down + lane / 4, column + right + lane % 4 * 2);
    unroll::<4>(|i| {
        unroll::<4>(|j| {
            unroll::<2>(|half| {
                let at = i * 16 + j * 4 + half * 2;
                let (row, column) = (row + 16 * i as u32 + 8 * half as u32, column + 8 * j as u32);
                write_pair(c, row, column, [m, n], [sums[at], sums[at + 1]]);
            });
        });
    });
}

/// Adds the products of 16 elements along `k`, from `k` on, to a warp's sums: of 16 × 8 elements of C four are a
/// lane's, and four such are side by side.
#[device]
#[inline(always)]
fn multiply(a_tile: Shared<bf16>, b_tile: Shared<bf16>, k: u32, sums: &mut [u32; 64]) {
    // Lanes say where the lines of four matrices of 8 × 8 begin: of A two below each other, then two along `k`; of B,
    // whose lines are turned on the way, two along `k`, then two side by side.
    let lane = warp::lane_id();
    let (line, second, third) = (lane % 8, lane / 8 % 2 * 8, lane / 16 * 8);
    let mut of_b = [[0; 4]; 2];
    unroll::<2>(|pair| {
        let place = (k + second + line) * B_PITCH + third + 16 * pair as u32;
        of_b[pair] = load_matrices::<bf16, true>(b_tile, place);
    });
    unroll::<4>(|i| {
        let place = (16 * i as u32 + second + line) * A_PITCH + k + third;
        let of_a = load_matrices::<bf16, false>(a_tile, place);
        unroll::<4>(|j| {
            let at = i * 16 + j * 4;
            let pair = [of_b[j / 2][j % 2 * 2], of_b[j / 2][j % 2 * 2 + 1]];
            let new = multiply_add::<bf16>(of_a, pair, [sums[at], sums[at + 1], sums[at + 2], sums[at + 3]]);
            unroll::<4>(|which| sums[at + which] = new[which]);
        });
    });
}
