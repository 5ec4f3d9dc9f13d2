//! What functions of this crate launch, without what they do on the CPU.
//!
//! The latter is generic in the operator and would be compiled for each, which a program that runs all of them in the
//! simulator is spared. These check what the others check, and enqueue the same launches; memory of the CPU is
//! [`Error::Unsupported`](gpu_core::Error::Unsupported).

use gpu_core::{Error, Scratch, Segments, Stream, View, ViewMut};

use super::expect;
use crate::axis::{Along, scratch_words};
use crate::instance::{AlongColumns, Instance, Segmented};
use crate::launch::{self, Memory};
use crate::options::Options;
use crate::scratch::with_tiles;
use crate::segmented;

/// As [`scan_into`](crate::scan_into).
///
/// # Errors
/// Those of [`scan_into`](crate::scan_into).
///
/// ```
/// use gpu_scan::{Options, Scratch, kernels::Max, launched};
/// let device = gpu_core::Device::simulator();
/// let stream = device.default_stream();
/// let (input, mut output) = (device.upload(&[3, -5, 8])?, device.zeroed(3)?);
/// let (options, scratch) = (Options::inclusive(), &mut Scratch::new(&stream));
/// launched::scan::<Max<i32>>(&stream, input.view(), options, output.view_mut(), scratch)?;
/// assert_eq!(output.to_vec()?, [3, 3, 8]);
/// # Ok::<(), gpu_scan::Error>(())
/// ```
#[doc(hidden)]
pub fn scan<S: Instance>(
    stream: &Stream,
    input: View<'_, S::Item>,
    options: Options<S::Output>,
    output: ViewMut<'_, S::Output>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    expect::<S>(stream, input, &output)?;
    let plan = super::prepare::<S>(stream, input.len(), scratch)?;
    if input.is_empty() {
        return Ok(());
    }
    launch::scan::<S>(stream, Memory::apart(input, output), &options, plan, scratch)
}

/// As [`scan_segments_into`](crate::scan_segments_into).
///
/// # Errors
/// Those of [`scan_segments_into`](crate::scan_segments_into).
///
/// ```
/// use gpu_scan::{Options, Scratch, Segments, kernels::Max, launched};
/// let device = gpu_core::Device::simulator();
/// let stream = device.default_stream();
/// let (input, mut output) = (device.upload(&[3, -5, 2, 8])?, device.zeroed(4)?);
/// let (rows, options) = (Segments::of_length(2)?, Options::inclusive());
/// let scratch = &mut Scratch::new(&stream);
/// launched::scan_segments::<Max<i32>>(&stream, input.view(), rows, options, output.view_mut(), scratch)?;
/// assert_eq!(output.to_vec()?, [3, 3, 2, 8]);
/// # Ok::<(), gpu_scan::Error>(())
/// ```
#[doc(hidden)]
pub fn scan_segments<S: Segmented>(
    stream: &Stream,
    input: View<'_, S::Item>,
    segments: Segments<'_>,
    options: Options<S::Output>,
    output: ViewMut<'_, S::Output>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    expect::<S>(stream, input, &output)?;
    let plan = segmented::checked::<S>(stream, segments, input.len(), scratch)?;
    if input.is_empty() {
        return Ok(());
    }
    launch::scan_segments::<S>(stream, Memory::apart(input, output), segments, &options, plan, scratch)
}

/// As [`scan_axis_into`](crate::scan_axis_into) along the first of two axes.
///
/// # Errors
/// Those of [`scan_axis_into`](crate::scan_axis_into).
///
/// ```
/// use gpu_scan::{Options, Scratch, kernels::Max, launched};
/// let device = gpu_core::Device::simulator();
/// let stream = device.default_stream();
/// let (input, mut output) = (device.upload(&[3, 8, 7, -5])?, device.zeroed(4)?);
/// let (options, scratch) = (Options::inclusive(), &mut Scratch::new(&stream));
/// launched::scan_columns::<Max<i32>>(&stream, input.view(), [2, 2], options, output.view_mut(), scratch)?;
/// assert_eq!(output.to_vec()?, [3, 8, 7, 8]);
/// # Ok::<(), gpu_scan::Error>(())
/// ```
#[doc(hidden)]
pub fn scan_columns<S: Segmented + AlongColumns>(
    stream: &Stream,
    input: View<'_, S::Item>,
    shape: [usize; 2],
    options: Options<S::Output>,
    output: ViewMut<'_, S::Output>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    if shape[1] == 1 {
        let rows = Segments::of_length(shape[0])?;
        return scan_segments::<S>(stream, input, rows, options, output, scratch);
    }
    let lines = Along::new(&shape, 0, input.len())?.lines::<S>()?;
    expect::<S>(stream, input, &output)?;
    scratch.expect(stream, S::NAME, with_tiles(scratch_words::<S>(lines)))?;
    if input.is_empty() {
        return Ok(());
    }
    launch::scan_columns::<S>(stream, Memory::apart(input, output), lines, &options, scratch)
}
