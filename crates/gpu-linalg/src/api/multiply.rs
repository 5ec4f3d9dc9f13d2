//! Products with a triangular or a symmetric matrix.

use gpu_core::matrix::Invalid;
use gpu_core::{Buffer, Scratch, ScratchSize, Stream, ViewMut, checks};

use super::gemm::{expect_counts, expect_memory};
use super::solve::{Side, expect_shapes};
use super::{Diagonal, Triangle, changed, elements, lend, multiply, written};
use crate::error::Error;
use crate::launch::RealElement;
use crate::level3::{OnLeft, TriangleElement, copy, part, part_mut, rows_of, spread, take, temporary, whole};
use crate::matrix::{Batch, BatchLayout, BatchMut, Layout};
use crate::plan::gemm::scratch_len as product_len;
use crate::plan::level3::{self as plan, Step};

/// `B = alpha · A · B`, or `B = alpha · B · A` with A on the right, on `stream`, A being triangular.
///
/// Matrices or batches of them, row- or column-major with any leading dimension. Only A's `triangle` is read, without
/// the diagonal where it is a unit one; a transposed A is [`Matrix::transposed`](crate::Matrix::transposed) with the
/// other triangle. Where `alpha` is zero neither A nor B is read. `scratch` grows to [`trmm_scratch`]. What counts as
/// zero is multiplied within blocks of 128 rows on the diagonal (64 of small matrices): there an infinity or NaN in B
/// reaches the rows of its block. The order of operations is a function of shapes, orders and type alone. It does not
/// wait, nor allocate but where `scratch` grows.
///
/// # Errors
/// [`gpu_core::Error::NotSquare`], [`Error::ProductShapes`], [`Error::BatchCounts`], [`gpu_core::Error::Aliasing`],
/// [`gpu_core::Error::ExtentTooLarge`], [`gpu_core::Error::TooManyBlocks`]; [`Error::Device`] where memory is on
/// another device than the stream, or `scratch` of another stream or too small. B is as it was then. Where a launch
/// failed, [`Error::Device`] too, and B is unspecified.
///
/// ```
/// use gpu_linalg::{Diagonal, Layout, Matrix, MatrixMut, Scratch, Side, Triangle, trmm, trmm_scratch};
/// let device = gpu_core::Device::simulator();
/// let a = device.upload(&[1.0, f32::NAN, 2.0, 3.0])?;
/// let a = Matrix::new(&a, Layout::row_major(2, 2)?)?;
/// let (mut b, layout) = (device.upload(&[1.0, 10.0])?, Layout::column_major(2, 1)?);
/// let mut scratch = Scratch::with_size(&device.default_stream(), trmm_scratch::<f32>(Side::Left, layout)?)?;
/// let vector = MatrixMut::new(&mut b, layout)?;
/// trmm(&device.default_stream(), Side::Left, Triangle::Lower, Diagonal::Stored, 2.0, a, vector, &mut scratch)?;
/// assert_eq!(b.to_vec()?, [2.0, 64.0]);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
#[expect(clippy::too_many_arguments, reason = "those of BLAS")]
pub fn trmm<'a, 'b, T: TriangleElement>(
    stream: &Stream,
    side: Side,
    triangle: Triangle,
    diagonal: Diagonal,
    alpha: T,
    a: impl Into<Batch<'a, T>>,
    b: impl Into<BatchMut<'b, T>>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let (a, mut b) = (a.into(), b.into());
    expect_shapes(side, a.layout(), b.layout())?;
    stream.expect("triangle of a product", a.data().device())?;
    stream.expect("other factor of a product", b.data().device())?;
    b.data_mut().expect_apart("A", &a.data())?;
    let (of, size) = (OnLeft::new(side, triangle, a), trmm_scratch::<T>(side, b.layout())?);
    let b = if side == Side::Left { b } else { b.transposed() };
    lend(stream, scratch, ("product", size), |room| on_left(stream, of, diagonal, alpha, b, room))
}

