//! Weights and where they lie.

use gpu_std::float::Float;

use crate::error::Error;

/// The largest radius of a stencil.
pub const MAX_RADIUS: usize = 4;

/// Which neighbours a stencil has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// Those along the axes: `2 · dimensions · radius`, and the cell.
    Star,
    /// All within the radius along each axis: `(2 · radius + 1) ^ dimensions` with the cell.
    Box,
}

impl Shape {
    /// The number of weights; `usize::MAX` where there are more.
    ///
    /// ```
    /// use gpu_stencil::iterate::Shape;
    /// assert_eq!((Shape::Star.weights(2, 1), Shape::Box.weights(3, 2)), (5, 125));
    /// ```
    pub const fn weights(self, dimensions: usize, radius: usize) -> usize {
        match self {
            Self::Star => dimensions.saturating_mul(2).saturating_mul(radius).saturating_add(1),
            Self::Box => {
                let side = radius.saturating_mul(2).saturating_add(1);
                // A side of 3 is more than a `usize` counts in 41 dimensions.
                side.saturating_pow(if dimensions > 64 { 64 } else { dimensions as u32 })
            }
        }
    }

    /// Whether the shape has a neighbour so far away, its radius given.
    fn contains(self, distance: [i32; 3]) -> bool {
        self == Self::Box || distance.iter().filter(|&&along| along != 0).count() <= 1
    }
}

/// A star or a box of weights, on a plane or in a volume.
///
/// ```
/// use gpu_stencil::iterate::{Shape, Stencil};
/// let heat = Stencil::heat(2, 0.2)?;
/// assert_eq!(heat, Stencil::new(2, Shape::Star, 1, &[0.2, 0.2, 1.0 - 4.0 * 0.2, 0.2, 0.2])?);
/// # Ok::<(), gpu_stencil::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Stencil<T> {
    dimensions: usize,
    shape: Shape,
    radius: usize,
    weights: Vec<T>,
    source_factor: T,
}

impl<T: Float> Stencil<T> {
    /// A stencil of 2 or 3 `dimensions` and a radius of 1 to [`MAX_RADIUS`], with [`Shape::weights`] weights in the
    /// order in which the neighbours lie in memory: a star of radius 1 on a plane has those above, to the left, of
    /// the cell, to the right, below. A source is added as it is.
    ///
    /// Weights that are not numbers make results that are not.
    ///
    /// # Errors
    /// [`Error::StencilDimensions`], [`Error::Radius`], [`Error::Weights`].
    pub fn new(dimensions: usize, shape: Shape, radius: usize, weights: &[T]) -> Result<Self, Error> {
        expect_dimensions(dimensions)?;
        if !(1..=MAX_RADIUS).contains(&radius) {
            return Err(Error::Radius { actual: radius, limit: MAX_RADIUS });
        }
        let expected = shape.weights(dimensions, radius);
        if weights.len() != expected {
            return Err(Error::Weights { expected, actual: weights.len() });
        }
        Ok(Self { dimensions, shape, radius, weights: weights.to_vec(), source_factor: T::ONE })
    }

    /// A step of Jacobi's method for Poisson's equation, `Laplacian u = source`, with second differences of cells
    /// `spacing` apart: the mean of the neighbours less `spacing² · source / (2 · dimensions)`. Without a source,
    /// Laplace's equation.
    ///
    /// # Errors
    /// [`Error::StencilDimensions`]; [`Error::NotFinite`] where `spacing` or its square is not.
    pub fn jacobi(dimensions: usize, spacing: T) -> Result<Self, Error> {
        expect_dimensions(dimensions)?;
        expect_finite("the spacing", spacing)?;
        expect_finite("the square of the spacing", spacing * spacing)?;
        let neighbours = count::<T>(2 * dimensions);
        let stencil = Self::star(dimensions, T::ONE / neighbours, T::ZERO)?;
        Ok(stencil.with_source_factor(-(spacing * spacing) / neighbours))
    }

