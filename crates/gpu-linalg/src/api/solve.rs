//! Systems with a triangular matrix.

use super::factor::{expect_info, expect_square};
use super::gemm::expect_counts;
use super::{Diagonal, Triangle, changed, elements, lend, multiply};
use crate::error::Error;
use crate::launch::RealElement;
use crate::level3::{Needs, OnLeft, TriangleElement, part, system, take};
use crate::matrix::{Batch, BatchLayout, BatchMut, Layout, Matrix, MatrixMut};
use gpu_core::{Buffer, Scratch, ScratchSize, Stream, ViewMut};

/// On which side of the other matrix a triangular or symmetric one stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// A · B.
    Left,
    /// B · A.
    Right,
}

/// That A, on that side, fits B.
pub(super) fn expect_shapes(side: Side, a: BatchLayout, b: BatchLayout) -> Result<(), Error> {
    let (rows, of_a, of_b) = (expect_square(a)?, a.matrix.shape(), b.matrix.shape());
    let (expected, factors) = match side {
        Side::Left => (of_b.0, (of_a, of_b)),
        Side::Right => (of_b.1, (of_b, of_a)),
    };
    if rows != expected {
        return Err(Error::ProductShapes { a: factors.0, b: factors.1, c: of_b });
    }
    expect_counts([a.count, b.count, b.count])
}

/// Solves `A · X = alpha · B`, or `X · A = alpha · B` with A on the right, on `stream`, A being triangular; X takes
/// B's place.
///
/// Matrices or batches of them, row- or column-major with any leading dimension. Only A's `triangle` is read, without
/// the diagonal where it is a unit one; a transposed A is [`Matrix::transposed`] with the other triangle. Where `alpha`
/// is zero, X is zero and neither A nor B is read. `scratch` grows to [`trsm_scratch`]. `info` has a word for each
/// matrix: `u32::MAX`, or, where the triangle is singular, the index of the first zero on its diagonal; the matrix's X
/// is then as the arithmetic has it, with infinities and NaN. [`solve_triangular`] makes an error of it.
///
/// One launch where there are up to 128 rows, or up to 128 right-hand sides; of more, that for 128 to 1024 rows at a
/// time, and products of matrices between, the sizes by halves. Up to 16 rows are substitution; of more, squares of 16
/// rows on the diagonal are inverted, all else is substitution: the residual is bounded with the condition of those
/// squares (see the [crate documentation](crate)). The order of operations is a function of shapes, orders and type
/// alone. It does not wait, nor allocate but where `scratch` grows.
///
/// # Errors
/// [`gpu_core::Error::NotSquare`], [`Error::ProductShapes`], [`Error::BatchCounts`],
/// [`gpu_core::Error::LengthMismatch`], [`gpu_core::Error::Aliasing`], [`gpu_core::Error::ExtentTooLarge`],
/// [`gpu_core::Error::TooManyBlocks`]; [`Error::Device`] where memory is on another device than the stream, or
/// `scratch` of another stream or too small. B is as it was then. Where a launch failed, [`Error::Device`] too, and B
/// is unspecified.
///
/// ```
/// use gpu_linalg::{Diagonal, Layout, Matrix, MatrixMut, Scratch, Side, Triangle, trsm, trsm_scratch};
/// let device = gpu_core::Device::simulator();
/// let a = device.upload(&[2.0, f32::NAN, 1.0, 4.0])?;
/// let a = Matrix::new(&a, Layout::row_major(2, 2)?)?;
/// let mut b = device.upload(&[2.0, 9.0])?;
/// let b_layout = Layout::column_major(2, 1)?;
/// let mut info = device.upload(&[0u32])?;
/// let mut scratch = Scratch::with_size(&device.default_stream(), trsm_scratch::<f32>(Side::Left, b_layout)?)?;
/// let stream = device.default_stream();
/// let right = MatrixMut::new(&mut b, b_layout)?;
/// trsm(&stream, Side::Left, Triangle::Lower, Diagonal::Stored, 1.0, a, right, &mut info, &mut scratch)?;
/// assert_eq!((b.to_vec()?, info.to_vec()?), (vec![1.0, 2.0], vec![u32::MAX]));
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
#[expect(clippy::too_many_arguments, reason = "those of BLAS")]
pub fn trsm<'a, 'b, 'i, T: TriangleElement>(
    stream: &Stream,
    side: Side,
    triangle: Triangle,
    diagonal: Diagonal,
    alpha: T,
    a: impl Into<Batch<'a, T>>,
    b: impl Into<BatchMut<'b, T>>,
    info: impl Into<ViewMut<'i, u32>>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let (a, mut b, info) = (a.into(), b.into(), info.into());
    expect_system(stream, side, a, &mut b, &info)?;
    let (of, size) = (OnLeft::new(side, triangle, a), trsm_scratch::<T>(side, b.layout())?);
    let mut b = if side == Side::Left { b } else { b.transposed() };
    lend(stream, scratch, ("triangular system", size), |room| {
        if b.layout().is_empty() {
            return Ok(stream.memset(info, u8::MAX)?);
        }
        let needs = Needs::new::<T>(b.layout())?;
        let mut room = Some(room);
        let mut words = take(&mut room, needs.words)?;
        let rest = room.expect("what is left is put back");
        if alpha == T::ZERO {
            let nothing = part(of.lower, 0..b.layout().matrix.rows(), 0..0)?;
            let matrix = Layout::row_major(0, b.layout().matrix.columns())?;
            let zeros = Batch::new(a.data().slice(..0), BatchLayout { matrix, ..b.layout() })?;
            stream.memset(info, u8::MAX)?;
            return multiply(stream, T::ZERO, nothing, zeros, T::ZERO, b, rest);
        }
        if needs.words > 0 {
            stream.memset(words.reborrow(), 0)?;
        }
        system(stream, &needs, (&of, diagonal), alpha, &mut b, info, (words, rest))
    })
}

