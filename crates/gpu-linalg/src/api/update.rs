//! Symmetric updates of a triangle.

use gpu_core::{Stream, ViewMut};

use super::{Triangle, expect_apart, gemm, gemm_scratch_len};
use crate::error::Error;
use crate::launch::RealElement;
use crate::level3::{TriangleElement, merge, part, repeated, repeated_mut, take, whole};
use crate::matrix::{Batch, BatchLayout, BatchMut, Layout, Order};
use crate::plan::level3::{self as plan, Piece};

/// `C = alpha · A · Aᵀ + beta · C` on `stream`, of C only its `triangle`: the other one is neither read nor written.
///
/// A is n × k and C n × n, matrices or batches of them, row- or column-major with any leading dimension; for `Aᵀ · A` give
/// [`Matrix::transposed`](crate::Matrix::transposed). Where `beta` is zero C is not read, where `alpha` is zero A is not.
/// `scratch` has at least [`syrk_scratch_len`] elements; what is in it afterwards is unspecified. C is cut into squares on the diagonal, of
/// which all is computed, and squares below it, each a product of its own ([`gemm()`](crate::gemm)). The order of operations is a function of shapes, C's
/// order, triangle and type alone. Neither allocates device memory nor waits.
///
/// # Errors
/// [`Error::NotSquare`], [`Error::ProductShapes`], [`Error::BatchCounts`], [`Error::ScratchTooSmall`], [`Error::Aliasing`],
/// [`Error::ExtentTooLarge`], [`Error::TooManyBlocks`]; [`Error::Device`] where memory is on another device than the stream. C is as
/// it was then. Where a launch failed, [`Error::Device`] too, and C's triangle is unspecified.
///
/// ```
/// use gpu_linalg::{Layout, Matrix, MatrixMut, Triangle, syrk, syrk_scratch_len};
/// let device = gpu_core::Device::simulator();
/// let a = device.upload(&[1.0, 2.0, 3.0, 4.0])?;
/// let a = Matrix::new(&a, Layout::row_major(2, 2)?)?;
/// let (mut c, layout) = (device.upload(&[f32::NAN; 4])?, Layout::row_major(2, 2)?);
/// let mut scratch = device.alloc(syrk_scratch_len::<f32>(2, layout)?)?;
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
    let expected = |k, layout| syrk_scratch_len::<T>(k, layout);
    update(stream, triangle, alpha, &[(a, a)], beta, c.into(), scratch.into(), expected)
}

/// Elements of scratch memory that [`syrk`] needs for sums of `k` products and a C of this layout: the squares on the diagonal, and what
/// products need.
///
/// # Errors
/// [`Error::Device`] where they are not a `usize`.
pub fn syrk_scratch_len<T: RealElement>(k: usize, c: impl Into<BatchLayout>) -> Result<usize, Error> {
    let c = c.into();
    let (n, mut sums) = (c.matrix.rows(), 0);
    if c.is_empty() {
        return Ok(0);
    }
    let square = plan::update_square(n);
    let (diagonal, below) = plan::update(n, square);
    for piece in &diagonal {
        sums = sums.max(gemm_scratch_len::<T>(k, squares(c, piece, square)?));
    }
    for of in [c, c.transposed()] {
        for piece in &below {
            let target = target(of, piece)?;
            sums = sums.max(gemm_scratch_len::<T>(k, target)).max(gemm_scratch_len::<T>(0, target));
        }
    }
    let too_large = || Error::Device(gpu_core::Error::BatchOverflow { count: c.count, stride: c.stride });
    let all = (n.div_ceil(square) * square * square).checked_mul(c.count).ok_or_else(too_large)?;
    all.checked_add(sums).ok_or_else(too_large)
}

/// `C = alpha · A · Bᵀ + alpha · B · Aᵀ + beta · C` on `stream`, of C only its `triangle`: the other one is neither read nor written.
///
/// A and B are n × k. As [`syrk`] otherwise, with two products for each of its one; `scratch` has at least [`syr2k_scratch_len`]
/// elements.
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
/// let mut scratch = device.alloc(syr2k_scratch_len::<f64>(1, layout)?)?;
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
    let expected = |k, layout| syr2k_scratch_len::<T>(k, layout);
    update(stream, triangle, alpha, &[(a, b), (b, a)], beta, c.into(), scratch.into(), expected)
}

/// Elements of scratch memory that [`syr2k`] needs for sums of `k` products each and a C of this layout.
///
/// # Errors
/// As [`syrk_scratch_len`].
pub fn syr2k_scratch_len<T: RealElement>(k: usize, c: impl Into<BatchLayout>) -> Result<usize, Error> {
    syrk_scratch_len::<T>(k, c)
}

/// The squares of a piece in scratch memory, in C's order.
fn squares(c: BatchLayout, piece: &Piece, square: usize) -> Result<BatchLayout, Error> {
    let rows = piece.rows.len();
    let matrix = match c.matrix.order() {
        Order::RowMajor => Layout::row_major(rows, rows),
        Order::ColumnMajor => Layout::column_major(rows, rows),
    };
    let matrix = matrix?.with_leading_dimension(square)?;
    let all = c.matrix.rows().div_ceil(square) * square * square;
    let (count, stride) = if c.count == 1 { (piece.count, square * square) } else { (c.count, all) };
    Ok(BatchLayout::new(matrix, count, stride)?)
}

