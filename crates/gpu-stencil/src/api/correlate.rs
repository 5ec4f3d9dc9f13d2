//! Correlations and convolutions with the caller's filters.

use gpu_core::{Buffer, Image, ImageMut, Stream, View, ViewMut};

use super::{expect_extents, result_layout, window};
use crate::border::Border;
use crate::error::Error;
use crate::launch::sealed::{Kernels as _, Table as _};
use crate::launch::{self, Pixel};
use crate::plan::Plan;
use crate::reference;
use crate::weights::{Filter, SeparableFilter};

/// Refuses images that are not on the stream's device, or share memory.
fn expect_images<T: Pixel>(
    stream: &Stream,
    input: View<'_, T>,
    output: &ViewMut<'_, T>,
) -> Result<(), Error> {
    stream.expect("input", input.device())?;
    stream.expect("output", output.device())?;
    Ok(output.expect_apart("the input", &input)?)
}

/// Runs a full filter.
fn run<T: Pixel>(
    stream: &Stream,
    input: Image<'_, T>,
    filter: &Filter<T::Sum>,
    border: Border<T>,
    output: ImageMut<'_, T>,
    convolve: bool,
) -> Result<(), Error> {
    let extents = (filter.width(), filter.height());
    let (from, to) = (input.layout(), output.layout());
    let (input, mut output) = (input.data(), output.into_data());
    expect_extents(result_layout(from, extents, border)?, to)?;
    expect_images(stream, input, &output)?;
    if from.count() == 0 {
        return Ok(());
    }
    let window = window(extents, filter.origin(), border, convolve);
    let mut weights = filter.weights().to_vec();
    if convolve {
        weights.reverse();
    }
    if let (Some(source), Some(target)) = (input.as_slice(), output.as_mut_slice()) {
        reference::correlate(&weights, window, border, (source, from), (target, to));
        return Ok(());
    }
    let uploaded = if weights.len() > T::Sum::TABLE {
        let limit = T::Sum::TABLE;
        let memory = filter.uploaded().ok_or(Error::WeightsNotOnDevice { actual: weights.len(), limit })?;
        stream.expect("weights", memory.device())?;
        Some((memory.view(), convolve))
    } else {
        None
    };
    let (mode, outside) = border.code(T::default());
    let addresses = [input.as_global().address(), output.as_global_mut().address()];
    let units = stream.device().planned_multiprocessors();
    let plan = Plan::filter::<T, T::Sum>(T::Fast::FULL, false, window, mode, [from, to], addresses, units)?;
    Ok(launch::full(stream, &plan, input, output, outside, &weights, uploaded)?)
}

/// Runs a separable filter.
fn run_separable<T: Pixel>(
    stream: &Stream,
    input: Image<'_, T>,
    filter: &SeparableFilter<T::Sum>,
    border: Border<T>,
    output: ImageMut<'_, T>,
    convolve: bool,
) -> Result<(), Error> {
    let extents = (filter.row().len(), filter.column().len());
    let (from, to) = (input.layout(), output.layout());
    let (input, mut output) = (input.data(), output.into_data());
    expect_extents(result_layout(from, extents, border)?, to)?;
    expect_images(stream, input, &output)?;
    if from.count() == 0 {
        return Ok(());
    }
    let window = window(extents, filter.origin(), border, convolve);
    let [mut row, mut column] = [filter.row().to_vec(), filter.column().to_vec()];
    if convolve {
        row.reverse();
        column.reverse();
    }
    let weights = [&row[..], &column[..]];
    if let (Some(source), Some(target)) = (input.as_slice(), output.as_mut_slice()) {
        reference::separable(weights, window, border, (source, from), (target, to));
        return Ok(());
    }
    let (mode, outside) = border.code(T::default());
    let addresses = [input.as_global().address(), output.as_global_mut().address()];
    let units = stream.device().planned_multiprocessors();
    let plan =
        Plan::filter::<T, T::Sum>(T::Fast::SEPARABLE, true, window, mode, [from, to], addresses, units)?;
    Ok(launch::separable(stream, &plan, input, output, outside, weights)?)
}

