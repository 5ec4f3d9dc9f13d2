//! The parts of the sums, added.

use gpu_std::device;
use gpu_std::memory::{Global, GlobalMut};
use gpu_std::thread::index_1d;

use crate::place::Product;
use crate::store::Output;

/// Threads of a block that adds parts.
pub const FINISH_THREADS: u32 = 256;

/// Elements from one row of a part's sums to the next row: whole vectors of four.
pub const fn part_leading(columns: u32) -> u64 {
    columns.next_multiple_of(4) as u64
}

/// Adds the parts of an element, in ascending order, a thread an element.
#[device]
#[inline(always)]
pub(crate) fn finish<T: Output>(
    partials: Global<T::Scale>,
    c: GlobalMut<T>,
    product: &Product,
    alpha: T::Scale,
    beta: T::Scale,
) {
    let index = index_1d();
    let (line, column) = (index / product.n, index % product.n);
    let (matrix, row) = (line / product.m, line % product.m);
    if matrix < product.count {
        let leading = part_leading(product.n);
        let part = u64::from(product.m) * leading;
        let first = u64::from(matrix) * u64::from(product.parts) * part;
        let mut partials = partials.offset(first + u64::from(row) * leading + u64::from(column));
        let mut sum = T::Scale::default();
        let mut left = product.parts;
        while left > 0 {
            sum = T::add(sum, partials.read(0));
            partials = partials.offset(part);
            left -= 1;
        }
        let start =
            u64::from(matrix) * product.c_batch + u64::from(row) * product.c_leading + u64::from(column);
        let bits = T::bits(sum);
        if T::NARROWS && product.narrow != 0 {
            let c = c.offset(start);
            c.write(0, T::narrow(T::scaled(bits, alpha, beta, || c.as_global().read(0).widen())));
        } else {
            let c = c.cast::<T::Scale>().offset(start);
            c.write(0, T::scaled(bits, alpha, beta, || c.as_global().read(0)));
        }
    }
}
