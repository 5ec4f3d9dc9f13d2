//! The levels of a triangle's rows: 1 for rows that wait for none, else one more than the highest level waited for.
//!
//! A row is a thread's, and rows are taken in the order in which they can be solved: from the first of a lower
//! triangle, from the last of an upper one. A thread waits for the levels of others, as the synchronisation-free
//! solvers do (Liu, Li, Hogg, Duff, Vinter, Euro-Par 2016), a thread a row (Su, Zhang, Li, Zhou, Tang, Du,
//! *CapelliniSpTRSV*, ICPP 2020), and in three ways that keep the wait short and finite:
//!
//! * The rows of a warp do not wait for each other: once they know what comes from earlier rows, the rest passes from
//!   lane to lane by shuffles. Where rows need only the one before, that is a scan: the level of a chain is a maximum
//!   of sums, and a chain is finished as soon as its own rows know what they need, whatever others of the warp wait
//!   for: two lines of a grid of which a warp has parts do not wait for each other.
//! * The block's last rows are waited for in shared memory, in a ring of words that say whose level they hold. What other
//!   blocks have, or what the ring has lost, is waited for in global memory.
//! * No thread waits in a loop of its own: all lanes of a warp ask once, and go round together while one of them lacks
//!   something. And blocks take their rows by a ticket: what a block waits for is a block's that runs.
//!
//! What all rows on the device ask for again and again is what the time of wide levels goes into. So a lane asks for
//! all of [`AT_ONCE`] entries once, and from then on for one of those that it lacks: the nearest, which is likely to be
//! the last to be known. Once it is, the lane asks for all others that it lacks.
//!
//! A block has [`Rows::chunk`] rows, and its warps walk through them, 32 rows at a time. Few rows a block let as many
//! rows wait as fit on the device. But where most rows need the one before and one at a distance that is the same for
//! all, as those of grids do, of the rows that fit only few can be next: all of one line wait for its first. Blocks
//! that have as many rows as that distance follow each other a few rows apart, and all of them work.
//!
//! Threads of a block exchange levels through the ring while they wait, by atomic loads and stores without a barrier: a
//! tool that looks for accesses between barriers (compute-sanitizer's racecheck) names them, and they are meant.
//!
//! A level is a word, and it says itself whether it is known: a load that sees it needs nothing else, so relaxed loads
//! and stores suffice.

use gpu_collective::grid::tickets::draw_for_block;
use gpu_collective::warp::inclusive_scan_within;
use gpu_std::atomic::{Ordering, Scope};
use gpu_std::memory::{Global, GlobalMut, Shared};
use gpu_std::parameter::Parameter;
use gpu_std::shared::{self, SharedLayout};
use gpu_std::thread::{block_dim_x, thread_idx_x};
use gpu_std::{device, keep_rolled, kernel, unroll, warp};

use crate::check::bounds;
use crate::waiting::sleep_unless;
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
        let diagonal = self.diagonal((start, end));
        let stored = start < end && indices.read_only(diagonal) == row;
        self.beside_of((start, end), diagonal, stored, row)
    }

    /// Where the diagonal of a row with these bounds stands, if it is stored. There is an entry, as a diagonal is
    /// stored that is read.
    #[device]
    #[inline(always)]
    pub(crate) fn diagonal(&self, (start, end): (u32, u32)) -> u32 {
        if start == end {
            0
        } else if self.upper != 0 {
            start
        } else {
            end - 1
        }
    }

    /// Those of `row`, from its bounds, and from where its diagonal stands if it is `stored`.
    #[device]
    #[inline(always)]
    fn beside_of(&self, (start, end): (u32, u32), diagonal: u32, stored: bool, row: u32) -> Beside {
        let upper = self.upper != 0;
        let number = self.numbered(row);
        let left = end - start - stored as u32;
        Beside {
            at: if upper { end.wrapping_sub(1) } else { start },
            // No row has more than there are before it.
            // Mutants: of two equal numbers either is the smaller.
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
        // Mutants: of two equal numbers either is the smaller.
        if other < last { other } else { last }
    }
}

/// The number of the first row of this block, drawn from the ticket. For the whole block.
#[device]
#[inline(always)]
pub(crate) fn first_of_block(ticket: GlobalMut<u32>, room: Shared<u32>) -> u32 {
    draw_for_block(ticket, room) * THREADS
}

