//! Validate, plan, launch.

use gpu_core::{BatchLayout, Buffer, Device, Element, Layout, Stream, View, ViewMut};

use crate::axes::{Axis, of_matrices, of_permutation};
use crate::error::Error;
use crate::in_place::InPlace;
use crate::plan::Plan;
use crate::{launch, reference};

/// The transposed matrix, computed where `input` lives, in a buffer of its own with rows that follow each other; of
/// batches one matrix after the other.
///
/// `input` holds a matrix, or a batch of them, that lies as `layout` says; the result is row-major. The work is
/// enqueued on the device's default stream; reading the buffer waits for it.
///
/// # Errors
/// [`gpu_core::Error::Length`] where `input` is shorter than the matrices, [`gpu_core::Error::BatchOverflow`],
/// [`gpu_core::Error::TooManyBlocks`]; [`Error::Device`] where the device's memory does not suffice, or where it
/// failed.
///
/// ```
/// use gpu_transpose::{BatchLayout, Layout, transpose};
/// let device = gpu_core::Device::best();
/// let input = device.upload(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])?;
/// let output = transpose(&input, Layout::row_major(2, 3)?)?;
/// assert_eq!(output.to_vec()?, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
/// let pairs = BatchLayout::new(Layout::row_major(1, 2)?, 3, 1)?; // each the next one's start
/// assert_eq!(transpose(&input, pairs)?.to_vec()?, [1.0, 2.0, 2.0, 3.0, 3.0, 4.0]);
/// # Ok::<(), gpu_transpose::Error>(())
/// ```
pub fn transpose<'a, T: Element>(
    input: impl Into<View<'a, T>>,
    layout: impl Into<BatchLayout>,
) -> Result<Buffer<T>, Error> {
    let (input, batch) = (input.into(), layout.into());
    check("the input", batch.span()?, input.len())?;
    let (rows, columns) = batch.matrix.shape();
    let transposed = Layout::row_major(columns, rows)?;
    let stride = transposed.span();
    let mut output = input.device().alloc(BatchLayout::new(transposed, batch.count, stride)?.span()?)?;
    transpose_batch_into(&input.device().default_stream(), input, batch, &mut output, rows, stride)?;
    Ok(output)
}

/// Writes the transposed matrix to `output`, on `stream`.
///
/// `input` holds a matrix that lies as `matrix` says; the output is row-major, its rows are `output_leading_dimension` elements
/// apart, and what lies between them stays as it was. Neither allocates device memory nor waits.
///
/// # Errors
/// [`gpu_core::Error::Length`], [`gpu_core::Error::LeadingDimension`], [`gpu_core::Error::SizeOverflow`], [`gpu_core::Error::TooManyBlocks`]; [`Error::Device`]
/// where the memory is on another device than the stream or where the launch failed. Nothing is written then.
///
/// ```
/// use gpu_transpose::{Layout, transpose_into};
/// let device = gpu_core::Device::simulator();
/// let stream = device.stream()?;
/// let input = device.upload(&[1.0, 2.0, 3.0, 4.0])?;
/// let mut output = device.zeroed(5)?;
/// transpose_into(&stream, &input, Layout::row_major(2, 2)?, &mut output, 3)?;
/// stream.synchronize()?;
/// assert_eq!(output.to_vec()?, [1.0, 3.0, 0.0, 2.0, 4.0]);
/// # Ok::<(), gpu_transpose::Error>(())
/// ```
pub fn transpose_into<'a, 'b, T: Element>(
    stream: &Stream,
    input: impl Into<View<'a, T>>,
    matrix: Layout,
    output: impl Into<ViewMut<'b, T>>,
    output_leading_dimension: usize,
) -> Result<(), Error> {
    transpose_batch_into(stream, input, BatchLayout::from(matrix), output, output_leading_dimension, 0)
}

