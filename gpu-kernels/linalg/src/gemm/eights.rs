//! What the kernels of doubles have in common whose operations are over 8 of `k`: how a warp multiplies, and how it
//! writes.
//!
//! The sums of such an operation are those of two over 4, one after the other: half as many are issued, and a warp that
//! waits for shared memory has one on its way for twice as long. What is read from there goes to other registers than
//! those that an operation in flight may still read.

use gpu_std::memory::GlobalMut;
use gpu_std::mma::m16n8k8_f64;
use gpu_std::{device, rolled, unroll};

use super::operand::{Product, columns};
use super::place::block_place;
use super::store::{beyond, write};
use super::tensor::warp_place;
use crate::scalar::combine;

/// A lane's part of a warp's `16 TM` × `16 TN` elements of C.
pub(super) type Sums<const TM: usize, const TN: usize> = [[[[f64; 4]; 2]; TN]; TM];

/// How much of `k` an operation of the tensor cores takes.
pub(super) const GROUP: u32 = 8;

/// Multiplies by a group of `k`, `a` and `b`, and replaces them by the next one's elements: of A each a turn after it
/// was used, when the tensor cores have read it, and the last one by way of other registers.
#[device]
#[inline(always)]
pub(super) fn multiply<const TM: usize, const TN: usize>(
    sums: &mut Sums<TM, TN>,
    (a, b): (&mut [[f64; 4]; TM], &mut [[[f64; 2]; 2]; TN]),
    next_of_a: impl Fn(usize) -> [f64; 4],
    next_of_b: impl Fn(usize) -> [f64; 2],
) {
    let (mut next_b, mut last_a) = ([[[0.0; 2]; 2]; TN], [0.0; 4]);
    unroll::<TM>(|i| {
        if i + 1 == TM {
            last_a = next_of_a(i);
        }
        unroll::<TN>(|j| {
            unroll::<2>(|side| sums[i][j][side] = m16n8k8_f64(a[i], b[j][side], sums[i][j][side]));
        });
        if i > 0 {
            a[i - 1] = next_of_a(i - 1);
        }
        // B's in between, as evenly as they go.
        unroll::<TN>(|j| {
            unroll::<2>(|side| {
                if (2 * j + side) * TM / (2 * TN) == i {
                    next_b[j][side] = next_of_b(2 * j + side);
                }
            });
        });
    });
    (a[TM - 1], *b) = (last_a, next_b);
}

/// Writes a lane's results, whose first row and column in the warp's part of the tile are `row` and `column`: of each
/// two matrices side by side a row and the next one, and of a row two pairs of neighbours, `STEP` columns apart.
/// Pairs are of one matrix, or, two columns apart, of both. The sums are used up.
#[device]
#[inline(always)]
pub(super) fn store<const BM: u32, const BN: u32, const TM: usize, const TN: usize, const STEP: u32>(
    sums: &mut Sums<TM, TN>,
    (row, column): (u32, u32),
    c: GlobalMut<f64>,
    product: &Product,
    alpha: f64,
    beta: f64,
) {
    // Places are computed again: to keep them would take registers from the loop.
    let place = block_place::<BM, BN>(product);
    let c = place.product(c, product);
    let (warp_row, warp_column) = warp_place::<BN, TM, TN>();
    let (row, column) = (place.row + warp_row + row, place.column + warp_column + column);
    if product.is_whole(&place, [BM, BN], beta) {
        let mut line = c.offset(row as u64 * product.c_leading + column as u64);
        unroll::<TM>(|i| {
            unroll::<2>(|next| {
                unroll::<TN>(|j| {
                    let [[one, two, three, four], [five, six, seven, eight]] = sums[i][j];
                    let rows = [[[one, two], [five, six]], [[three, four], [seven, eight]]];
                    let [[first, second], [third, fourth]] = rows[next];
                    let pairs = if const { STEP == 2 } {
                        [[first, third], [second, fourth]]
                    } else {
                        [[first, second], [third, fourth]]
                    };
                    unroll::<2>(|pair| {
                        let sums = pairs[pair].map(|sum| combine(alpha, sum, 0.0, || 0.0));
                        line.write_vec::<2>(j as u32 * 16 + pair as u32 * STEP, sums);
                    });
                });
                line = line.offset(product.c_leading * if next == 0 { 1 } else { 15 });
            });
        });
        return;
    }
    // Loops that shift the sums forwards, as in `tiled`.
    let mut i = 0;
    while i < TM as u32 {
        i = rolled(i);
        let mut j = 0;
        while j < TN as u32 {
            j = rolled(j);
            if const { STEP == 2 } {
                let [[one, two, three, four], [five, six, seven, eight]] = sums[0][0];
                sums[0][0] = [[one, five, three, seven], [two, six, four, eight]];
            }
            let mut at = 0;
            while at < 4 {
                at = rolled(at);
                let [[one, two, three, four], [five, six, seven, eight]] = sums[0][0];
                let (row, column) = (row + i * 16 + at % 2, column + j * 16 + at / 2 * STEP);
                if row < product.m {
                    let c = c.offset(row as u64 * product.c_leading + column as u64);
                    let range = columns(product.triangle, row, product.n);
                    write(c, [one, two], beyond(range, column), alpha, beta);
                }
                sums[0][0] = [[three, four, five, six], [seven, eight, one, two]];
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
