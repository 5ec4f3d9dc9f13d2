//! Triangular systems of a few rows, a thread for each right-hand side, which it has in registers.
//!
//! # Order of operations
//! Substitution: with reciprocals `r_i = 1 / L_ii`, `x_i = s · r_i`, where `s` is one chain over ascending columns, from `alpha · b_i`:
//! `s = fma(-L_ik, x_k, s)` for `k < i`.

use gpu_std::float::Float;
use gpu_std::memory::{Global, GlobalMut};
use gpu_std::shared::{self, SharedLayout};
use gpu_std::thread::{block_idx_x, sync_threads, thread_idx_x};
use gpu_std::warp::{FULL, warp_vote_ballot};
use gpu_std::{device, unroll};

use super::solve::{Solve, steps};

/// The most rows.
pub const FEW: u32 = 16;
/// Right-hand sides of a block, of as many threads.
pub const FEW_SIDES: u32 = 64;

const N: usize = FEW as usize;

/// Bytes of dynamic shared memory of a block.
pub const fn few_shared_bytes<T: Float>() -> u32 {
    SharedLayout::new().array::<T>(FEW * FEW).array::<T>(FEW).bytes()
}

/// Solves for [`FEW_SIDES`] right-hand sides: launch [`Solve::grid`] blocks of as many threads, with [`few_shared_bytes`]. `info` as of
/// [`solve`](super::solve).
#[device]
#[inline(always)]
pub(super) fn few<T: Float>(l: Global<T>, b: GlobalMut<T>, info: GlobalMut<u32>, alpha: T, shape: &Solve) {
    let thread = thread_idx_x();
    let groups = shape.columns.div_ceil(FEW_SIDES).max(1);
    let (number, group) = (block_idx_x() / groups, block_idx_x() % groups);
    let l = l.offset(shape.l_start).offset(number as u64 * shape.l_batch);
    let side = group * FEW_SIDES + thread;
    let exists = side < shape.columns;
    let size = shape.size;
    let mut memory = shared::dynamic();
    let factors = memory.array::<T>(FEW * FEW);
    let reciprocals = memory.array::<T>(FEW);

    // ---- what there is to read, all of it asked for before any is used
    let b = b.offset(shape.b_start).offset(number as u64 * shape.b_batch).offset(steps(side, shape.b_column));
    let mut x = [T::ZERO; N];
    let mut at = b;
    unroll::<N>(|i| {
        if exists && (i as u32) < size {
            x[i] = at.read(0);
        }
        at = at.offset(shape.b_row);
    });
    unroll::<{ N * N / FEW_SIDES as usize }>(|e| {
        let element = thread + e as u32 * FEW_SIDES;
        let (i, k) = (element / FEW, element % FEW);
        let mut value = T::ZERO;
        // Mutants: nobody reads the diagonal of these.
        if i < size && k < i {
            value = l.offset(steps(i, shape.l_row)).offset(steps(k, shape.l_column)).read_only(0);
        }
        factors.write(element, value);
    });
    if thread < 32 {
        let mut diagonal = T::ONE;
        if thread < size && shape.unit == 0 {
            diagonal = l.offset(steps(thread, shape.l_row.wrapping_add(shape.l_column))).read_only(0);
        }
        let zeros = warp_vote_ballot(FULL, diagonal == T::ZERO);
        if thread < FEW {
            reciprocals.write(thread, T::ONE / diagonal);
        }
        if thread == 0 && group == 0 {
            let mut least = u32::MAX;
            if zeros != 0 {
                // The least index is that of the last row where rows are solved from the last one on.
                least = if shape.backward != 0 {
                    shape.first - (31 - zeros.leading_zeros())
                } else {
                    shape.first + zeros.trailing_zeros()
                };
            }
            if shape.further != 0 {
                least = least.min(info.read(number));
            }
            info.write(number, least);
        }
    }
    sync_threads();

    unroll::<N>(|i| {
        // Mutants: a row more is of zeros, and not written.
        if (i as u32) < size {
            let mut sum = alpha * x[i];
            unroll::<N>(|k| {
                if k < i {
                    sum = (-factors.read((i * N + k) as u32)).mul_add(x[k], sum);
                }
            });
            x[i] = sum * reciprocals.read(i as u32);
        }
    });
    let mut at = b;
    unroll::<N>(|i| {
        if exists && (i as u32) < size {
            at.write(0, x[i]);
        }
        at = at.offset(shape.b_row);
    });
}
