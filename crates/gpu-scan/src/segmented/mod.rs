//! Scans of segments: validate, plan, launch.

pub(crate) mod reference;
pub(crate) mod starts;

use gpu_core::{Buffer, Scratch, Segments, Stream, View, ViewMut};
use gpu_scan_kernels::Scan;

use crate::api::expect;
use crate::instance::Segmented;
use crate::launch::{self, Memory};
use crate::options::Options;
use crate::plan::Plan;
use crate::scratch::with_tiles;
use gpu_core::Error;

/// The scan of each segment of an array with the operator `S`, computed where `input` lives, in a buffer of its own.
///
/// Every segment starts anew, with the options' initial value. There is a result for each element: those before the
/// first offset are a segment too, so are those after the last one, and the last segment of one length may be shorter.
/// The results are the same bits on every device; they depend on where in the array a segment lies, as that decides
/// upon the order of combination (see the [crate documentation](crate)). Allocates the result and scratch memory;
/// [`scan_segments_into`] does not.
///
/// # Errors
/// [`Error::InputLengths`], [`Invalid::BeyondEnd`](gpu_core::segments::Invalid::BeyondEnd), [`Error::TooLong`]; those
/// of the device where array and segments are on different devices, where the device's memory does not suffice, or
/// where it failed.
///
/// ```
/// use gpu_scan::{Options, Segments, kernels::Sum, scan_segments};
/// let device = gpu_core::Device::best();
/// let (values, keys) = (device.upload(&[1.0f32; 6])?, device.upload(&[3u8, 3, 3, 8, 8, 3])?);
/// let ranks = scan_segments::<Sum<f32>>(&values, &Segments::by_key(&keys), Options::exclusive())?;
/// assert_eq!(ranks.to_vec()?, [0.0, 1.0, 2.0, 0.0, 1.0, 0.0]);
/// # Ok::<(), gpu_scan::Error>(())
/// ```
///
/// In a wider type, so that nothing wraps:
///
/// ```
/// use gpu_scan::{Options, Segments, kernels::WideSum, scan_segments};
/// let bytes = gpu_core::Device::best().upload(&[200u8, 100, 255, 255])?;
/// let sums = scan_segments::<WideSum<u8>>(&bytes, &Segments::of_length(2)?, Options::inclusive())?;
/// assert_eq!(sums.to_vec()?, [200, 300, 255, 510]);
/// # Ok::<(), gpu_scan::Error>(())
/// ```
pub fn scan_segments<'a, 's, S: Segmented>(
    input: impl Into<View<'a, S::Item>>,
    segments: impl Into<Segments<'s>>,
    options: Options<S::Output>,
) -> Result<Buffer<S::Output>, Error> {
    let (input, segments) = (input.into(), segments.into());
    segments.expect(&input.device().default_stream(), S::NAME, input.len())?;
    Scratch::computed(input.device(), input.len(), |stream, output, scratch| {
        scan_segments_into::<S>(stream, input, segments, options, output, scratch)
    })
}

/// Writes the scan of each segment of an array with the operator `S` to `output`, on `stream`; see [`scan_segments`].
///
/// Neither allocates nor waits; for its memory see
/// [`scan_into`](crate::scan_into). The scratch memory is that of
/// [`scan_segments_scratch`](crate::scan_segments_scratch).
///
/// # Errors
/// Those of [`scan_segments`], [`Error::OutputLength`], [`Error::ScratchTooSmall`], [`Error::ScratchOfOtherStream`].
/// Nothing is written then.
///
/// ```
/// use gpu_scan::{Options, Scratch, Segments, kernels::Max, scan_segments_into};
/// let device = gpu_core::Device::simulator();
/// let stream = device.stream()?;
/// let matrix = device.upload(&[1u32, 5, 2, 7, 3, 8])?;
/// let mut highest = device.zeroed(6)?;
/// let mut scratch = Scratch::new(&stream);
/// let rows = Segments::of_length(3)?;
/// scan_segments_into::<Max<u32>>(&stream, &matrix, &rows, Options::inclusive(), &mut highest, &mut scratch)?;
/// stream.synchronize()?;
/// assert_eq!(highest.to_vec()?, [1, 5, 5, 7, 7, 8]);
/// # Ok::<(), gpu_scan::Error>(())
/// ```
pub fn scan_segments_into<'a, 's, 'b, S: Segmented>(
    stream: &Stream,
    input: impl Into<View<'a, S::Item>>,
    segments: impl Into<Segments<'s>>,
    options: Options<S::Output>,
    output: impl Into<ViewMut<'b, S::Output>>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let (input, segments, mut output) = (input.into(), segments.into(), output.into());
    let len = input.len();
    expect::<S>(stream, input, &output)?;
    let plan = checked::<S>(stream, segments, len, scratch)?;
    if len == 0 {
        return Ok(());
    }
    if let (Some(input), Some(output)) = (input.as_slice(), output.as_mut_slice()) {
        return reference::scan_segments::<S>(input, segments, &options, output);
    }
    launch::scan_segments::<S>(stream, Memory::apart(input, output), segments, &options, plan, scratch)
}

/// Replaces each segment of `data` by its scan with the operator `S`, whose results have the elements' type, on
/// `stream`; see [`scan_segments_into`]. On the CPU the data are copied first.
///
/// # Errors
/// Those of [`scan_segments_into`]; `data` is as it was then.
///
/// ```
/// use gpu_scan::{Options, Scratch, Segments, kernels::Product, scan_segments_in_place};
/// let device = gpu_core::Device::simulator();
/// let stream = device.stream()?;
/// let (mut data, flags) = (device.upload(&[2u8, 3, 4, 5])?, device.upload(&[1u8, 0, 1, 0])?);
/// let mut scratch = Scratch::new(&stream);
/// let segments = Segments::by_flags(&flags);
/// scan_segments_in_place::<Product<u8>>(&stream, &mut data, &segments, Options::inclusive(), &mut scratch)?;
/// stream.synchronize()?;
/// assert_eq!(data.to_vec()?, [2, 6, 4, 20]);
/// # Ok::<(), gpu_scan::Error>(())
/// ```
pub fn scan_segments_in_place<'a, 's, S: Segmented<Output = <S as Scan>::Item>>(
    stream: &Stream,
    data: impl Into<ViewMut<'a, S::Output>>,
    segments: impl Into<Segments<'s>>,
    options: Options<S::Output>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let (mut data, segments) = (data.into(), segments.into());
    let plan = checked::<S>(stream, segments, data.len(), scratch)?;
    stream.expect("data of a scan", data.device())?;
    if data.is_empty() {
        return Ok(());
    }
    if let Some(data) = data.as_mut_slice() {
        let input = data.to_vec();
        return reference::scan_segments::<S>(&input, segments, &options, data);
    }
    launch::scan_segments::<S>(stream, Memory::in_place(data), segments, &options, plan, scratch)
}

/// The plan, if the segments are those of `len` elements on the stream's device and the scratch memory suffices.
pub(crate) fn checked<S: Scan>(
    stream: &Stream,
    segments: Segments<'_>,
    len: usize,
    scratch: &Scratch,
) -> Result<Plan, Error> {
    segments.expect(stream, S::NAME, len)?;
    let plan = Plan::of_segments::<S>(len).if_countable(len)?;
    scratch.expect(stream, S::NAME, with_tiles(plan.scratch_words()))?;
    Ok(plan)
}
