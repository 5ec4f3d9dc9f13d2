//! Triangular systems free of synchronisation, rows in the order of their levels and size classes
//! ([`order`](crate::order)): rows of a warp do not wait for each other, and those in flight are those whose turn is
//! near.
//!
//! A row has lanes as its size class says ([`lanes_of`]), each of which asks for [`ASKED`] values that follow each other
//! at a time. The entries of a row are one chain all the same: each lane adds its own to the sum of the lane before. Of
//! a row that has a warp the entries go through shared memory, and all lanes add them up, so that a step is a
//! multiply-add and nothing else; the next entries are read and asked for meanwhile. Warps take their rows by a ticket,
//! so that what they wait for is a warp's that runs.

use gpu_collective::grid::tickets::draw_for_block;
use gpu_std::memory::{Global, GlobalMut, Shared};
use gpu_std::shared::{self, SharedLayout};
use gpu_std::{device, keep_rolled, kernel, unroll, warp};

use crate::levels::{Beside, Rows};
use crate::order::CLASSES;
use crate::scalar::Scalar;
use crate::waiting::{ASKED, Batch, Strides, System};

/// Threads of a block. Few, as a block begins only when all of another have ended.
pub const THREADS: u32 = 128;

/// Entries that a warp has at a time.
const ROOM: u32 = 32 * ASKED as u32;

/// Bytes of dynamic shared memory that a block needs.
pub const fn shared_bytes<T: Scalar>() -> u32 {
    let entries = THREADS / 32 * ROOM;
    SharedLayout::new().array::<u32>(1).array::<T>(entries).array::<T>(entries).bytes()
}

/// Lanes of a row of this size class: a quarter of its entries, as each asks for four; `widest`, a power of two up to 32, of
/// rows of more than 16.
pub const fn lanes_of(class: u32, widest: u32) -> u32 {
    match class {
        3 => 2,
        4 => 4,
        5 => widest,
        _ => 1,
    }
}

/// Lanes of rows of more than 16 entries where none has more than `longest`.
pub const fn widest(longest: u32) -> u32 {
    match longest {
        0..=32 => 8,
        33..=64 => 16,
        _ => 32,
    }
}

/// What a warp does.
#[derive(Clone, Copy, Default)]
pub(crate) struct Task {
    /// The place of its first row in the order.
    pub(crate) first: u32,
    /// How many rows it has.
    pub(crate) rows: u32,
    /// How many lanes each has: a power of two up to 32.
    pub(crate) lanes: u32,
}

impl Task {
    /// That of two words: the first place, and the rows above 8 bits of which three say how often the lanes double.
    #[device]
    #[inline(always)]
    pub(crate) fn read(tasks: Global<u32>, number: u32) -> Self {
        let (first, what) = (tasks.read_only(2 * number), tasks.read_only(2 * number + 1));
        let doublings = what & 7;
        // Mutants: of two equal numbers either is the smaller.
        Self { first, rows: what >> 8, lanes: 1 << if doublings < 5 { doublings } else { 5 } }
    }
}

/// The warps that each group's rows fill: a thread a group, in blocks of [`THREADS`](crate::THREADS).
#[kernel(images = sm_75, launch_bounds(256))]
pub fn sparse_task_counts(starts: Global<u32>, counts: GlobalMut<u32>, groups: u32, widest: u32) {
    let group = gpu_std::thread::index_1d();
    if group < groups {
        let rows = starts.read_only(group + 1) - starts.read_only(group);
        counts.write(group, rows.div_ceil(32 / lanes_of(group % CLASSES, widest)));
    }
}

/// What every warp does: the place of its first row in the order, and how many rows it has, above 8 bits that say how
/// often their lanes double: a thread a warp, in blocks of [`THREADS`](crate::THREADS). `before` are the warps before those of each group.
#[kernel(images = sm_75, launch_bounds(256))]
pub fn sparse_tasks(
    starts: Global<u32>,
    before: Global<u32>,
    tasks: GlobalMut<u32>,
    groups: u32,
    count: u32,
    widest: u32,
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
        let lanes = lanes_of(low % CLASSES, widest);
        let of_warp = 32 / lanes;
        let first = starts.read_only(low) + (task - before.read_only(low)) * of_warp;
        let rows = of_warp.min(starts.read_only(low + 1) - first);
        tasks.write(2 * task, first);
        tasks.write(2 * task + 1, rows << 8 | lanes.trailing_zeros());
    }
}

