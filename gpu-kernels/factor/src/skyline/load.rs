//! How tiles come into shared memory.

use gpu_std::async_copy::{copy, copy_or_zero};
use gpu_std::atomic::{Ordering, Scope};
use gpu_std::float::Float;
use gpu_std::memory::{Global, GlobalMut, Shared};
use gpu_std::thread::thread_idx_x;
use gpu_std::warp::{FULL, lane_id, sync_warp, warp_vote_ballot};
use gpu_std::{device, keep_rolled, rolled, unroll};

use super::{HEAD, PITCH, Shape, THREADS, TILE};

/// From one row of a stage to the next: 128 bytes, and 16 against bank conflicts.
pub(super) const STAGE_ROW_BYTES: u32 = 128 + 16;

/// Waits until the tiles of column `from` are known in both rows, and returns the first column of which that is not yet
/// known, at most `end`. Half a warp asks for a row's tiles, 16 at a time: a tile that is asked for by itself takes the
/// way to the second-level cache and back, every time.
#[device]
#[inline(always)]
pub(super) fn wait_for_some(
    progress: GlobalMut<u32>,
    row_place: u32,
    column_place: u32,
    from: u32,
    end: u32,
) -> u32 {
    let lane = lane_id();
    let place = if lane < 16 { row_place } else { column_place };
    let asked = (from + lane % 16).min(end - 1);
    let flag = progress.atomic(HEAD + place.wrapping_add(asked));
    loop {
        keep_rolled();
        let is_known = flag.load(Ordering::Acquire, Scope::Device) != 0;
        let votes = warp_vote_ballot(FULL, is_known);
        // Bit j: both rows have their tile of column from + j. The ones from the lowest bit on, without a gap.
        let both = votes & votes >> 16 & 0xffff;
        let count = (!both).trailing_zeros();
        // What a lane acquired is the warp's behind it.
        sync_warp(FULL);
        if count > 0 {
            return (from + count).min(end);
        }
    }
}

/// [`TILE`] rows of the matrix, of which `DEPTH` columns at a time are copied to a stage.
pub(super) struct Strip<T: Float, const V: usize, const DEPTH: u32> {
    /// The first row.
    row: u32,
    /// The column from which on all of them are there.
    whole: u32,
    element: core::marker::PhantomData<T>,
}

impl<T: Float, const V: usize, const DEPTH: u32> Strip<T, V, DEPTH> {
    /// Elements from one row of a stage to the next.
    pub(super) const PITCH: u32 = STAGE_ROW_BYTES / size_of::<T>() as u32;

    #[device]
    #[inline(always)]
    pub(super) fn new(tables: Global<u32>, shape: &Shape, tile_row: u32) -> Self {
        const { assert!(DEPTH * size_of::<T>() as u32 == 128 && V * size_of::<T>() == 16) };
        Self {
            row: tile_row * TILE,
            whole: tables.read_only(shape.wholes() + tile_row),
            element: core::marker::PhantomData,
        }
    }

    /// Starts to copy the columns from `column` on. What is left of the skyline, and below the last row, becomes zero
    /// and is not read.
    #[device]
    #[inline(always)]
    pub(super) fn copy(
        &self,
        a: Global<T>,
        tables: Global<u32>,
        shape: &Shape,
        column: u32,
        stage: Shared<T>,
    ) {
        let is_whole = column >= self.whole;
        if shape.vectors != 0 {
            // Eight lanes a row of 128 bytes.
            unroll::<2>(|item| {
                let (row, k) = (thread_idx_x() / 8 + 32 * item as u32, thread_idx_x() % 8 * V as u32);
                let target = row * Self::PITCH + k;
                let source = a.offset((self.row + row) as u64 * shape.leading + (column + k) as u64);
                if is_whole {
                    copy::<T, V>(stage, target, source, 0);
                } else {
                    let start = start_of(tables, shape, self.row + row);
                    let mut at = 0;
                    while at < V as u32 {
                        at = rolled(at);
                        let is_there = start <= column + k + at;
                        copy_or_zero::<T, 1>(stage, target + at, source, at, is_there as u32);
                        at += 1;
                    }
                }
            });
            return;
        }
        let (mut row, mut k, row_step, k_step) = if shape.rows_contiguous != 0 {
            (thread_idx_x() / DEPTH, thread_idx_x() % DEPTH, THREADS / DEPTH, 0)
        } else {
            (thread_idx_x() % TILE, thread_idx_x() / TILE, 0, THREADS / TILE)
        };
        let mut item = 0;
        while item < TILE * DEPTH / THREADS {
            item = rolled(item);
            let is_there = is_whole || start_of(tables, shape, self.row + row) <= column + k;
            let source = a.offset(shape.index(self.row + row, column + k));
            copy_or_zero::<T, 1>(stage, row * Self::PITCH + k, source, 0, is_there as u32);
            (row, k) = (row + row_step, k + k_step);
            item += 1;
        }
    }
}

impl Shape {
    /// Where an element lies.
    #[device]
    #[inline(always)]
    pub(super) fn index(&self, row: u32, column: u32) -> u64 {
        let (line, place) = if self.rows_contiguous != 0 { (row, column) } else { (column, row) };
        line as u64 * self.leading + place as u64
    }
}

/// The first column of a row, [`NO_ROW`](super::NO_ROW) of one that is not there.
#[device]
#[inline(always)]
pub(super) fn start_of(tables: Global<u32>, shape: &Shape, row: u32) -> u32 {
    tables.read_only(shape.starts() + row)
}

/// The factor of tile `diagonal` of the diagonal, transposed, with [`PITCH`] elements from one column to the next. Above the diagonal, and left
/// of the skyline, it is zero. Below the matrix's last row there is none: only its last tile is cut, and nothing is solved with that.
#[device]
#[inline(always)]
pub(super) fn transposed<T: Float>(
    a: Global<T>,
    tables: Global<u32>,
    shape: &Shape,
    diagonal: u32,
    target: Shared<T>,
) {
    let contiguous = shape.rows_contiguous != 0;
    let (lane, mut line) = (thread_idx_x() % TILE, thread_idx_x() / TILE);
    while line < TILE {
        line = rolled(line);
        let (row, column) = if contiguous { (line, lane) } else { (lane, line) };
        let (whole_row, whole_column) = (diagonal * TILE + row, diagonal * TILE + column);
        let value = if column <= row && start_of(tables, shape, whole_row) <= whole_column {
            a.offset(shape.index(whole_row, whole_column)).read(0)
        } else {
            T::ZERO
        };
        target.write(column * PITCH + row, value);
        line += THREADS / TILE;
    }
}
