//! A large matrix, left-looking: step by step of columns, what is before them is multiplied and goes to scratch memory, from where the step's
//! kernels add it; so nothing but the triangle is written, and a product reads what nobody writes.

use gpu_core::{Stream, ViewMut};

use super::launch::{self, FactorElement};
use crate::api::{Triangle, gemm, gemm_scratch_len};
use crate::cpu;
use crate::error::Error;
use crate::matrix::{Layout, Matrix, MatrixMut, Order};
use crate::plan::factor::{STEP, Whole, leading, strips};

/// A step's columns, from the diagonal on, as the product writes them.
fn product(n: usize, first: usize) -> Result<Layout, Error> {
    let width = STEP.min(n - first);
    Ok(Layout::column_major(n - first, width)?.with_leading_dimension(leading(n, first))?)
}

/// The steps of a matrix of `n` rows.
fn steps(n: usize) -> impl Iterator<Item = usize> {
    (0..n).step_by(STEP)
}

/// Elements of scratch memory for a matrix of `n` rows: the reciprocals of a step's roots, the products, and what those need.
pub(crate) fn scratch_len<T: FactorElement>(n: usize) -> Result<usize, Error> {
    let mut most = 0;
    for first in steps(n).skip(1) {
        let layout = product(n, first)?;
        most = most.max(leading(n, first) * STEP + gemm_scratch_len::<T>(first, layout));
    }
    Ok(STEP + most)
}

/// Part of a matrix: its `rows` and `columns` from the given ones on.
pub(crate) fn part<T: FactorElement>(
    a: Matrix<'_, T>,
    (row, column): (usize, usize),
    (rows, columns): (usize, usize),
) -> Result<Matrix<'_, T>, Error> {
    let layout = part_layout(a.layout(), (rows, columns))?;
    let start = a.layout().index(row, column);
    Ok(Matrix::new(a.data().slice(start..start + layout.span()), layout)?)
}

/// The layout of so many rows and columns of a matrix.
pub(crate) fn part_layout(of: Layout, (rows, columns): (usize, usize)) -> Result<Layout, Error> {
    let part = match of.order() {
        Order::RowMajor => Layout::row_major(rows, columns)?,
        Order::ColumnMajor => Layout::column_major(rows, columns)?,
    };
    Ok(part.with_leading_dimension(of.leading_dimension())?)
}

/// Factors a matrix in place; `info` has one word. There is as much scratch memory as [`scratch_len`] says.
pub(crate) fn factor<T: FactorElement>(
    stream: &Stream,
    triangle: Triangle,
    mut a: MatrixMut<'_, T>,
    mut info: ViewMut<'_, u32>,
    mut scratch: ViewMut<'_, T>,
) -> Result<(), Error> {
    let layout = a.layout();
    let n = layout.rows();
    stream.memset(info.reborrow(), 0)?;
    for first in steps(n) {
        if first > 0 {
            let of_a = Matrix::new(a.data(), layout)?;
            let lower = if triangle == Triangle::Lower { of_a } else { of_a.transposed() };
            let width = STEP.min(n - first);
            let before = part(lower, (first, 0), (n - first, first))?;
            let beside = part(lower, (first, 0), (width, first))?;
            let (_, rest) = scratch.reborrow().try_split_at(STEP)?;
            let (sums, rest) = rest.try_split_at(leading(n, first) * width)?;
            let sums = MatrixMut::new(sums, product(n, first)?)?;
            gemm(stream, -T::ONE, before, beside.transposed(), T::ZERO, sums, rest)?;
        }
        step(stream, triangle, (a.data_mut(), layout), first, scratch.reborrow(), info.reborrow())?;
    }
    Ok(())
}

/// Factors the block that starts at column `first`, and solves for the rows below.
fn step<T: FactorElement>(
    stream: &Stream,
    triangle: Triangle,
    (mut a, layout): (ViewMut<'_, T>, Layout),
    first: usize,
    mut scratch: ViewMut<'_, T>,
    mut info: ViewMut<'_, u32>,
) -> Result<(), Error> {
    let n = layout.rows();
    let width = STEP.min(n - first);
    if let (Some(a), Some(scratch), Some(info)) =
        (a.as_mut_slice(), scratch.as_mut_slice(), info.as_mut_slice())
    {
        let added = (&scratch[STEP..], leading(n, first));
        let order = cpu::factor::step(triangle, (a, layout), (first, width), added);
        if info[0] == 0 {
            info[0] = order;
        }
        return Ok(());
    }
    let mut a = a.try_into_slice(layout.index(first, first)..)?;
    let plan = Whole::of_step::<T>(triangle, layout, first)?;
    let (a, scratch) = (a.as_global_mut(), scratch.as_global_mut());
    launch::whole(stream, &plan, a.as_global(), a, scratch, info, None)?;
    if first + width < n {
        launch::strips(stream, strips::<T>(triangle, layout, first)?, a, scratch)?;
    }
    Ok(())
}
