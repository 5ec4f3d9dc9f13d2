//! The totals of tiles where scans start anew: how they are combined, and scanned over the lanes of a warp.

use core::marker::PhantomData;

use gpu_collective::grid::Operator;
use gpu_collective::warp::{inclusive_scan_compact, inclusive_scan_within};
use gpu_std::warp::{self, FULL, warp_vote_ballot};
use gpu_std::{device, opaque};

use super::super::Scan;
use super::super::tile::identity;
use super::operator::{BySegment, Since};

/// How many lanes below its own a lane's result may take in: up to the last one with a start, which `mask` has a bit
/// for; 32 where there is none.
#[inline(always)]
pub(super) fn reach(mask: u32, lane: u32) -> u32 {
    let up_to = mask & (u32::MAX >> (31 - lane));
    if up_to == 0 { 32 } else { up_to.leading_zeros() - (31 - lane) }
}

/// The scan of segments by `S` as the operator by which the totals of tiles are combined.
pub(super) struct SegmentTotals<S>(PhantomData<fn() -> S>);

impl<S: Scan> Operator for SegmentTotals<S> {
    type Value = Since<S::Register>;
    const COMPACT: bool = true;
    #[inline(always)]
    fn identity() -> Self::Value {
        identity::<BySegment<S>>()
    }
    #[inline(always)]
    fn combine(before: Self::Value, after: Self::Value) -> Self::Value {
        BySegment::<S>::combine(before, after)
    }
    /// Of starts one ballot tells how far down each lane may reach, so that only values travel from lane to lane.
    #[device]
    #[inline(always)]
    fn warp_scan(total: Self::Value) -> Self::Value {
        let (mask, lane) = (warp_vote_ballot(FULL, total.starts()), opaque(warp::lane_id()));
        let reach = reach(mask, lane);
        Since::new(inclusive_scan_within(total.value, reach, S::combine), reach <= lane)
    }
    #[inline(always)]
    fn warp_scan_arriving(total: Self::Value) -> Self::Value {
        inclusive_scan_compact(total, Self::combine)
    }
}