/// How a piece lies in C: all of them at once where C is one matrix, else the first.
fn target(c: BatchLayout, piece: &Piece) -> Result<BatchLayout, Error> {
    let (rows, columns) = (piece.rows.len(), piece.columns.len());
    let matrix = match c.matrix.order() {
        Order::RowMajor => Layout::row_major(rows, columns),
        Order::ColumnMajor => Layout::column_major(rows, columns),
    };
    let matrix = matrix?.with_leading_dimension(c.matrix.leading_dimension())?;
    if c.count > 1 || piece.count == 1 {
        return Ok(BatchLayout { matrix, ..c });
    }
    let stride = c.matrix.index(piece.step, piece.step);
    Ok(BatchLayout { matrix, count: piece.count, stride })
}

/// The pieces of batches one after the other, those of one matrix as they are.
fn each(piece: &Piece, of_batch: bool) -> impl Iterator<Item = Piece> {
    let (times, count) = if of_batch { (piece.count, 1) } else { (1, piece.count) };
    let (rows, columns, step) = (piece.rows.clone(), piece.columns.clone(), piece.step);
    (0..times).map(move |time| {
        let by = time * step;
        let (rows, columns) = (rows.start + by..rows.end + by, columns.start + by..columns.end + by);
        Piece { rows, columns, count, step }
    })
}

/// `C = alpha · (sum of A · Bᵀ over the factors) + beta · C`, which is symmetric: the triangle of it.
#[expect(clippy::too_many_arguments, reason = "those of BLAS")]
fn update<T: TriangleElement>(
    stream: &Stream,
    triangle: Triangle,
    alpha: T,
    factors: &[(Batch<'_, T>, Batch<'_, T>)],
    beta: T,
    mut c: BatchMut<'_, T>,
    scratch: ViewMut<'_, T>,
    expected: impl Fn(usize, BatchLayout) -> Result<usize, Error>,
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
    let expected = expected(of_a.1, c.layout())?;
    if scratch.len() < expected {
        return Err(Error::ScratchTooSmall { expected, actual: scratch.len() });
    }
    stream.expect("first factor of an update", a.data().device())?;
    stream.expect("second factor of an update", b.data().device())?;
    stream.expect("output of an update", c.data().device())?;
    stream.expect("scratch memory of an update", scratch.device())?;
    expect_apart(&c.data_mut(), "A", &a.data())?;
    expect_apart(&c.data_mut(), "B", &b.data())?;
    if c.layout().is_empty() {
        return Ok(());
    }
    // The upper triangle is the lower one of the transposed, which is updated by the same sum.
    let mut c = if triangle == Triangle::Lower { c } else { c.transposed() };
    let (layout, k, n) = (c.layout(), of_a.1, rows);
    let (square, of_batch) = (plan::update_square(n), layout.count > 1);
    let (diagonal, below) = plan::update(n, square);
    let mut scratch = Some(scratch);
    let mut products = take(&mut scratch, n.div_ceil(square) * square * square * layout.count)?;
    let mut sums = scratch.expect("what is left is put back");

    for piece in below.iter().flat_map(|piece| each(piece, of_batch)) {
        for (number, &(left, right)) in factors.iter().enumerate() {
            let times = (piece.count, (piece.step, 0));
            let left = repeated(left, piece.rows.clone(), 0..k, times)?;
            let right = repeated(right, piece.columns.clone(), 0..k, times)?;
            let (rows, columns) = (piece.rows.clone(), piece.columns.clone());
            let target = repeated_mut(&mut c, rows, columns, (piece.count, (piece.step, piece.step)))?;
            let beta = if number == 0 { beta } else { T::ONE };
            gemm(stream, alpha, left, right.transposed(), beta, target, sums.reborrow())?;
        }
    }
    for piece in diagonal.iter().flat_map(|piece| each(piece, of_batch)) {
        let start = piece.rows.start / square * square * square;
        let squares = squares(layout, &piece, square)?;
        let mut product = BatchMut::new(products.reborrow().into_slice(start..), squares)?;
        for (number, &(left, right)) in factors.iter().enumerate() {
            let times = (piece.count, (piece.step, 0));
            let left = repeated(left, piece.rows.clone(), 0..k, times)?;
            let right = repeated(right, piece.rows.clone(), 0..k, times)?;
            let target = BatchMut::new(product.data_mut(), squares)?;
            let factor = if alpha == T::ZERO { T::ZERO } else { T::ONE };
            let beta = if number == 0 { T::ZERO } else { T::ONE };
            gemm(stream, factor, left, right.transposed(), beta, target, sums.reborrow())?;
        }
        let (rows, columns) = (piece.rows.clone(), piece.columns.clone());
        let target = repeated_mut(&mut c, rows, columns, (piece.count, (piece.step, piece.step)))?;
        let product = part(whole(&product)?, 0..piece.rows.len(), 0..piece.rows.len())?;
        merge(stream, alpha, product, beta, target, true)?;
    }
    Ok(())
}
