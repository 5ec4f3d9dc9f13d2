//! Triangular systems free of synchronisation over ordered rows, of which the columns are kept a second time, renumbered
//! and in the order in which warps need them.
//!
//! As [`ordered`](crate::ordered), rows of few entries. Of the rows of a level each lies somewhere else in the matrix,
//! and so do the solutions that they wait for; a warp that reads them asks the second-level cache for a sector a lane,
//! and that is what its time goes into. Here a task has [`UNITS`] units of [`ASKED`] columns each, a unit a lane, and a
//! row has the units of its lanes. Whoever waits for a row waits for the word of its first unit: rows that follow each
//! other in a grid wait for such as follow each other, so that what a warp asks for lies in a few lines. (The columns
//! renumbered by levels are those of Naumov, *Parallel solution of sparse triangular linear systems in the
//! preconditioned iterative methods on the GPU*, NVIDIA 2011, section 4; the format of slices is a sliced ELLPACK.)
//! Values are read where they are, which nobody waits for.
//!
//! All lanes ask again and again until they know what they wait for, which costs no more round trips than there must be,
//! but crowds out those whose turn it is. So a warp first waits for a word of the level before: as far before the first
//! that it lacks as that is before its own.

use gpu_collective::grid::tickets::draw_for_block;
use gpu_std::atomic::{Ordering, Scope};
use gpu_std::memory::{Global, GlobalMut};
use gpu_std::shared::{self, SharedLayout};
use gpu_std::thread::{index_1d, thread_idx_x};
use gpu_std::{device, keep_rolled, kernel, unroll, warp};

use crate::NONE;
use crate::levels::{Beside, Rows};
use crate::order::class;
use crate::ordered::{Task, lanes_of};
use crate::scalar::Scalar;
use crate::waiting::{ASKED, Strides, System};

/// Threads of a block that solves.
pub const THREADS: u32 = crate::ordered::THREADS;
/// Units of a task: lanes of its warp.
pub const UNITS: u32 = 32;
/// Entries of a row that has a task for itself, at most.
pub const LONGEST: u32 = UNITS * ASKED as u32;

/// Bytes of dynamic shared memory of a block that solves.
pub const SHARED_BYTES: u32 = SharedLayout::new().array::<u32>(1).bytes();

/// The first unit of each row, and of each unit the row whose first it is, or [`NONE`]: a thread a unit, in blocks of
/// [`THREADS`](crate::THREADS). What is no row's first waits for none: all bits of its `positions` are ones.
#[kernel(images = sm_75, launch_bounds(256))]
pub fn sparse_units(
    order: Global<u32>,
    tasks: Global<u32>,
    units: GlobalMut<u32>,
    rows: GlobalMut<u32>,
    positions: GlobalMut<u32>,
    count: u32,
    row_count: u32,
) {
    let unit = index_1d();
    if unit < count {
        let (task, lane) = (Task::read(tasks, unit / UNITS), unit % UNITS);
        let mut row = NONE;
        if lane.is_multiple_of(task.lanes) && lane / task.lanes < task.rows {
            row = order.read_only(task.first + lane / task.lanes);
            // Always so, of an order.
            if row < row_count {
                units.write(row, unit);
            }
        }
        rows.write(unit, row);
        if row == NONE {
            positions.offset(unit as u64 * ASKED as u64).write_vec(0, [NONE; ASKED]);
        }
    }
}

/// The units that each row's entries wait for, [`ASKED`] a unit, of rows of at most [`LONGEST`] entries beside the
/// diagonal: a thread a row, in blocks of [`THREADS`](crate::THREADS). `count` units there are, and rows of more than 16
/// entries have `widest` lanes ([`lanes_of`]). After [`sparse_units()`].
#[kernel(images = sm_75, launch_bounds(256))]
pub fn sparse_pack(
    offsets: Global<u32>,
    indices: Global<u32>,
    units: Global<u32>,
    positions: GlobalMut<u32>,
    shape: Rows,
    count: u32,
    widest: u32,
) {
    let number = index_1d();
    if number >= shape.rows {
        return;
    }
    let row = shape.numbered(number);
    let first = units.read_only(row);
    let rest = shape.beside(offsets, indices, row);
    let (mut unit, end) = (first, first + lanes_of(class(rest.left), widest));
    // Offsets that changed since may say anything, but nothing beyond the units.
    // Mutants: of two equal numbers either is the smaller.
    let end = if end < count { end } else { count };
    while unit < end {
        keep_rolled();
        let entry = (unit - first) * ASKED as u32;
        let columns: [u32; ASKED] = core::array::from_fn(|j| {
            let is_there = entry + (j as u32) < rest.left;
            indices.read_only_below(if is_there { rest.place(entry + j as u32) } else { NONE }, NONE, NONE)
        });
        let of_units: [u32; ASKED] = core::array::from_fn(|j| {
            let other = shape.numbered(shape.other(columns[j], number));
            let limit = if columns[j] != NONE { shape.rows } else { 0 };
            let position = units.read_only_below(other, limit, NONE);
            // An earlier task's, always.
            if position / UNITS < first / UNITS { position } else { NONE }
        });
        positions.offset(unit as u64 * ASKED as u64).write_vec(0, of_units);
        unit += 1;
    }
}

/// What is read of packed rows.
#[derive(Clone, Copy)]
struct Packed {
    tasks: Global<u32>,
    rows: Global<u32>,
    positions: Global<u32>,
    count: u32,
}

