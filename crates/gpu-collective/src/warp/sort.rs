//! Sorts in registers: of what each lane holds, and of what groups of lanes hold together.
//!
//! Networks, so that indices are known when the kernel is compiled: within a lane K. E. Batcher's odd-even merge sort, between
//! lanes his bitonic merges (*Sorting networks and their applications*, 1968), whose first step compares with the mirror
//! image, so that all comparisons have the same direction.

use gpu_std::bits::{add_if_at_most_u32, add_if_at_most_u64};
use gpu_std::memory::Element;
use gpu_std::warp::{self, FULL};
use gpu_std::{device, rolled, unroll};

/// What is sorted: unsigned numbers. Equal ones cannot be told apart, so a network's result is the only one there is.
pub trait Sortable: Element + Ord {
    /// None is greater.
    const HIGHEST: Self;
    /// The value of the lane whose number differs in these bits.
    #[must_use]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn shuffle_xor(self, lanes: u32) -> Self;
    /// All bits flipped, or as it is.
    #[must_use]
    fn complemented(self, is_wanted: bool) -> Self;
    /// Whether it is less. Written so that what is chosen by it is not compared again.
    fn is_less(self, other: Self) -> bool;
    /// `sum`, and `addend` more where it is not greater.
    #[must_use]
    #[inline(always)]
    fn add_if_at_most(self, other: Self, sum: u32, addend: u32) -> u32 {
        if self <= other { sum + addend } else { sum }
    }
}

macro_rules! sortable {
    ($($t:ty: $add_if_at_most:ident;)*) => { $(
        impl Sortable for $t {
            const HIGHEST: Self = <$t>::MAX;
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            fn shuffle_xor(self, lanes: u32) -> Self {
                warp::shuffle_xor(FULL, self, lanes)
            }
            #[inline(always)]
            fn complemented(self, is_wanted: bool) -> Self {
                self ^ (is_wanted as $t).wrapping_neg()
            }
            #[inline(always)]
            fn is_less(self, other: Self) -> bool {
                self < other
            }
            #[inline(always)]
            fn add_if_at_most(self, other: Self, sum: u32, addend: u32) -> u32 {
                $add_if_at_most(sum, addend, self, other)
            }
        }
    )* };
}
sortable! {
    u32: add_if_at_most_u32;
    u64: add_if_at_most_u64;
}

impl Sortable for u128 {
    const HIGHEST: Self = u128::MAX;
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn shuffle_xor(self, lanes: u32) -> Self {
        let low = warp::shuffle_xor(FULL, self as u64, lanes);
        let high = warp::shuffle_xor(FULL, (self >> 64) as u64, lanes);
        (high as u128) << 64 | low as u128
    }
    #[inline(always)]
    fn complemented(self, is_wanted: bool) -> Self {
        let mask = (is_wanted as u64).wrapping_neg();
        (((self >> 64) as u64 ^ mask) as u128) << 64 | (self as u64 ^ mask) as u128
    }
    #[inline(always)]
    fn is_less(self, other: Self) -> bool {
        let ((a, b), (c, d)) = (((self >> 64) as u64, self as u64), ((other >> 64) as u64, other as u64));
        (a < c) | ((a == c) & (b < d))
    }
}

#[inline(always)]
fn in_order<C: Sortable, const L: usize>(items: &mut [C; L], low: usize, high: usize) {
    let (a, b) = (items[low], items[high]);
    // Mutants: either way is right.
    if size_of::<C>() <= 8 {
        (items[low], items[high]) = (Ord::min(a, b), Ord::max(a, b));
    } else {
        let swapped = b.is_less(a);
        (items[low], items[high]) = if swapped { (b, a) } else { (a, b) };
    }
}

/// The comparisons at distance `D` of the step that makes runs of `2 R` of runs of `R`.
#[inline(always)]
fn odd_even<C: Sortable, const L: usize, const R: usize, const D: usize>(items: &mut [C; L]) {
    unroll::<L>(|low| {
        let (first, high) = (D % R, low + D);
        // Mutants: two that are neighbours of different pairs are in order; and runs end where the items do, or before.
        if low >= first && (low - first) % (2 * D) < D && high < L && low / (2 * R) == high / (2 * R) {
            in_order(items, low, high);
        }
    });
}

/// Sorts the `L` items of each lane, a power of two up to 32. [`sort_groups`] has an example.
#[inline(always)]
pub fn sort_lane<C: Sortable, const L: usize>(items: &mut [C; L]) {
    const { assert!(L.is_power_of_two() && L <= 32) };
    macro_rules! steps {
        ($($run:literal: $($distance:literal)*;)*) => { $(
            // Mutants: a run of all items is in order.
            if $run < L {
                $( odd_even::<C, L, $run, $distance>(items); )*
            }
        )* };
    }
    steps! { 1: 1; 2: 2 1; 4: 4 2 1; 8: 8 4 2 1; 16: 16 8 4 2 1; }
}

/// The comparisons at distance `D` of bitonic items.
#[inline(always)]
fn bitonic<C: Sortable, const L: usize, const D: usize>(items: &mut [C; L]) {
    unroll::<L>(|low| {
        if low & D == 0 && D < L {
            in_order(items, low, low | D);
        }
    });
}

/// Sorts the bitonic items of each lane.
#[inline(always)]
fn merge_lane<C: Sortable, const L: usize>(items: &mut [C; L]) {
    bitonic::<C, L, 16>(items);
    bitonic::<C, L, 8>(items);
    bitonic::<C, L, 4>(items);
    bitonic::<C, L, 2>(items);
    bitonic::<C, L, 1>(items);
}

