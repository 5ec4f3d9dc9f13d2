//! A step of a large matrix: the block on the diagonal, and what lies below it.
//!
//! Every block of threads factors the block on the diagonal, in shared memory, and solves for some rows below: the
//! diagonal is what a step waits for, and the others would wait with it. What it becomes goes to scratch memory, since
//! the others read it where it lies, and the next step's last block of threads brings it there.
//!
//! Nothing is quicker than the pivots, one after the other: a warp of its own factors a panel's first rows, while the
//! others, a thread a row, already subtract from the next panel the products of the columns before this one
//! (look-ahead; Buttari, Langou, Kurzak and Dongarra, *A class of parallel tiled linear algebra algorithms*, 2009,
//! section 2). What is left between two panels' pivots is this panel's own columns: their solution, and their
//! products, of which a thread still has its row's factors in registers.
//!
//! # Order of operations
//! That of [`lanes`](super::lanes).

use gpu_std::float::Float;
use gpu_std::memory::{GlobalMut, Shared};
use gpu_std::parameter::Parameter;
use gpu_std::shared::{self, SharedLayout};
use gpu_std::thread::{block_idx_x, sync_threads, thread_idx_x};
use gpu_std::warp::WarpShuffleValue;
use gpu_std::{device, opaque, unroll};

use crate::block::{Elements, PANEL, STEP, ahead, below, diagonal_block, roots, set_diagonal, subtract_with};
use crate::pivot::Root;

/// Rows below the diagonal's block of a block of threads.
pub const STEP_ROWS: u32 = 64;
/// Threads of a block that have a row.
const ROWS: u32 = STEP + STEP_ROWS;
/// Threads of a block: for each row one, and a warp for the pivots.
pub const STEP_THREADS: u32 = ROWS + 32;
/// Elements of scratch memory before what is added: two factors, by turns.
pub const STEP_SLOTS: u32 = 2 * STEP * STEP;

const P: usize = PANEL as usize;
/// Elements of all panels: each has the rows from its first column on.
const ELEMENTS: u32 = STEP * STEP - STEP * (STEP - PANEL) / 2;
/// Elements that are read ahead where a factor is copied.
const AHEAD: usize = 8;

/// A step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Parameter)]
#[repr(C)]
pub struct Step {
    /// Elements from one row to the next.
    pub row: u64,
    /// Elements from one column to the next.
    pub column: u64,
    /// Elements from one column to the next of what is added to the step's columns before all else; zero: nothing is.
    pub added: u64,
    /// The first column.
    pub first: u32,
    /// Columns: [`STEP`], or less in the last step.
    pub columns: u32,
    /// Rows below.
    pub rows: u32,
    /// Blocks of threads without that which copies.
    pub blocks: u32,
}

impl Step {
    /// Blocks of a launch.
    pub const fn grid(&self) -> u32 {
        self.blocks + if self.first > 0 { 1 } else { 0 }
    }

    /// Where the step's factor is.
    const fn slot(first: u32) -> u32 {
        first / STEP % 2 * (STEP * STEP)
    }
}

/// Bytes of dynamic shared memory of a block.
pub const fn step_shared_bytes<T: Float>() -> u32 {
    SharedLayout::new().array::<T>(PANEL).array::<T>(ELEMENTS).bytes()
}

/// Where column `k` has its row 0 in shared memory; of those above its panel's there is none.
#[device]
#[inline(always)]
fn column(k: u32) -> u32 {
    let first = k & !(PANEL - 1);
    STEP * first - first * (first - first.min(PANEL)) / 2 + (k - first) * (STEP - first) - first
}

