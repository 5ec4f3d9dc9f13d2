//! The scan of one tile by one block, but for what comes before the tile.

use gpu_std::memory::Shared;
use gpu_std::thread::sync_threads;
use gpu_std::warp::{self, FULL};
use gpu_std::{device, rolled, unroll};

use super::operator::Scan;
use gpu_collective::Accumulator;

/// The most words of what a scan computes with.
pub const MAX_WORDS: usize = 2;

/// The most words of what is exchanged: in scans of segments one more says whether a segment starts.
pub(super) const EXCHANGED: usize = MAX_WORDS + 1;

/// What a thread knows of the warps of its tile.
#[derive(Clone, Copy)]
pub(super) struct Warps<R> {
    /// The result of the warps before its own.
    pub(super) before: R,
    /// The result of the tile.
    pub(super) total: R,
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

/// The inclusive scan over the lanes of the warp, by doubling distances.
#[device]
#[inline(always)]
pub(super) fn warp_scan<S: Scan>(mut value: S::Register) -> S::Register {
    unroll::<5>(|step| value = with_below::<S>(value, 1 << step));
    value
}

/// The same, in a loop: less code, where nobody waits for it.
#[device]
#[inline(always)]
pub(super) fn warp_scan_in_turn<S: Scan>(mut value: S::Register) -> S::Register {
    let mut distance = 1;
    while distance < 32 {
        distance = rolled(distance);
        value = with_below::<S>(value, distance);
        distance *= 2;
    }
    value
}

/// The value of the lane `distance` below, where there is one, combined with the lane's own.
#[inline(always)]
fn with_below<S: Scan>(own: S::Register, distance: u32) -> S::Register {
    let mut inside = false;
    let below = Accumulator::from_words(&mut |word| {
        let (bits, valid) = warp::warp_shuffle_up(FULL, own.word(word), distance, 32);
        inside = valid;
        bits
    });
    let combined = S::combine(below, own);
    if inside { combined } else { own }
}

/// The value of lane `lane`.
#[device]
#[inline(always)]
pub(super) fn of_lane<A: Accumulator>(value: A, lane: u32) -> A {
    A::from_words(&mut |word| warp::shuffle_idx(FULL, value.word(word), lane))
}

/// Element `index` of an array of `len` accumulators in shared memory: all first words, then all second ones.
#[device]
#[inline(always)]
pub(super) fn read<A: Accumulator>(array: Shared<u32>, len: u32, index: u32) -> A {
    A::from_words(&mut |word| array.read(word * len + index))
}

/// Sets element `index`, as [`read`] finds it.
#[device]
#[inline(always)]
pub(super) fn write<A: Accumulator>(array: Shared<u32>, len: u32, index: u32, value: A) {
    unroll::<EXCHANGED>(|word| {
        if (word as u32) < A::WORDS {
            array.write(word as u32 * len + index, value.word(word as u32));
        }
    });
}

/// Scans the totals of the warp's vectors, `totals[l]` being that of the thread's vector in row `l`: the results at
/// the ends of the thread's vectors, from the start of the warp's part on, and that of the whole part.
#[device]
#[inline(always)]
pub(super) fn scan_rows<S: Scan, const L: usize>(
    totals: [S::Register; L],
) -> ([S::Register; L], S::Register) {
    let mut rows = totals;
    unroll::<L>(|row| rows[row] = warp_scan::<S>(rows[row]));
    // All shuffles are under way before the first row waits for its carry.
    let row_totals: [S::Register; L] = core::array::from_fn(|row| of_lane(rows[row], 31));
    let mut carry = identity::<S>();
    unroll::<L>(|row| {
        rows[row] = S::combine(carry, rows[row]);
        carry = S::combine(carry, row_totals[row]);
    });
    (rows, carry)
}

/// Scans the results of the warps' parts. One barrier.
///
/// `own_warp` is the number of the thread's warp. `warp_totals` has room for `W` accumulators. They are read until
/// the next barrier.
#[device]
#[inline(always)]
pub(super) fn scan_warps<S: Scan, const W: usize>(
    own: S::Register,
    own_warp: u32,
    warp_totals: Shared<u32>,
) -> Warps<S::Register> {
    if warp::lane_id() == 0 {
        write(warp_totals, W as u32, own_warp, own);
    }
    sync_threads();
    let (mut total, mut before) = (identity::<S>(), identity::<S>());
    unroll::<W>(|warp| {
        if warp as u32 == own_warp {
            before = total;
        }
        total = S::combine(total, read(warp_totals, W as u32, warp as u32));
    });
    Warps { before, total }
}