#[device]
#[inline(always)]
fn solve<T: Scalar>(
    offsets: Global<u32>,
    system: System<T>,
    packed: &Packed,
    known: GlobalMut<T::Word>,
    ticket: GlobalMut<u32>,
    shape: &Rows,
) {
    let room = shared::dynamic().array::<u32>(1);
    let lane = warp::lane_id();
    let number = draw_for_block(ticket, room) * (THREADS / 32) + thread_idx_x() / 32;
    if number >= packed.count {
        return;
    }
    let unit = number * UNITS + lane;
    let own = packed.rows.read_only(unit);
    let positions: [u32; ASKED] = packed.positions.offset(unit as u64 * ASKED as u64).read_only_vec(0);
    let lanes = Task::read(packed.tasks, number).lanes;
    // The lanes of a row have it from the first of them.
    let row = warp::shuffle_idx(warp::FULL, own, lane & !(lanes - 1));
    let (mut right, mut inverse, mut rest) = (T::ZERO, T::ONE, Beside::default());
    if row != NONE {
        rest = shape.beside(offsets, system.indices, row);
        (right, inverse) = system.ends(row, &rest, shape);
    }
    let entry = lane % lanes * ASKED as u32;
    let values: [T; ASKED] = core::array::from_fn(|j| {
        let is_there = entry + (j as u32) < rest.left;
        let place = if is_there { rest.place(entry + j as u32) } else { NONE };
        // Where there is none the product is -0: whatever that is added to stays what it is.
        system.values.read_only_below(place, NONE, -T::ZERO)
    });
    let mut words: [T::Word; ASKED] =
        core::array::from_fn(|j| if positions[j] != NONE { T::UNKNOWN } else { T::ZERO.to_word() });

    let load = |unit: u32| known.atomic(unit).load(Ordering::Relaxed, Scope::Device);
    let ask = |words: &mut [T::Word; ASKED]| {
        unroll::<ASKED>(|j| {
            if words[j] == T::UNKNOWN {
                words[j] = load(positions[j]);
            }
        });
        let mut are_known = true;
        unroll::<ASKED>(|j| are_known &= words[j] != T::UNKNOWN);
        are_known
    };
    let lacking = warp::warp_vote_ballot(warp::FULL, !ask(&mut words));
    if lacking != 0 {
        // ---- a word of the level before, by the first lane that lacks one
        let mut nearest = 0;
        unroll::<ASKED>(|j| {
            // Mutants: an equal place is the same one.
            if words[j] == T::UNKNOWN && positions[j] > nearest {
                nearest = positions[j];
            }
        });
        let distance = unit - nearest;
        // Mutants: which word of an earlier task is waited for first is a matter of speed.
        let is_waiting = lane == lacking.trailing_zeros() && nearest >= distance;
        // Gaps have no word: the row of a unit is what says whether it has one.
        // Mutants: as above.
        let before = if is_waiting { (nearest - distance) & !(lanes - 1) } else { NONE };
        let has_one = packed.rows.read_only_below(before, NONE, NONE) != NONE;
        loop {
            keep_rolled();
            let waits = has_one && load(before) == T::UNKNOWN;
            if !warp::warp_vote_any(warp::FULL, waits) {
                break;
            }
        }
        // ---- what is waited for
        loop {
            keep_rolled();
            let are_known = ask(&mut words);
            if warp::warp_vote_all(warp::FULL, are_known) {
                break;
            }
        }
    }

    // ---- each lane adds its own to the sum of the lane before
    let mut sum = T::ZERO;
    let mut step = 0;
    while step < lanes {
        keep_rolled();
        let mut added = sum;
        unroll::<ASKED>(|j| added = values[j].mul_add(T::from_word(words[j]), added));
        sum =
            // Mutants: a row's only lane hears itself.
            if lanes > 1 { warp::shuffle_idx(warp::FULL, added, lane / lanes * lanes + step) } else { added };
        step += 1;
    }
    if own != NONE {
        let word = ((right - sum) * inverse).to_word();
        known.atomic(unit).store(word, Ordering::Relaxed, Scope::Device);
        system.x.offset(row as u64 * system.strides.x_row).write(0, word);
    }
}

macro_rules! kernels {
    ($($T:ty, $Word:ty: $solve:ident;)*) => { $(
        #[doc = concat!("A system of `", stringify!($T), "`, of packed rows, a warp each of `count` `tasks`, in blocks of [`THREADS`], with [`SHARED_BYTES`]. All bits of `known`, a word a unit, are ones before, and `ticket` is zero.")]
        #[kernel(images = sm_75, launch_bounds(128))]
        pub fn $solve(
            offsets: Global<u32>,
            indices: Global<u32>,
            values: Global<$T>,
            b: Global<$T>,
            x: GlobalMut<$Word>,
            tasks: Global<u32>,
            rows: Global<u32>,
            positions: Global<u32>,
            known: GlobalMut<$Word>,
            ticket: GlobalMut<u32>,
            shape: Rows,
            strides: Strides,
            count: u32,
            alpha: $T,
        ) {
            let system = System { indices, values, b, x, alpha, strides };
            let packed = Packed { tasks, rows, positions, count };
            solve::<$T>(offsets, system, &packed, known, ticket, &shape);
        }
    )* };
}

kernels! {
    f32, u32: sparse_solve_packed_f32;
    f64, u64: sparse_solve_packed_f64;
}
