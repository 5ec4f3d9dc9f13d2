//! Validate, plan, launch.

use gpu_core::{
    Batch, BatchLayout, BatchMut, Buffer, Device, Element, Layout, Scratch, ScratchSize, Stream, View,
    ViewMut, checks,
};

use crate::axes::{Axis, of_matrices, of_permutation};
use crate::error::Error;
use crate::in_place::InPlace;
use crate::plan::Plan;
use crate::{launch, reference};

/// The transposed matrix, computed where `input` lives, in a buffer of its own, row-major without gaps; of batches one
/// matrix after the other.
///
/// The work is enqueued on the device's default stream; reading the buffer waits for it.
///
/// # Errors
/// [`Invalid::BatchOverflow`](gpu_core::matrix::Invalid::BatchOverflow), [`gpu_core::Error::TooManyBlocks`];
/// [`Error::Device`] where the device's memory does not suffice, or where it failed.
///
/// ```
/// use gpu_transpose::{Batch, BatchLayout, Layout, Matrix, transpose};
/// let device = gpu_core::Device::best();
/// let input = device.upload(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])?;
/// let output = transpose(Matrix::new(&input, Layout::row_major(2, 3)?)?)?;
/// assert_eq!(output.to_vec()?, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
/// let pairs = BatchLayout::new(Layout::row_major(1, 2)?, 3, 1)?; // each the next one's start
/// assert_eq!(transpose(Batch::new(&input, pairs)?)?.to_vec()?, [1.0, 2.0, 2.0, 3.0, 3.0, 4.0]);
/// # Ok::<(), gpu_transpose::Error>(())
/// ```
pub fn transpose<'a, T: Element>(input: impl Into<Batch<'a, T>>) -> Result<Buffer<T>, Error> {
    let input = input.into();
    let (device, BatchLayout { matrix, count, .. }) = (input.data().device(), input.layout());
    let layout = Layout::row_major(matrix.columns(), matrix.rows())?.batch(count)?;
    let mut output = device.alloc(layout.span()?)?;
    transpose_into(&device.default_stream(), input, BatchMut::new(&mut output, layout)?)?;
    Ok(output)
}

/// Writes the transposed matrix, or those of a batch, to `output`, on `stream`.
///
/// Both are row- or column-major with any leading dimensions and strides; matrices of the input may overlap. What lies
/// in the output's gaps stays as it was. Neither allocates device memory nor waits.
///
/// # Errors
/// [`gpu_core::Error::Shape`], [`Error::Count`], [`gpu_core::Error::Aliasing`], [`gpu_core::Error::TooManyBlocks`],
/// [`gpu_core::Error::ExtentTooLarge`]; [`Error::Device`] where the memory is on another device than the stream or
/// where the launch failed. Nothing is written then.
///
/// ```
/// use gpu_transpose::{Layout, Matrix, MatrixMut, transpose_into};
/// let device = gpu_core::Device::simulator();
/// let stream = device.stream()?;
/// let input = device.upload(&[1.0, 2.0, 3.0, 4.0])?;
/// let mut output = device.zeroed(5)?;
/// let matrix = Matrix::new(&input, Layout::row_major(2, 2)?)?;
/// let gaps = Layout::row_major(2, 2)?.with_leading_dimension(3)?;
/// transpose_into(&stream, matrix, MatrixMut::new(&mut output, gaps)?)?;
/// stream.synchronize()?;
/// assert_eq!(output.to_vec()?, [1.0, 3.0, 0.0, 2.0, 4.0]);
/// # Ok::<(), gpu_transpose::Error>(())
/// ```
pub fn transpose_into<'a, 'b, T: Element>(
    stream: &Stream,
    input: impl Into<Batch<'a, T>>,
    output: impl Into<BatchMut<'b, T>>,
) -> Result<(), Error> {
    let (input, output) = (input.into(), output.into());
    let layouts = (input.layout(), output.layout());
    expect_transposed(layouts.0, layouts.1)?;
    let axes = (!layouts.0.is_empty()).then(|| of_matrices(layouts.0, layouts.1));
    run(stream, input.data(), output.into_data(), axes)
}

/// That the output has the shape of the transposed matrices, and as many of them.
pub(crate) fn expect_transposed(
    input: impl Into<BatchLayout>,
    output: impl Into<BatchLayout>,
) -> Result<(), Error> {
    let (input, output) = (input.into().transposed(), output.into());
    checks::shape("the output", input.matrix.shape(), output.matrix.shape())?;
    let (expected, actual) = (input.count, output.count);
    if expected == actual { Ok(()) } else { Err(Error::Count { expected, actual }) }
}

