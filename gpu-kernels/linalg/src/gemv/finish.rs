//! The pieces' sums, added.

use gpu_std::float::Float;
use gpu_std::memory::{Global, GlobalMut};
use gpu_std::thread::index_1d;
use gpu_std::{device, rolled, unroll};

use super::{Shape, result};
use crate::scalar::Scalar;

/// Pieces that are read ahead: all of them are on their way before the first is added.
const AHEAD: usize = 16;

/// Adds the pieces of a result, a thread a result, in ascending order.
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
        // Mutants: in one more turn there are no pieces.
        while piece < shape.pieces {
            piece = rolled(piece);
            let mut ahead = [T::Sum::ZERO; AHEAD];
            unroll::<AHEAD>(|step| {
                let piece = piece + step as u32;
                if piece < shape.pieces {
                    ahead[step] = partials.offset(piece as u64 * shape.results as u64).read(index);
                }
            });
            unroll::<AHEAD>(|step| {
                // Mutants: one more is zero, of which no result shows anything.
                if piece + (step as u32) < shape.pieces {
                    sum = sum + ahead[step];
                }
            });
            piece += AHEAD as u32;
        }
        y.write(index, result::<T>(alpha, sum, beta, || y.read(index)));
    }
}
