//! The textbook's filters, to be measured beside the fast ones: what each lesson is worth. Of `f32`, one channel,
//! row-major without gaps, on devices that run kernels.
//!
//! [`blur`] is a correlation with a square [`Mask`], a thread a pixel. All of its variants add in the same order and
//! give the same bits:
//!
//! | variant | pixels | weights | what it is worth |
//! | --- | --- | --- | --- |
//! | [`Global`](BlurVariant::Global) | global memory | global memory | two loads for each product, and the border decided for each |
//! | [`Shared`](BlurVariant::Shared) | tile of (32 + 2r)² in shared memory | global memory | the border once a pixel of the tile; shared memory has no misses |
//! | [`ReadOnly`](BlurVariant::ReadOnly) | as before | read-only path | the compiler may move the loads; the same cache since capability 7.0 |
//! | [`Constant`](BlurVariant::Constant) | as before | constant bank | a weight costs a register; half as many loads are left |
//!
//! [`sobel`] is three launches, where one pass could do.

mod launch;

use gpu_core::{Buffer, Device, Resources, Stream, View, ViewMut, Visitor, checks};
use gpu_std::launch::LaunchConfig;
use gpu_stencil_kernels::variants as kernels;

use crate::error::Error;
use crate::weights::{expect_sigma, is_identity};
use gpu_core::ImageLayout;

/// The largest radius of a mask.
pub const MAX_RADIUS: u32 = kernels::BLUR_RADIUS;

/// A textbook correlation with a mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BlurVariant {
    /// Pixels and weights from global memory.
    Global,
    /// Pixels from a tile in shared memory.
    Shared,
    /// That, with weights through the read-only path.
    ReadOnly,
    /// That, with weights from the constant bank.
    Constant,
}

gpu_core::named! {
    BlurVariant in "gpu_stencil::variants", "All of them, in the order of the textbook.";
    Global = "global",
    Shared = "shared",
    ReadOnly = "read_only",
    Constant = "constant",
}

impl BlurVariant {
    /// The launch for an image of `rows` × `columns` pixels: blocks of 32 × 32 threads.
    pub fn launch_config(self, rows: u32, columns: u32, radius: u32) -> LaunchConfig {
        let shared_bytes = if self == Self::Global { 0 } else { kernels::blur_shared_bytes(radius) };
        LaunchConfig { shared_bytes, ..blocks(kernels::BLUR_BLOCK, rows, columns) }
    }
}

fn blocks(side: u32, rows: u32, columns: u32) -> LaunchConfig {
    LaunchConfig {
        grid: [columns.div_ceil(side), rows.div_ceil(side), 1],
        block: [side, side, 1],
        shared_bytes: 0,
    }
}

/// The weights of a square mask, `(2r + 1)²`, on a device and, for the constant bank, on the host.
#[derive(Debug)]
pub struct Mask {
    radius: u32,
    weights: [f32; kernels::BLUR_WEIGHTS],
    buffer: Buffer<f32>,
}

impl Mask {
    /// The mask with these weights, row by row.
    ///
    /// # Errors
    /// [`Error::Mask`] where they are not `(2 · radius + 1)²`, or the radius is not 1 to [`MAX_RADIUS`];
    /// [`Error::Device`].
    pub fn new(device: &Device, radius: u32, weights: &[f32]) -> Result<Self, Error> {
        let side = 2 * radius as usize + 1;
        let expected = side.saturating_mul(side);
        if weights.len() != expected || !(1..=MAX_RADIUS).contains(&radius) {
            return Err(Error::Mask { radius, limit: MAX_RADIUS, expected, actual: weights.len() });
        }
        let mut all = [0.0; kernels::BLUR_WEIGHTS];
        all[..expected].copy_from_slice(weights);
        Ok(Self { radius, weights: all, buffer: device.upload(weights)? })
    }

    /// A Gaussian's: `exp(-(x² + y²) / 2σ²)`, divided by their sum, computed in `f64`. One of 0 is the identity.
    ///
    /// # Errors
    /// [`Error::Sigma`], and those of [`Mask::new`].
    pub fn gaussian(device: &Device, radius: u32, sigma: f64) -> Result<Self, Error> {
        expect_sigma(sigma)?;
        let reach = i64::from(radius.min(MAX_RADIUS + 1));
        let of = |x: i64, y: i64| {
            if is_identity(sigma) {
                return f64::from((x, y) == (0, 0));
            }
            (-((x * x + y * y) as f64) / (2.0 * sigma * sigma)).exp()
        };
        let weights: Vec<f64> =
            (-reach..=reach).flat_map(|y| (-reach..=reach).map(move |x| of(x, y))).collect();
        let sum: f64 = weights.iter().sum();
        let weights: Vec<f32> = weights.into_iter().map(|weight| (weight / sum) as f32).collect();
        Self::new(device, radius, &weights)
    }

    /// The radius.
    pub fn radius(&self) -> u32 {
        self.radius
    }

    /// The weights, row by row.
    pub fn weights(&self) -> &[f32] {
        &self.weights[..self.buffer.len()]
    }
}

