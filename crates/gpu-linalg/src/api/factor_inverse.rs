//! Inverses and determinants of factored matrices.

use gpu_core::{Buffer, Scratch, ScratchSize, Stream, ViewMut};

use super::factor::{expect_same_shape, expect_square, solve_in_place};
use super::{Triangle, elements, lend, potrs_scratch, symmetric};
use crate::error::Error;
use crate::factor;
use crate::factor::launch::FactorElement;
use crate::matrix::{Batch, BatchLayout, BatchMut, Layout, Matrix};

/// The inverses of symmetric, positive definite matrices in place of their factors on `stream`.
///
/// `a` is what [`potrf`](crate::potrf) made, a matrix or a batch, with the same `triangle`, in which the inverse's
/// triangle is written; the other one is never touched. It is computed column by column as the solution of `A · X = I`,
/// in some 2 n³ operations, so that its error is that of [`potrs`](crate::potrs). `scratch` grows to [`potri_scratch`].
/// The order of operations is that of `potrs`, a function of n, of how many matrices there are, and of the type alone.
/// It does not wait, nor allocate but where `scratch` grows.
///
/// # Errors
/// [`gpu_core::Error::NotSquare`], [`gpu_core::Error::ExtentTooLarge`], [`gpu_core::Error::TooManyBlocks`];
/// [`Error::Device`] where memory is on another device than the stream, where `scratch` is of another stream or too
/// small, or where a launch failed. `a` is as it was then, but where one of the last launches failed.
///
/// ```
/// use gpu_linalg::{Layout, MatrixMut, Scratch, Triangle, potri, potri_scratch};
/// let device = gpu_core::Device::simulator();
/// let mut a = device.upload(&[2.0, f64::NAN, 1.0, 4.0])?;
/// let mut scratch = Scratch::with_size(&device.default_stream(), potri_scratch::<f64>(2, 1)?)?;
/// let factor = MatrixMut::new(&mut a, Layout::row_major(2, 2)?)?;
/// potri(&device.default_stream(), Triangle::Lower, factor, &mut scratch)?;
/// let inverse = a.to_vec()?;
/// assert_eq!((inverse[0], inverse[2], inverse[3]), (0.265625, -0.03125, 0.0625));
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn potri<'a, T: FactorElement>(
    stream: &Stream,
    triangle: Triangle,
    a: impl Into<BatchMut<'a, T>>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    inverted(stream, triangle, None, a.into(), scratch)
}

/// As [`potri`], from the factors `l` to the same triangle of `inverse`; the rest of `inverse` is as it was. The two
/// may have different orders and leading dimensions.
///
/// # Errors
/// As [`potri`]; [`gpu_core::Error::Shape`], [`Error::BatchCounts`], [`gpu_core::Error::Aliasing`].
///
/// ```
/// use gpu_linalg::{Layout, Matrix, MatrixMut, Scratch, Triangle, potri_to};
/// let device = gpu_core::Device::simulator();
/// let l = device.upload(&[2.0, f64::NAN, 1.0, 4.0])?;
/// let (mut x, mut scratch) = (device.upload(&[7.0; 4])?, Scratch::new(&device.default_stream()));
/// let square = Layout::row_major(2, 2)?;
/// let (from, to) = (Matrix::new(&l, square)?, MatrixMut::new(&mut x, square)?);
/// potri_to(&device.default_stream(), Triangle::Lower, from, to, &mut scratch)?;
/// assert_eq!(x.to_vec()?, [0.265625, 7.0, -0.03125, 0.0625]);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn potri_to<'l, 'x, T: FactorElement>(
    stream: &Stream,
    triangle: Triangle,
    l: impl Into<Batch<'l, T>>,
    inverse: impl Into<BatchMut<'x, T>>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    inverted(stream, triangle, Some(l.into()), inverse.into(), scratch)
}

/// Writes inverses in place of the factors, or of others.
fn inverted<T: FactorElement>(
    stream: &Stream,
    triangle: Triangle,
    from: Option<Batch<'_, T>>,
    mut inverse: BatchMut<'_, T>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let layout = from.map_or(inverse.layout(), |l| l.layout());
    let n = expect_square(layout)?;
    let squares = Layout::row_major(n, n)?.batch(layout.count)?;
    if let Some(l) = from {
        expect_same_shape(layout, inverse.layout())?;
        stream.expect("factor of a matrix", l.data().device())?;
        inverse.data_mut().expect_apart("L", &l.data())?;
    }
    let what = if from.is_some() { "inverses" } else { "factor of a matrix" };
    stream.expect(what, inverse.data().device())?;
    lend(stream, scratch, ("inverse", potri_scratch::<T>(n, layout.count)?), |room| {
        if layout.is_empty() {
            return Ok(());
        }
        let l = from.map_or_else(|| Batch::new(inverse.data(), layout), Ok)?;
        let x = solved(stream, triangle, l, squares, room)?;
        factor::copy_batch(stream, Some(triangle), Batch::new(x.view(), squares)?, &mut inverse)
    })
}

