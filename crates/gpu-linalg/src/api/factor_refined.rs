//! Systems whose matrix is factored in f32, solved to residuals of f64.

use gpu_core::{Buffer, Scratch, Stream, View, checks};

use super::factor::expect_square;
use super::{Triangle, copy, expect_positive_definite, potrf, potrs, symv};
use crate::error::Error;
use crate::factor;
use crate::matrix::{Layout, Matrix, MatrixMut, Order};

/// The most steps, as LAPACK's dsposv has.
const MOST_STEPS: usize = 30;

/// What a refinement came to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Refinement {
    /// Solutions with the factor in f32, of the right-hand side that needed most; the first one counts.
    pub steps: usize,
    /// The largest residual of a right-hand side, in units of its bound: at most one.
    pub residual: f64,
}

/// Solves `A · X = B` in place of B, A being symmetric and positive definite: factored in f32, and refined until the
/// residual is that of a solution in f64.
///
/// A is n × n and B is n × any number of right-hand sides, each row- or column-major with any leading dimension; of A
/// only `triangle` is read, and nothing is written. A right-hand side is solved when `max |b - A·x| ≤ n ε · max |A| ·
/// max |x|`: its backward error is n ε at most. A step multiplies the error by about the condition number of A times
/// 6e-8, so that matrices of condition up to some 1e6 converge; where a residual is not halved by a step, or after 30
/// of them, it is [`Error::NotConverged`] (J. Langou et al., *Exploiting the Performance of 32 bit Floating Point
/// Arithmetic in Obtaining 64 bit Accuracy*, SC 2006; LAPACK's dsposv goes on in f64 there: call [`potrf`] and
/// [`potrs`]).
///
/// The work is enqueued on the default stream of the device that A is on, with memory of its own (n² words for the
/// factor), and waited for.
///
/// # Errors
/// [`Error::NotConverged`]; [`Error::NotPositiveDefinite`] where A, rounded to f32, is not positive definite, or
/// beyond its range; [`gpu_core::Error::NotSquare`], [`gpu_core::Error::Shape`], [`gpu_core::Error::Aliasing`],
/// [`gpu_core::Error::ExtentTooLarge`]; [`Error::Device`]. B is as it was then.
///
/// ```
/// use gpu_linalg::{Layout, Matrix, MatrixMut, Triangle, potrs_refined};
/// let device = gpu_core::Device::simulator();
/// let a = device.upload(&[4.0, f64::NAN, 1.0, 3.0])?;
/// let mut b = device.upload(&[9.0, 5.0])?;
/// let matrix = Matrix::new(&a, Layout::row_major(2, 2)?)?;
/// let right = MatrixMut::new(&mut b, Layout::column_major(2, 1)?)?;
/// let done = potrs_refined(Triangle::Lower, matrix, right)?;
/// let x = b.to_vec()?;
/// assert!((x[0] - 2.0).abs() < 1e-15 && (x[1] - 1.0).abs() < 1e-15);
/// assert!(done.steps <= 3 && done.residual <= 1.0);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn potrs_refined(
    triangle: Triangle,
    a: Matrix<'_, f64>,
    mut b: MatrixMut<'_, f64>,
) -> Result<Refinement, Error> {
    let n = expect_square(a.layout())?;
    let (rows, columns) = b.layout().shape();
    checks::shape("B", (n, columns), (rows, columns))?;
    let device = a.data().device().clone();
    let stream = device.default_stream();
    stream.expect("right-hand sides", b.data().device())?;
    b.data_mut().expect_apart("A", &a.data())?;
    let mut done = Refinement { steps: 0, residual: 0.0 };
    if n == 0 || columns == 0 {
        return Ok(done);
    }

    // ---- the factor in f32
    let square = Layout::column_major(n, n)?;
    let mut l = device.zeroed::<f32>(square.span())?;
    factor::narrow_triangle(&stream, triangle, a, l.view_mut())?;
    let mut info = device.alloc::<u32>(1)?;
    let mut scratch = Scratch::new(&stream);
    potrf(&stream, Triangle::Lower, MatrixMut::new(&mut l, square)?, &mut info, &mut scratch)?;
    expect_positive_definite(&info)?;

    // ---- each right-hand side
    let mut work = Work {
        l,
        scratch,
        step: device.alloc(n)?,
        residual: device.alloc(n)?,
        right: device.alloc(n)?,
        // A positive definite matrix has its largest element on the diagonal.
        of_a: largest_on_diagonal(&stream, a)?,
    };
    let mut solutions = device.zeroed::<f64>(n * columns)?;
    let (packed, apart) = (Layout::row_major(n, 1)?, b.layout());
    // A column as a matrix of one, whose rows are as far apart as elements of a column.
    let lies = match apart.order() {
        Order::RowMajor => packed.with_leading_dimension(apart.leading_dimension())?,
        Order::ColumnMajor => packed,
    };
    for c in 0..columns {
        let start = apart.index(0, c);
        let from = Matrix::new(b.data().slice(start..start + lies.span()), lies)?;
        copy(&stream, from, MatrixMut::new(&mut work.right, packed)?)?;
        let x = solutions.slice_mut(c * n..(c + 1) * n);
        let (steps, residual) = refine(&stream, triangle, a, &mut work, x, c)?;
        done = Refinement { steps: done.steps.max(steps), residual: done.residual.max(residual) };
    }
    for c in 0..columns {
        let start = apart.index(0, c);
        let from = Matrix::new(solutions.slice(c * n..(c + 1) * n), packed)?;
        let into = b.data_mut().into_slice(start..start + lies.span());
        copy(&stream, from, MatrixMut::new(into, lies)?)?;
    }
    Ok(done)
}

