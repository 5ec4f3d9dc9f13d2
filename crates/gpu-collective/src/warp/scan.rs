//! Scans over the lanes of a warp, by doubling distances (W. D. Hillis and G. L. Steele, *Data parallel algorithms*,
//! 1986): for the distances 1, 2, 4, 8, 16 in turn lane `i` becomes lane `i - distance`, combined with lane `i`.

use gpu_std::warp::{self, FULL};
use gpu_std::{device, opaque, rolled, unroll};

use crate::Accumulator;

/// In each lane the combination of the values of all lanes up to it.
///
/// ```
/// use gpu_collective::warp::inclusive_scan;
/// use gpu_std::prelude::*;
///
/// #[kernel]
/// pub fn sums(values: GlobalMut<f32>) {
///     let lane = warp::lane_id();
///     values.write(lane, inclusive_scan(values.read(lane), |before, after| before + after));
/// }
/// # use gpu_std::launch::LaunchConfig;
/// # let device = gpu_core::Device::simulator();
/// # let mut values = device.upload(&[0.5f32; 32])?;
/// # unsafe {
/// #     sums::launch(&device.default_stream(), LaunchConfig::linear(1, 32), values.view_mut().as_global_mut())?
/// # };
/// assert_eq!(values.to_vec()?[29..], [15.0, 15.5, 16.0]);
/// # Ok::<(), gpu_core::Error>(())
/// ```
#[device]
#[inline(always)]
pub fn inclusive_scan<A: Accumulator>(mut value: A, combine: impl Fn(A, A) -> A) -> A {
    unroll::<5>(|step| value = with_below(value, 1 << step, &combine));
    value
}

/// In each lane the combination of the values of all lanes below it: `identity` in the first.
///
/// ```
/// use gpu_collective::warp::exclusive_scan;
/// use gpu_std::prelude::*;
///
/// /// Where each lane's part of a queue starts.
/// #[kernel]
/// pub fn places(lengths: Global<u32>, starts: GlobalMut<u32>) {
///     let lane = warp::lane_id();
///     starts.write(lane, exclusive_scan(lengths.read(lane), 0, |before, after| before + after));
/// }
/// # use gpu_std::launch::LaunchConfig;
/// # let device = gpu_core::Device::simulator();
/// # let (lengths, mut starts) = (device.upload(&[3u32; 32])?, device.zeroed(32)?);
/// # let (from, to) = (lengths.view().as_global(), starts.view_mut().as_global_mut());
/// # unsafe { places::launch(&device.default_stream(), LaunchConfig::linear(1, 32), from, to)? };
/// assert_eq!(starts.to_vec()?[..3], [0, 3, 6]);
/// # Ok::<(), gpu_core::Error>(())
/// ```
#[device]
#[inline(always)]
pub fn exclusive_scan<A: Accumulator>(value: A, identity: A, combine: impl Fn(A, A) -> A) -> A {
    let inclusive = inclusive_scan(value, combine);
    let below = A::from_words(&mut |word| warp::shuffle_up(FULL, inclusive.word(word), 1));
    if warp::lane_id() == 0 { identity } else { below }
}

/// As [`inclusive_scan`], in a loop: less code, for where nobody waits for it.
#[device]
#[inline(always)]
pub fn inclusive_scan_compact<A: Accumulator>(mut value: A, combine: impl Fn(A, A) -> A) -> A {
    let mut distance = 1;
    while distance < 32 {
        distance = rolled(distance);
        value = with_below(value, distance, &combine);
        distance *= 2;
    }
    value
}

/// As [`inclusive_scan`], of at most `reach` lanes below the own one: a scan of segments, where `reach` is how far
/// below the lane's segment starts. `reach` may be another one in every lane.
///
/// ```
/// use gpu_collective::warp::inclusive_scan_within;
/// use gpu_std::prelude::*;
///
/// /// Sums that start anew every fourth lane.
/// #[kernel]
/// pub fn of_four(values: GlobalMut<u32>) {
///     let lane = warp::lane_id();
///     values.write(lane, inclusive_scan_within(values.read(lane), lane % 4, |before, after| before + after));
/// }
/// # use gpu_std::launch::LaunchConfig;
/// # let device = gpu_core::Device::simulator();
/// # let mut values = device.upload(&[1u32; 32])?;
/// # unsafe {
/// #     of_four::launch(&device.default_stream(), LaunchConfig::linear(1, 32), values.view_mut().as_global_mut())?
/// # };
/// assert_eq!(values.to_vec()?[..6], [1, 2, 3, 4, 1, 2]);
/// # Ok::<(), gpu_core::Error>(())
/// ```
#[device]
#[inline(always)]
pub fn inclusive_scan_within<A: Accumulator>(mut value: A, reach: u32, combine: impl Fn(A, A) -> A) -> A {
    let lane = opaque(warp::lane_id());
    unroll::<5>(|step| {
        let own = value;
        let below = A::from_words(&mut |word| warp::warp_shuffle_up(FULL, own.word(word), 1 << step, 32).0);
        let combined = combine(below, own);
        value = if (1 << step) <= reach.min(lane) { combined } else { own };
    });
    value
}

/// The value of the lane `distance` below, where there is one, combined with the lane's own.
#[inline(always)]
fn with_below<A: Accumulator>(own: A, distance: u32, combine: &impl Fn(A, A) -> A) -> A {
    let mut inside = false;
    let below = A::from_words(&mut |word| {
        let (bits, valid) = warp::warp_shuffle_up(FULL, own.word(word), distance, 32);
        inside = valid;
        bits
    });
    let combined = combine(below, own);
    if inside { combined } else { own }
}
