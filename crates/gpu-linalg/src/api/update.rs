//! Symmetric updates of a triangle.

use gpu_core::{Buffer, Scratch, ScratchSize, Stream, checks};

use super::factor::expect_square;
use super::gemm::{How, expect_counts, expect_memory, product};
use super::{Triangle, elements, lend, of_kernels, symmetric};
use crate::error::Error;
use crate::launch::RealElement;
use crate::level3::TriangleElement;
use crate::matrix::{Batch, BatchLayout, BatchMut, Layout};
use crate::plan::gemm::scratch_len_of_part;

/// `C = alpha · A · Aᵀ + beta · C` on `stream`, of C only its `triangle`: the other one is neither read nor written.
///
/// A is n × k and C n × n, matrices or batches of them, row- or column-major with any leading dimension; for `Aᵀ · A`
/// give [`Matrix::transposed`](crate::Matrix::transposed). Where `beta` is zero C is not read, where `alpha` is zero A
/// is not. `scratch` grows to [`syrk_scratch`], nothing but where C is small. It is a product ([`gemm()`](crate::gemm))
/// of which the tiles outside the triangle are left out. The order of operations is a function of shapes, C's order and
/// the type alone. It does not wait, nor allocate but where `scratch` grows.
///
/// # Errors
/// [`gpu_core::Error::NotSquare`], [`Error::ProductShapes`], [`Error::BatchCounts`], [`gpu_core::Error::Aliasing`],
/// [`gpu_core::Error::ExtentTooLarge`], [`gpu_core::Error::TooManyBlocks`]; [`Error::Device`] where memory is on
/// another device than the stream, or `scratch` of another stream or too small. C is as it was then. Where a launch
/// failed, [`Error::Device`] too, and C's triangle is unspecified.
///
/// ```
/// use gpu_linalg::{Layout, Matrix, MatrixMut, Scratch, Triangle, syrk, syrk_scratch};
/// let device = gpu_core::Device::simulator();
/// let a = device.upload(&[1.0, 2.0, 3.0, 4.0])?;
/// let a = Matrix::new(&a, Layout::row_major(2, 2)?)?;
/// let (mut c, layout) = (device.upload(&[f32::NAN; 4])?, Layout::row_major(2, 2)?);
/// let mut scratch = Scratch::with_size(&device.default_stream(), syrk_scratch::<f32>(2, layout))?;
/// let output = MatrixMut::new(&mut c, layout)?;
/// syrk(&device.default_stream(), Triangle::Lower, 1.0, a, 0.0, output, &mut scratch)?;
/// let c = c.to_vec()?;
/// assert!((c[0], c[2], c[3]) == (5.0, 11.0, 25.0) && c[1].is_nan());
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn syrk<'a, 'c, T: TriangleElement>(
    stream: &Stream,
    triangle: Triangle,
    alpha: T,
    a: impl Into<Batch<'a, T>>,
    beta: T,
    c: impl Into<BatchMut<'c, T>>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let a = a.into();
    update(stream, triangle, alpha, &[(a, a)], beta, c.into(), scratch)
}

/// Scratch memory of [`syrk`] for sums of `k` products and a C of this layout.
pub fn syrk_scratch<T: RealElement>(k: usize, c: impl Into<BatchLayout>) -> ScratchSize {
    elements::<T>(scratch_len_of_part::<T>(k, c.into(), true))
}

/// `C = alpha · A · Bᵀ + alpha · B · Aᵀ + beta · C` on `stream`, of C only its `triangle`: the other one is neither
/// read nor written.
///
/// A and B are n × k. As [`syrk`] otherwise, with two products for each of its one; `scratch` grows to
/// [`syr2k_scratch`].
///
/// # Errors
/// As [`syrk`]; [`gpu_core::Error::Shape`] where A and B differ.
///
/// ```
/// use gpu_linalg::{Layout, Matrix, MatrixMut, Scratch, Triangle, syr2k, syr2k_scratch};
/// let device = gpu_core::Device::simulator();
/// let (a, b) = (device.upload(&[1.0, 2.0])?, device.upload(&[3.0, 5.0])?);
/// let column = Layout::column_major(2, 1)?;
/// let (a, b) = (Matrix::new(&a, column)?, Matrix::new(&b, column)?);
/// let (mut c, layout) = (device.upload(&[0.5f64; 4])?, Layout::row_major(2, 2)?);
/// let mut scratch = Scratch::with_size(&device.default_stream(), syr2k_scratch::<f64>(1, layout))?;
/// let output = MatrixMut::new(&mut c, layout)?;
/// syr2k(&device.default_stream(), Triangle::Upper, 1.0, a, b, 2.0, output, &mut scratch)?;
/// assert_eq!(c.to_vec()?, [7.0, 12.0, 0.5, 21.0]);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
#[expect(clippy::too_many_arguments, reason = "those of BLAS")]
pub fn syr2k<'a, 'b, 'c, T: TriangleElement>(
    stream: &Stream,
    triangle: Triangle,
    alpha: T,
    a: impl Into<Batch<'a, T>>,
    b: impl Into<Batch<'b, T>>,
    beta: T,
    c: impl Into<BatchMut<'c, T>>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let (a, b) = (a.into(), b.into());
    update(stream, triangle, alpha, &[(a, b), (b, a)], beta, c.into(), scratch)
}

