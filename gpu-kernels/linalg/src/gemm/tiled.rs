//! The product by tiles: a block computes a tile of C, each thread a part of it in registers.
//!
//! Tiles of A and B go to shared memory, [`Tile::stages`] of them in flight (`cp.async`), so that none of their
//! registers wait for memory. While a thread multiplies what belongs to one `k` it reads what belongs to the next, at
//! a stage's end that of the next stage: it waits for shared memory only once, before the first. A thread's part
//! consists of vectors of 16 bytes, [`LANE_ROWS`] and [`LANE_COLUMNS`] vectors apart: a warp then reads 128 bytes of
//! B in a row, and few different ones of A, without bank conflicts; and what it writes to C are whole sectors.
//! (Volkov and Demmel, SC 2008; the nesting of tiles is that of CUTLASS: Kerr et al., 2017.)

use gpu_std::async_copy::{commit, wait};
use gpu_std::float::Float;
use gpu_std::memory::{Global, GlobalMut, Shared};
use gpu_std::shared::{self, SharedLayout};
use gpu_std::thread::{sync_threads, thread_idx_x};
use gpu_std::warp::{FULL, lane_id, sync_warp};
use gpu_std::{device, opaque, rolled, unroll};

use super::operand::{Copier, Product, columns};
use super::place::{block_place, is_folded};
use crate::scalar::combine;

/// Lanes of a warp along the rows of C.
const LANE_ROWS: u32 = 4;
/// Lanes of a warp along the columns of C.
const LANE_COLUMNS: u32 = 8;

/// The sizes of a tiled kernel: pure numbers that kernels and hosts share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tile {
    /// Rows of C.
    pub rows: u32,
    /// Columns of C.
    pub columns: u32,
    /// How much of `k` a stage holds.
    pub depth: u32,
    /// Threads of a block.
    pub threads: u32,
    /// Stages in shared memory: one that is worked on, the others on their way.
    pub stages: u32,
    /// Bytes of an element.
    pub bytes: u32,
}

impl Tile {
    /// Elements in 16 bytes.
    pub const fn vector<T>() -> u32 {
        16 / size_of::<T>() as u32
    }

    /// Elements from one `k` to the next in a stage with so many rows: four more than they have, against bank
    /// conflicts where a tile is transposed on its way, and where tensor cores' fragments are read.
    pub const fn pitch(rows: u32) -> u32 {
        rows + 4
    }

    /// Tiles of a matrix of `m` rows and `n` columns.
    pub const fn count(self, m: u32, n: u32) -> u64 {
        m.div_ceil(self.rows) as u64 * n.div_ceil(self.columns) as u64
    }

    /// Bytes of dynamic shared memory of a block.
    pub const fn shared_bytes(self) -> u32 {
        let elements = self.stages * self.depth * (Self::pitch(self.rows) + Self::pitch(self.columns));
        SharedLayout::new().array::<u8>(elements * self.bytes).bytes()
    }
}

/// A thread's `N` values of a row of a stage, in vectors of `V`, `distance` elements apart.
///
/// What is constant goes into the index, not the place of the tile: the instruction adds it.
#[device]
#[inline(always)]
fn fragment<T: Float, const N: usize, const V: usize>(tile: Shared<T>, first: u32, distance: u32) -> [T; N] {
    let mut values = [T::ZERO; N];
    unroll::<8>(|vector| {
        if vector * V < N {
            let read: [T; V] = tile.read_vec(first + vector as u32 * distance);
            unroll::<V>(|j| values[vector * V + j] = read[j]);
        }
    });
    values
}

/// Waits until at most so many groups of copies are on their way: a constant, as the instruction wants it.
#[device]
#[inline(always)]
fn wait_until(pending: u32) {
    match pending {
        1 => wait::<1>(),
        2 => wait::<2>(),
        _ => wait::<3>(),
    }
}

/// Whether a thread's part is so small that a loop in place of copies or stores one by one is most of what it does before
/// or after the sums: a product of 512³ `f32`, 4 × 4 a thread, took 17.2 µs with loops, 15.7 without.
const fn is_short<T, const TM: usize, const TN: usize>(most_bytes: usize) -> bool {
    TM * TN * size_of::<T>() <= most_bytes
}

/// Whether a tile is the widest: see [`Copier::next_of_wide`].
const fn is_wide(columns: u32) -> bool {
    columns == 256
}

