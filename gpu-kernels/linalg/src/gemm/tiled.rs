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
use gpu_std::{device, opaque, rolled, unroll};

use super::operand::{Copier, Product};
use super::place::block_place;
use super::store::{held_len, store};

/// Lanes of a warp along the rows of C.
pub(super) const LANE_ROWS: u32 = 4;
/// Lanes of a warp along the columns of C.
pub(super) const LANE_COLUMNS: u32 = 8;

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
pub(super) fn fragment<T: Float, const N: usize, const V: usize>(
    tile: Shared<T>,
    first: u32,
    distance: u32,
) -> [T; N] {
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
pub(super) const fn is_short<T, const TM: usize, const TN: usize>(most_bytes: usize) -> bool {
    // Mutants: which way is taken is a matter of speed.
    TM * TN * size_of::<T>() <= most_bytes
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
        // Mutants: there is more, or it does not compile.
        assert!(held_len(THREADS, TN, V) <= STAGES * BK * (Tile::pitch(BM) + Tile::pitch(BN)));
    }
    let (a_pitch, b_pitch) = (Tile::pitch(BM), Tile::pitch(BN));
    let stage_len = BK * (a_pitch + b_pitch);
    let stages = shared::dynamic().array::<T>(STAGES * stage_len);

    let place = block_place::<BM, BN>(&product);
    // Mutants: a tile right behind the last column has nothing to read, and nothing to write.
    if place.column >= product.n {
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
        // Mutants: one stage more is of zeros, and nobody reads it.
        if k < depth.max(1) {
            let (a_tile, b_tile) = stage(k);
            copy_a.next(&product.a, a_tile, depth - k);
            copy_b.next(&product.b, b_tile, depth - k);
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
                multiply(&mut sums, a, b);
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
        multiply(&mut sums, a, b);
        (a, b) = (next_a, next_b);
        let later = k + STAGES * BK;
        // Mutants: as before the loop.
        if later < depth {
            let (a_tile, b_tile) = stage(later);
            copy_a.next(&product.a, a_tile, depth - later);
            copy_b.next(&product.b, b_tile, depth - later);
        }
        commit();
        k += BK;
    }

    store::<T, BM, BN, TM, TN, V, false>(&mut sums, stages, c, &product, (alpha, beta));
}

/// Adds the products of one `k`. Of large parts in an order in which each has a factor of the one before it, which the
/// register file then reads once: 3 % faster.
#[device]
#[inline(always)]
pub(super) fn multiply<T: Float, const TM: usize, const TN: usize>(
    sums: &mut [[T; TN]; TM],
    a: [T; TM],
    b: [T; TN],
) {
    // Mutants: the order of elements changes none.
    if const { TM * TN >= 32 } {
        unroll::<TN>(|j| {
            unroll::<TM>(|i| {
                let i = if j % 2 == 0 { i } else { TM - 1 - i };
                sums[i][j] = a[i].mul_add(b[j], sums[i][j]);
            });
        });
    } else {
        unroll::<TM>(|i| unroll::<TN>(|j| sums[i][j] = a[i].mul_add(b[j], sums[i][j])));
    }
}

/// The row and the column, in the block's tile, of the thread's first element.
#[device]
#[inline(always)]
pub(super) fn thread_place<const BN: u32, const TM: usize, const TN: usize, const V: usize>() -> (u32, u32) {
    let (warp_row, warp_column) = warp_place::<BN, TM, TN>();
    let (row, column) = lane_place::<V>();
    (warp_row + row, warp_column + column)
}

/// Those of the warp's first element.
#[device]
#[inline(always)]
pub(super) fn warp_place<const BN: u32, const TM: usize, const TN: usize>() -> (u32, u32) {
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
pub(super) fn lane_place<const V: usize>() -> (u32, u32) {
    let lane = opaque(thread_idx_x()) % 32;
    (((lane >> 4 << 1) | (lane & 1)) * V as u32, (lane >> 1 & 7) * V as u32)
}
