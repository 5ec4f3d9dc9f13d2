//! What a pivot becomes.

use gpu_std::device;
use gpu_std::float::Float;

/// A pivot's root, and what its column is multiplied by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pivot<T> {
    /// The square root, correctly rounded; NaN where the matrix is not positive definite.
    pub root: T,
    /// The root's reciprocal, but for three roundings; NaN where the matrix is not positive definite.
    pub reciprocal: T,
    /// Whether the pivot is positive and finite.
    pub is_positive: bool,
}

/// The pivot `square`.
///
/// The reciprocal of the root is `root · (1 / square)`: root and quotient are computed at the same time, which a quotient
/// of the root would have to wait for. Where `1 / square` overflows it is `1 / root`. A pivot that is not positive and finite gives
/// NaN, and with it everything that comes after.
#[device]
#[inline(always)]
pub fn pivot<T: Float>(square: T) -> Pivot<T> {
    let is_positive = square > T::ZERO && square * T::ZERO == T::ZERO;
    // The root of a negative number is none, and so is all that follows.
    let square = if is_positive { square } else { -T::ONE };
    let (root, quotient) = (square.sqrt(), T::ONE / square);
    let product = root * quotient;
    let reciprocal = if product * T::ZERO == T::ZERO || !is_positive { product } else { T::ONE / root };
    Pivot { root, reciprocal, is_positive }
}
