//! The levels of a triangle's rows: 1 for rows that wait for none, else one more than the highest level waited for.
//!
//! A row is a thread's, and rows are taken in the order in which they can be solved: from the first of a lower triangle,
//! from the last of an upper one. A thread waits for the levels of others, as the synchronisation-free solvers do
//! (Liu, Li, Hogg, Duff, Vinter, Euro-Par 2016), a thread a row (Su, Zhang, Li, Zhou, Tang, Du, *CapelliniSpTRSV*, ICPP
//! 2020), and in two ways that keep the wait short and finite:
//!
//! * Rows of the block are waited for in shared memory, so that a chain of rows that depend each on the one before goes
//!   on at the speed of shared memory. Only what other blocks have is waited for in global memory.
//! * No thread waits in a loop of its own: all lanes of a warp ask once, and go round together while one of them lacks
//!   something. And blocks take their rows by a ticket: what a block waits for is a block's that runs.
//!
//! A level is a word, and it says itself whether it is known: a load that sees it needs nothing else, so relaxed loads
//! and stores suffice.

use gpu_std::atomic::{Ordering, Scope};
use gpu_std::memory::{Global, GlobalMut, Shared};
use gpu_std::parameter::Parameter;
use gpu_std::shared::{self, SharedLayout};
use gpu_std::thread::thread_idx_x;
use gpu_std::{device, keep_rolled, kernel, warp};

use crate::THREADS;
use crate::waiting::draw;

/// A triangle, but for addresses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Parameter)]
#[repr(C)]
pub struct Rows {
    /// Rows, and columns.
    pub rows: u32,
    /// Entries.
    pub entries: u32,
    /// Whether entries stand right of the diagonal: 1 or 0.
    pub upper: u32,
    /// Whether the diagonal is taken to be one, whatever is stored: 1 or 0.
    pub unit: u32,
}

/// The entries of a row beside the diagonal, from the far side towards it: of a lower triangle with ascending columns,
/// of an upper one with descending ones.
#[derive(Clone, Copy, Default)]
pub(crate) struct Beside {
    /// The first of them.
    pub(crate) at: u32,
    /// How many there are.
    pub(crate) left: u32,
    /// Where the diagonal stands, if it does.
    pub(crate) diagonal: u32,
    /// What leads from one to the next.
    pub(crate) step: u32,
}

impl Beside {
    /// Where entry number `entry` of them stands.
    #[device]
    #[inline(always)]
    pub(crate) fn place(&self, entry: u32) -> u32 {
        self.at.wrapping_add(self.step.wrapping_mul(entry))
    }
}

impl Rows {
    /// Those of `row`. Offsets that changed since they were checked may say anything, but nothing beyond the entries.
    #[device]
    #[inline(always)]
    pub(crate) fn beside(&self, offsets: Global<u32>, indices: Global<u32>, row: u32) -> Beside {
        let (start, end) = crate::check::bounds(offsets, row, self.entries);
        let upper = self.upper != 0;
        // There is an entry, as a diagonal is stored that is read.
        let diagonal = if start == end {
            0
        } else if upper {
            start
        } else {
            end - 1
        };
        let stored = start < end && indices.read_only(diagonal) == row;
        let number = self.numbered(row);
        let left = end - start - stored as u32;
        Beside {
            at: if upper { end.wrapping_sub(1) } else { start },
            // No row has more than there are before it.
            left: if left < number { left } else { number },
            diagonal,
            step: if upper { u32::MAX } else { 1 },
        }
    }

    /// The row with number `number` in the order in which they can be solved; or a row's number.
    #[device]
    #[inline(always)]
    pub(crate) fn numbered(&self, number: u32) -> u32 {
        if self.upper != 0 { (self.rows - 1).wrapping_sub(number) } else { number }
    }

    /// The number of the row that an entry in `column` of row number `number`, which is not the first, waits for: an
    /// earlier one, even if the column changed since it was checked.
    #[device]
    #[inline(always)]
    pub(crate) fn other(&self, column: u32, number: u32) -> u32 {
        let (other, last) = (self.numbered(column), number.wrapping_sub(1));
        if other < last { other } else { last }
    }
}

/// The number of the first row of this block, drawn from the ticket. For the whole block.
#[device]
#[inline(always)]
pub(crate) fn first_of_block(ticket: GlobalMut<u32>, room: Shared<u32>) -> u32 {
    draw(ticket, room) * THREADS
}

/// Bytes of dynamic shared memory of a block of [`sparse_levels()`].
pub const SHARED_BYTES: u32 = SharedLayout::new().array::<u32>(1).array::<u32>(THREADS).bytes();

/// The levels of all rows: a thread each, in blocks of [`THREADS`], with [`SHARED_BYTES`]. `levels` and `ticket` are
/// zero before.
#[kernel(images = sm_75, launch_bounds(256))]
pub fn sparse_levels(
    offsets: Global<u32>,
    indices: Global<u32>,
    levels: GlobalMut<u32>,
    ticket: GlobalMut<u32>,
    shape: Rows,
) {
    let mut memory = shared::dynamic();
    let (room, known) = (memory.array::<u32>(1), memory.array::<u32>(THREADS));
    let thread = thread_idx_x();
    known.write(thread, 0);
    let base = first_of_block(ticket, room);
    let number = base + thread;
    let mut done = number >= shape.rows;
    let row = if done { 0 } else { shape.numbered(number) };
    let mut rest = Beside::default();
    if !done {
        rest = shape.beside(offsets, indices, row);
    }
    let mut highest = 0;
    loop {
        keep_rolled();
        if !done {
            let mut waits = false;
            while rest.left > 0 && !waits {
                keep_rolled();
                let other = shape.other(indices.read_only(rest.at), number);
                let level = if other >= base {
                    known.atomic(other - base).load(Ordering::Relaxed, Scope::Block)
                } else {
                    levels.atomic(shape.numbered(other)).load(Ordering::Relaxed, Scope::Device)
                };
                if level == 0 {
                    waits = true;
                } else {
                    highest = if level > highest { level } else { highest };
                    rest.at = rest.at.wrapping_add(rest.step);
                    rest.left -= 1;
                }
            }
            if rest.left == 0 {
                known.atomic(thread).store(highest + 1, Ordering::Relaxed, Scope::Block);
                levels.atomic(row).store(highest + 1, Ordering::Relaxed, Scope::Device);
                done = true;
            }
        }
        if warp::warp_vote_all(warp::FULL, done) {
            break;
        }
    }
}
