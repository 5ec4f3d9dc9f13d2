//! The parts of the sums, added.

use gpu_std::float::Float;
use gpu_std::memory::{Global, GlobalMut};
use gpu_std::parameter::Parameter;
use gpu_std::thread::index_1d;
use gpu_std::{device, unroll};

use super::operand::columns;
use crate::scalar::combine;

/// Threads of a block that adds parts.
pub const FINISH_THREADS: u32 = 256;
/// Parts of an element that a thread has in flight.
const FLIGHT: u32 = 16;

/// The parts' sums of a batch of products, and C.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Parameter)]
#[repr(C)]
pub struct Parts {
    /// Elements from one product's sums to the next product's.
    pub batch: u64,
    /// Elements from one part's sums to the next part's.
    pub part: u64,
    /// Elements of C from one row to the next.
    pub c_row: u64,
    /// Elements of C from one column to the next.
    pub c_column: u64,
    /// Elements from one C of the batch to the next.
    pub c_batch: u64,
    /// Elements from one row of a part's sums to the next row.
    pub leading: u32,
    /// Rows of C.
    pub m: u32,
    /// Columns of C.
    pub n: u32,
    /// Products of the batch.
    pub count: u32,
    /// Parts of a sum.
    pub parts: u32,
    /// Which elements of the sums count, as [`Product::triangle`](super::Product::triangle).
    pub triangle: u32,
}

/// Adds the parts of an element, in ascending order, a thread an element.
#[device]
#[inline(always)]
pub(super) fn finish<T: Float>(partials: Global<T>, c: GlobalMut<T>, parts: &Parts, (alpha, beta): (T, T)) {
    let index = index_1d();
    let (line, column) = (index / parts.n, index % parts.n);
    let (number, row) = (line / parts.m, line % parts.m);
    let (low, end) = columns(parts.triangle, row, parts.n);
    if number < parts.count && (low..end).contains(&column) {
        let first = number as u64 * parts.batch + row as u64 * parts.leading as u64 + column as u64;
        let mut partials = partials.offset(first);
        // No part is -0, so a zero before the first changes nothing.
        let mut sum = T::ZERO;
        let mut left = parts.parts;
        // Mutants: a flight that is not taken at once comes one by one, in the same order.
        while left >= FLIGHT {
            let values: [T; FLIGHT as usize] =
                core::array::from_fn(|part| partials.offset(part as u64 * parts.part).read(0));
            unroll::<{ FLIGHT as usize }>(|part| sum = sum + values[part]);
            partials = partials.offset(FLIGHT as u64 * parts.part);
            left -= FLIGHT;
        }
        while left > 0 {
            sum = sum + partials.read(0);
            partials = partials.offset(parts.part);
            left -= 1;
        }
        let c = c.offset(
            number as u64 * parts.c_batch + row as u64 * parts.c_row + column as u64 * parts.c_column,
        );
        c.write(0, combine(alpha, sum, beta, || c.read(0)));
    }
}
