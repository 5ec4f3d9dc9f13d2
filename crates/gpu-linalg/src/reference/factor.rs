//! Cholesky factorisations, and the solutions of systems by them.

use gpu_core::cores;
use gpu_factor_kernels::Root;
use gpu_std::float::Float;

use crate::api::Triangle;
use crate::matrix::BatchLayout;
#[cfg(test)]
use crate::matrix::Layout;
use crate::plan::factor::strides;

/// The root of a pivot and the root's reciprocal, where it is positive and finite.
pub(crate) fn pivot<T: Root>(square: T) -> Option<(T, T)> {
    let is_positive = square > T::ZERO && square * T::ZERO == T::ZERO;
    is_positive.then(|| (square.sqrt(), square.reciprocal_root()))
}

/// Factors `l`, a row-major array of `columns` rows and columns. What is above the diagonal is not read. The order of the first minor that is
/// not positive definite, or zero. The reciprocals of the roots go to `roots`.
fn square<T: Root>(l: &mut [T], columns: usize, roots: &mut [T]) -> u32 {
    let mut failed = 0;
    let mut column = vec![T::ZERO; columns];
    for j in 0..columns {
        let nan = (-T::ONE).sqrt();
        let (root, reciprocal) = pivot(l[j * columns + j]).unwrap_or_else(|| {
            failed = if failed == 0 { j as u32 + 1 } else { failed };
            (nan, nan)
        });
        roots[j] = reciprocal;
        l[j * columns + j] = root;
        for (i, row) in l.chunks_exact_mut(columns).enumerate().skip(j + 1) {
            row[j] = row[j] * reciprocal;
            column[i] = row[j];
            let factor = -row[j];
            for (a, &other) in row[j + 1..=i].iter_mut().zip(&column[j + 1..=i]) {
                *a = factor.mul_add(other, *a);
            }
        }
    }
    failed
}

/// Solves for `rows` below a factored square, of as many elements each as `roots` has; `transposed` has the square's columns as rows.
#[cfg(test)]
fn below<T: Float>(rows: &mut [T], transposed: &[T], roots: &[T]) {
    let columns = roots.len();
    for row in rows.chunks_exact_mut(columns) {
        for j in 0..columns {
            row[j] = row[j] * roots[j];
            let factor = -row[j];
            let column = &transposed[j * columns + j + 1..(j + 1) * columns];
            for (a, &other) in row[j + 1..].iter_mut().zip(column) {
                *a = factor.mul_add(other, *a);
            }
        }
    }
}

/// Rows of a step that are one task.
#[cfg(test)]
const TASK: usize = 32;

/// [`crate::potrf_to`] of slices, of matrices of which each is factored whole; `None`: in place. Gives the orders of minors.
///
/// # Panics
/// Where a slice is shorter than its batch.
pub fn potrf<T: Root>(
    triangle: Triangle,
    from: Option<(&[T], BatchLayout)>,
    (to, to_layout): (&mut [T], BatchLayout),
    info: &mut [u32],
) {
    if to_layout.is_empty() {
        return info.fill(0);
    }
    let n = to_layout.matrix.rows();
    let (span, stride) = (to_layout.matrix.span(), to_layout.stride.max(1));
    let (row, column) = strides(triangle, to_layout.matrix);
    cores::pairs((to, stride.max(span)), (info, 1), |number, to, info| {
        let mut l = vec![T::ZERO; n * n];
        for i in 0..n {
            for j in 0..=i {
                l[i * n + j] = match from {
                    Some((from, layout)) => {
                        let (row, column) = strides(triangle, layout.matrix);
                        from[number * layout.stride + i * row + j * column]
                    }
                    None => to[i * row + j * column],
                };
            }
        }
        info[0] = square(&mut l, n, &mut vec![T::ZERO; n]);
        for i in 0..n {
            for j in 0..=i {
                to[i * row + j * column] = l[i * n + j];
            }
        }
    });
}

/// [`crate::potrs`] of slices, of systems of which each is solved whole.
///
/// # Panics
/// Where a slice is shorter than its batch.
pub fn potrs<T: Float>(
    triangle: Triangle,
    (l, l_layout): (&[T], BatchLayout),
    (b, b_layout): (&mut [T], BatchLayout),
) {
    if b_layout.is_empty() {
        return;
    }
    let (n, columns) = b_layout.matrix.shape();
    let (row, column) = strides(triangle, l_layout.matrix);
    let each = b_layout.stride.max(b_layout.matrix.span());
    let len = b.len().min(each.saturating_mul(b_layout.count));
    cores::chunks(&mut b[..len], each, 1, |number, b| {
        let l = |i: usize, j: usize| l[number * l_layout.stride + i * row + j * column];
        let mut x = vec![T::ZERO; n];
        for c in 0..columns {
            x.iter_mut().enumerate().for_each(|(i, x)| *x = b[b_layout.matrix.index(i, c)]);
            forwards(l, &mut x);
            backwards(l, &mut x);
            x.iter().enumerate().for_each(|(i, &x)| b[b_layout.matrix.index(i, c)] = x);
        }
    });
}

/// `L · y = x`, in place.
fn forwards<T: Float>(l: impl Fn(usize, usize) -> T, x: &mut [T]) {
    for i in 0..x.len() {
        let sum = (0..i).fold(x[i], |sum, k| (-l(i, k)).mul_add(x[k], sum));
        x[i] = sum * (T::ONE / l(i, i));
    }
}

/// `Lᵀ · y = x`, in place.
fn backwards<T: Float>(l: impl Fn(usize, usize) -> T, x: &mut [T]) {
    for i in (0..x.len()).rev() {
        let sum = (i + 1..x.len()).rev().fold(x[i], |sum, k| (-l(k, i)).mul_add(x[k], sum));
        x[i] = sum * (T::ONE / l(i, i));
    }
}

/// A step of a large matrix: to the columns from `first` on, of the rows from there on, `added` is added, column after column
/// of so many elements; then the block on the diagonal is factored, and the rows below are solved for. The order of the first
/// minor that is not positive definite, or zero.
#[cfg(test)]
pub(crate) fn step<T: Root>(
    triangle: Triangle,
    (a, layout): (&mut [T], Layout),
    (first, width): (usize, usize),
    (added, leading): (&[T], usize),
) -> u32 {
    let (row, column) = strides(triangle, layout);
    let rows = layout.rows() - first;
    let at = |i: usize, j: usize| (first + i) * row + (first + j) * column;
    let mut l = vec![T::ZERO; rows * width];
    for (i, l) in l.chunks_exact_mut(width).enumerate() {
        for (j, l) in l.iter_mut().enumerate().take(i + 1) {
            *l = a[at(i, j)];
            if leading != 0 {
                *l = *l + added[i + j * leading];
            }
        }
    }
    let mut roots = vec![T::ZERO; width];
    let (top, rest) = l.split_at_mut(width * width);
    let order = square(top, width, &mut roots);
    let transposed: Vec<T> = (0..width * width).map(|at| top[at % width * width + at / width]).collect();
    cores::chunks(rest, TASK * width, 1, |_, rows| below(rows, &transposed, &roots));
    for (i, l) in l.chunks_exact(width).enumerate() {
        for (j, &l) in l.iter().enumerate().take(i + 1) {
            a[at(i, j)] = l;
        }
    }
    if order == 0 { 0 } else { first as u32 + order }
}
