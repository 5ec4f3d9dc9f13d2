//! The first keys in an order: validate, plan, launch.

mod launch;
mod options;
mod plan;

pub use options::TopK;
pub(crate) use plan::MOST_MULTIPROCESSORS;
pub use plan::TopKPlan;

use gpu_core::{Buffer, Element, Scratch, Segments, Stream, View, ViewMut, checks};

use crate::api::allocated;
use crate::key::SortKey;
use crate::segmented::cut::Cut;
use crate::segmented::launch::Moved;
use crate::segmented::{expect_devices, expect_outputs, reference, write};
use gpu_core::Error;

/// Its name in messages.
pub(crate) const NAME: &str = "top k";

/// The `k` largest or smallest keys in order, and where they are; computed where they live.
///
/// The order is the total one that [`sort`](crate::sort()) has, [`TopK`] says which end of it comes first; of equal
/// keys the first come first. So there is one right result, on whatever device. It is enqueued on the device's default
/// stream and allocates scratch memory, which [`top_k_into`] does not.
///
/// # Errors
/// [`Error::K`] where `k` is 0 or more than there are keys; [`Error::TooLong`] for 2^32 keys or more; those of the
/// device, where its memory does not suffice, or where it failed.
///
/// ```
/// use gpu_sort::{TopK, top_k};
/// let device = gpu_core::Device::best();
/// let keys = device.upload(&[2.5f32, 9.0, -1.0, 9.0, 0.0])?;
/// let (largest, indices) = top_k(&keys, 3, TopK::largest())?;
/// assert_eq!((largest.to_vec()?, indices.to_vec()?), (vec![9.0, 9.0, 2.5], vec![1, 3, 0]));
/// # Ok::<(), gpu_sort::Error>(())
/// ```
pub fn top_k<'a, K: SortKey>(
    keys: impl Into<View<'a, K>>,
    k: usize,
    options: TopK,
) -> Result<(Buffer<K>, Buffer<u32>), Error> {
    let keys = keys.into();
    expect_k(k, keys.len())?;
    top_k_segments(keys, Segments::of_length(keys.len())?, k, options)
}

/// Writes the `k` first keys to `keys_output` and where they are to `indices`, on `stream`; see [`top_k`].
///
/// Neither allocates, where `scratch` is large enough ([`top_k_scratch`](crate::top_k_scratch)), nor waits.
/// Memory may be used and dropped at once: what comes after, on whatever stream, waits for it
/// ([`gpu_core::Stream::unordered`] aside).
///
/// # Errors
/// Those of [`top_k`], [`Error::OutputLength`], [`Error::ScratchTooSmall`], [`Error::ScratchOfOtherStream`];
/// [`Error::WrongDevice`] where memory is on another device than the stream. Nothing is written then, but where a
/// launch failed.
pub fn top_k_into<'a, 'b, 'c, K: SortKey>(
    stream: &Stream,
    keys: impl Into<View<'a, K>>,
    k: usize,
    options: TopK,
    keys_output: impl Into<ViewMut<'b, K>>,
    indices: impl Into<ViewMut<'c, u32>>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let keys = keys.into();
    expect_k(k, keys.len())?;
    let segments = Segments::of_length(keys.len())?;
    top_k_segments_into(stream, keys, segments, k, options, keys_output, indices, scratch)
}

/// The `k` first keys of each row of a matrix of rows of `row` elements, in order, row by row, and where in its row
/// each is; see [`top_k`].
///
/// # Errors
/// Those of [`top_k_segments`], [`Invalid::SegmentLength`](gpu_core::segments::Invalid::SegmentLength).
///
/// ```
/// use gpu_sort::{TopK, top_k_rows};
/// let (smallest, indices) = top_k_rows(&[3i8, 1, 2, 0, -5, 4], 3, 2, TopK::smallest())?;
/// assert_eq!((smallest.to_vec()?, indices.to_vec()?), (vec![1, 2, -5, 0], vec![1, 2, 1, 0]));
/// # Ok::<(), gpu_sort::Error>(())
/// ```
pub fn top_k_rows<'a, K: SortKey>(
    keys: impl Into<View<'a, K>>,
    row: usize,
    k: usize,
    options: TopK,
) -> Result<(Buffer<K>, Buffer<u32>), Error> {
    top_k_segments(keys, Segments::of_length(row)?, k, options)
}

