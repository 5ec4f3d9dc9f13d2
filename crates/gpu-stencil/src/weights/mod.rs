//! Filters: their weights, and where their windows lie.

mod full;
mod separable;

pub use full::Filter;
pub use separable::SeparableFilter;

use gpu_std::float::Float;
use gpu_stencil_kernels::filter::geometry::MAX_EXTENT;

use crate::error::Error;

/// A type of weights, and of the sums of products with them: `f32`, `f64`.
pub trait Weight: gpu_core::Element + Float {
    /// The nearest value.
    fn from_f64(value: f64) -> Self;
}

impl Weight for f32 {
    fn from_f64(value: f64) -> f32 {
        value as f32
    }
}

impl Weight for f64 {
    fn from_f64(value: f64) -> f64 {
        value
    }
}

/// Refuses what is no extent of a filter.
pub(crate) fn expect_extent(what: &'static str, actual: usize) -> Result<(), Error> {
    let limit = MAX_EXTENT as usize;
    if actual == 0 || actual > limit { Err(Error::FilterExtent { what, actual, limit }) } else { Ok(()) }
}

/// Refuses an origin that would leave an output outside of its window, as SciPy does.
pub(crate) fn expect_origin(what: &'static str, extent: usize, actual: isize) -> Result<(), Error> {
    let (low, high) = (-(extent as isize / 2), (extent as isize - 1) / 2);
    if (low..=high).contains(&actual) { Ok(()) } else { Err(Error::Origin { what, actual, low, high }) }
}

/// How many elements before an output its window starts: SciPy's meaning of an origin, for correlations and
/// convolutions.
pub(crate) fn before(extent: usize, origin: isize, convolve: bool) -> i32 {
    let half = extent as isize / 2;
    let before = if convolve { (extent as isize - 1) / 2 - origin } else { half + origin };
    before as i32
}

/// Whether a Gaussian of this standard deviation changes nothing: up to it `scipy.ndimage.gaussian_filter` leaves an
/// axis out.
pub(crate) fn is_identity(sigma: f64) -> bool {
    sigma <= 1e-15
}

/// Refuses what is no standard deviation.
pub(crate) fn expect_sigma(sigma: f64) -> Result<(), Error> {
    if sigma >= 0.0 && sigma.is_finite() { Ok(()) } else { Err(Error::Sigma { actual: sigma }) }
}

/// The weights of a Gaussian of standard deviation `sigma`, from `-radius` to `radius`, normalised, as SciPy computes
/// them.
pub(crate) fn gaussian(sigma: f64, radius: usize) -> Result<Vec<f64>, Error> {
    expect_sigma(sigma)?;
    expect_extent("a Gaussian's extent", radius.saturating_mul(2).saturating_add(1))?;
    let radius = radius as i32;
    if is_identity(sigma) {
        // The limit, where the square of the deviation can be zero.
        return Ok((-radius..=radius).map(|x| f64::from(x == 0)).collect());
    }
    let variance = sigma * sigma;
    let raw: Vec<f64> = (-radius..=radius).map(|x| (-0.5 / variance * f64::from(x * x)).exp()).collect();
    let sum = pairwise_sum(&raw);
    Ok(raw.into_iter().map(|weight| weight / sum).collect())
}

/// The radius at which SciPy cuts a Gaussian off.
pub(crate) fn gaussian_radius(sigma: f64, truncate: f64) -> Result<usize, Error> {
    expect_sigma(sigma)?;
    if !(truncate >= 0.0 && truncate.is_finite()) {
        return Err(Error::Truncate { actual: truncate });
    }
    Ok((truncate * sigma + 0.5) as usize)
}

/// NumPy's sum of less than 128 numbers: one after the other below 8, else in eight chains.
fn pairwise_sum(values: &[f64]) -> f64 {
    let (chunks, rest) = values.as_chunks::<8>();
    let Some((first, chunks)) = chunks.split_first() else { return rest.iter().sum() };
    let mut sums = *first;
    for chunk in chunks {
        for (sum, value) in sums.iter_mut().zip(chunk) {
            *sum += value;
        }
    }
    let sum = ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
    rest.iter().fold(sum, |sum, value| sum + value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_start_where_scipys_do() {
        // correlate1d: size / 2 + origin; convolve1d: the origin negated, and one less for even sizes.
        assert_eq!([3, 4, 5].map(|extent| before(extent, 0, false)), [1, 2, 2]);
        assert_eq!([3, 4, 5].map(|extent| before(extent, 0, true)), [1, 1, 2]);
        assert_eq!([before(4, 1, false), before(4, 1, true)], [3, 0]);
        assert!(expect_origin("x", 4, 1).is_ok() && expect_origin("x", 4, -2).is_ok());
        assert!(matches!(expect_origin("x", 4, 2), Err(Error::Origin { low: -2, high: 1, .. })));
    }

    #[test]
    fn a_gaussian_of_no_width_is_the_identity() {
        for sigma in [0.0, -0.0, 5e-324, 1e-200, 1e-160, 1e-15, 1.1e-15, 1e-8, 0.01] {
            assert_eq!(gaussian_radius(sigma, 4.0).unwrap(), 0);
            assert_eq!(gaussian(sigma, 0).unwrap(), [1.0], "{sigma}");
            assert_eq!(gaussian(sigma, 2).unwrap(), [0.0, 0.0, 1.0, 0.0, 0.0], "{sigma}");
        }
    }

    #[test]
    fn what_is_no_gaussian_is_refused() {
        for sigma in [-5e-324, -1.0, f64::NAN, f64::INFINITY] {
            assert!(matches!(gaussian(sigma, 2), Err(Error::Sigma { .. })));
        }
        assert!(matches!(gaussian(1.0, 32), Err(Error::FilterExtent { actual: 65, limit: 63, .. })));
        assert!(matches!(gaussian_radius(1.0, f64::NAN), Err(Error::Truncate { .. })));
        assert_eq!(gaussian_radius(1.0, 4.0).unwrap(), 4);
        assert_eq!(gaussian_radius(0.9, 4.0).unwrap(), 4);
    }
}
