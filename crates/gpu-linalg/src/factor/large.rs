//! Large matrices, left-looking: by a single launch, where the device has the memory and the instructions for that.
//! Else one after the other, step by step of columns, with the same bits: what is before them is multiplied and goes to
//! scratch memory, from where the step's kernels add it; so nothing but the triangle is written, and a product reads
//! what nobody writes.

use gpu_core::{Stream, View, ViewMut};

use super::launch::{self, FactorElement};
use crate::api::{How, Triangle, product};
use crate::cpu;
use crate::error::Error;
use crate::matrix::{BatchLayout, BatchMut, Layout, Matrix, MatrixMut};
use crate::plan::factor::{self as plan, STEP, Whole, leading};
use crate::plan::gemm::Sums;

/// A step's columns, from the diagonal on, as the product writes them.
fn sums_layout(n: usize, first: usize) -> Result<Layout, Error> {
    let width = STEP.min(n - first);
    Ok(Layout::column_major(n - first, width)?.with_leading_dimension(leading(n, first))?)
}

/// The steps of a matrix of `n` rows.
fn steps(n: usize) -> impl Iterator<Item = usize> {
    (0..n).step_by(STEP)
}

/// Elements before the products: two factors, by turns, of which the end may be the reciprocals of a step's roots.
const SLOTS: usize = gpu_factor_kernels::STEP_SLOTS as usize;

/// Elements of scratch memory for `count` matrices of `n` rows: those [`SLOTS`] and the products, or a reciprocal for
/// each row and the tiles' words. There can be as many elements.
pub(crate) fn scratch_len<T: FactorElement>(n: usize, count: usize) -> usize {
    let steps = SLOTS + leading(n, STEP.min(n)) * STEP;
    steps.max(plan::tiled_scratch_len::<T>(n * count, plan::tiles(n) * count))
}

/// How a matrix is factored step by step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// A launch for each product, and one for each step.
    Steps,
    /// Two for each step: less shared memory.
    Apart,
}

/// Part of a matrix: its `rows` and `columns` from the given ones on.
fn part<T: FactorElement>(
    a: Matrix<'_, T>,
    (row, column): (usize, usize),
    (rows, columns): (usize, usize),
) -> Result<Matrix<'_, T>, Error> {
    let layout = a.layout().part(rows, columns)?;
    let start = a.layout().index(row, column);
    Ok(Matrix::new(a.data().slice(start..start + layout.span()), layout)?)
}

/// Factors matrices in place; `info` has a word for each. There is as much scratch memory as [`scratch_len`] says.
pub(crate) fn factor<T: FactorElement>(
    stream: &Stream,
    triangle: Triangle,
    mut a: BatchMut<'_, T>,
    mut info: ViewMut<'_, u32>,
    mut scratch: ViewMut<'_, T>,
) -> Result<(), Error> {
    let layout = a.layout();
    let mut data = a.data_mut();
    if data.as_mut_slice().is_none() {
        stream.memset(info.reborrow(), 0)?;
        match tiled(stream, triangle, (data.reborrow(), layout), None, scratch.reborrow(), info.reborrow()) {
            // Nothing was launched.
            Err(Error::Device(
                gpu_core::Error::LaunchLimit { .. } | gpu_core::Error::NoKernelImage { .. },
            )) => {}
            other => return other,
        }
    }
    for number in 0..layout.count {
        let matrix = data.reborrow().try_into_slice(number * layout.stride..)?;
        let mut matrix = MatrixMut::new(matrix, layout.matrix)?;
        let mut info = info.reborrow().try_into_slice(number..number + 1)?;
        if let (Some(a), Some(info)) = (matrix.data_mut().as_mut_slice(), info.as_mut_slice()) {
            info[0] = cpu::factor::large(triangle, (a, layout.matrix));
        } else {
            by_steps(stream, triangle, matrix, info, scratch.reborrow(), Way::Steps)?;
        }
    }
    Ok(())
}

