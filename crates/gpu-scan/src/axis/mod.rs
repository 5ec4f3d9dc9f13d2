//! Scans along an axis: validate, plan, launch.

mod along;
mod reference;

pub(crate) use along::{Along, launch_config, scratch_words};

use gpu_core::{Buffer, Scratch, Segments, Stream, View, ViewMut};
use gpu_scan_kernels::Scan;

use crate::api::expect;
use crate::instance::{AlongColumns, Segmented};
use crate::launch::{Memory, scan_columns};
use crate::options::Options;
use crate::scratch::with_tiles;
use crate::segmented::{scan_segments_in_place, scan_segments_into};
use gpu_core::Error;

/// The scan of each line along `axis` of a row-major array with the operator `S`, computed where it lives, in a
/// buffer of its own: along the last axis of a matrix its rows, along the first its columns.
///
/// Every line starts with the options' initial value. The same bits on every device; rows are combined as segments of
/// one length are ([`Segments::of_length`](gpu_core::Segments::of_length)), columns as `gpu_scan_kernels::columns` says. Allocates the result and
/// scratch memory; [`scan_axis_into`] does not.
///
/// # Errors
/// [`Error::Axis`], [`Error::ShapeLength`], [`Error::TooLong`]; those of the device where the device's memory does not
/// suffice, or where it failed.
///
/// ```
/// use gpu_scan::{Options, kernels::Sum, scan_axis};
/// let device = gpu_core::Device::best();
/// let matrix = device.upload(&[1, 2, 3, 4, 5, 6])?;
/// let rows = scan_axis::<Sum<i32>>(&matrix, &[2, 3], 1, Options::inclusive())?;
/// assert_eq!(rows.to_vec()?, [1, 3, 6, 4, 9, 15]);
/// let columns = scan_axis::<Sum<i32>>(&matrix, &[2, 3], 0, Options::inclusive())?;
/// assert_eq!(columns.to_vec()?, [1, 2, 3, 5, 7, 9]);
/// # Ok::<(), gpu_scan::Error>(())
/// ```
///
/// In a wider type, so that nothing wraps: a summed-area table is such a scan along rows, then a
/// [`Sum`](crate::kernels::Sum) along columns.
///
/// ```
/// use gpu_scan::{Options, kernels::{Sum, WideSum}, scan_axis};
/// let image = gpu_core::Device::best().upload(&[200u8, 100, 50, 250])?;
/// let rows = scan_axis::<WideSum<u8>>(&image, &[2, 2], 1, Options::inclusive())?;
/// assert_eq!(rows.to_vec()?, [200, 300, 50, 300]);
/// let table = scan_axis::<Sum<u32>>(&rows, &[2, 2], 0, Options::inclusive())?;
/// assert_eq!(table.to_vec()?, [200, 300, 250, 600]);
/// # Ok::<(), gpu_scan::Error>(())
/// ```
pub fn scan_axis<'a, S: Segmented + AlongColumns>(
    input: impl Into<View<'a, S::Item>>,
    shape: &[usize],
    axis: usize,
    options: Options<S::Output>,
) -> Result<Buffer<S::Output>, Error> {
    let input = input.into();
    Along::new(shape, axis, input.len())?;
    Scratch::computed(input.device(), input.len(), |stream, output, scratch| {
        scan_axis_into::<S>(stream, input, shape, axis, options, output, scratch)
    })
}

/// Writes the scan of each line along `axis` of a row-major array with the operator `S` to `output`, on `stream`; see
/// [`scan_axis`].
///
/// Neither allocates nor waits; for its memory see
/// [`scan_into`](crate::scan_into), for the scratch memory [`scan_axis_scratch`](crate::scan_axis_scratch).
///
/// # Errors
/// Those of [`scan_axis`], [`Error::OutputLength`], [`Error::ScratchTooSmall`], [`Error::ScratchOfOtherStream`].
/// Nothing is written then.
pub fn scan_axis_into<'a, 'b, S: Segmented + AlongColumns>(
    stream: &Stream,
    input: impl Into<View<'a, S::Item>>,
    shape: &[usize],
    axis: usize,
    options: Options<S::Output>,
    output: impl Into<ViewMut<'b, S::Output>>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let (input, mut output) = (input.into(), output.into());
    let len = input.len();
    let along = Along::new(shape, axis, len)?;
    if along.inner == 1 {
        let rows = Segments::of_length(along.len)?;
        return scan_segments_into::<S>(stream, input, rows, options, output, scratch);
    }
    expect::<S>(stream, input, &output)?;
    let lines = along.lines::<S>()?;
    scratch.expect(stream, S::NAME, with_tiles(scratch_words::<S>(lines)))?;
    if len == 0 {
        return Ok(());
    }
    if let (Some(input), Some(output)) = (input.as_slice(), output.as_mut_slice()) {
        reference::scan_columns::<S>(input, along, &options, output);
        return Ok(());
    }
    scan_columns::<S>(stream, Memory::apart(input, output), lines, &options, scratch)
}

/// Replaces each line along `axis` of a row-major array by its scan with the operator `S`, whose results have the
/// elements' type, on `stream`; see [`scan_axis_into`]. On the CPU the data are copied first.
///
/// # Errors
/// Those of [`scan_axis_into`]; `data` is as it was then.
///
/// ```
/// use gpu_scan::{Options, Scratch, kernels::Max, scan_axis_in_place};
/// let device = gpu_core::Device::simulator();
/// let stream = device.stream()?;
/// let mut matrix = device.upload(&[1i8, 5, 3, 4, 2, 6])?;
/// let mut scratch = Scratch::new(&stream);
/// scan_axis_in_place::<Max<i8>>(&stream, &mut matrix, &[2, 3], 0, Options::inclusive(), &mut scratch)?;
/// stream.synchronize()?;
/// assert_eq!(matrix.to_vec()?, [1, 5, 3, 4, 5, 6]);
/// # Ok::<(), gpu_scan::Error>(())
/// ```
pub fn scan_axis_in_place<'a, S: Segmented + AlongColumns + Scan<Output = <S as Scan>::Item>>(
    stream: &Stream,
    data: impl Into<ViewMut<'a, S::Output>>,
    shape: &[usize],
    axis: usize,
    options: Options<S::Output>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let mut data = data.into();
    let len = data.len();
    let along = Along::new(shape, axis, len)?;
    if along.inner == 1 {
        let rows = Segments::of_length(along.len)?;
        return scan_segments_in_place::<S>(stream, data, rows, options, scratch);
    }
    let lines = along.lines::<S>()?;
    scratch.expect(stream, S::NAME, with_tiles(scratch_words::<S>(lines)))?;
    stream.expect("data of a scan", data.device())?;
    if len == 0 {
        return Ok(());
    }
    if let Some(data) = data.as_mut_slice() {
        let input = data.to_vec();
        reference::scan_columns::<S>(&input, along, &options, data);
        return Ok(());
    }
    scan_columns::<S>(stream, Memory::in_place(data), lines, &options, scratch)
}
