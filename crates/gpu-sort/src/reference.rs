//! The CPU's sort. There is one stable order only, so any stable sort has the same result.

use rayon::prelude::*;

use gpu_core::Element;

use crate::key::{SortKey, Sorting};
use crate::values::Values;

/// Writes the sorted keys to `output`, and what goes with them to where it goes; without `keys`, those that are there.
pub(crate) fn sort<K: SortKey, V: Element>(
    keys: Option<&[K]>,
    output: &mut [K],
    values: Values<'_, '_, V>,
    sorting: Sorting,
) {
    const HERE: &str = "all that goes with the keys is where they are";
    if let Some(keys) = keys {
        output.copy_from_slice(keys);
    }
    match values {
        Values::None => output.par_sort_by_key(|key| sorting.rank(*key)),
        Values::Of(values, mut to) => {
            let values = values.as_slice().expect(HERE);
            sort_pairs(output, |index| values[index], sorting, to.as_mut_slice().expect(HERE));
        }
        Values::Indices(mut to) => {
            sort_pairs(output, |index| index as u32, sorting, to.as_mut_slice().expect(HERE));
        }
        Values::InPlace(mut to) => {
            let to = to.as_mut_slice().expect(HERE);
            let values = to.to_vec();
            sort_pairs(output, |index| values[index], sorting, to);
        }
    }
}

/// Sorts the keys where they are, and writes the values in their order.
fn sort_pairs<K: SortKey, V: Copy + Send + Sync>(
    keys: &mut [K],
    values: impl Fn(usize) -> V + Sync,
    sorting: Sorting,
    output: &mut [V],
) {
    let mut pairs: Vec<(K, V)> =
        keys.par_iter().enumerate().map(|(index, key)| (*key, values(index))).collect();
    pairs.par_sort_by_key(|(key, _)| sorting.rank(*key));
    keys.par_iter_mut().zip(output).zip(pairs).for_each(|(to, pair)| (*to.0, *to.1) = pair);
}
