//! Symmetric updates of a triangle.

use gpu_core::{Buffer, Stream, ViewMut};

use super::gemm::{How, expect_memory, product};
use super::{Diagonal, Triangle, all_of, dense, expect_scratch};
use crate::error::Error;
use crate::launch::RealElement;
use crate::level3::{TriangleElement, spread};
use crate::matrix::{Batch, BatchLayout, BatchMut, Layout};
use crate::plan::gemm::scratch_len_of_part;

/// `C = alpha · A · Aᵀ + beta · C` on `stream`, of C only its `triangle`: the other one is neither read nor written.
///
/// A is n × k and C n × n, matrices or batches of them, row- or column-major with any leading dimension; for `Aᵀ · A`
/// give [`Matrix::transposed`](crate::Matrix::transposed). Where `beta` is zero C is not read, where `alpha` is zero A
/// is not. `scratch` has at least [`syrk_scratch_len`] elements, none but where C is small; what is in it afterwards is
/// unspecified. It is a product ([`gemm()`](crate::gemm)) of which the tiles outside the triangle are left out. The
/// order of operations is a function of shapes, C's order and the type alone. Neither allocates device memory nor
/// waits.
///
/// # Errors
/// [`Error::NotSquare`], [`Error::ProductShapes`], [`Error::BatchCounts`], [`Error::ScratchTooSmall`],
/// [`Error::Aliasing`], [`Error::ExtentTooLarge`], [`Error::TooManyBlocks`]; [`Error::Device`] where memory is on
/// another device than the stream. C is as it was then. Where a launch failed, [`Error::Device`] too, and C's triangle
/// is unspecified.
///
/// ```
/// use gpu_linalg::{Layout, Matrix, MatrixMut, Triangle, syrk, syrk_scratch_len};
/// let device = gpu_core::Device::simulator();
/// let a = device.upload(&[1.0, 2.0, 3.0, 4.0])?;
/// let a = Matrix::new(&a, Layout::row_major(2, 2)?)?;
/// let (mut c, layout) = (device.upload(&[f32::NAN; 4])?, Layout::row_major(2, 2)?);
/// let mut scratch = device.alloc(syrk_scratch_len::<f32>(2, layout))?;
/// let output = MatrixMut::new(&mut c, layout)?;
/// syrk(&device.default_stream(), Triangle::Lower, 1.0, a, 0.0, output, &mut scratch)?;
/// let c = c.to_vec()?;
/// assert!((c[0], c[2], c[3]) == (5.0, 11.0, 25.0) && c[1].is_nan());
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn syrk<'a, 'c, 's, T: TriangleElement>(
    stream: &Stream,
    triangle: Triangle,
    alpha: T,
    a: impl Into<Batch<'a, T>>,
    beta: T,
    c: impl Into<BatchMut<'c, T>>,
    scratch: impl Into<ViewMut<'s, T>>,
) -> Result<(), Error> {
    let a = a.into();
    update(stream, triangle, alpha, &[(a, a)], beta, c.into(), scratch.into())
}

/// Elements of scratch memory that [`syrk`] needs for sums of `k` products and a C of this layout.
pub fn syrk_scratch_len<T: RealElement>(k: usize, c: impl Into<BatchLayout>) -> usize {
    scratch_len_of_part::<T>(k, c.into(), true)
}

/// `C = alpha · A · Bᵀ + alpha · B · Aᵀ + beta · C` on `stream`, of C only its `triangle`: the other one is neither
/// read nor written.
///
/// A and B are n × k. As [`syrk`] otherwise, with two products for each of its one; `scratch` has at least
/// [`syr2k_scratch_len`] elements.
///
/// # Errors
/// As [`syrk`]; [`Error::Shapes`] where A and B differ.
///
/// ```
/// use gpu_linalg::{Layout, Matrix, MatrixMut, Triangle, syr2k, syr2k_scratch_len};
/// let device = gpu_core::Device::simulator();
/// let (a, b) = (device.upload(&[1.0, 2.0])?, device.upload(&[3.0, 5.0])?);
/// let column = Layout::column_major(2, 1)?;
/// let (a, b) = (Matrix::new(&a, column)?, Matrix::new(&b, column)?);
/// let (mut c, layout) = (device.upload(&[0.5f64; 4])?, Layout::row_major(2, 2)?);
/// let mut scratch = device.alloc(syr2k_scratch_len::<f64>(1, layout))?;
/// let output = MatrixMut::new(&mut c, layout)?;
/// syr2k(&device.default_stream(), Triangle::Upper, 1.0, a, b, 2.0, output, &mut scratch)?;
/// assert_eq!(c.to_vec()?, [7.0, 12.0, 0.5, 21.0]);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
#[expect(clippy::too_many_arguments, reason = "those of BLAS")]
pub fn syr2k<'a, 'b, 'c, 's, T: TriangleElement>(
    stream: &Stream,
    triangle: Triangle,
    alpha: T,
    a: impl Into<Batch<'a, T>>,
    b: impl Into<Batch<'b, T>>,
    beta: T,
    c: impl Into<BatchMut<'c, T>>,
    scratch: impl Into<ViewMut<'s, T>>,
) -> Result<(), Error> {
    let (a, b) = (a.into(), b.into());
    update(stream, triangle, alpha, &[(a, b), (b, a)], beta, c.into(), scratch.into())
}

