//! Straight lines through what was measured.

/// `base + slope · x`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// Where x is 0.
    pub base: f64,
    /// What one more of x adds.
    pub slope: f64,
}

impl Line {
    /// Its value at `x`.
    pub fn at(&self, x: f64) -> f64 {
        self.base + self.slope * x
    }
}

/// The line that is off least, in the sum of squares of its relative errors: a fit by absolute ones would only see the
/// largest. `None` with fewer than two different places, or values that are not positive.
///
/// ```
/// use gpu_model::calibrate::{Line, line};
/// assert_eq!(line(&[(1.0, 5.0), (2.0, 7.0), (4.0, 11.0)]).map(|line| line.at(3.0).round()), Some(9.0));
/// assert_eq!(line(&[(1.0, 5.0), (1.0, 7.0)]), None);
/// ```
pub fn line(points: &[(f64, f64)]) -> Option<Line> {
    if points.iter().any(|&(_, y)| y.is_nan() || y <= 0.0) {
        return None;
    }
    // Weights 1/y²; the normal equations of base and slope.
    let sum = |of: fn(f64, f64) -> f64| points.iter().map(|&(x, y)| of(x, y) / (y * y)).sum::<f64>();
    let (ones, xs, squares) = (sum(|_, _| 1.0), sum(|x, _| x), sum(|x, _| x * x));
    let (ys, products) = (sum(|_, y| y), sum(|x, y| x * y));
    let determinant = ones * squares - xs * xs;
    // Of n points at one place it is 0 but for rounding.
    if determinant <= 1e-9 * ones * squares {
        return None;
    }
    Some(Line {
        base: (ys * squares - xs * products) / determinant,
        slope: (ones * products - xs * ys) / determinant,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_found_again() {
        let points: Vec<_> = [16.0, 64.0, 128.0, 1024.0].map(|x| (x, 3450.0 + 17.0 * x)).to_vec();
        let found = line(&points).expect("four places");
        assert!((found.base - 3450.0).abs() < 1e-6 && (found.slope - 17.0).abs() < 1e-9, "{found:?}");
        assert_eq!(line(&[]), None);
        assert_eq!(line(&[(1.0, 0.0), (2.0, 1.0)]), None);
        assert_eq!(line(&[(1.0, f64::NAN), (2.0, 1.0)]), None);
    }
}
