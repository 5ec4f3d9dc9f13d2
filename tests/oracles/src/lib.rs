//! The inner loops of the tests' oracles: serial and simple. Tests are built without optimization, in which these loops
//! took half of the time of all products' tests, so that they are a package of their own. Nothing here is generic: what
//! is would be compiled where it is used.

/// The sum of products in ascending order, and the sum of their sizes.
///
/// # Panics
/// Where there are not as many of both.
///
/// ```
/// assert_eq!(gpu_oracles::dot(&[1.0, -2.0], &[3.0, 4.0]), (-5.0, 11.0));
/// ```
pub fn dot(a: &[f64], b: &[f64]) -> (f64, f64) {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).fold((0.0, 0.0), |(sum, sizes), (a, b)| (sum + a * b, sizes + (a * b).abs()))
}
