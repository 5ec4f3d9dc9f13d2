//! Triangular systems: `A · x = alpha · b`, A a lower or an upper triangle.
//!
//! # Order of operations
//! The entries of a row beside the diagonal are one chain of fused multiply-adds, from zero, from the far side towards the
//! diagonal; the solution is `(alpha · b - sum) · (1 / diagonal)`, each operation rounded once. (The inverse is at hand
//! before the last value that a row waits for, where a division would come after it.) With a unit diagonal it is
//! `alpha · b - sum`. That is a function of the matrix alone: both ways to solve give the same bits.
//!
//! * [`free`](fn@sparse_solve_free_f32): free of synchronisation, as [`levels`](crate::levels) describes it. A value of the
//!   solution says itself whether it is known: all its bits are ones until then, a NaN that no result has.
//! * [`levels`](fn@sparse_solve_levels_f32): level by level over rows ordered by them; a launch for a level of many rows,
//!   and one of a single block for a run of levels of few.

use gpu_std::atomic::{Ordering, Scope};
use gpu_std::memory::{Global, GlobalMut};
use gpu_std::parameter::Parameter;
use gpu_std::shared::{self, SharedLayout};
use gpu_std::thread::{grid_dim_x, index_1d, sync_threads, thread_idx_x};
use gpu_std::{device, keep_rolled, kernel, warp};

use crate::THREADS;
use crate::levels::{Beside, Rows, first_of_block};
use crate::scalar::Scalar;

/// Bytes of dynamic shared memory of a block that solves free of synchronisation.
pub const fn shared_bytes<T: Scalar>() -> u32 {
    SharedLayout::new().array::<u32>(1).array::<T::Word>(THREADS).bytes()
}

/// A run of levels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Parameter)]
#[repr(C)]
pub struct Run {
    /// The first.
    pub first: u32,
    /// How many.
    pub count: u32,
}

/// What is read of a system.
#[derive(Clone, Copy)]
struct System<T: Scalar> {
    indices: Global<u32>,
    values: Global<T>,
    b: Global<T>,
    alpha: T,
}

impl<T: Scalar> System<T> {
    /// `alpha · b` of a row, and one over its diagonal.
    #[device]
    #[inline(always)]
    fn ends(&self, row: u32, rest: &Beside, shape: &Rows) -> (T, T) {
        let right = self.alpha * self.b.read_only(row);
        (right, if shape.unit != 0 { T::ONE } else { T::ONE / self.values.read_only(rest.diagonal) })
    }
}

#[device]
#[inline(always)]
fn free<T: Scalar>(
    offsets: Global<u32>,
    system: &System<T>,
    x: GlobalMut<T::Word>,
    ticket: GlobalMut<u32>,
    shape: &Rows,
) {
    let mut memory = shared::dynamic();
    let (room, known) = (memory.array::<u32>(1), memory.array::<T::Word>(THREADS));
    let thread = thread_idx_x();
    known.write(thread, T::UNKNOWN);
    let base = first_of_block(ticket, room);
    let number = base + thread;
    let mut done = number >= shape.rows;
    let row = if done { 0 } else { shape.numbered(number) };
    let mut rest = Beside { at: 0, left: 0, diagonal: 0, step: 1 };
    let (mut right, mut inverse, mut sum) = (T::ZERO, T::ONE, T::ZERO);
    // The entry that is next: asked for before what it is multiplied by is known.
    let (mut column, mut value) = (0, T::ZERO);
    if !done {
        rest = shape.beside(offsets, system.indices, row);
        (right, inverse) = system.ends(row, &rest, shape);
        if rest.left > 0 {
            (column, value) = (system.indices.read_only(rest.at), system.values.read_only(rest.at));
        }
    }
    loop {
        keep_rolled();
        if !done {
            let mut waits = false;
            while rest.left > 0 && !waits {
                keep_rolled();
                let other = shape.numbered(column);
                let word = if other >= base {
                    known.atomic(other - base).load(Ordering::Relaxed, Scope::Block)
                } else {
                    x.atomic(column).load(Ordering::Relaxed, Scope::Device)
                };
                if word == T::UNKNOWN {
                    waits = true;
                } else {
                    sum = value.mul_add(T::from_word(word), sum);
                    rest.at = rest.at.wrapping_add(rest.step);
                    rest.left -= 1;
                    if rest.left > 0 {
                        (column, value) =
                            (system.indices.read_only(rest.at), system.values.read_only(rest.at));
                    }
                }
            }
            if rest.left == 0 {
                let word = ((right - sum) * inverse).to_word();
                known.atomic(thread).store(word, Ordering::Relaxed, Scope::Block);
                x.atomic(row).store(word, Ordering::Relaxed, Scope::Device);
                done = true;
            }
        }
        if warp::warp_vote_all(warp::FULL, done) {
            break;
        }
    }
}

