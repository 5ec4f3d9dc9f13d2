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

/// How many rows each row of a triangle waits for one after the other, itself included: by what that means, again and
/// again until none changes. Up and down, so that few rounds do for either triangle: a long chain would else take one
/// for each row. Row `r` has the columns `indices[offsets[r]..offsets[r + 1]]`, of which its own does not count.
///
/// ```
/// assert_eq!(gpu_oracles::levels(&[0, 1, 3, 4], &[0, 0, 1, 1]), [1, 2, 3]);
/// ```
pub fn levels(offsets: &[u32], indices: &[u32]) -> Vec<u32> {
    let rows = offsets.len() - 1;
    let mut levels = vec![1; rows];
    loop {
        let mut changed = false;
        for row in (0..rows).chain((0..rows).rev()) {
            let columns = &indices[offsets[row] as usize..offsets[row + 1] as usize];
            for &column in columns.iter().filter(|&&column| column as usize != row) {
                if levels[row] <= levels[column as usize] {
                    levels[row] = levels[column as usize] + 1;
                    changed = true;
                }
            }
        }
        if !changed {
            return levels;
        }
    }
}
