//! Reductions of the runs of equal keys: validate, launch.

mod launch;

pub use launch::RunKey;

use gpu_core::{Buffer, Count, Scratch, ScratchSize, Stream, View, ViewMut, checks};
use gpu_reduce_kernels::Reduction;
use gpu_sort_kernels::runs::RUNS_HEADER;

use crate::instance::Segmented;
use crate::operand::Operand;
use crate::reference;
use crate::scratch::with_partials;
use gpu_core::Error;

/// The most keys: their offsets are 32-bit.
const MOST: usize = u32::MAX as usize;
/// Words for the starts of the runs of so many keys.
pub(crate) const fn offset_words(len: usize) -> usize {
    (RUNS_HEADER as usize + 1).saturating_add(len)
}

/// Scratch memory of reductions `R` by up to `len` keys of type `K`: a word of 32 bits for each, one of 64 for each 2,000,
/// and about a 500th of the values.
///
/// ```
/// use gpu_reduce::{kernels::Sum, reduce_by_key_scratch};
/// let bytes = reduce_by_key_scratch::<Sum<f32>, u32>(1 << 20).bytes();
/// assert!(4 << 20 < bytes && bytes < (4 << 20) + (32 << 10), "{bytes}");
/// ```
pub const fn reduce_by_key_scratch<R: Segmented, K: RunKey>(len: usize) -> ScratchSize {
    let partials = crate::plan::segments_scratch_words::<R>(len);
    with_partials(partials)
        .tickets(K::SHAPE.scratch_words(len as u64) as usize)
        .array::<u32>(offset_words(len))
}

/// The reduction `R` of the values of each run of equal keys, and the runs' keys, computed where they live.
///
/// A run is as long as keys are the same, bit for bit: equal keys that others stand between are two runs, so sort by
/// key what is to have one result a key. There are [`Reduction::OUTPUTS`] elements a run, one run after the other. A
/// run's result has the bits that [`reduce`](crate::reduce()) of its values alone gives; places of extremes count
/// from its first.
///
/// Waits for how many runs there are, and allocates the outputs and scratch memory. [`reduce_by_key_into`] does neither.
///
/// # Errors
/// [`Error::InputLengths`] where there are not as many values as keys; [`Error::TooLong`] for 2^32 keys or more;
/// those of the device where keys and values are on different devices, where the device's memory does not suffice, or
/// where it failed.
///
/// ```
/// use gpu_reduce::{kernels::Sum, reduce_by_key};
/// let device = gpu_core::Device::simulator();
/// let keys = device.upload(&[3u8, 3, 7, 3, 3, 3])?;
/// let values = device.upload(&[1.0f32, 2.0, 4.0, 8.0, 16.0, 32.0])?;
/// let (unique, sums) = reduce_by_key::<Sum<f32>, u8>(&keys, &values)?;
/// assert_eq!((unique.to_vec()?, sums.to_vec()?), (vec![3, 7, 3], vec![3.0, 4.0, 56.0]));
/// # Ok::<(), gpu_reduce::Error>(())
/// ```
pub fn reduce_by_key<'a, 'k, R: Segmented, K: RunKey>(
    keys: impl Into<View<'k, K>>,
    values: impl Into<<R::Item as Operand>::Views<'a>>,
) -> Result<(Buffer<K>, Buffer<R::Output>), Error> {
    let values = values.into();
    let keys = keys.into();
    let len = checked_len::<R, K>(&keys, &values)?;
    let device = keys.device();
    if let (Some(keys), Some(values)) = (keys.as_slice(), R::Item::slices(&values)) {
        let (unique, results) = reference::reduce_by_key::<R, K, _>(keys, values)?;
        return Ok((device.upload(&unique)?, device.upload(&results)?));
    }
    let stream = device.default_stream();
    let each = R::OUTPUTS as usize;
    let mut unique = device.alloc(len)?;
    let mut results = device.alloc(len * each)?;
    let mut runs = device.alloc(1)?;
    Scratch::kept(&stream, |scratch| {
        reduce_by_key_into::<R, K>(&stream, keys, values, &mut unique, &mut results, &mut runs, scratch)
    })?;
    let runs = runs.to_vec()?[0] as usize;
    let (mut keys, mut values) = (device.alloc(runs)?, device.alloc(runs * each)?);
    stream.copy(&mut keys, unique.slice(..runs))?;
    stream.copy(&mut values, results.slice(..runs * each))?;
    Ok((keys, values))
}

