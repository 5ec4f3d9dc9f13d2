//! One side of a square matrix, and where its diagonal stands.

use gpu_std::atomic::{Ordering, Scope};
use gpu_std::memory::{Global, GlobalMut};
use gpu_std::parameter::Parameter;
use gpu_std::thread::index_1d;
use gpu_std::{device, keep_rolled, kernel};

use crate::NONE;

/// Which entries are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Parameter)]
#[repr(C)]
pub struct Part {
    /// Rows, and columns.
    pub rows: u32,
    /// Entries.
    pub entries: u32,
    /// Those right of the diagonal: 1; those left of it: 0.
    pub upper: u32,
    /// Whether the diagonal is kept: 1 or 0.
    pub diagonal: u32,
    /// Words of 32 bits of a value.
    pub words: u32,
}

/// The first of the ascending `indices[start..end]` that is at least `limit`, or `end`.
#[device]
#[inline(always)]
fn first_from(indices: Global<u32>, start: u32, end: u32, limit: u32) -> u32 {
    let (mut low, mut high) = (start, end);
    while low < high {
        keep_rolled();
        let middle = low + (high - low) / 2;
        if indices.read_only(middle) < limit {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

impl Part {
    /// The entries of `row` that are kept: from where to before where. Offsets that changed since they were checked
    /// may say anything, but nothing beyond the entries.
    #[device]
    #[inline(always)]
    fn kept(&self, offsets: Global<u32>, indices: Global<u32>, row: u32) -> (u32, u32) {
        let end = offsets.read_only(row + 1);
        // Mutants: of two equal numbers either is the smaller.
        let end = if end < self.entries { end } else { self.entries };
        let start = offsets.read_only(row);
        // Mutants: as above.
        let start = if start < end { start } else { end };
        if self.upper != 0 {
            (first_from(indices, start, end, row + 1 - self.diagonal), end)
        } else {
            (start, first_from(indices, start, end, row + self.diagonal))
        }
    }
}

/// How many entries of each row are kept: a thread a row, in blocks of [`THREADS`](crate::THREADS).
#[kernel(images = sm_75, launch_bounds(256))]
pub fn sparse_part_counts(offsets: Global<u32>, indices: Global<u32>, counts: GlobalMut<u32>, part: Part) {
    let row = index_1d();
    if row < part.rows {
        let (start, end) = part.kept(offsets, indices, row);
        counts.write(row, end - start);
    }
}

/// The entries that are kept, of rows that start where `target` says: a thread a row, in blocks of
/// [`THREADS`](crate::THREADS). Values are words of 32 bits.
#[kernel(images = sm_75, launch_bounds(256))]
pub fn sparse_part(
    offsets: Global<u32>,
    indices: Global<u32>,
    values: Global<u32>,
    target: Global<u32>,
    kept_indices: GlobalMut<u32>,
    kept_values: GlobalMut<u32>,
    part: Part,
) {
    let row = index_1d();
    if row < part.rows {
        let (start, end) = part.kept(offsets, indices, row);
        let (mut to, limit) = (target.read_only(row), target.read_only(row + 1));
        let mut from = start;
        while from < end && to < limit {
            keep_rolled();
            kept_indices.write(to, indices.read_only(from));
            let (source, sink) = (
                values.offset(from as u64 * part.words as u64),
                kept_values.offset(to as u64 * part.words as u64),
            );
            sink.write(0, source.read_only(0));
            if part.words > 1 {
                sink.write(1, source.read_only(1));
            }
            from += 1;
            to += 1;
        }
    }
}

/// Where each row's diagonal stands: a thread a row, in blocks of [`THREADS`](crate::THREADS). `found` is [`NONE`]
/// before and gets the first row that has none.
#[kernel(images = sm_75, launch_bounds(256))]
pub fn sparse_diagonals(
    offsets: Global<u32>,
    indices: Global<u32>,
    diagonals: GlobalMut<u32>,
    found: GlobalMut<u32>,
    rows: u32,
) {
    let row = index_1d();
    if row < rows {
        let (start, end) = (offsets.read_only(row), offsets.read_only(row + 1));
        let place = first_from(indices, start, end, row);
        let column = if place < end { indices.read_only(place) } else { NONE };
        if column != row {
            found.atomic(0).fetch_min(row, Ordering::Relaxed, Scope::Device);
        }
        diagonals.write(row, place);
    }
}