/// The same with A on the left, in so much scratch memory; everything is checked but extents.
fn on_left<T: TriangleElement>(
    stream: &Stream,
    of: OnLeft<'_, T>,
    diagonal: Diagonal,
    alpha: T,
    mut b: BatchMut<'_, T>,
    scratch: ViewMut<'_, T>,
) -> Result<(), Error> {
    if b.layout().is_empty() {
        return Ok(());
    }
    let (layout, mut scratch) = (temporary(b.layout())?, Some(scratch));
    let (n, columns, count) = (layout.matrix.rows(), 0..layout.matrix.columns(), layout.count);
    let square = multiply_square(n);
    let stride = n.div_ceil(square) * square * square;
    let mut triangles = take(&mut scratch, stride * count)?;
    let mut old = BatchMut::new(take(&mut scratch, layout.span()?.next_multiple_of(4))?, layout)?;
    let mut sums = scratch.expect("what is left is put back");
    if alpha != T::ZERO {
        spread(stream, of.lower, diagonal, square, false, triangles.reborrow())?;
        let all = BatchMut::new(old.data_mut(), layout)?;
        copy(stream, whole(&b)?, all)?;
    }
    for step in plan::multiply(n, square, of.transposed) {
        match step {
            Step::Diagonal { rows, square: number, .. } => {
                let start = number * square * square;
                let all = BatchLayout::new(Layout::row_major(square, square)?, count, stride)?;
                let factor = Batch::new(triangles.view().slice(start..), all)?;
                let factor = if of.transposed { factor.transposed() } else { factor };
                let factor = part(factor, 0..rows.len(), 0..rows.len())?;
                let other = part(whole(&old)?, rows.clone(), columns.clone())?;
                let result = part_mut(&mut b, rows, columns.clone())?;
                multiply(stream, alpha, factor, other, T::ZERO, result, sums.reborrow())?;
            }
            Step::Update { rows, from, .. } => {
                let other = part(whole(&old)?, from.clone(), columns.clone())?;
                let result = part_mut(&mut b, rows.clone(), columns.clone())?;
                multiply(stream, alpha, of.part(rows, from)?, other, T::ONE, result, sums.reborrow())?;
            }
        }
    }
    Ok(())
}

/// Rows of the squares on the diagonal that are multiplied as full ones.
fn multiply_square(n: usize) -> usize {
    if n <= 256 { 64 } else { 128 }
}

/// Scratch memory of [`trmm`] for a B of this layout: the blocks on the diagonal, B as it was, and what products need.
///
/// # Errors
/// [`Error::Device`] where they are not a `usize`.
pub fn trmm_scratch<T: RealElement>(side: Side, b: impl Into<BatchLayout>) -> Result<ScratchSize, Error> {
    let b = b.into();
    let b = if side == Side::Left { b } else { b.transposed() };
    if b.is_empty() {
        return Ok(ScratchSize::new());
    }
    let (n, mut sums) = (b.matrix.rows(), 0);
    let square = multiply_square(n);
    for step in [false, true].into_iter().flat_map(|backward| plan::multiply(n, square, backward)) {
        let (rows, k) = match step {
            Step::Diagonal { rows, .. } => (rows.clone(), rows.len()),
            Step::Update { rows, from, .. } => (rows, from.len()),
        };
        let result = rows_of(b, rows.len())?;
        sums = sums.max(product_len::<T>(k, result)).max(product_len::<T>(0, result));
    }
    let old = temporary(b)?.span()?.next_multiple_of(4);
    let too_large = || Error::Device(Invalid::BatchOverflow { count: b.count, stride: old }.into());
    let triangles = (n.div_ceil(square) * square * square).checked_mul(b.count).ok_or_else(too_large)?;
    let all = [triangles, old, sums].into_iter().try_fold(0usize, usize::checked_add);
    Ok(elements::<T>(all.ok_or_else(too_large)?))
}

/// `C = alpha · A · B + beta · C`, or `C = alpha · B · A + beta · C` with A on the right, on `stream`, A being
/// symmetric: only its `triangle` is read.
///
/// Matrices or batches of them, row- or column-major with any leading dimension. Where `beta` is zero C is not read,
/// where `alpha` is zero neither A nor B. `scratch` grows to [`symm_scratch`], for all of A is written out there. The
/// result is that of [`gemm()`](crate::gemm) with all of A without gaps, bit by bit. It does not wait, nor allocate but
/// where `scratch` grows.
///
/// # Errors
/// As [`trmm`]; [`gpu_core::Error::Shape`] where B and C differ.
///
/// ```
/// use gpu_linalg::{Layout, Matrix, MatrixMut, Scratch, Side, Triangle, symm, symm_scratch};
/// let device = gpu_core::Device::simulator();
/// let a = device.upload(&[1.0, f64::NAN, 2.0, 3.0])?;
/// let b = device.upload(&[1.0, 10.0])?;
/// let layout = Layout::column_major(2, 1)?;
/// let mut c = device.upload(&[f64::NAN; 2])?;
/// let mut scratch = Scratch::with_size(&device.default_stream(), symm_scratch::<f64>(Side::Left, layout)?)?;
/// let a = Matrix::new(&a, Layout::row_major(2, 2)?)?;
/// let (b, output) = (Matrix::new(&b, layout)?, MatrixMut::new(&mut c, layout)?);
/// symm(&device.default_stream(), Side::Left, Triangle::Lower, 1.0, a, b, 0.0, output, &mut scratch)?;
/// assert_eq!(c.to_vec()?, [21.0, 32.0]);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
#[expect(clippy::too_many_arguments, reason = "those of BLAS")]
pub fn symm<'a, 'b, 'c, T: TriangleElement>(
    stream: &Stream,
    side: Side,
    triangle: Triangle,
    alpha: T,
    a: impl Into<Batch<'a, T>>,
    b: impl Into<Batch<'b, T>>,
    beta: T,
    c: impl Into<BatchMut<'c, T>>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let (a, b, mut c) = (a.into(), b.into(), c.into());
    expect_shapes(side, a.layout(), b.layout())?;
    checks::shape("C", b.layout().matrix.shape(), c.layout().matrix.shape())?;
    let counts = [a.layout().count, b.layout().count, c.layout().count];
    expect_counts(counts)?;
    expect_memory(stream, a.data(), b.data(), &c.data_mut())?;
    lend(stream, scratch, ("product", symm_scratch::<T>(side, c.layout())?), |room| {
        if c.layout().is_empty() {
            return Ok(());
        }
        let n = a.layout().matrix.rows();
        let (mut full, sums) = room.try_split_at((n * n * counts[0]).next_multiple_of(4))?;
        if alpha != T::ZERO {
            let lower = if triangle == Triangle::Lower { a } else { a.transposed() };
            spread(stream, lower, Diagonal::Stored, n, true, full.reborrow())?;
        }
        let layout = Layout::row_major(n, n)?.batch(counts[0])?;
        let full = Batch::new(full.view(), layout)?;
        let (first, second) = if side == Side::Left { (full, b) } else { (b, full) };
        multiply(stream, alpha, first, second, beta, c, sums)
    })
}

