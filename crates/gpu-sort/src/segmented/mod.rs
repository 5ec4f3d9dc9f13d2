//! Sorting segments: validate, plan, launch.

pub(crate) mod cut;
mod in_place;
pub(crate) mod launch;
mod offsets_of;
pub(crate) mod plan;
pub(crate) mod reference;

pub use in_place::{
    segmented_sort_in_place, segmented_sort_pairs_in_place, segmented_sort_pairs_in_place_scratch,
};
pub use offsets_of::{offsets_of_flags, offsets_of_keys};
pub use plan::SegmentedPlan;

use gpu_core::{Buffer, Element, Scratch, Segments, Stream, View, ViewMut, checks};

use crate::api::allocated;
use crate::key::{SortKey, SortOptions, Sorting};
use cut::Cut;
use gpu_core::Error;
use launch::Moved;

/// Its name in messages.
pub(crate) const NAME: &str = "segmented sort";

/// The keys of each segment in order, computed where they live, in a buffer of its own.
///
/// Stable, and in the total order that [`sort`](crate::sort()) has; by all bits of the keys. It is enqueued on the
/// device's default stream and allocates scratch memory: little, but where segments are longer than a block sorts at
/// once (4096 keys, or 1024 of 8 bytes with values or indices) twice what the keys take, or more with values.
/// [`segmented_sort_into`] allocates nothing.
///
/// # Errors
/// [`Invalid::Rows`](gpu_core::segments::Invalid::Rows),
/// [`Invalid::BeyondEnd`](gpu_core::segments::Invalid::BeyondEnd),
/// [`Invalid::Uncovered`](gpu_core::segments::Invalid::Uncovered) where the segments are not those of all of the keys;
/// [`Invalid::SegmentsBy`](gpu_core::segments::Invalid::SegmentsBy) for flags and keys, of which [`offsets_of_flags`]
/// and [`offsets_of_keys`] make offsets; [`Error::SomeBits`], [`Error::TooLong`]; those of the device, where its memory
/// does not suffice, or where it failed.
///
/// ```
/// use gpu_sort::{Segments, SortOptions, segmented_sort};
/// let device = gpu_core::Device::best();
/// let keys = device.upload(&[2.5f32, -1.0, f32::NAN, 0.0, 7.0, -0.0])?;
/// let sorted = segmented_sort(&keys, Segments::of_length(2)?, SortOptions::descending())?;
/// assert_eq!(sorted.to_vec()?[3..], [0.0, 7.0, -0.0]);
/// # Ok::<(), gpu_sort::Error>(())
/// ```
pub fn segmented_sort<'a, 's, K: SortKey>(
    keys: impl Into<View<'a, K>>,
    segments: impl Into<Segments<'s>>,
    options: SortOptions,
) -> Result<Buffer<K>, Error> {
    let segments = segments.into();
    let keys = keys.into();
    all_bits::<K>(&options)?;
    Scratch::computed(keys.device(), keys.len(), |stream, output, scratch| {
        segmented_sort_into(stream, keys, segments, options, output, scratch)
    })
}

/// Writes the keys of each segment in order to `output`, on `stream`; see [`segmented_sort`].
///
/// Neither allocates, where `scratch` is large enough ([`segmented_sort_scratch`](crate::segmented_sort_scratch)), nor
/// waits. Memory may be used and dropped at once: what comes after, on whatever stream, waits for it
/// ([`gpu_core::Stream::unordered`] aside).
///
/// # Errors
/// Those of [`segmented_sort`], [`Error::OutputLength`], [`Error::ScratchTooSmall`], [`Error::ScratchOfOtherStream`];
/// [`Error::WrongDevice`] where memory is on another device than the stream. Nothing is written then, but where a
/// launch failed.
pub fn segmented_sort_into<'a, 's, 'b, K: SortKey>(
    stream: &Stream,
    keys: impl Into<View<'a, K>>,
    segments: impl Into<Segments<'s>>,
    options: SortOptions,
    output: impl Into<ViewMut<'b, K>>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let segments = segments.into();
    run::<K, u32>(stream, keys.into(), segments, &options, output.into(), Moved::None, scratch)
}

