//! The CPU's sort. There is one stable order only, so any stable sort has the same result.

use rayon::prelude::*;

use crate::key::{SortKey, Sorting};

/// Writes the sorted keys to `output`.
pub(crate) fn sort<K: SortKey>(keys: &[K], sorting: Sorting, output: &mut [K]) {
    output.copy_from_slice(keys);
    sort_in_place(output, sorting);
}

/// Sorts the keys where they are.
pub(crate) fn sort_in_place<K: SortKey>(keys: &mut [K], sorting: Sorting) {
    keys.par_sort_by_key(|key| sorting.rank(*key));
}

/// Writes the sorted pairs to the outputs.
pub(crate) fn sort_pairs<K: SortKey, V: Copy + Send + Sync>(
    keys: &[K],
    values: impl Fn(usize) -> V + Sync,
    sorting: Sorting,
    keys_output: &mut [K],
    values_output: &mut [V],
) {
    let mut pairs: Vec<(K, V)> =
        keys.par_iter().enumerate().map(|(index, key)| (*key, values(index))).collect();
    pairs.par_sort_by_key(|(key, _)| sorting.rank(*key));
    let outputs = keys_output.par_iter_mut().zip(values_output);
    outputs.zip(pairs).for_each(|(output, pair)| (*output.0, *output.1) = pair);
}
