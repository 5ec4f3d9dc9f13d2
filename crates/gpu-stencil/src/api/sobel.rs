//! Sobel's gradients.

use gpu_core::{Buffer, Element, Image, ImageLayout, ImageMut, Stream, View, ViewMut};
use gpu_stencil_kernels::filter::sobel::{DIRECTION, GX, GY, MAGNITUDE, Targets};

use super::{expect_extents, result_layout, window};
use crate::border::Border;
use crate::error::Error;
use crate::launch::sealed::Kernels as _;
use crate::launch::{self, Pixel};
use crate::plan::{Plan, aligned};
use crate::reference;

/// Which gradients are wanted, and where they go.
///
/// Of `u8` images they are `i16`, where all of them are exact but for the magnitude, which is rounded to the nearest
/// integer; of 16-bit images they are `f32`, exact along x and y; else of the image's type. Directions are `f32`, of
/// `f64` images `f64`.
#[derive(Debug)]
pub struct Gradients<'a, T: Pixel> {
    /// Along x: positive where the image gets brighter to the right.
    pub gx: Option<ImageMut<'a, T::Gradient>>,
    /// Along y: positive where the image gets brighter downwards.
    pub gy: Option<ImageMut<'a, T::Gradient>>,
    /// `sqrt(gx² + gy²)`.
    pub magnitude: Option<ImageMut<'a, T::Gradient>>,
    /// `atan2(gy, gx)`, from -π to π.
    pub direction: Option<ImageMut<'a, T::Sum>>,
}

impl<T: Pixel> Default for Gradients<'_, T> {
    /// None.
    fn default() -> Self {
        Self { gx: None, gy: None, magnitude: None, direction: None }
    }
}

/// Sobel's gradients of images, any of them in one pass: `gx` is `scipy.ndimage.sobel` along the last axis, `gy`
/// along the one before.
///
/// On `stream`; outputs have the input's extents, but for [`Border::Valid`], where they are smaller by 2. Neither
/// allocates device memory nor waits. The order of operations is the kernel's (`gpu_stencil_kernels::filter::sobel`):
/// bits are the same on every device. A direction's error is below 9.6e-7 (`f32`) or 1.8e-15 (`f64`) more than that
/// of gx and gy.
///
/// # Errors
/// [`Error::Extents`], [`Error::FilterOutsideImage`], [`gpu_core::Error::Aliasing`], [`gpu_core::Error::TooManyBlocks`];
/// [`Error::Device`] where memory is on another device than the stream or where the launch failed. All outputs are as
/// they were then.
///
/// ```
/// use gpu_stencil::{Border, Gradients, Image, ImageLayout, ImageMut, sobel_into};
/// let device = gpu_core::Device::simulator();
/// let layout = ImageLayout::new(3, 3, 1)?;
/// let pixels = device.upload(&[0u8, 10, 20, 0, 10, 20, 0, 10, 20])?;
/// let (mut gx, mut gy) = (device.alloc::<i16>(9)?, device.alloc::<i16>(9)?);
/// let gradients = Gradients {
///     gx: Some(ImageMut::new(&mut gx, layout)?),
///     gy: Some(ImageMut::new(&mut gy, layout)?),
///     ..Gradients::default()
/// };
/// sobel_into(&device.default_stream(), Image::new(&pixels, layout)?, Border::Nearest, gradients)?;
/// assert_eq!(gx.to_vec()?, [40, 80, 40, 40, 80, 40, 40, 80, 40]);
/// assert_eq!(gy.to_vec()?, [0; 9]);
/// # Ok::<(), gpu_stencil::Error>(())
/// ```
pub fn sobel_into<T: Pixel>(
    stream: &Stream,
    input: Image<'_, T>,
    border: Border<T>,
    gradients: Gradients<'_, T>,
) -> Result<(), Error> {
    let (mut gx, mut gy) = (gradients.gx.map(parts), gradients.gy.map(parts));
    let (mut magnitude, mut direction) = (gradients.magnitude.map(parts), gradients.direction.map(parts));
    let (layout, input) = (input.layout(), input.data());
    let result = result_layout(layout, (3, 3), border)?;
    stream.expect("input", input.device())?;
    for output in [&gx, &gy, &magnitude].into_iter().flatten() {
        expect_output(stream, input, result, output)?;
    }
    if let Some(output) = &direction {
        expect_output(stream, input, result, output)?;
    }
    let places = [place(&mut gx), place(&mut gy), place(&mut magnitude), place(&mut direction)];
    for (number, first) in places.iter().enumerate() {
        for second in places[..number].iter().flatten() {
            if first.is_some_and(|first| first[0] < second[1] && second[0] < first[1]) {
                return Err(Error::Device(gpu_core::Error::Aliasing { with: "another output" }));
            }
        }
    }
    let Some(output) = [&gx, &gy, &magnitude]
        .into_iter()
        .find_map(|output| output.as_ref().map(|output| output.1))
        .or(direction.as_ref().map(|output| output.1))
    else {
        return Ok(());
    };
    if layout.count() == 0 {
        return Ok(());
    }

    let window = window((3, 3), (0, 0), border, false);
    if let Some(from) = input.as_slice() {
        fn slice<'a, T: Element>(output: &'a mut Option<Output<'_, T>>) -> reference::Wanted<'a, T> {
            let (data, layout) = output.as_mut()?;
            Some((data.as_mut_slice()?, *layout))
        }
        let outputs = [slice(&mut gx), slice(&mut gy), slice(&mut magnitude)];
        reference::sobel(window, border, (from, layout), outputs, slice(&mut direction));
        return Ok(());
    }
    let (mode, outside) = border.code(T::default());
    let mut targets = Targets::default();
    note(&mut targets, 0, GX, &mut gx);
    note(&mut targets, 1, GY, &mut gy);
    note(&mut targets, 2, MAGNITUDE, &mut magnitude);
    note(&mut targets, 3, DIRECTION, &mut direction);
    let address = input.as_global().address();
    let (layouts, units) = ([layout, output], stream.device().planned_multiprocessors());
    let plan = Plan::sobel::<T>(T::Fast::SOBEL, window, mode, layouts, address, units)?;
    let outputs = (
        launch::target(gx.as_mut().map(|output| &mut output.0)),
        launch::target(gy.as_mut().map(|output| &mut output.0)),
        launch::target(magnitude.as_mut().map(|output| &mut output.0)),
        launch::target(direction.as_mut().map(|output| &mut output.0)),
    );
    Ok(launch::sobel(stream, &plan, input, outputs, targets, outside)?)
}

