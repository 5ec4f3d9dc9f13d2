//! Positive definite matrices, and how far a factor is from one.

use gpu_core::Layout;
use gpu_linalg::{FactorElement, Triangle};
use gpu_tests::compare::Bits;
use gpu_tests::data::random;

/// `f32` and `f64`.
pub trait Real: FactorElement + Bits + Into<f64> {
    /// Its unit roundoff.
    const UNIT: f64;
    fn of(value: f64) -> Self;
}

impl Real for f32 {
    const UNIT: f64 = f32::EPSILON as f64 / 2.0;
    fn of(value: f64) -> Self {
        value as f32
    }
}

impl Real for f64 {
    const UNIT: f64 = f64::EPSILON / 2.0;
    fn of(value: f64) -> Self {
        value
    }
}

/// The lower triangle of a positive definite matrix, row-major, whose row `i` begins with column `start(i)`: numbers in
/// [-1, 1), and a diagonal larger than the rest of its row and column.
pub fn positive_definite<T: Real>(seed: u64, n: usize, start: impl Fn(usize) -> usize) -> Vec<T> {
    let mut a = vec![0.0; n * n];
    let mut sums = vec![1.0; n];
    for row in 0..n {
        for column in start(row)..row {
            // 20 bits: exact in either type.
            let value = (random(seed, row * n + column) >> 44) as f64 / (1 << 19) as f64 - 1.0;
            a[row * n + column] = value;
            sums[row] += f64::abs(value);
            sums[column] += f64::abs(value);
        }
    }
    for (at, sum) in sums.into_iter().enumerate() {
        // Not too much larger, so that the rest of the factor does not vanish beside it.
        a[at * n + at] = (sum / 2.0).max(1.0) + 0.5;
    }
    a.into_iter().map(T::of).collect()
}

/// The lower triangle put into `layout` as its `triangle`, everything else being `other`.
pub fn stored<T: Real>(lower: &[T], n: usize, layout: Layout, triangle: Triangle, other: T) -> Vec<T> {
    let mut memory = vec![other; layout.span().max(1)];
    for row in 0..n {
        for column in 0..=row {
            memory[place(layout, triangle, row, column)] = lower[row * n + column];
        }
    }
    memory
}

/// Where the lower triangle's element lies.
pub fn place(layout: Layout, triangle: Triangle, row: usize, column: usize) -> usize {
    match triangle {
        Triangle::Lower => layout.index(row, column),
        Triangle::Upper => layout.index(column, row),
    }
}

/// Checks `|A - L · Lᵀ| ≤ gamma_{n + 5} |L| |Lᵀ|` (Higham, *Accuracy and Stability of Numerical Algorithms*, 2nd ed.,
/// theorem 10.3, with the roundings of a reciprocal), of row-major lower triangles. The products are added in `f64`,
/// which adds as many of its own roundings.
#[track_caller]
pub fn assert_factor<T: Real>(l: &[T], a: &[T], n: usize, context: &str) {
    let gamma = |unit: f64| (n + 5) as f64 * unit / (1.0 - (n + 5) as f64 * unit);
    let bound = gamma(T::UNIT) + gamma(f64::UNIT);
    let of = |matrix: &[T], row: usize, column: usize| -> f64 { matrix[row * n + column].into() };
    for row in 0..n {
        for column in 0..=row {
            let products = (0..=column).map(|k| of(l, row, k) * of(l, column, k));
            let (sum, size) =
                products.fold((0.0, 0.0), |(sum, size), product: f64| (sum + product, size + product.abs()));
            let difference = (of(a, row, column) - sum).abs();
            assert!(
                difference <= bound * size,
                "{context}: ({row}, {column}) is {difference:e} away, the bound is {:e}",
                bound * size
            );
        }
    }
}
