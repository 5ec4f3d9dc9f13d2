//! Triangular systems that are mostly chains, rows in their own order: a warp has a window of 32 rows.
//!
//! A lane first adds what its row needs of rows before the window, waiting for it as [`free`](crate::free) does. Then
//! the window is solved in its registers: where rows need only the one before, each step hands what is solved to the
//! next lane by a shuffle, and there are as many steps as the longest chain has rows. Else there are 32 steps: in step k
//! lane k finishes its row and hands the result to all lanes, and those whose row has an entry there add it; others hear
//! of eight at a time. The entries inside of the window lie in shared memory by then, so that a row costs two additions,
//! a multiplication and a shuffle, and no memory is waited for. Other warps have read their rows meanwhile.
//!
//! A block has [`Rows::chunk`] rows, and its warps walk through them ([`levels`](crate::levels) says why). Where each
//! warp has one window, the results go from one to the next through shared memory, by atomic loads and stores.

use gpu_collective::grid::tickets::draw_for_block;
use gpu_std::atomic::{Ordering, Scope};
use gpu_std::memory::{Global, GlobalMut, Shared};
use gpu_std::shared::{self, SharedLayout};
use gpu_std::thread::{block_dim_x, thread_idx_x};
use gpu_std::{device, keep_rolled, kernel, warp};

use crate::NONE;
use crate::levels::{Beside, Rows, inside_of_window, links};
use crate::scalar::Scalar;
use crate::waiting::{ASKED, Batch, Strides, System, all_are};

/// The most entries of a window beside the diagonal.
const ENTRIES: u32 = 32 * 31 / 2;

/// Bytes of dynamic shared memory of a block of `threads` threads.
pub const fn shared_bytes<T: Scalar>(threads: u32) -> u32 {
    let layout = SharedLayout::new().array::<u32>(1).array::<T::Word>(threads);
    layout.array::<T>(threads / 32 * ENTRIES).bytes()
}

/// What the warps of a block share.
#[derive(Clone, Copy)]
struct Room<T: Scalar> {
    /// The solutions of the block's rows, where each warp has one window.
    known: Shared<T::Word>,
    /// The first of those rows, or [`NONE`] where warps have several windows.
    base: u32,
    /// The entries inside of the windows, [`ENTRIES`] a warp.
    inner: Shared<T>,
}

#[device]
#[inline(always)]
fn chains<T: Scalar>(offsets: Global<u32>, system: System<T>, ticket: GlobalMut<u32>, shape: &Rows) {
    let (system, ticket) = system.of_block(ticket);
    let mut memory = shared::dynamic();
    let (thread, threads) = (thread_idx_x(), block_dim_x());
    let (room, known) = (memory.array::<u32>(1), memory.array::<T::Word>(threads));
    let inner = memory.array::<T>(threads / 32 * ENTRIES);
    known.write(thread, T::UNKNOWN);
    let first = draw_for_block(ticket, room) * shape.chunk;
    // Mutants: where just a block's rows are left, both are their end.
    let end = if shape.rows - first > shape.chunk { first + shape.chunk } else { shape.rows };
    // Mutants: what is not asked for in shared memory is asked for in global memory, which has it as well.
    let room = Room { known, base: if shape.chunk > threads { NONE } else { first }, inner };
    let mut window = first + (thread - warp::lane_id());
    // Mutants: a window from the end on has no rows.
    while window < end {
        keep_rolled();
        solve_window(offsets, &system, shape, &room, (window, end));
        window += threads;
    }
}

