//! Scans over the threads of a block: over the lanes of each warp, then over the warps from left to right.

use gpu_std::memory::Shared;
use gpu_std::thread::{sync_threads, thread_idx_x};
use gpu_std::{device, unroll, warp};

use crate::warp::{exclusive_scan as warp_exclusive_scan, from_lane};
use crate::{Accumulator, words};

/// What a thread learns from a scan of the block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scanned<A> {
    /// The combination of everything before the thread, or of the warps before its own.
    pub before: A,
    /// That of the whole block.
    pub total: A,
}

/// The combination of the values of all threads before each, and of all.
///
/// The block has `W` warps. `room` has the words of `W` accumulators, which are read until the next barrier. One
/// barrier. The order: lanes by doubling distances ([`warp::inclusive_scan`](crate::warp::inclusive_scan())), warps
/// from left to right, both combined at the end.
///
/// ```
/// use gpu_collective::block;
/// use gpu_std::prelude::*;
///
/// const WARPS: usize = 4;
///
/// /// The positive elements side by side, and how many they are: a compaction by one block.
/// #[kernel]
/// pub fn positive(values: Global<f32>, selected: GlobalMut<f32>, count: GlobalMut<u32>) {
///     let room = shared::dynamic().array(WARPS as u32);
///     let thread = thread::thread_idx_x();
///     let value = values.read(thread);
///     let keep = value > 0.0;
///     let places = block::exclusive_scan::<u32, WARPS>(keep as u32, 0, room, |before, after| before + after);
///     if keep {
///         selected.write(places.before, value);
///     }
///     if thread == 0 {
///         count.write(0, places.total);
///     }
/// }
/// # use gpu_std::launch::LaunchConfig;
/// # let device = gpu_core::Device::simulator();
/// # let values = device.upload(&(0..128).map(|i| (i % 3) as f32 - 1.0).collect::<Vec<f32>>())?;
/// # let (mut selected, mut count) = (device.zeroed::<f32>(128)?, device.zeroed::<u32>(1)?);
/// # let (from, to) = (values.view().as_global(), selected.view_mut().as_global_mut());
/// # let counted = count.view_mut().as_global_mut();
/// # unsafe { positive::launch(&device.default_stream(), LaunchConfig::linear(1, 128).shared(16), from, to, counted)? };
/// assert_eq!(count.to_vec()?, [42]);
/// assert_eq!(selected.to_vec()?[..42], [1.0; 42]);
/// # Ok::<(), gpu_core::Error>(())
/// ```
#[device]
#[inline(always)]
pub fn exclusive_scan<A: Accumulator, const W: usize>(
    value: A,
    identity: A,
    room: Shared<u32>,
    combine: impl Fn(A, A) -> A + Copy,
) -> Scanned<A> {
    let before = warp_exclusive_scan(value, identity, combine);
    let of_warp = from_lane(combine(before, value), 31);
    let warps = scan_warps::<A, W>(of_warp, identity, thread_idx_x() / 32, room, combine);
    Scanned { before: combine(warps.before, before), total: warps.total }
}

/// Scans the results of warps: those of the warps before the thread's own, and that of the block.
///
/// `of_warp` counts in lane 0, `own_warp` is the number of the thread's warp; `room` has the words of `W`
/// accumulators, which are read until the next barrier. One barrier.
#[device]
#[inline(always)]
pub fn scan_warps<A: Accumulator, const W: usize>(
    of_warp: A,
    identity: A,
    own_warp: u32,
    room: Shared<u32>,
    combine: impl Fn(A, A) -> A,
) -> Scanned<A> {
    if warp::lane_id() == 0 {
        words::write(room, W as u32, own_warp, of_warp);
    }
    sync_threads();
    let (mut total, mut before) = (identity, identity);
    unroll::<W>(|warp| {
        if warp as u32 == own_warp {
            before = total;
        }
        total = combine(total, words::read(room, W as u32, warp as u32));
    });
    Scanned { before, total }
}