/// Computes a tile of `BM` × `BN` elements of C with [`Tile::threads`] threads, `TM` × `TN` elements each; `V`
/// elements are 16 bytes, and each of `STAGES` stages, 3 or 4, holds `BK` of `k`. Launch [`Tile::count`] blocks for
/// each product of the batch.
#[device]
#[inline(always)]
pub(super) fn tiled<
    T: Float,
    const BM: u32,
    const BN: u32,
    const BK: u32,
    const STAGES: u32,
    const THREADS: u32,
    const TM: usize,
    const TN: usize,
    const V: usize,
>(
    a: Global<T>,
    b: Global<T>,
    c: GlobalMut<T>,
    product: Product,
    alpha: T,
    beta: T,
) {
    const {
        assert!(V as u32 == Tile::vector::<T>() && TM.is_multiple_of(V) && TN.is_multiple_of(V));
        assert!(BM * BN == THREADS * (TM * TN) as u32, "the threads' parts make up the tile");
        assert!(STAGES == 3 || STAGES == 4, "what `wait_until` knows");
    }
    let (a_pitch, b_pitch) = (Tile::pitch(BM), Tile::pitch(BN));
    let stage_len = BK * (a_pitch + b_pitch);
    let stages = shared::dynamic().array::<T>(STAGES * stage_len);

    let place = block_place::<BM, BN>(&product);
    let is_outside = if const { is_folded(BN) } {
        place.column >= product.n
    } else {
        product.leaves_out((place.row, place.column), [BM, BN])
    };
    if is_outside {
        return;
    }
    let (a, b) = (place.factor(a, &product.a), place.factor(b, &product.b));
    let depth = place.depth(&product);
    let mut copy_a = Copier::<T, BM, BK, THREADS, V>::new(a, &product.a, place.row, product.m);
    let mut copy_b = Copier::<T, BN, BK, THREADS, V>::new(b, &product.b, place.column, product.n);
    // Copies what belongs to `k` and the `BK - 1` after it; without any `k` one stage of zeros.
    let stage = |k: u32| {
        let stage = stages.offset(k / BK % STAGES * stage_len);
        (stage, stage.offset(BK * a_pitch))
    };
    let mut k = 0;
    while k < STAGES * BK {
        k = rolled(k);
        if k < depth.max(1) {
            let (a_tile, b_tile) = stage(k);
            if const { is_short::<T, TM, TN>(256) } {
                copy_a.next(&product.a, a_tile, depth - k, true);
                copy_b.next(&product.b, b_tile, depth - k, true);
            } else if const { is_wide(BN) } {
                copy_a.first_of_wide(&product.a, a_tile, depth - k);
                copy_b.first_of_wide(&product.b, b_tile, depth - k);
            } else {
                copy_a.first(&product.a, a_tile, depth - k);
                copy_b.first(&product.b, b_tile, depth - k);
            }
        }
        commit();
        k += BK;
    }

    let (row, column) = thread_place::<BN, TM, TN, V>();
    let read_a = |tile: Shared<T>, at: u32| fragment::<T, TM, V>(tile, at * a_pitch, LANE_ROWS * V as u32);
    let read_b = |tile: Shared<T>, at: u32| fragment::<T, TN, V>(tile, at * b_pitch, LANE_COLUMNS * V as u32);
    wait_until(STAGES - 1);
    sync_threads();
    let (mut a_tile, mut b_tile) = (stages.offset(row), stages.offset(BK * a_pitch + column));
    let (mut a, mut b) = (read_a(a_tile, 0), read_b(b_tile, 0));
    let mut sums = [[T::ZERO; TN]; TM];
    let mut k = 0;
    while k < depth {
        unroll::<32>(|at| {
            if at + 1 < const { BK as usize } {
                let (next_a, next_b) = (read_a(a_tile, at as u32 + 1), read_b(b_tile, at as u32 + 1));
                unroll::<TM>(|i| unroll::<TN>(|j| sums[i][j] = a[i].mul_add(b[j], sums[i][j])));
                (a, b) = (next_a, next_b);
            }
        });
        // The next stage has arrived, and behind the barrier nobody reads this one any longer: it is filled again.
        // After the last stage there is none, and this one is read once more, for nothing.
        wait_until(STAGES - 2);
        sync_threads();
        let following = if k + BK < depth { k + BK } else { k };
        let tiles = stages.offset(following / BK % STAGES * stage_len);
        (a_tile, b_tile) = (tiles.offset(row), tiles.offset(BK * a_pitch + column));
        let (next_a, next_b) = (read_a(a_tile, 0), read_b(b_tile, 0));
        unroll::<TM>(|i| unroll::<TN>(|j| sums[i][j] = a[i].mul_add(b[j], sums[i][j])));
        (a, b) = (next_a, next_b);
        let later = k + STAGES * BK;
        if later < depth {
            let (a_tile, b_tile) = stage(later);
            if const { is_wide(BN) } {
                copy_a.next_of_wide(&product.a, a_tile, depth - later);
                copy_b.next_of_wide(&product.b, b_tile, depth - later);
            } else {
                copy_a.next(&product.a, a_tile, depth - later, false);
                copy_b.next(&product.b, b_tile, depth - later, false);
            }
        }
        commit();
        k += BK;
    }

    // Places are computed again: to keep them would take registers from the loop.
    let place = block_place::<BM, BN>(&product);
    let c = place.product(c, &product);
    if product.c_vectors == 0 {
        let pitch = const { row_pitch(LANE_COLUMNS as usize * TN) };
        let (warp_row, warp_column) = warp_place::<BN, TM, TN>();
        let (lane_row, lane_column) = lane_place::<V>();
        let rows = const { LANE_ROWS * V as u32 };
        const {
            assert!(
                THREADS / 32 * LANE_ROWS * V as u32 * row_pitch(LANE_COLUMNS as usize * TN)
                    <= STAGES * BK * (Tile::pitch(BM) + Tile::pitch(BN))
            )
        };
        // Behind the barrier nobody reads the stages any longer.
        sync_threads();
        let held = stages.offset(opaque(thread_idx_x()) / 32 * (rows * pitch));
        let mut row = place.row + warp_row;
        let mut part = 0;
        while part < const { (TM / V) as u32 } {
            part = rolled(part);
            unroll::<V>(|i| {
                unroll::<8>(|vector| {
                    if vector * V < TN {
                        let at =
                            (lane_row + i as u32) * pitch + lane_column + (vector * V) as u32 * LANE_COLUMNS;
                        held.write_vec::<V>(at, core::array::from_fn(|j| sums[i][vector * V + j]));
                    }
                });
            });
            write_rows::<T, { LANE_COLUMNS as usize }, TN>(
                held,
                rows,
                c,
                &product,
                (row, place.column + warp_column),
                alpha,
                beta,
            );
            unroll::<TM>(|i| {
                if i + V < TM {
                    sums[i] = sums[i + V];
                }
            });
            row += rows;
            part += 1;
        }
        return;
    }
    let (row, column) = thread_place::<BN, TM, TN, V>();
    let (row, column) = (place.row + row, place.column + column);
    if const { is_short::<T, TM, TN>(64) } {
        unroll::<TM>(|i| {
            let row = row + (i / V) as u32 * (LANE_ROWS * V as u32) + (i % V) as u32;
            if row < product.m {
                let c = c.offset(row as u64 * product.c_leading + column as u64);
                let range = columns(product.triangle, row, product.n);
                unroll::<8>(|vector| {
                    if vector * V < TN {
                        let distance = vector as u32 * LANE_COLUMNS * V as u32;
                        let sums = core::array::from_fn(|j| sums[i][vector * V + j]);
                        write::<T, V>(
                            c.offset(distance as u64),
                            sums,
                            beyond(range, column + distance),
                            alpha,
                            beta,
                        );
                    }
                });
            }
        });
        return;
    }
    // A loop over rows and one over vectors, that shift the sums forwards: unrolled they were longer than all the rest.
    let mut i = 0;
    while i < TM as u32 {
        i = rolled(i);
        let row = row + i / V as u32 * (LANE_ROWS * V as u32) + i % V as u32;
        let mut c = c.offset(row as u64 * product.c_leading + column as u64);
        let range = columns(product.triangle, row, product.n);
        let mut range = if row < product.m { beyond(range, column) } else { (0, 0) };
        let mut vector = 0;
        while vector < (TN / V) as u32 {
            vector = rolled(vector);
            write::<T, V>(c, core::array::from_fn(|j| sums[0][j]), range, alpha, beta);
            c = c.offset((LANE_COLUMNS * V as u32) as u64);
            range = beyond(range, LANE_COLUMNS * V as u32);
            unroll::<TN>(|j| {
                if j + V < TN {
                    sums[0][j] = sums[0][j + V];
                }
            });
            vector += 1;
        }
        unroll::<TM>(|i| {
            if i + 1 < TM {
                sums[i] = sums[i + 1];
            }
        });
        i += 1;
    }
}

