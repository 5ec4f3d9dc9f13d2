//! Validate, plan, launch.

use gpu_core::{Buffer, Stream};

use super::launch::{self, Element};
use super::plan::Plan;
use super::{Interpolation, reference};
use crate::error::Error;
use gpu_core::{Image, ImageLayout, ImageMut};

/// Resizes `input` to the size of `output` on `stream`; of a batch every image. Neither allocates device memory nor
/// waits.
///
/// Both have the same number of channels and of images; pitches are as they are, and gaps of the output stay.
///
/// # Errors
/// [`Error::Channels`], [`Error::Images`], [`gpu_core::Error::Aliasing`], [`gpu_core::Error::TooManyBlocks`]; [`Error::Device`] where
/// memory is on another device than the stream, or where the launch failed. The output is as it was then.
///
/// ```
/// use gpu_stencil::resize::{Addressing, Interpolation, resize_into};
/// use gpu_stencil::{Image, ImageLayout, ImageMut};
/// let device = gpu_core::Device::simulator();
/// let input = device.upload(&[0u8, 10, 20, 30])?;
/// let mut output = device.alloc(1)?;
/// resize_into(
///     &device.default_stream(),
///     Image::new(&input, ImageLayout::new(2, 2, 1)?)?,
///     Interpolation::Bilinear(Addressing::Clamp),
///     ImageMut::new(&mut output, ImageLayout::new(1, 1, 1)?)?,
/// )?;
/// assert_eq!(output.to_vec()?, [15]);
/// # Ok::<(), gpu_stencil::Error>(())
/// ```
pub fn resize_into<T: Element>(
    stream: &Stream,
    input: Image<'_, T>,
    interpolation: Interpolation<T>,
    output: ImageMut<'_, T>,
) -> Result<(), Error> {
    let (from, to) = (input.layout(), output.layout());
    let (input, mut output) = (input.data(), output.into_data());
    if from.channels() != to.channels() {
        return Err(Error::Channels { expected: from.channels(), actual: to.channels() });
    }
    if from.count() != to.count() {
        return Err(Error::Images { expected: from.count(), actual: to.count() });
    }
    stream.expect("input of a resize", input.device())?;
    stream.expect("output of a resize", output.device())?;
    output.expect_apart("the input", &input)?;
    if from.count() == 0 {
        return Ok(());
    }
    if let (Some(source), Some(target)) = (input.as_slice(), output.as_mut_slice()) {
        reference::resize((source, from), (target, to), interpolation);
        return Ok(());
    }
    let addresses = [input.as_global().address(), output.as_global_mut().address()];
    let plan = Plan::new(size_of::<T>(), [from, to], interpolation, addresses)?;
    Ok(launch::resize(stream, &plan, input, output, interpolation)?)
}

/// `input` resized to `width` × `height` pixels, without gaps; of a batch every image, one after the other. Where the
/// input lives, on its default stream.
///
/// # Errors
/// As [`ImageLayout::new`] and [`resize_into`]; [`Error::Device`] also where there is no memory.
///
/// ```
/// use gpu_stencil::resize::{Interpolation, resize};
/// use gpu_stencil::{Image, ImageLayout};
/// let device = gpu_core::Device::best();
/// let pixels = device.upload(&[1.0, 2.0])?;
/// let twice = resize(Image::new(&pixels, ImageLayout::new(2, 1, 1)?)?, 4, 2, Interpolation::Nearest)?;
/// assert_eq!(twice.to_vec()?, [1.0, 1.0, 2.0, 2.0, 1.0, 1.0, 2.0, 2.0]);
/// # Ok::<(), gpu_stencil::Error>(())
/// ```
pub fn resize<T: Element>(
    input: Image<'_, T>,
    width: usize,
    height: usize,
    interpolation: Interpolation<T>,
) -> Result<Buffer<T>, Error> {
    let one = ImageLayout::new(width, height, input.layout().channels())?;
    let layout = one.with_batch(input.layout().count(), one.span())?;
    let device = input.data().device();
    let mut output = device.alloc(layout.span())?;
    resize_into(&device.default_stream(), input, interpolation, ImageMut::new(&mut output, layout)?)?;
    Ok(output)
}
