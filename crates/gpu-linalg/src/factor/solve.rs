//! Systems of a large factored matrix: block after block of rows, of which a product with the solutions before is taken off.

use gpu_core::{Stream, ViewMut};

use super::large::{part, part_layout};
use super::launch::{self, FactorElement};
use crate::api::{Triangle, gemm, gemm_scratch_len};
use crate::error::Error;
use crate::matrix::{Layout, Matrix, MatrixMut};
use crate::plan::factor::{self as plan, STEP};
use crate::reference;

/// How the products of a block lie.
fn product(rows: usize, columns: usize) -> Result<Layout, Error> {
    let layout = Layout::column_major(rows, columns)?;
    Ok(layout.with_leading_dimension(STEP)?)
}

/// Elements of scratch memory for a matrix of `n` rows and right-hand sides of such a layout: the products of a block, and what those need.
pub(crate) fn scratch_len<T: FactorElement>(n: usize, b: Layout) -> Result<usize, Error> {
    let mut most = 0;
    for first in (0..n).step_by(STEP) {
        let layout = product(STEP.min(n - first), b.columns())?;
        let (before, behind) = (first, n - first - STEP.min(n - first));
        most = most.max(gemm_scratch_len::<T>(before, layout)).max(gemm_scratch_len::<T>(behind, layout));
    }
    Ok(most + STEP * b.columns())
}

/// Solves for all right-hand sides, in place. There is as much scratch memory as [`scratch_len`] says.
pub(crate) fn solve<T: FactorElement>(
    stream: &Stream,
    triangle: Triangle,
    l: Matrix<'_, T>,
    mut b: MatrixMut<'_, T>,
    mut scratch: ViewMut<'_, T>,
) -> Result<(), Error> {
    let (n, columns) = b.layout().shape();
    let lower = if triangle == Triangle::Lower { l } else { l.transposed() };
    let starts: Vec<usize> = (0..n).step_by(STEP).collect();
    for &first in &starts {
        let width = STEP.min(n - first);
        let factor = (first > 0).then(|| part(lower, (first, 0), (width, first))).transpose()?;
        step(stream, lower, factor, (0, first), first, &mut b, (true, columns), scratch.reborrow())?;
    }
    for &first in starts.iter().rev() {
        let after = (first + STEP).min(n);
        let width = after - first;
        let factor = (after < n).then(|| part(lower, (after, first), (n - after, width))).transpose()?;
        let factor = factor.map(|factor| factor.transposed());
        step(stream, lower, factor, (after, n - after), first, &mut b, (false, columns), scratch.reborrow())?;
    }
    Ok(())
}

/// Solves for the rows of the block that starts at `first`, forwards or backwards. The product of `factor`, if there is one, and of
/// `known.1` rows of B from `known.0` on is taken off before.
#[expect(clippy::too_many_arguments, reason = "a step's parts")]
fn step<T: FactorElement>(
    stream: &Stream,
    lower: Matrix<'_, T>,
    factor: Option<Matrix<'_, T>>,
    known: (usize, usize),
    first: usize,
    b: &mut MatrixMut<'_, T>,
    (forwards, columns): (bool, usize),
    mut scratch: ViewMut<'_, T>,
) -> Result<(), Error> {
    let layout = b.layout();
    let width = STEP.min(layout.rows() - first);
    let (mut sums, rest) = scratch.reborrow().try_split_at(STEP * columns)?;
    let has_sums = factor.is_some();
    if let Some(factor) = factor {
        let x = part(Matrix::new(b.data(), layout)?, (known.0, 0), (known.1, columns))?;
        let into = sums.reborrow().into_slice(..product(width, columns)?.span());
        let into = MatrixMut::new(into, product(width, columns)?)?;
        gemm(stream, -T::ONE, factor, x, T::ZERO, into, rest)?;
    }
    let block = part(lower, (first, first), (width, width))?;
    let rows = part_layout(layout, (width, columns))?;
    let start = layout.index(first, 0);
    let mut data = b.data_mut().into_slice(start..start + rows.span());
    let leading = if has_sums { STEP } else { 0 };
    if let (Some(l), Some(b), Some(sums)) =
        (block.data().as_slice(), data.as_mut_slice(), sums.as_mut_slice())
    {
        reference::factor::solve_step((l, block.layout()), (b, rows), (sums, leading), forwards);
        return Ok(());
    }
    let (launch, batch, shape) = plan::solve::<T>(Triangle::Lower, block.layout().into(), rows.into())?;
    let shape = gpu_factor_kernels::Solve {
        forwards: forwards as u32,
        backwards: !forwards as u32,
        added: leading as u64,
        ..shape
    };
    launch::solve(stream, (launch, batch, shape), block.data(), data, Some(sums.view()), None)
}
