//! Sorting: validate, plan, launch.

use gpu_core::{Buffer, Device, Element, Scratch, Stream, View, ViewMut, checks};

use crate::key::{SortKey, SortOptions};
use crate::launch;
use crate::plan::SortPlan;
use crate::reference;
use crate::values::Values;
use gpu_core::Error;

/// Its name in messages.
pub(crate) const NAME: &str = "radix sort";

/// The keys in order, computed where they live, in a buffer of its own.
///
/// Stable, and in a total order: of floats that of IEEE 754 (2019, 5.10), in which -0 comes before +0, NaNs with a
/// sign before all other numbers and NaNs without one behind them, NaNs by their payloads; bits are never changed.
/// [`SortOptions`] gives the direction and, where wanted, the bits to sort by: a pass over the keys for each 8 of
/// them.
///
/// The work is enqueued on the device's default stream; reading the buffer waits for it. It also allocates scratch
/// memory, as much as the keys take, unless they are few ([`Scratch::kept`]). [`sort_into`] allocates nothing.
///
/// # Errors
/// [`Error::Bits`], [`Error::TooLong`]; those of the device where the device's memory does not suffice, or where it
/// failed.
///
/// ```
/// use gpu_sort::{SortOptions, sort};
/// let device = gpu_core::Device::best();
/// let keys = device.upload(&[3.5f32, -0.0, 0.0, f32::NEG_INFINITY, 1e-30])?;
/// let sorted = sort(&keys, SortOptions::ascending())?;
/// assert_eq!(sorted.to_vec()?, [f32::NEG_INFINITY, -0.0, 0.0, 1e-30, 3.5]);
/// # Ok::<(), gpu_sort::Error>(())
/// ```
pub fn sort<'a, K: SortKey>(keys: impl Into<View<'a, K>>, options: SortOptions) -> Result<Buffer<K>, Error> {
    let keys = keys.into();
    options.checked::<K>()?;
    Scratch::computed(keys.device(), keys.len(), |stream, output, scratch| {
        sort_into(stream, keys, options, output, scratch)
    })
}

/// Writes the keys in order to `output`, on `stream`; see [`sort`].
///
/// Neither allocates, where `scratch` is large enough ([`sort_scratch`](crate::sort_scratch)), nor waits.
/// Memory may be used and dropped at once: what comes after, on whatever stream, waits for it
/// ([`gpu_core::Stream::unordered`] aside).
///
/// # Errors
/// [`Error::Bits`], [`Error::OutputLength`], [`Error::TooLong`], [`Error::ScratchTooSmall`],
/// [`Error::ScratchOfOtherStream`]; those of the device where the memory is on another device than the stream or where
/// a launch failed. Nothing is written then, but where a launch failed.
///
/// ```
/// use gpu_sort::{Scratch, SortOptions, sort_into};
/// let device = gpu_core::Device::simulator();
/// let stream = device.stream()?;
/// let keys = device.upload(&[5i16, -7, 0])?;
/// let mut output = device.zeroed(3)?;
/// let mut scratch = Scratch::new(&stream);
/// sort_into(&stream, &keys, SortOptions::descending(), &mut output, &mut scratch)?;
/// stream.synchronize()?;
/// assert_eq!(output.to_vec()?, [5, 0, -7]);
/// # Ok::<(), gpu_sort::Error>(())
/// ```
pub fn sort_into<'a, 'b, K: SortKey>(
    stream: &Stream,
    keys: impl Into<View<'a, K>>,
    options: SortOptions,
    output: impl Into<ViewMut<'b, K>>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    run(stream, Some(keys.into()), options, output.into(), Values::<u32>::None, scratch)
}

/// The keys in order and the values in the order of their keys, computed where they live; see [`sort`]. Values of
/// equal keys stay in their order.
///
/// Values of 4 and 8 bytes move with their keys. In the place of others an index is sorted, and they are gathered by
/// it at the end.
///
/// # Errors
/// Those of [`sort`], [`Error::InputLengths`] where there are not as many values as keys. Where an index takes the
/// place of the values there may be less than 2^32 of them: [`Error::TooLong`].
///
/// ```
/// use gpu_sort::{SortOptions, sort_pairs};
/// let device = gpu_core::Device::best();
/// let keys = device.upload(&[2u8, 1, 2, 0])?;
/// let values = device.upload(&[20.0f32, 10.0, 21.0, 0.0])?;
/// let (keys, values) = sort_pairs(&keys, &values, SortOptions::ascending())?;
/// assert_eq!(keys.to_vec()?, [0, 1, 2, 2]);
/// assert_eq!(values.to_vec()?, [0.0, 10.0, 20.0, 21.0]);
/// # Ok::<(), gpu_sort::Error>(())
/// ```
pub fn sort_pairs<'a, 'b, K: SortKey, V: Element>(
    keys: impl Into<View<'a, K>>,
    values: impl Into<View<'b, V>>,
    options: SortOptions,
) -> Result<(Buffer<K>, Buffer<V>), Error> {
    let (keys, values) = (keys.into(), values.into());
    options.checked::<K>()?;
    checks::inputs(NAME, keys.len(), values.len())?;
    allocated(keys.device(), keys.len(), |stream, keys_output, values_output, scratch| {
        sort_pairs_into(stream, keys, values, options, keys_output, values_output, scratch)
    })
}

