//! Filters of any extents, and images of any number of channels, rows of any alignment: what the fast kernels do not
//! take.
//!
//! Inputs come straight from global memory, the L1 being the tile; a pixel outside of the image is another one, or
//! the constant.

use gpu_std::constant::Constant;
use gpu_std::float::Float;
use gpu_std::memory::{Global, GlobalMut, Shared};
use gpu_std::shared::{self, SharedLayout};
use gpu_std::thread::{block_idx_x, sync_threads, thread_idx_x};
use gpu_std::{device, unroll};

use super::geometry::{Geometry, MAX_EXTENT};
use super::pixel::Pixel;
use crate::border::source;

/// Threads of a block of `separable`; each has a column.
pub const SEPARABLE_THREADS: u32 = 64;
/// Entries of its table of weights: those of the row, and from [`MAX_EXTENT`] on those of the column.
pub const SEPARABLE_WEIGHTS: usize = 2 * MAX_EXTENT as usize;
/// Threads of a block of `full`; each has a column.
pub const FULL_THREADS: u32 = 128;
/// Rows that a thread of `full` computes at a time: each weight, once read, serves as many.
pub const FULL_ROWS: u32 = 4;

/// Where a full filter's weights are.
pub const IN_TABLE: u32 = 0;
/// They are in global memory.
pub const IN_MEMORY: u32 = 1;
/// They are there, last first.
pub const IN_MEMORY_REVERSED: u32 = 2;

/// Bytes of dynamic shared memory of a block of `separable`, of sums of type `S`.
pub const fn separable_shared_bytes<S: Float>(taps_y: u32) -> u32 {
    SharedLayout::new().array::<S>(taps_y * SEPARABLE_THREADS).bytes()
}

/// Bytes of dynamic shared memory of a block of `full`, of sums of type `S`.
pub const fn full_shared_bytes<S: Float>(weights: u32) -> u32 {
    SharedLayout::new().array::<S>(weights).bytes()
}

/// A column of the output: the pixel, and the channel.
#[derive(Clone, Copy)]
struct Column {
    pixel: i32,
    channel: i32,
}

impl Column {
    #[inline(always)]
    fn new(column: u32, geometry: &Geometry) -> Self {
        // No pixel is empty: the compiler need not look.
        let pixel = column / geometry.channels.max(1);
        Self { pixel: pixel as i32, channel: (column - pixel * geometry.channels) as i32 }
    }

    /// The element of the input's row that tap `tap` meets; negative where that is the constant.
    #[inline(always)]
    fn element(self, geometry: &Geometry, tap: u32) -> i32 {
        let x = source(self.pixel + tap as i32 - geometry.left, geometry.width as i32, geometry.mode);
        if x < 0 { x } else { x * geometry.channels as i32 + self.channel }
    }
}

/// The row of the input that row `tap` of the filter meets, for the output's row `row`; negative where that is the
/// constant.
#[inline(always)]
fn input_row(geometry: &Geometry, row: u32, tap: u32) -> i32 {
    source((row + tap) as i32 - geometry.top, geometry.height as i32, geometry.mode)
}

/// Computes a block's outputs of a separable filter: each thread a column, the sums of as many rows as the filter has
/// in shared memory, where nobody else looks.
#[device]
#[inline(always)]
pub(super) fn separable<T: Pixel>(
    input: Global<T>,
    output: GlobalMut<T>,
    geometry: Geometry,
    outside: T,
    weights: Constant<T::Sum, SEPARABLE_WEIGHTS>,
) {
    let place = geometry.place(block_idx_x());
    let column = place.across * SEPARABLE_THREADS + thread_idx_x();
    if column >= geometry.output_row {
        return;
    }
    let lines: Shared<T::Sum> = shared::dynamic().array(geometry.taps_y * SEPARABLE_THREADS);
    let lines = lines.offset(thread_idx_x());
    let input = input.offset(place.image as u64 * geometry.input_stride);
    let output = output.offset(place.image as u64 * geometry.output_stride + column as u64);
    let at = Column::new(column, &geometry);

    let (mut number, mut slot) = (0, 0);
    while number < place.rows + geometry.taps_y - 1 {
        let y = input_row(&geometry, place.row, number);
        let row = input.offset(y.max(0) as u64 * geometry.input_pitch);
        // A product by itself, sign of zero included, is a multiply-add to -0.
        let mut sum = -T::Sum::ZERO;
        let mut tap = 0;
        while tap < geometry.taps_x {
            let x = at.element(&geometry, tap);
            let value = if x < 0 || y < 0 { outside } else { row.read_only(x as u32) };
            sum = weights.read(tap).mul_add(value.widen(), sum);
            tap += 1;
        }
        lines.write(slot * SEPARABLE_THREADS, sum);
        slot = if slot + 1 < geometry.taps_y { slot + 1 } else { 0 };
        number += 1;
        if number >= geometry.taps_y {
            // The next slot is the oldest.
            let mut sum = -T::Sum::ZERO;
            let (mut tap, mut from) = (0, slot);
            while tap < geometry.taps_y {
                sum = weights.read(MAX_EXTENT + tap).mul_add(lines.read(from * SEPARABLE_THREADS), sum);
                from = if from + 1 < geometry.taps_y { from + 1 } else { 0 };
                tap += 1;
            }
            let row = (place.row + number - geometry.taps_y) as u64;
            output.offset(row * geometry.output_pitch).write(0, T::narrow(sum));
        }
    }
}

