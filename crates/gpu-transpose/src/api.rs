//! Validate, plan, launch.

use gpu_core::{Buffer, Stream, View, ViewMut};

use crate::error::Error;
use crate::matrix::Matrix;
use crate::plan::Plan;
use crate::{launch, reference};

/// The transposed matrix, computed where `input` lives, in a buffer of its own with rows that follow each other.
///
/// `input` holds a matrix of shape `matrix`, row-major. The work is enqueued on the device's default stream; reading the
/// buffer waits for it.
///
/// # Errors
/// [`Error::Length`] where `input` is shorter than the matrix, [`Error::TooManyTiles`]; [`Error::Device`] where the device's
/// memory does not suffice, or where it failed.
///
/// ```
/// use gpu_transpose::{Matrix, transpose};
/// let device = gpu_core::Device::best();
/// let input = device.upload(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])?;
/// let output = transpose(&input, Matrix::new(2, 3)?)?;
/// assert_eq!(output.to_vec()?, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
/// # Ok::<(), gpu_transpose::Error>(())
/// ```
pub fn transpose<'a>(input: impl Into<View<'a, f32>>, matrix: Matrix) -> Result<Buffer<f32>, Error> {
    let input = input.into();
    let transposed = matrix.transposed(matrix.rows())?;
    check("input", matrix, input.len())?;
    let mut output = input.device().alloc(transposed.len())?;
    transpose_into(&input.device().default_stream(), input, matrix, &mut output, matrix.rows())?;
    Ok(output)
}

/// Writes the transposed matrix to `output`, on `stream`.
///
/// `input` holds a matrix of shape `matrix`, row-major; the rows of the output are `output_leading_dimension` elements
/// apart, and what lies between them stays as it was. Neither allocates nor waits.
///
/// # Errors
/// [`Error::Length`], [`Error::LeadingDimension`], [`Error::SizeOverflow`], [`Error::TooManyTiles`]; [`Error::Device`]
/// where the memory is on another device than the stream or where the launch failed. Nothing is written then.
///
/// ```
/// use gpu_transpose::{Matrix, transpose_into};
/// let device = gpu_core::Device::simulator();
/// let stream = device.stream()?;
/// let input = device.upload(&[1.0, 2.0, 3.0, 4.0])?;
/// let mut output = device.zeroed(5)?;
/// transpose_into(&stream, &input, Matrix::new(2, 2)?, &mut output, 3)?;
/// stream.synchronize()?;
/// assert_eq!(output.to_vec()?, [1.0, 3.0, 0.0, 2.0, 4.0]);
/// # Ok::<(), gpu_transpose::Error>(())
/// ```
pub fn transpose_into<'a, 'b>(
    stream: &Stream,
    input: impl Into<View<'a, f32>>,
    matrix: Matrix,
    output: impl Into<ViewMut<'b, f32>>,
    output_leading_dimension: usize,
) -> Result<(), Error> {
    let (input, mut output) = (input.into(), output.into());
    check("input", matrix, input.len())?;
    check("output", matrix.transposed(output_leading_dimension)?, output.len())?;
    let plan = Plan::new(matrix)?;
    stream.expect("input of a transposition", input.device())?;
    stream.expect("output of a transposition", output.device())?;

    if matrix.is_empty() {
        return Ok(());
    }
    if let (Some(input), Some(output)) = (input.as_slice(), output.as_mut_slice()) {
        reference::transpose(input, matrix, output, output_leading_dimension);
        return Ok(());
    }
    launch::transpose(stream, input, matrix, plan, output, output_leading_dimension)
}

fn check(what: &'static str, matrix: Matrix, actual: usize) -> Result<(), Error> {
    let expected = matrix.len();
    if actual < expected { Err(Error::Length { what, expected, actual }) } else { Ok(()) }
}
