//! Reductions along an axis.

use gpu_core::{Buffer, Scratch, Stream, ViewMut};
use gpu_reduce_kernels::Reduction;

use super::expect_inputs;
use super::segments::{expect_outputs, rows_into};
use crate::axis::Along;
use crate::instance::AlongColumns;
use crate::instance::Segmented;
use crate::launch;
use crate::operand::Operand;
use crate::reference;
use crate::scratch::with_partials;
use gpu_core::Error;

/// The reduction `R` along `axis` of a row-major array of `shape`, computed where it lives: the array without that
/// axis, [`Reduction::OUTPUTS`] elements for each of its elements. Where an index is asked for, it is that along the
/// axis.
///
/// Along the last axis each result has the bits that [`reduce`](crate::reduce()) of that row alone gives. Along
/// another one the order is a function of the axis's extent alone (see the [crate documentation](crate)).
///
/// Enqueued on the device's default stream. Allocates the output and scratch memory, which [`reduce_axis_into`] does
/// not.
///
/// # Errors
/// [`Error::Axis`], [`Error::ShapeLength`], [`Error::Empty`] where the axis has no elements and there is no result of
/// none, [`Error::TooLong`], [`Invalid::TooManySegments`](gpu_core::segments::Invalid::TooManySegments); those of the
/// device where the device's memory does not suffice, or where it failed.
///
/// ```
/// use gpu_reduce::{kernels::ArgMax, reduce_axis};
/// let device = gpu_core::Device::simulator();
/// let matrix = device.upload(&[3, -5, 8, 4, 9, 1])?;
/// assert_eq!(reduce_axis::<ArgMax<i32>>(&matrix, &[2, 3], 0)?.to_vec()?, [1, 1, 0]);
/// assert_eq!(reduce_axis::<ArgMax<i32>>(&matrix, &[2, 3], 1)?.to_vec()?, [2, 1]);
/// # Ok::<(), gpu_reduce::Error>(())
/// ```
pub fn reduce_axis<'a, R: Segmented + AlongColumns>(
    input: impl Into<<R::Item as Operand>::Views<'a>>,
    shape: &[usize],
    axis: usize,
) -> Result<Buffer<R::Output>, Error> {
    let input = input.into();
    let along = checked::<R>(&input, shape, axis)?;
    let [device, _] = R::Item::devices(&input);
    Scratch::computed(device, along.results() * R::OUTPUTS as usize, |stream, output, scratch| {
        enqueue::<R>(stream, input, along, output.view_mut(), scratch)
    })
}

/// Writes the reduction `R` along `axis` of a row-major array of `shape` to `output`, on `stream`; see [`reduce_axis`].
///
/// Neither allocates nor waits; for its memory see
/// [`reduce_into`](crate::reduce_into), for the scratch memory [`reduce_axis_scratch`](crate::reduce_axis_scratch).
///
/// # Errors
/// Those of [`reduce_axis`], [`Error::OutputLength`], [`Error::ScratchTooSmall`], [`Error::ScratchOfOtherStream`].
/// Nothing is written then.
///
/// ```
/// use gpu_reduce::{Scratch, kernels::Sum, reduce_axis_into};
/// let device = gpu_core::Device::best();
/// let stream = device.stream()?;
/// let matrix = device.upload(&[1.0f32; 600])?;
/// let mut scratch = Scratch::new(&stream);
/// let mut sums = device.zeroed(3)?;
/// reduce_axis_into::<Sum<f32>>(&stream, &matrix, &[200, 3], 0, &mut sums, &mut scratch)?;
/// stream.synchronize()?;
/// assert_eq!(sums.to_vec()?, [200.0; 3]);
/// # Ok::<(), gpu_reduce::Error>(())
/// ```
pub fn reduce_axis_into<'a, 'b, R: Segmented + AlongColumns>(
    stream: &Stream,
    input: impl Into<<R::Item as Operand>::Views<'a>>,
    shape: &[usize],
    axis: usize,
    output: impl Into<ViewMut<'b, R::Output>>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let input = input.into();
    let output = output.into();
    let along = checked::<R>(&input, shape, axis)?;
    expect_outputs::<R>(along.results(), output.len())?;
    enqueue::<R>(stream, input, along, output, scratch)
}

pub(super) fn checked<R: Reduction<Item: Operand>>(
    input: &<R::Item as Operand>::Views<'_>,
    shape: &[usize],
    axis: usize,
) -> Result<Along, Error> {
    let along = Along::new::<R>(shape, axis)?;
    let (expected, actual) = (along.elements(), R::Item::len(input, R::NAME)?);
    if actual == expected { Ok(along) } else { Err(Error::ShapeLength { what: R::NAME, expected, actual }) }
}

fn enqueue<R: Segmented + AlongColumns>(
    stream: &Stream,
    input: <R::Item as Operand>::Views<'_>,
    along: Along,
    mut output: ViewMut<'_, R::Output>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    expect::<R>(stream, &input, along, &output, scratch)?;
    if let (Some(slices), Some(output)) = (R::Item::slices(&input), output.as_mut_slice()) {
        return reference::reduce_axis::<R, _>(slices, [along.outer, along.len, along.inner], output);
    }
    if along.results() == 0 {
        return Ok(());
    }
    match along.rows() {
        Some(rows) => rows_into::<R>(stream, &input, &rows?, output, scratch),
        None => launch::reduce_columns::<R>(stream, &input, along, output, scratch),
    }
}

/// Whether all that a launch needs is there and on the stream's device.
pub(super) fn expect<R: Segmented + AlongColumns>(
    stream: &Stream,
    input: &<R::Item as Operand>::Views<'_>,
    along: Along,
    output: &ViewMut<'_, R::Output>,
    scratch: &Scratch,
) -> Result<(), Error> {
    scratch.expect(stream, R::NAME, with_partials(along.scratch_words::<R>()))?;
    expect_inputs::<R>(stream, input)?;
    stream.expect("output of a reduction", output.device())
}