#[device]
#[inline(always)]
fn solve_window<T: Scalar>(
    offsets: Global<u32>,
    system: &System<T>,
    shape: &Rows,
    room: &Room<T>,
    (window, end): (u32, u32),
) {
    let (thread, lane) = (thread_idx_x(), warp::lane_id());
    let number = window + lane;
    let inside = number < end;
    let row = if inside { shape.numbered(number) } else { 0 };
    let mut rest = Beside::default();
    let (mut right, mut inverse, mut sum) = (T::ZERO, T::ONE, T::ZERO);
    if inside {
        rest = shape.beside(offsets, system.indices, row);
        (right, inverse) = system.ends(row, &rest, shape);
    }

    // ---- the entries inside of the window: which columns, and their values, in order
    let (columns, count) = inside_of_window(shape, system.indices, &rest, (number, window));
    // Before the first window there is nothing.
    // Mutants: all that a row of the first window needs is inside of it: without being asked it is zero, too.
    let outer = if window > 0 { rest.left - count } else { 0 };
    let skipped = rest.left - count;
    let first_inner = thread / 32 * ENTRIES + lane * lane.saturating_sub(1) / 2;
    let mut entry = 0;
    while entry < count {
        keep_rolled();
        room.inner.write(first_inner + entry, system.values.read_only(rest.place(skipped + entry)));
        entry += 1;
    }

    // ---- what comes from before the window; the next entries are read while some are waited for
    let mut batch = Batch::read(system, shape, window, &rest, (0, 1, outer));
    let (mut first, mut ready) = (0, outer == 0);
    let mut following = Batch::read(system, shape, window, &rest, (ASKED as u32, 1, outer));
    let mut moved = true;
    while !all_are(ready, moved) {
        keep_rolled();
        moved = false;
        if !ready {
            let are_known = batch.ask(|other| {
                // Mutants: the solution of the block's first row is in global memory as well.
                if other >= room.base {
                    room.known.atomic(other - room.base).load(Ordering::Relaxed, Scope::Block)
                } else {
                    system.ask(shape.numbered(other))
                }
            });
            moved = are_known;
            if are_known {
                sum = batch.add(sum, outer - first);
                first = outer.min(first + ASKED as u32);
                ready = first == outer;
                batch = following;
                // So that what is known is kept of one of the two.
                batch.forget(outer - first);
                let next = first + ASKED as u32;
                following = Batch::read(system, shape, window, &rest, (next, 1, outer));
            }
        }
    }

    // ---- the window
    let tell = |own: T| {
        let word = own.to_word();
        if room.base != NONE {
            room.known.atomic(thread).store(word, Ordering::Relaxed, Scope::Block);
        }
        system.tell(row, word);
    };
    let mut next = T::ZERO;
    if count > 0 {
        next = room.inner.read(first_inner);
    }
    let mut own = (right - sum) * inverse;
    let (links, are_chains) = links(columns);
    if are_chains {
        let is_linked = links >> lane & 1 != 0;
        // The ends of chains of more links than there were steps.
        let mut left = links;
        while left != 0 {
            keep_rolled();
            left &= left << 1;
            let before = warp::shuffle_up(warp::FULL, own, 1);
            let added = (right - next.mul_add(before, sum)) * inverse;
            own = if is_linked { added } else { own };
        }
        if inside {
            tell(own);
        }
    } else {
        let (mut step, mut taken) = (0, 0);
        while step < 32 {
            keep_rolled();
            let solution = (right - sum) * inverse;
            own = if lane == step { solution } else { own };
            // What a row of the window needs of another is the number, not its word: of a NaN both are one.
            let solved = warp::shuffle_idx(warp::FULL, solution, step);
            let added = next.mul_add(solved, sum);
            let is_next = columns >> step & 1 != 0;
            sum = if is_next { added } else { sum };
            taken += is_next as u32;
            if is_next && taken < count {
                next = room.inner.read(first_inner + taken);
            }
            // Eight at a time, as a branch in each step would take longer than the step.
            if step % 8 == 7 && inside && lane / 8 == step / 8 {
                tell(own);
            }
            step += 1;
        }
    }
}

macro_rules! kernels {
    ($($T:ty, $Word:ty: $chains:ident;)*) => { $(
        #[doc = concat!("Systems of `", stringify!($T), "` that are chains: blocks of [`Rows::chunk`] rows, of which a warp has 32 at a time, of at most 512 threads, with [`shared_bytes`], for each system. All bits of the solutions are ones before, and `ticket`, a word a system, is zero.")]
        #[kernel(images = sm_75, launch_bounds(512, 2))]
        pub fn $chains(
            offsets: Global<u32>,
            indices: Global<u32>,
            values: Global<$T>,
            b: Global<$T>,
            x: GlobalMut<$Word>,
            ticket: GlobalMut<u32>,
            shape: Rows,
            strides: Strides,
            alpha: $T,
        ) {
            chains::<$T>(offsets, System { indices, values, b, x, alpha, strides }, ticket, &shape);
        }
    )* };
}

kernels! {
    f32, u32: sparse_solve_chains_f32;
    f64, u64: sparse_solve_chains_f64;
}
