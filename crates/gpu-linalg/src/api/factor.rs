//! Cholesky factorisations, and the solutions of systems by them.

use gpu_core::{Buffer, Scratch, ScratchSize, Stream, View, ViewMut, checks};

use super::gemm::expect_counts;
use super::{Triangle, elements, lend, of_kernels, written};
use crate::cpu;
use crate::error::Error;
use crate::factor;
use crate::factor::launch::{self, FactorElement};
use crate::matrix::{Batch, BatchLayout, BatchMut, Layout};
use crate::plan::factor::{Whole, is_whole, solve, solves_whole};
use crate::reference;

/// The rows of square matrices.
pub(super) fn expect_square(layout: impl Into<BatchLayout>) -> Result<usize, Error> {
    Ok(checks::square("a symmetric or triangular matrix", layout.into().matrix.shape())?)
}

pub(super) fn expect_info(expected: usize, actual: usize) -> Result<(), Error> {
    Ok(checks::length("the words of information", expected, actual)?)
}

/// That what is written has the shape and the number of matrices of what is read.
pub(super) fn expect_same_shape(from: BatchLayout, to: BatchLayout) -> Result<(), Error> {
    checks::shape("the output", from.matrix.shape(), to.matrix.shape())?;
    expect_counts([from.count, to.count, to.count])
}

/// Factors symmetric, positive definite matrices in place on `stream`: `A = L · Lᵀ`, or `A = Uᵀ · U` of the upper
/// triangle.
///
/// A is n × n, row- or column-major with any leading dimension, or a batch of such. Only `triangle` is read and
/// written; the other one is never touched. `info` has a word for each matrix: zero, or the order of the first leading
/// minor that is not positive definite, counted from one; [`expect_positive_definite`] makes an error of it. From that
/// column on the triangle is NaN then. A pivot that is infinite or NaN is not positive definite. `scratch` grows to
/// [`potrf_scratch`]. The order of operations is a function of n, of the number of matrices, and of the type alone (see
/// the [crate documentation](crate)): every device gives the same bits. It does not wait, nor allocate but where
/// `scratch` grows.
///
/// Matrices whose lower triangle is column-major, or whose upper one is row-major, are read and written fastest.
///
/// # Errors
/// [`gpu_core::Error::NotSquare`], [`gpu_core::Error::LengthMismatch`], [`gpu_core::Error::ExtentTooLarge`],
/// [`gpu_core::Error::TooManyBlocks`]; [`Error::Device`] where memory is on another device than the stream, where
/// `scratch` is of another stream or too small, or where the launch failed. A is as it was then.
///
/// ```
/// use gpu_linalg::{Layout, MatrixMut, Scratch, Triangle, expect_positive_definite, potrf, potrf_scratch};
/// let device = gpu_core::Device::simulator();
/// let mut a = device.upload(&[4.0, f64::NAN, 2.0, 10.0])?;
/// let mut info = device.alloc(1)?;
/// let mut scratch = Scratch::with_size(&device.default_stream(), potrf_scratch::<f64>(2, 1)?)?;
/// let matrix = MatrixMut::new(&mut a, Layout::row_major(2, 2)?)?;
/// potrf(&device.default_stream(), Triangle::Lower, matrix, &mut info, &mut scratch)?;
/// expect_positive_definite(&info)?;
/// let l = a.to_vec()?;
/// assert_eq!((l[0], l[2], l[3]), (2.0, 1.0, 3.0));
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn potrf<'a, 'i, T: FactorElement>(
    stream: &Stream,
    triangle: Triangle,
    a: impl Into<BatchMut<'a, T>>,
    info: impl Into<ViewMut<'i, u32>>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    factored(stream, triangle, None, a.into(), info.into(), scratch)
}

