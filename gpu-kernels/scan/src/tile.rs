//! The scan of one tile by one block, but for what comes before the tile.

use core::marker::PhantomData;

use gpu_collective::Accumulator;
use gpu_collective::grid::Operator;
use gpu_collective::warp::{from_lane, inclusive_scan};
use gpu_std::{device, unroll};

use super::operator::Scan;

/// The most words of what a scan computes with.
pub const MAX_WORDS: usize = 2;

/// A scan as the operator by which the totals of tiles are combined.
pub(super) struct Totals<S>(PhantomData<fn() -> S>);

impl<S: Scan> Operator for Totals<S> {
    type Value = S::Register;
    // Mutants: the same with less code.
    const COMPACT: bool = <S::Register as Accumulator>::WORDS > 1;
    #[inline(always)]
    fn identity() -> S::Register {
        identity::<S>()
    }
    #[inline(always)]
    fn combine(before: S::Register, after: S::Register) -> S::Register {
        S::combine(before, after)
    }
}

/// The identity in registers.
#[inline(always)]
pub(super) fn identity<S: Scan>() -> S::Register {
    S::extend(S::IDENTITY)
}

/// The result of a vector of which `at` gives the elements: from left to right.
#[device]
#[inline(always)]
pub(super) fn vector_total<S: Scan, const V: usize>(at: impl Fn(usize) -> S::Register) -> S::Register {
    let mut total = at(0);
    unroll::<V>(|j| {
        if j > 0 {
            total = S::combine(total, at(j));
        }
    });
    total
}

/// Scans the totals of the warp's vectors, `totals[l]` being that of the thread's vector in row `l`: the results at
/// the ends of the thread's vectors, from the start of the warp's part on, and that of the whole part.
#[device]
#[inline(always)]
pub(super) fn scan_rows<S: Scan, const L: usize>(
    totals: [S::Register; L],
) -> ([S::Register; L], S::Register) {
    let mut rows = totals;
    unroll::<L>(|row| rows[row] = inclusive_scan(rows[row], S::combine));
    // All shuffles are under way before the first row waits for its carry.
    let row_totals: [S::Register; L] = core::array::from_fn(|row| from_lane(rows[row], 31));
    let mut carry = identity::<S>();
    unroll::<L>(|row| {
        rows[row] = S::combine(carry, rows[row]);
        carry = S::combine(carry, row_totals[row]);
    });
    (rows, carry)
}