/// Of two, the smaller, or in the upper lanes the greater.
#[inline(always)]
fn keep<C: Sortable>(own: C, other: C, upper: bool) -> C {
    if other.is_less(own) ^ upper { other } else { own }
}

/// Sorts what groups of `lanes` consecutive lanes hold, a power of two, `L` items each: the smallest `L` end in the
/// group's first lane, and so on. All lanes of the warp, with the same `lanes`.
///
/// ```
/// use gpu_collective::warp::sort::{sort_groups, sort_lane, sort_lanes};
/// use gpu_std::prelude::*;
///
/// /// Sorts each 4 of 128 numbers, each 16, and the least of the fours.
/// #[kernel]
/// pub fn sorts(numbers: Global<u32>, sorted: GlobalMut<u32>) {
///     let first = 4 * warp::lane_id();
///     let own: [u32; 4] = core::array::from_fn(|item| numbers.read(first + item as u32));
///     let (mut fours, mut sixteens) = (own, own);
///     sort_lane(&mut fours);
///     sort_groups(&mut sixteens, 4);
///     for item in 0..4 {
///         sorted.write(first + item, fours[item as usize]);
///         sorted.write(128 + first + item, sixteens[item as usize]);
///     }
///     sorted.write(256 + warp::lane_id(), sort_lanes(fours[0]));
/// }
/// # use gpu_std::launch::LaunchConfig;
/// # let device = gpu_core::Device::simulator();
/// # let input: Vec<u32> = (0..128).map(|i| i * 37 % 128).collect();
/// # let mut runs = input.clone();
/// # runs.chunks_mut(4).for_each(|run| run.sort_unstable());
/// # let mut least: Vec<u32> = runs.iter().step_by(4).copied().collect();
/// # least.sort_unstable();
/// # let mut groups = input.clone();
/// # groups.chunks_mut(16).for_each(|group| group.sort_unstable());
/// # let (numbers, mut sorted) = (device.upload(&input)?, device.zeroed::<u32>(288)?);
/// # let (from, to) = (numbers.view().as_global(), sorted.view_mut().as_global_mut());
/// # unsafe { sorts::launch(&device.default_stream(), LaunchConfig::linear(1, 32), from, to)? };
/// assert_eq!(sorted.to_vec()?, [runs, groups, least].concat());
/// # Ok::<(), gpu_core::Error>(())
/// ```
#[device]
#[inline(always)]
pub fn sort_groups<C: Sortable, const L: usize>(items: &mut [C; L], lanes: u32) {
    let lane = warp::lane_id();
    // Groups of `size` lanes ascend and descend in turn, but for the last, so that two of them are bitonic. What descends is
    // complemented: then it ascends.
    let mut descends = lanes > 1 && lane & 1 != 0;
    complement(items, descends);
    sort_lane(items);
    let mut size = 2;
    while size <= lanes {
        size = rolled(size);
        let next = size < lanes && lane & size != 0;
        complement(items, next != descends);
        descends = next;
        let mut distance = size / 2;
        while distance > 0 {
            distance = rolled(distance);
            let upper = lane & distance != 0;
            unroll::<L>(|item| {
                let other = items[item].shuffle_xor(distance);
                items[item] = keep(items[item], other, upper);
            });
            distance /= 2;
        }
        merge_lane(items);
        size *= 2;
    }
}

#[inline(always)]
fn complement<C: Sortable, const L: usize>(items: &mut [C; L], is_wanted: bool) {
    unroll::<L>(|item| items[item] = items[item].complemented(is_wanted));
}

/// The values of the lanes in order: the smallest in lane 0. Written out, for where there is nothing else to do meanwhile.
/// [`sort_groups`] has an example.
#[inline(always)]
#[must_use]
pub fn sort_lanes<C: Sortable>(mut own: C) -> C {
    let lane = warp::lane_id();
    macro_rules! steps {
        ($($partner:literal by $bit:literal,)*) => { $(
            own = keep(own, own.shuffle_xor($partner), lane & $bit != 0);
        )* };
    }
    steps! {
        1 by 1,
        3 by 2, 1 by 1,
        7 by 4, 2 by 2, 1 by 1,
        15 by 8, 4 by 4, 2 by 2, 1 by 1,
        31 by 16, 8 by 8, 4 by 4, 2 by 2, 1 by 1,
    }
    own
}

#[cfg(all(test, not(target_arch = "nvptx64")))]
mod tests {
    use super::*;

    /// By the 0-1 principle a network that sorts all sequences of zeros and ones sorts everything (Knuth, 5.3.4).
    #[test]
    fn lanes_sort_all_zeros_and_ones() {
        fn all<const L: usize>(sequences: u64) {
            for bits in 0..sequences {
                let mut items: [u32; L] = core::array::from_fn(|item| (bits >> item & 1) as u32);
                sort_lane(&mut items);
                assert!(items.is_sorted(), "{L}: {bits:b}");
            }
        }
        all::<2>(4);
        all::<4>(16);
        all::<8>(256);
        all::<16>(1 << 16);
    }

    #[test]
    fn lanes_of_32_sort_permutations() {
        let mut state = 1u32;
        for _ in 0..1000 {
            let mut items: [u32; 32] = core::array::from_fn(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                state >> 28
            });
            let mut expected = items;
            expected.sort_unstable();
            sort_lane(&mut items);
            assert_eq!(items, expected);
        }
    }
}