/// The rows of `run`'s levels: those of level `l` are `order[starts[7 l]..starts[7 (l + 1)]]`.
#[device]
#[inline(always)]
fn levels<T: Scalar>(
    offsets: Global<u32>,
    system: &System<T>,
    x: GlobalMut<T>,
    order: Global<u32>,
    starts: Global<u32>,
    shape: &Rows,
    run: Run,
) {
    let mut level = run.first;
    while level < run.first + run.count {
        keep_rolled();
        let end = starts.read_only((level + 1) * crate::order::CLASSES);
        let mut at = starts.read_only(level * crate::order::CLASSES) + index_1d();
        while at < end {
            keep_rolled();
            let row = order.read_only(at);
            let rest = shape.beside(offsets, system.indices, row);
            let (right, inverse) = system.ends(row, &rest, shape);
            let (mut sum, mut entry, mut left) = (T::ZERO, rest.at, rest.left);
            while left > 0 {
                keep_rolled();
                let solved = x.read(system.indices.read_only(entry));
                sum = system.values.read_only(entry).mul_add(solved, sum);
                entry = entry.wrapping_add(rest.step);
                left -= 1;
            }
            x.write(row, T::from_word(((right - sum) * inverse).to_word()));
            at += grid_dim_x() * THREADS;
        }
        // Of a run of several levels there is one block.
        sync_threads();
        level += 1;
    }
}

macro_rules! kernels {
    ($($T:ty, $Word:ty: $free:ident, $levels:ident;)*) => { $(
        #[doc = concat!("Systems of `", stringify!($T), "`, free of synchronisation: a thread a row, in blocks of [`THREADS`], with [`shared_bytes`]. All bytes of `x` are 255 before, and `ticket` is zero.")]
        #[kernel(images = sm_75, launch_bounds(256))]
        pub fn $free(
            offsets: Global<u32>,
            indices: Global<u32>,
            values: Global<$T>,
            b: Global<$T>,
            x: GlobalMut<$Word>,
            ticket: GlobalMut<u32>,
            shape: Rows,
            alpha: $T,
        ) {
            free::<$T>(offsets, &System { indices, values, b, alpha }, x, ticket, &shape);
        }

        #[doc = concat!("Systems of `", stringify!($T), "`, some levels: any number of blocks of [`THREADS`] for one level, one block for several.")]
        #[kernel(images = sm_75, launch_bounds(256))]
        pub fn $levels(
            offsets: Global<u32>,
            indices: Global<u32>,
            values: Global<$T>,
            b: Global<$T>,
            x: GlobalMut<$T>,
            order: Global<u32>,
            starts: Global<u32>,
            shape: Rows,
            run: Run,
            alpha: $T,
        ) {
            levels::<$T>(offsets, &System { indices, values, b, alpha }, x, order, starts, &shape, run);
        }
    )* };
}

kernels! {
    f32, u32: sparse_solve_free_f32, sparse_solve_levels_f32;
    f64, u64: sparse_solve_free_f64, sparse_solve_levels_f64;
}
