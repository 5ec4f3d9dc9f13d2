//! The inverses of the blocks on the diagonal of a lower triangular matrix, all in one launch.
//!
//! # Order of operations
//! Of a block L the inverse X is, with reciprocals `r_i = 1 / L_ii`, `X_ij = s · r_i`, where `s` is one chain over ascending
//! `m`, from `X_jj = r_j` and `s_j = +0`: `s_{m+1} = fma(-L_im, X_mj, s_m)` for `j ≤ m < i` (Higham, *Accuracy and Stability of
//! Numerical Algorithms*, 2nd ed., method 1 of section 14.2).

use gpu_std::atomic::{Ordering, Scope};
use gpu_std::float::Float;
use gpu_std::memory::{Global, GlobalMut};
use gpu_std::parameter::Parameter;
use gpu_std::shared::{self, SharedLayout};
use gpu_std::thread::{block_idx_x, sync_threads, thread_idx_x};
use gpu_std::{device, opaque};

/// Rows of a block that is inverted.
pub const BLOCK: u32 = 64;
/// Threads of a block of every kernel here.
pub const THREADS: u32 = 256;

/// From one row of L to the next in shared memory. The triangle that L leaves free takes X's sums, transposed and one
/// place on: `s_ij` lies at `j · PITCH + i + 1`.
const PITCH: u32 = BLOCK + 1;
/// Threads that share a column of X.
const SHARE: u32 = THREADS / BLOCK;

/// What is inverted, but for addresses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Parameter)]
#[repr(C)]
pub struct Invert {
    /// Elements of A from one row to the next.
    pub row: u64,
    /// Elements of A from one column to the next.
    pub column: u64,
    /// Elements from one A of the batch to the next.
    pub batch: u64,
    /// Rows of A.
    pub size: u32,
    /// Rows of the squares on the diagonal whose inverses these are the beginning of: a multiple of [`BLOCK`]. A square is row-major,
    /// without gaps, and starts where the one before ends; what lies in it outside the blocks becomes zero.
    pub square: u32,
    /// Matrices.
    pub count: u32,
    /// Whether the diagonal is taken to be one, and not read: 1 or 0.
    pub unit: u32,
    /// Whether the inverses are also written one after the other, row-major without gaps: 1 or 0.
    pub apart: u32,
}

impl Invert {
    /// Blocks on the diagonal of a matrix, those beyond its end that fill the last square included: they are inverses of ones.
    pub const fn blocks(&self) -> u32 {
        self.size.div_ceil(self.square) * (self.square / BLOCK)
    }

    /// Blocks of a launch.
    pub const fn grid(&self) -> u64 {
        self.blocks() as u64 * self.count as u64
    }
}

/// Bytes of dynamic shared memory of a block.
pub const fn shared_bytes<T: Float>() -> u32 {
    SharedLayout::new().array::<T>(BLOCK * PITCH).array::<T>(BLOCK).bytes()
}

/// Inverts a block. Where an element of the diagonal is zero, `info` of its matrix becomes the least index of one.
#[device]
#[inline(always)]
pub(super) fn invert<T: Float>(
    a: Global<T>,
    inverses: GlobalMut<T>,
    apart: GlobalMut<T>,
    info: GlobalMut<u32>,
    shape: &Invert,
) {
    let blocks = shape.blocks();
    let (number, block) = (block_idx_x() / blocks, block_idx_x() % blocks);
    let first = block * BLOCK;
    let (low, high) = (thread_idx_x() % BLOCK, thread_idx_x() / BLOCK);
    let a = a
        .offset(number as u64 * shape.batch)
        .offset(first as u64 * shape.row)
        .offset(first as u64 * shape.column);

    // ---- L and the sums before anything is subtracted; beyond the matrix L is ones on the diagonal
    let mut memory = shared::dynamic();
    let tile = memory.array::<T>(BLOCK * PITCH);
    let reciprocals = memory.array::<T>(BLOCK);
    let rows_are_lines = shape.column == 1;
    let mut other = high;
    while other < opaque(BLOCK) {
        let (i, j) = if rows_are_lines { (other, low) } else { (low, other) };
        if i > j {
            let inside = first + i < shape.size;
            let address = a.offset(i as u64 * shape.row).offset(j as u64 * shape.column);
            tile.write(i * PITCH + j, if inside { address.read_only(0) } else { T::ZERO });
            tile.write(j * PITCH + i + 1, T::ZERO);
        }
        other += SHARE;
    }
    if high == 0 {
        let at = first + low;
        let mut diagonal = T::ONE;
        if shape.unit == 0 && at < shape.size {
            diagonal = a.offset(low as u64 * shape.row).offset(low as u64 * shape.column).read_only(0);
            if diagonal == T::ZERO {
                info.atomic(number).fetch_min(at, Ordering::Relaxed, Scope::Device);
            }
        }
        reciprocals.write(low, T::ONE / diagonal);
        tile.write(low * PITCH + low + 1, T::ONE);
    }

    // ---- what is zero of the rows of the inverse
    let square = shape.square;
    let per_square = square / BLOCK;
    let inverses =
        inverses.offset((number as u64 * blocks as u64 + block as u64) * BLOCK as u64 * square as u64);
    let start = block % per_square * BLOCK;
    let apart = apart.offset((number as u64 * blocks as u64 + block as u64) * (BLOCK * BLOCK) as u64);
    let mut i = high;
    while i < opaque(BLOCK) {
        let mut column = low;
        while column < square {
            if column < start || column > start + i {
                inverses.write(i * square + column, T::ZERO);
            }
            column += BLOCK;
        }
        if shape.apart != 0 && low > i {
            apart.write(i * BLOCK + low, T::ZERO);
        }
        i += SHARE;
    }
    sync_threads();

    // ---- row after row of X is complete, and what it adds to the sums below is added
    let (j, mut k) = (low, 0);
    while k < opaque(BLOCK) {
        if j <= k {
            let x = tile.read(j * PITCH + k + 1) * reciprocals.read(k);
            let mut i = k + 1 + high;
            while i < opaque(BLOCK) {
                let sum = tile.read(j * PITCH + i + 1);
                tile.write(j * PITCH + i + 1, (-tile.read(i * PITCH + k)).mul_add(x, sum));
                i += SHARE;
            }
            if high == 0 {
                inverses.write(k * square + start + j, x);
                if shape.apart != 0 {
                    apart.write(k * BLOCK + j, x);
                }
            }
        }
        sync_threads();
        k += 1;
    }
}
