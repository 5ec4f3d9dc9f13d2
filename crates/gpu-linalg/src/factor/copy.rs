//! Copies of triangles and vectors, and from one type to another.

use gpu_core::{Stream, View, ViewMut};

use super::launch::{self, FactorElement};
use crate::api::Triangle;
use crate::error::Error;
use crate::matrix::{Matrix, MatrixMut};
use crate::plan::factor::{copy, strides};

/// Copies a triangle of a matrix to the same one of another of the same shape, in memory that is apart.
pub(crate) fn copy_triangle<T: FactorElement>(
    stream: &Stream,
    triangle: Triangle,
    from: Matrix<'_, T>,
    mut to: MatrixMut<'_, T>,
) -> Result<(), Error> {
    let n = to.layout().rows();
    let apart = strides(triangle, from.layout());
    let to_apart = strides(triangle, to.layout());
    let mut target = to.data_mut();
    if let (Some(from), Some(to)) = (from.data().as_slice(), target.as_mut_slice()) {
        for i in 0..n {
            for j in 0..=i {
                to[i * to_apart.0 + j * to_apart.1] = from[i * apart.0 + j * apart.1];
            }
        }
        return Ok(());
    }
    launch::copy(stream, copy((n, n), apart, to_apart, true)?, from.data(), target)
}

/// Makes a row-major matrix of `n` columns without gaps the identity.
pub(crate) fn identity<T: FactorElement>(
    stream: &Stream,
    n: usize,
    mut to: ViewMut<'_, T>,
) -> Result<(), Error> {
    if let Some(to) = to.as_mut_slice() {
        to[..n * n]
            .iter_mut()
            .enumerate()
            .for_each(|(at, x)| *x = if at % (n + 1) == 0 { T::ONE } else { T::ZERO });
        return Ok(());
    }
    let (launch, shape) = copy((n, n), (n, 1), (n, 1), false)?;
    let shape = gpu_factor_kernels::Copy { identity: 1, ..shape };
    // What is written is not read.
    launch::identity(stream, (launch, shape), to)
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
    launch::narrow(stream, copy((n, n), apart, (1, n), true)?, from.data(), to, 1.0)
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
    launch::narrow(stream, copy((n, 1), (1, n), (1, n), false)?, from, to, scale)
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
    let (launch, shape) = copy((n, 1), (1, n), (1, n), false)?;
    let shape = gpu_factor_kernels::Copy { add: 1, ..shape };
    launch::widen(stream, (launch, shape), from, to, scale)
}
