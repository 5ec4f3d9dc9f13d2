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

    /// Whether it is positive and finite.
    fn is_positive(self) -> bool;
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
        // Mutants: a normal number has the same root scaled by a power of four.
        let is_tiny = self < f32::MIN_POSITIVE;
        let y = of_normal(if is_tiny { self * (1_u32 << 24) as f32 } else { self });
        if is_tiny { y * (1_u32 << 12) as f32 } else { y }
    }

    #[inline(always)]
    fn is_positive(self) -> bool {
        self.to_bits().wrapping_sub(1) < f32::MAX.to_bits()
    }
}

impl Root for f64 {
    #[inline(always)]
    fn reciprocal_root(self) -> Self {
        // By the upper half of its bits: where it starts with a one the number is negative, and the result of no
        // account.
        let upper = |x: f64| (x.to_bits() >> 32) as u32;
        let with_upper =
            |x: f64, upper: u32| f64::from_bits((x.to_bits() as u32 as u64) | (upper as u64) << 32);
        // Mutants: a normal number has the same root scaled by a power of four.
        let is_tiny = upper(self) < 1 << 20;
        let scaled = if is_tiny { self * (1_u64 << 54) as f64 } else { self };
        // The number is `square · 4ᵏ`, and that in [1, 4), where `f32` has it: the exponent and one more is 2(k + 512)
        // or one above.
        let raised = upper(scaled).wrapping_add(1 << 20);
        let square = with_upper(scaled, (raised & 0x001f_ffff).wrapping_add(1023 << 20));
        let y = refined(square, f64::from(of_normal(square as f32)), 0.5, 0.375);
        let k =
            ((raised & 0xffe0_0000) >> 1).wrapping_sub(if is_tiny { (512 + 27) << 20 } else { 512 << 20 });
        with_upper(y, upper(y).wrapping_sub(k))
    }

    #[inline(always)]
    fn is_positive(self) -> bool {
        self.to_bits().wrapping_sub(1) < f64::MAX.to_bits()
    }
}

/// The reciprocal of a pivot's root; NaN where the pivot is not positive and finite, and with it everything that comes
/// after.
#[device]
#[inline(always)]
pub(crate) fn reciprocal<T: Root>(square: T) -> T {
    let y = square.reciprocal_root();
    // Zero times infinity is no number.
    if square.is_positive() { y } else { T::ZERO * (T::ONE / T::ZERO) }
}

/// A pivot's root, correctly rounded; NaN where the pivot is not positive and finite.
#[device]
#[inline(always)]
pub(crate) fn root<T: Root>(square: T) -> T {
    // The root of a negative number is none.
    (if square.is_positive() { square } else { -T::ONE }).sqrt()
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