/// Does a step. Launch [`Step::grid`] blocks of [`STEP_THREADS`] threads with [`step_shared_bytes`]. `a` starts at the
/// matrix's first element; `scratch` has [`STEP_SLOTS`] elements, and then what is added, column after column of the
/// rows from the diagonal on.
#[device]
#[inline(always)]
pub(crate) fn step<T: Root + WarpShuffleValue, const V: usize>(
    a: GlobalMut<T>,
    scratch: GlobalMut<T>,
    info: GlobalMut<u32>,
    shape: &Step,
) {
    let all = Elements { first: a, row: shape.row, column: shape.column };
    if block_idx_x() == shape.blocks {
        bring(&all, scratch, shape.first - STEP);
        return;
    }
    let l = Elements { first: all.at(shape.first, shape.first), ..all };
    // Where the factor goes: in place only where no other block of threads reads it.
    let slot =
        Elements { first: scratch.offset(Step::slot(shape.first) as u64), row: 1, column: STEP as u64 };
    let into = if shape.rows == 0 { l } else { slot };
    let added = scratch.offset(STEP_SLOTS as u64);
    let mut memory = shared::dynamic();
    let reciprocals = memory.array::<T>(PANEL);
    let panels = memory.array::<T>(ELEMENTS);

    let thread = thread_idx_x();
    let has_row = thread < ROWS;
    let on_diagonal = thread < STEP;
    let below_block = (block_idx_x() * STEP_ROWS + thread).wrapping_sub(STEP);
    let exists = if on_diagonal { thread < shape.columns } else { has_row && below_block < shape.rows };
    let row = if on_diagonal { thread } else { STEP.wrapping_add(below_block) };

    // What the thread's row has in the panel whose pivots are next, and in the one after it.
    let mut sums = [T::ZERO; P];
    let mut next = [T::ZERO; P];
    // The first columns of the two.
    let (mut first, mut after) = (0, 0);
    loop {
        let leading = STEP - first;
        let diagonal = panels.offset(column(first) + first);

        // ---- the pivots, and the next panel's products
        if !has_row && after > 0 {
            let (lane, width) = (thread % 32, (shape.columns - first).min(PANEL));
            let mut own = [T::ZERO; P];
            if lane < PANEL {
                unroll::<P>(|c| own[c] = diagonal.read(c as u32 * leading + lane));
            }
            let place = (|j| j * leading, leading);
            let pivot = diagonal_block::<T, V>(diagonal, place, reciprocals, PANEL, width, &mut own);
            let (root, order) = roots(pivot, width);
            set_diagonal(&mut own, lane, root);
            if block_idx_x() == 0 {
                if order != 0 && lane == 0 && info.read(0) == 0 {
                    info.write(0, shape.first + first + order);
                }
                let target = into.at(first + lane, first);
                unroll::<P>(|c| {
                    if lane < width && c as u32 <= lane {
                        target.offset(c as u64 * into.column).write(0, own[c]);
                    }
                });
            }
        }
        // Rows of panels before are done.
        let is_left = exists && row >= after;
        if is_left && after < shape.columns {
            load(&l, (added, shape.added), (row, after), (shape.columns - after).min(PANEL), &mut next);
            let of = |k| column(k).wrapping_add(after - first);
            if on_diagonal {
                let own = ahead(|k| panels.read(column(k) + row));
                subtract_with::<T, V>(first, panels, of, own, &mut next);
            } else {
                subtract_with::<T, V>(first, panels, of, ahead(|k| l.at(row, k).read(0)), &mut next);
            }
        }
        sync_threads();

        // ---- the rows below the pivots
        if after > 0 {
            if is_left {
                below::<T, V>(diagonal, |j| j * leading, reciprocals, &mut sums);
                if !on_diagonal || block_idx_x() == 0 {
                    // The panel is a whole one.
                    let to = if on_diagonal { into } else { l };
                    let target = to.at(row, first);
                    unroll::<P>(|c| target.offset(c as u64 * to.column).write(0, sums[c]));
                }
            }
            // Rows that are not there, too: whole vectors are read.
            if on_diagonal && row >= after {
                unroll::<P>(|c| diagonal.write(c as u32 * leading + row - first, sums[c]));
            }
            sync_threads();
        }
        if after >= shape.columns {
            break;
        }

        // ---- what is left of the next panel's products
        if is_left && after > 0 {
            last_products::<T, V>(diagonal.offset(PANEL), leading, &sums, &mut next);
        }
        sums = next;
        // The pivots' rows, for their warp; those that are not there are zero.
        // Mutants: the row behind is written again when it is solved, before anybody reads it.
        if on_diagonal && row >= after && row < after + PANEL {
            let diagonal = panels.offset(column(after) + row);
            unroll::<P>(|c| diagonal.write(c as u32 * (STEP - after), sums[c]));
        }
        first = after;
        after += PANEL;
        sync_threads();
    }
}

/// What a row has in the `width` columns of the panel that starts at column `first`: the matrix's elements, and what
/// is added, of which one column lies `leading` elements behind the other.
#[device]
#[inline(always)]
fn load<T: Float>(
    l: &Elements<T>,
    (added, leading): (GlobalMut<T>, u64),
    (row, first): (u32, u32),
    width: u32,
    sums: &mut [T; P],
) {
    // From one column to the next: all their addresses at once would need as many registers as the elements.
    let mut from = l.at(row, first);
    unroll::<P>(|c| {
        // Mutants: of a panel that is less wide no row is as far down as its width.
        let is_there = first + c as u32 <= row && (c as u32) < width;
        sums[c] = if is_there { from.read(0) } else { T::ZERO };
        from = from.offset(l.column);
    });
    if leading != 0 {
        let mut added = added.offset(row as u64 + first as u64 * leading);
        unroll::<P>(|c| {
            if (c as u32) < width {
                sums[c] = sums[c] + added.read(0);
            }
            added = added.offset(leading);
        });
    }
}

/// Subtracts from a row's part of a panel the products of its `factors` in the panel before with those of the panel's
/// rows, which `before` has, a column every `leading` elements.
#[device]
#[inline(always)]
pub(crate) fn last_products<T: Float, const V: usize>(
    before: Shared<T>,
    leading: u32,
    factors: &[T; P],
    sums: &mut [T; P],
) {
    unroll::<P>(|k| {
        let column = before.offset(k as u32 * leading);
        unroll::<P>(|group| {
            if group < P / V {
                let others = column.read_vec::<V>((group * V) as u32);
                unroll::<V>(|v| {
                    let sum = &mut sums[group * V + v];
                    *sum = (-factors[k]).mul_add(others[v], *sum);
                });
            }
        });
    });
}

/// Copies the factor of the step before to where it belongs.
#[device]
#[inline(always)]
fn bring<T: Float>(all: &Elements<T>, scratch: GlobalMut<T>, first: u32) {
    let (from, to) = (scratch.offset(Step::slot(first) as u64), all.at(first, first));
    let mut at = thread_idx_x();
    // Mutants: from there on nothing is read, or written.
    while at < opaque(STEP * STEP) {
        let mut values = [T::ZERO; AHEAD];
        unroll::<AHEAD>(|step| {
            let at = at + step as u32 * STEP_THREADS;
            // Mutants: one more would be above the diagonal.
            if at < STEP * STEP && at % STEP >= at / STEP {
                values[step] = from.read(at);
            }
        });
        unroll::<AHEAD>(|step| {
            let at = at + step as u32 * STEP_THREADS;
            let (i, j) = (at % STEP, at / STEP);
            // Mutants: as above.
            if at < STEP * STEP && i >= j {
                to.offset(i as u64 * all.row + j as u64 * all.column).write(0, values[step]);
            }
        });
        at += AHEAD as u32 * STEP_THREADS;
    }
}

/// Elements of shared memory, for the compiler to see that they are as many as panels have.
const _: () = assert!(ELEMENTS == 9216);