/// The row and the column, in the block's tile, of the thread's first element.
#[device]
#[inline(always)]
fn thread_place<const BN: u32, const TM: usize, const TN: usize, const V: usize>() -> (u32, u32) {
    let (warp_row, warp_column) = warp_place::<BN, TM, TN>();
    let (row, column) = lane_place::<V>();
    (warp_row + row, warp_column + column)
}

/// Those of the warp's first element.
#[device]
#[inline(always)]
fn warp_place<const BN: u32, const TM: usize, const TN: usize>() -> (u32, u32) {
    let warp = opaque(thread_idx_x()) / 32;
    let warps_across = BN / (LANE_COLUMNS * TN as u32);
    (warp / warps_across * (LANE_ROWS * TM as u32), warp % warps_across * (LANE_COLUMNS * TN as u32))
}

/// The lane's first element in what its warp computes.
///
/// Lanes that follow each other take two rows and four columns in turn: what eight of them, a pass of 16-byte
/// accesses, read of A or of B then falls into different banks or into the same words.
#[device]
#[inline(always)]
fn lane_place<const V: usize>() -> (u32, u32) {
    let lane = opaque(thread_idx_x()) % 32;
    (((lane >> 4 << 1) | (lane & 1)) * V as u32, (lane >> 1 & 7) * V as u32)
}