/// Scratch memory of [`syr2k`] for sums of `k` products each and a C of this layout.
pub fn syr2k_scratch<T: RealElement>(k: usize, c: impl Into<BatchLayout>) -> ScratchSize {
    syrk_scratch::<T>(k, c)
}

/// `C = alpha · (sum of A · Bᵀ over the factors) + beta · C`, which is symmetric: the triangle of it.
fn update<T: TriangleElement>(
    stream: &Stream,
    triangle: Triangle,
    alpha: T,
    factors: &[(Batch<'_, T>, Batch<'_, T>)],
    beta: T,
    mut c: BatchMut<'_, T>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let (a, b) = factors[0];
    let (rows, columns) = c.layout().matrix.shape();
    expect_square(c.layout())?;
    let (of_a, of_b) = (a.layout().matrix.shape(), b.layout().matrix.shape());
    checks::shape("B", of_a, of_b)?;
    if of_a.0 != rows {
        return Err(Error::ProductShapes { a: of_a, b: (of_b.1, of_b.0), c: (rows, columns) });
    }
    expect_counts([a.layout().count, b.layout().count, c.layout().count])?;
    expect_memory(stream, a.data(), b.data(), &c.data_mut())?;
    let layout = c.layout();
    let size = of_kernels(stream, syrk_scratch::<T>(of_a.1, layout));
    lend(stream, scratch, ("product", size), |mut room| {
        if layout.is_empty() {
            return Ok(());
        }
        let mut beta = beta;
        for &(a, b) in factors {
            let (b, c) = (b.transposed(), BatchMut::new(c.data_mut(), layout)?);
            let how = How { triangle: Some(triangle), ..How::default() };
            product(stream, how, alpha, a, b, beta, c, room.reborrow())?;
            beta = T::ONE;
        }
        Ok(())
    })
}

/// The Gram matrix `A · Aᵀ`, all of it, computed where A lives, without gaps in a buffer of its own; of batches one
/// matrix after the other.
///
/// A is n × k and the result n × n, symmetric to the bit; for `Aᵀ · A` give
/// [`Matrix::transposed`](crate::Matrix::transposed). [`syrk`], which is half the work of a product, and a launch that
/// writes the other triangle, on the device's default stream; reading the buffer waits for it.
///
/// # Errors
/// [`gpu_core::Error::ExtentTooLarge`], [`gpu_core::Error::TooManyBlocks`]; [`Error::Device`] where the device's memory
/// does not suffice, or where a launch failed.
///
/// ```
/// use gpu_linalg::{Layout, Matrix, gram};
/// let a = Matrix::new(&[1.0, 2.0, 3.0, 4.0], Layout::row_major(2, 2)?)?;
/// assert_eq!(gram(a)?.to_vec()?, [5.0, 11.0, 11.0, 25.0]);
/// assert_eq!(gram(a.transposed())?.to_vec()?, [10.0, 14.0, 14.0, 20.0]);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn gram<'a, T: TriangleElement>(a: impl Into<Batch<'a, T>>) -> Result<Buffer<T>, Error> {
    let a = a.into();
    whole(&[(a, a)])
}

/// The symmetric sum `A · Bᵀ + B · Aᵀ`, all of it, computed where A lives, without gaps in a buffer of its own; of
/// batches one matrix after the other.
///
/// A and B are n × k and the result n × n, symmetric to the bit: [`syr2k`], and otherwise as [`gram`].
///
/// # Errors
/// As [`gram`]; [`gpu_core::Error::Shape`] and [`Error::BatchCounts`] where A and B differ.
///
/// ```
/// use gpu_linalg::{Layout, Matrix, gram_pair};
/// let column = Layout::column_major(2, 1)?;
/// let (a, b) = (Matrix::new(&[1.0, 2.0], column)?, Matrix::new(&[3.0, 5.0], column)?);
/// assert_eq!(gram_pair(a, b)?.to_vec()?, [6.0, 11.0, 11.0, 20.0]);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn gram_pair<'a, 'b, T: TriangleElement>(
    a: impl Into<Batch<'a, T>>,
    b: impl Into<Batch<'b, T>>,
) -> Result<Buffer<T>, Error> {
    let (a, b) = (a.into(), b.into());
    whole(&[(a, b), (b, a)])
}

/// Both triangles of the sum of `A · Bᵀ` over the factors.
fn whole<T: TriangleElement>(factors: &[(Batch<'_, T>, Batch<'_, T>)]) -> Result<Buffer<T>, Error> {
    let (of_a, device) = (factors[0].0.layout(), factors[0].0.data().device());
    let n = of_a.matrix.rows();
    let layout = Layout::row_major(n, n)?.batch(of_a.count)?;
    symmetric(device, Triangle::Lower, layout, |stream, lower, scratch| {
        update(stream, Triangle::Lower, T::ONE, factors, T::ZERO, lower, scratch)
    })
}
