//! Triangular systems free of synchronisation, rows in the order of their levels and size classes
//! ([`order`](crate::order)): rows of a warp do not wait for each other, and those in flight are those whose turn is
//! near.
//!
//! A row has lanes as its size class says ([`lanes_of`]), each of which asks for [`ASKED`]
//! values at a time. The entries of a row are one chain all the same: each value is handed to all lanes of the row by a
//! shuffle, in order. Warps take their rows by a ticket, so that what they wait for is a warp's that runs.

use gpu_std::memory::{Global, GlobalMut};
use gpu_std::shared::{self, SharedLayout};
use gpu_std::{device, keep_rolled, kernel, unroll, warp};

use crate::levels::{Beside, Rows};
use crate::order::CLASSES;
use crate::scalar::Scalar;
use crate::waiting::{ASKED, Batch, Strides, System, draw};

/// Threads of a block. Few, as a block begins only when all of another have ended.
pub const THREADS: u32 = 128;

/// Bytes of dynamic shared memory that a block needs.
pub const SHARED_BYTES: u32 = SharedLayout::new().array::<u32>(1).bytes();

/// Lanes of a row of this size class: a quarter of its entries, as each asks for four; 32 of rows of more than 16.
pub const fn lanes_of(class: u32) -> u32 {
    match class {
        3 => 2,
        4 => 4,
        5 => 32,
        _ => 1,
    }
}

/// The warps that each group's rows fill: a thread a group, in blocks of [`THREADS`](crate::THREADS).
#[kernel(images = sm_75, launch_bounds(256))]
pub fn sparse_task_counts(starts: Global<u32>, counts: GlobalMut<u32>, groups: u32) {
    let group = gpu_std::thread::index_1d();
    if group < groups {
        let rows = starts.read_only(group + 1) - starts.read_only(group);
        counts.write(group, rows.div_ceil(32 / lanes_of(group % CLASSES)));
    }
}

/// What every warp does: the place of its first row in the order, and how many rows it has, above 8 bits that say their
/// class: a thread a warp, in blocks of [`THREADS`](crate::THREADS). `before` are the warps before those of each group.
#[kernel(images = sm_75, launch_bounds(256))]
pub fn sparse_tasks(
    starts: Global<u32>,
    before: Global<u32>,
    tasks: GlobalMut<u32>,
    groups: u32,
    count: u32,
) {
    let task = gpu_std::thread::index_1d();
    if task < count {
        // The last group that starts at or before it.
        let (mut low, mut high) = (0, groups);
        while high - low > 1 {
            keep_rolled();
            let middle = low + (high - low) / 2;
            if before.read_only(middle) <= task {
                low = middle;
            } else {
                high = middle;
            }
        }
        let class = low % CLASSES;
        let of_warp = 32 / lanes_of(class);
        let first = starts.read_only(low) + (task - before.read_only(low)) * of_warp;
        let rows = of_warp.min(starts.read_only(low + 1) - first);
        tasks.write(2 * task, first);
        tasks.write(2 * task + 1, rows << 8 | class);
    }
}

#[device]
#[inline(always)]
fn ordered<T: Scalar>(
    offsets: Global<u32>,
    system: System<T>,
    (order, tasks, count): (Global<u32>, Global<u32>, u32),
    ticket: GlobalMut<u32>,
    shape: &Rows,
) {
    let (system, ticket) = system.of_block(ticket);
    let room = shared::dynamic().array::<u32>(1);
    let lane = warp::lane_id();
    let task = draw(ticket, room) * (THREADS / 32) + gpu_std::thread::thread_idx_x() / 32;
    let (mut place, mut what) = (0, 0);
    if task < count {
        (place, what) = (tasks.read_only(2 * task), tasks.read_only(2 * task + 1));
    }
    let lanes = lanes_of(what & 0xff);
    let inside = lane / lanes < what >> 8;
    let (mut row, mut rest, mut right, mut inverse) = (0, Beside::default(), T::ZERO, T::ONE);
    if inside {
        row = order.read_only(place + lane / lanes);
        rest = shape.beside(offsets, system.indices, row);
        (right, inverse) = system.ends(row, &rest, shape);
    }
    let number = shape.numbered(row);
    let (mut sum, mut first) = (T::ZERO, 0);
    while warp::warp_vote_any(warp::FULL, first < rest.left) {
        keep_rolled();
        let mut batch = Batch::read(&system, shape, number, &rest, (first + lane % lanes, lanes, rest.left));
        let ask = |other: u32| system.ask(shape.numbered(other));
        let mut are_known = batch.ask(ask);
        let lacking = warp::warp_vote_ballot(warp::FULL, !are_known);
        if lacking != 0 {
            // The values of a level come at about the same time. Until the first that lacks is there, it alone is asked
            // for.
            let is_first = lane == lacking.trailing_zeros();
            loop {
                keep_rolled();
                let is_there = is_first && batch.ask_one(ask);
                if warp::warp_vote_any(warp::FULL, is_there) {
                    break;
                }
            }
            loop {
                keep_rolled();
                are_known = batch.ask(ask);
                if warp::warp_vote_all(warp::FULL, are_known) {
                    break;
                }
            }
        }
        if lanes == 1 {
            sum = batch.add(sum, rest.left - rest.left.min(first));
        } else {
            unroll::<ASKED>(|j| {
                let mut from = 0;
                // A warp's rows have as many lanes each, and of 32 there is one row.
                let steps = if lanes == 32 {
                    lanes.min(rest.left - rest.left.min(first + j as u32 * lanes))
                } else {
                    lanes
                };
                while from < steps {
                    keep_rolled();
                    let source = lane / lanes * lanes + from;
                    let value = warp::shuffle_idx(warp::FULL, batch.values[j], source);
                    let solved = warp::shuffle_idx(warp::FULL, T::from_word(batch.words[j]), source);
                    if first + j as u32 * lanes + from < rest.left {
                        sum = value.mul_add(solved, sum);
                    }
                    from += 1;
                }
            });
        }
        first += ASKED as u32 * lanes;
    }
    if inside && lane.is_multiple_of(lanes) {
        system.tell(row, ((right - sum) * inverse).to_word());
    }
}

macro_rules! kernels {
    ($($T:ty, $Word:ty: $ordered:ident;)*) => { $(
        #[doc = concat!("Systems of `", stringify!($T), "`, rows in the order `order`, a warp each of `count` `tasks`, in blocks of [`THREADS`], with [`SHARED_BYTES`], for each system. All bits of the solutions are ones before, and `ticket`, a word a system, is zero.")]
        #[kernel(images = sm_75, launch_bounds(128))]
        pub fn $ordered(
            offsets: Global<u32>,
            indices: Global<u32>,
            values: Global<$T>,
            b: Global<$T>,
            x: GlobalMut<$Word>,
            order: Global<u32>,
            tasks: Global<u32>,
            ticket: GlobalMut<u32>,
            shape: Rows,
            strides: Strides,
            count: u32,
            alpha: $T,
        ) {
            let system = System { indices, values, b, x, alpha, strides };
            ordered::<$T>(offsets, system, (order, tasks, count), ticket, &shape);
        }
    )* };
}

kernels! {
    f32, u32: sparse_solve_ordered_f32;
    f64, u64: sparse_solve_ordered_f64;
}