/// The array with its axes permuted, as NumPy's `transpose`: axis `k` of the result is axis `axes[k]` of `input`,
/// which has shape `shape`, row-major without gaps. In a buffer of its own; the work is enqueued on the device's
/// default stream.
///
/// Elements that consist of several numbers (pixels, complex numbers) are a last axis that stays last: it costs
/// nothing.
///
/// # Errors
/// [`Error::NotAPermutation`], [`Error::ShapeOverflow`], [`Error::Rank`], [`gpu_core::Error::Length`],
/// [`gpu_core::Error::TooManyBlocks`], [`gpu_core::Error::ExtentTooLarge`]; [`Error::Device`] where the device's memory
/// does not suffice, or where it failed.
///
/// ```
/// let device = gpu_core::Device::best();
/// let input = device.upload(&[1u8, 2, 3, 4, 5, 6])?; // 1 × 2 × 3
/// let output = gpu_transpose::permute(&input, &[1, 2, 3], &[2, 0, 1])?; // 3 × 1 × 2
/// assert_eq!(output.to_vec()?, [1, 4, 2, 5, 3, 6]);
/// # Ok::<(), gpu_transpose::Error>(())
/// ```
pub fn permute<'a, T: Element>(
    input: impl Into<View<'a, T>>,
    shape: &[usize],
    axes: &[usize],
) -> Result<Buffer<T>, Error> {
    let input = input.into();
    let (_, len) = of_permutation(shape, axes)?;
    checks::span("the input", len, input.len())?;
    let mut output = input.device().alloc(len)?;
    permute_into(&input.device().default_stream(), input, shape, axes, &mut output)?;
    Ok(output)
}

/// [`permute`] into `output`, on `stream`. Neither allocates device memory nor waits.
///
/// # Errors
/// As [`permute`]; [`gpu_core::Error::Aliasing`]; [`Error::Device`] where the memory is on another device than the
/// stream. Nothing is written then.
///
/// ```
/// let device = gpu_core::Device::simulator();
/// let input = device.upload(&[1u64, 2, 3, 4, 5, 6])?;
/// let mut output = device.zeroed(6)?;
/// gpu_transpose::permute_into(&device.default_stream(), &input, &[2, 3], &[1, 0], &mut output)?;
/// assert_eq!(output.to_vec()?, [1, 4, 2, 5, 3, 6]);
/// # Ok::<(), gpu_transpose::Error>(())
/// ```
pub fn permute_into<'a, 'b, T: Element>(
    stream: &Stream,
    input: impl Into<View<'a, T>>,
    shape: &[usize],
    axes: &[usize],
    output: impl Into<ViewMut<'b, T>>,
) -> Result<(), Error> {
    let (input, output) = (input.into(), output.into());
    let (axes, len) = of_permutation(shape, axes)?;
    checks::span("the input", len, input.len())?;
    checks::span("the output", len, output.len())?;
    run(stream, input, output, (len > 0).then_some(axes))
}

/// Plans and launches a copy of all elements of `axes`, which both views hold; `None` is no element.
fn run<T: Element>(
    stream: &Stream,
    input: View<'_, T>,
    mut output: ViewMut<'_, T>,
    axes: Option<Vec<Axis>>,
) -> Result<(), Error> {
    stream.expect("input of a transposition", input.device())?;
    stream.expect("output of a transposition", output.device())?;
    output.expect_apart("the input", &input)?;
    let Some(axes) = axes else { return Ok(()) };
    if let (Some(input), Some(output)) = (input.as_slice(), output.as_mut_slice()) {
        reference::copy(input, &axes, output);
        return Ok(());
    }
    let addresses = input.as_global().address() | output.as_global_mut().address();
    match Plan::of(axes, size_of::<T>(), addresses)? {
        Plan::Copy { bytes, elements } => {
            let len = elements * bytes / size_of::<T>();
            Ok(stream.copy(output.into_slice(..len), input.slice(..len))?)
        }
        Plan::Tiles(plan) => Ok(launch::tiles(stream, &plan, input, output)?),
        Plan::Elements(plan) => Ok(launch::elements(stream, &plan, input, output)?),
    }
}

/// The call's name in errors about scratch memory.
const IN_PLACE: &str = "transposition in place";