/// Refuses a system whose parts do not fit together, or are on another device than the stream.
pub(crate) fn expect_system<T: TriangleElement>(
    stream: &Stream,
    side: Side,
    a: Batch<'_, T>,
    b: &mut BatchMut<'_, T>,
    info: &ViewMut<'_, u32>,
) -> Result<(), Error> {
    expect_shapes(side, a.layout(), b.layout())?;
    expect_info(b.layout().count, info.len())?;
    stream.expect("matrix of a system", a.data().device())?;
    stream.expect("right-hand side of a system", b.data().device())?;
    stream.expect("information on a system", info.device())?;
    b.data_mut().expect_apart("A", &a.data())?;
    Ok(())
}

/// Scratch memory of [`trsm`] for right-hand sides of this layout: words by which blocks of threads wait for each
/// other, of large systems the solution, and what products need.
///
/// # Errors
/// [`Error::Device`] where they are not a `usize`.
pub fn trsm_scratch<T: RealElement>(side: Side, b: impl Into<BatchLayout>) -> Result<ScratchSize, Error> {
    let b = b.into();
    let b = if side == Side::Left { b } else { b.transposed() };
    if b.is_empty() {
        return Ok(ScratchSize::new());
    }
    Ok(elements::<T>(Needs::new::<T>(b)?.elements(1, 0)?))
}

