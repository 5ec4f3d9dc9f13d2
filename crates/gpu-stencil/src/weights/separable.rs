//! Filters that are a row of weights times a column of weights.

use super::{Weight, expect_extent, expect_origin, gaussian, gaussian_radius};
use crate::error::Error;

/// A filter whose weight at (`x`, `y`) is `row[x] · column[y]`: computed in one pass, along the rows first.
///
/// Weights and origin are as those of a [`Filter`](crate::Filter).
///
/// ```
/// use gpu_stencil::SeparableFilter;
/// let gaussian = SeparableFilter::<f32>::gaussian(1.0, 4.0)?;
/// assert_eq!((gaussian.row().len(), gaussian.column().len()), (9, 9)); // as SciPy: 4 standard deviations to each side
/// assert_eq!(SeparableFilter::<f32>::gaussian(0.0, 4.0)?.row(), [1.0]); // the identity
/// assert!(SeparableFilter::<f32>::gaussian(-1.0, 4.0).is_err());
/// # Ok::<(), gpu_stencil::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SeparableFilter<S: Weight> {
    row: Vec<S>,
    column: Vec<S>,
    origin: (isize, isize),
}

impl<S: Weight> SeparableFilter<S> {
    /// The filter with these weights, its origin 0.
    ///
    /// # Errors
    /// [`Error::FilterExtent`] where there are none, or more than 63.
    pub fn new(row: &[S], column: &[S]) -> Result<Self, Error> {
        expect_extent("a filter's width", row.len())?;
        expect_extent("a filter's height", column.len())?;
        Ok(Self { row: row.to_vec(), column: column.to_vec(), origin: (0, 0) })
    }

    /// The same filter with its window moved, `x` pixels to the left and `y` upwards.
    ///
    /// # Errors
    /// [`Error::Origin`] where an output would not lie in its window.
    pub fn with_origin(self, x: isize, y: isize) -> Result<Self, Error> {
        expect_origin("a filter's origin along x", self.row.len(), x)?;
        expect_origin("a filter's origin along y", self.column.len(), y)?;
        Ok(Self { origin: (x, y), ..self })
    }

    /// A Gaussian of standard deviation `sigma`, cut off `truncate` standard deviations from its middle: SciPy's
    /// weights, computed in `f64` with the platform's `exp`, whose last bit may differ from NumPy's. SciPy's own
    /// default is 4. One of 0 is the identity.
    ///
    /// # Errors
    /// [`Error::Sigma`], [`Error::Truncate`]; [`Error::FilterExtent`] where it would be wider than 63.
    pub fn gaussian(sigma: f64, truncate: f64) -> Result<Self, Error> {
        Self::gaussian_of_radius(sigma, gaussian_radius(sigma, truncate)?)
    }

    /// A Gaussian of standard deviation `sigma`, `2 · radius + 1` weights wide.
    ///
    /// # Errors
    /// As [`SeparableFilter::gaussian`].
    pub fn gaussian_of_radius(sigma: f64, radius: usize) -> Result<Self, Error> {
        let weights: Vec<S> = gaussian(sigma, radius)?.into_iter().map(S::from_f64).collect();
        Self::new(&weights, &weights)
    }

    /// The mean of `width` × `height` pixels.
    ///
    /// # Errors
    /// [`Error::FilterExtent`] where an extent is 0 or more than 63.
    pub fn box_mean(width: usize, height: usize) -> Result<Self, Error> {
        let weights = |extent: usize| vec![S::from_f64(1.0 / extent.max(1) as f64); extent.min(64)];
        Self::new(&weights(width), &weights(height))
    }

    /// The weights of the row.
    pub fn row(&self) -> &[S] {
        &self.row
    }

    /// The weights of the column.
    pub fn column(&self) -> &[S] {
        &self.column
    }

    /// How far the window is moved to the left, and upwards.
    pub fn origin(&self) -> (isize, isize) {
        self.origin
    }
}