/// As [`potrf`], from the triangle of `a` to that of `l`, the same one; the rest of `l` is as it was. `a` and `l` may
/// have different orders and leading dimensions.
///
/// # Errors
/// As [`potrf`]; [`gpu_core::Error::Shape`], [`Error::BatchCounts`], [`gpu_core::Error::Aliasing`].
///
/// ```
/// use gpu_linalg::{Layout, Matrix, MatrixMut, Scratch, Triangle, potrf_to};
/// let device = gpu_core::Device::simulator();
/// let a = device.upload(&[4.0f32, 2.0, f32::NAN, 10.0])?;
/// let (mut l, mut info) = (device.upload(&[7.0; 4])?, device.alloc(1)?);
/// let mut scratch = Scratch::new(&device.default_stream());
/// let from = Matrix::new(&a, Layout::row_major(2, 2)?)?;
/// let to = MatrixMut::new(&mut l, Layout::row_major(2, 2)?)?;
/// potrf_to(&device.default_stream(), Triangle::Upper, from, to, &mut info, &mut scratch)?;
/// assert_eq!(l.to_vec()?, [2.0, 1.0, 7.0, 3.0]);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn potrf_to<'a, 'l, 'i, T: FactorElement>(
    stream: &Stream,
    triangle: Triangle,
    a: impl Into<Batch<'a, T>>,
    l: impl Into<BatchMut<'l, T>>,
    info: impl Into<ViewMut<'i, u32>>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    factored(stream, triangle, Some(a.into()), l.into(), info.into(), scratch)
}

/// Factors matrices in place, or the triangles of others to theirs.
fn factored<T: FactorElement>(
    stream: &Stream,
    triangle: Triangle,
    from: Option<Batch<'_, T>>,
    mut l: BatchMut<'_, T>,
    mut info: ViewMut<'_, u32>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let layout = l.layout();
    let n = expect_square(layout)?;
    if let Some(a) = from {
        expect_same_shape(a.layout(), layout)?;
        stream.expect("matrices to be factored", a.data().device())?;
        l.data_mut().expect_apart("A", &a.data())?;
    }
    expect_info(layout.count, info.len())?;
    let what = if from.is_some() { "factors" } else { "matrices to be factored" };
    stream.expect(what, l.data().device())?;
    stream.expect("orders of minors", info.device())?;
    let size = of_kernels(stream, potrf_scratch::<T>(n, layout.count)?);
    lend(stream, scratch, ("factorisation", size), |mut room| {
        if layout.is_empty() {
            return Ok(stream.memset(info, 0)?);
        }
        if !is_whole(n, layout.count) {
            if let Some(a) = from {
                factor::copy_batch(stream, Some(triangle), a, &mut l)?;
            }
            return factor::factor(stream, triangle, l, info, room);
        }
        let mut data = l.data_mut();
        if let (Some(l), Some(info)) = (data.as_mut_slice(), info.as_mut_slice()) {
            let from = from.map(|a| (a.data().as_slice().expect("A is where L is"), a.layout()));
            cpu::factor::potrf(triangle, from, (l, layout), info);
            return Ok(());
        }
        let to = data.as_global_mut();
        let (from, lies) = from.map_or((to.as_global(), layout), |a| (a.data().as_global(), a.layout()));
        let plan = Whole::new::<T>(triangle, lies, layout)?;
        Ok(launch::whole(stream, &plan, from, to, room.as_global_mut(), info, None)?)
    })
}

/// Scratch memory of [`potrf`] and [`potrf_to`] for `count` matrices of `n` rows.
///
/// # Errors
/// [`Error::Device`] where the matrix's elements cannot be counted.
pub fn potrf_scratch<T: FactorElement>(n: usize, count: usize) -> Result<ScratchSize, Error> {
    if is_whole(n, count) {
        return Ok(ScratchSize::new());
    }
    // Nor do more rows and tiles than there are elements have to be counted.
    Layout::row_major(n, n)?.batch(count)?;
    Ok(elements::<T>(factor::scratch_len::<T>(n, count)))
}