macro_rules! filters {
    ($($(#[$doc:meta])* $into:ident: $Filter:ident, $run:ident, $convolve:literal;)*) => { $(
        $(#[$doc])*
        ///
        /// On `stream`, into `output`, which has the input's extents, but for [`Border::Valid`], where it is smaller
        /// by the filter's less one and the filter's origin has no meaning. Images may have any pitch, number of
        /// channels (each is filtered by itself) and batch. Neither allocates device memory nor waits.
        ///
        /// Each output is a sum in `f32` (`f64` for `f64`), in the order that the crate's documentation states,
        /// rounded once to the image's type: bits are the same on every device.
        ///
        /// # Errors
        /// [`Error::Extents`], [`Error::FilterOutsideImage`], [`gpu_core::Error::Aliasing`], [`gpu_core::Error::TooManyBlocks`],
        /// [`Error::WeightsNotOnDevice`]; [`Error::Device`] where memory is on another device than the stream or
        /// where the launch failed. The output is as it was then.
        pub fn $into<T: Pixel>(
            stream: &Stream,
            input: Image<'_, T>,
            filter: &$Filter<T::Sum>,
            border: Border<T>,
            output: ImageMut<'_, T>,
        ) -> Result<(), Error> {
            $run(stream, input, filter, border, output, $convolve)
        }
    )* };
}

filters! {
    /// The correlation of images with a filter: `output(x, y) = Σ filter(i, j) · input(x + i - width / 2, y + j -
    /// height / 2)`, as `scipy.ndimage.correlate` has it.
    correlate_into: Filter, run, false;
    /// The convolution of images with a filter: [`correlate_into`] with the filter turned by 180°, as
    /// `scipy.ndimage.convolve` has it.
    convolve_into: Filter, run, true;
    /// [`correlate_into`] with a separable filter, in one pass over the image.
    correlate_separable_into: SeparableFilter, run_separable, false;
    /// [`convolve_into`] with a separable filter, in one pass over the image.
    convolve_separable_into: SeparableFilter, run_separable, true;
}

/// A buffer for the result, without gaps, and `into` run on it.
pub(super) fn allocated<T: Pixel>(
    input: Image<'_, T>,
    extents: (usize, usize),
    border: Border<T>,
    into: impl FnOnce(&Stream, ImageMut<'_, T>) -> Result<(), Error>,
) -> Result<Buffer<T>, Error> {
    let layout = result_layout(input.layout(), extents, border)?;
    let device = input.data().device();
    let mut output = device.alloc(layout.span())?;
    into(&device.default_stream(), ImageMut::new(&mut output, layout)?)?;
    Ok(output)
}

/// The correlation of images with a filter, computed where they live, in a buffer of its own, without gaps.
///
/// The work is enqueued on the device's default stream; reading the buffer waits for it. A filter of more weights
/// than travel with a launch is uploaded first.
///
/// # Errors
/// As [`correlate_into`]; [`Error::Device`] where the device's memory does not suffice.
///
/// ```
/// use gpu_stencil::{Border, Filter, Image, ImageLayout, correlate};
/// let device = gpu_core::Device::simulator();
/// let pixels = device.upload(&[1.0f32, 2.0, 4.0, 8.0])?;
/// let image = Image::new(&pixels, ImageLayout::new(4, 1, 1)?)?;
/// let filter = Filter::new(3, 1, &[1.0, 0.0, -1.0])?;
/// assert_eq!(correlate(image, &filter, Border::Nearest)?.to_vec()?, [-1.0, -3.0, -6.0, -4.0]);
/// assert_eq!(correlate(image, &filter, Border::Valid)?.to_vec()?, [-3.0, -6.0]);
/// # Ok::<(), gpu_stencil::Error>(())
/// ```
pub fn correlate<T: Pixel>(
    input: Image<'_, T>,
    filter: &Filter<T::Sum>,
    border: Border<T>,
) -> Result<Buffer<T>, Error> {
    full(input, filter, border, false)
}

/// The convolution of images with a filter, as [`correlate`].
///
/// # Errors
/// As [`correlate`].
///
/// ```
/// use gpu_stencil::{Border, Filter, Image, ImageLayout, convolve};
/// let image = Image::new(&[1u8, 2, 4, 8], ImageLayout::new(4, 1, 1)?)?;
/// let difference = Filter::new(2, 1, &[1.0, -1.0])?;
/// assert_eq!(convolve(image, &difference, Border::Valid)?.to_vec()?, [1, 2, 4]);
/// # Ok::<(), gpu_stencil::Error>(())
/// ```
pub fn convolve<T: Pixel>(
    input: Image<'_, T>,
    filter: &Filter<T::Sum>,
    border: Border<T>,
) -> Result<Buffer<T>, Error> {
    full(input, filter, border, true)
}

/// The result of a full filter in a buffer.
fn full<T: Pixel>(
    input: Image<'_, T>,
    filter: &Filter<T::Sum>,
    border: Border<T>,
    convolve: bool,
) -> Result<Buffer<T>, Error> {
    let device = input.data().device();
    let here = filter.uploaded().is_some_and(|weights| weights.device() == device);
    let uploaded = if filter.weights().len() > T::Sum::TABLE && !here {
        let (x, y) = filter.origin();
        let copy = Filter::new(filter.width(), filter.height(), filter.weights())?;
        Some(copy.with_origin(x, y)?.upload(device)?)
    } else {
        None
    };
    let filter = uploaded.as_ref().unwrap_or(filter);
    allocated(input, (filter.width(), filter.height()), border, |stream, output| {
        run(stream, input, filter, border, output, convolve)
    })
}

/// The correlation of images with a separable filter, as [`correlate`].
///
/// # Errors
/// As [`correlate`].
///
/// ```
/// use gpu_stencil::{Border, Image, ImageLayout, SeparableFilter, correlate_separable};
/// let image = Image::new(&[0u8, 0, 0, 0, 90, 0, 0, 0, 0], ImageLayout::new(3, 3, 1)?)?;
/// let mean = SeparableFilter::box_mean(3, 3)?;
/// assert_eq!(correlate_separable(image, &mean, Border::Constant(0))?.to_vec()?, [10; 9]);
/// # Ok::<(), gpu_stencil::Error>(())
/// ```
pub fn correlate_separable<T: Pixel>(
    input: Image<'_, T>,
    filter: &SeparableFilter<T::Sum>,
    border: Border<T>,
) -> Result<Buffer<T>, Error> {
    allocated(input, (filter.row().len(), filter.column().len()), border, |stream, output| {
        run_separable(stream, input, filter, border, output, false)
    })
}

/// The convolution of images with a separable filter, as [`correlate`].
///
/// # Errors
/// As [`correlate`].
///
/// ```
/// use gpu_stencil::{Border, Image, ImageLayout, SeparableFilter, convolve_separable};
/// let image = Image::new(&[0u8, 0, 0, 0, 90, 0, 0, 0, 0], ImageLayout::new(3, 3, 1)?)?;
/// let mean = SeparableFilter::box_mean(3, 3)?;
/// assert_eq!(convolve_separable(image, &mean, Border::Constant(0))?.to_vec()?, [10; 9]);
/// # Ok::<(), gpu_stencil::Error>(())
/// ```
pub fn convolve_separable<T: Pixel>(
    input: Image<'_, T>,
    filter: &SeparableFilter<T::Sum>,
    border: Border<T>,
) -> Result<Buffer<T>, Error> {
    allocated(input, (filter.row().len(), filter.column().len()), border, |stream, output| {
        run_separable(stream, input, filter, border, output, true)
    })
}