/// Writes the transposed matrices of a batch to `output`, on `stream`, `output_stride` elements from the start of one
/// to that of the next. As [`transpose_into`] otherwise; matrices of the input may overlap.
///
/// # Errors
/// As [`transpose_into`]; [`gpu_core::Error::Overlap`] where matrices of the output overlap, [`gpu_core::Error::BatchOverflow`].
///
/// ```
/// use gpu_transpose::{BatchLayout, Layout, transpose_batch_into};
/// let device = gpu_core::Device::simulator();
/// let input = device.upload(&[1u8, 2, 3, 4, 5, 6, 7, 8])?;
/// let mut output = device.zeroed(8)?;
/// let batch = BatchLayout::new(Layout::row_major(2, 2)?, 2, 4)?;
/// transpose_batch_into(&device.default_stream(), &input, batch, &mut output, 2, 4)?;
/// assert_eq!(output.to_vec()?, [1, 3, 2, 4, 5, 7, 6, 8]);
/// # Ok::<(), gpu_transpose::Error>(())
/// ```
pub fn transpose_batch_into<'a, 'b, T: Element>(
    stream: &Stream,
    input: impl Into<View<'a, T>>,
    batch: BatchLayout,
    output: impl Into<ViewMut<'b, T>>,
    output_leading_dimension: usize,
    output_stride: usize,
) -> Result<(), Error> {
    let (input, output) = (input.into(), output.into());
    let matrix = batch.matrix;
    let transposed = Layout::row_major(matrix.columns(), matrix.rows())?;
    let transposed = transposed.with_leading_dimension(output_leading_dimension)?;
    let transposed = BatchLayout::new(transposed, batch.count, output_stride)?;
    check("the input", batch.span()?, input.len())?;
    check("the output", transposed.span()?, output.len())?;
    transposed.expect_apart()?;
    let axes = if batch.is_empty() {
        None
    } else {
        Some(of_matrices(matrix, output_leading_dimension, batch.count, batch.stride, output_stride))
    };
    run(stream, input, output, axes)
}

/// The array with its axes permuted, as NumPy's `transpose`: axis `k` of the result is axis `axes[k]` of `input`,
/// which has shape `shape`, row-major without gaps. In a buffer of its own; the work is enqueued on the device's
/// default stream.
///
/// Elements that consist of several numbers (pixels, complex numbers) are a last axis that stays last: it costs
/// nothing.
///
/// # Errors
/// [`Error::NotAPermutation`], [`Error::ShapeOverflow`], [`Error::Rank`], [`gpu_core::Error::Length`], [`gpu_core::Error::TooManyBlocks`],
/// [`gpu_core::Error::ExtentTooLarge`]; [`Error::Device`] where the device's memory does not suffice, or where it failed.
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
    check("the input", len, input.len())?;
    let mut output = input.device().alloc(len)?;
    permute_into(&input.device().default_stream(), input, shape, axes, &mut output)?;
    Ok(output)
}

/// [`permute`] into `output`, on `stream`. Neither allocates device memory nor waits.
///
/// # Errors
/// As [`permute`]; [`Error::Device`] where the memory is on another device than the stream. Nothing is written then.
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
    check("the input", len, input.len())?;
    check("the output", len, output.len())?;
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
        Plan::Tiles(plan) => launch::tiles(stream, &plan, input, output),
        Plan::Elements(plan) => launch::elements(stream, &plan, input, output),
    }
}

/// Scratch elements that [`transpose_in_place`] needs on `device` for a batch of elements of type `T`: none for squares,
/// for rectangles a part for each of the blocks that the device's multiprocessors take.
///
/// # Errors
/// As [`transpose_in_place`] about the shape.
///
/// ```
/// use gpu_transpose::{BatchLayout, Layout, in_place_scratch_len};
/// let device = gpu_core::Device::simulator();
/// assert_eq!(in_place_scratch_len::<f32>(&device, BatchLayout::from(Layout::row_major(100, 100)?))?, 0);
/// assert_eq!(in_place_scratch_len::<f32>(&device, BatchLayout::from(Layout::row_major(3, 50)?))?, 3 * 96);
/// # Ok::<(), gpu_transpose::Error>(())
/// ```
pub fn in_place_scratch_len<T: Element>(device: &Device, batch: BatchLayout) -> Result<usize, Error> {
    let multiprocessors = device.planned_multiprocessors();
    Ok(InPlace::new(batch.matrix, size_of::<T>(), batch.count, multiprocessors)?.scratch_len())
}