/// The solution of `A · X = B`, or of `X · A = B` with A on the right, computed where A lives, without gaps and in B's
/// order in a buffer of its own; A is triangular, and only its `triangle` is read. Of batches it is one solution after
/// the other; a vector is a column.
///
/// It waits until it is known whether A is singular. As [`trsm`] otherwise.
///
/// # Errors
/// As [`trsm`]; [`Error::SingularTriangle`] where an element of the diagonal is zero, with the first one's index, of
/// batches that of the first such matrix;
/// [`Error::Device`] where the device's memory does not suffice.
///
/// ```
/// use gpu_linalg::{Diagonal, Error, Layout, Matrix, Side, Triangle, solve_triangular};
/// let a = [2.0, 0.0, 1.0, 4.0];
/// let b = [2.0, 9.0];
/// let a = Matrix::new(&a, Layout::row_major(2, 2)?)?;
/// let b = Matrix::new(&b, Layout::column_major(2, 1)?)?;
/// assert_eq!(solve_triangular(Side::Left, Triangle::Lower, Diagonal::Stored, a, b)?.to_vec()?, [1.0, 2.0]);
/// let zeros = Matrix::new(&[1.0, 0.0, 0.0, 0.0], a.layout())?;
/// let singular = solve_triangular(Side::Left, Triangle::Lower, Diagonal::Stored, zeros, b);
/// assert!(matches!(singular, Err(Error::SingularTriangle { index: 1, .. })));
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn solve_triangular<'a, 'b, T: TriangleElement>(
    side: Side,
    triangle: Triangle,
    diagonal: Diagonal,
    a: impl Into<Batch<'a, T>>,
    b: impl Into<Batch<'b, T>>,
) -> Result<Buffer<T>, Error> {
    let (a, b) = (a.into(), b.into());
    expect_shapes(side, a.layout(), b.layout())?;
    let mut info = a.data().device().alloc(b.layout().count)?;
    let x = changed(a.data().device(), ("right-hand side of a system", b), |stream, x, scratch| {
        trsm(stream, side, triangle, diagonal, T::ONE, a, x, &mut info, scratch)
    })?;
    let info = info.to_vec()?;
    match info.iter().position(|&index| index != u32::MAX) {
        Some(matrix) => Err(Error::SingularTriangle { matrix, index: info[matrix] as usize }),
        None => Ok(x),
    }
}

/// Solves `A · x = b` on `stream`, A being triangular; `x` has n elements, at first those of b.
///
/// [`trsm`] of a single right-hand side, whose products are those of [`gemv()`](crate::gemv): see there for what is
/// read, for `info` (one word), and for non-finite elements. For the transposed matrix give [`Matrix::transposed`] and
/// the other triangle. `scratch` grows to [`trsv_scratch`]. It does not wait, nor allocate but where `scratch` grows;
/// [`solve_triangular`] of a column does.
///
/// # Errors
/// As [`trsm`].
///
/// ```
/// use gpu_linalg::{Diagonal, Layout, Matrix, Scratch, Triangle, trsv, trsv_scratch};
/// let device = gpu_core::Device::simulator();
/// let a = device.upload(&[1.0, f64::NAN, 2.0, 1.0])?;
/// let a = Matrix::new(&a, Layout::row_major(2, 2)?)?;
/// let (mut x, mut info) = (device.upload(&[1.0, 10.0])?, device.alloc(1)?);
/// let mut scratch = Scratch::with_size(&device.default_stream(), trsv_scratch::<f64>(2)?)?;
/// trsv(&device.default_stream(), Triangle::Lower, Diagonal::Unit, a, &mut x, &mut info, &mut scratch)?;
/// assert_eq!(x.to_vec()?, [1.0, 8.0]);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn trsv<'x, 'i, T: TriangleElement>(
    stream: &Stream,
    triangle: Triangle,
    diagonal: Diagonal,
    a: Matrix<'_, T>,
    x: impl Into<ViewMut<'x, T>>,
    info: impl Into<ViewMut<'i, u32>>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let x = x.into();
    let layout = Layout::column_major(x.len(), 1)?;
    trsm(stream, Side::Left, triangle, diagonal, T::ONE, a, MatrixMut::new(x, layout)?, info, scratch)
}

/// Scratch memory of [`trsv`] for a matrix of `n` rows.
///
/// # Errors
/// As [`trsm_scratch`].
pub fn trsv_scratch<T: RealElement>(n: usize) -> Result<ScratchSize, Error> {
    trsm_scratch::<T>(Side::Left, Layout::column_major(n, 1)?)
}
