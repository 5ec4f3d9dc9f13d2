//! The CPU's sort of segments.

use std::ops::Range;

use rayon::prelude::*;

use crate::key::{SortKey, Sorting};

/// The indices of the keys of each segment in their order, counted in the segment; of each the first `limit`. All stable sorts have the
/// same result.
pub(crate) fn sort<K: SortKey>(
    keys: &[K],
    segments: &[Range<usize>],
    sorting: Sorting,
    limit: usize,
) -> Vec<Vec<u32>> {
    let of = |range: &Range<usize>| {
        let keys = &keys[range.clone()];
        let mut order: Vec<u32> = (0..keys.len() as u32).collect();
        let rank = |&index: &u32| (sorting.rank(keys[index as usize]), index);
        if limit < order.len() {
            order.select_nth_unstable_by_key(limit, rank);
            order.truncate(limit);
        }
        order.par_sort_unstable_by_key(rank);
        order
    };
    segments.par_iter().map(of).collect()
}