/// That the matrices of a factorisation were positive definite: waits for it, and reads its `info`.
///
/// # Errors
/// [`Error::NotPositiveDefinite`] for the first that was not; [`Error::Device`].
///
/// ```
/// use gpu_linalg::{Error, expect_positive_definite};
/// let info = gpu_core::Device::cpu().upload(&[0u32, 3])?;
/// let error = expect_positive_definite(&info).unwrap_err();
/// assert!(matches!(error, Error::NotPositiveDefinite { matrix: 1, index: 3 }));
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn expect_positive_definite<'i>(info: impl Into<View<'i, u32>>) -> Result<(), Error> {
    let orders = info.into().to_vec()?;
    match orders.iter().position(|&order| order != 0) {
        Some(matrix) => Err(Error::NotPositiveDefinite { matrix, index: orders[matrix] as usize }),
        None => Ok(()),
    }
}

/// Solves `A · X = B` in place of B on `stream`, A being factored by [`potrf`] with the same `triangle`.
///
/// The factors are n × n and B is n × any number of right-hand sides, each row- or column-major with any leading
/// dimension, or batches of such. `scratch` grows to [`potrs_scratch`]. Up to 64 rows, or up to 512 in batches of eight
/// or more, are substitution, in one launch; of more it is [`trsm`](crate::trsm) with L, and then with its transposed:
/// see there for the order of operations, which is a function of the shapes, B's order and the type alone, and the
/// [crate documentation](crate) for the residual. It does not wait, nor allocate but where `scratch` grows.
///
/// # Errors
/// [`gpu_core::Error::NotSquare`], [`gpu_core::Error::Shape`], [`Error::BatchCounts`], [`gpu_core::Error::Aliasing`],
/// [`gpu_core::Error::ExtentTooLarge`], [`gpu_core::Error::TooManyBlocks`]; [`Error::Device`] where memory is on
/// another device than the stream, or `scratch` of another stream or too small. B is as it was then. Where a launch
/// failed, [`Error::Device`] too, and B is unspecified.
///
/// ```
/// use gpu_linalg::{Layout, Matrix, MatrixMut, Scratch, Triangle, potrs, potrs_scratch};
/// let device = gpu_core::Device::simulator();
/// let l = device.upload(&[2.0, f64::NAN, 1.0, 3.0])?;
/// let mut b = device.upload(&[8.0, 14.0])?;
/// let factor = Matrix::new(&l, Layout::row_major(2, 2)?)?;
/// let right = MatrixMut::new(&mut b, Layout::column_major(2, 1)?)?;
/// let mut scratch = Scratch::with_size(&device.default_stream(), potrs_scratch::<f64>(2, right.layout())?)?;
/// potrs(&device.default_stream(), Triangle::Lower, factor, right, &mut scratch)?;
/// let x = b.to_vec()?;
/// assert!((x[0] - 13.0 / 9.0).abs() < 1e-15 && (x[1] - 10.0 / 9.0).abs() < 1e-15, "{x:?}");
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn potrs<'l, 'b, T: FactorElement>(
    stream: &Stream,
    triangle: Triangle,
    l: impl Into<Batch<'l, T>>,
    b: impl Into<BatchMut<'b, T>>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    solved(stream, triangle, l.into(), None, b.into(), scratch)
}

/// The same in so much scratch memory; everything is checked but extents.
pub(super) fn solve_in_place<T: FactorElement>(
    stream: &Stream,
    triangle: Triangle,
    l: Batch<'_, T>,
    mut b: BatchMut<'_, T>,
    scratch: ViewMut<'_, T>,
) -> Result<(), Error> {
    let (factors, layout) = (l.layout(), b.layout());
    let n = factors.matrix.rows();
    if layout.is_empty() {
        return Ok(());
    }
    if !solves_whole(n, layout.count) {
        return factor::solve(stream, triangle, l, b, scratch);
    }
    let mut data = b.data_mut();
    if let (Some(l), Some(b)) = (l.data().as_slice(), data.as_mut_slice()) {
        reference::potrs(triangle, (l, factors), (b, layout));
        return Ok(());
    }
    Ok(launch::solve(stream, solve::<T>(triangle, factors, layout)?, l.data(), data, None)?)
}

