//! The pieces' sums, added.

use gpu_std::device;
use gpu_std::memory::{Global, GlobalMut};
use gpu_std::thread::index_1d;

use super::{Shape, result};
use crate::scalar::Scalar;

/// Adds the pieces of a result, a thread a result.
#[device]
#[inline(always)]
pub(super) fn finish<T: Scalar>(
    partials: Global<T::Sum>,
    y: GlobalMut<T>,
    shape: &Shape,
    (alpha, beta): (T::Sum, T::Sum),
) {
    let index = index_1d();
    if index < shape.results {
        let mut sum = partials.read(index);
        let mut piece = 1;
        while piece < shape.pieces {
            sum = sum + partials.offset(piece as u64 * shape.results as u64).read(index);
            piece += 1;
        }
        y.write(index, result::<T>(alpha, sum, beta, || y.read(index)));
    }
}
