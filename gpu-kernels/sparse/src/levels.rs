//! The levels of a triangle's rows: 1 for rows that wait for none, else one more than the highest level waited for.
//!
//! A row is a thread's, and rows are taken in the order in which they can be solved: from the first of a lower
//! triangle, from the last of an upper one. A thread waits for the levels of others, as the synchronisation-free
//! solvers do (Liu, Li, Hogg, Duff, Vinter, Euro-Par 2016), a thread a row (Su, Zhang, Li, Zhou, Tang, Du,
//! *CapelliniSpTRSV*, ICPP 2020), and in three ways that keep the wait short and finite:
//!
//! * The rows of a warp do not wait for each other: once all know what comes from earlier rows, the rest passes from
//!   lane to lane by shuffles. Where rows need only the one before, that is a scan: the level of a chain is a maximum
//!   of sums.
//! * The block's last rows are waited for in shared memory, in a ring of words that say whose level they hold. What other
//!   blocks have, or what the ring has lost, is waited for in global memory.
//! * No thread waits in a loop of its own: all lanes of a warp ask once, and go round together while one of them lacks
//!   something. And blocks take their rows by a ticket: what a block waits for is a block's that runs.
//!
//! A block has [`Rows::chunk`] rows, and its warps walk through them, 32 rows at a time. Few rows a block let as many
//! rows wait as fit on the device. But where most rows need the one before and one at a distance that is the same for
//! all, as those of grids do, of the rows that fit only few can be next: all of one line wait for its first. Blocks that
//! have as many rows as that distance follow each other a few rows apart, and all of them work.
//!
//! Threads of a block exchange levels through the ring while they wait, by atomic loads and stores without a barrier: a
//! tool that looks for accesses between barriers (compute-sanitizer's racecheck) names them, and they are meant.
//!
//! A level is a word, and it says itself whether it is known: a load that sees it needs nothing else, so relaxed loads
//! and stores suffice.

use gpu_std::atomic::{Ordering, Scope};
use gpu_std::memory::{Global, GlobalMut, Shared};
use gpu_std::parameter::Parameter;
use gpu_std::shared::{self, SharedLayout};
use gpu_std::thread::{block_dim_x, thread_idx_x};
use gpu_std::{device, keep_rolled, kernel, unroll, warp};

use crate::waiting::{ASKED, all_are, draw};
use crate::{NONE, THREADS};

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
    /// Rows of a block of those kernels whose warps walk; not 0.
    pub chunk: u32,
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

/// Words of the ring of a block of `threads` threads that has `chunk` rows: those of the rows that its warps have at a
/// time, and of as many lines of a grid as they are likely to need.
pub const fn ring(chunk: u32, threads: u32) -> u32 {
    if chunk <= threads { threads.next_power_of_two() } else { 4 * threads.next_power_of_two() }
}

/// Bytes of dynamic shared memory of a block of [`sparse_levels()`].
pub const fn shared_bytes(chunk: u32, threads: u32) -> u32 {
    SharedLayout::new().array::<u32>(1).array::<u64>(ring(chunk, threads)).bytes()
}

/// What a block knows of its last rows: of each a word with its number, counted from 1, above its level.
#[derive(Clone, Copy)]
struct Ring {
    words: Shared<u64>,
    mask: u32,
}

impl Ring {
    /// What is known of a row: its level, 0 if it has none yet, or [`NONE`] if a later row has its place.
    #[device]
    #[inline(always)]
    fn ask(&self, number: u32) -> u32 {
        let word = self.words.atomic(number & self.mask).load(Ordering::Relaxed, Scope::Block);
        let whose = (word >> 32) as u32;
        if whose == number + 1 {
            word as u32
        } else if whose > number {
            NONE
        } else {
            0
        }
    }

    /// A row's level, for the block to know.
    #[device]
    #[inline(always)]
    fn tell(&self, number: u32, level: u32) {
        let word = (number as u64 + 1) << 32 | level as u64;
        self.words.atomic(number & self.mask).store(word, Ordering::Relaxed, Scope::Block);
    }
}

/// The entries of a lane's row inside of its warp's window of 32 rows, of which the first has number `window`: the
/// columns as bits, and how many. They are the last of the row.
#[device]
#[inline(always)]
pub(crate) fn inside_of_window(
    shape: &Rows,
    indices: Global<u32>,
    rest: &Beside,
    (number, window): (u32, u32),
) -> (u32, u32) {
    let (mut columns, mut count) = (0, 0);
    let lane = number - window;
    let mut more = rest.left > 0 && lane > 0;
    while more {
        keep_rolled();
        let other = shape.other(indices.read_only(rest.place(rest.left - 1 - count)), number);
        more = other >= window;
        if more {
            columns |= 1 << (other - window);
            count += 1;
            more = count < rest.left && count < lane;
        }
    }
    (columns, count)
}

/// The lanes of a window whose rows need of it the one before alone, as bits; and whether no row needs anything else of
/// it. Of each lane `columns` is what its row needs.
#[device]
#[inline(always)]
pub(crate) fn links(columns: u32) -> (u32, bool) {
    let lane = warp::lane_id();
    // Of lane k that is bit k - 1.
    let is_linked = columns == (1u32 << lane) >> 1 && lane > 0;
    let links = warp::warp_vote_ballot(warp::FULL, is_linked);
    (links, warp::warp_vote_all(warp::FULL, columns == 0 || is_linked))
}

