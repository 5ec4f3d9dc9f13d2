//! The sum of a row's products, by a warp or some lanes: in the order that products of a matrix and a vector
//! ([`spmv`](crate::spmv)) have, for one vector or several.

use gpu_collective::warp::all_reduce;
use gpu_std::memory::Global;
use gpu_std::{device, rolled, unroll, warp};

use crate::NONE;
use crate::scalar::Scalar;

/// The smaller of a column and the last.
#[device]
#[inline(always)]
pub(crate) fn within(column: u32, last: u32) -> u32 {
    // Mutants: of two equal columns either is the smaller.
    if column < last { column } else { last }
}

/// The lanes' chains, added.
#[device]
#[inline(always)]
pub(crate) fn tree<T: Scalar>(sum: T) -> T {
    all_reduce(sum, 32, |first, second| first + second)
}

/// The sum of a piece from entry `start` to `end`, by a warp, each lane of which asks for `N` at a time; `x` has its
/// elements at distances of `stride`, where they are `STRIDED`.
#[device]
#[inline(always)]
pub(crate) fn piece_inline<T: Scalar, const STRIDED: bool, const N: usize>(
    indices: Global<u32>,
    values: Global<T>,
    (x, stride, last): (Global<T>, u64, u32),
    start: u32,
    end: u32,
) -> T {
    let mut sum = T::ZERO;
    let mut at = start + warp::lane_id();
    // Mutants: in one more turn zeros are added, and the sign of a zero gets lost in the end.
    while at < end {
        at = rolled(at);
        let (indices, values) = (indices.offset(at as u64), values.offset(at as u64));
        let columns: [u32; N] =
            core::array::from_fn(|j| indices.read_only_below(32 * j as u32, end - at, NONE));
        let factors: [T; N] =
            core::array::from_fn(|j| values.read_only_below(32 * j as u32, end - at, T::ZERO));
        let elements: [T; N] = core::array::from_fn(|j| {
            if STRIDED {
                let at = within(columns[j], last) as u64 * stride;
                x.offset(at).read_only_below(0, (columns[j] != NONE) as u32, T::ZERO)
            } else {
                x.read_only_below(columns[j], last + 1, T::ZERO)
            }
        });
        // Beyond the end zeros are added.
        unroll::<N>(|j| sum = factors[j].mul_add(elements[j], sum));
        at += 32 * N as u32;
    }
    tree(sum)
}

/// The chains of a short row, `J` a lane, added. Those that are not there are zeros.
#[device]
#[inline(always)]
pub(crate) fn short_tree<T: Scalar, const LANES: u32, const J: usize>(mut sums: [T; J]) -> T {
    unroll::<3>(|step| {
        let half = J >> (step + 1);
        // Mutants: no place is before half of one.
        if half > 0 {
            unroll::<4>(|j| {
                // Mutants: what is at half is not asked for again.
                if j < half {
                    sums[j] = sums[j] + sums[j + half];
                }
            });
        }
    });
    all_reduce(sums[0], LANES, |first, second| first + second)
}