/// Waits until all values of a warp's batch, which were asked for, are known. The values of a level come at about the same time: until one that
/// lacks is there, it alone is asked for; where the entries are of one row, the last, which is the likeliest to be late.
#[device]
#[inline(always)]
fn wait_for<T: Scalar>(batch: &mut Batch<T>, ask: impl Fn(u32) -> T::Word, last: bool) {
    let lacking = warp::warp_vote_ballot(warp::FULL, !batch.are_known());
    if lacking == 0 {
        return;
    }
    let asking = if last { 31 - lacking.leading_zeros() } else { lacking.trailing_zeros() };
    let asks = warp::lane_id() == asking;
    loop {
        keep_rolled();
        let is_there = asks && batch.ask_one(&ask);
        if warp::warp_vote_any(warp::FULL, is_there) {
            break;
        }
    }
    loop {
        keep_rolled();
        let are_known = batch.ask(&ask);
        if warp::warp_vote_all(warp::FULL, are_known) {
            break;
        }
    }
}

/// `count` entries in shared memory, one after the other, added to `sum`; up to the next four there are such as change
/// nothing.
#[device]
#[inline(always)]
fn chain<T: Scalar>(values: Shared<T>, solved: Shared<T>, count: u32, mut sum: T) -> T {
    let mut entry = 0;
    while entry < count {
        keep_rolled();
        unroll::<2>(|j| {
            let at = entry + 2 * j as u32;
            let (value, word): ([T; 2], [T; 2]) = (values.read_vec(at), solved.read_vec(at));
            sum = value[1].mul_add(word[1], value[0].mul_add(word[0], sum));
        });
        entry += 4;
    }
    sum
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
    let mut memory = shared::dynamic();
    let room = memory.array::<u32>(1);
    let (values, solved) = (memory.array::<T>(THREADS / 32 * ROOM), memory.array::<T>(THREADS / 32 * ROOM));
    let lane = warp::lane_id();
    let number = draw_for_block(ticket, room) * (THREADS / 32) + gpu_std::thread::thread_idx_x() / 32;
    let mut task = Task { lanes: 1, ..Task::default() };
    if number < count {
        task = Task::read(tasks, number);
    }
    let lanes = task.lanes;
    let inside = lane / lanes < task.rows;
    let (mut row, mut rest, mut right, mut inverse) = (0, Beside::default(), T::ZERO, T::ONE);
    if inside {
        row = order.read_only(task.first + lane / lanes);
        rest = shape.beside(offsets, system.indices, row);
        (right, inverse) = system.ends(row, &rest, shape);
    }
    let number = shape.numbered(row);
    let ask = |other: u32| system.ask(shape.numbered(other));
    let of_warp = lanes == 32;
    let staged = gpu_std::thread::thread_idx_x() / 32 * ROOM;
    let (values, solved) = (values.offset(staged), solved.offset(staged));
    let own = ASKED as u32 * (lane % lanes);
    let mut batch = Batch::read(&system, shape, number, &rest, (own, 1, rest.left));
    let mut following = batch;
    // The first entry of the batch, and how many of those before it are in shared memory and not in the sum.
    let (mut sum, mut first, mut staged) = (T::ZERO, 0, 0);
    loop {
        keep_rolled();
        batch.ask(ask);
        if of_warp {
            following = Batch::read(&system, shape, number, &rest, (first + ROOM + own, 1, rest.left));
            sum = chain(values, solved, staged, sum);
            if first >= rest.left {
                break;
            }
        }
        wait_for(&mut batch, ask, of_warp);
        if !of_warp {
            break;
        }
        // All lanes have read what is there.
        warp::sync_warp(warp::FULL);
        batch.stage(values, solved);
        warp::sync_warp(warp::FULL);
        staged = rest.left - first;
        // Mutants: of two equal numbers either is the smaller.
        staged = if staged > ROOM { ROOM } else { staged };
        first += staged;
        batch = following;
        batch.forget(rest.left - rest.left.min(first + own));
    }
    if lanes == 1 {
        sum = batch.add_all(sum);
    } else if !of_warp {
        let mut step = 0;
        while step < lanes {
            keep_rolled();
            let added = batch.add_all(sum);
            sum = warp::shuffle_idx(warp::FULL, added, lane / lanes * lanes + step);
            step += 1;
        }
    }
    if inside && lane.is_multiple_of(lanes) {
        system.tell(row, ((right - sum) * inverse).to_word());
    }
}

macro_rules! kernels {
    ($($T:ty, $Word:ty, $bounds:tt: $ordered:ident;)*) => { $(
        #[doc = concat!("Systems of `", stringify!($T), "`, rows in the order `order`, a warp each of `count` `tasks`, in blocks of [`THREADS`], with [`shared_bytes`], for each system. All bits of the solutions are ones before, and `ticket`, a word a system, is zero.")]
        #[kernel(images = sm_75, launch_bounds $bounds)]
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

// Left to itself ptxas gives `f32` 64 registers, and a stack on 9.0 and 10.0; with the 72 of 7 blocks there is none.
kernels! {
    f32, u32, (128, 7): sparse_solve_ordered_f32;
    f64, u64, (128): sparse_solve_ordered_f64;
}