/// Writes the `k` first keys of each row and where in its row each is, on `stream`; see [`top_k_rows`]. As
/// [`top_k_into`] otherwise; for the scratch memory see [`top_k_segments_scratch`](crate::top_k_segments_scratch) of
/// [`Segments::of_length`].
///
/// # Errors
/// Those of [`top_k_rows`] and [`top_k_into`].
///
/// ```
/// use gpu_sort::{Scratch, TopK, top_k_rows_into};
/// let device = gpu_core::Device::simulator();
/// let stream = device.stream()?;
/// let keys = device.upload(&[3i8, 1, 2, 0, -5, 4])?;
/// let (mut first, mut indices) = (device.alloc(4)?, device.alloc(4)?);
/// let mut scratch = Scratch::new(&stream);
/// top_k_rows_into(&stream, &keys, 3, 2, TopK::smallest(), &mut first, &mut indices, &mut scratch)?;
/// assert_eq!((first.to_vec()?, indices.to_vec()?), (vec![1, 2, -5, 0], vec![1, 2, 1, 0]));
/// # Ok::<(), gpu_sort::Error>(())
/// ```
#[expect(clippy::too_many_arguments, reason = "an input, two outputs")]
pub fn top_k_rows_into<'a, 'b, 'c, K: SortKey>(
    stream: &Stream,
    keys: impl Into<View<'a, K>>,
    row: usize,
    k: usize,
    options: TopK,
    keys_output: impl Into<ViewMut<'b, K>>,
    indices: impl Into<ViewMut<'c, u32>>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let rows = Segments::of_length(row)?;
    top_k_segments_into(stream, keys, rows, k, options, keys_output, indices, scratch)
}

/// The `k` first keys of each segment, in order, segment by segment, and where in its segment each is; see [`top_k`].
///
/// # Errors
/// [`Error::K`] where there are segments and `k` is 0 or more than the shortest has;
/// [`Invalid::Rows`](gpu_core::segments::Invalid::Rows),
/// [`Invalid::BeyondEnd`](gpu_core::segments::Invalid::BeyondEnd),
/// [`Invalid::Uncovered`](gpu_core::segments::Invalid::Uncovered),
/// [`Invalid::SegmentsBy`](gpu_core::segments::Invalid::SegmentsBy) as in [`segmented_sort`](crate::segmented_sort);
/// [`Error::TooLong`]; those of the device.
///
/// ```
/// use gpu_sort::{Offsets, TopK, top_k_segments};
/// let offsets = Offsets::new(&gpu_core::Device::cpu(), &[0, 2, 5])?;
/// let (keys, indices) = top_k_segments(&[3, 4, 7, 9, 8], &offsets, 1, TopK::largest())?;
/// assert_eq!((keys.to_vec()?, indices.to_vec()?), (vec![4, 9], vec![1, 1]));
/// # Ok::<(), gpu_sort::Error>(())
/// ```
pub fn top_k_segments<'a, 's, K: SortKey>(
    keys: impl Into<View<'a, K>>,
    segments: impl Into<Segments<'s>>,
    k: usize,
    options: TopK,
) -> Result<(Buffer<K>, Buffer<u32>), Error> {
    let segments = segments.into();
    let keys = keys.into();
    let cut = cut(&keys.device().default_stream(), keys.len(), segments, k)?;
    allocated(keys.device(), cut.count * k, |stream, keys_output, indices, scratch| {
        top_k_segments_into(stream, keys, segments, k, options, keys_output, indices, scratch)
    })
}

/// Writes the `k` first keys of each segment and where in its segment each is, on `stream`; see [`top_k_segments`]. As
/// [`top_k_into`] otherwise.
///
/// # Errors
/// Those of [`top_k_segments`] and [`top_k_into`].
///
/// ```
/// use gpu_sort::{Scratch, Segments, TopK, top_k_segments_into};
/// let device = gpu_core::Device::simulator();
/// let (stream, rows, largest) = (device.stream()?, Segments::of_length(2)?, TopK::largest());
/// let keys = device.upload(&[3, 4, 9, 8])?;
/// let (mut first, mut indices) = (device.alloc(2)?, device.alloc(2)?);
/// let mut scratch = Scratch::new(&stream);
/// top_k_segments_into(&stream, &keys, rows, 1, largest, &mut first, &mut indices, &mut scratch)?;
/// assert_eq!((first.to_vec()?, indices.to_vec()?), (vec![4, 9], vec![1, 0]));
/// # Ok::<(), gpu_sort::Error>(())
/// ```
#[expect(clippy::too_many_arguments, reason = "an input, two outputs")]
pub fn top_k_segments_into<'a, 's, 'b, 'c, K: SortKey>(
    stream: &Stream,
    keys: impl Into<View<'a, K>>,
    segments: impl Into<Segments<'s>>,
    k: usize,
    options: TopK,
    keys_output: impl Into<ViewMut<'b, K>>,
    indices: impl Into<ViewMut<'c, u32>>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let segments = segments.into();
    let moved = Moved::<u32>::Indices(indices.into());
    run(stream, keys.into(), segments, k, options, keys_output.into(), moved, scratch)
}