/// Writes the reduction `R` of the values of each run of equal keys to `results`, the runs' keys to `unique` and how
/// many there are to `runs`, on `stream`; see [`reduce_by_key`].
///
/// `unique` has room for as many runs as there may be, one a key, `results` for [`Reduction::OUTPUTS`] elements each,
/// and `runs` for one [`Count`]; what lies beyond the last run stays as it was. Neither allocates, where `scratch` is large
/// enough ([`reduce_by_key_scratch`]), nor waits; for its memory see
/// [`reduce_into`](crate::reduce_into).
///
/// # Errors
/// Those of [`reduce_by_key`], [`Error::OutputLength`], [`Error::ScratchTooSmall`], [`Error::ScratchOfOtherStream`].
/// Nothing is written then, but where a launch failed.
///
/// ```
/// use gpu_reduce::{Scratch, kernels::Max, reduce_by_key_into};
/// let device = gpu_core::Device::best();
/// let stream = device.stream()?;
/// let keys = device.upload(&[1u32, 1, 2])?;
/// let values = device.upload(&[5, 9, 4])?;
/// let mut scratch = Scratch::new(&stream);
/// let (mut unique, mut results, mut runs) = (device.zeroed(3)?, device.zeroed(3)?, device.zeroed(1)?);
/// reduce_by_key_into::<Max<i32>, u32>(
///     &stream, &keys, &values, &mut unique, &mut results, &mut runs, &mut scratch,
/// )?;
/// stream.synchronize()?;
/// assert_eq!(runs.to_vec()?, [2]);
/// assert_eq!((unique.to_vec()?, results.to_vec()?), (vec![1, 2, 0], vec![9, 4, 0]));
/// # Ok::<(), gpu_reduce::Error>(())
/// ```
pub fn reduce_by_key_into<'a, 'k, 'u, 'o, 'n, R: Segmented, K: RunKey>(
    stream: &Stream,
    keys: impl Into<View<'k, K>>,
    values: impl Into<<R::Item as Operand>::Views<'a>>,
    unique: impl Into<ViewMut<'u, K>>,
    results: impl Into<ViewMut<'o, R::Output>>,
    runs: impl Into<ViewMut<'n, Count>>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let values = values.into();
    let (keys, mut unique, mut results, mut runs) = (keys.into(), unique.into(), results.into(), runs.into());
    let len = checked_len::<R, K>(&keys, &values)?;
    for (expected, actual) in
        [(len, unique.len()), (len * R::OUTPUTS as usize, results.len()), (1, runs.len())]
    {
        checks::output(R::NAME, expected, actual)?;
    }
    scratch.expect(stream, R::NAME, reduce_by_key_scratch::<R, K>(len))?;
    stream.expect("keys of a reduction", keys.device())?;
    for device in R::Item::devices(&values) {
        stream.expect("input of a reduction", device)?;
    }
    stream.expect("keys' output of a reduction", unique.device())?;
    stream.expect("output of a reduction", results.device())?;
    stream.expect("number of runs of a reduction", runs.device())?;
    if let (Some(keys), Some(values), Some(unique), Some(results), Some(runs)) = (
        keys.as_slice(),
        R::Item::slices(&values),
        unique.as_mut_slice(),
        results.as_mut_slice(),
        runs.as_mut_slice(),
    ) {
        let (found, of_runs) = reference::reduce_by_key::<R, K, _>(keys, values)?;
        unique[..found.len()].copy_from_slice(&found);
        results[..of_runs.len()].copy_from_slice(&of_runs);
        runs[0] = found.len() as Count;
        return Ok(());
    }
    if len == 0 {
        return stream.memset(runs, 0);
    }
    launch::reduce_by_key::<R, K>(stream, keys, &values, unique, results, runs, scratch)
}

/// How many keys, and values, there are.
fn checked_len<R: Reduction<Item: Operand>, K: RunKey>(
    keys: &View<'_, K>,
    values: &<R::Item as Operand>::Views<'_>,
) -> Result<usize, Error> {
    let (first, second) = (keys.len(), R::Item::len(values, R::NAME)?);
    checks::inputs(R::NAME, first, second)?;
    checks::at_most(MOST, first)?;
    Ok(first)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use gpu_core::Device;
    use gpu_reduce_kernels::Sum;

    use super::*;

    #[test]
    fn scratch_memory_for_the_most_keys_is_not_touched_when_it_is_made() {
        for device in [Device::cpu(), Device::simulator()] {
            let start = Instant::now();
            let size = reduce_by_key_scratch::<Sum<u64>, u64>(MOST);
            match Scratch::with_size(&device.default_stream(), size) {
                Ok(scratch) => assert!(scratch.bytes() > 4 * MOST),
                Err(Error::OutOfMemory { asked, .. }) => assert!(asked > 1 << 30),
                Err(other) => panic!("{other}"),
            }
            assert!(start.elapsed() < Duration::from_secs(5), "{device}: {:?}", start.elapsed());
        }
    }
}