/// Factors a matrix step by step, in this way, or in that behind it where the device lacks the memory for it. Its order
/// is zero before.
fn by_steps<T: FactorElement>(
    stream: &Stream,
    triangle: Triangle,
    mut a: MatrixMut<'_, T>,
    mut info: ViewMut<'_, u32>,
    mut scratch: ViewMut<'_, T>,
    mut way: Way,
) -> Result<(), Error> {
    let layout = a.layout();
    let n = layout.rows();
    for first in steps(n) {
        if first > 0 {
            let of_a = Matrix::new(a.data(), layout)?;
            let lower = if triangle == Triangle::Lower { of_a } else { of_a.transposed() };
            let width = STEP.min(n - first);
            let before = part(lower, (first, 0), (n - first, first))?;
            let beside = part(lower, (first, 0), (width, first))?;
            let (_, rest) = scratch.reborrow().try_split_at(SLOTS)?;
            let (sums, rest) = rest.try_split_at(leading(n, first) * width)?;
            let sums = MatrixMut::new(sums, sums_layout(n, first)?)?.into();
            let (before, beside) = (before.into(), beside.transposed().into());
            let how = How { sums: Sums::Chains, ..How::default() };
            product(stream, how, -T::ONE, before, beside, T::ZERO, sums, rest)?;
        }
        if way != Way::Apart {
            match step(stream, triangle, (a.data_mut(), layout), first, scratch.reborrow(), info.reborrow()) {
                // Nothing was launched, and no step is before the first.
                Err(Error::Device(gpu_core::Error::LaunchLimit { .. })) if first == 0 => way = Way::Apart,
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

/// Factors all matrices by one launch; of a skyline what is there, with the tables of its structure and the number of
/// its tiles. `info` is zero before.
pub(crate) fn tiled<T: FactorElement>(
    stream: &Stream,
    triangle: Triangle,
    (mut a, layout): (ViewMut<'_, T>, BatchLayout),
    skyline: Option<(View<'_, u32>, usize)>,
    scratch: ViewMut<'_, T>,
    info: ViewMut<'_, u32>,
) -> Result<(), Error> {
    let a = a.as_global_mut();
    let tiles = skyline.as_ref().map_or(plan::tiles(layout.matrix.rows()), |&(_, tiles)| tiles);
    let multiprocessors = stream.device().planned_multiprocessors();
    let plan = plan::tiled::<T>(triangle, layout, a.address(), tiles, multiprocessors)?;
    let (reciprocals, rest) = scratch.try_split_at(layout.count * layout.matrix.rows())?;
    let words = plan::tiled_words(layout.count * tiles);
    let progress = rest.try_into_slice(..(words * size_of::<u32>()).div_ceil(size_of::<T>()))?;
    let mut progress = progress.cast::<u32>().try_into_slice(..words)?;
    stream.memset(progress.reborrow(), 0)?;
    Ok(launch::tiled(stream, plan, a, skyline.map(|(tables, _)| tables), reciprocals, progress, info)?)
}

/// Factors the block that starts at column `first`, and solves for the rows below.
fn step<T: FactorElement>(
    stream: &Stream,
    triangle: Triangle,
    (mut a, layout): (ViewMut<'_, T>, Layout),
    first: usize,
    mut scratch: ViewMut<'_, T>,
    info: ViewMut<'_, u32>,
) -> Result<(), Error> {
    let plan = plan::step::<T>(triangle, layout, first)?;
    Ok(launch::step(stream, plan, a.as_global_mut(), scratch.as_global_mut(), info)?)
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
    use crate::matrix::Order;

    /// Older devices, and such as have little shared memory, get the same bits.
    fn check<T: FactorElement + From<f32> + Into<f64>>(n: usize, order: Order, triangle: Triangle) {
        let device = gpu_core::Device::simulator();
        let layout = Layout::new(order, n, n).unwrap();
        // Symmetric, so that orders and triangles are of one matrix.
        let element = |at: usize| {
            let (i, j) = ((at % n).max(at / n), (at % n).min(at / n));
            T::from(if i == j { n as f32 } else { 1.0 / (1 + i + 2 * j) as f32 })
        };
        let a: Vec<T> = (0..n * n).map(element).collect();
        let run = |way: Option<Way>| {
            let mut l = device.upload(&a).unwrap();
            let mut info = device.zeroed(1).unwrap();
            let mut scratch = device.alloc(scratch_len::<T>(n, 1)).unwrap();
            let matrix = MatrixMut::new(&mut l, layout).unwrap();
            let stream = device.default_stream();
            let (of_info, of_scratch) = (info.view_mut(), scratch.view_mut());
            match way {
                None => factor(&stream, triangle, matrix.into(), of_info, of_scratch),
                Some(way) => by_steps(&stream, triangle, matrix, of_info, of_scratch, way),
            }
            .unwrap();
            (l.to_vec().unwrap(), info.to_vec().unwrap())
        };
        let tiled = run(None);
        for way in [Way::Steps, Way::Apart] {
            assert!(tiled == run(Some(way)), "{way:?} of {n}, {order:?}, {triangle:?}");
        }
        assert_eq!(tiled.1, [0]);
        let root: f64 = tiled.0[0].into();
        assert!((root - (n as f64).sqrt()).abs() < 1e-5, "{root}");
    }

    #[test]
    fn all_ways_are_the_same() {
        check::<f64>(3 * STEP + 5, Order::ColumnMajor, Triangle::Lower);
        check::<f64>(STEP + 5, Order::ColumnMajor, Triangle::Upper);
        check::<f32>(STEP + 5, Order::RowMajor, Triangle::Lower);
        check::<f32>(STEP + 5, Order::RowMajor, Triangle::Upper);
    }
}
