//! Incomplete factors without fill-in: Cholesky's `A ≈ L · Lᵀ` and `A ≈ L · U`, of A's own entries alone (Meijerink
//! and van der Vorst, *An iterative solution method for linear systems of which the coefficient matrix is a symmetric
//! M-matrix*, Mathematics of Computation 31, 1977; Saad, *Iterative Methods for Sparse Linear Systems*, 2nd ed.,
//! section 10.3).
//!
//! # Order of operations
//! Every entry is one chain of fused multiply-adds that starts from A's entry and subtracts products in the order of
//! ascending columns of its row, `fma(-l, u, sum)`; then it is divided by the diagonal above it, or its root is taken,
//! each operation rounded once. That is a function of the matrix alone.
//!
//! * [`ic0`](fn@sparse_ic0_f32): row by row, each from rows before (Saad, section 10.3.1, by products of rows).
//! * [`ilu0`](fn@sparse_ilu0_f32): the same of a matrix with both triangles (Saad, algorithm 10.4).
//!
//! A row is a thread's, and waits for those that it needs, free of synchronisation as [`levels`](crate::levels)
//! describes it: blocks take rows by a ticket, lanes go round together. An entry says itself whether it is known, all
//! its bits are ones until then: loads that see it need nothing else.

use gpu_std::atomic::{Ordering, Scope};
use gpu_std::memory::{Global, GlobalMut};
use gpu_std::shared::{self, SharedLayout};
use gpu_std::thread::thread_idx_x;
use gpu_std::{device, keep_rolled, kernel, warp};

use crate::levels::first_of_block;
use crate::scalar::Scalar;

/// Bytes of dynamic shared memory of a block.
pub const SHARED_BYTES: u32 = SharedLayout::new().array::<u32>(1).bytes();

/// What is known of an entry.
#[device]
#[inline(always)]
fn ask<T: Scalar>(factor: GlobalMut<T::Word>, entry: u32) -> T::Word {
    factor.atomic(entry).load(Ordering::Relaxed, Scope::Device)
}

/// An entry, for all to know.
#[device]
#[inline(always)]
fn tell<T: Scalar>(factor: GlobalMut<T::Word>, entry: u32, value: T) {
    factor.atomic(entry).store(value.to_word(), Ordering::Relaxed, Scope::Device);
}

#[device]
#[inline(always)]
fn ic0<T: Scalar>(
    offsets: Global<u32>,
    indices: Global<u32>,
    values: Global<T>,
    factor: GlobalMut<T::Word>,
    ticket: GlobalMut<u32>,
    found: GlobalMut<u32>,
    rows: u32,
) {
    let mut memory = shared::dynamic();
    let row = first_of_block(ticket, memory.array::<u32>(1)) + thread_idx_x();
    let mut done = row >= rows;
    let (mut start, mut diagonal) = (0, 0);
    let mut pivot = T::ZERO;
    if !done {
        start = offsets.read_only(row);
        diagonal = offsets.read_only(row + 1) - 1;
        pivot = values.read_only(diagonal);
    }
    // The entry that is next, and what is left of it; where this row and the one of its column are compared.
    let (mut at, mut begun, mut sum) = (start, false, T::ZERO);
    let (mut own, mut other, mut above) = (0, 0, 0);
    loop {
        keep_rolled();
        if !done {
            let mut waits = false;
            // Mutants: on the diagonal it finds that the row's own is not known yet, and goes on below.
            while at < diagonal && !waits {
                keep_rolled();
                if !begun {
                    let column = indices.read_only(at);
                    own = start;
                    other = offsets.read_only(column);
                    above = offsets.read_only(column + 1) - 1;
                    sum = values.read_only(at);
                    begun = true;
                }
                // Mutants: either row's other entries are before the column of `at`, where the diagonal is above.
                while own < at && other < above && !waits {
                    keep_rolled();
                    let (mine, theirs) = (indices.read_only(own), indices.read_only(other));
                    if mine == theirs {
                        let word = ask::<T>(factor, other);
                        if word == T::UNKNOWN {
                            waits = true;
                        } else {
                            let left = T::from_word(ask::<T>(factor, own));
                            sum = (-left).mul_add(T::from_word(word), sum);
                            own += 1;
                            other += 1;
                        }
                        // Mutants: they are not equal.
                    } else if mine < theirs {
                        own += 1;
                    } else {
                        other += 1;
                    }
                }
                if !waits {
                    let word = ask::<T>(factor, above);
                    if word == T::UNKNOWN {
                        waits = true;
                    } else {
                        let left = sum / T::from_word(word);
                        tell(factor, at, left);
                        pivot = (-left).mul_add(left, pivot);
                        at += 1;
                        begun = false;
                    }
                }
            }
            if at == diagonal {
                // NaN is not positive either.
                let positive = pivot > T::ZERO;
                if !positive {
                    found.atomic(0).fetch_min(row, Ordering::Relaxed, Scope::Device);
                }
                tell(factor, diagonal, pivot.sqrt());
                done = true;
            }
        }
        if warp::warp_vote_all(warp::FULL, done) {
            break;
        }
    }
}

