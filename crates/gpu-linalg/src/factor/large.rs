//! A large matrix, left-looking: step by step of columns, what is before them is multiplied and goes to scratch memory, from where the step's
//! kernels add it; so nothing but the triangle is written, and a product reads what nobody writes.

use gpu_core::{Stream, ViewMut};

use super::launch::{self, FactorElement};
use crate::api::{Triangle, gemm, gemm_scratch_len};
use crate::cpu;
use crate::error::Error;
use crate::matrix::{Layout, Matrix, MatrixMut, Order};
use crate::plan::factor::{self as plan, STEP, Whole, leading};

/// A step's columns, from the diagonal on, as the product writes them.
fn product(n: usize, first: usize) -> Result<Layout, Error> {
    let width = STEP.min(n - first);
    Ok(Layout::column_major(n - first, width)?.with_leading_dimension(leading(n, first))?)
}

/// The steps of a matrix of `n` rows.
fn steps(n: usize) -> impl Iterator<Item = usize> {
    (0..n).step_by(STEP)
}

/// Elements before the products: two factors, by turns, of which the end may be the reciprocals of a step's roots.
const SLOTS: usize = gpu_factor_kernels::STEP_SLOTS as usize;

/// Elements of scratch memory for a matrix of `n` rows: those [`SLOTS`], the products, and what those need.
pub(crate) fn scratch_len<T: FactorElement>(n: usize) -> Result<usize, Error> {
    let mut most = 0;
    for first in steps(n).skip(1) {
        let layout = product(n, first)?;
        most = most.max(leading(n, first) * STEP + gemm_scratch_len::<T>(first, layout));
    }
    Ok(SLOTS + most)
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
    a: MatrixMut<'_, T>,
    info: ViewMut<'_, u32>,
    scratch: ViewMut<'_, T>,
) -> Result<(), Error> {
    factor_with(stream, triangle, a, info, scratch, true)
}

/// [`factor`], its steps in one launch if they are `together` and the device has the shared memory for that, else in two.
fn factor_with<T: FactorElement>(
    stream: &Stream,
    triangle: Triangle,
    mut a: MatrixMut<'_, T>,
    mut info: ViewMut<'_, u32>,
    mut scratch: ViewMut<'_, T>,
    mut together: bool,
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
            let (_, rest) = scratch.reborrow().try_split_at(SLOTS)?;
            let (sums, rest) = rest.try_split_at(leading(n, first) * width)?;
            let sums = MatrixMut::new(sums, product(n, first)?)?;
            gemm(stream, -T::ONE, before, beside.transposed(), T::ZERO, sums, rest)?;
        }
        if together {
            match step(stream, triangle, (a.data_mut(), layout), first, scratch.reborrow(), info.reborrow()) {
                // Nothing was launched, and no step is before the first.
                Err(Error::Device(gpu_core::Error::LaunchLimit { .. })) if first == 0 => together = false,
                other => {
                    other?;
                    continue;
                }
            }
        }
        apart(stream, triangle, (a.data_mut(), layout), first, scratch.reborrow(), info.reborrow())?;
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
    if let (Some(a), Some(scratch), Some(info)) =
        (a.as_mut_slice(), scratch.as_mut_slice(), info.as_mut_slice())
    {
        let added = (&scratch[SLOTS..], leading(n, first));
        let order = cpu::factor::step(triangle, (a, layout), (first, STEP.min(n - first)), added);
        if info[0] == 0 {
            info[0] = order;
        }
        return Ok(());
    }
    let plan = plan::step::<T>(triangle, layout, first)?;
    launch::step(stream, plan, a.as_global_mut(), scratch.as_global_mut(), info)
}

/// The same in two launches, one for the block and one for the rows below.
fn apart<T: FactorElement>(
    stream: &Stream,
    triangle: Triangle,
    (a, layout): (ViewMut<'_, T>, Layout),
    first: usize,
    scratch: ViewMut<'_, T>,
    info: ViewMut<'_, u32>,
) -> Result<(), Error> {
    let mut a = a.try_into_slice(layout.index(first, first)..)?;
    // The reciprocals of the roots are right before the products.
    let mut scratch = scratch.try_into_slice(SLOTS - STEP..)?;
    let plan = Whole::of_step::<T>(triangle, layout, first)?;
    let (a, scratch) = (a.as_global_mut(), scratch.as_global_mut());
    launch::whole(stream, &plan, a.as_global(), a, scratch, info, None)?;
    if first + STEP < layout.rows() {
        launch::strips(stream, plan::strips::<T>(triangle, layout, first)?, a, scratch)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Devices with little shared memory get the same bits.
    #[test]
    fn steps_in_one_launch_and_in_two_are_the_same() {
        let device = gpu_core::Device::simulator();
        let n = 2 * STEP + 5;
        let layout = Layout::column_major(n, n).unwrap();
        let element = |at: usize| {
            let (i, j) = (at % n, at / n);
            if i == j { n as f64 } else { 1.0 / (1 + i + 2 * j) as f64 }
        };
        let a: Vec<f64> = (0..n * n).map(element).collect();
        let run = |together| {
            let mut l = device.upload(&a).unwrap();
            let mut info = device.alloc(1).unwrap();
            let mut scratch = device.alloc(scratch_len::<f64>(n).unwrap()).unwrap();
            let matrix = MatrixMut::new(&mut l, layout).unwrap();
            let stream = device.default_stream();
            factor_with(&stream, Triangle::Lower, matrix, info.view_mut(), scratch.view_mut(), together)
                .unwrap();
            (l.to_vec().unwrap(), info.to_vec().unwrap())
        };
        let together = run(true);
        assert_eq!(together, run(false));
        assert_eq!(together.1, [0]);
        assert_eq!(together.0[0], (n as f64).sqrt());
    }
}