    /// A step of the heat equation by Euler's explicit method: `u + alpha · (sum of the neighbours - 2 · dimensions ·
    /// u)`, with `alpha` the diffusivity times the step of time over the square of the spacing. Stable up to `1 / (2
    /// · dimensions)`. A source is added as it is, so it is what comes in a step.
    ///
    /// # Errors
    /// [`Error::StencilDimensions`]; [`Error::NotFinite`] where `alpha`, or the weight of the cell that it makes, is
    /// not.
    pub fn heat(dimensions: usize, alpha: T) -> Result<Self, Error> {
        expect_dimensions(dimensions)?;
        expect_finite("alpha", alpha)?;
        let cell = T::ONE - count::<T>(2 * dimensions) * alpha;
        expect_finite("the weight of the cell", cell)?;
        Self::star(dimensions, alpha, cell)
    }

    fn star(dimensions: usize, neighbour: T, cell: T) -> Result<Self, Error> {
        let mut weights = vec![neighbour; Shape::Star.weights(dimensions, 1)];
        weights[dimensions] = cell;
        Self::new(dimensions, Shape::Star, 1, &weights)
    }

    /// The same with a source that is multiplied by `factor`.
    #[must_use]
    pub fn with_source_factor(self, factor: T) -> Self {
        Self { source_factor: factor, ..self }
    }

    /// 2 or 3.
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// Star or box.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// How far it reaches along each axis.
    pub fn radius(&self) -> usize {
        self.radius
    }

    /// The weights, in the order in which the neighbours lie in memory.
    pub fn weights(&self) -> &[T] {
        &self.weights
    }

    /// What a source is multiplied by.
    pub fn source_factor(&self) -> T {
        self.source_factor
    }

    /// How far it reaches through planes, rows and columns.
    pub(super) fn reach(&self) -> [usize; 3] {
        [if self.dimensions == 3 { self.radius } else { 0 }, self.radius, self.radius]
    }

    /// Each weight with the neighbour's distance in planes, rows and columns.
    pub(super) fn taps(&self) -> impl Iterator<Item = ([i32; 3], T)> + '_ {
        let [depth, radius, _] = self.reach().map(|reach| reach as i32);
        let places = (-depth..=depth).flat_map(move |plane| {
            (-radius..=radius).flat_map(move |row| (-radius..=radius).map(move |column| [plane, row, column]))
        });
        let shape = self.shape;
        places.filter(move |&place| shape.contains(place)).zip(self.weights.iter().copied())
    }
}

/// A small number.
fn count<T: Float>(count: usize) -> T {
    (0..count).fold(T::ZERO, |sum, _| sum + T::ONE)
}

fn expect_dimensions(dimensions: usize) -> Result<(), Error> {
    if (2..=3).contains(&dimensions) {
        return Ok(());
    }
    Err(Error::StencilDimensions { actual: dimensions })
}

