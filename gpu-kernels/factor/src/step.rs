//! A step of a large matrix: the block on the diagonal, and what lies below it.
//!
//! Every block of threads factors the block on the diagonal, in shared memory, and solves for some rows below: the diagonal is what a step waits
//! for, and the others would wait with it. What it becomes goes to scratch memory, since the others read it where it lies, and
//! the next step's last block of threads brings it there.
//!
//! # Order of operations
//! That of [`lanes`](super::lanes).

use gpu_std::float::Float;
use gpu_std::memory::GlobalMut;
use gpu_std::parameter::Parameter;
use gpu_std::shared::{self, SharedLayout};
use gpu_std::thread::{block_idx_x, sync_threads, thread_idx_x};
use gpu_std::warp::WarpShuffleValue;
use gpu_std::{device, opaque, unroll};

use crate::block::{Elements, PANEL, STEP, below, diagonal_block, subtract_with};

/// Rows below the diagonal's block of a block of threads.
pub const STEP_ROWS: u32 = 64;
/// Threads of a block: for each row one.
pub const STEP_THREADS: u32 = STEP + STEP_ROWS;
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

/// Does a step. Launch [`Step::grid`] blocks of [`STEP_THREADS`] threads with [`step_shared_bytes`]. `a` starts at the matrix's first element;
/// `scratch` has [`STEP_SLOTS`] elements, and then what is added, column after column of the rows from the diagonal on.
#[device]
#[inline(always)]
pub(crate) fn step<T: Float + WarpShuffleValue, const V: usize>(
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
    let on_diagonal = thread < STEP;
    let below_block = (block_idx_x() * STEP_ROWS + thread).wrapping_sub(STEP);
    let exists = if on_diagonal { thread < shape.columns } else { below_block < shape.rows };
    let row = if on_diagonal { thread } else { STEP.wrapping_add(below_block) };
    let mut first = 0;
    while first < shape.columns {
        let width = (shape.columns - first).min(PANEL);
        // Rows of panels before are done.
        let is_left = exists && row >= first;
        let mut sums = [T::ZERO; P];
        if is_left {
            let from = l.at(row, first);
            unroll::<P>(|c| {
                if first + c as u32 <= row && (c as u32) < width {
                    sums[c] = from.offset(c as u64 * l.column).read(0);
                }
            });
            if shape.added != 0 {
                let added = added.offset(row as u64 + first as u64 * shape.added);
                unroll::<P>(|c| {
                    if (c as u32) < width {
                        sums[c] = sums[c] + added.offset(c as u64 * shape.added).read(0);
                    }
                });
            }
            if on_diagonal {
                subtract_with::<T, V>(first, panels, column, |k| panels.read(column(k) + row), &mut sums);
            } else {
                subtract_with::<T, V>(first, panels, column, |k| l.at(row, k).read(0), &mut sums);
            }
        }
        // The panel's first rows are in one warp, whose other rows are done or below.
        let diagonal = panels.offset(column(first) + first);
        let leading = STEP - first;
        let is_its_warp = thread / 32 == first / 32;
        if is_its_warp {
            let order = diagonal_block::<T, V>(diagonal, leading, reciprocals, first % 32, width, &mut sums);
            if order != 0 && block_idx_x() == 0 && thread.is_multiple_of(32) && info.read(0) == 0 {
                info.write(0, shape.first + first + order);
            }
        }
        sync_threads();
        if is_left {
            if !is_its_warp {
                below::<T, V>(diagonal, leading, reciprocals, &mut sums);
            }
            if !on_diagonal || block_idx_x() == 0 {
                let to = if on_diagonal { into } else { l };
                let target = to.at(row, first);
                unroll::<P>(|c| {
                    if first + c as u32 <= row && (c as u32) < width {
                        target.offset(c as u64 * to.column).write(0, sums[c]);
                    }
                });
            }
        }
        // Rows that are not there, too: whole vectors are read.
        if on_diagonal && row >= first + PANEL {
            unroll::<P>(|c| diagonal.write(c as u32 * leading + row - first, sums[c]));
        }
        first += PANEL;
        sync_threads();
    }
}

/// Copies the factor of the step before to where it belongs.
#[device]
#[inline(always)]
fn bring<T: Float>(all: &Elements<T>, scratch: GlobalMut<T>, first: u32) {
    let (from, to) = (scratch.offset(Step::slot(first) as u64), all.at(first, first));
    let mut at = thread_idx_x();
    while at < opaque(STEP * STEP) {
        let mut values = [T::ZERO; AHEAD];
        unroll::<AHEAD>(|step| {
            let at = at + step as u32 * STEP_THREADS;
            if at < STEP * STEP && at % STEP >= at / STEP {
                values[step] = from.read(at);
            }
        });
        unroll::<AHEAD>(|step| {
            let at = at + step as u32 * STEP_THREADS;
            let (i, j) = (at % STEP, at / STEP);
            if at < STEP * STEP && i >= j {
                to.offset(i as u64 * all.row + j as u64 * all.column).write(0, values[step]);
            }
        });
        at += AHEAD as u32 * STEP_THREADS;
    }
}

/// Elements of shared memory, for the compiler to see that they are as many as panels have.
const _: () = assert!(ELEMENTS == 9216);