/// The keys of each segment in order and the values in the order of their keys; see [`segmented_sort`]. Values have any
/// width: they are gathered by an index at the end.
///
/// # Errors
/// Those of [`segmented_sort`], [`Error::InputLengths`] where there are not as many values as keys.
///
/// ```
/// use gpu_sort::{Segments, SortOptions, segmented_sort_pairs};
/// let rows = Segments::of_length(2)?;
/// let (keys, values) = segmented_sort_pairs(&[2, 1, 3, 4], &[20u8, 10, 30, 40], rows, SortOptions::ascending())?;
/// assert_eq!((keys.to_vec()?, values.to_vec()?), (vec![1, 2, 3, 4], vec![10, 20, 30, 40]));
/// # Ok::<(), gpu_sort::Error>(())
/// ```
pub fn segmented_sort_pairs<'a, 's, 'b, K: SortKey, V: Element>(
    keys: impl Into<View<'a, K>>,
    values: impl Into<View<'b, V>>,
    segments: impl Into<Segments<'s>>,
    options: SortOptions,
) -> Result<(Buffer<K>, Buffer<V>), Error> {
    let segments = segments.into();
    let (keys, values) = (keys.into(), values.into());
    all_bits::<K>(&options)?;
    checks::inputs(NAME, keys.len(), values.len())?;
    allocated(keys.device(), keys.len(), |stream, keys_output, values_output, scratch| {
        segmented_sort_pairs_into(
            stream,
            keys,
            values,
            segments,
            options,
            keys_output,
            values_output,
            scratch,
        )
    })
}

/// Writes the keys of each segment in order and the values in the order of their keys, on `stream`; see
/// [`segmented_sort_pairs`]. As [`segmented_sort_into`] otherwise.
///
/// # Errors
/// Those of [`segmented_sort_into`] and [`segmented_sort_pairs`].
///
/// ```
/// use gpu_sort::{Scratch, Segments, SortOptions, segmented_sort_pairs_into};
/// let device = gpu_core::Device::simulator();
/// let (stream, rows, order) = (device.stream()?, Segments::of_length(2)?, SortOptions::ascending());
/// let (keys, values) = (device.upload(&[2, 1])?, device.upload(&[20u8, 10])?);
/// let (mut sorted, mut moved) = (device.alloc(2)?, device.alloc(2)?);
/// let mut scratch = Scratch::new(&stream);
/// segmented_sort_pairs_into(&stream, &keys, &values, rows, order, &mut sorted, &mut moved, &mut scratch)?;
/// assert_eq!((sorted.to_vec()?, moved.to_vec()?), (vec![1, 2], vec![10, 20]));
/// # Ok::<(), gpu_sort::Error>(())
/// ```
#[expect(clippy::too_many_arguments, reason = "two inputs, two outputs")]
pub fn segmented_sort_pairs_into<'a, 's, 'b, 'c, 'd, K: SortKey, V: Element>(
    stream: &Stream,
    keys: impl Into<View<'a, K>>,
    values: impl Into<View<'b, V>>,
    segments: impl Into<Segments<'s>>,
    options: SortOptions,
    keys_output: impl Into<ViewMut<'c, K>>,
    values_output: impl Into<ViewMut<'d, V>>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let segments = segments.into();
    let moved = Moved::Of(values.into(), values_output.into());
    run(stream, keys.into(), segments, &options, keys_output.into(), moved, scratch)
}

/// The keys of each segment in order, and where in its segment each of them was; see [`segmented_sort`].
///
/// # Errors
/// Those of [`segmented_sort`].
///
/// ```
/// use gpu_sort::{Segments, SortOptions, segmented_sort_indices};
/// let rows = Segments::of_length(3)?;
/// let (keys, indices) = segmented_sort_indices(&[7i16, 9, 7, 1, 2, 3], rows, SortOptions::descending())?;
/// assert_eq!((keys.to_vec()?, indices.to_vec()?), (vec![9, 7, 7, 3, 2, 1], vec![1, 0, 2, 2, 1, 0]));
/// # Ok::<(), gpu_sort::Error>(())
/// ```
pub fn segmented_sort_indices<'a, 's, K: SortKey>(
    keys: impl Into<View<'a, K>>,
    segments: impl Into<Segments<'s>>,
    options: SortOptions,
) -> Result<(Buffer<K>, Buffer<u32>), Error> {
    let segments = segments.into();
    let keys = keys.into();
    all_bits::<K>(&options)?;
    allocated(keys.device(), keys.len(), |stream, keys_output, indices, scratch| {
        segmented_sort_indices_into(stream, keys, segments, options, keys_output, indices, scratch)
    })
}

/// Writes the keys of each segment in order and where in its segment each of them was, on `stream`; see
/// [`segmented_sort_indices`]. As [`segmented_sort_into`] otherwise.
///
/// # Errors
/// Those of [`segmented_sort_into`].
pub fn segmented_sort_indices_into<'a, 's, 'b, 'c, K: SortKey>(
    stream: &Stream,
    keys: impl Into<View<'a, K>>,
    segments: impl Into<Segments<'s>>,
    options: SortOptions,
    keys_output: impl Into<ViewMut<'b, K>>,
    indices: impl Into<ViewMut<'c, u32>>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let segments = segments.into();
    let moved = Moved::<u32>::Indices(indices.into());
    run(stream, keys.into(), segments, &options, keys_output.into(), moved, scratch)
}