/// Words of the ring of a block of `threads` threads that has `chunk` rows: those of the rows that its warps have at a
/// time, and of as many lines of a grid as they are likely to need.
pub const fn ring(chunk: u32, threads: u32) -> u32 {
    // Mutants: what a longer ring holds is in global memory as well.
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
        // Mutants: what the ring has not is in global memory, and no place is shared with the row before.
        if whose == number + 1 {
            word as u32
            // Mutants: only a place that is not written yet says 0, of the first row, and global memory says more.
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
    // Mutants: all that a window's first row needs is before the window.
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

/// Entries that a lane asks for together: those of most rows, as each further turn waits for the second-level cache.
pub const AT_ONCE: u32 = 4;

/// Which of the entries from `first` on, before entry `end`, are asked for together, as bits.
#[device]
#[inline(always)]
fn batch(first: u32, end: u32) -> u32 {
    let left = end - first;
    // Mutants: just so many are the same bits either way.
    if left < AT_ONCE { (1 << left) - 1 } else { (1 << AT_ONCE) - 1 }
}

/// The levels of the rows of chains, of which `level` is known from rows before: `before` rows a row hangs on, one
/// after the other. It has to be known of those alone.
#[device]
#[inline(always)]
fn in_chains(level: u32, before: u32) -> u32 {
    // From row to row a level grows by one, as lanes' numbers do: what is left of it beside those is a maximum.
    let left = 31 - warp::lane_id();
    inclusive_scan_within(level + left, before, Ord::max) - left
}

/// The levels of a warp's rows, of which `level` is known from rows before, from what they need of each other.
#[device]
#[inline(always)]
fn in_window(mut level: u32, columns: u32) -> u32 {
    let mut step = 0;
    while step < 32 {
        keep_rolled();
        let other = warp::shuffle_idx(warp::FULL, level, step) + 1;
        // Mutants: of two equal levels either is the higher.
        if columns >> step & 1 != 0 && other > level {
            level = other;
        }
        step += 1;
    }
    level
}

/// The levels of all rows: a block has [`Rows::chunk`] of them, each of its warps 32 at a time; at most 512 threads,
/// with [`shared_bytes`]. `levels` and `ticket` are zero before.
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
    let base = draw_for_block(ticket, room) * shape.chunk;
    // Mutants: where just a block's rows are left, both are their end.
    let end = if shape.rows - base > shape.chunk { base + shape.chunk } else { shape.rows };
    let known = Known { levels, ring, base };
    // The bounds of the lane's row in a window. Numbers of two windows further do not overflow: rows and entries
    // together are 2048 fewer than 32 bits hold.
    let read = |window: u32| {
        let number = window + warp::lane_id();
        if number < end { bounds(offsets, shape.numbered(number), shape.entries) } else { (0, 0) }
    };
    // The column of its last entry, or of its first.
    let column_of = |(start, end): (u32, u32)| {
        if start < end { indices.read_only(shape.diagonal((start, end))) } else { NONE }
    };
    let mut window = base + (thread - warp::lane_id());
    let mut own = read(window);
    let mut next = read(window + threads);
    let mut column = column_of(own);
    // Mutants: a window from the end on has no rows.
    while window < end {
        keep_rolled();
        let number = window + warp::lane_id();
        let mut rest = Beside::default();
        // Mutants: from the end on rows have the bounds of empty ones.
        if number < end {
            let row = shape.numbered(number);
            // Mutants: an empty row's last column is none's.
            rest = shape.beside_of(own, shape.diagonal(own), own.0 < own.1 && column == row, row);
        }
        // What the next two windows begin with is read while this one waits: nothing asks for it before.
        (own, column) = (next, column_of(next));
        next = read(window + 2 * threads);
        levels_of_window(indices, &shape, &known, &rest, (window, end));
        window += threads;
    }
}

/// Where levels are that are known.
#[derive(Clone, Copy)]
struct Known {
    levels: GlobalMut<u32>,
    ring: Ring,
    /// The first row of the block.
    base: u32,
}

impl Known {
    /// A row's level, or 0 if it has none yet.
    #[device]
    #[inline(always)]
    fn ask(&self, shape: &Rows, number: u32) -> u32 {
        // Mutants: the level of the block's first row is in global memory as well.
        let level = if number >= self.base { self.ring.ask(number) } else { NONE };
        if level == NONE {
            self.levels.atomic(shape.numbered(number)).load(Ordering::Relaxed, Scope::Device)
        } else {
            level
        }
    }

    /// A row's level, for all to know.
    #[device]
    #[inline(always)]
    fn tell(&self, shape: &Rows, number: u32, level: u32) {
        self.ring.tell(number, level);
        self.levels.atomic(shape.numbered(number)).store(level, Ordering::Relaxed, Scope::Device);
    }
}

/// Asks for the entries from `first` on that are `unknown`: the level that follows, those that are still unknown, and
/// the number of the last of them.
#[device]
#[inline(always)]
fn ask_for(
    indices: Global<u32>,
    shape: &Rows,
    known: &Known,
    rest: &Beside,
    (window, first): (u32, u32),
    (mut level, mut unknown): (u32, u32),
) -> (u32, u32, u32) {
    let mut awaited = NONE;
    let others: [u32; AT_ONCE as usize] = core::array::from_fn(|j| {
        let is_asked = unknown >> j & 1 != 0;
        let place = if is_asked { rest.place(first + j as u32) } else { NONE };
        // No column is as high.
        let column = indices.read_only_below(place, NONE, NONE);
        if column == NONE { NONE } else { shape.other(column, window) }
    });
    // What is not asked for says as little as the lowest level: a row that asks waits for one.
    let mut words = [1; AT_ONCE as usize];
    unroll::<{ AT_ONCE as usize }>(|j| {
        if others[j] != NONE {
            words[j] = known.ask(shape, others[j]);
        }
    });
    unknown = 0;
    unroll::<{ AT_ONCE as usize }>(|j| {
        level = if words[j] >= level { words[j] + 1 } else { level };
        if words[j] == 0 {
            unknown |= 1 << j;
            awaited = others[j];
        }
    });
    (level, unknown, awaited)
}

/// The levels of the rows of a window, of each of which `rest` is the lane's.
#[device]
#[inline(always)]
fn levels_of_window(
    indices: Global<u32>,
    shape: &Rows,
    known: &Known,
    rest: &Beside,
    (window, end): (u32, u32),
) {
    let lane = warp::lane_id();
    let number = window + lane;
    let inside = number < end;
    let (columns, count) = inside_of_window(shape, indices, rest, (number, window));
    // Before the first window there is nothing.
    // Mutants: all that a row of the first window needs is inside of it: without being asked it is zero, too.
    let outer = if window > 0 { rest.left - count } else { 0 };
    let (links, are_chains) = links(columns);
    let links = if are_chains { links } else { 0 };
    // How many rows before this one it hangs on, one after the other. Those have to be ready for its level; where a
    // window is no chains, its rows that need any of it come last.
    let before = (!(links << (31 - lane))).leading_zeros();
    let is_last = !are_chains && columns != 0;
    let needed = u32::MAX >> (31 - lane) & u32::MAX << (lane - before);

    // The entries of which not all are known start with `first`, `unknown` of them, and for one that it lacks a lane
    // waits.
    let (mut level, mut first, mut awaited) = (1, 0, NONE);
    let mut unknown = batch(first, outer);
    let mut ready = outer == 0;
    let mut finished = 0;
    loop {
        keep_rolled();
        let mut moved = false;
        if !ready {
            let mut goes_on = true;
            if awaited != NONE {
                let word = known.ask(shape, awaited);
                goes_on = word != 0;
                if goes_on {
                    // The nearest is the last of those that are unknown.
                    level = if word >= level { word + 1 } else { level };
                    unknown ^= 1 << (31 - unknown.leading_zeros());
                }
            }
            while goes_on {
                keep_rolled();
                moved = true;
                awaited = NONE;
                if unknown != 0 {
                    (level, unknown, awaited) =
                        ask_for(indices, shape, known, rest, (window, first), (level, unknown));
                }
                goes_on = awaited == NONE;
                if goes_on {
                    first += AT_ONCE;
                    // Mutants: of no entries none is asked for.
                    goes_on = first < outer;
                    ready = !goes_on;
                    unknown = if goes_on { batch(first, outer) } else { 0 };
                }
            }
        }
        // ---- what is known of the window by now
        let all = warp::warp_vote_ballot(warp::FULL, ready);
        let is_finished = all & needed == needed && !is_last;
        let now = warp::warp_vote_ballot(warp::FULL, is_finished);
        if now != finished {
            let found = if links != 0 { in_chains(level, before) } else { level };
            if inside && is_finished && finished >> lane & 1 == 0 {
                known.tell(shape, number, found);
            }
            finished = now;
        }
        if all == warp::FULL {
            break;
        }
        sleep_unless(moved);
    }

    // ---- a window that is no chains
    if finished != warp::FULL {
        level = in_window(level, columns);
        if inside && finished >> lane & 1 == 0 {
            known.tell(shape, number, level);
        }
    }
}
