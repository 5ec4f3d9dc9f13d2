//! A predicate for selections, with a kernel of its own.

use gpu_sort_kernels::select::{Predicate, WARPS, select_if as select_if_kernel};
use gpu_std::kernel;
use gpu_std::memory::{Global, GlobalMut};

/// Multiples of three.
pub struct Threes;

impl Predicate for Threes {
    type Item = u64;
    const NAME: &'static str = "multiples of three";
    fn keep(item: u64) -> bool {
        item.is_multiple_of(3)
    }
}

/// Selects them.
#[kernel(launch_bounds(256, 4))]
pub fn threes(
    items: Global<u64>,
    len: u64,
    selected: GlobalMut<u64>,
    rejected: GlobalMut<u64>,
    partition: u32,
    count: GlobalMut<u64>,
    words: GlobalMut<u64>,
) {
    select_if_kernel::<Threes, 8, WARPS>(items, len, selected, rejected, partition, count, words);
}

// SAFETY: the kernel is `select_if` of this predicate, with the rows of its shape.
gpu_sort::predicate!(unsafe Threes => threes, 8);