/// Transposes the matrices of a batch where they are, on `stream`. Neither allocates device memory nor waits.
///
/// Row-major matrices stay row-major, column-major ones column-major. Squares may have gaps between their rows, which stay as they were; rectangles may not. `scratch` has at least
/// [`in_place_scratch_len`] elements; what is in it afterwards is unspecified.
///
/// # Errors
/// [`gpu_core::Error::Length`], [`gpu_core::Error::Overlap`] where the matrices overlap, [`Error::InPlaceGap`],
/// [`gpu_core::Error::ScratchTooSmall`], [`gpu_core::Error::ExtentTooLarge`], [`gpu_core::Error::TooManyBlocks`]; [`Error::Device`] where memory is
/// on another device than the stream. Nothing is written then.
///
/// ```
/// use gpu_transpose::{BatchLayout, Layout, in_place_scratch_len, transpose_in_place};
/// let device = gpu_core::Device::best();
/// let mut data = device.upload(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])?;
/// let batch = BatchLayout::from(Layout::row_major(2, 3)?);
/// let mut scratch = device.alloc(in_place_scratch_len::<f64>(&device, batch)?)?;
/// transpose_in_place(&device.default_stream(), &mut data, batch, &mut scratch)?;
/// assert_eq!(data.to_vec()?, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
/// # Ok::<(), gpu_transpose::Error>(())
/// ```
pub fn transpose_in_place<'a, 'b, T: Element>(
    stream: &Stream,
    data: impl Into<ViewMut<'a, T>>,
    batch: BatchLayout,
    scratch: impl Into<ViewMut<'b, T>>,
) -> Result<(), Error> {
    in_place(stream, data.into(), batch, scratch.into(), |plan, address| {
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
    data: impl Into<ViewMut<'a, T>>,
    batch: BatchLayout,
    blocks: u32,
) -> Result<(), Error> {
    let mut none = stream.device().alloc(0)?;
    in_place(stream, data.into(), batch, (&mut none).into(), |plan, address| {
        plan.wide(batch, size_of::<T>(), address, || blocks)
    })
}

/// What `choose` makes of the plan, with the address of the data.
fn in_place<T: Element>(
    stream: &Stream,
    mut data: ViewMut<'_, T>,
    batch: BatchLayout,
    mut scratch: ViewMut<'_, T>,
    choose: impl FnOnce(InPlace, u64) -> InPlace,
) -> Result<(), Error> {
    check("the data", batch.span()?, data.len())?;
    batch.expect_apart()?;
    let multiprocessors = stream.device().planned_multiprocessors();
    let plan = InPlace::new(batch.matrix, size_of::<T>(), batch.count, multiprocessors)?;
    let [expected, actual] = [plan.scratch_len(), scratch.len()].map(|len| len * size_of::<T>());
    if actual < expected {
        let what = "transposition in place";
        return Err(Error::Device(gpu_core::Error::ScratchTooSmall { what, expected, actual }));
    }
    stream.expect("data of a transposition", data.device())?;
    stream.expect("scratch memory of a transposition", scratch.device())?;
    if let (Some(data), Some(scratch)) = (data.as_mut_slice(), scratch.as_mut_slice()) {
        reference::in_place(plan, batch, data, scratch);
        return Ok(());
    }
    let plan = choose(plan, data.as_global_mut().address());
    launch::in_place(stream, plan, batch.matrix, (batch.count, batch.stride), data, scratch)
}

pub(crate) fn check(what: &'static str, expected: usize, actual: usize) -> Result<(), Error> {
    if actual < expected { Err(gpu_core::Error::Length { what, expected, actual }.into()) } else { Ok(()) }
}