/// Rows and columns as the kernels take them, the views having room for them.
fn shape([rows, columns]: [usize; 2], lengths: &[usize]) -> Result<[u32; 2], Error> {
    let layout = ImageLayout::new(columns, rows, 1)?;
    lengths.iter().try_for_each(|&len| checks::span("an image", layout.span(), len))?;
    // Blocks in y are counted in 16 bits.
    let limit = usize::from(u16::MAX) * kernels::SOBEL_BLOCK as usize;
    checks::extent("the height of an image", rows, limit)?;
    // A layout's extents have 31 bits.
    Ok([rows as u32, columns as u32])
}

/// `output = mask ⋆ input` by `variant`, zero being what is outside; `extents` are rows and columns.
///
/// # Errors
/// [`gpu_core::image::Invalid::Empty`], [`gpu_core::Error::Length`], [`gpu_core::Error::ExtentTooLarge`];
/// [`Error::Device`] on the CPU, which runs no kernels, and where memory is on another device than the stream. The
/// output is as it was then.
///
/// ```
/// use gpu_stencil::variants::{BlurVariant, Mask, blur};
/// let device = gpu_core::Device::simulator();
/// let mask = Mask::new(&device, 1, &[1.0; 9])?;
/// let input = device.upload(&[1.0; 12])?;
/// let mut output = device.alloc(12)?;
/// blur(BlurVariant::Shared, &device.default_stream(), &input, &mask, &mut output, [3, 4])?;
/// assert_eq!(output.to_vec()?, [4.0, 6.0, 6.0, 4.0, 6.0, 9.0, 9.0, 6.0, 4.0, 6.0, 6.0, 4.0]);
/// # Ok::<(), gpu_stencil::Error>(())
/// ```
pub fn blur<'i, 'o>(
    variant: BlurVariant,
    stream: &Stream,
    input: impl Into<View<'i, f32>>,
    mask: &Mask,
    output: impl Into<ViewMut<'o, f32>>,
    extents: [usize; 2],
) -> Result<(), Error> {
    let (input, output) = (input.into(), output.into());
    let [rows, columns] = shape(extents, &[input.len(), output.len()])?;
    stream.expect("input of a blur", input.device())?;
    stream.expect("mask of a blur", mask.buffer.device())?;
    stream.expect("output of a blur", output.device())?;
    Ok(launch::blur(variant, stream, input, mask, output, [rows, columns])?)
}

/// The images that [`sobel`] writes.
#[derive(Debug)]
pub struct Gradient<'a> {
    /// The derivative along a row.
    pub gx: ViewMut<'a, f32>,
    /// The derivative down a column.
    pub gy: ViewMut<'a, f32>,
    /// `sqrt(gx² + gy²)`.
    pub magnitude: ViewMut<'a, f32>,
}

/// Sobel's operator in three launches: `gx` and `gy` by one kernel with a flag, the magnitude by another; all zero at
/// the outermost pixels. `extents` are rows and columns.
///
/// # Errors
/// As [`blur`]; the outputs are as they were then, or zero where a launch failed.
///
/// ```
/// use gpu_stencil::variants::{Gradient, sobel};
/// let device = gpu_core::Device::simulator();
/// let input = device.upload(&[0.0, 0.0, 3.0, 0.0, 0.0, 3.0, 4.0, 4.0, 7.0])?;
/// let (mut gx, mut gy, mut magnitude) = (device.alloc(9)?, device.alloc(9)?, device.alloc(9)?);
/// let gradient =
///     Gradient { gx: gx.view_mut(), gy: gy.view_mut(), magnitude: magnitude.view_mut() };
/// sobel(&device.default_stream(), &input, gradient, [3, 3])?;
/// assert_eq!((gx.to_vec()?[4], gy.to_vec()?[4], magnitude.to_vec()?[4]), (12.0, 16.0, 20.0));
/// # Ok::<(), gpu_stencil::Error>(())
/// ```
pub fn sobel<'i>(
    stream: &Stream,
    input: impl Into<View<'i, f32>>,
    output: Gradient<'_>,
    extents: [usize; 2],
) -> Result<(), Error> {
    let (input, Gradient { mut gx, mut gy, mut magnitude }) = (input.into(), output);
    let lengths = [input.len(), gx.len(), gy.len(), magnitude.len()];
    let [rows, columns] = shape(extents, &lengths)?;
    stream.expect("input of a Sobel filter", input.device())?;
    for output in [&gx, &gy, &magnitude] {
        stream.expect("output of a Sobel filter", output.device())?;
    }
    // A device without kernels refuses before anything is written.
    if stream.device().kind() == gpu_core::Kind::Cpu {
        return Ok(launch::sobel(stream, input, gx, gy, magnitude, [rows, columns])?);
    }
    let elements = extents[0] * extents[1];
    for output in [&mut gx, &mut gy, &mut magnitude] {
        stream.memset(output.reborrow().into_slice(..elements), 0)?;
    }
    Ok(launch::sobel(stream, input, gx, gy, magnitude, [rows, columns])?)
}

/// The launch of each of [`sobel`]'s kernels.
pub fn sobel_launch_config(rows: u32, columns: u32) -> LaunchConfig {
    blocks(kernels::SOBEL_BLOCK, rows, columns)
}

// SAFETY: it owns its memory.
unsafe impl Resources for Mask {
    fn visit(&self, visitor: &mut Visitor<'_>) {
        visitor.buffer(&self.buffer);
    }
}
