//! Products of a vector and a symmetric or a triangular matrix.

use gpu_core::{Buffer, Stream, View, ViewMut};

use super::factor::expect_square;
use super::{expect_apart, expect_scratch, expect_vectors};
use crate::error::Error;
use crate::launch::{self, RealElement};
use crate::matrix::Matrix;
use crate::plan::triangle::{Other, Plan, scratch_len};
use crate::reference;

/// A triangle of a square matrix, the diagonal included. The other one is never read. What is the lower triangle of a
/// matrix is the upper one of the transposed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Triangle {
    /// The rows up to the diagonal.
    Lower,
    /// The rows from the diagonal on.
    Upper,
}

impl Triangle {
    /// Whether element (`row`, `column`) belongs to it.
    pub const fn holds(self, row: usize, column: usize) -> bool {
        match self {
            Self::Lower => column <= row,
            Self::Upper => column >= row,
        }
    }

    /// That of the transposed matrix.
    pub const fn other(self) -> Self {
        match self {
            Self::Lower => Self::Upper,
            Self::Upper => Self::Lower,
        }
    }

    /// The columns of a row of a matrix with `n` columns that belong to it.
    pub(crate) fn columns(self, row: usize, n: usize) -> core::ops::Range<usize> {
        match self {
            Self::Lower => 0..(row + 1).min(n),
            Self::Upper => row.min(n)..n,
        }
    }
}

/// Where the diagonal of a triangular matrix comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Diagonal {
    /// From memory.
    Stored,
    /// It is all ones, and what lies in its place is not read.
    Unit,
}

/// `y = alpha · A · x + beta · y` on `stream`, A being symmetric: only its `triangle` is read.
///
/// A is n × n, row- or column-major with any leading dimension; `x` and `y` have n elements. Where `beta` is zero `y`
/// is not read, where `alpha` is zero neither A nor `x`. `scratch` has at least [`symv_scratch_len`] elements; what
/// is in it afterwards is unspecified. The order of operations is a function of n alone (see the [crate
/// documentation](crate)): every device, either triangle and either order give the same bits. Neither allocates
/// device memory nor waits.
///
/// # Errors
/// [`Error::NotSquare`], [`Error::VectorLengths`], [`Error::ScratchTooSmall`], [`Error::Aliasing`],
/// [`Error::ExtentTooLarge`], [`Error::TooManyBlocks`]; [`Error::Device`] where memory is on another device than the
/// stream or where the launch failed. `y` is as it was then.
///
/// ```
/// use gpu_linalg::{Layout, Matrix, Triangle, symv, symv_scratch_len};
/// let device = gpu_core::Device::simulator();
/// let a = device.upload(&[1.0, f64::NAN, 2.0, 3.0])?;
/// let a = Matrix::new(&a, Layout::row_major(2, 2)?)?;
/// let x = device.upload(&[1.0, 10.0])?;
/// let (mut y, mut scratch) = (device.alloc(2)?, device.alloc(symv_scratch_len(2)?)?);
/// symv(&device.default_stream(), Triangle::Lower, 1.0, a, &x, 0.0, &mut y, &mut scratch)?;
/// assert_eq!(y.to_vec()?, [21.0, 32.0]);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
#[expect(clippy::too_many_arguments, reason = "those of BLAS")]
pub fn symv<'x, 'y, 's, T: RealElement>(
    stream: &Stream,
    triangle: Triangle,
    alpha: T,
    a: Matrix<'_, T>,
    x: impl Into<View<'x, T>>,
    beta: T,
    y: impl Into<ViewMut<'y, T>>,
    scratch: impl Into<ViewMut<'s, T>>,
) -> Result<(), Error> {
    let (x, mut y, scratch) = (x.into(), y.into(), scratch.into());
    let n = expect_square(a.layout())?;
    expect_vectors(stream, a, &x, &y, (&scratch, scratch_len(n)?))?;
    if n == 0 {
        return Ok(());
    }
    if let (Some(data), Some(x), Some(y)) = (a.data().as_slice(), x.as_slice(), y.as_mut_slice()) {
        reference::symv(triangle, alpha, (data, a.layout()), x, beta, y);
        return Ok(());
    }
    let plan = Plan::new::<T>(a.layout(), triangle, Other::Symmetric, alpha != T::ZERO)?;
    launch::triangle(stream, &plan, alpha, a.data(), x.as_global(), beta, y.as_global_mut(), scratch)
}

/// Elements of scratch memory that [`symv`] needs for a matrix of `n` rows.
///
/// # Errors
/// [`Error::ExtentTooLarge`].
pub fn symv_scratch_len(n: usize) -> Result<usize, Error> {
    scratch_len(n)
}

