//! Reductions of segments.

use gpu_core::segments::Invalid;
use gpu_core::{Buffer, Scratch, Segments, Stream, ViewMut, checks};
use gpu_reduce_kernels::Reduction;

use super::expect_inputs;
use crate::instance::Segmented;
use crate::launch;
use crate::operand::Operand;
use crate::plan::segments_scratch_words;
use crate::reference;
use crate::scratch::with_partials;
use crate::segments::Places;
use gpu_core::Error;

/// The reduction `R` of each segment of an array, computed where it lives: [`Reduction::OUTPUTS`] elements a segment,
/// one segment after the other.
///
/// A segment's result has the bits that [`reduce`](crate::reduce()) of that segment alone gives, whatever the others
/// are. Elements before the first offset and after the last one belong to no segment; rows are of all elements.
///
/// Enqueued on the device's default stream. Allocates the output and scratch memory, which [`reduce_segments_into`]
/// does not.
///
/// # Errors
/// [`Invalid::BeyondEnd`], [`Invalid::Rows`], [`Invalid::SegmentsBy`] for flags and keys, [`Invalid::EmptySegment`],
/// [`Error::InputLengths`], [`Error::TooLong`]; those of the device where arrays and offsets are on different devices,
/// where the device's memory does not suffice, or where it failed.
///
/// ```
/// use gpu_reduce::{Offsets, kernels::MinMax, reduce_segments};
/// let device = gpu_core::Device::simulator();
/// let values = device.upload(&[3, -5, 8, 1, 9])?;
/// let offsets = Offsets::new(&device, &[0, 3, 5])?;
/// assert_eq!(reduce_segments::<MinMax<i32>>(&values, &offsets)?.to_vec()?, [-5, 8, 1, 9]);
/// # Ok::<(), gpu_reduce::Error>(())
/// ```
pub fn reduce_segments<'a, 's, R: Segmented>(
    input: impl Into<<R::Item as Operand>::Views<'a>>,
    segments: impl Into<Segments<'s>>,
) -> Result<Buffer<R::Output>, Error> {
    let input = input.into();
    let (len, segments) = checked::<R>(&input, segments.into())?;
    let [device, _] = R::Item::devices(&input);
    Scratch::computed(device, segments.count * R::OUTPUTS as usize, |stream, output, scratch| {
        enqueue::<R>(stream, &input, len, &segments, output.view_mut(), scratch)
    })
}

/// Writes the reduction `R` of each segment to `output`, on `stream`; see [`reduce_segments`].
///
/// Neither allocates nor waits; for its memory see
/// [`reduce_into`](crate::reduce_into), for the scratch memory
/// [`reduce_segments_scratch`](crate::reduce_segments_scratch).
///
/// # Errors
/// Those of [`reduce_segments`], [`Error::OutputLength`], [`Error::ScratchTooSmall`],
/// [`Error::ScratchOfOtherStream`]. Nothing is written then.
///
/// ```
/// use gpu_reduce::{Scratch, Segments, kernels::Sum, reduce_segments_into};
/// let device = gpu_core::Device::best();
/// let stream = device.stream()?;
/// let values = device.upload(&[1.0f32; 1000])?;
/// let rows = Segments::of_length(100)?;
/// let mut scratch = Scratch::new(&stream);
/// let mut sums = device.zeroed(10)?;
/// reduce_segments_into::<Sum<f32>>(&stream, &values, rows, &mut sums, &mut scratch)?;
/// stream.synchronize()?;
/// assert_eq!(sums.to_vec()?, [100.0; 10]);
/// # Ok::<(), gpu_reduce::Error>(())
/// ```
pub fn reduce_segments_into<'a, 's, 'b, R: Segmented>(
    stream: &Stream,
    input: impl Into<<R::Item as Operand>::Views<'a>>,
    segments: impl Into<Segments<'s>>,
    output: impl Into<ViewMut<'b, R::Output>>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let input = input.into();
    let output = output.into();
    let (len, segments) = checked::<R>(&input, segments.into())?;
    expect_outputs::<R>(segments.count, output.len())?;
    enqueue::<R>(stream, &input, len, &segments, output, scratch)
}

/// Whether the output has the results of so many segments.
pub(super) fn expect_outputs<R: Reduction>(segments: usize, actual: usize) -> Result<(), Error> {
    checks::output(R::NAME, segments * R::OUTPUTS as usize, actual)
}

/// Elements of the input and where its segments are, if they are its and have results.
pub(super) fn checked<'s, R: Reduction<Item: Operand>>(
    input: &<R::Item as Operand>::Views<'_>,
    segments: Segments<'s>,
) -> Result<(usize, Places<'s>), Error> {
    let len = R::Item::len(input, R::NAME)?;
    let places = Places::new(segments, R::NAME, len)?;
    match places.first_empty {
        Some(segment) if R::EMPTY.is_none() => Err(Invalid::EmptySegment { what: R::NAME, segment }.into()),
        _ => crate::plan::check_len(len).map(|()| (len, places)),
    }
}

/// Enqueues a reduction of rows of the input, which has their elements; everything else is checked here.
pub(super) fn rows_into<R: Segmented>(
    stream: &Stream,
    input: &<R::Item as Operand>::Views<'_>,
    rows: &Places<'_>,
    output: ViewMut<'_, R::Output>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    crate::plan::check_len(rows.end)?;
    enqueue::<R>(stream, input, rows.end, rows, output, scratch)
}

fn enqueue<R: Segmented>(
    stream: &Stream,
    input: &<R::Item as Operand>::Views<'_>,
    len: usize,
    segments: &Places<'_>,
    mut output: ViewMut<'_, R::Output>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    expect::<R>(stream, input, len, segments, &output, scratch)?;
    if let (Some(slices), Some(output)) = (R::Item::slices(input), output.as_mut_slice()) {
        return reference::reduce_segments::<R, _>(slices, &segments.to_vec()?, output);
    }
    if segments.count == 0 {
        return Ok(());
    }
    launch::reduce_segments::<R>(stream, input, len, segments, output, scratch)
}

/// Whether all that a launch needs is there and on the stream's device.
pub(super) fn expect<R: Segmented>(
    stream: &Stream,
    input: &<R::Item as Operand>::Views<'_>,
    len: usize,
    segments: &Places<'_>,
    output: &ViewMut<'_, R::Output>,
    scratch: &Scratch,
) -> Result<(), Error> {
    scratch.expect(stream, R::NAME, with_partials(segments_scratch_words::<R>(len)))?;
    expect_inputs::<R>(stream, input)?;
    if let Some(offsets) = segments.offsets {
        stream.expect("offsets of segments", offsets.device())?;
    }
    stream.expect("output of a reduction", output.device())
}
