//! The CPU's sort. There is one stable order only, so any stable sort has the same result.
//!
//! Keys are sorted by their bits, and what goes with them is moved as bytes: a sort is compiled for each width of
//! both, not for each pair of types.

use bytemuck::{Pod, cast_slice, cast_slice_mut};
use rayon::prelude::*;

use gpu_core::{Element, cores};

use crate::key::{SortKey, Sorting};
use crate::values::Values;

/// The bits of a key, or of what goes with it.
trait Word: Pod + Send + Sync {
    /// With zeros before them.
    fn bits(self) -> u64;
}

macro_rules! words {
    ($($t:ty)*) => { $(
        impl Word for $t {
            fn bits(self) -> u64 {
                u64::from(self)
            }
        }
    )* };
}
words!(u8 u16 u32 u64);

/// Writes the sorted keys to `output`, and what goes with them to where it goes; without `keys`, those that are there.
pub(crate) fn sort<K: SortKey, V: Element>(
    keys: Option<&[K]>,
    output: &mut [K],
    values: Values<'_, '_, V>,
    sorting: Sorting,
) {
    if let Some(keys) = keys {
        output.copy_from_slice(keys);
    }
    match size_of::<K>() {
        1 => sort_words::<u8, V>(cast_slice_mut(output), values, sorting),
        2 => sort_words::<u16, V>(cast_slice_mut(output), values, sorting),
        4 => sort_words::<u32, V>(cast_slice_mut(output), values, sorting),
        8 => sort_words::<u64, V>(cast_slice_mut(output), values, sorting),
        bytes => unreachable!("no key has {bytes} bytes"),
    }
}

fn sort_words<W: Word, V: Element>(keys: &mut [W], values: Values<'_, '_, V>, sorting: Sorting) {
    const HERE: &str = "all that goes with the keys is where they are";
    match values {
        Values::None => keys.par_sort_by_key(|key| sorting.rank_of(key.bits())),
        Values::Of(values, mut to) => {
            let values = values.as_slice().expect(HERE);
            sort_with(keys, values, to.as_mut_slice().expect(HERE), sorting);
        }
        Values::Indices(mut to) => {
            let indices: Vec<u32> = (0..keys.len()).map(|index| index as u32).collect();
            sort_pairs::<W, u32>(keys, &indices, to.as_mut_slice().expect(HERE), sorting);
        }
        Values::InPlace(mut to) => {
            let to = to.as_mut_slice().expect(HERE);
            let values = to.to_vec();
            sort_with(keys, &values, to, sorting);
        }
    }
}

fn sort_with<W: Word, V: Element>(keys: &mut [W], values: &[V], output: &mut [V], sorting: Sorting) {
    match size_of::<V>() {
        1 => sort_pairs::<W, u8>(keys, cast_slice(values), cast_slice_mut(output), sorting),
        2 => sort_pairs::<W, u16>(keys, cast_slice(values), cast_slice_mut(output), sorting),
        4 => sort_pairs::<W, u32>(keys, cast_slice(values), cast_slice_mut(output), sorting),
        8 => sort_pairs::<W, u64>(keys, cast_slice(values), cast_slice_mut(output), sorting),
        16 => sort_pairs::<W, u128>(keys, cast_slice(values), cast_slice_mut(output), sorting),
        bytes => unreachable!("no element has {bytes} bytes"),
    }
}

/// Elements that a core moves at once.
const TASK: usize = 1 << 14;

/// Sorts the keys where they are, and writes the values in their order.
fn sort_pairs<W: Word, V: Pod + Send + Sync>(
    keys: &mut [W],
    values: &[V],
    output: &mut [V],
    sorting: Sorting,
) {
    let mut pairs = vec![(W::zeroed(), V::zeroed()); keys.len()];
    cores::chunks(&mut pairs, TASK, 1, |number, pairs| {
        let from = keys[number * TASK..].iter().zip(&values[number * TASK..]);
        pairs.iter_mut().zip(from).for_each(|(pair, (key, value))| *pair = (*key, *value));
    });
    pairs.par_sort_by_key(|(key, _)| sorting.rank_of(key.bits()));
    cores::pairs((keys, TASK), (output, TASK), |number, keys, output| {
        let to = keys.iter_mut().zip(output);
        to.zip(&pairs[number * TASK..]).for_each(|(to, pair)| (*to.0, *to.1) = *pair);
    });
}
