//! The product of doubles by tiles, on the tensor cores.
//!
//! As [`tiled`](super::tiled), but that a warp computes its part of the tile together, by products of 16 × 16 and 16 × 8
//! matrices ([`gpu_std::mma`]). Which row of the tile is which row of such a matrix is free, if only C has the same: rows
//! `g` and `g + 8` are rows `2 g` and `2 g + 1` of the tile, and column `g` of two matrices side by side columns `2 g` and
//! `2 g + 1`. So a lane reads its elements of A and of B in pairs, 16 bytes at once, and four of its results are
//! contiguous in C.

use gpu_std::async_copy::{commit, wait};
use gpu_std::memory::{Global, GlobalMut, Shared};
use gpu_std::mma::m16n8k16_f64;
use gpu_std::shared;
use gpu_std::thread::{sync_threads, thread_idx_x};
use gpu_std::{device, opaque, unroll};

use super::operand::{Copier, Product};
use super::tiled::{Tile, block_place, write};

/// Stages: more than three do not fit into the shared memory of a multiprocessor of 8.6, 99 KiB.
pub(super) const STAGES: u32 = 3;
/// How much of `k` a stage holds: what an operation of the tensor cores takes.
pub(super) const DEPTH: u32 = 16;

/// Computes a tile of `BM` × `BN` elements of C with [`Tile::threads`] threads, whose warps have `16 TM` × `16 TN` elements
/// each. Launch [`Tile::count`] blocks for each product of the batch.
#[device]
#[inline(always)]
pub(super) fn tensor<const BM: u32, const BN: u32, const THREADS: u32, const TM: usize, const TN: usize>(
    a: Global<f64>,
    b: Global<f64>,
    c: GlobalMut<f64>,
    product: Product,
    alpha: f64,
    beta: f64,
) {
    const { assert!(BM * BN == THREADS / 32 * 256 * (TM * TN) as u32, "the warps' parts make up the tile") };
    let (a_pitch, b_pitch) = (Tile::pitch(BM), Tile::pitch(BN));
    let stage_len = DEPTH * (a_pitch + b_pitch);
    let stages = shared::dynamic().array::<f64>(STAGES * stage_len);

    let (number, first_row, first_column) = block_place::<BM, BN>(&product);
    let a = a.offset(number as u64 * product.a.batch);
    let b = b.offset(number as u64 * product.b.batch);
    let mut copy_a = Copier::<f64, BM, DEPTH, THREADS, 2>::new(a, &product.a, first_row, product.m);
    let mut copy_b = Copier::<f64, BN, DEPTH, THREADS, 2>::new(b, &product.b, first_column, product.n);
    let mut fill = 0;
    // Copies what belongs to `k` and the `DEPTH - 1` after it to the next stage.
    let mut next = |k: u32| {
        if k < product.k {
            let stage = stages.offset(fill);
            copy_a.next(&product.a, stage, product.k - k);
            copy_b.next(&product.b, stage.offset(DEPTH * a_pitch), product.k - k);
        }
        fill = if fill == (STAGES - 1) * stage_len { 0 } else { fill + stage_len };
        commit();
    };
    let mut k = 0;
    while k < opaque((STAGES - 1) * DEPTH) {
        next(k);
        k += DEPTH;
    }

    let (row, column) = warp_place::<BN, TM, TN>();
    let lane = thread_idx_x() % 32;
    // The lane's first pair of a row of A, and of B: `g` of the pair, `t` of `k`.
    let a_place = lane % 4 * a_pitch + row + lane / 4 * 2;
    let b_place = lane % 4 * b_pitch + column + lane / 4 * 2;
    let mut sums = [[[[0.0; 4]; 2]; TN]; TM];
    let mut read = 0;
    let mut k = 0;
    while k < product.k {
        // As in the tiled kernel: this step's stage has arrived, and nobody reads the one before any longer.
        wait::<{ STAGES - 2 }>();
        sync_threads();
        next(k + (STAGES - 1) * DEPTH);

        let a_tile = stages.offset(read + a_place);
        let b_tile = stages.offset(read + DEPTH * a_pitch + b_place);
        let mut a = [[0.0; 8]; TM];
        unroll::<TM>(|i| a[i] = pairs(a_tile.offset(i as u32 * 16), a_pitch));
        unroll::<TN>(|j| {
            let b: [f64; 8] = pairs(b_tile.offset(j as u32 * 16), b_pitch);
            unroll::<2>(|side| {
                let b = [b[side], b[2 + side], b[4 + side], b[6 + side]];
                unroll::<TM>(|i| sums[i][j][side] = m16n8k16_f64(a[i], b, sums[i][j][side]));
            });
        });
        read = if read == (STAGES - 1) * stage_len { 0 } else { read + stage_len };
        k += DEPTH;
    }

    let (number, first_row, first_column) = block_place::<BM, BN>(&product);
    let (row, column) = warp_place::<BN, TM, TN>();
    let lane = opaque(thread_idx_x()) % 32;
    let (row, column) = (first_row + row + lane / 4 * 2, first_column + column + lane % 4 * 4);
    let c = c.offset(number as u64 * product.c_batch);
    // One loop, not four: a closure as large as the inner three would become a function, and the sums would go to memory.
    unroll::<64>(|at| {
        if at < const { 4 * TM * TN } {
            let (pair, half, j, i) = (at % 2, at / 2 % 2, at / 4 % TN, at / 4 / TN);
            // Neighbouring columns belong to the two matrices side by side.
            let values = [sums[i][j][0][2 * half + pair], sums[i][j][1][2 * half + pair]];
            let (row, column) = (row + (i * 16 + half) as u32, column + (j * 16 + 2 * pair) as u32);
            if row < product.m {
                let c = c.offset(row as u64 * product.c_leading + column as u64);
                let left = product.n.saturating_sub(column);
                write(c, values, left, product.c_vectors != 0, alpha, beta);
            }
        }
    });
}

/// The row and the column, in the block's tile, of the warp's first element.
#[device]
#[inline(always)]
fn warp_place<const BN: u32, const TM: usize, const TN: usize>() -> (u32, u32) {
    let warp = opaque(thread_idx_x()) / 32;
    let across = BN / (16 * TN as u32);
    (warp / across * (16 * TM as u32), warp % across * (16 * TN as u32))
}

/// A lane's elements of two fragments, in pairs: of every fourth `k`, from `first` on.
#[device]
#[inline(always)]
fn pairs(first: Shared<f64>, pitch: u32) -> [f64; 8] {
    let mut values = [0.0; 8];
    unroll::<4>(|at| {
        let pair: [f64; 2] = first.offset(at as u32 * 4 * pitch).read_vec(0);
        (values[2 * at], values[2 * at + 1]) = (pair[0], pair[1]);
    });
    values
}