/// Writes the keys in order to `keys_output` and the values in the order of their keys to `values_output`, on
/// `stream`; see [`sort_pairs`]. As [`sort_into`] otherwise.
///
/// # Errors
/// Those of [`sort_into`] and of [`sort_pairs`].
pub fn sort_pairs_into<'a, 'b, 'c, 'd, K: SortKey, V: Element>(
    stream: &Stream,
    keys: impl Into<View<'a, K>>,
    values: impl Into<View<'b, V>>,
    options: SortOptions,
    keys_output: impl Into<ViewMut<'c, K>>,
    values_output: impl Into<ViewMut<'d, V>>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let values = Values::Of(values.into(), values_output.into());
    run(stream, Some(keys.into()), options, keys_output.into(), values, scratch)
}

/// The keys in order and where each of them was, computed where they live; see [`sort`]. Indices of equal keys
/// increase.
///
/// # Errors
/// Those of [`sort`]; [`Error::TooLong`] for 2^32 keys or more.
///
/// ```
/// use gpu_sort::{SortOptions, sort_indices};
/// let (keys, indices) = sort_indices(&[3u64, 9, 3], SortOptions::descending())?;
/// assert_eq!((keys.to_vec()?, indices.to_vec()?), (vec![9, 3, 3], vec![1, 0, 2]));
/// # Ok::<(), gpu_sort::Error>(())
/// ```
pub fn sort_indices<'a, K: SortKey>(
    keys: impl Into<View<'a, K>>,
    options: SortOptions,
) -> Result<(Buffer<K>, Buffer<u32>), Error> {
    let keys = keys.into();
    options.checked::<K>()?;
    expect_indexable(keys.len())?;
    allocated(keys.device(), keys.len(), |stream, keys_output, indices, scratch| {
        sort_indices_into(stream, keys, options, keys_output, indices, scratch)
    })
}

/// Writes the keys in order to `keys_output` and where each of them was to `indices`, on `stream`, with the
/// scratch memory of pairs of keys and `u32`; see [`sort_indices`]. As [`sort_into`] otherwise.
///
/// # Errors
/// Those of [`sort_into`] and of [`sort_indices`].
pub fn sort_indices_into<'a, 'b, 'c, K: SortKey>(
    stream: &Stream,
    keys: impl Into<View<'a, K>>,
    options: SortOptions,
    keys_output: impl Into<ViewMut<'b, K>>,
    indices: impl Into<ViewMut<'c, u32>>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let indices = Values::<u32>::Indices(indices.into());
    run(stream, Some(keys.into()), options, keys_output.into(), indices, scratch)
}

/// Sorts keys to the output; without `keys`, those that are there.
pub(crate) fn run<K: SortKey, V: Element>(
    stream: &Stream,
    keys: Option<View<'_, K>>,
    options: SortOptions,
    mut output: ViewMut<'_, K>,
    values: Values<'_, '_, V>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let sorting = options.checked::<K>()?;
    let len = keys.map_or(output.len(), |keys| keys.len());
    values.expect_lengths(len)?;
    checks::output(NAME, len, output.len())?;
    if values.is_gathered() || matches!(values, Values::Indices(_)) {
        expect_indexable(len)?;
    }
    let plan = SortPlan::new(len, size_of::<K>(), values.moved_bytes())?;
    let mut size = plan.scratch(sorting.passes(), values.is_gathered());
    if let (Values::InPlace(_), true) = (&values, values.is_gathered()) {
        size = size.array::<V>(len);
    }
    scratch.expect(stream, NAME, size)?;
    if let Some(keys) = keys {
        stream.expect("keys of a sort", keys.device())?;
    }
    stream
        .expect(if keys.is_some() { "keys' output of a sort" } else { "keys of a sort" }, output.device())?;
    values.expect_device(stream)?;
    if len == 0 {
        return Ok(());
    }
    if let Some(output) = output.as_mut_slice() {
        reference::sort(keys.and_then(|keys| keys.as_slice()), output, values, sorting);
        return Ok(());
    }
    scratch
        .lend(NAME, size, |mut parts| launch::sort(stream, keys, output, values, sorting, plan, &mut parts))
}

/// Two buffers of `len` elements, and `into` run on them: on the device's default stream, with the scratch memory that it
/// keeps.
pub(crate) fn allocated<K: Element, V: Element>(
    device: &Device,
    len: usize,
    into: impl FnOnce(&Stream, &mut Buffer<K>, &mut Buffer<V>, &mut Scratch) -> Result<(), Error>,
) -> Result<(Buffer<K>, Buffer<V>), Error> {
    let (mut keys, mut values) = (device.alloc(len)?, device.alloc(len)?);
    let stream = device.default_stream();
    Scratch::kept(&stream, |scratch| into(&stream, &mut keys, &mut values, scratch))?;
    Ok((keys, values))
}

pub(crate) fn expect_indexable(len: usize) -> Result<(), Error> {
    checks::at_most(u32::MAX as usize, len)
}