/// An output: its memory, and how that is laid out.
type Output<'a, T> = (ViewMut<'a, T>, ImageLayout);

fn parts<T: Element>(image: ImageMut<'_, T>) -> Output<'_, T> {
    let layout = image.layout();
    (image.into_data(), layout)
}

/// Refuses an output that is not where it has to be, or not as large.
fn expect_output<T: Pixel, U: Element>(
    stream: &Stream,
    input: View<'_, T>,
    result: ImageLayout,
    (output, layout): &Output<'_, U>,
) -> Result<(), Error> {
    expect_extents(result, *layout)?;
    stream.expect("output", output.device())?;
    Ok(output.expect_apart("the input", &input)?)
}

/// Where an output's memory begins and ends; nowhere, if it is not wanted.
fn place<T: Element>(output: &mut Option<Output<'_, T>>) -> Option<[u64; 2]> {
    let (data, _) = output.as_mut()?;
    let begin = data.as_global_mut().address();
    Some([begin, begin + (data.len() * size_of::<T>()) as u64])
}

/// Notes that output `number` is wanted, and how it lies.
fn note<T: Element>(targets: &mut Targets, number: usize, wanted: u32, output: &mut Option<Output<'_, T>>) {
    if let Some((output, layout)) = output {
        targets.pitch[number] = layout.pitch() as u64;
        targets.stride[number] = layout.stride() as u64;
        targets.wanted |= wanted;
        if aligned(16, size_of::<T>(), *layout, output.as_global_mut().address()) {
            targets.aligned |= wanted;
        }
    }
}

/// The magnitudes of Sobel's gradients of images, in a buffer of their own, without gaps: [`sobel_into`].
///
/// # Errors
/// As [`sobel_into`]; [`Error::Device`] where the device's memory does not suffice.
///
/// ```
/// use gpu_stencil::{Border, Image, ImageLayout, sobel};
/// let image = Image::new(&[3.0f32, 3.0, 7.0, 7.0], ImageLayout::new(4, 1, 1)?)?;
/// assert_eq!(sobel(image, Border::Nearest)?.to_vec()?, [0.0, 16.0, 16.0, 0.0]);
/// # Ok::<(), gpu_stencil::Error>(())
/// ```
pub fn sobel<T: Pixel>(input: Image<'_, T>, border: Border<T>) -> Result<Buffer<T::Gradient>, Error> {
    let layout = result_layout(input.layout(), (3, 3), border)?;
    let device = input.data().device();
    let mut output = device.alloc(layout.span())?;
    let magnitude = Some(ImageMut::new(&mut output, layout)?);
    sobel_into(&device.default_stream(), input, border, Gradients { magnitude, ..Gradients::default() })?;
    Ok(output)
}
