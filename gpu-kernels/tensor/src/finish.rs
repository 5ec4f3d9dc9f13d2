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
/// Neighbours of a row that a thread reads at once.
const VECTOR: u32 = 4;
/// Dynamic shared memory of such a block.
pub const FINISH_SHARED_BYTES: u32 = FINISH_THREADS * VECTOR * 4;
/// The most groups of an element's parts, which threads read at the same time.
const MOST_GROUPS: u32 = 32;
/// Parts that a thread reads at a time.
const TOGETHER: usize = 4;

/// Elements from one row of a part's sums to the next row: whole vectors of four.
pub const fn part_leading(columns: u32) -> u64 {
    columns.next_multiple_of(VECTOR) as u64
}

/// How many neighbouring parts are added before the sums of such groups are, in ascending order both: one, where there
/// are no more than 32.
pub const fn group(parts: u32) -> u32 {
    parts.div_ceil(MOST_GROUPS)
}

/// Elements of a row of C, from a multiple of four on, that are a vector, and how many of those a block of
/// [`FINISH_THREADS`] threads computes: a thread for each of their groups.
pub const fn finished(parts: u32) -> u32 {
    // Mutants: of 32 parts both are 32.
    let groups = if parts > MOST_GROUPS { MOST_GROUPS } else { parts.next_power_of_two() };
    FINISH_THREADS / groups
}

/// How many blocks add the parts of so many matrices of C.
pub const fn finish_blocks([rows, columns]: [u32; 2], count: u128, parts: u32) -> u128 {
    let vectors = rows as u128 * columns.div_ceil(VECTOR) as u128 * count;
    vectors.div_ceil(finished(parts) as u128)
}

/// Adds the parts of [`finished`] vectors of elements.
#[device]
#[inline(always)]
pub(crate) fn finish<T: Output, E: Epilogue<T::Scale>>(
    partials: Global<T::Scale>,
    c: GlobalMut<T>,
    product: &Product,
    scales: (T::Scale, T::Scale),
    epilogue: E,
) {
    let sums = shared::dynamic().array::<T::Scale>(FINISH_THREADS * VECTOR);
    let (thread, vectors, length) = (thread_idx_x(), finished(product.parts), group(product.parts));
    let of_row = product.n.div_ceil(VECTOR);
    // Where a vector of the block begins.
    let place = |vector: u32| {
        let index = block_idx_x() * vectors + vector;
        let (line, column) = (index / of_row, index % of_row * VECTOR);
        Place { row: line % product.m, column, matrix: line / product.m }
    };
    let Place { row, column, matrix } = place(thread % vectors);
    if matrix < product.count {
        let leading = part_leading(product.n);
        let part = u64::from(product.m) * leading;
        let first = u64::from(matrix) * u64::from(product.parts) * part;
        let first = partials.offset(first + u64::from(row) * leading + u64::from(column));
        let mut number = thread / vectors * length;
        let end = product.parts.min(number + length);
        let mut sum = [T::Scale::default(); VECTOR as usize];
        // Mutants: in one more turn no part is left.
        while number < end {
            number = rolled(number);
            // All are on their way before the first is there.
            let mut values = [[T::Scale::default(); VECTOR as usize]; TOGETHER];
            unroll::<TOGETHER>(|at| {
                let number = number + at as u32;
                if number < end {
                    let source = first.offset(u64::from(number) * part);
                    if column + VECTOR <= product.n {
                        values[at] = source.read_vec(0);
                    } else {
                        unroll::<{ VECTOR as usize - 1 }>(|right| {
                            // Mutants: one more is of a line's end, and not written.
                            if column + (right as u32) < product.n {
                                values[at][right] = source.read(right as u32);
                            }
                        });
                    }
                }
            });
            unroll::<TOGETHER>(|at| {
                // Mutants: one more is zero, and no sum is -0.
                if number + (at as u32) < end {
                    unroll::<{ VECTOR as usize }>(|right| sum[right] = T::add(sum[right], values[at][right]));
                }
            });
            number += TOGETHER as u32;
        }
        sums.write_vec(thread * VECTOR, sum);
    }
    sync_threads();
    // Neighbours are neighbouring threads' now.
    let groups = product.parts.div_ceil(length.max(1));
    let mut index = thread;
    while index < vectors * VECTOR {
        index = rolled(index);
        let Place { row, column, matrix } = place(index / VECTOR);
        let column = column + index % VECTOR;
        if matrix < product.count && column < product.n {
            let mut sum = T::Scale::default();
            let mut number = 0;
            while number < groups {
                sum = T::add(sum, sums.read(number * vectors * VECTOR + index));
                number += 1;
            }
            let (row, column) = if product.c_across != 0 { (column, row) } else { (row, column) };
            store::element(T::bits(sum), Place { row, column, matrix }, c, product, scales, epilogue);
        }
        index += FINISH_THREADS;
    }
}