/// Scratch memory of [`transpose_in_place`] on `device` for a batch of elements of type `T`: none for squares, for
/// rectangles a part for each of the blocks that the device's multiprocessors take.
///
/// # Errors
/// As [`transpose_in_place`] about the shape.
///
/// ```
/// use gpu_transpose::{Layout, ScratchSize, in_place_scratch};
/// let device = gpu_core::Device::simulator();
/// assert_eq!(in_place_scratch::<f32>(&device, Layout::row_major(100, 100)?)?, ScratchSize::new());
/// let three = ScratchSize::new().array::<f32>(3 * 96);
/// assert_eq!(in_place_scratch::<f32>(&device, Layout::row_major(3, 50)?)?, three);
/// # Ok::<(), gpu_transpose::Error>(())
/// ```
pub fn in_place_scratch<T: Element>(
    device: &Device,
    batch: impl Into<BatchLayout>,
) -> Result<ScratchSize, Error> {
    let (batch, multiprocessors) = (batch.into(), device.planned_multiprocessors());
    let plan = InPlace::new(batch.matrix, size_of::<T>(), batch.count, multiprocessors)?;
    Ok(ScratchSize::new().array::<T>(plan.scratch_len()))
}

/// Transposes a matrix, or those of a batch, where they are, on `stream`. Waits for nothing, and allocates no device
/// memory where `scratch` has as much as [`in_place_scratch`] says.
///
/// Row-major matrices stay row-major, column-major ones column-major. Squares may have gaps between their rows, which
/// stay as they were; rectangles may not.
///
/// # Errors
/// [`Error::InPlaceGap`], [`gpu_core::Error::ScratchTooSmall`], [`gpu_core::Error::ScratchOfOtherStream`],
/// [`gpu_core::Error::ExtentTooLarge`], [`gpu_core::Error::TooManyBlocks`]; [`Error::Device`] where memory is on
/// another device than the stream. Nothing is written then.
///
/// ```
/// use gpu_transpose::{Layout, MatrixMut, Scratch, transpose_in_place};
/// let device = gpu_core::Device::best();
/// let stream = device.default_stream();
/// let mut data = device.upload(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])?;
/// let matrix = MatrixMut::new(&mut data, Layout::row_major(2, 3)?)?;
/// transpose_in_place(&stream, matrix, &mut Scratch::new(&stream))?;
/// assert_eq!(data.to_vec()?, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
/// # Ok::<(), gpu_transpose::Error>(())
/// ```
pub fn transpose_in_place<'a, T: Element>(
    stream: &Stream,
    data: impl Into<BatchMut<'a, T>>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    in_place(stream, data.into(), scratch, |plan, batch, address| {
        // A block for each multiprocessor. The simulator has none, and runs a block for every pair of tiles.
        let blocks = || stream.device().multiprocessors().unwrap_or(u32::MAX);
        plan.on(batch, size_of::<T>(), address, blocks)
    })
}

/// [`transpose_in_place`] with the kernel of large squares of bytes, if it takes such a batch at all, in at most so
/// many blocks: for tests, which could not afford large ones.
///
/// # Errors
/// As [`transpose_in_place`].
#[doc(hidden)]
pub fn transpose_in_place_wide<'a, T: Element>(
    stream: &Stream,
    data: impl Into<BatchMut<'a, T>>,
    blocks: u32,
) -> Result<(), Error> {
    in_place(stream, data.into(), &mut Scratch::new(stream).fixed(), |plan, batch, address| {
        plan.wide(batch, size_of::<T>(), address, || blocks)
    })
}

/// What `choose` makes of the plan, with the address of the data.
fn in_place<T: Element>(
    stream: &Stream,
    data: BatchMut<'_, T>,
    scratch: &mut Scratch,
    choose: impl FnOnce(InPlace, BatchLayout, u64) -> InPlace,
) -> Result<(), Error> {
    let (batch, mut data) = (data.layout(), data.into_data());
    let multiprocessors = stream.device().planned_multiprocessors();
    let plan = InPlace::new(batch.matrix, size_of::<T>(), batch.count, multiprocessors)?;
    let size = ScratchSize::new().array::<T>(plan.scratch_len());
    scratch.expect(stream, IN_PLACE, size)?;
    stream.expect("data of a transposition", data.device())?;
    if let Some(data) = data.as_mut_slice() {
        reference::in_place(plan, batch, data);
        return Ok(());
    }
    let plan = choose(plan, batch, data.as_global_mut().address());
    Ok(scratch.lend(IN_PLACE, size, |mut parts| {
        launch::in_place(stream, plan, batch, data, parts.array(plan.scratch_len()))
    })?)
}