/// The levels of a warp's rows, of which `level` is known from rows before, from what they need of each other.
#[device]
#[inline(always)]
fn in_window(mut level: u32, columns: u32) -> u32 {
    let (links, are_chains) = links(columns);
    if are_chains {
        // How many rows before this one it hangs on, one after the other.
        let chain = (!(links << (31 - warp::lane_id()))).leading_zeros();
        let mut distance = 1;
        while distance < 32 {
            let other = warp::shuffle_up(warp::FULL, level, distance) + distance;
            if chain >= distance && other > level {
                level = other;
            }
            distance *= 2;
        }
    } else {
        let mut step = 0;
        while step < 32 {
            keep_rolled();
            let other = warp::shuffle_idx(warp::FULL, level, step) + 1;
            if columns >> step & 1 != 0 && other > level {
                level = other;
            }
            step += 1;
        }
    }
    level
}

/// The levels of all rows: a block has [`Rows::chunk`] of them, each of its warps 32 at a time; at most 512 threads, with
/// [`shared_bytes`]. `levels` and `ticket` are zero before.
#[kernel(images = sm_75, launch_bounds(512))]
pub fn sparse_levels(
    offsets: Global<u32>,
    indices: Global<u32>,
    levels: GlobalMut<u32>,
    ticket: GlobalMut<u32>,
    shape: Rows,
) {
    let mut memory = shared::dynamic();
    let room = memory.array::<u32>(1);
    let (thread, threads) = (thread_idx_x(), block_dim_x());
    let words = ring(shape.chunk, threads);
    let ring = Ring { words: memory.array::<u64>(words), mask: words - 1 };
    let mut word = thread;
    while word < words {
        keep_rolled();
        ring.words.write(word, 0);
        word += threads;
    }
    let base = draw(ticket, room) * shape.chunk;
    let end = if shape.rows - base > shape.chunk { base + shape.chunk } else { shape.rows };
    let mut window = base + (thread - warp::lane_id());
    while window < end {
        keep_rolled();
        levels_of_window((offsets, indices), levels, &shape, &ring, (base, window, end));
        window += threads;
    }
}

/// The levels of the rows of a window.
#[device]
#[inline(always)]
fn levels_of_window(
    (offsets, indices): (Global<u32>, Global<u32>),
    levels: GlobalMut<u32>,
    shape: &Rows,
    ring: &Ring,
    (base, window, end): (u32, u32, u32),
) {
    let number = window + warp::lane_id();
    let inside = number < end;
    let row = if inside { shape.numbered(number) } else { 0 };
    let mut rest = Beside::default();
    if inside {
        rest = shape.beside(offsets, indices, row);
    }
    let (columns, count) = inside_of_window(shape, indices, &rest, (number, window));
    // Before the first window there is nothing.
    let outer = if window > 0 { rest.left - count } else { 0 };
    let tell = |level: u32| {
        ring.tell(number, level);
        levels.atomic(row).store(level, Ordering::Relaxed, Scope::Device);
    };

    // ---- what comes from before the window
    let (mut level, mut first) = (1, 0);
    let mut others = waited_for(shape, indices, &rest, window, (first, outer));
    let mut words = [0; ASKED];
    let mut ready = !inside;
    loop {
        keep_rolled();
        let mut moved = false;
        if !ready {
            let mut goes_on = true;
            while goes_on {
                keep_rolled();
                unroll::<ASKED>(|j| {
                    if words[j] == 0 && others[j] != NONE {
                        let known = if others[j] >= base { ring.ask(others[j]) } else { NONE };
                        words[j] = if known == NONE {
                            levels.atomic(shape.numbered(others[j])).load(Ordering::Relaxed, Scope::Device)
                        } else {
                            known
                        };
                    }
                });
                unroll::<ASKED>(|j| goes_on &= words[j] != 0 || others[j] == NONE);
                if goes_on {
                    moved = true;
                    unroll::<ASKED>(|j| level = if words[j] >= level { words[j] + 1 } else { level });
                    first += ASKED as u32;
                    goes_on = first < outer;
                    ready = !goes_on;
                    if goes_on {
                        others = waited_for(shape, indices, &rest, window, (first, outer));
                        words = [0; ASKED];
                    }
                }
            }
            // A row that needs none of the warp is finished.
            if ready && columns == 0 {
                tell(level);
            }
        }
        if all_are(ready, moved) {
            break;
        }
    }

    // ---- the window
    if warp::warp_vote_any(warp::FULL, columns != 0) {
        level = in_window(level, columns);
        if inside && columns != 0 {
            tell(level);
        }
    }
}

/// The numbers of the rows that a row waits for from its entry `first` on, before entry `end`; [`NONE`] where there is
/// none.
#[device]
#[inline(always)]
fn waited_for(
    shape: &Rows,
    indices: Global<u32>,
    rest: &Beside,
    window: u32,
    (first, end): (u32, u32),
) -> [u32; ASKED] {
    let mut others = [NONE; ASKED];
    unroll::<ASKED>(|j| {
        let entry = first + j as u32;
        if entry < end {
            others[j] = shape.other(indices.read_only(rest.place(entry)), window);
        }
    });
    others
}
