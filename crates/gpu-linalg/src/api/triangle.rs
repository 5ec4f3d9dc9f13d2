//! Products of a vector and a symmetric or a triangular matrix.

use gpu_core::{Buffer, Scratch, ScratchSize, Stream, View, ViewMut, checks};

use super::factor::expect_square;
use super::{elements, expect_vectors, lend, of_kernels};
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
/// is not read, where `alpha` is zero neither A nor `x`. `scratch` grows to [`symv_scratch`]. The order of operations
/// is a function of n alone (see the [crate documentation](crate)): every device, either triangle and either order give
/// the same bits. It does not wait, nor allocate but where `scratch` grows.
///
/// # Errors
/// [`gpu_core::Error::NotSquare`], [`gpu_core::Error::VectorLengths`], [`gpu_core::Error::Aliasing`],
/// [`gpu_core::Error::ExtentTooLarge`], [`gpu_core::Error::TooManyBlocks`]; [`Error::Device`] where memory is on
/// another device than the stream, where `scratch` is of another stream or too small, or where the launch failed. `y`
/// is as it was then.
///
/// ```
/// use gpu_linalg::{Layout, Matrix, Scratch, Triangle, symv, symv_scratch};
/// let device = gpu_core::Device::simulator();
/// let a = device.upload(&[1.0, f64::NAN, 2.0, 3.0])?;
/// let a = Matrix::new(&a, Layout::row_major(2, 2)?)?;
/// let x = device.upload(&[1.0, 10.0])?;
/// let mut y = device.alloc(2)?;
/// let mut scratch = Scratch::with_size(&device.default_stream(), symv_scratch::<f64>(2)?)?;
/// symv(&device.default_stream(), Triangle::Lower, 1.0, a, &x, 0.0, &mut y, &mut scratch)?;
/// assert_eq!(y.to_vec()?, [21.0, 32.0]);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
#[expect(clippy::too_many_arguments, reason = "those of BLAS")]
pub fn symv<'x, 'y, T: RealElement>(
    stream: &Stream,
    triangle: Triangle,
    alpha: T,
    a: Matrix<'_, T>,
    x: impl Into<View<'x, T>>,
    beta: T,
    y: impl Into<ViewMut<'y, T>>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let (x, mut y) = (x.into(), y.into());
    let n = expect_square(a.layout())?;
    expect_vectors(stream, a, &x, &y)?;
    lend(stream, scratch, ("product", of_kernels(stream, symv_scratch::<T>(n)?)), |room| {
        if n == 0 {
            return Ok(());
        }
        if let (Some(data), Some(x), Some(y)) = (a.data().as_slice(), x.as_slice(), y.as_mut_slice()) {
            reference::symv(triangle, alpha, (data, a.layout()), x, beta, y);
            return Ok(());
        }
        let plan = Plan::new::<T>(a.layout(), triangle, Other::Symmetric, alpha != T::ZERO)?;
        Ok(launch::triangle(stream, &plan, alpha, a.data(), x.as_global(), beta, y.as_global_mut(), room)?)
    })
}

/// Scratch memory of [`symv`] for a matrix of `n` rows.
///
/// # Errors
/// [`gpu_core::Error::ExtentTooLarge`].
pub fn symv_scratch<T: RealElement>(n: usize) -> Result<ScratchSize, Error> {
    Ok(elements::<T>(scratch_len(n)?))
}

/// `x = A · x` on `stream`, A being triangular: only its `triangle` is read, the other one counts as zero.
///
/// A is n × n, row- or column-major with any leading dimension, and `x` has n elements; for the transposed matrix give
/// [`Matrix::transposed`] and the other triangle. What counts as zero is left out of the sums, so that infinities in
/// `x` do not meet it. `scratch` grows to [`trmv_scratch`]. The order of operations is a function of n alone. It does
/// not wait, nor allocate but where `scratch` grows.
///
/// # Errors
/// As [`symv`]; `x` is as it was then.
///
/// ```
/// use gpu_linalg::{Diagonal, Layout, Matrix, Scratch, Triangle, trmv, trmv_scratch};
/// let device = gpu_core::Device::simulator();
/// let a = device.upload(&[1.0, f32::NAN, 2.0, 3.0])?;
/// let a = Matrix::new(&a, Layout::row_major(2, 2)?)?;
/// let mut x = device.upload(&[1.0, 10.0])?;
/// let mut scratch = Scratch::with_size(&device.default_stream(), trmv_scratch::<f32>(2)?)?;
/// trmv(&device.default_stream(), Triangle::Lower, Diagonal::Stored, a, &mut x, &mut scratch)?;
/// assert_eq!(x.to_vec()?, [1.0, 32.0]);
/// trmv(&device.default_stream(), Triangle::Upper, Diagonal::Unit, a.transposed(), &mut x, &mut scratch)?;
/// assert_eq!(x.to_vec()?, [65.0, 32.0]);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn trmv<'x, T: RealElement>(
    stream: &Stream,
    triangle: Triangle,
    diagonal: Diagonal,
    a: Matrix<'_, T>,
    x: impl Into<ViewMut<'x, T>>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let mut x = x.into();
    let n = expect_square(a.layout())?;
    checks::vectors((n, n), x.len(), x.len())?;
    stream.expect("matrix of a product", a.data().device())?;
    stream.expect("vector of a product", x.device())?;
    x.expect_apart("A", &a.data())?;
    lend(stream, scratch, ("product", of_kernels(stream, trmv_scratch::<T>(n)?)), |room| {
        if n == 0 {
            return Ok(());
        }
        if let (Some(data), Some(x)) = (a.data().as_slice(), x.as_mut_slice()) {
            reference::trmv(triangle, diagonal, (data, a.layout()), x);
            return Ok(());
        }
        let plan = Plan::new::<T>(a.layout(), triangle, Other::Zero(diagonal), true)?;
        let x = x.as_global_mut();
        Ok(launch::triangle(stream, &plan, T::ONE, a.data(), x.as_global(), T::ZERO, x, room)?)
    })
}

/// Scratch memory of [`trmv`] for a matrix of `n` rows.
///
/// # Errors
/// [`gpu_core::Error::ExtentTooLarge`].
pub fn trmv_scratch<T: RealElement>(n: usize) -> Result<ScratchSize, Error> {
    symv_scratch::<T>(n)
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
    Scratch::computed(a.data().device(), a.layout().rows(), |stream, y, scratch| {
        symv(stream, triangle, T::ONE, a, x, T::ZERO, y, scratch)
    })
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
    let x = x.into();
    Scratch::computed(a.data().device(), x.len(), |stream, y, scratch| {
        stream.expect("vector of a product", x.device())?;
        stream.copy(&mut *y, x)?;
        trmv(stream, triangle, diagonal, a, y, scratch)
    })
}
