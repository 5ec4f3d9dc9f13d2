//! Reductions over the lanes of a warp.

use gpu_std::{device, keep_rolled};

use super::shuffle_down;
use crate::Accumulator;

/// The combination of the values of the first `lanes` lanes, a power of two, in lane 0; elsewhere something else.
///
/// A tree: lane `i` takes lane `i + lanes / 2`, then `i + lanes / 4`, and so on.
///
/// ```
/// use gpu_collective::warp::reduce;
/// use gpu_std::prelude::*;
///
/// #[kernel]
/// pub fn longest(lengths: Global<u32>, most: GlobalMut<u32>) {
///     let longest = reduce(lengths.read(warp::lane_id()), 32, Ord::max);
///     if warp::lane_id() == 0 {
///         most.write(0, longest);
///     }
/// }
/// # use gpu_std::launch::LaunchConfig;
/// # let device = gpu_core::Device::simulator();
/// # let (lengths, mut most) = (device.upload(&(0..32).map(|i| i * 7 % 32).collect::<Vec<u32>>())?, device.zeroed(1)?);
/// # let (from, to) = (lengths.view().as_global(), most.view_mut().as_global_mut());
/// # unsafe { longest::launch(&device.default_stream(), LaunchConfig::linear(1, 32), from, to)? };
/// assert_eq!(most.to_vec()?, [31]);
/// # Ok::<(), gpu_core::Error>(())
/// ```
#[device]
#[inline(always)]
pub fn reduce<A: Accumulator>(mut value: A, lanes: u32, combine: impl Fn(A, A) -> A) -> A {
    let mut distance = lanes / 2;
    while distance > 0 {
        value = combine(value, shuffle_down(value, distance));
        distance /= 2;
    }
    value
}

/// As [`reduce`], in a loop, from any distance on: lane `i` takes lane `i + distance`, and so on by half the distance
/// down to `last`; nothing for a distance of less. Less code, for distances that are known at run time.
#[device]
#[inline(always)]
pub fn reduce_compact<A: Accumulator>(
    mut value: A,
    mut distance: u32,
    last: u32,
    combine: impl Fn(A, A) -> A,
) -> A {
    while distance >= last {
        keep_rolled();
        value = combine(value, shuffle_down(value, distance));
        distance /= 2;
    }
    value
}
