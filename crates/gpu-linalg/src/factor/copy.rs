//! Copies of triangles and vectors, and from one type to another.

use gpu_core::{Stream, View, ViewMut};

use super::launch::{self, FactorElement};
use crate::api::Triangle;
use crate::error::Error;
use crate::matrix::{Batch, BatchLayout, BatchMut, Matrix};
use crate::plan::factor::{self as plan, strides};

/// Copies a matrix of `shape`, or its lower triangle, to memory that is apart: with each, elements from one row to the
/// next and from one column to the next.
pub(crate) fn copy<T: FactorElement>(
    stream: &Stream,
    (rows, columns): (usize, usize),
    (from, apart): (View<'_, T>, (usize, usize)),
    (mut to, to_apart): (ViewMut<'_, T>, (usize, usize)),
    is_lower: bool,
) -> Result<(), Error> {
    if let (Some(from), Some(to)) = (from.as_slice(), to.as_mut_slice()) {
        for i in 0..rows {
            for j in 0..if is_lower { i + 1 } else { columns } {
                to[i * to_apart.0 + j * to_apart.1] = from[i * apart.0 + j * apart.1];
            }
        }
        return Ok(());
    }
    Ok(launch::copy(stream, plan::copy((rows, columns), apart, to_apart, is_lower)?, from, to)?)
}

/// Copies matrices, or a triangle of each, to others of the same shape, in memory that is apart: by a launch for each
/// matrix, or, where those are less, by one for each column of all of them.
pub(crate) fn copy_batch<T: FactorElement>(
    stream: &Stream,
    triangle: Option<Triangle>,
    from: Batch<'_, T>,
    to: &mut BatchMut<'_, T>,
) -> Result<(), Error> {
    let (layout, to_layout) = (from.layout(), to.layout());
    let ((rows, columns), count) = (layout.matrix.shape(), layout.count);
    // Rows and columns of an upper triangle are exchanged.
    let [of, of_to] =
        [layout, to_layout].map(|layout| strides(triangle.unwrap_or(Triangle::Lower), layout.matrix));
    let is_lower = triangle.is_some();
    if count <= columns {
        for number in 0..count {
            let from = from.data().slice(number * layout.stride..);
            let to = to.data_mut().into_slice(number * to_layout.stride..);
            copy(stream, (rows, columns), (from, of), (to, of_to), is_lower)?;
        }
        return Ok(());
    }
    for column in 0..columns {
        let first = if is_lower { column } else { 0 };
        let from = from.data().slice(first * of.0 + column * of.1..);
        let to = to.data_mut().into_slice(first * of_to.0 + column * of_to.1..);
        let (from, to) = ((from, (of.0, layout.stride)), (to, (of_to.0, to_layout.stride)));
        copy(stream, (rows - first, count), from, to, false)?;
    }
    Ok(())
}

/// Makes all matrices of a batch without gaps, row-major, the identity. Behind them, from the next multiple of four
/// elements on, one element is used for a one.
pub(crate) fn identities<T: FactorElement>(
    stream: &Stream,
    squares: BatchLayout,
    mut to: ViewMut<'_, T>,
) -> Result<(), Error> {
    let (n, count) = (squares.matrix.rows(), squares.count);
    if count == 1 {
        return identity(stream, n, to);
    }
    stream.memset(to.reborrow(), 0)?;
    let (to, mut one) = to.try_split_at((n * n * count).next_multiple_of(4))?;
    identity(stream, 1, one.reborrow())?;
    copy(stream, (n, count), (one.view(), (0, 0)), (to, (n + 1, n * n)), false)
}

/// Makes a row-major matrix of `n` columns without gaps the identity.
fn identity<T: FactorElement>(stream: &Stream, n: usize, mut to: ViewMut<'_, T>) -> Result<(), Error> {
    if let Some(to) = to.as_mut_slice() {
        to[..n * n]
            .iter_mut()
            .enumerate()
            .for_each(|(at, x)| *x = if at % (n + 1) == 0 { T::ONE } else { T::ZERO });
        return Ok(());
    }
    let (launch, shape) = plan::copy((n, n), (n, 1), (n, 1), false)?;
    let shape = gpu_factor_kernels::Copy { identity: 1, ..shape };
    // What is written is not read.
    Ok(launch::identity(stream, (launch, shape), to)?)
}

/// Writes the triangle of a matrix, rounded to `f32`, to the lower triangle of a column-major one without gaps.
pub(crate) fn narrow_triangle(
    stream: &Stream,
    triangle: Triangle,
    from: Matrix<'_, f64>,
    mut to: ViewMut<'_, f32>,
) -> Result<(), Error> {
    let n = from.layout().rows();
    let apart = strides(triangle, from.layout());
    if let (Some(from), Some(to)) = (from.data().as_slice(), to.as_mut_slice()) {
        for j in 0..n {
            for i in j..n {
                to[i + j * n] = from[i * apart.0 + j * apart.1] as f32;
            }
        }
        return Ok(());
    }
    Ok(launch::narrow(stream, plan::copy((n, n), apart, (1, n), true)?, from.data(), to, 1.0)?)
}

/// `to = from · scale`, rounded to `f32`.
pub(crate) fn narrow(
    stream: &Stream,
    from: View<'_, f64>,
    mut to: ViewMut<'_, f32>,
    scale: f64,
) -> Result<(), Error> {
    if let (Some(from), Some(to)) = (from.as_slice(), to.as_mut_slice()) {
        to.iter_mut().zip(from).for_each(|(to, from)| *to = (from * scale) as f32);
        return Ok(());
    }
    let n = from.len();
    Ok(launch::narrow(stream, plan::copy((n, 1), (1, n), (1, n), false)?, from, to, scale)?)
}

/// `to += from · scale`.
pub(crate) fn widen_and_add(
    stream: &Stream,
    from: View<'_, f32>,
    mut to: ViewMut<'_, f64>,
    scale: f64,
) -> Result<(), Error> {
    if let (Some(from), Some(to)) = (from.as_slice(), to.as_mut_slice()) {
        to.iter_mut().zip(from).for_each(|(to, from)| *to += f64::from(*from) * scale);
        return Ok(());
    }
    let n = from.len();
    let (launch, shape) = plan::copy((n, 1), (1, n), (1, n), false)?;
    let shape = gpu_factor_kernels::Copy { add: 1, ..shape };
    Ok(launch::widen(stream, (launch, shape), from, to, scale)?)
}
