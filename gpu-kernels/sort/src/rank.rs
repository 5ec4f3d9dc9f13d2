//! The place of a key among keys of the same digit.

use core::ops::Add;

use gpu_std::memory::Shared;
use gpu_std::warp::{self, FULL, WarpShuffleValue, sync_warp, warp_vote_ballot};
use gpu_std::{device, opaque, unroll};

/// The lanes whose digit, of `B` bits, is this lane's.
///
/// A vote for each bit: CUB's `block_radix_rank.cuh` says of `match.any.sync` that it is slower for so few bits.
#[device]
#[inline(always)]
pub(super) fn peers<const B: usize>(digit: u32) -> u32 {
    let mut peers = FULL;
    unroll::<B>(|bit| {
        // Opaque, or the vote and the choice would test the bit in two ways: two instructions more for each bit of
        // each key.
        let set = opaque(digit & 1 << bit) != 0;
        let with = warp_vote_ballot(FULL, set);
        peers &= if set { with } else { !with };
    });
    peers
}

/// The place of the lane's key, after all keys of the same digit that the warp has placed and those of the lanes below.
///
/// `next` has the place of the next key of each digit; only this warp uses it.
#[device]
#[inline(always)]
pub(super) fn place<const B: usize>(digit: u32, next: Shared<u32>) -> u32 {
    let lane = warp::lane_id();
    let peers = peers::<B>(digit);
    let place = next.read(digit) + (peers & ((1 << lane) - 1)).count_ones();
    sync_warp(FULL);
    // The highest of them has them all below itself.
    if peers >> lane == 1 {
        next.write(digit, place + 1);
    }
    sync_warp(FULL);
    place
}

/// The sum over the lanes up to each.
#[device]
#[inline(always)]
pub(super) fn lanes_up_to<T: WarpShuffleValue + Add<Output = T>>(mut value: T) -> T {
    unroll::<5>(|step| {
        let (below, inside) = warp::warp_shuffle_up(FULL, value, 1 << step, 32);
        value = if inside { below + value } else { value };
    });
    value
}