/// Computes a block's outputs of a full filter: each thread a column, [`FULL_ROWS`] rows at a time. The weights, `N`
/// at most in the table, any number in memory, are in shared memory meanwhile.
#[device]
#[inline(always)]
pub(super) fn full<T: Pixel, const N: usize>(
    input: Global<T>,
    output: GlobalMut<T>,
    geometry: Geometry,
    outside: T,
    weights: Constant<T::Sum, N>,
    memory: Global<T::Sum>,
    place_of_weights: u32,
) {
    let count = geometry.taps_x * geometry.taps_y;
    let shared: Shared<T::Sum> = shared::dynamic().array(count);
    let mut at = thread_idx_x();
    while at < count {
        let weight = if place_of_weights == IN_TABLE {
            weights.read(at)
        } else {
            memory.read_only(if place_of_weights == IN_MEMORY { at } else { count - 1 - at })
        };
        shared.write(at, weight);
        at += FULL_THREADS;
    }
    sync_threads();

    let place = geometry.place(block_idx_x());
    let column = place.across * FULL_THREADS + thread_idx_x();
    if column >= geometry.output_row {
        return;
    }
    let input = input.offset(place.image as u64 * geometry.input_stride);
    let output = output.offset(place.image as u64 * geometry.output_stride + column as u64);
    let at = Column::new(column, &geometry);
    let mut first = 0;
    // Mutants: one more turn reads rows that are there, or the constant, and writes none.
    while first < place.rows {
        let mut sums = [-T::Sum::ZERO; FULL_ROWS as usize];
        // Where the rows lie that the outputs' rows meet: from one row of the filter to the next they move on by one.
        // The first few steps only find them.
        let (mut ys, mut rows) = ([0; FULL_ROWS as usize], [input; FULL_ROWS as usize]);
        let mut step = 0;
        while step < geometry.taps_y + (FULL_ROWS - 1) {
            let y = input_row(&geometry, place.row + first, step);
            unroll::<{ FULL_ROWS as usize - 1 }>(|r| (ys[r], rows[r]) = (ys[r + 1], rows[r + 1]));
            ys[FULL_ROWS as usize - 1] = y;
            rows[FULL_ROWS as usize - 1] = input.offset(y.max(0) as u64 * geometry.input_pitch);
            step += 1;
            if step < FULL_ROWS {
                continue;
            }
            let line = step - FULL_ROWS;
            let mut tap = 0;
            while tap < geometry.taps_x {
                let weight = shared.read(line * geometry.taps_x + tap);
                let x = at.element(&geometry, tap);
                unroll::<{ FULL_ROWS as usize }>(|r| {
                    let value = if x < 0 || ys[r] < 0 { outside } else { rows[r].read_only(x as u32) };
                    sums[r] = weight.mul_add(value.widen(), sums[r]);
                });
                tap += 1;
            }
        }
        unroll::<{ FULL_ROWS as usize }>(|r| {
            if first + (r as u32) < place.rows {
                let row = (place.row + first) as u64 + r as u64;
                output.offset(row * geometry.output_pitch).write(0, T::narrow(sums[r]));
            }
        });
        first += FULL_ROWS;
    }
}