/// Scratch memory of [`symm`] for a C of this layout: all of A, and what the product needs.
///
/// # Errors
/// [`Error::Device`] where its elements are not a `usize`.
pub fn symm_scratch<T: RealElement>(side: Side, c: impl Into<BatchLayout>) -> Result<ScratchSize, Error> {
    let c = c.into();
    if c.is_empty() {
        return Ok(ScratchSize::new());
    }
    let n = if side == Side::Left { c.matrix.rows() } else { c.matrix.columns() };
    let too_large = || Error::Device(Invalid::BatchOverflow { count: c.count, stride: n }.into());
    let full = n.checked_mul(n).and_then(|full| full.checked_mul(c.count));
    let full = full.and_then(|full| full.checked_next_multiple_of(4)).ok_or_else(too_large)?;
    Ok(elements::<T>(full.checked_add(product_len::<T>(n, c)).ok_or_else(too_large)?))
}

/// The product `A · B`, or `B · A` with A on the right, A being triangular, computed where A lives, without gaps and in
/// B's order in a buffer of its own; of batches one product after the other. Only A's `triangle` is read.
///
/// [`trmm`] of a copy of B, on the device's default stream; reading the buffer waits for it.
///
/// # Errors
/// As [`trmm`]; [`Error::Device`] where the device's memory does not suffice.
///
/// ```
/// use gpu_linalg::{Diagonal, Layout, Matrix, Side, Triangle, matmul_triangular};
/// let a = Matrix::new(&[1.0, f64::NAN, 2.0, 3.0], Layout::row_major(2, 2)?)?;
/// let b = Matrix::new(&[1.0, 0.0, 10.0, 1.0], Layout::row_major(2, 2)?)?;
/// let product = matmul_triangular(Side::Left, Triangle::Lower, Diagonal::Stored, a, b)?;
/// assert_eq!(product.to_vec()?, [1.0, 0.0, 32.0, 3.0]);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn matmul_triangular<'a, 'b, T: TriangleElement>(
    side: Side,
    triangle: Triangle,
    diagonal: Diagonal,
    a: impl Into<Batch<'a, T>>,
    b: impl Into<Batch<'b, T>>,
) -> Result<Buffer<T>, Error> {
    let (a, b) = (a.into(), b.into());
    expect_shapes(side, a.layout(), b.layout())?;
    changed(a.data().device(), ("other factor of a product", b), |stream, c, scratch| {
        trmm(stream, side, triangle, diagonal, T::ONE, a, c, scratch)
    })
}

/// The product `A · B`, or `B · A` with A on the right, A being symmetric, computed where A lives, without gaps and in
/// B's order in a buffer of its own; of batches one product after the other. Only A's `triangle` is read.
///
/// [`symm`] on the device's default stream; reading the buffer waits for it.
///
/// # Errors
/// As [`symm`]; [`Error::Device`] where the device's memory does not suffice.
///
/// ```
/// use gpu_linalg::{Layout, Matrix, Side, Triangle, matmul_symmetric};
/// let a = Matrix::new(&[1.0, f64::NAN, 2.0, 3.0], Layout::row_major(2, 2)?)?;
/// let b = Matrix::new(&[1.0, 0.0, 10.0, 1.0], Layout::row_major(2, 2)?)?;
/// assert_eq!(matmul_symmetric(Side::Left, Triangle::Lower, a, b)?.to_vec()?, [21.0, 2.0, 32.0, 3.0]);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn matmul_symmetric<'a, 'b, T: TriangleElement>(
    side: Side,
    triangle: Triangle,
    a: impl Into<Batch<'a, T>>,
    b: impl Into<Batch<'b, T>>,
) -> Result<Buffer<T>, Error> {
    let (a, b) = (a.into(), b.into());
    let (device, layout) = (a.data().device(), b.layout().without_gaps()?);
    written(device, layout, |stream, c, scratch| {
        symm(stream, side, triangle, T::ONE, a, b, T::ZERO, c, scratch)
    })
}
