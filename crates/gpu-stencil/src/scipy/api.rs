//! Validate and launch, pass by pass.

use gpu_core::{Buffer, View};
use gpu_stencil_kernels::filter::WideDivisor;
use gpu_stencil_kernels::filter::scipy::{ANTISYMMETRIC, Lines, PLAIN, Rectangle, SYMMETRIC};

use super::launch::{self, Exact};
use super::reference;
use crate::border::Border;
use crate::error::Error;
use crate::weights::{Filter, before, expect_extent, expect_origin, gaussian, gaussian_radius, is_identity};
use gpu_core::{Image, ImageLayout};

/// An axis of an image, numbered as SciPy's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// Axis 0: down the columns.
    Y = 0,
    /// Axis 1: along the rows.
    X = 1,
}

/// What kernels divide by an extent with. Where there is none, there is nothing to divide.
fn divisor(extent: usize) -> WideDivisor {
    WideDivisor::new(extent.max(1) as u64)
}

/// The images, dense, and what is outside.
struct Subject<'a, T: Exact> {
    data: View<'a, T>,
    layout: ImageLayout,
    mode: u32,
    outside: f64,
}

impl<'a, T: Exact> Subject<'a, T> {
    fn new(input: Image<'a, T>, border: Border<T>) -> Result<Self, Error> {
        let layout = input.layout();
        let image = layout.row() * layout.height();
        let dense = layout.pitch() == layout.row() && (layout.count() < 2 || layout.stride() == image);
        if !dense {
            return Err(Error::NotDense { pitch: layout.pitch(), row: layout.row() });
        }
        if matches!(border, Border::Valid) {
            return Err(Error::NoSuchBorder);
        }
        let (mode, outside) = border.code(T::default());
        let data = input.data().slice(..layout.span());
        Ok(Self { data, layout, mode, outside: outside.to_f64() })
    }

    /// The lines along an axis, for windows of `taps` elements.
    fn lines(&self, axis: Axis, taps: usize, before: i32, symmetry: u32) -> Lines {
        let layout = self.layout;
        let (step, length) = match axis {
            Axis::X => (layout.channels(), layout.width()),
            Axis::Y => (layout.row(), layout.height()),
        };
        Lines {
            elements: layout.span() as u64,
            count: (layout.span() / length.max(1)) as u64,
            step: divisor(step),
            along: divisor(length),
            length: length as u32,
            mode: self.mode,
            taps: taps as u32,
            before,
            symmetry,
            reserved: 0,
        }
    }

    /// A pass of `correlate1d` over `from`, which has this shape.
    fn correlate1d(
        &self,
        from: View<'_, T>,
        weights: &[f64],
        axis: Axis,
        origin: isize,
    ) -> Result<Buffer<T>, Error> {
        expect_extent("a filter's extent", weights.len())?;
        expect_origin("a filter's origin", weights.len(), origin)?;
        let symmetry = symmetry(weights);
        let lines = self.lines(axis, weights.len(), before(weights.len(), origin, false), symmetry);
        let mut output = from.device().alloc(from.len())?;
        if let (Some(from), Some(to)) = (from.as_slice(), output.view_mut().as_mut_slice()) {
            reference::correlate1d(from, to, lines, self.outside, weights);
            return Ok(output);
        }
        let stream = from.device().default_stream();
        launch::correlate1d(&stream, from, output.view_mut(), lines, self.outside, weights)?;
        Ok(output)
    }

    /// A pass of `uniform_filter1d`.
    fn uniform(&self, from: View<'_, T>, size: usize, axis: Axis) -> Result<Buffer<T>, Error> {
        expect_extent("a filter's extent", size)?;
        let lines = self.lines(axis, size, before(size, 0, false), PLAIN);
        let mut output = from.device().alloc(from.len())?;
        if let (Some(from), Some(to)) = (from.as_slice(), output.view_mut().as_mut_slice()) {
            reference::uniform(from, to, lines, self.outside);
            return Ok(output);
        }
        let stream = from.device().default_stream();
        launch::uniform(&stream, from, output.view_mut(), lines, self.outside)?;
        Ok(output)
    }
}

/// Which of its ways `correlate1d` takes: that of the first test that holds to within an epsilon.
fn symmetry(weights: &[f64]) -> u32 {
    let pairs = || weights.iter().zip(weights.iter().rev()).take(weights.len() / 2);
    if weights.len().is_multiple_of(2) {
        PLAIN
    } else if pairs().all(|(low, high)| (low - high).abs() <= f64::EPSILON) {
        SYMMETRIC
    } else if pairs().all(|(low, high)| (low + high).abs() <= f64::EPSILON) {
        ANTISYMMETRIC
    } else {
        PLAIN
    }
}

/// `scipy.ndimage.correlate1d(input, weights, axis, mode=border, origin=origin)`.
///
/// # Errors
/// [`Error::FilterExtent`], [`Error::Origin`], [`Error::NotDense`], [`Error::NoSuchBorder`], [`gpu_core::Error::TooManyBlocks`];
/// [`Error::Device`] where the device's memory does not suffice or a launch failed.
///
/// ```
/// use gpu_stencil::scipy::{Axis, correlate1d};
/// use gpu_stencil::{Border, Image, ImageLayout};
/// let image = Image::new(&[1.0f32, 2.0, 4.0, 8.0], ImageLayout::new(4, 1, 1)?)?;
/// let steps = correlate1d(image, &[-1.0, 1.0, 0.0], Axis::X, Border::Constant(0.0), 0)?;
/// assert_eq!(steps.to_vec()?, [1.0, 1.0, 2.0, 4.0]);
/// # Ok::<(), gpu_stencil::Error>(())
/// ```
pub fn correlate1d<T: Exact>(
    input: Image<'_, T>,
    weights: &[f64],
    axis: Axis,
    border: Border<T>,
    origin: isize,
) -> Result<Buffer<T>, Error> {
    let subject = Subject::new(input, border)?;
    subject.correlate1d(subject.data, weights, axis, origin)
}