/// As [`potrs`], from the right-hand sides `b` to the solutions `x`, of the same shape. The two may have different
/// orders and leading dimensions; what does not lie in `x`'s matrices is as it was.
///
/// # Errors
/// As [`potrs`], of `x` as its B; [`gpu_core::Error::Shape`], [`Error::BatchCounts`], [`gpu_core::Error::Aliasing`].
///
/// ```
/// use gpu_linalg::{Layout, Matrix, MatrixMut, Scratch, Triangle, potrs_to};
/// let device = gpu_core::Device::simulator();
/// let (l, b) = (device.upload(&[2.0, f64::NAN, 1.0, 2.0])?, device.upload(&[8.0, 8.0])?);
/// let mut x = device.alloc(2)?;
/// let (square, column) = (Layout::row_major(2, 2)?, Layout::column_major(2, 1)?);
/// let (factor, right) = (Matrix::new(&l, square)?, Matrix::new(&b, column)?);
/// let mut scratch = Scratch::new(&device.default_stream());
/// let into = MatrixMut::new(&mut x, column)?;
/// potrs_to(&device.default_stream(), Triangle::Lower, factor, right, into, &mut scratch)?;
/// assert_eq!((x.to_vec()?, b.to_vec()?), (vec![1.5, 1.0], vec![8.0, 8.0]));
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn potrs_to<'l, 'b, 'x, T: FactorElement>(
    stream: &Stream,
    triangle: Triangle,
    l: impl Into<Batch<'l, T>>,
    b: impl Into<Batch<'b, T>>,
    x: impl Into<BatchMut<'x, T>>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    solved(stream, triangle, l.into(), Some(b.into()), x.into(), scratch)
}

/// Solves systems in place of their right-hand sides, or of others.
fn solved<T: FactorElement>(
    stream: &Stream,
    triangle: Triangle,
    l: Batch<'_, T>,
    from: Option<Batch<'_, T>>,
    mut x: BatchMut<'_, T>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    if let Some(b) = from {
        expect_same_shape(b.layout(), x.layout())?;
        stream.expect("right-hand sides", b.data().device())?;
        x.data_mut().expect_apart("B", &b.data())?;
    }
    expect_systems(stream, &l, &mut x)?;
    let size = potrs_scratch::<T>(l.layout().matrix.rows(), x.layout())?;
    lend(stream, scratch, ("system", size), |room| {
        if let Some(b) = from.filter(|b| !b.layout().is_empty()) {
            factor::copy_batch(stream, None, b, &mut x)?;
        }
        solve_in_place(stream, triangle, l, x, room)
    })
}

/// Whether factors and right-hand sides are those of systems.
fn expect_systems<T: FactorElement>(
    stream: &Stream,
    l: &Batch<'_, T>,
    b: &mut BatchMut<'_, T>,
) -> Result<(), Error> {
    let (factors, layout) = (l.layout(), b.layout());
    let n = expect_square(factors)?;
    checks::shape("B", (n, layout.matrix.columns()), layout.matrix.shape())?;
    expect_counts([factors.count, layout.count, layout.count])?;
    stream.expect("factors of systems", l.data().device())?;
    stream.expect("right-hand sides", b.data().device())?;
    Ok(b.data_mut().expect_apart("L", &l.data())?)
}

/// Scratch memory of [`potrs`] and [`potrs_to`] for systems of `n` rows and right-hand sides, in the end solutions,
/// that lie so: none where they are solved whole, else what two [`trsm`](crate::trsm) need.
///
/// # Errors
/// [`Error::Device`] where its elements are not a `usize`.
pub fn potrs_scratch<T: FactorElement>(n: usize, b: impl Into<BatchLayout>) -> Result<ScratchSize, Error> {
    let b = b.into();
    if solves_whole(n, b.count) || b.is_empty() {
        return Ok(ScratchSize::new());
    }
    Ok(elements::<T>(factor::solve_scratch_len::<T>(b)?))
}

