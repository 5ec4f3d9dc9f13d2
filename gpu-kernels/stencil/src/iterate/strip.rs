//! Several steps in one pass: stars and boxes of radius 1 on a plane.
//!
//! # Temporal blocking in registers
//! A warp owns a strip, 32 lanes of 16 bytes wide, and marches down its rows. Its steps are a pipeline: the row that
//! comes from memory goes through the first, whose result, a row higher, goes through the second, and so on, and the
//! last one's result is written. Neighbours in a row come from the neighbouring lanes by shuffles. There is no
//! barrier and no shared memory.
//!
//! A step holds two rows of partial sums, of which the arrival of row `y` finishes the first:
//!
//! ```text
//! row y - 1    partial, rows y - 2 and y - 1 are in    + row y below   = result, to the next step
//! row y        partial, row y - 1 is in                + row y         = the first at row y + 1
//! row y + 1    the source                              + row y above   = the second at row y + 1
//! ```
//!
//! So the chain of each cell is in the order of memory, and between two steps lies a single multiply-add of a star
//! (three of a box). At either end of a strip as many columns as there are steps are not right; strips overlap there
//! and compute them twice, and so they do with as many rows above and below (overlapped tiling: Holewinski, Pouchet,
//! Sadayappan, ICS 2012; in registers: AN5D, Matsumura et al., CGO 2020).
//!
//! # What it should cost
//! A cell and step of a star are 5 multiply-adds, and half a shuffle: on an H200, with 128 multiply-adds a cycle and
//! multiprocessor, 4 ms for 100 steps of 16384² cells, and 6 with all that is issued beside them; times 128/112 for
//! the overlap of columns and (rows + 16)/rows for that of rows, 7 ms. In memory 8 steps are one pass of 0.51 ms: 7.4
//! ms with the overlap. Single steps take 51 ms. Measured (2026-11-21): 13.5 ms.

use gpu_std::constant::Constant;
use gpu_std::float::Float;
use gpu_std::memory::{Global, GlobalMut};
use gpu_std::parameter::Parameter;
use gpu_std::thread::{block_idx_x, thread_idx_x};
use gpu_std::warp::{FULL, WarpShuffleValue, shuffle_down, shuffle_idx, shuffle_up};
use gpu_std::{device, unroll};

use super::{DIRICHLET, NEUMANN, PERIODIC};
use crate::border;

/// Threads of a block: four strips.
pub const THREADS: u32 = 128;
/// Rows that are asked for before they are needed: 3 × 512 bytes a warp, 24 KB a multiprocessor with 16 warps, when
/// eight steps need 0.6 of the speed of memory, 20 KB in flight. With four, the kernel of eight steps spills before
/// 8.0.
const AHEAD: usize = 3;
/// Entries of the table of weights: the factor of the source, and nine.
pub const TABLE: usize = 10;

/// The grid, and its division.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Parameter)]
#[repr(C)]
pub struct Strips {
    /// Rows of the grid.
    pub rows: u32,
    /// Columns of the grid.
    pub columns: u32,
    /// Strips beside each other.
    pub across: u32,
    /// Strips below each other.
    pub down: u32,
    /// Rows of a strip.
    pub height: u32,
    /// [`DIRICHLET`], [`NEUMANN`] or [`PERIODIC`].
    pub boundary: u32,
    /// Whether all rows start at multiples of 16 bytes: 1 or 0.
    pub vectors: u32,
    /// Whether there is a source: 1 or 0.
    pub with_source: u32,
}

/// Columns that a warp writes, of elements of `bytes` bytes, with so many steps.
pub const fn width(bytes: u32, steps: u32) -> u32 {
    let vector = 16 / bytes;
    (32 - 2 * steps.div_ceil(vector)) * vector
}

/// A strip, as a lane sees it.
#[derive(Clone, Copy)]
struct Lane<T: Float, const V: usize> {
    source: Global<T>,
    strips: Strips,
    /// The column of the first element: negative, or beyond the last one, in overlaps.
    x: i32,
    /// Which columns stand for those of the elements, at an edge.
    columns: [u32; V],
    /// Bits of the elements in the first and in the last column, where the boundary is no period.
    first_columns: u32,
    last_columns: u32,
}

impl<T: Float, const V: usize> Lane<T, V> {
    /// What a strip at an edge needs beside: which columns are read, and which are the first and the last one.
    #[inline(always)]
    fn at_edge(&mut self) {
        let columns = self.strips.columns as i32;
        let periodic = self.strips.boundary == PERIODIC;
        let mut wrapped = border::source(self.x, columns, border::WRAP);
        unroll::<V>(|j| {
            let x = self.x + j as i32;
            self.columns[j] = if periodic { wrapped } else { x.max(0).min(columns - 1) } as u32;
            wrapped = if wrapped + 1 < columns { wrapped + 1 } else { 0 };
            // Strips start at whole vectors, so that the first column is nobody's second.
            self.first_columns |= (!periodic && x == 0 && j == 0) as u32;
            self.last_columns |= ((!periodic && x == columns - 1) as u32) << j;
        });
    }

