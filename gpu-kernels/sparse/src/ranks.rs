//! Places of keys, in the order of the keys, by counters that a warp counts up.

use gpu_std::memory::Shared;
use gpu_std::warp::{self, FULL, sync_warp};
use gpu_std::{device, keep_rolled, opaque, unroll};

use crate::NONE;

/// Keys of a thread that are placed at once: a warp's keys are rows of 32 that follow each other.
pub const AT_ONCE: usize = 4;

/// The lanes with the same key of `bits` bits, for each of the thread's keys, none of them those that have [`NONE`].
///
/// By a vote for each bit, as [`gpu_collective::warp::match_bits()`]; but how many there are is known at run time only,
/// and bits that no key has cost nothing.
#[device]
#[inline(always)]
pub(crate) fn peers_of(keys: &[u32; AT_ONCE], bits: u32) -> [u32; AT_ONCE] {
    let mut peers = [0; AT_ONCE];
    unroll::<AT_ONCE>(|row| peers[row] = warp::warp_vote_ballot(FULL, keys[row] != NONE));
    let mut mask = 1 << bits >> 1;
    while mask > 0 {
        keep_rolled();
        unroll::<AT_ONCE>(|row| {
            // Opaque, or the vote and the choice would test the bit in two ways.
            let set = opaque(keys[row] & mask) != 0;
            let with = warp::warp_vote_ballot(FULL, set);
            peers[row] &= if set { with } else { !with };
        });
        mask >>= 1;
    }
    peers
}

/// The places of the warp's keys: what the counter of each says, which is then one more; in the order of the keys.
/// Those that are [`NONE`] have no places. `peers` are those of [`peers_of()`]; nobody else uses the counters
/// meanwhile.
#[device]
#[inline(always)]
pub(crate) fn place(
    counters: Shared<u32>,
    keys: &[u32; AT_ONCE],
    peers: &[u32; AT_ONCE],
    places: &mut [u32; AT_ONCE],
) {
    let lane = warp::lane_id();
    unroll::<AT_ONCE>(|row| {
        // Any counter is read where there is no key: that takes no branch.
        let key = if keys[row] != NONE { keys[row] } else { 0 };
        places[row] = counters.read(key) + (peers[row] & ((1 << lane) - 1)).count_ones();
        sync_warp(FULL);
        // The highest of them has them all below itself; who has no key is not among them.
        if peers[row] >> lane == 1 {
            counters.write(key, places[row] + 1);
        }
        sync_warp(FULL);
    });
}
