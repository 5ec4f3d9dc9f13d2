//! Validate, plan, launch.

use gpu_core::{Buffer, Stream, Texture, View, ViewMut, checks};

use super::plan::{ResizePlan, SamplePlan};
use super::{launch, reference};
use crate::error::Error;
use gpu_core::{ImageLayout, ImageMut};

/// The texture's values at `places` on `stream`: all channels of one after those of the other. Places have as many
/// coordinates as the texture dimensions, x first. Integers that are read as such are converted. Neither allocates
/// device memory nor waits.
///
/// # Errors
/// [`Error::Places`], [`gpu_core::Error::OutputLength`], [`gpu_core::Error::Aliasing`],
/// [`gpu_core::Error::TooManyBlocks`]; [`Error::Device`] where texture or memory are on another device than the stream,
/// or where the launch failed. The output is as it was then.
///
/// ```
/// use gpu_stencil::texture::{Descriptor, FilterMode, Texture, sample_into};
/// let device = gpu_core::Device::simulator();
/// let smooth = Descriptor { filter: FilterMode::Linear, ..Descriptor::default() };
/// let texture = Texture::new(&device, &[3], 1, smooth, &[1.0f32, 2.0, 4.0])?;
/// let places = device.upload(&[0.5, 1.0, 2.25])?;
/// let mut values = device.alloc(3)?;
/// sample_into(&device.default_stream(), &texture, &places, &mut values)?;
/// assert_eq!(values.to_vec()?, [1.0, 1.5, 3.5]);
/// # Ok::<(), gpu_stencil::Error>(())
/// ```
pub fn sample_into<'p, 'o>(
    stream: &Stream,
    texture: &Texture,
    places: impl Into<View<'p, f32>>,
    output: impl Into<ViewMut<'o, f32>>,
) -> Result<(), Error> {
    let (places, mut output) = (places.into(), output.into());
    checks::output("sample of a texture", values(texture, places.len())?, output.len())?;
    stream.expect("texture", texture.device())?;
    stream.expect("places in a texture", places.device())?;
    stream.expect("values of a texture", output.device())?;
    output.expect_apart("the places in a texture", &places)?;
    if places.is_empty() {
        return Ok(());
    }
    if let (Some(sampler), Some(places), Some(output)) =
        (texture.as_sampler(), places.as_slice(), output.as_mut_slice())
    {
        reference::sample(sampler, (texture.extents().len(), texture.channels()), places, output);
        return Ok(());
    }
    // A graph holds buffers, and no textures.
    stream.refuse_capture("a kernel that reads a texture")?;
    let plan = SamplePlan::new(places.len() / texture.extents().len(), texture)?;
    Ok(launch::sample(stream, &plan, texture, places, output)?)
}

/// The texture's values at `places`, on the texture's device and its default stream: see [`sample_into`].
///
/// # Errors
/// As [`sample_into`]; [`Error::Device`] also where there is no memory.
///
/// ```
/// use gpu_stencil::texture::{Descriptor, FilterMode, Texture, sample};
/// let device = gpu_core::Device::simulator();
/// let smooth = Descriptor { filter: FilterMode::Linear, ..Descriptor::default() };
/// let texture = Texture::new(&device, &[3], 1, smooth, &[1.0f32, 2.0, 4.0])?;
/// assert_eq!(sample(&texture, &device.upload(&[0.5, 1.0, 2.25])?)?.to_vec()?, [1.0, 1.5, 3.5]);
/// # Ok::<(), gpu_stencil::Error>(())
/// ```
pub fn sample<'p>(texture: &Texture, places: impl Into<View<'p, f32>>) -> Result<Buffer<f32>, Error> {
    let places = places.into();
    let device = texture.device();
    let mut output = device.alloc(values(texture, places.len())?)?;
    sample_into(&device.default_stream(), texture, places, &mut output)?;
    Ok(output)
}

/// Elements of the values at places of so many coordinates.
fn values(texture: &Texture, coordinates: usize) -> Result<usize, Error> {
    let dimensions = texture.extents().len();
    if !coordinates.is_multiple_of(dimensions) {
        return Err(Error::Places { coordinates, dimensions });
    }
    let (count, channels) = (coordinates / dimensions, texture.channels());
    // As many as 4 for places of 4 bytes or more: no overflow.
    Ok(count * channels)
}

/// The texture, of two dimensions, in the size of `output`, on `stream`: output `o` of `n` reads the `w` texels at
/// `(o + 1/2) · w / n`, texels having their centres at `i + 1/2`, as [`crate::resize`] does. Neither allocates device
/// memory nor waits.
///
/// Integers that are read as such are converted to `f32`; normalised ones are 0 to 1.
///
/// # Errors
/// [`Error::TextureDimensions`], [`Error::Channels`], and [`Error::Images`] where the output is a batch;
/// [`gpu_core::Error::ExtentTooLarge`]; [`Error::Device`] where texture or memory are on another device than the
/// stream, or where the launch failed. The output is as it was then.
pub fn resize_into(stream: &Stream, texture: &Texture, output: ImageMut<'_, f32>) -> Result<(), Error> {
    let (to, mut output) = (output.layout(), output.into_data());
    let &[width, height] = texture.extents() else {
        return Err(Error::TextureDimensions { expected: 2, actual: texture.extents().len() });
    };
    if to.channels() != texture.channels() {
        return Err(Error::Channels { expected: texture.channels(), actual: to.channels() });
    }
    if to.count() != 1 {
        return Err(Error::Images { expected: 1, actual: to.count() });
    }
    stream.expect("texture", texture.device())?;
    stream.expect("output of a resize", output.device())?;
    let plan = ResizePlan::new([width, height], texture, to)?;
    if let (Some(sampler), Some(output)) = (texture.as_sampler(), output.as_mut_slice()) {
        reference::resize(sampler, plan.scales, (output, to));
        return Ok(());
    }
    // A graph holds buffers, and no textures.
    stream.refuse_capture("a kernel that reads a texture")?;
    Ok(launch::resize(stream, &plan, texture, output)?)
}

/// The texture, of two dimensions, in another size, without gaps, on its device and its default stream: see
/// [`resize_into`].
///
/// # Errors
/// As [`ImageLayout::new`] and [`resize_into`]; [`Error::Device`] also where there is no memory.
///
/// ```
/// use gpu_stencil::texture::{Descriptor, Texture, resize};
/// let device = gpu_core::Device::best();
/// let texture = Texture::new(&device, &[2, 1], 1, Descriptor::default(), &[7u8, 200])?;
/// assert_eq!(resize(&texture, 4, 2)?.to_vec()?, [7.0, 7.0, 200.0, 200.0, 7.0, 7.0, 200.0, 200.0]);
/// # Ok::<(), gpu_stencil::Error>(())
/// ```
pub fn resize(texture: &Texture, width: usize, height: usize) -> Result<Buffer<f32>, Error> {
    let layout = ImageLayout::new(width, height, texture.channels())?;
    let mut output = texture.device().alloc(layout.span())?;
    resize_into(&texture.device().default_stream(), texture, ImageMut::new(&mut output, layout)?)?;
    Ok(output)
}