    /// Which row stands for row `y`, at an edge; `wrapped` is which one does in a grid that is periodic.
    #[inline(always)]
    fn row(&self, y: i32, wrapped: i32) -> i32 {
        if self.strips.boundary == PERIODIC { wrapped } else { y.max(0).min(self.strips.rows as i32 - 1) }
    }

    /// The elements of row `y`, one that is there, of the input or the source.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn read(&self, from: Global<T>, y: i32, edge: bool) -> [T; V] {
        let from = from.offset(y as u32 as u64 * self.strips.columns as u64);
        let mut values = [T::ZERO; V];
        if edge {
            unroll::<V>(|j| values[j] = from.read_only(self.columns[j]));
        } else if self.strips.vectors != 0 {
            values = from.read_only_vec(self.x as u32);
        } else {
            unroll::<V>(|j| values[j] = from.read_only(self.x as u32 + j as u32));
        }
        values
    }
}

/// The partial sums of a step.
#[derive(Clone, Copy)]
struct Partial<T: Float, const V: usize> {
    /// Of the row above the one that comes: what is below is missing.
    upper: [T; V],
    /// Of the row that comes: what is above it is in.
    lower: [T; V],
}

/// Adds what a row of the neighbourhood contributes: its `n`-th, of `left`, `row`, `right`.
#[inline(always)]
fn add<T: Float, const V: usize, const BOX: bool>(
    sums: [T; V],
    [left, row, right]: [[T; V]; 3],
    weights: &[T; TABLE],
    n: usize,
) -> [T; V] {
    let mut sums = sums;
    unroll::<V>(|j| {
        if BOX {
            sums[j] = weights[3 * n + 1].mul_add(left[j], sums[j]);
            sums[j] = weights[3 * n + 2].mul_add(row[j], sums[j]);
            sums[j] = weights[3 * n + 3].mul_add(right[j], sums[j]);
        } else if n == 1 {
            sums[j] = weights[2].mul_add(left[j], sums[j]);
            sums[j] = weights[3].mul_add(row[j], sums[j]);
            sums[j] = weights[4].mul_add(right[j], sums[j]);
        } else {
            sums[j] = weights[if n == 0 { 1 } else { 5 }].mul_add(row[j], sums[j]);
        }
    });
    sums
}

/// What the chain of a cell starts with, of which the source is in row `y`.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
fn start<T: Float, const V: usize, const SOURCE: bool>(
    lane: &Lane<T, V>,
    weights: &[T; TABLE],
    y: i32,
    edge: bool,
) -> [T; V] {
    let mut sums = [T::ZERO; V];
    if SOURCE && lane.strips.with_source != 0 {
        let values = lane.read(lane.source, y, edge);
        unroll::<V>(|j| sums[j] = weights[0].mul_add(values[j], T::ZERO));
    }
    sums
}

/// Sends row `y` of the strip through the steps: the result is row `y - STEPS`, so many steps later. At an edge `below`
/// is which row of a grid that is periodic stands for row `y + 1`.
#[device]
#[inline(always)]
fn advance<
    T: Float + WarpShuffleValue,
    const V: usize,
    const STEPS: usize,
    const BOX: bool,
    const SOURCE: bool,
>(
    lane: &Lane<T, V>,
    weights: &[T; TABLE],
    partials: &mut [Partial<T, V>; STEPS],
    row: [T; V],
    (y, below): (i32, i32),
    edge: bool,
) -> [T; V] {
    let (mut row, mut below) = (row, below);
    let (dirichlet, neumann) =
        (edge && lane.strips.boundary == DIRICHLET, edge && lane.strips.boundary == NEUMANN);
    let end = lane.strips.rows as i32;
    unroll::<STEPS>(|step| {
        let y = y - step as i32;
        let mut partial = partials[step];
        if neumann && y == end {
            row = partial.lower;
        }
        let outer_left = shuffle_up(FULL, row[V - 1], 1);
        let outer_right = shuffle_down(FULL, row[0], 1);
        let (mut left, mut right) = ([outer_left; V], [outer_right; V]);
        unroll::<V>(|j| {
            if j > 0 {
                left[j] = row[j - 1];
                right[j - 1] = row[j];
            }
        });
        if neumann {
            left[0] = if lane.first_columns != 0 { row[0] } else { left[0] };
            unroll::<V>(|j| right[j] = if lane.last_columns >> j & 1 != 0 { row[j] } else { right[j] });
            if y == 0 {
                // The row above the first one is the first one.
                partial.lower = add::<T, V, BOX>(partial.lower, [left, row, right], weights, 0);
            }
        }
        let fixed = |y: i32, j: usize| {
            dirichlet && (y == 0 || y == end - 1 || (lane.first_columns | lane.last_columns) >> j & 1 != 0)
        };
        let mut result = add::<T, V, BOX>(partial.upper, [left, row, right], weights, 2);
        let mut upper = add::<T, V, BOX>(partial.lower, [left, row, right], weights, 1);
        if dirichlet {
            // The partial sum of a cell that stays is the cell.
            unroll::<V>(|j| {
                result[j] = if fixed(y - 1, j) { partial.upper[j] } else { result[j] };
                upper[j] = if fixed(y, j) { row[j] } else { upper[j] };
            });
        }
        let there = if edge { lane.row(y + 1, below) } else { y + 1 };
        let sums = start::<T, V, SOURCE>(lane, weights, there, edge);
        let mut lower = add::<T, V, BOX>(sums, [left, row, right], weights, 0);
        if neumann && y == -1 {
            lower = sums;
        }
        if neumann && y == end - 1 {
            // The row below the last one is the last one.
            lower = row;
        }
        below = if below > 0 { below - 1 } else { end - 1 };
        partials[step] = Partial { upper, lower };
        row = result;
    });
    row
}

