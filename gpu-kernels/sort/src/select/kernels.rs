//! The kernels of the PTX modules, and the body of a user's.

use gpu_std::memory::{Global, GlobalMut};
use gpu_std::{device, kernel};

use super::selector::By;
use super::*;
use crate::gather;

/// Selects with a predicate: the body of a kernel of yours. `L` and `W` are [`Shape::rows`] and [`WARPS`].
///
/// `partition` is 1 where the items that are not kept go to `rejected`, else 0. How to launch it is said at [`select`].
#[device]
#[inline(always)]
pub fn select_if<P: Predicate, const L: usize, const W: usize>(
    items: Global<P::Item>,
    len: u64,
    selected: GlobalMut<P::Item>,
    rejected: GlobalMut<P::Item>,
    partition: u32,
    count: GlobalMut<u64>,
    words: GlobalMut<u64>,
) {
    let kept = Kept { selected, rejected, partition: partition == 1, count };
    select::<P::Item, By<P>, L, W>(items, len, By::new(), kept, words);
}

/// The kernels that move elements, whatever they mean: calls the macro `$with` with, for each width, the items of a thread,
/// the blocks of a multiprocessor, and the kernels that select by flags, that select what differs from the item before,
/// that do so with its number, and that gather.
#[macro_export]
macro_rules! width_instances {
    ($with:ident) => {
        $with! {
            u8, 12, 3: select_flagged_b8, select_unique_b8, select_starts_b8, sort_gather_b8;
            u16, 12, 4: select_flagged_b16, select_unique_b16, select_starts_b16, sort_gather_b16;
            u32, 12, 4: select_flagged_b32, select_unique_b32, select_starts_b32, sort_gather_b32;
            u64, 8, 3: select_flagged_b64, select_unique_b64, select_starts_b64, sort_gather_b64;
            u128, 5, 3: select_flagged_b128, select_unique_b128, select_starts_b128, sort_gather_b128;
        }
    };
}

macro_rules! kernels {
    ($($t:ty, $l:literal, $blocks:literal: $flagged:ident, $unique:ident, $starts:ident, $gather:ident;)*) => { $(
        /// Selects items by flags, as [`select`] says.
        #[kernel(images = sm_75, launch_bounds(256, $blocks))]
        pub fn $flagged(
            items: Global<$t>,
            len: u64,
            flags: Global<u8>,
            selected: GlobalMut<$t>,
            rejected: GlobalMut<$t>,
            partition: u32,
            count: GlobalMut<u64>,
            words: GlobalMut<u64>,
        ) {
            const { assert!($l == Shape::new(size_of::<$t>() as u32).rows) };
            let kept = Kept { selected, rejected, partition: partition == 1, count };
            select::<$t, Flags, $l, WARPS>(items, len, Flags(flags), kept, words);
        }

        /// Selects items that differ from the one before, as [`select`] says.
        #[kernel(images = sm_75, launch_bounds(256, $blocks))]
        pub fn $unique(
            items: Global<$t>,
            len: u64,
            selected: GlobalMut<$t>,
            count: GlobalMut<u64>,
            words: GlobalMut<u64>,
        ) {
            let kept = Kept { selected, rejected: selected, partition: false, count };
            select::<$t, Unique, $l, WARPS>(items, len, Unique { numbers: None }, kept, words);
        }

        /// Selects items that differ from the one before, and their numbers, as [`select`] says.
        #[kernel(images = sm_75, launch_bounds(256, $blocks))]
        pub fn $starts(
            items: Global<$t>,
            len: u64,
            selected: GlobalMut<$t>,
            starts: GlobalMut<u64>,
            count: GlobalMut<u64>,
            words: GlobalMut<u64>,
        ) {
            let kept = Kept { selected, rejected: selected, partition: false, count };
            select::<$t, Unique, $l, WARPS>(items, len, Unique { numbers: Some(starts) }, kept, words);
        }

        /// Values in the order of an index: [`gather`].
        #[kernel(images = sm_75, launch_bounds(256))]
        pub fn $gather(input: Global<$t>, index: Global<u32>, output: GlobalMut<$t>, len: u64) {
            gather(input, index, output, len);
        }
    )* };
}
width_instances!(kernels);
