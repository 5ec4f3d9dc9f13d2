//! Which lanes have the same digit.

use gpu_std::warp::{FULL, warp_vote_ballot};
use gpu_std::{device, opaque, unroll};

/// The lanes whose lowest `B` bits are this lane's, itself among them: as `match.any.sync`, by a vote for each bit.
///
/// CUB's `block_radix_rank.cuh` says of `match.any.sync` that it is slower for so few bits.
///
/// ```
/// use gpu_collective::warp::match_bits;
/// use gpu_std::prelude::*;
///
/// /// How many lanes below have the same value.
/// #[kernel]
/// pub fn rank_lanes(values: Global<u32>, ranks: GlobalMut<u32>) {
///     let lane = warp::lane_id();
///     let peers = match_bits::<3>(values.read(lane));
///     ranks.write(lane, (peers & ((1 << lane) - 1)).count_ones());
/// }
/// # use gpu_std::launch::LaunchConfig;
/// # let device = gpu_core::Device::simulator();
/// # let values = device.upload(&(0..32).map(|i| i % 5).collect::<Vec<u32>>())?;
/// # let mut ranks_of = device.zeroed(32)?;
/// # let (from, to) = (values.view().as_global(), ranks_of.view_mut().as_global_mut());
/// # unsafe { rank_lanes::launch(&device.default_stream(), LaunchConfig::linear(1, 32), from, to)? };
/// assert_eq!(ranks_of.to_vec()?, (0..32).map(|i| i / 5).collect::<Vec<u32>>());
/// # Ok::<(), gpu_core::Error>(())
/// ```
#[device]
#[inline(always)]
pub fn match_bits<const B: usize>(value: u32) -> u32 {
    let mut peers = FULL;
    unroll::<B>(|bit| {
        // Opaque, or the vote and the choice would test the bit in two ways: two instructions more for each bit of
        // each key.
        let set = opaque(value & 1 << bit) != 0;
        let with = warp_vote_ballot(FULL, set);
        peers &= if set { with } else { !with };
    });
    peers
}