/// The `k` first keys of each segment in order and the values that go with them, of any width; see [`top_k_segments`].
///
/// # Errors
/// Those of [`top_k_segments`], [`Error::InputLengths`] where there are not as many values as keys.
///
/// ```
/// use gpu_sort::{Segments, TopK, top_k_pairs};
/// let rows = Segments::of_length(2)?;
/// let (keys, values) = top_k_pairs(&[3, 4, 9, 8], &[30u8, 40, 90, 80], rows, 1, TopK::largest())?;
/// assert_eq!((keys.to_vec()?, values.to_vec()?), (vec![4, 9], vec![40, 90]));
/// # Ok::<(), gpu_sort::Error>(())
/// ```
pub fn top_k_pairs<'a, 's, 'b, K: SortKey, V: Element>(
    keys: impl Into<View<'a, K>>,
    values: impl Into<View<'b, V>>,
    segments: impl Into<Segments<'s>>,
    k: usize,
    options: TopK,
) -> Result<(Buffer<K>, Buffer<V>), Error> {
    let segments = segments.into();
    let (keys, values) = (keys.into(), values.into());
    checks::inputs(NAME, keys.len(), values.len())?;
    let cut = cut(&keys.device().default_stream(), keys.len(), segments, k)?;
    allocated(keys.device(), cut.count * k, |stream, keys_output, values_output, scratch| {
        top_k_pairs_into(stream, keys, values, segments, k, options, keys_output, values_output, scratch)
    })
}

/// Writes the `k` first keys of each segment and the values that go with them, on `stream`; see [`top_k_pairs`]. As
/// [`top_k_into`] otherwise.
///
/// # Errors
/// Those of [`top_k_pairs`] and [`top_k_into`].
///
/// ```
/// use gpu_sort::{Scratch, Segments, TopK, top_k_pairs_into};
/// let device = gpu_core::Device::simulator();
/// let (stream, rows, largest) = (device.stream()?, Segments::of_length(2)?, TopK::largest());
/// let (keys, values) = (device.upload(&[3, 4])?, device.upload(&[30u8, 40])?);
/// let (mut first, mut moved) = (device.alloc(1)?, device.alloc(1)?);
/// let mut scratch = Scratch::new(&stream);
/// top_k_pairs_into(&stream, &keys, &values, rows, 1, largest, &mut first, &mut moved, &mut scratch)?;
/// assert_eq!((first.to_vec()?, moved.to_vec()?), (vec![4], vec![40]));
/// # Ok::<(), gpu_sort::Error>(())
/// ```
#[expect(clippy::too_many_arguments, reason = "two inputs, two outputs")]
pub fn top_k_pairs_into<'a, 's, 'b, 'c, 'd, K: SortKey, V: Element>(
    stream: &Stream,
    keys: impl Into<View<'a, K>>,
    values: impl Into<View<'b, V>>,
    segments: impl Into<Segments<'s>>,
    k: usize,
    options: TopK,
    keys_output: impl Into<ViewMut<'c, K>>,
    values_output: impl Into<ViewMut<'d, V>>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let segments = segments.into();
    let moved = Moved::Of(values.into(), values_output.into());
    run(stream, keys.into(), segments, k, options, keys_output.into(), moved, scratch)
}

#[expect(clippy::too_many_arguments, reason = "those of the function")]
fn run<K: SortKey, V: Element>(
    stream: &Stream,
    keys: View<'_, K>,
    segments: Segments<'_>,
    k: usize,
    options: TopK,
    mut output: ViewMut<'_, K>,
    mut moved: Moved<'_, '_, V>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let len = keys.len();
    let cut = Cut::new(segments, stream, NAME, len)?;
    let multiprocessors = stream.device().planned_multiprocessors();
    let plan = planned::<K>(len, cut, k, options, moved.payload(), multiprocessors)?;
    let size = plan.scratch::<K>()?;
    expect_outputs(NAME, len, cut.count * k, &output, &moved)?;
    scratch.expect(stream, NAME, size)?;
    expect_devices(stream, &keys, &output, &moved)?;
    if cut.count == 0 {
        return Ok(());
    }
    if let (Some(keys), Some(output)) = (keys.as_slice(), output.as_mut_slice()) {
        let ranges = cut.ranges(segments);
        let order = if plan.is_of_all() {
            vec![(0..k as u32).collect(); ranges.len()]
        } else {
            reference::sort(keys, &ranges, options.sorting::<K>(), k)
        };
        write(keys, &ranges, &order, output, &mut moved);
        return Ok(());
    }
    scratch
        .lend(NAME, size, |parts| launch::top_k(stream, &plan, segments, options, keys, output, moved, parts))
}

/// The segments, if all of them have `k` keys.
fn cut(stream: &Stream, len: usize, segments: Segments<'_>, k: usize) -> Result<Cut, Error> {
    let cut = Cut::new(segments, stream, NAME, len)?;
    if cut.count > 0 {
        expect_k(k, cut.shortest)?;
    }
    Ok(cut)
}

/// How the first `k` of each segment are selected on so many multiprocessors.
pub(crate) fn planned<K: SortKey>(
    len: usize,
    cut: Cut,
    k: usize,
    options: TopK,
    payload: u32,
    multiprocessors: u32,
) -> Result<TopKPlan, Error> {
    if cut.count > 0 {
        expect_k(k, cut.shortest)?;
    }
    TopKPlan::new::<K>(len, cut, k.max(1), options, payload, multiprocessors)
}

/// Whether there are `k` of `len` keys.
pub(crate) fn expect_k(k: usize, len: usize) -> Result<(), Error> {
    if k == 0 || k > len { Err(Error::K { what: NAME, k, most: len }) } else { Ok(()) }
}
