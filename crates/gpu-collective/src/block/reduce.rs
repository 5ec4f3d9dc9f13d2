//! Reductions over the threads of a block: a tree over the lanes of each warp, then one over the warps.

use gpu_std::memory::Shared;
use gpu_std::thread::{sync_threads, thread_idx_x};
use gpu_std::{device, warp};

use crate::warp::reduce as warp_reduce;
use crate::{Accumulator, words};

/// The combination of the values of all threads, in thread 0; elsewhere something else.
///
/// The block has `32 * warps` threads, `warps` being a power of two up to 32. `room` has the words of `warps`
/// accumulators, which are read until the next barrier. One barrier.
///
/// ```
/// use gpu_collective::{Accumulator, block};
/// use gpu_std::prelude::*;
///
/// const WARPS: u32 = 4;
///
/// /// The sum of each block's 128 elements.
/// #[kernel]
/// pub fn sum(values: Global<f32>, sums: GlobalMut<f32>) {
///     let room = shared::dynamic().array(WARPS * <f32 as Accumulator>::WORDS);
///     let value = values.read(thread::index_1d());
///     let sum = block::reduce(value, 0.0, WARPS, room, |first, second| first + second);
///     if thread::thread_idx_x() == 0 {
///         sums.write(thread::block_idx_x(), sum);
///     }
/// }
/// # use gpu_std::launch::LaunchConfig;
/// # let device = gpu_core::Device::simulator();
/// # let (values, mut sums) = (device.upload(&[0.25f32; 256])?, device.zeroed(2)?);
/// # let (from, to) = (values.view().as_global(), sums.view_mut().as_global_mut());
/// # unsafe { sum::launch(&device.default_stream(), LaunchConfig::linear(2, 128).shared(16), from, to)? };
/// assert_eq!(sums.to_vec()?, [32.0, 32.0]);
/// # Ok::<(), gpu_core::Error>(())
/// ```
#[device]
#[inline(always)]
pub fn reduce<A: Accumulator>(
    value: A,
    identity: A,
    warps: u32,
    room: Shared<u32>,
    combine: impl Fn(A, A) -> A + Copy,
) -> A {
    let result = leave_for_first_warp(value, warps, room, combine);
    sync_threads();
    combine_warps(result, identity, warps, room, combine)
}

/// The first half of [`reduce`], before the barrier: leaves each warp's result in `room`, and returns it in lane 0.
#[device]
#[inline(always)]
pub fn leave_for_first_warp<A: Accumulator>(
    value: A,
    warps: u32,
    room: Shared<u32>,
    combine: impl Fn(A, A) -> A,
) -> A {
    let result = warp_reduce(value, 32, combine);
    let warp = thread_idx_x() / 32;
    if warp::lane_id() == 0 {
        words::write(room, warps, warp, result);
    }
    result
}

/// The second half of [`reduce`], behind the barrier: the result of the block in thread 0; elsewhere something else.
#[device]
#[inline(always)]
pub fn combine_warps<A: Accumulator>(
    mut result: A,
    identity: A,
    warps: u32,
    room: Shared<u32>,
    combine: impl Fn(A, A) -> A,
) -> A {
    if thread_idx_x() / 32 == 0 {
        let lane = warp::lane_id();
        result = if lane < warps { words::read(room, warps, lane) } else { identity };
        result = warp_reduce(result, warps, combine);
    }
    result
}