/// What of a range is beyond a place, counted from there.
#[device]
#[inline(always)]
pub(super) fn beyond((first, end): (u32, u32), place: u32) -> (u32, u32) {
    (first.saturating_sub(place), end.saturating_sub(place))
}

/// Writes the results that belong to `sums`, those from the first one of C to the one behind its last, where its rows are aligned to 16 bytes.
#[device]
#[inline(always)]
pub(super) fn write<T: Float, const V: usize>(
    c: GlobalMut<T>,
    sums: [T; V],
    (first, end): (u32, u32),
    alpha: T,
    beta: T,
) {
    if first == 0 && end >= V as u32 {
        let mut old = [T::ZERO; V];
        if beta != T::ZERO {
            old = c.read_vec::<V>(0);
        }
        c.write_vec::<V>(0, core::array::from_fn(|j| combine(alpha, sums[j], beta, || old[j])));
    } else {
        let mut sums = sums;
        let mut at = 0;
        while at < end.min(V as u32) {
            at = rolled(at);
            if at >= first {
                c.write(at, combine(alpha, sums[0], beta, || c.read(at)));
            }
            // The first one goes to the end: were there nothing new, the compiler would unroll the loop.
            let front = sums[0];
            unroll::<V>(|j| sums[j] = if j + 1 < V { sums[j + 1] } else { front });
            at += 1;
        }
    }
}

/// Elements from one row to the next of what [`write_rows`] writes: what eight lanes write there together falls into different banks.
pub(super) const fn row_pitch(columns: usize) -> u32 {
    columns as u32 + 4
}

/// Writes `rows` rows of `A` times `B` results, a multiple of 32, that the lanes of a warp have just put into `held`, each
/// [`row_pitch`] from the last; those that are C's, from `row` and `column` on. Where C's rows are not aligned to 16 bytes, a lane would
/// write a vector element by element, and a warp a fourth of each sector at a time; so neighbouring lanes write neighbours.
#[device]
#[inline(always)]
pub(super) fn write_rows<T: Float, const A: usize, const B: usize>(
    held: Shared<T>,
    rows: u32,
    c: GlobalMut<T>,
    product: &Product,
    (row, column): (u32, u32),
    alpha: T,
    beta: T,
) {
    const { assert!((A * B).is_multiple_of(32) && A * B <= 128) };
    sync_warp(FULL);
    let lane = lane_id();
    let rows = rows.min(product.m.saturating_sub(row));
    let mut c = c.offset(row as u64 * product.c_leading + (column + lane) as u64);
    let mut from = lane;
    let mut at = 0;
    while at < rows {
        at = rolled(at);
        let mut old = [T::ZERO; 4];
        let (first, end) = beyond(columns(product.triangle, row + at, product.n), column + lane);
        let inside = |j: usize| 32 * (j as u32) < end && 32 * j as u32 >= first;
        unroll::<4>(|j| {
            if j < A * B / 32 && beta != T::ZERO && inside(j) {
                old[j] = c.read(32 * j as u32);
            }
        });
        unroll::<4>(|j| {
            if j < A * B / 32 && inside(j) {
                c.write(32 * j as u32, combine(alpha, held.read(from + 32 * j as u32), beta, || old[j]));
            }
        });
        c = c.offset(product.c_leading);
        from += row_pitch(A * B);
        at += 1;
    }
    // The next ones may be put there.
    sync_warp(FULL);
}