#[expect(clippy::too_many_arguments, reason = "those of the kernel")]
#[device]
#[inline(always)]
fn ilu0<T: Scalar>(
    offsets: Global<u32>,
    indices: Global<u32>,
    diagonals: Global<u32>,
    work: GlobalMut<T>,
    factor: GlobalMut<T::Word>,
    ticket: GlobalMut<u32>,
    found: GlobalMut<u32>,
    rows: u32,
) {
    let mut memory = shared::dynamic();
    let row = first_of_block(ticket, memory.array::<u32>(1)) + thread_idx_x();
    let mut done = row >= rows;
    let (mut at, mut end, mut diagonal) = (0, 0, 0);
    if !done {
        at = offsets.read_only(row);
        end = offsets.read_only(row + 1);
        diagonal = diagonals.read_only(row);
    }
    // The entry that is next, once it is known; where this row and the one of its column are compared.
    let (mut begun, mut left) = (false, T::ZERO);
    let (mut own, mut other, mut others) = (0, 0, 0);
    loop {
        keep_rolled();
        if !done {
            let mut waits = false;
            // Mutants: on the diagonal it finds that the row's own is not known yet, and goes on below.
            while at < diagonal && !waits {
                keep_rolled();
                if !begun {
                    let column = indices.read_only(at);
                    other = diagonals.read_only(column);
                    let word = ask::<T>(factor, other);
                    if word == T::UNKNOWN {
                        waits = true;
                    } else {
                        left = work.read(at) / T::from_word(word);
                        tell(factor, at, left);
                        // Mutants: the column of `at` itself is before all that are looked for.
                        own = at + 1;
                        other += 1;
                        others = offsets.read_only(column + 1);
                        begun = true;
                    }
                }
                while begun && own < end && other < others && !waits {
                    keep_rolled();
                    let (mine, theirs) = (indices.read_only(own), indices.read_only(other));
                    if mine == theirs {
                        let word = ask::<T>(factor, other);
                        if word == T::UNKNOWN {
                            waits = true;
                        } else {
                            work.write(own, (-left).mul_add(T::from_word(word), work.read(own)));
                            own += 1;
                            other += 1;
                        }
                        // Mutants: they are not equal.
                    } else if mine < theirs {
                        own += 1;
                    } else {
                        other += 1;
                    }
                }
                if !waits {
                    at += 1;
                    begun = false;
                }
            }
            if at == diagonal {
                if work.read(diagonal) == T::ZERO {
                    found.atomic(0).fetch_min(row, Ordering::Relaxed, Scope::Device);
                }
                while at < end {
                    keep_rolled();
                    tell(factor, at, work.read(at));
                    at += 1;
                }
                done = true;
            }
        }
        if warp::warp_vote_all(warp::FULL, done) {
            break;
        }
    }
}

macro_rules! kernels {
    ($($T:ty, $Word:ty: $ic0:ident, $ilu0:ident;)*) => { $(
        #[doc = concat!("The factor L of a lower triangle of `", stringify!($T), "` whose rows end on the diagonal: a thread a row, in blocks of [`THREADS`](crate::THREADS), with [`SHARED_BYTES`]. All bytes of `factor` are 255 before, `ticket` is zero, and `found` is [`NONE`](crate::NONE); it gets the first row whose pivot is not positive.")]
        #[kernel(images = sm_75, launch_bounds(256))]
        pub fn $ic0(
            offsets: Global<u32>,
            indices: Global<u32>,
            values: Global<$T>,
            factor: GlobalMut<$Word>,
            ticket: GlobalMut<u32>,
            found: GlobalMut<u32>,
            rows: u32,
        ) {
            ic0::<$T>(offsets, indices, values, factor, ticket, found, rows);
        }

        #[doc = concat!("The factors L and U of a matrix of `", stringify!($T), "`, both in `factor`, without L's diagonal of ones: likewise. `diagonals` says where each row's diagonal stands; `work` has the values before. `found` gets the first row whose pivot is zero.")]
        #[kernel(images = sm_75, launch_bounds(256))]
        pub fn $ilu0(
            offsets: Global<u32>,
            indices: Global<u32>,
            diagonals: Global<u32>,
            work: GlobalMut<$T>,
            factor: GlobalMut<$Word>,
            ticket: GlobalMut<u32>,
            found: GlobalMut<u32>,
            rows: u32,
        ) {
            ilu0::<$T>(offsets, indices, diagonals, work, factor, ticket, found, rows);
        }
    )* };
}

kernels! {
    f32, u32: sparse_ic0_f32, sparse_ilu0_f32;
    f64, u64: sparse_ic0_f64, sparse_ilu0_f64;
}