/// What the refinement of a right-hand side needs.
struct Work {
    l: Buffer<f32>,
    scratch: Scratch,
    step: Buffer<f32>,
    residual: Buffer<f64>,
    right: Buffer<f64>,
    /// The largest element of A.
    of_a: f64,
}

fn largest(values: View<'_, f64>) -> Result<f64, Error> {
    Ok(gpu_reduce::norm_max(values)?)
}

fn largest_on_diagonal(stream: &Stream, a: Matrix<'_, f64>) -> Result<f64, Error> {
    let n = a.layout().rows();
    let diagonal = Layout::row_major(n, 1)?.with_leading_dimension(a.layout().leading_dimension() + 1)?;
    let mut gathered = stream.device().alloc(n)?;
    copy(stream, Matrix::new(a.data(), diagonal)?, MatrixMut::new(&mut gathered, Layout::row_major(n, 1)?)?)?;
    largest(gathered.view())
}

/// Solves for one right-hand side, from zero on. The steps, and the residual in units of its bound.
fn refine(
    stream: &Stream,
    triangle: Triangle,
    a: Matrix<'_, f64>,
    work: &mut Work,
    mut x: gpu_core::ViewMut<'_, f64>,
    column: usize,
) -> Result<(usize, f64), Error> {
    let n = a.layout().rows();
    let (square, one) = (Layout::column_major(n, n)?, Layout::column_major(n, 1)?);
    stream.copy(&mut work.residual, &work.right)?;
    let mut size = largest(work.residual.view())?;
    if size == 0.0 {
        return Ok((0, 0.0));
    }
    let mut residual = f64::INFINITY;
    for steps in 1..=MOST_STEPS {
        // A power of two brings the residual into the range of f32.
        let scale =
            if size.is_finite() { 2f64.powi(-(size.log2().floor() as i32).clamp(-1000, 1000)) } else { 1.0 };
        factor::narrow(stream, work.residual.view(), work.step.view_mut(), scale)?;
        let l = Matrix::new(&work.l, square)?;
        potrs(stream, Triangle::Lower, l, MatrixMut::new(&mut work.step, one)?, &mut work.scratch)?;
        factor::widen_and_add(stream, work.step.view(), x.reborrow(), 1.0 / scale)?;
        stream.copy(&mut work.residual, &work.right)?;
        symv(stream, triangle, -1.0, a, x.view(), 1.0, &mut work.residual, &mut work.scratch)?;
        let before = size;
        size = largest(work.residual.view())?;
        let bound = n as f64 * f64::EPSILON * work.of_a * largest(x.view())?;
        residual = size / bound;
        if size <= bound {
            return Ok((steps, residual));
        }
        // Not a number is not halved either.
        let is_halved = size <= 0.5 * before;
        if !is_halved {
            return Err(Error::NotConverged { column, steps, residual });
        }
    }
    Err(Error::NotConverged { column, steps: MOST_STEPS, residual })
}