/// `scipy.ndimage.gaussian_filter(input, sigma, mode=border, truncate=truncate)`. As SciPy does, it copies the input
/// where `sigma` is 1e-15 or less.
///
/// # Errors
/// As [`correlate1d`]; [`Error::Sigma`], [`Error::Truncate`].
///
/// ```
/// use gpu_stencil::{Border, Image, ImageLayout, scipy::gaussian_filter};
/// let flat = Image::new(&[3u8; 12], ImageLayout::new(4, 3, 1)?)?;
/// assert_eq!(gaussian_filter(flat, 1.0, 4.0, Border::Reflect)?.to_vec()?, [3; 12]);
/// # Ok::<(), gpu_stencil::Error>(())
/// ```
pub fn gaussian_filter<T: Exact>(
    input: Image<'_, T>,
    sigma: f64,
    truncate: f64,
    border: Border<T>,
) -> Result<Buffer<T>, Error> {
    let subject = Subject::new(input, border)?;
    let radius = gaussian_radius(sigma, truncate)?;
    if is_identity(sigma) {
        let device = subject.data.device();
        let mut output = device.alloc(subject.data.len())?;
        device.default_stream().copy(&mut output, subject.data)?;
        return Ok(output);
    }
    let weights = gaussian(sigma, radius)?;
    let columns = subject.correlate1d(subject.data, &weights, Axis::Y, 0)?;
    subject.correlate1d(columns.view(), &weights, Axis::X, 0)
}

/// `scipy.ndimage.uniform_filter(input, (height, width), mode=border)`. As SciPy does, an axis along which the extent
/// is 1 is left out.
///
/// # Errors
/// As [`correlate1d`].
pub fn uniform_filter<T: Exact>(
    input: Image<'_, T>,
    width: usize,
    height: usize,
    border: Border<T>,
) -> Result<Buffer<T>, Error> {
    let subject = Subject::new(input, border)?;
    expect_extent("a filter's width", width)?;
    expect_extent("a filter's height", height)?;
    match (height > 1, width > 1) {
        (true, true) => {
            let columns = subject.uniform(subject.data, height, Axis::Y)?;
            subject.uniform(columns.view(), width, Axis::X)
        }
        (true, false) => subject.uniform(subject.data, height, Axis::Y),
        // A mean of one is the element itself.
        (false, _) => subject.uniform(subject.data, width, Axis::X),
    }
}

/// `scipy.ndimage.sobel(input, axis, mode=border)`.
///
/// # Errors
/// As [`correlate1d`].
pub fn sobel<T: Exact>(input: Image<'_, T>, axis: Axis, border: Border<T>) -> Result<Buffer<T>, Error> {
    let subject = Subject::new(input, border)?;
    let other = if axis == Axis::X { Axis::Y } else { Axis::X };
    let differences = subject.correlate1d(subject.data, &[-1.0, 0.0, 1.0], axis, 0)?;
    subject.correlate1d(differences.view(), &[1.0, 2.0, 1.0], other, 0)
}

/// `scipy.ndimage.laplace(input, mode=border)`.
///
/// # Errors
/// As [`correlate1d`].
pub fn laplace<T: Exact>(input: Image<'_, T>, border: Border<T>) -> Result<Buffer<T>, Error> {
    let subject = Subject::new(input, border)?;
    let mut sum = subject.correlate1d(subject.data, &[1.0, -2.0, 1.0], Axis::Y, 0)?;
    let other = subject.correlate1d(subject.data, &[1.0, -2.0, 1.0], Axis::X, 0)?;
    if let (Some(sum), Some(other)) = (sum.view_mut().as_mut_slice(), other.view().as_slice()) {
        reference::add(sum, other);
    } else {
        let stream = sum.device().default_stream();
        launch::add(&stream, sum.view_mut(), other.view())?;
    }
    Ok(sum)
}

/// `scipy.ndimage.correlate(input, weights, mode=border, origin=(y, x))`, with the filter's own origin. Weights of no
/// more than an epsilon are left out, as SciPy does.
///
/// # Errors
/// As [`correlate1d`].
pub fn correlate<T: Exact>(
    input: Image<'_, T>,
    filter: &Filter<f64>,
    border: Border<T>,
) -> Result<Buffer<T>, Error> {
    let subject = Subject::new(input, border)?;
    let layout = subject.layout;
    let rectangle = Rectangle {
        elements: layout.span() as u64,
        row: divisor(layout.row()),
        rows: divisor(layout.height()),
        width: layout.width() as u32,
        height: layout.height() as u32,
        channels: layout.channels() as u32,
        taps_x: filter.width() as u32,
        taps_y: filter.height() as u32,
        left: before(filter.width(), filter.origin().0, false),
        top: before(filter.height(), filter.origin().1, false),
        mode: subject.mode,
    };
    let device = subject.data.device();
    let mut output = device.alloc(layout.span())?;
    if let (Some(from), Some(to)) = (subject.data.as_slice(), output.view_mut().as_mut_slice()) {
        reference::correlate(from, to, rectangle, subject.outside, filter.weights());
        return Ok(output);
    }
    let weights = device.upload(filter.weights())?;
    let stream = device.default_stream();
    launch::correlate(&stream, subject.data, output.view_mut(), rectangle, subject.outside, weights.view())?;
    Ok(output)
}