fn run<K: SortKey, V: Element>(
    stream: &Stream,
    keys: View<'_, K>,
    segments: Segments<'_>,
    options: &SortOptions,
    mut output: ViewMut<'_, K>,
    mut moved: Moved<'_, '_, V>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let sorting = all_bits::<K>(options)?;
    let len = keys.len();
    let cut = Cut::new(segments, stream, NAME, len)?;
    expect_outputs(NAME, len, len, &output, &moved)?;
    let plan = SegmentedPlan::new(len, cut, sorting, size_of::<K>(), moved.payload(), None)?;
    scratch.expect(stream, NAME, plan.scratch())?;
    expect_devices(stream, &keys, &output, &moved)?;
    if keys.is_empty() {
        return Ok(());
    }
    if let (Some(keys), Some(output)) = (keys.as_slice(), output.as_mut_slice()) {
        let ranges = cut.ranges(segments);
        let order = reference::sort(keys, &ranges, sorting, usize::MAX);
        write(keys, &ranges, &order, output, &mut moved);
        return Ok(());
    }
    let (keys, output) = (keys.as_global().cast(), output.as_global_mut().cast());
    scratch.lend(NAME, plan.scratch(), |mut parts| {
        launch::sort(stream, &plan, segments, keys, output, moved, &mut parts)
    })
}

/// Writes keys, and hands what becomes of each: where it goes, its place in the array, its index in its segment.
fn place<K: SortKey>(
    keys: &[K],
    ranges: &[std::ops::Range<usize>],
    order: &[Vec<u32>],
    output: &mut [K],
    mut each: impl FnMut(usize, usize, u32),
) {
    let mut to = 0;
    for (range, order) in ranges.iter().zip(order) {
        for &index in order {
            let from = range.start + index as usize;
            output[to] = keys[from];
            each(to, from, index);
            to += 1;
        }
    }
}

/// Writes keys and what moves with them, on the CPU.
pub(crate) fn write<K: SortKey, V: Element>(
    keys: &[K],
    ranges: &[std::ops::Range<usize>],
    order: &[Vec<u32>],
    output: &mut [K],
    moved: &mut Moved<'_, '_, V>,
) {
    const HERE: &str = "all that goes with the keys is where they are";
    match moved {
        Moved::None => place(keys, ranges, order, output, |_, _, _| {}),
        Moved::Indices(indices) => {
            let indices = indices.as_mut_slice().expect(HERE);
            place(keys, ranges, order, output, |to, _, index| indices[to] = index);
        }
        Moved::Of(values, values_output) => {
            let (values, to) = (values.as_slice().expect(HERE), values_output.as_mut_slice().expect(HERE));
            place(keys, ranges, order, output, |at, from, _| to[at] = values[from]);
        }
    }
}

/// In which order all bits of keys are sorted.
fn all_bits<K: SortKey>(options: &SortOptions) -> Result<Sorting, Error> {
    let sorting = options.checked::<K>()?;
    if sorting.bits != K::BITS {
        let (start, end) = (sorting.first_bit, sorting.first_bit + sorting.bits);
        return Err(Error::SomeBits { what: NAME, start, end, width: K::BITS });
    }
    Ok(sorting)
}

/// Whether there are as many values as keys, and outputs of so many elements.
pub(crate) fn expect_outputs<K: SortKey, V: Element>(
    what: &'static str,
    len: usize,
    expected: usize,
    output: &ViewMut<'_, K>,
    moved: &Moved<'_, '_, V>,
) -> Result<(), Error> {
    match moved {
        Moved::None => {}
        Moved::Indices(indices) => checks::output(what, expected, indices.len())?,
        Moved::Of(values, values_output) => {
            checks::inputs(what, len, values.len())?;
            checks::output(what, expected, values_output.len())?;
        }
    }
    checks::output(what, expected, output.len())
}

/// Whether all is on the stream's device.
pub(crate) fn expect_devices<K: SortKey, V: Element>(
    stream: &Stream,
    keys: &View<'_, K>,
    output: &ViewMut<'_, K>,
    moved: &Moved<'_, '_, V>,
) -> Result<(), Error> {
    stream.expect("keys of a sort", keys.device())?;
    stream.expect("keys' output of a sort", output.device())?;
    match moved {
        Moved::None => {}
        Moved::Indices(indices) => stream.expect("indices of a sort", indices.device())?,
        Moved::Of(values, values_output) => {
            stream.expect("values of a sort", values.device())?;
            stream.expect("values' output of a sort", values_output.device())?;
        }
    }
    Ok(())
}
