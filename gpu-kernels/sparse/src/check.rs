//! Whether arrays are a matrix, and a matrix a triangle.
//!
//! Nothing is trusted before it was looked at: a row's entries are read only where its offsets lie within the arrays.

use gpu_std::atomic::{Ordering, Scope};
use gpu_std::memory::{Global, GlobalMut};
use gpu_std::parameter::Parameter;
use gpu_std::thread::{grid_dim_x, index_1d};
use gpu_std::{device, keep_rolled, kernel, warp};

use crate::{NONE, THREADS};

/// Words that [`sparse_check()`] writes: for each kind of fault the first row that has it, else
/// [`NONE`], which they hold before.
///
/// 0: offsets that decrease or end beyond the entries; 1: a column that there is not; 2: columns that do not ascend.
pub const CHECKS: u32 = 3;

/// Words that [`sparse_triangle()`] writes, likewise.
///
/// 0: an entry on the wrong side; 1: no entry on the diagonal; 2: one that is zero.
pub const TRIANGLE_CHECKS: u32 = 3;

/// What [`sparse_triangle()`] looks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Parameter)]
#[repr(C)]
pub struct Triangle {
    /// Rows, and columns.
    pub rows: u32,
    /// Whether entries stand right of the diagonal: 1 or 0.
    pub upper: u32,
    /// Whether the diagonal is taken to be one, whatever is stored: 1 or 0.
    pub unit: u32,
    /// Words of 32 bits of a value.
    pub words: u32,
    /// Entries.
    pub entries: u32,
}

/// Where the entries of a row start and end. Offsets that were checked are memory that may change, by a write that is
/// still under way or through another's pointer: what they say never leaves the entries.
#[device]
#[inline(always)]
pub(crate) fn bounds(offsets: Global<u32>, row: u32, entries: u32) -> (u32, u32) {
    let (start, end) = (offsets.read_only(row), offsets.read_only(row + 1));
    // Mutants: of two equal numbers either is the smaller.
    let end = if end < entries { end } else { entries };
    // Mutants: as above.
    (if start < end { start } else { end }, end)
}

/// Finds rows that are none: a thread a row, in blocks of [`THREADS`].
#[kernel(images = sm_75, launch_bounds(256))]
pub fn sparse_check(
    offsets: Global<u32>,
    indices: Global<u32>,
    rows: u32,
    columns: u32,
    entries: u32,
    found: GlobalMut<u32>,
) {
    let row = index_1d();
    if row < rows {
        let (start, end) = (offsets.read_only(row), offsets.read_only(row + 1));
        if start > end || end > entries {
            found.atomic(0).fetch_min(row, Ordering::Relaxed, Scope::Device);
        } else {
            let (mut at, mut outside, mut unsorted) = (start, false, false);
            let mut before = 0;
            while at < end {
                keep_rolled();
                let column = indices.read_only(at);
                outside |= column >= columns;
                unsorted |= at > start && column <= before;
                before = column;
                at += 1;
            }
            if outside {
                found.atomic(1).fetch_min(row, Ordering::Relaxed, Scope::Device);
            }
            if unsorted {
                found.atomic(2).fetch_min(row, Ordering::Relaxed, Scope::Device);
            }
        }
    }
}

/// The most entries of a row: any number of blocks of [`THREADS`]. `longest` is zero before.
#[kernel(images = sm_75, launch_bounds(256))]
pub fn sparse_longest(offsets: Global<u32>, rows: u32, longest: GlobalMut<u32>) {
    let mut row = index_1d();
    let mut length = 0;
    while row < rows {
        keep_rolled();
        let (start, end) = bounds(offsets, row, NONE);
        // Mutants: of two equal numbers either is the larger.
        length = if end - start > length { end - start } else { length };
        row = row.saturating_add(grid_dim_x() * THREADS);
    }
    length = warp::warp_reduce(warp::FULL, length, warp::WarpReductionOp::Max);
    if warp::lane_id() == 0 {
        longest.atomic(0).fetch_max(length, Ordering::Relaxed, Scope::Device);
    }
}

/// Finds rows that a triangle has not: a thread a row, in blocks of [`THREADS`]. The values are given
/// as words of 32 bits, the highest last.
#[kernel(images = sm_75, launch_bounds(256))]
pub fn sparse_triangle(
    offsets: Global<u32>,
    indices: Global<u32>,
    values: Global<u32>,
    shape: Triangle,
    found: GlobalMut<u32>,
) {
    let row = index_1d();
    if row < shape.rows {
        let (start, end) = bounds(offsets, row, shape.entries);
        let upper = shape.upper != 0;
        // As columns ascend, what is on the wrong side is first or last, and so is the diagonal.
        let (mut wrong, mut missing, mut zero) = (false, shape.unit == 0, false);
        if start < end {
            let far = indices.read_only(if upper { start } else { end - 1 });
            wrong = if upper { far < row } else { far > row };
            if far == row && shape.unit == 0 {
                missing = false;
                let value = values.offset((if upper { start } else { end - 1 }) as u64 * shape.words as u64);
                // But for its sign.
                let mut bits = value.read_only(shape.words - 1) << 1;
                if shape.words > 1 {
                    bits |= value.read_only(0);
                }
                zero = bits == 0;
            }
        }
        if wrong {
            found.atomic(0).fetch_min(row, Ordering::Relaxed, Scope::Device);
        } else if missing {
            found.atomic(1).fetch_min(row, Ordering::Relaxed, Scope::Device);
        } else if zero {
            found.atomic(2).fetch_min(row, Ordering::Relaxed, Scope::Device);
        }
    }
}

/// The first place where two arrays of `len` words differ: a thread a word, in blocks of [`THREADS`].
/// `found` is [`NONE`] before.
#[kernel(images = sm_75, launch_bounds(256))]
pub fn sparse_differ(one: Global<u32>, other: Global<u32>, found: GlobalMut<u32>, len: u32) {
    let at = index_1d();
    if at < len && one.read_only(at) != other.read_only(at) {
        found.atomic(0).fetch_min(at, Ordering::Relaxed, Scope::Device);
    }
}
