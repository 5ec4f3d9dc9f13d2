//! The steps, on the CPU or launched.

use gpu_core::{Stream, View, ViewMut};
use gpu_level3_kernels as kernels;

use super::launch::{self, TriangleElement};
use crate::api::Diagonal;
use crate::cpu::level3 as cpu;
use crate::error::Error;
use crate::matrix::{Batch, BatchMut};
use crate::plan::level3 as plan;
use crate::reference::level3 as reference;

/// Inverts the blocks of the lower triangles of `a`, into squares of `square` rows, and, with `apart`, once more one after the other.
/// `info` has a word for each matrix, that becomes the least index of a zero on its diagonal where there is one.
pub(crate) fn invert<T: TriangleElement>(
    stream: &Stream,
    a: Batch<'_, T>,
    diagonal: Diagonal,
    square: usize,
    mut inverses: ViewMut<'_, T>,
    mut apart: Option<ViewMut<'_, T>>,
    mut info: ViewMut<'_, u32>,
) -> Result<(), Error> {
    let shape = plan::invert(a.layout(), diagonal, square, apart.is_some())?;
    if let (Some(a), Some(inverses), Some(info)) =
        (a.data().as_slice(), inverses.as_mut_slice(), info.as_mut_slice())
    {
        let apart = apart.as_mut().and_then(|apart| apart.as_mut_slice()).unwrap_or(&mut []);
        cpu::invert(&shape, a, inverses, apart, info);
        return Ok(());
    }
    let launch = plan::launch(shape.grid().into(), kernels::shared_bytes::<T>())?;
    launch::invert(stream, launch, shape, a.data(), inverses, apart, info)
}

/// Writes out the squares of `square` rows along the diagonals of lower triangles, with zeros or the mirror image above.
pub(crate) fn spread<T: TriangleElement>(
    stream: &Stream,
    a: Batch<'_, T>,
    diagonal: Diagonal,
    square: usize,
    symmetric: bool,
    mut output: ViewMut<'_, T>,
) -> Result<(), Error> {
    let shape = plan::spread(a.layout(), diagonal, square, symmetric)?;
    if let (Some(a), Some(output)) = (a.data().as_slice(), output.as_mut_slice()) {
        reference::spread(&shape, a, output);
        return Ok(());
    }
    let launch = plan::launch(shape.grid(), kernels::spread_shared_bytes::<T>())?;
    launch::spread(stream, launch, shape, a.data(), output)
}

/// `C = alpha · S + beta · C`, S of C's shape and order.
pub(crate) fn merge<T: TriangleElement>(
    stream: &Stream,
    alpha: T,
    sums: Batch<'_, T>,
    beta: T,
    mut c: BatchMut<'_, T>,
) -> Result<(), Error> {
    let shape = plan::merge(sums.layout(), c.layout())?;
    if let (Some(sums), Some(c)) = (sums.data().as_slice(), c.data_mut().as_mut_slice()) {
        reference::merge(&shape, sums, c, alpha, beta);
        return Ok(());
    }
    let sums: View<'_, T> = sums.data();
    launch::merge(stream, plan::launch(shape.grid(), 0)?, shape, sums, c.into_data(), (alpha, beta))
}
