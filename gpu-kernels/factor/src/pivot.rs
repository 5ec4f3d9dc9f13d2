//! What a pivot becomes: its root, and the [reciprocal of that](Root).

use gpu_std::device;
use gpu_std::float::Float;

/// A type whose numbers have reciprocal roots that are computed without quotients and roots, which have to wait for
/// their own exceptions: the pivots of a matrix wait for one another.
pub trait Root: Float {
    /// `1 / √self` of a positive number, but for two roundings; of any other some number.
    ///
    /// An estimate from the number's bits (Lomont, *Fast inverse square root*, 2003), and then steps of third order
    /// (Householder): with `e = 1 - x y²` from y to `y + y e (1/2 + 3/8 e)`, two in `f32` and of `f64` one more. The
    /// relative error goes from 0.035 to 1.1e-4 and 1.5e-7, which is rounding, and the last step leaves less than two
    /// units in the last place.
    fn reciprocal_root(self) -> Self;
}

/// A step of third order.
#[inline(always)]
fn refined<T: Float>(square: T, y: T, half: T, three_eighths: T) -> T {
    let e = (-(square * y)).mul_add(y, T::ONE);
    (e * y).mul_add(e.mul_add(three_eighths, half), y)
}

/// That of a normal number.
#[inline(always)]
fn of_normal(square: f32) -> f32 {
    let mut y = f32::from_bits(0x5f37_59df_u32.wrapping_sub(square.to_bits() >> 1));
    y = refined(square, y, 0.5, 0.375);
    refined(square, y, 0.5, 0.375)
}

impl Root for f32 {
    #[inline(always)]
    fn reciprocal_root(self) -> Self {
        // Subnormal numbers have no exponent in their bits.
        let is_tiny = self < f32::MIN_POSITIVE;
        let y = of_normal(if is_tiny { self * (1_u32 << 24) as f32 } else { self });
        if is_tiny { y * (1_u32 << 12) as f32 } else { y }
    }
}

impl Root for f64 {
    #[inline(always)]
    fn reciprocal_root(self) -> Self {
        let is_tiny = self < f64::MIN_POSITIVE;
        let bits = (if is_tiny { self * (1_u64 << 54) as f64 } else { self }).to_bits();
        // The number is `square · 4ᵏ`, and that in [1, 4), where `f32` has it.
        let k = ((bits >> 52).wrapping_add(1) >> 1).wrapping_sub(512);
        let square = f64::from_bits(bits.wrapping_sub(k << 53));
        let y = refined(square, f64::from(of_normal(square as f32)), 0.5, 0.375);
        let k = if is_tiny { k.wrapping_sub(27) } else { k };
        f64::from_bits(y.to_bits().wrapping_sub(k << 52))
    }
}

/// Whether a pivot is positive and finite.
#[device]
#[inline(always)]
fn is_positive<T: Float>(square: T) -> bool {
    square > T::ZERO && square * T::ZERO == T::ZERO
}

/// The reciprocal of a pivot's root; NaN where the pivot is not positive and finite, and with it everything that comes
/// after. And whether it is.
#[device]
#[inline(always)]
pub(crate) fn reciprocal<T: Root>(square: T) -> (T, bool) {
    let (y, is_positive) = (square.reciprocal_root(), is_positive(square));
    // Zero times infinity is no number.
    (if is_positive { y } else { T::ZERO * (T::ONE / T::ZERO) }, is_positive)
}

/// A pivot's root, correctly rounded; NaN where the pivot is not positive and finite.
#[device]
#[inline(always)]
pub(crate) fn root<T: Float>(square: T) -> T {
    // The root of a negative number is none.
    (if is_positive(square) { square } else { -T::ONE }).sqrt()
}

#[cfg(test)]
mod tests {
    use super::Root;

    /// `|y √x - 1|` of `f64`, of which `√x` has a rounding of its own.
    fn error(x: f64, y: f64) -> f64 {
        (y * x.sqrt() - 1.0).abs()
    }

    /// At the ends of the range, at every power of two, and at numbers between.
    #[test]
    fn reciprocal_roots_are_within_two_units() {
        let fractions = (0..1000).map(|at| 1.0 + at as f64 / 1000.0);
        for fraction in fractions {
            for exponent in -1022..=1023 {
                let x = fraction * 2f64.powi(exponent);
                assert!(error(x, x.reciprocal_root()) <= 3.0 * f64::EPSILON, "{x:e}");
            }
            for exponent in -126..=127 {
                let x = fraction as f32 * 2f32.powi(exponent);
                assert!(error(x.into(), x.reciprocal_root().into()) <= f32::EPSILON.into(), "{x:e}");
            }
        }
        for x in [f64::from_bits(1), f64::from_bits(2), f64::from_bits((1 << 52) - 1), 1e-310, f64::MAX] {
            assert!(error(x, x.reciprocal_root()) <= 3.0 * f64::EPSILON, "{x:e}");
        }
        for x in [f32::from_bits(1), f32::from_bits(2), f32::from_bits((1 << 23) - 1), 1e-40, f32::MAX] {
            assert!(error(x.into(), x.reciprocal_root().into()) <= f32::EPSILON.into(), "{x:e}");
        }
        assert_eq!(
            (4f64.reciprocal_root(), 0.25f32.reciprocal_root(), 1f64.reciprocal_root()),
            (0.5, 2.0, 1.0)
        );
    }
}
