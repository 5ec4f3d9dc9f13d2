//! Inverses of the squares on the diagonal of a triangle, by which systems are solved.
//!
//! Of a square D the inverse E is, with reciprocals `r_i = 1 / D_ii`, `E_ij = t · r_i`, where `t` is one chain over
//! ascending `m`, from `E_jj = r_j` and `t = +0`: `t = fma(-D_im, E_mj, t)` for `j ≤ m < i` (Higham, *Accuracy and
//! Stability of Numerical Algorithms*, 2nd ed., method 1 of section 14.2).

use gpu_std::atomic::{Ordering, Scope};
use gpu_std::float::Float;
use gpu_std::memory::{Global, Shared};
use gpu_std::thread::{sync_threads, thread_idx_x};
use gpu_std::warp::{FULL, sync_warp};
use gpu_std::{device, unroll};

use super::solve::{APART, BLOCK, SIDE, SQUARE, Solve, steps};

/// Inverts the squares on the diagonal of the block that starts at row `top`. `found`, all ones before, becomes the
/// least index of a zero there. `room` has [`SIDE`] · [`APART`] + [`BLOCK`] elements.
#[device]
#[inline(always)]
pub(super) fn invert<T: Float, const V: usize>(
    l: Global<T>,
    (top, rows): (u32, u32),
    room: Shared<T>,
    inverses: Shared<T>,
    found: Shared<u32>,
    shape: &Solve,
) {
    let thread = thread_idx_x();
    let reciprocals = room.offset(SIDE * APART);
    let (low, high) = (thread % SQUARE, thread / SQUARE);
    // Mutants: who loads which element is a matter of speed: neighbouring threads read along memory.
    let (row, column) = if shape.l_column.wrapping_add(1) <= 2 { (high, low) } else { (low, high) };
    unroll::<{ (BLOCK / SQUARE) as usize }>(|square| {
        let first = square as u32 * SQUARE;
        let mut value = if row == column { T::ONE } else { T::ZERO };
        if first + row < rows && (column < row || column == row && shape.unit == 0) {
            value = l
                .offset(steps(first + row, shape.l_row))
                .offset(steps(first + column, shape.l_column))
                .read_only(0);
        }
        if row == column {
            if value == T::ZERO {
                let index = if shape.backward != 0 {
                    shape.first - top - first - row
                } else {
                    shape.first + top + first + row
                };
                found.atomic(0).fetch_min(index, Ordering::Relaxed, Scope::Block);
            }
            reciprocals.write(first + row, value);
        } else {
            room.write(square as u32 * APART + column * SQUARE + row, value);
        }
    });
    sync_threads();
    if thread < BLOCK {
        // A column of an inverse in registers. All that is read is asked for at once: what does not count is left out
        // at the end.
        let (square, j) = (thread / SQUARE, thread % SQUARE);
        reciprocals.write(thread, T::ONE / reciprocals.read(thread));
        sync_warp(FULL);
        let mut sums = [T::ZERO; SQUARE as usize];
        unroll::<{ SQUARE as usize }>(|k| {
            let k32 = k as u32;
            let start = if k32 == j { T::ONE } else { sums[k] };
            let x = start * reciprocals.read(square * SQUARE + k32);
            if k32 >= j {
                sums[k] = x;
            }
            unroll::<{ SQUARE as usize }>(|i| {
                if i > k {
                    let factor = room.read(square * APART + k32 * SQUARE + i as u32);
                    let sum = (-factor).mul_add(x, sums[i]);
                    if k32 >= j {
                        sums[i] = sum;
                    }
                }
            });
        });
        unroll::<{ SQUARE as usize }>(|group| {
            if group < SQUARE as usize / V {
                let mut some = [T::ZERO; V];
                unroll::<V>(|v| some[v] = sums[group * V + v]);
                inverses.write_vec(thread * SQUARE + (group * V) as u32, some);
            }
        });
    }
}
