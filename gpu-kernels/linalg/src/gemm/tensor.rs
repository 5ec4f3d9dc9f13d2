//! The product of doubles by tiles, on the tensor cores.
//!
//! As [`tiled`](super::tiled), but that a warp computes its part of the tile together, by products of 16 × 4 and 4 ×
//! 8 matrices ([`gpu_std::mma`]). Which row of the tile is which row of such a matrix is free, if only C has the
//! same: rows `g` and `g + 8` of A's are rows `2 g` and `2 g + 1` of the tile, and column `g` of two of B's side by
//! side columns `2 g` and `2 g + 1`. A lane then reads all of its elements in pairs, 16 bytes at once, and they lie
//! in registers as an operation takes them.
//!
//! While a warp multiplies one group of `k` it reads the next one's elements, at a stage's end those of the next
//! stage: the tensor cores wait for shared memory only once, before the first group. Operations over 4 of `k`, the
//! smallest, need the fewest registers for it. An H200 has 47.6 TFLOP/s with it at 4096², where operations over 16 of
//! `k`, loaded for each, had 36.2.

use gpu_std::async_copy::{commit, wait};
use gpu_std::memory::{Global, GlobalMut, Shared};
use gpu_std::mma::m16n8k4_f64;
use gpu_std::shared;
use gpu_std::thread::{sync_threads, thread_idx_x};
use gpu_std::{device, opaque, rolled, unroll};

use super::operand::{Copier, Product, columns};
use super::place::block_place;
use super::store::{beyond, row_pitch, write, write_rows};
use super::tiled::Tile;

/// Stages: more than three do not fit into the shared memory of a multiprocessor of 8.6, 99 KiB.
pub(super) const STAGES: u32 = 3;
/// How much of `k` a stage holds.
pub(super) const DEPTH: u32 = 16;
/// How much of `k` an operation of the tensor cores takes.
const GROUP: u32 = 4;

