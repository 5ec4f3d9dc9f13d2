//! The outer product of two vectors, added to a matrix.

use gpu_core::cores;
use gpu_std::float::Float;

use crate::matrix::{Layout, Order};

/// [`crate::ger`] of slices.
///
/// # Panics
/// Where a slice is shorter than the layout says.
///
/// ```
/// use gpu_linalg::{Layout, reference};
/// let mut a = [1.0; 4];
/// reference::ger(2.0, &[1.0, 2.0], &[10.0, 20.0], (&mut a, Layout::row_major(2, 2)?));
/// assert_eq!(a, [21.0, 41.0, 41.0, 81.0]);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn ger<T: Float>(alpha: T, x: &[T], y: &[T], (a, layout): (&mut [T], Layout)) {
    if layout.is_empty() || alpha == T::ZERO {
        return;
    }
    let (of_lines, of_places) = match layout.order() {
        Order::RowMajor => (x, y),
        Order::ColumnMajor => (y, x),
    };
    cores::chunks(&mut a[..layout.span()], layout.leading_dimension(), 1, |number, line| {
        let factor = alpha * of_lines[number];
        for (a, &place) in line.iter_mut().zip(of_places) {
            *a = factor.mul_add(place, *a);
        }
    });
}
