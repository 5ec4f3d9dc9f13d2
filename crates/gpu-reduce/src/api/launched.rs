//! What functions of this crate launch, without what they do on the CPU.
//!
//! The latter is generic in the reduction and would be compiled for each, which a program that runs all of them in the
//! simulator is spared. These check what the others check, and enqueue the same launches; memory of the CPU is
//! [`Error::Unsupported`](gpu_core::Error::Unsupported).

use gpu_core::{Error, Scratch, Segments, Stream, ViewMut};

use super::{axis, segments as places};
use crate::instance::{AlongColumns, Instance, Segmented};
use crate::launch;
use crate::operand::Operand;

/// As [`reduce_into`](crate::reduce_into).
///
/// # Errors
/// Those of [`reduce_into`](crate::reduce_into).
///
/// ```
/// use gpu_reduce::{Scratch, kernels::Max, launched};
/// let device = gpu_core::Device::simulator();
/// let stream = device.default_stream();
/// let (input, mut output) = (device.upload(&[3, -5, 8])?, device.zeroed(1)?);
/// launched::reduce::<Max<i32>>(&stream, &input.view(), output.view_mut(), &mut Scratch::new(&stream))?;
/// assert_eq!(output.to_vec()?, [8]);
/// # Ok::<(), gpu_reduce::Error>(())
/// ```
#[doc(hidden)]
pub fn reduce<R: Instance>(
    stream: &Stream,
    input: &<R::Item as Operand>::Views<'_>,
    output: ViewMut<'_, R::Output>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let (len, plan) = super::checked::<R>(stream, input, &output, scratch)?;
    launch::reduce::<R>(stream, input, len, plan, output, scratch)
}

/// As [`reduce_segments_into`](crate::reduce_segments_into).
///
/// # Errors
/// Those of [`reduce_segments_into`](crate::reduce_segments_into).
///
/// ```
/// use gpu_reduce::{Scratch, Segments, kernels::Max, launched};
/// let device = gpu_core::Device::simulator();
/// let stream = device.default_stream();
/// let (input, mut output) = (device.upload(&[3, -5, 8, 4])?, device.zeroed(2)?);
/// let (rows, scratch) = (Segments::of_length(2)?, &mut Scratch::new(&stream));
/// launched::reduce_segments::<Max<i32>>(&stream, &input.view(), rows, output.view_mut(), scratch)?;
/// assert_eq!(output.to_vec()?, [3, 8]);
/// # Ok::<(), gpu_reduce::Error>(())
/// ```
#[doc(hidden)]
pub fn reduce_segments<R: Segmented>(
    stream: &Stream,
    input: &<R::Item as Operand>::Views<'_>,
    segments: Segments<'_>,
    output: ViewMut<'_, R::Output>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let (len, segments) = places::checked::<R>(input, segments)?;
    places::expect_outputs::<R>(segments.count, output.len())?;
    places::expect::<R>(stream, input, len, &segments, &output, scratch)?;
    if segments.count == 0 {
        return Ok(());
    }
    launch::reduce_segments::<R>(stream, input, len, &segments, output, scratch)
}

/// As [`reduce_axis_into`](crate::reduce_axis_into) along the first of two axes.
///
/// # Errors
/// Those of [`reduce_axis_into`](crate::reduce_axis_into).
///
/// ```
/// use gpu_reduce::{Scratch, kernels::Max, launched};
/// let device = gpu_core::Device::simulator();
/// let stream = device.default_stream();
/// let (input, mut output) = (device.upload(&[3, -5, 8, 4])?, device.zeroed(2)?);
/// let scratch = &mut Scratch::new(&stream);
/// launched::reduce_columns::<Max<i32>>(&stream, &input.view(), [2, 2], output.view_mut(), scratch)?;
/// assert_eq!(output.to_vec()?, [8, 4]);
/// # Ok::<(), gpu_reduce::Error>(())
/// ```
#[doc(hidden)]
pub fn reduce_columns<R: Segmented + AlongColumns>(
    stream: &Stream,
    input: &<R::Item as Operand>::Views<'_>,
    shape: [usize; 2],
    output: ViewMut<'_, R::Output>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let along = axis::checked::<R>(input, &shape, 0)?;
    places::expect_outputs::<R>(along.results(), output.len())?;
    axis::expect::<R>(stream, input, along, &output, scratch)?;
    match along.rows() {
        _ if along.results() == 0 => Ok(()),
        Some(rows) => {
            let rows = rows?;
            crate::plan::check_len(rows.end)?;
            places::expect::<R>(stream, input, rows.end, &rows, &output, scratch)?;
            launch::reduce_segments::<R>(stream, input, rows.end, &rows, output, scratch)
        }
        None => launch::reduce_columns::<R>(stream, input, along, output, scratch),
    }
}
