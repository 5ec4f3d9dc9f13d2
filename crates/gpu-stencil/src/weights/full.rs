//! Filters with a weight for every place.

use gpu_core::{Buffer, Device, Resources, Visitor};

use super::{Weight, expect_extent, expect_origin};
use crate::error::Error;

/// A filter of `width` × `height` weights, rows one after the other. Weights are `f32` for all images but those of
/// `f64`; NaN and infinities among them are taken as they are.
///
/// Its origin has SciPy's meaning: an output's window starts `width / 2 + origin` pixels to its left, so a positive
/// origin moves the window to the left.
///
/// ```
/// use gpu_stencil::Filter;
/// let blur = Filter::new(2, 2, &[0.25f32; 4])?;
/// assert_eq!((blur.width(), blur.height()), (2, 2));
/// assert!(Filter::new(0, 2, &[0.0f32; 0]).is_err());
/// assert!(Filter::new(64, 1, &[0.0f32; 64]).is_err());
/// assert!(Filter::new(3, 1, &[0.0f32; 4]).is_err());
/// # Ok::<(), gpu_stencil::Error>(())
/// ```
#[derive(Debug)]
pub struct Filter<S: Weight> {
    width: usize,
    height: usize,
    origin: (isize, isize),
    weights: Vec<S>,
    uploaded: Option<Buffer<S>>,
}

impl<S: Weight> Filter<S> {
    /// The filter with these weights, its origin 0.
    ///
    /// # Errors
    /// [`Error::FilterExtent`] where an extent is 0 or more than 63, [`Error::Weights`] where there are not `width ·
    /// height` weights.
    pub fn new(width: usize, height: usize, weights: &[S]) -> Result<Self, Error> {
        expect_extent("a filter's width", width)?;
        expect_extent("a filter's height", height)?;
        if weights.len() != width * height {
            return Err(Error::Weights { expected: width * height, actual: weights.len() });
        }
        Ok(Self { width, height, origin: (0, 0), weights: weights.to_vec(), uploaded: None })
    }

    /// The same filter with its window moved, `x` pixels to the left and `y` upwards.
    ///
    /// # Errors
    /// [`Error::Origin`] where an output would not lie in its window.
    pub fn with_origin(self, x: isize, y: isize) -> Result<Self, Error> {
        expect_origin("a filter's origin along x", self.width, x)?;
        expect_origin("a filter's origin along y", self.height, y)?;
        Ok(Self { origin: (x, y), ..self })
    }

    /// The same filter with its weights in the memory of `device` too: filters of more weights than travel with a
    /// launch (31 × 31 of `f32`, 21 × 21 of `f64`) are read from there. Smaller ones, and the CPU, do not need it.
    ///
    /// # Errors
    /// [`Error::Device`] where the memory does not suffice.
    pub fn upload(self, device: &Device) -> Result<Self, Error> {
        let uploaded = Some(device.upload(&self.weights)?);
        Ok(Self { uploaded, ..self })
    }

    /// OpenCV's and NPP's sharpening: five times the pixel less its four neighbours.
    pub fn sharpen() -> Self {
        Self::cross(S::ONE + S::ONE + S::ONE + S::ONE + S::ONE, -S::ONE)
    }

    /// The Laplace operator on five points, as `scipy.ndimage.laplace` has it: the four neighbours less four times
    /// the pixel.
    pub fn laplace() -> Self {
        Self::cross(-(S::ONE + S::ONE + S::ONE + S::ONE), S::ONE)
    }

    fn cross(middle: S, arm: S) -> Self {
        let corner = S::ZERO;
        let weights = vec![corner, arm, corner, arm, middle, arm, corner, arm, corner];
        Self { width: 3, height: 3, origin: (0, 0), weights, uploaded: None }
    }

    /// Weights of a row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Rows.
    pub fn height(&self) -> usize {
        self.height
    }

    /// How far the window is moved to the left, and upwards.
    pub fn origin(&self) -> (isize, isize) {
        self.origin
    }

    /// The weights, rows one after the other.
    pub fn weights(&self) -> &[S] {
        &self.weights
    }

    /// The weights in device memory, if they were uploaded.
    pub(crate) fn uploaded(&self) -> Option<&Buffer<S>> {
        self.uploaded.as_ref()
    }
}

// SAFETY: it owns its memory.
unsafe impl<S: Weight> Resources for Filter<S> {
    fn visit(&self, visitor: &mut Visitor<'_>) {
        self.uploaded.visit(visitor);
    }
}
