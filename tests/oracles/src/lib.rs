//! The inner loops of the tests' oracles: serial and simple. Tests are built without optimization, in which these loops
//! took half of the time of all products' tests, so that they are a package of their own. Nothing here is generic: what
//! is would be compiled where it is used.

use std::cmp::Ordering;

/// The numbers below `count` in a stable order.
///
/// ```
/// let keys = [3, 1, 2, 1];
/// assert_eq!(gpu_oracles::stable_order(4, &|a, b| keys[a as usize].cmp(&keys[b as usize])), [1, 3, 2, 0]);
/// ```
pub fn stable_order(count: u32, compare: &dyn Fn(u32, u32) -> Ordering) -> Vec<u32> {
    let mut order: Vec<u32> = (0..count).collect();
    order.sort_by(|&a, &b| compare(a, b));
    order
}

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
