//! The outer product of two vectors, added to a matrix.
//!
//! To the kernel the matrix is a set of [`Lines`], contiguous in memory. One vector has a factor for each line, the
//! other one for each place along it. A result is `fma(alpha · factor of the line, factor of the place, old)`.

use gpu_std::float::Float;
use gpu_std::memory::{Global, GlobalMut};
use gpu_std::thread::{block_idx_x, thread_idx_x};
use gpu_std::{device, unroll};

use super::elementwise::{Lines, THREADS, UNROLL};

/// Computes a block's elements. Launch as many as [`Lines`] needs: `across` for every `THREADS / width` lines.
#[device]
#[inline(always)]
pub(super) fn ger<T: Float, const V: usize>(
    of_lines: Global<T>,
    of_places: Global<T>,
    a: GlobalMut<T>,
    lines: Lines,
    alpha: T,
) {
    let down = block_idx_x() / lines.across;
    let line = down as u64 * (THREADS / lines.width) as u64 + (thread_idx_x() / lines.width) as u64;
    if line >= lines.count {
        return;
    }
    let part = (lines.width * UNROLL) as u64 * V as u64;
    let first = (block_idx_x() - down * lines.across) as u64 * part;
    let left = (lines.length - first).min(part) as u32;
    let (places, a) = (of_places.offset(first), a.offset(line * lines.output_leading + first));
    let factor = alpha * of_lines.offset(line).read_only(0);

    let lane = thread_idx_x() % lines.width;
    if lines.vectors != 0 && left as u64 == part {
        let at = |step: usize| (step as u32 * lines.width + lane) * V as u32;
        let mut olds = [[T::ZERO; V]; UNROLL as usize];
        unroll::<{ UNROLL as usize }>(|step| olds[step] = a.read_vec(at(step)));
        unroll::<{ UNROLL as usize }>(|step| {
            let places: [T; V] = places.read_only_vec(at(step));
            unroll::<V>(|j| olds[step][j] = factor.mul_add(places[j], olds[step][j]));
            a.write_vec::<V>(at(step), olds[step]);
        });
    } else {
        // Element by element, neighbours by neighbouring threads.
        let mut at = lane;
        while at < left {
            a.write(at, factor.mul_add(places.read_only(at), a.read(at)));
            at += lines.width;
        }
    }
}