fn expect_finite<T: Float>(what: &'static str, value: T) -> Result<(), Error> {
    // Of what is not finite no multiple is zero.
    if value * T::ZERO == T::ZERO {
        Ok(())
    } else {
        Err(Error::NotFinite { what, actual: format!("{value:?}") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taps_are_in_the_order_of_memory() {
        let star = Stencil::new(3, Shape::Star, 1, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]).unwrap();
        let places: Vec<[i32; 3]> = star.taps().map(|(place, _)| place).collect();
        let expected = [[-1, 0, 0], [0, -1, 0], [0, 0, -1], [0, 0, 0], [0, 0, 1], [0, 1, 0], [1, 0, 0]];
        assert_eq!(places, expected);
        for (dimensions, shape, radius) in
            [(2, Shape::Star, 4), (2, Shape::Box, 3), (3, Shape::Star, 2), (3, Shape::Box, 4)]
        {
            let weights = vec![1.0; shape.weights(dimensions, radius)];
            let stencil = Stencil::new(dimensions, shape, radius, &weights).unwrap();
            assert_eq!(stencil.taps().count(), weights.len());
            let places: Vec<[i32; 3]> = stencil.taps().map(|(place, _)| place).collect();
            assert!(places.is_sorted() && places.contains(&[0; 3]));
        }
    }

    #[test]
    fn what_cannot_be_a_stencil_is_refused() {
        assert!(matches!(Stencil::<f32>::heat(4, 0.1), Err(Error::StencilDimensions { actual: 4 })));
        assert!(matches!(Stencil::heat(2, f32::INFINITY), Err(Error::NotFinite { what: "alpha", .. })));
        assert!(matches!(Stencil::jacobi(2, f64::NAN), Err(Error::NotFinite { what: "the spacing", .. })));
        for dimensions in [0, 1, 4, 1 << 34, usize::MAX] {
            let refused = [Stencil::<f32>::heat(dimensions, 0.1), Stencil::jacobi(dimensions, 1.0)];
            for refused in refused.into_iter().chain([Stencil::new(dimensions, Shape::Box, 1, &[])]) {
                let Err(Error::StencilDimensions { actual }) = refused else { panic!("{refused:?}") };
                assert_eq!(actual, dimensions);
            }
        }
        assert!(matches!(
            Stencil::new(2, Shape::Star, 5, &[0.0; 21]),
            Err(Error::Radius { actual: 5, limit: 4 })
        ));
        assert!(matches!(
            Stencil::<f32>::new(2, Shape::Box, 0, &[0.0]),
            Err(Error::Radius { actual: 0, .. })
        ));
        assert!(matches!(
            Stencil::new(3, Shape::Box, 1, &[0.0; 26]),
            Err(Error::Weights { expected: 27, actual: 26 })
        ));
    }

    #[test]
    fn numbers_whose_weights_are_not_finite_are_refused() {
        for (refused, named) in [
            (Stencil::jacobi(2, f32::MAX), "the square of the spacing"),
            (Stencil::jacobi(3, -f32::MAX), "the square of the spacing"),
            (Stencil::heat(2, f32::MAX), "the weight of the cell"),
            (Stencil::heat(3, -f32::MAX), "the weight of the cell"),
        ] {
            let Err(Error::NotFinite { what, actual }) = refused else { panic!("{refused:?}") };
            assert!(what == named && actual.contains("inf"), "{what} {actual}");
        }
        let most = Stencil::heat(3, f64::MAX / 8.0).unwrap();
        assert!(most.weights().iter().all(|weight| weight.is_finite()));
        let most = Stencil::jacobi(3, f64::MAX.sqrt()).unwrap();
        assert!(most.source_factor().is_finite());
    }

    #[test]
    fn weights_are_counted_whatever_the_shape() {
        assert_eq!((Shape::Star.weights(usize::MAX, 0), Shape::Box.weights(usize::MAX, 0)), (1, 1));
        assert_eq!((Shape::Star.weights(0, usize::MAX), Shape::Box.weights(0, usize::MAX)), (1, 1));
        assert_eq!(Shape::Box.weights(40, 1), 3_usize.pow(40));
        for (dimensions, radius) in [(usize::MAX, usize::MAX), (1 << 32, 1), (41, 1), (2, 1 << 32)] {
            assert_eq!(Shape::Box.weights(dimensions, radius), usize::MAX, "{dimensions} {radius}");
        }
        assert_eq!(Shape::Star.weights(usize::MAX, usize::MAX), usize::MAX);
        assert_eq!(Shape::Star.weights(1 << 32, 1 << 32), usize::MAX);
    }

    #[test]
    fn the_named_ones_have_their_weights() {
        let jacobi = Stencil::jacobi(3, 2.0f64).unwrap();
        assert_eq!(jacobi.weights()[3], 0.0);
        assert_eq!((jacobi.weights()[0], jacobi.source_factor()), (1.0 / 6.0, -4.0 / 6.0));
        assert_eq!(Stencil::heat(3, 0.125f32).unwrap().weights()[3], 0.25);
    }
}
