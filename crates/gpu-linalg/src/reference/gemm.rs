//! Products of matrices.

use gpu_core::cores;
use gpu_std::float::Float;

use super::{finish, gemv};
use crate::api::Triangle;
use crate::launch::RealElement;
use crate::matrix::{BatchLayout, Order};
use crate::plan::gemm::{AsVector, Split, Sums};

/// [`crate::gemm`] of slices with their layouts.
///
/// # Panics
/// Where shapes do not fit together, or a slice is shorter than its batch.
///
/// ```
/// use gpu_linalg::{BatchLayout, Layout, reference};
/// let layout = BatchLayout { matrix: Layout::row_major(2, 2)?, count: 1, stride: 0 };
/// let (a, b, mut c) = ([1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [0.0; 4]);
/// reference::gemm(1.0, (&a, layout), (&b, layout), 0.0, (&mut c, layout));
/// assert_eq!(c, [19.0, 22.0, 43.0, 50.0]);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn gemm<T: RealElement>(
    alpha: T,
    (a, a_layout): (&[T], BatchLayout),
    (b, b_layout): (&[T], BatchLayout),
    beta: T,
    (c, c_layout): (&mut [T], BatchLayout),
) {
    if let Some(AsVector { matrix, is_left }) = AsVector::of::<T>([a_layout, b_layout, c_layout]) {
        let (of_matrix, x) = if is_left { (a, b) } else { (b, a) };
        let y = &mut c[..matrix.rows()];
        return gemv(alpha, of_matrix, matrix, x, beta, y).expect("there is a plan for it");
    }
    by_tiles((None, Sums::Parts), alpha, (a, a_layout), (b, b_layout), beta, (c, c_layout));
}

/// Every product as one of matrices, a single row or column too; of C, if a triangle is given, only that, and with sums
/// as they are asked for.
pub(crate) fn by_tiles<T: Float>(
    (triangle, sums): (Option<Triangle>, Sums),
    alpha: T,
    (a, a_layout): (&[T], BatchLayout),
    (b, b_layout): (&[T], BatchLayout),
    beta: T,
    (c, c_layout): (&mut [T], BatchLayout),
) {
    if c_layout.matrix.order() == Order::ColumnMajor {
        let (a, b) = ((a, a_layout.transposed()), (b, b_layout.transposed()));
        let triangle = triangle.map(Triangle::other);
        return by_tiles((triangle, sums), alpha, b, a, beta, (c, c_layout.transposed()));
    }
    let (m, n) = c_layout.matrix.shape();
    let k = if alpha == T::ZERO { 0 } else { a_layout.matrix.columns() };
    let (a_matrix, b_matrix) = (a_layout.matrix, b_layout.matrix);
    if m == 0 || n == 0 {
        return;
    }
    let split = sums.split(k, || Split::of_part(size_of::<T>(), k, c_layout, triangle.is_some()));
    for number in 0..c_layout.count {
        // Factors without elements may have any stride.
        let (a, b) = (from(a, number * a_layout.stride), from(b, number * b_layout.stride));
        let c = &mut c[number * c_layout.stride..][..c_layout.matrix.span()];
        cores::chunks(c, c_layout.matrix.leading_dimension(), 1, |row, c| {
            // Of each element and part one chain over ascending k; the row's elements side by side.
            let mut totals = vec![T::ZERO; n];
            for part in split.ranges(k) {
                let mut sums = vec![T::ZERO; n];
                for k in part {
                    let factor = a[a_matrix.index(row, k)];
                    for (column, sum) in sums.iter_mut().enumerate() {
                        *sum = factor.mul_add(b[b_matrix.index(k, column)], *sum);
                    }
                }
                // To the zero before the first part nothing is lost but a sign of zero, which `finish` does not keep.
                totals.iter_mut().zip(sums).for_each(|(total, sum)| *total = *total + sum);
            }
            let columns = triangle.map_or(0..n, |triangle| triangle.columns(row, n));
            for (c, &sum) in c[columns.clone()].iter_mut().zip(&totals[columns]) {
                *c = finish(alpha, sum, beta, || *c);
            }
        });
    }
}

fn from<T>(slice: &[T], start: usize) -> &[T] {
    slice.get(start..).unwrap_or(&[])
}