/// The Cholesky factor of a symmetric, positive definite matrix, computed where A lives, as a row-major matrix without
/// gaps in a buffer of its own; of batches one factor after the other.
///
/// L of `A = L · Lᵀ`, or U of `A = Uᵀ · U` of the upper triangle; the rest is zero. A is n × n, row- or column-major
/// with any leading dimension, and only its `triangle` is read. [`potrf_to`] on the device's default stream; it waits
/// until it is known whether A is positive definite.
///
/// # Errors
/// As [`potrf_to`]; [`Error::NotPositiveDefinite`]; [`Error::Device`] where the device's memory does not suffice.
///
/// ```
/// use gpu_linalg::{Error, Layout, Matrix, Triangle, cholesky};
/// let a = Matrix::new(&[4.0, f64::NAN, 2.0, 10.0], Layout::row_major(2, 2)?)?;
/// assert_eq!(cholesky(Triangle::Lower, a)?.to_vec()?, [2.0, 0.0, 1.0, 3.0]);
/// let negative = Matrix::new(&[-1.0], Layout::row_major(1, 1)?)?;
/// let failed = cholesky(Triangle::Lower, negative);
/// assert!(matches!(failed, Err(Error::NotPositiveDefinite { matrix: 0, index: 1 })));
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn cholesky<'a, T: FactorElement>(
    triangle: Triangle,
    a: impl Into<Batch<'a, T>>,
) -> Result<Buffer<T>, Error> {
    let a = a.into();
    let (device, n) = (a.data().device(), expect_square(a.layout())?);
    let layout = Layout::row_major(n, n)?.batch(a.layout().count)?;
    let mut l = device.zeroed(layout.span()?)?;
    let info = Scratch::computed(device, layout.count, |stream, info, scratch| {
        potrf_to(stream, triangle, a, BatchMut::new(&mut l, layout)?, info, scratch)
    })?;
    expect_positive_definite(&info)?;
    Ok(l)
}

/// The solution of `A · X = B` from the factor of A that [`cholesky`] or [`potrf`] made, computed where
/// the factor lives, without gaps and in B's order in a buffer of its own; of batches one solution after the other.
///
/// The factor is n × n, of which only the `triangle` is read, and B is n × any number of right-hand sides, each row- or
/// column-major with any leading dimension. [`potrs_to`] on the device's default stream; reading the buffer waits for
/// it.
///
/// # Errors
/// As [`potrs_to`]; [`Error::Device`] where the device's memory does not suffice.
///
/// ```
/// use gpu_linalg::{Layout, Matrix, Triangle, cholesky, cholesky_solve};
/// let layout = Layout::row_major(2, 2)?;
/// let l = cholesky(Triangle::Lower, Matrix::new(&[4.0, 0.0, 2.0, 5.0], layout)?)?;
/// let b = Matrix::new(&[8.0, 8.0], Layout::column_major(2, 1)?)?;
/// assert_eq!(cholesky_solve(Triangle::Lower, Matrix::new(&l, layout)?, b)?.to_vec()?, [1.5, 1.0]);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
#[doc(alias = "cho_solve")]
pub fn cholesky_solve<'l, 'b, T: FactorElement>(
    triangle: Triangle,
    l: impl Into<Batch<'l, T>>,
    b: impl Into<Batch<'b, T>>,
) -> Result<Buffer<T>, Error> {
    let (l, b) = (l.into(), b.into());
    let (device, layout) = (l.data().device(), b.layout().without_gaps()?);
    written(device, layout, |stream, x, scratch| potrs_to(stream, triangle, l, b, x, scratch))
}
