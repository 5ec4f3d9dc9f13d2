//! Products of a vector and a matrix of which one triangle is stored.

use gpu_core::cores;
use gpu_linalg_kernels::triangle::TILE;
use gpu_std::float::Float;

use super::finish;
use crate::api::{Diagonal, Triangle};
use crate::matrix::Layout;

/// [`crate::symv`] of slices.
///
/// # Panics
/// Where a slice is shorter than the layout says.
pub fn symv<T: Float>(
    triangle: Triangle,
    alpha: T,
    (a, layout): (&[T], Layout),
    x: &[T],
    beta: T,
    y: &mut [T],
) {
    let columns = if alpha == T::ZERO { 0 } else { layout.columns() };
    cores::elements(y, |row, y| {
        let sum = sum(columns, |column, sum| {
            let stored = triangle.holds(row, column);
            let at = if stored { layout.index(row, column) } else { layout.index(column, row) };
            a[at].mul_add(x[column], sum)
        });
        *y = finish(alpha, sum, beta, || *y);
    });
}

/// [`crate::trmv`] of slices.
///
/// # Panics
/// Where a slice is shorter than the layout says.
pub fn trmv<T: Float>(triangle: Triangle, diagonal: Diagonal, (a, layout): (&[T], Layout), x: &mut [T]) {
    let old = x.to_vec();
    cores::elements(x, |row, x| {
        let sum = sum(layout.columns(), |column, sum| match (triangle.holds(row, column), diagonal) {
            (false, _) => sum,
            (true, Diagonal::Unit) if row == column => old[column] + sum,
            (true, _) => a[layout.index(row, column)].mul_add(old[column], sum),
        });
        *x = finish(T::ONE, sum, T::ZERO, || T::ZERO);
    });
}

/// The pieces in ascending order, each a chain over its columns in ascending order.
fn sum<T: Float>(columns: usize, next: impl Fn(usize, T) -> T) -> T {
    let piece = |start: usize| {
        (start..(start + TILE as usize).min(columns)).fold(T::ZERO, |sum, column| next(column, sum))
    };
    (0..columns).step_by(TILE as usize).map(piece).reduce(|sum, piece| sum + piece).unwrap_or(T::ZERO)
}