/// Computes a tile of `BM` × `BN` elements of C with [`Tile::threads`] threads, whose warps have `16 TM` × `16 TN`
/// elements each. Launch [`Tile::count`] blocks for each product of the batch.
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

    let place = block_place::<BM, BN>(&product);
    // Mutants: a tile right behind the last column has nothing to read, and nothing to write.
    if place.column >= product.n {
        return;
    }
    let (a, b) = (place.factor(a, &product.a), place.factor(b, &product.b));
    let depth = place.depth(&product);
    let mut copy_a = Copier::<f64, BM, DEPTH, THREADS, 2>::new(a, &product.a, place.row, product.m);
    let mut copy_b = Copier::<f64, BN, DEPTH, THREADS, 2>::new(b, &product.b, place.column, product.n);
    let following = |stage: u32| if stage == (STAGES - 1) * stage_len { 0 } else { stage + stage_len };
    // The stages' first tiles; without any `k` one stage of zeros.
    let mut k = 0;
    while k < STAGES * DEPTH {
        k = rolled(k);
        // Mutants: one stage more is of zeros, and nobody reads it.
        if k < depth.max(1) {
            let stage = stages.offset(k / DEPTH * stage_len);
            let b_tile = stage.offset(DEPTH * a_pitch);
            copy_a.next(&product.a, stage, depth - k);
            copy_b.next(&product.b, b_tile, depth - k);
        }
        commit();
        k += DEPTH;
    }

    let (row, column) = warp_place::<BN, TM, TN>();
    let lane = thread_idx_x() % 32;
    // The lane's first pairs of a stage.
    let a_place = lane % 4 * a_pitch + row + lane / 4 * 2;
    let b_place = DEPTH * a_pitch + lane % 4 * b_pitch + column + lane / 4 * 2;
    let mut sums = [[[[0.0; 4]; 2]; TN]; TM];
    let (mut a, mut b) = ([[0.0; 2]; TM], [[0.0; 2]; TN]);
    wait::<{ STAGES - 1 }>();
    sync_threads();
    unroll::<TM>(|i| a[i] = stages.offset(a_place).read_vec(i as u32 * 16));
    unroll::<TN>(|j| b[j] = stages.offset(b_place).read_vec(j as u32 * 16));
    let mut read = 0;
    let mut k = 0;
    while k < depth {
        let (a_tile, b_tile) = (stages.offset(read + a_place), stages.offset(read + b_place));
        unroll::<{ (DEPTH / GROUP - 1) as usize }>(|group| {
            let next = (group as u32 + 1) * GROUP;
            multiply(&mut sums, (&mut a, &mut b), (a_tile, next * a_pitch), (b_tile, next * b_pitch));
        });
        // The next stage has arrived, and behind the barrier nobody reads this one any longer: it is filled again.
        // After the last stage there is none, and this one is read once more, for nothing.
        wait::<{ STAGES - 2 }>();
        sync_threads();
        let fill = read;
        if k + DEPTH < depth {
            read = following(read);
        }
        let (a_tile, b_tile) = (stages.offset(read + a_place), stages.offset(read + b_place));
        multiply(&mut sums, (&mut a, &mut b), (a_tile, 0), (b_tile, 0));
        let later = k + STAGES * DEPTH;
        // Mutants: as before the loop.
        if later < depth {
            let stage = stages.offset(fill);
            copy_a.next(&product.a, stage, depth - later);
            copy_b.next(&product.b, stage.offset(DEPTH * a_pitch), depth - later);
        }
        commit();
        k += DEPTH;
    }

    let place = block_place::<BM, BN>(&product);
    let (row, column) = warp_place::<BN, TM, TN>();
    let (row, column) = (place.row + row, place.column + column);
    let lane = opaque(thread_idx_x()) % 32;
    let (lane_row, lane_column) = (lane / 4 * 2, lane % 4 * 4);
    let c = place.product(c, &product);
    if product.c_vectors == 0 {
        let pitch = const { row_pitch(16 * TN) };
        // Mutants: there is more, or it does not compile.
        const { assert!(THREADS / 2 * row_pitch(16 * TN) <= STAGES * DEPTH * (Tile::pitch(BM) + Tile::pitch(BN))) };
        // Behind the barrier nobody reads the stages any longer.
        sync_threads();
        let held = stages.offset(opaque(thread_idx_x()) / 32 * (16 * pitch));
        let mut i = 0;
        while i < TM as u32 {
            i = rolled(i);
            unroll::<TN>(|j| {
                unroll::<4>(|at| {
                    let (row, column) =
                        (lane_row + at as u32 / 2, lane_column + (16 * j + at % 2 * 2) as u32);
                    held.write_vec(row * pitch + column, [sums[0][j][0][at], sums[0][j][1][at]]);
                });
            });
            write_rows::<f64, 16, TN>(held, 16, c, &product, (row + 16 * i, column), alpha, beta);
            unroll::<TM>(|i| {
                if i + 1 < TM {
                    sums[i] = sums[i + 1];
                }
            });
            i += 1;
        }
        return;
    }
    let (row, column) = (row + lane_row, column + lane_column);
    // Loops that shift the sums forwards, as in `tiled`.
    let mut i = 0;
    while i < TM as u32 {
        i = rolled(i);
        let mut j = 0;
        while j < TN as u32 {
            j = rolled(j);
            let mut at = 0;
            while at < 4 {
                at = rolled(at);
                // Neighbouring columns belong to the two matrices side by side.
                let values = [sums[0][0][0][0], sums[0][0][1][0]];
                let (row, column) = (row + i * 16 + at / 2, column + j * 16 + at % 2 * 2);
                if row < product.m {
                    let c = c.offset(row as u64 * product.c_leading + column as u64);
                    let range = columns(product.triangle, row, product.n);
                    write(c, values, beyond(range, column), alpha, beta);
                }
                unroll::<2>(|side| {
                    let [first, second, third, fourth] = sums[0][0][side];
                    sums[0][0][side] = [second, third, fourth, first];
                });
                at += 1;
            }
            unroll::<TN>(|j| {
                if j + 1 < TN {
                    sums[0][j] = sums[0][j + 1];
                }
            });
            j += 1;
        }
        unroll::<TM>(|i| {
            if i + 1 < TM {
                sums[i] = sums[i + 1];
            }
        });
        i += 1;
    }
}

/// The row and the column, in the block's tile, of the warp's first element.
#[device]
#[inline(always)]
pub(super) fn warp_place<const BN: u32, const TM: usize, const TN: usize>() -> (u32, u32) {
    let warp = opaque(thread_idx_x()) / 32;
    let across = BN / (16 * TN as u32);
    (warp / across * (16 * TM as u32), warp % across * (16 * TN as u32))
}

/// Multiplies by a group of `k`, `a` and `b`, and replaces them by the next one's elements: a pair of B as soon as it
/// was used. Of A and of B there come the lane's first pair in the stage, and how far from there the next group
/// begins: what is constant goes into the index, which the instruction adds.
#[device]
#[inline(always)]
fn multiply<const TM: usize, const TN: usize>(
    sums: &mut [[[[f64; 4]; 2]; TN]; TM],
    (a, b): (&mut [[f64; 2]; TM], &mut [[f64; 2]; TN]),
    (a_tile, a_first): (Shared<f64>, u32),
    (b_tile, b_first): (Shared<f64>, u32),
) {
    let mut next_a = [[0.0; 2]; TM];
    unroll::<TN>(|j| {
        unroll::<2>(|side| {
            unroll::<TM>(|i| sums[i][j][side] = m16n8k4_f64(a[i], [b[j][side]], sums[i][j][side]));
        });
        b[j] = b_tile.read_vec(b_first + j as u32 * 16);
        // A's pairs in between, as evenly as they go.
        unroll::<TM>(|i| {
            if i % TN == j {
                next_a[i] = a_tile.read_vec(a_first + i as u32 * 16);
            }
        });
    });
    *a = next_a;
}
