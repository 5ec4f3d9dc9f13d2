//! The CPU's sort of segments.

use std::ops::Range;

use gpu_core::cores;
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
    cores::collect(segments.len(), |number| {
        let keys = &keys[segments[number].clone()];
        order(keys.iter().map(|key| sorting.rank(*key)).zip(0..).collect(), limit)
    })
}

/// The indices that stand beside the first `limit` ranks.
fn order(mut ranks: Vec<(u64, u32)>, limit: usize) -> Vec<u32> {
    if limit < ranks.len() {
        ranks.select_nth_unstable(limit);
        ranks.truncate(limit);
    }
    ranks.par_sort_unstable();
    ranks.into_iter().map(|(_, index)| index).collect()
}
