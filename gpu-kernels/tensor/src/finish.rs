//! The parts of the sums, added.

use gpu_std::memory::{Global, GlobalMut};
use gpu_std::thread::{block_idx_x, sync_threads, thread_idx_x};
use gpu_std::{device, rolled, shared, unroll};

use crate::epilogue::Epilogue;
use crate::output::Output;
use crate::place::{Place, Product};
use crate::store;

/// Threads of a block that adds parts.
pub const FINISH_THREADS: u32 = 256;
/// Dynamic shared memory of such a block.
pub const FINISH_SHARED_BYTES: u32 = FINISH_THREADS * 4;
/// The most groups of an element's parts, which threads read at the same time.
const MOST_GROUPS: u32 = 32;
/// Parts that a thread reads at a time.
const TOGETHER: usize = 4;

/// Elements from one row of a part's sums to the next row: whole vectors of four.
pub const fn part_leading(columns: u32) -> u64 {
    columns.next_multiple_of(4) as u64
}

/// How many neighbouring parts are added before the sums of such groups are, in ascending order both: one, where there
/// are no more than 32.
pub const fn group(parts: u32) -> u32 {
    parts.div_ceil(MOST_GROUPS)
}

/// Elements of C that a block of [`FINISH_THREADS`] threads computes: a thread for each of their groups.
pub const fn finished(parts: u32) -> u32 {
    let groups = if parts > MOST_GROUPS { MOST_GROUPS } else { parts.next_power_of_two() };
    FINISH_THREADS / groups
}

/// Adds the parts of [`finished`] elements.
#[device]
#[inline(always)]
pub(crate) fn finish<T: Output, E: Epilogue<T::Scale>>(
    partials: Global<T::Scale>,
    c: GlobalMut<T>,
    product: &Product,
    scales: (T::Scale, T::Scale),
    epilogue: E,
) {
    let sums = shared::dynamic().array::<T::Scale>(FINISH_THREADS);
    let (thread, elements, length) = (thread_idx_x(), finished(product.parts), group(product.parts));
    let index = block_idx_x() * elements + thread % elements;
    let (line, column) = (index / product.n, index % product.n);
    let (matrix, row) = (line / product.m, line % product.m);
    let leading = part_leading(product.n);
    if matrix < product.count {
        let part = u64::from(product.m) * leading;
        let first = u64::from(matrix) * u64::from(product.parts) * part;
        let first = first + u64::from(row) * leading + u64::from(column);
        let mut number = thread / elements * length;
        let end = product.parts.min(number + length);
        let mut sum = T::Scale::default();
        while number < end {
            number = rolled(number);
            // All are on their way before the first is there.
            let mut values = [T::Scale::default(); TOGETHER];
            unroll::<TOGETHER>(|at| {
                let number = number + at as u32;
                if number < end {
                    values[at] = partials.offset(first + u64::from(number) * part).read(0);
                }
            });
            unroll::<TOGETHER>(|at| {
                if number + (at as u32) < end {
                    sum = T::add(sum, values[at]);
                }
            });
            number += TOGETHER as u32;
        }
        sums.write(thread, sum);
    }
    sync_threads();
    if thread < elements && matrix < product.count {
        let groups = product.parts.div_ceil(length.max(1));
        let mut sum = T::Scale::default();
        let mut number = 0;
        while number < groups {
            sum = T::add(sum, sums.read(number * elements + thread));
            number += 1;
        }
        let (row, column) = if product.c_across != 0 { (column, row) } else { (row, column) };
        store::element(T::bits(sum), Place { row, column, matrix }, c, product, scales, epilogue);
    }
}
