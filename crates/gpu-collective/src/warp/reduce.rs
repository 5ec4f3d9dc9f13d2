//! Reductions over the lanes of a warp.

use gpu_std::{device, keep_rolled, unroll};

use super::{shuffle_down, shuffle_xor};
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

/// The combination of the values of each group of `lanes` neighbouring lanes, a power of two, in every lane of it.
///
/// A tree: lane `i` takes lane `i ^ (lanes / 2)`, then `i ^ (lanes / 4)`, and so on: in the first lane of a group what
/// [`reduce`] gives. A lane puts its own value first, so all lanes have the same bits where `combine` commutes, as sums
/// of floats do.
///
/// ```
/// use gpu_collective::warp::all_reduce;
/// use gpu_std::prelude::*;
///
/// /// What part of its group of eight each value is.
/// #[kernel]
/// pub fn shares(values: GlobalMut<f32>) {
///     let value = values.read(warp::lane_id());
///     values.write(warp::lane_id(), value / all_reduce(value, 8, |first, second| first + second));
/// }
/// # use gpu_std::launch::LaunchConfig;
/// # let device = gpu_core::Device::simulator();
/// # let mut values = device.upload(&[3.0f32; 32])?;
/// # unsafe {
/// #     shares::launch(&device.default_stream(), LaunchConfig::linear(1, 32), values.view_mut().as_global_mut())?
/// # };
/// assert_eq!(values.to_vec()?, [0.125; 32]);
/// # Ok::<(), gpu_core::Error>(())
/// ```
#[device]
#[inline(always)]
pub fn all_reduce<A: Accumulator>(mut value: A, lanes: u32, combine: impl Fn(A, A) -> A) -> A {
    let mut distance = lanes / 2;
    while distance > 0 {
        value = combine(value, shuffle_xor(value, distance));
        distance /= 2;
    }
    value
}

/// As [`all_reduce`], neighbours first: `(0 + 1) + (2 + 3)` where that adds `(0 + 2) + (1 + 3)`.
///
/// Lane `i` takes lane `i ^ 1`, then `i ^ 2`, and so on up to `i ^ (lanes / 2)`.
///
/// ```
/// use gpu_collective::warp::all_reduce_pairwise;
/// use gpu_std::prelude::*;
///
/// /// The sum of each four neighbours, in all of them.
/// #[kernel]
/// pub fn sums(values: GlobalMut<f32>) {
///     let value = values.read(warp::lane_id());
///     values.write(warp::lane_id(), all_reduce_pairwise(value, 4, |first, second| first + second));
/// }
/// # use gpu_std::launch::LaunchConfig;
/// # let device = gpu_core::Device::simulator();
/// # let mut values = device.upload(&(0..32u8).map(f32::from).collect::<Vec<_>>())?;
/// # unsafe {
/// #     sums::launch(&device.default_stream(), LaunchConfig::linear(1, 32), values.view_mut().as_global_mut())?
/// # };
/// assert_eq!(values.to_vec()?[..5], [6.0, 6.0, 6.0, 6.0, 22.0]);
/// # Ok::<(), gpu_core::Error>(())
/// ```
#[device]
#[inline(always)]
pub fn all_reduce_pairwise<A: Accumulator>(mut value: A, lanes: u32, combine: impl Fn(A, A) -> A) -> A {
    let mut distance = 1;
    while distance < lanes {
        value = combine(value, shuffle_xor(value, distance));
        distance *= 2;
    }
    value
}

/// As [`all_reduce`], of the lanes that are a multiple of `apart` lanes apart, a power of two: each has a vector, of
/// which every element is combined with those of the others.
///
/// Lane `i` takes lane `i ^ 16`, then `i ^ 8`, and so on down to `i ^ apart`.
///
/// ```
/// use gpu_collective::warp::all_reduce_across;
/// use gpu_std::prelude::*;
///
/// /// The sum of every fourth value, in each of them, and of twice as much.
/// #[kernel]
/// pub fn sums(values: GlobalMut<f32>) {
///     let value = values.read(warp::lane_id());
///     let [once, twice] = all_reduce_across([value, 2.0 * value], 4, |first, second| first + second);
///     values.write(warp::lane_id(), twice - once);
/// }
/// # use gpu_std::launch::LaunchConfig;
/// # let device = gpu_core::Device::simulator();
/// # let mut values = device.upload(&(0..32u8).map(f32::from).collect::<Vec<_>>())?;
/// # unsafe {
/// #     sums::launch(&device.default_stream(), LaunchConfig::linear(1, 32), values.view_mut().as_global_mut())?
/// # };
/// assert_eq!(values.to_vec()?[..5], [112.0, 120.0, 128.0, 136.0, 112.0]);
/// # Ok::<(), gpu_core::Error>(())
/// ```
#[device]
#[inline(always)]
pub fn all_reduce_across<A: Accumulator, const N: usize>(
    mut values: [A; N],
    apart: u32,
    combine: impl Fn(A, A) -> A,
) -> [A; N] {
    let mut distance = 16;
    while distance >= apart {
        unroll::<N>(|j| values[j] = combine(values[j], shuffle_xor(values[j], distance)));
        distance /= 2;
    }
    values
}
