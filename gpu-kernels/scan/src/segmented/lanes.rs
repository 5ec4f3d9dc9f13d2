//! Scans over the lanes of a warp that start anew where a segment does.

use gpu_std::warp::{self, FULL, warp_vote_ballot};
use gpu_std::{device, opaque, unroll};

use super::super::Scan;
use super::operator::Since;
use gpu_collective::Accumulator;

/// How many lanes below its own a lane's result may take in: up to the last one with a start, which `mask` has a bit
/// for; 32 where there is none.
#[inline(always)]
pub(super) fn reach(mask: u32, lane: u32) -> u32 {
    let up_to = mask & (u32::MAX >> (31 - lane));
    if up_to == 0 { 32 } else { up_to.leading_zeros() - (31 - lane) }
}

/// The inclusive scan over the lanes of the warp of totals of tiles or groups.
#[device]
#[inline(always)]
pub(super) fn scan_totals<S: Scan>(total: Since<S::Register>) -> Since<S::Register> {
    let (mask, lane) = (warp_vote_ballot(FULL, total.starts()), opaque(warp::lane_id()));
    let reach = reach(mask, lane);
    Since::new(scan_lanes::<S>(total.value, reach), reach <= lane)
}

/// The inclusive scan over the lanes of the warp, by doubling distances, that takes in at most `reach` lanes below.
#[device]
#[inline(always)]
pub(super) fn scan_lanes<S: Scan>(mut value: S::Register, reach: u32) -> S::Register {
    let lane = opaque(warp::lane_id());
    unroll::<5>(|step| {
        let own = value;
        let below =
            Accumulator::from_words(&mut |word| warp::warp_shuffle_up(FULL, own.word(word), 1 << step, 32).0);
        let combined = S::combine(below, own);
        value = if (1 << step) <= reach.min(lane) { combined } else { own };
    });
    value
}