/// Computes `STEPS` steps of a block's strips.
#[device]
#[inline(always)]
pub(super) fn strip<
    T: Float + WarpShuffleValue,
    const V: usize,
    const STEPS: usize,
    const BOX: bool,
    const SOURCE: bool,
>(
    input: Global<T>,
    source: Global<T>,
    output: GlobalMut<T>,
    strips: Strips,
    table: Constant<T, TABLE>,
) {
    let (lane_id, steps) = (thread_idx_x() % 32, STEPS as i32);
    // 32 bits: so many strips are more cells than any memory holds.
    // By a shuffle, the assembler knows that all lanes go the same way: else each shuffle has another version for
    // lanes that do not.
    let warp = shuffle_idx(FULL, thread_idx_x() / 32, 0);
    let number = block_idx_x() * (THREADS / 32) + warp;
    let down = number / strips.across.max(1);
    // Mutants: a strip below the last one begins below the grid: it reads what stands for that, and writes nothing.
    if down >= strips.down {
        return;
    }
    let across = number - down * strips.across;
    let overlap = (STEPS.div_ceil(V) * V) as u32;
    let left = (across * (32 * V as u32 - 2 * overlap)) as i32 - overlap as i32;
    let x = left + (lane_id * V as u32) as i32;
    let (columns, rows) = (strips.columns as i32, strips.rows as i32);
    let top = (down * strips.height) as i32;
    let bottom = (top + strips.height as i32).min(rows);
    // All rows that are read are there: those of the source for what is in no result, too.
    // Mutants: a strip that just fits may go the other way; one row lower the source's would be beyond the last.
    let inside = left >= 0 && left + 32 * V as i32 <= columns && top >= 2 * steps && bottom + steps < rows;

    let mut weights = [T::ZERO; TABLE];
    unroll::<TABLE>(|n| {
        // Mutants: no star asks for a seventh weight.
        if BOX || n < 6 {
            weights[n] = table.read(n as u32);
        }
    });
    let mut lane = Lane { source, strips, x, columns: [0; V], first_columns: 0, last_columns: 0 };
    let mut partials = [Partial { upper: [T::ZERO; V], lower: [T::ZERO; V] }; STEPS];
    // Columns that other strips do not write.
    let mine = x >= left + overlap as i32 && x < left + (32 * V as u32 - overlap) as i32;
    let output = output.offset(x as i64 as u64);

    let mut y = top - steps;
    let end = bottom + steps;
    if inside {
        let mut ahead = [[T::ZERO; V]; AHEAD];
        unroll::<AHEAD>(|k| ahead[k] = lane.read(input, y + k as i32, false));
        while y < end {
            unroll::<AHEAD>(|k| {
                if y < end {
                    let row = ahead[k];
                    // Mutants: row `end` is there as well, and nobody asks for it.
                    if y + (AHEAD as i32) < end {
                        ahead[k] = lane.read(input, y + AHEAD as i32, false);
                    }
                    let result = advance::<T, V, STEPS, BOX, SOURCE>(
                        &lane,
                        &weights,
                        &mut partials,
                        row,
                        (y, 0),
                        false,
                    );
                    if mine && y - steps >= top {
                        let output = output.offset((y - steps) as u32 as u64 * strips.columns as u64);
                        if strips.vectors != 0 {
                            output.write_streaming_vec::<V>(0, result);
                        } else {
                            unroll::<V>(|j| output.write_streaming(j as u32, result[j]));
                        }
                    }
                    y += 1;
                }
            });
        }
    } else {
        lane.at_edge();
        let mut below = border::source(y, rows, border::WRAP);
        let mut next = lane.read(input, lane.row(y, below), true);
        while y < end {
            let row = next;
            below = if below + 1 < rows { below + 1 } else { 0 };
            next = lane.read(input, lane.row(y + 1, below), true);
            let result =
                advance::<T, V, STEPS, BOX, SOURCE>(&lane, &weights, &mut partials, row, (y, below), true);
            if mine && y - steps >= top {
                let output = output.offset((y - steps) as u32 as u64 * strips.columns as u64);
                unroll::<V>(|j| {
                    if x + (j as i32) < columns {
                        output.write(j as u32, result[j]);
                    }
                });
            }
            y += 1;
        }
    }
}