/// Elements of scratch memory that [`syr2k`] needs for sums of `k` products each and a C of this layout.
pub fn syr2k_scratch_len<T: RealElement>(k: usize, c: impl Into<BatchLayout>) -> usize {
    syrk_scratch_len::<T>(k, c)
}

/// `C = alpha · (sum of A · Bᵀ over the factors) + beta · C`, which is symmetric: the triangle of it.
fn update<T: TriangleElement>(
    stream: &Stream,
    triangle: Triangle,
    alpha: T,
    factors: &[(Batch<'_, T>, Batch<'_, T>)],
    beta: T,
    mut c: BatchMut<'_, T>,
    mut scratch: ViewMut<'_, T>,
) -> Result<(), Error> {
    let (a, b) = factors[0];
    let (rows, columns) = c.layout().matrix.shape();
    if rows != columns {
        return Err(Error::NotSquare { rows, columns });
    }
    let (of_a, of_b) = (a.layout().matrix.shape(), b.layout().matrix.shape());
    if of_a != of_b {
        return Err(Error::Shapes { expected: of_a, actual: of_b });
    }
    if of_a.0 != rows {
        return Err(Error::ProductShapes { a: of_a, b: (of_b.1, of_b.0), c: (rows, columns) });
    }
    let counts = [a.layout().count, b.layout().count, c.layout().count];
    if counts[0] != counts[2] || counts[1] != counts[2] {
        return Err(Error::BatchCounts { a: counts[0], b: counts[1], c: counts[2] });
    }
    expect_scratch(syrk_scratch_len::<T>(of_a.1, c.layout()), scratch.len())?;
    stream.expect("scratch memory of a product", scratch.device())?;
    expect_memory(stream, a.data(), b.data(), &c.data_mut())?;
    if c.layout().is_empty() {
        return Ok(());
    }
    let layout = c.layout();
    let mut beta = beta;
    for &(a, b) in factors {
        let (b, c) = (b.transposed(), BatchMut::new(c.data_mut(), layout)?);
        let how = How { triangle: Some(triangle), ..How::default() };
        product(stream, how, alpha, a, b, beta, c, scratch.reborrow())?;
        beta = T::ONE;
    }
    Ok(())
}

/// The Gram matrix `A · Aᵀ`, all of it, computed where A lives, without gaps in a buffer of its own; of batches one
/// matrix after the other.
///
/// A is n × k and the result n × n, symmetric to the bit; for `Aᵀ · A` give
/// [`Matrix::transposed`](crate::Matrix::transposed). [`syrk`], which is half the work of a product, and a launch that
/// writes the other triangle, on the device's default stream; reading the buffer waits for it.
///
/// # Errors
/// [`Error::ExtentTooLarge`], [`Error::TooManyBlocks`]; [`Error::Device`] where the device's memory does not suffice,
/// or where a launch failed.
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
    let ((n, k), device) = (a.layout().matrix.shape(), a.data().device());
    let layout = dense(BatchLayout { matrix: Layout::row_major(n, n)?, ..a.layout() })?;
    let [mut half, mut full] = [device.alloc(layout.span()?)?, device.alloc(layout.span()?)?];
    let mut scratch = device.alloc(syrk_scratch_len::<T>(k, layout))?;
    let (stream, lower) = (device.default_stream(), Triangle::Lower);
    syrk(&stream, lower, T::ONE, a, T::ZERO, all_of(&mut half, layout)?, &mut scratch)?;
    if !layout.is_empty() {
        spread(&stream, Batch::new(&half, layout)?, Diagonal::Stored, n, true, full.view_mut())?;
    }
    Ok(full)
}