/// `x = A · x` on `stream`, A being triangular: only its `triangle` is read, the other one counts as zero.
///
/// A is n × n, row- or column-major with any leading dimension, and `x` has n elements; for the transposed matrix
/// give [`Matrix::transposed`] and the other triangle. What counts as zero is left out of the sums, so that
/// infinities in `x` do not meet it. `scratch` has at least [`trmv_scratch_len`] elements; what is in it afterwards
/// is unspecified. The order of operations is a function of n alone. Neither allocates device memory nor waits.
///
/// # Errors
/// As [`symv`]; `x` is as it was then.
///
/// ```
/// use gpu_linalg::{Diagonal, Layout, Matrix, Triangle, trmv, trmv_scratch_len};
/// let device = gpu_core::Device::simulator();
/// let a = device.upload(&[1.0, f32::NAN, 2.0, 3.0])?;
/// let a = Matrix::new(&a, Layout::row_major(2, 2)?)?;
/// let mut x = device.upload(&[1.0, 10.0])?;
/// let mut scratch = device.alloc(trmv_scratch_len(2)?)?;
/// trmv(&device.default_stream(), Triangle::Lower, Diagonal::Stored, a, &mut x, &mut scratch)?;
/// assert_eq!(x.to_vec()?, [1.0, 32.0]);
/// trmv(&device.default_stream(), Triangle::Upper, Diagonal::Unit, a.transposed(), &mut x, &mut scratch)?;
/// assert_eq!(x.to_vec()?, [65.0, 32.0]);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn trmv<'x, 's, T: RealElement>(
    stream: &Stream,
    triangle: Triangle,
    diagonal: Diagonal,
    a: Matrix<'_, T>,
    x: impl Into<ViewMut<'x, T>>,
    scratch: impl Into<ViewMut<'s, T>>,
) -> Result<(), Error> {
    let (mut x, scratch) = (x.into(), scratch.into());
    let n = expect_square(a.layout())?;
    if x.len() != n {
        return Err(Error::VectorLengths { rows: n, columns: n, x: x.len(), y: x.len() });
    }
    expect_scratch(scratch_len(n)?, scratch.len())?;
    stream.expect("matrix of a product", a.data().device())?;
    stream.expect("vector of a product", x.device())?;
    stream.expect("scratch memory of a product", scratch.device())?;
    expect_apart(&x, "A", &a.data())?;
    if n == 0 {
        return Ok(());
    }
    if let (Some(data), Some(x)) = (a.data().as_slice(), x.as_mut_slice()) {
        reference::trmv(triangle, diagonal, (data, a.layout()), x);
        return Ok(());
    }
    let plan = Plan::new::<T>(a.layout(), triangle, Other::Zero(diagonal), true)?;
    let x = x.as_global_mut();
    launch::triangle(stream, &plan, T::ONE, a.data(), x.as_global(), T::ZERO, x, scratch)
}

/// Elements of scratch memory that [`trmv`] needs for a matrix of `n` rows.
///
/// # Errors
/// [`Error::ExtentTooLarge`].
pub fn trmv_scratch_len(n: usize) -> Result<usize, Error> {
    scratch_len(n)
}

/// The product `A · x`, A being symmetric, computed where A lives, in a buffer of its own: only A's `triangle` is read.
///
/// A is n × n, row- or column-major with any leading dimension; `x` and the product have n elements. [`symv`] on the
/// device's default stream; reading the buffer waits for it.
///
/// # Errors
/// As [`symv`]; [`Error::Device`] where the device's memory does not suffice.
///
/// ```
/// use gpu_linalg::{Layout, Matrix, Triangle, matvec_symmetric};
/// let a = Matrix::new(&[1.0, f64::NAN, 2.0, 3.0], Layout::row_major(2, 2)?)?;
/// assert_eq!(matvec_symmetric(Triangle::Lower, a, &[1.0, 10.0])?.to_vec()?, [21.0, 32.0]);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn matvec_symmetric<'x, T: RealElement>(
    triangle: Triangle,
    a: Matrix<'_, T>,
    x: impl Into<View<'x, T>>,
) -> Result<Buffer<T>, Error> {
    let (device, n) = (a.data().device(), a.layout().rows());
    let (mut y, mut scratch) = (device.alloc(n)?, device.alloc(symv_scratch_len(n)?)?);
    symv(&device.default_stream(), triangle, T::ONE, a, x, T::ZERO, &mut y, &mut scratch)?;
    Ok(y)
}

/// The product `A · x`, A being triangular, computed where A lives, in a buffer of its own: only A's `triangle` is
/// read, without the diagonal where it is a unit one.
///
/// A is n × n, row- or column-major with any leading dimension; `x` and the product have n elements. [`trmv`] on the
/// device's default stream; reading the buffer waits for it.
///
/// # Errors
/// As [`trmv`]; [`Error::Device`] where the device's memory does not suffice.
///
/// ```
/// use gpu_linalg::{Diagonal, Layout, Matrix, Triangle, matvec_triangular};
/// let a = Matrix::new(&[1.0, f64::NAN, 2.0, 3.0], Layout::row_major(2, 2)?)?;
/// let y = matvec_triangular(Triangle::Lower, Diagonal::Stored, a, &[1.0, 10.0])?;
/// assert_eq!(y.to_vec()?, [1.0, 32.0]);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn matvec_triangular<'x, T: RealElement>(
    triangle: Triangle,
    diagonal: Diagonal,
    a: Matrix<'_, T>,
    x: impl Into<View<'x, T>>,
) -> Result<Buffer<T>, Error> {
    let (x, device) = (x.into(), a.data().device());
    let (mut y, mut scratch) = (device.alloc(x.len())?, device.alloc(trmv_scratch_len(a.layout().rows())?)?);
    let stream = device.default_stream();
    stream.expect("vector of a product", x.device())?;
    stream.copy(&mut y, x)?;
    trmv(&stream, triangle, diagonal, a, &mut y, &mut scratch)?;
    Ok(y)
}
