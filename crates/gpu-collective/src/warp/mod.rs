//! What the 32 lanes of a warp do together. All lanes have to call.

mod rank;
mod reduce;
mod scan;
pub mod sort;

pub use rank::match_bits;
pub use reduce::{all_reduce, all_reduce_across, all_reduce_pairwise, reduce, reduce_compact};
pub use scan::{exclusive_scan, inclusive_scan, inclusive_scan_compact, inclusive_scan_within};

use gpu_std::{device, warp};

use crate::Accumulator;

/// The value of lane `lane`, which may be another one in every lane.
#[device]
#[inline(always)]
pub fn from_lane<A: Accumulator>(value: A, lane: u32) -> A {
    A::from_words(&mut |word| warp::shuffle_idx(warp::FULL, value.word(word), lane))
}

/// The value of the lane `distance` on; the lane's own where there is none.
#[device]
#[inline(always)]
pub fn shuffle_down<A: Accumulator>(value: A, distance: u32) -> A {
    A::from_words(&mut |word| warp::shuffle_down(warp::FULL, value.word(word), distance))
}

/// The value of the lane whose number differs in the bits of `lanes`.
#[device]
#[inline(always)]
pub fn shuffle_xor<A: Accumulator>(value: A, lanes: u32) -> A {
    A::from_words(&mut |word| warp::shuffle_xor(warp::FULL, value.word(word), lanes))
}