/// The inverses, whole, in scratch memory.
fn solved<'x, T: FactorElement>(
    stream: &Stream,
    triangle: Triangle,
    l: Batch<'_, T>,
    squares: BatchLayout,
    scratch: ViewMut<'x, T>,
) -> Result<ViewMut<'x, T>, Error> {
    let elements = squares.span()?;
    let (mut x, rest) = scratch.try_split_at(elements.next_multiple_of(4) + ONE)?;
    factor::identities(stream, squares, x.reborrow())?;
    let mut x = x.try_into_slice(..elements)?;
    solve_in_place(stream, triangle, l, BatchMut::new(x.reborrow(), squares)?, rest)?;
    Ok(x)
}

/// Elements behind the identities, of which the first is a one.
const ONE: usize = 4;

/// Scratch memory of [`potri`] and [`potri_to`] for `count` matrices of `n` rows.
///
/// # Errors
/// [`Error::Device`] where the matrices' elements cannot be counted.
pub fn potri_scratch<T: FactorElement>(n: usize, count: usize) -> Result<ScratchSize, Error> {
    let squares = Layout::row_major(n, n)?.batch(count)?;
    if squares.is_empty() {
        return Ok(ScratchSize::new());
    }
    Ok(elements::<T>(squares.span()?.next_multiple_of(4) + ONE).with(potrs_scratch::<T>(n, squares)?))
}

/// The inverse of A, all of it, from the factor of A that [`cholesky`](crate::cholesky) or [`potrf`](crate::potrf)
/// made, computed where the factor lives, without gaps in a buffer of its own; of batches one inverse after the other.
///
/// The factor is n × n, row- or column-major with any leading dimension, and only its `triangle` is read; the inverse
/// is symmetric to the bit. [`potri_to`] and a launch that writes the other triangle, on the device's default stream;
/// reading the buffer waits for it. Where A⁻¹ is only multiplied with something,
/// [`cholesky_solve`](crate::cholesky_solve) is faster and closer.
///
/// # Errors
/// As [`potri_to`]; [`Error::Device`] where the device's memory does not suffice.
///
/// ```
/// use gpu_linalg::{Layout, Matrix, Triangle, cholesky_inverse};
/// let l = Matrix::new(&[2.0, f64::NAN, 1.0, 4.0], Layout::row_major(2, 2)?)?;
/// assert_eq!(cholesky_inverse(Triangle::Lower, l)?.to_vec()?, [0.265625, -0.03125, -0.03125, 0.0625]);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn cholesky_inverse<'l, T: FactorElement>(
    triangle: Triangle,
    l: impl Into<Batch<'l, T>>,
) -> Result<Buffer<T>, Error> {
    let l = l.into();
    let n = expect_square(l.layout())?;
    let layout = Layout::row_major(n, n)?.batch(l.layout().count)?;
    symmetric(l.data().device(), triangle, layout, |stream, half, scratch| {
        potri_to(stream, triangle, l, half, scratch)
    })
}

/// The logarithm of the determinant of each of a batch of matrices, from their factors: `2 · Σ ln lᵢᵢ`, computed in
/// f64 on the CPU.
///
/// The work is enqueued on the device's default stream, and waited for. NaN where the matrix was not positive
/// definite; zero of a matrix without rows. With each logarithm right within a unit in the last place, the error is at
/// most `(n + 1) ε · 2 Σ |ln lᵢᵢ|`, to first order.
///
/// # Errors
/// [`gpu_core::Error::NotSquare`]; [`gpu_core::Error::ExtentTooLarge`]; [`Error::Device`].
///
/// ```
/// use gpu_linalg::{Batch, BatchLayout, Layout, logdet_batch};
/// let two = BatchLayout::new(Layout::row_major(1, 1)?, 2, 3)?;
/// let logs = logdet_batch(Batch::new(&[2.0, f64::NAN, f64::NAN, 5.0], two)?)?;
/// assert!((logs[0] - 4f64.ln()).abs() < 1e-15 && (logs[1] - 25f64.ln()).abs() < 1e-15);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn logdet_batch<'l, T: FactorElement + Into<f64>>(l: impl Into<Batch<'l, T>>) -> Result<Vec<f64>, Error> {
    let l = l.into();
    let layout = l.layout();
    let n = expect_square(layout)?;
    if layout.is_empty() {
        return Ok(vec![0.0; layout.count]);
    }
    let data = l.data();
    let mut diagonals = data.device().alloc(n * layout.count)?;
    let from = (data, (layout.matrix.leading_dimension() + 1, layout.stride));
    let to = (diagonals.view_mut(), (1, n));
    factor::copy(&data.device().default_stream(), (n, layout.count), from, to, false)?;
    let diagonals = diagonals.to_vec()?;
    Ok(diagonals.chunks(n).map(|of| 2.0 * of.iter().map(|&l| l.into().ln()).sum::<f64>()).collect())
}

/// [`logdet_batch`] of one matrix.
///
/// # Errors
/// As [`logdet_batch`].
///
/// ```
/// use gpu_linalg::{Layout, Matrix, logdet};
/// let l = Matrix::new(&[2.0, 0.0, 1.0, 3.0], Layout::row_major(2, 2)?)?;
/// assert!((logdet(l)? - 36f64.ln()).abs() < 1e-14);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn logdet<T: FactorElement + Into<f64>>(l: Matrix<'_, T>) -> Result<f64, Error> {
    Ok(logdet_batch(l)?[0])
}
