//! Two sorted sequences made one, each thread its part: merge path (O. Green, R. McColl and D. A. Bader, *GPU merge path: a
//! GPU merging algorithm*, ICS 2012).

use gpu_std::warp::{self, FULL, warp_vote_ballot};
use gpu_std::{device, keep_rolled, unroll};

use crate::warp::sort::Sortable;

/// How many of the first `diagonal` of the merged sequence come from `a`, equal ones of `a` first. `a` and `b` give the items of
/// sequences of `a_len` and `b_len`.
///
/// Two threads and more merge so: each finds where its part starts, and merges it ([`merge_serially`]).
///
/// ```
/// use gpu_collective::block::merge::{merge_path, merge_serially};
/// use gpu_std::prelude::*;
///
/// /// 64 numbers in order and 64 others made one sequence, 4 of it a thread.
/// #[kernel]
/// pub fn merge(a: Global<u32>, b: Global<u32>, merged: GlobalMut<u32>) {
///     let first = 4 * thread::thread_idx_x();
///     let from_a = merge_path(|at| a.read(at), 64, |at| b.read(at), 64, first);
///     // One function reads both: places from 64 on are those of `b`.
///     let read = |at: u32| if at < 64 { a.read(at) } else { b.read(at - 64) };
///     let part: [u32; 4] = merge_serially(read, (from_a, 64), (64 + first - from_a, 128));
///     for item in 0..4 {
///         merged.write(first + item, part[item as usize]);
///     }
/// }
/// # use gpu_std::launch::LaunchConfig;
/// # let device = gpu_core::Device::simulator();
/// # let (a, b): (Vec<u32>, Vec<u32>) = ((0..64).map(|i| 3 * i).collect(), (0..64).map(|i| 2 * i).collect());
/// # let mut expected = [a.clone(), b.clone()].concat();
/// # expected.sort_unstable();
/// # let (a, b, mut merged) = (device.upload(&a)?, device.upload(&b)?, device.zeroed::<u32>(128)?);
/// # let (first, second, to) = (a.view().as_global(), b.view().as_global(), merged.view_mut().as_global_mut());
/// # unsafe { merge::launch(&device.default_stream(), LaunchConfig::linear(1, 32), first, second, to)? };
/// assert_eq!(merged.to_vec()?, expected);
/// # Ok::<(), gpu_core::Error>(())
/// ```
#[device]
#[inline(always)]
pub fn merge_path<C: Sortable>(
    a: impl Fn(u32) -> C,
    a_len: u32,
    b: impl Fn(u32) -> C,
    b_len: u32,
    diagonal: u32,
) -> u32 {
    let mut low = diagonal.saturating_sub(b_len);
    let mut high = diagonal.min(a_len);
    while low < high {
        keep_rolled();
        let middle = (low + high) / 2;
        if b(diagonal - 1 - middle) < a(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

/// The same by the lanes of a warp together, 32 places at a time: for sequences that are far away. [`merge_path`] has
/// an example.
#[device]
#[inline(always)]
pub fn merge_path_of_warp<C: Sortable>(
    a: impl Fn(u32) -> C,
    a_len: u32,
    b: impl Fn(u32) -> C,
    b_len: u32,
    diagonal: u32,
) -> u32 {
    let mut low = diagonal.saturating_sub(b_len);
    let mut high = diagonal.min(a_len);
    // Places below `low` are taken from `a`, places from `high` on are not.
    while warp::uniform(low < high) {
        keep_rolled();
        let step = (high - low).div_ceil(32);
        let place = low + warp::lane_id() * step;
        let taken = if place < high { b(diagonal - 1 - place) >= a(place) } else { false };
        let taken = warp_vote_ballot(FULL, taken).count_ones();
        // The first `taken` probes are: so is everything before the last of them.
        if taken > 0 {
            let last = low + (taken - 1) * step;
            // Mutants: 32 steps lead to `high` or beyond.
            high = if taken < 32 { high.min(last + step) } else { high };
            low = last + 1;
        } else {
            high = low;
        }
    }
    low
}

/// The `L` items of the merged sequence that follow the first `a_at` of `a` and `b_at` of `b`; behind the end the greatest.
/// [`merge_path`] has an example.
#[inline(always)]
pub fn merge_serially<C: Sortable, const L: usize>(
    read: impl Fn(u32) -> C,
    (mut a_at, a_end): (u32, u32),
    (mut b_at, b_end): (u32, u32),
) -> [C; L] {
    let of = |at: u32, end: u32| if at < end { read(at) } else { C::HIGHEST };
    let (mut a, mut b) = (of(a_at, a_end), of(b_at, b_end));
    let mut merged = [C::HIGHEST; L];
    unroll::<L>(|item| {
        let from_a = !b.is_less(a);
        merged[item] = if from_a { a } else { b };
        a_at += from_a as u32;
        b_at += !from_a as u32;
        // Choices, and no branches: then everything stays in registers.
        let next = of(if from_a { a_at } else { b_at }, if from_a { a_end } else { b_end });
        (a, b) = (if from_a { next } else { a }, if from_a { b } else { next });
    });
    merged
}
