//! Inverses and determinants of factored matrices.

use gpu_core::{Stream, ViewMut};

use super::factor::{expect_scratch, expect_square};
use super::{Triangle, copy, potrs, potrs_scratch_len};
use crate::error::Error;
use crate::factor;
use crate::factor::launch::FactorElement;
use crate::matrix::{Layout, Matrix, MatrixMut};

/// The inverse of a symmetric, positive definite matrix in place of its factor on `stream`.
///
/// `a` is what [`potrf`](crate::potrf) made, with the same `triangle`, in which the inverse's triangle is written;
/// the other one is never touched. It is computed column by column as the solution of `A · X = I`, in some 2 n³
/// operations, so that its error is that of [`potrs`](crate::potrs). `scratch` has at least [`potri_scratch_len`]
/// elements; what is in it afterwards is unspecified. The order of operations is that of `potrs`, a function of n and
/// the type alone. Neither allocates device memory nor waits.
///
/// # Errors
/// [`Error::NotSquare`], [`Error::ScratchTooSmall`], [`Error::ExtentTooLarge`], [`Error::TooManyBlocks`];
/// [`Error::Device`] where memory is on another device than the stream or where a launch failed. `a` is as it was then.
///
/// ```
/// use gpu_linalg::{Layout, MatrixMut, Triangle, potri, potri_scratch_len};
/// let device = gpu_core::Device::simulator();
/// let mut a = device.upload(&[2.0, f64::NAN, 1.0, 4.0])?;
/// let mut scratch = device.alloc(potri_scratch_len::<f64>(2)?)?;
/// let factor = MatrixMut::new(&mut a, Layout::row_major(2, 2)?)?;
/// potri(&device.default_stream(), Triangle::Lower, factor, &mut scratch)?;
/// let inverse = a.to_vec()?;
/// assert_eq!((inverse[0], inverse[2], inverse[3]), (0.265625, -0.03125, 0.0625));
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn potri<'s, T: FactorElement>(
    stream: &Stream,
    triangle: Triangle,
    a: MatrixMut<'_, T>,
    scratch: impl Into<ViewMut<'s, T>>,
) -> Result<(), Error> {
    let (a, mut scratch) = (a, scratch.into());
    let n = expect_square(a.layout().into())?;
    expect_scratch(potri_scratch_len::<T>(n)?, scratch.len())?;
    stream.expect("factor of a matrix", a.data().device())?;
    stream.expect("scratch memory of an inverse", scratch.device())?;
    if n == 0 {
        return Ok(());
    }
    let square = Layout::row_major(n, n)?;
    let (mut x, rest) = scratch.reborrow().try_split_at((n * n).next_multiple_of(4))?;
    factor::identity(stream, n, x.reborrow())?;
    let l = Matrix::new(a.data(), a.layout())?;
    potrs(stream, triangle, l, MatrixMut::new(x.reborrow(), square)?, rest)?;
    factor::copy_triangle(stream, triangle, Matrix::new(x.view(), square)?, a)
}

/// Elements of scratch memory that [`potri`] needs for a matrix of `n` rows.
///
/// # Errors
/// [`Error::Device`] where the matrix's elements cannot be counted.
pub fn potri_scratch_len<T: FactorElement>(n: usize) -> Result<usize, Error> {
    let square = Layout::row_major(n, n)?;
    Ok(square.span().next_multiple_of(4) + potrs_scratch_len::<T>(n, square)?)
}

/// The logarithm of the determinant of a matrix, from its factor: `2 · Σ ln lᵢᵢ`, computed in f64 on the CPU.
///
/// The work is enqueued on the device's default stream, and waited for. NaN where the matrix was not positive
/// definite; zero of a matrix without rows. With each logarithm right within a unit in the last place, the error is at
/// most `(n + 1) ε · 2 Σ |ln lᵢᵢ|`, to first order.
///
/// # Errors
/// [`Error::NotSquare`]; [`Error::Device`].
///
/// ```
/// use gpu_linalg::{Layout, Matrix, logdet};
/// let l = Matrix::new(&[2.0, 0.0, 1.0, 3.0], Layout::row_major(2, 2)?)?;
/// assert!((logdet(l)? - 36f64.ln()).abs() < 1e-14);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn logdet<T: FactorElement + Into<f64>>(l: Matrix<'_, T>) -> Result<f64, Error> {
    let n = expect_square(l.layout().into())?;
    if n == 0 {
        return Ok(0.0);
    }
    let device = l.data().device();
    // The diagonal as a column of a matrix of which a row is a column further.
    let diagonal = Layout::row_major(n, 1)?.with_leading_dimension(l.layout().leading_dimension() + 1)?;
    let mut gathered = device.alloc(n)?;
    let into = MatrixMut::new(&mut gathered, Layout::row_major(n, 1)?)?;
    copy(&device.default_stream(), Matrix::new(l.data(), diagonal)?, into)?;
    Ok(2.0 * gathered.to_vec()?.into_iter().map(|l| l.into().ln()).sum::<f64>())
}
