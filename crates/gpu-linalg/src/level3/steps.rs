//! The steps, on the CPU or launched.

use gpu_core::{Stream, View, ViewMut};
use gpu_level3_kernels::{self as kernels, Solve};

use super::launch::{self, System, TriangleElement};
use crate::api::Diagonal;
use crate::cpu::solve as cpu;
use crate::error::Error;
use crate::matrix::{Batch, BatchMut};
use crate::plan::level3::{self as plan, Form};
use crate::reference::level3 as reference;

/// Solves for some rows of B, in place and, where there is one, into a copy too. `words` are as many zeros as the shape asks for. `info` has a word for each
/// matrix, that becomes the least index of a zero on its diagonal, or all ones.
pub(crate) fn solve<T: TriangleElement>(
    stream: &Stream,
    (shape, form): (Solve, Form),
    l: View<'_, T>,
    mut b: ViewMut<'_, T>,
    mut x: Option<ViewMut<'_, T>>,
    (words, mut info): (ViewMut<'_, T>, ViewMut<'_, u32>),
    alpha: T,
) -> Result<(), Error> {
    if let (Some(l), Some(b), Some(info)) = (l.as_slice(), b.as_mut_slice(), info.as_mut_slice()) {
        let x = x.as_mut().and_then(|x| x.as_mut_slice()).unwrap_or(&mut []);
        cpu::solve(&shape, form, l, b, x, info, alpha);
        return Ok(());
    }
    Ok(launch::solve(stream, form.launch::<T>(&shape)?, shape, form, System { l, b, x, words, info, alpha })?)
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
    Ok(launch::spread(stream, launch, shape, a.data(), output)?)
}

/// A copy of matrices, to others of their shape and order.
pub(crate) fn copy<T: TriangleElement>(
    stream: &Stream,
    from: Batch<'_, T>,
    mut to: BatchMut<'_, T>,
) -> Result<(), Error> {
    let shape = plan::copy(from.layout(), to.layout())?;
    if let (Some(from), Some(to)) = (from.data().as_slice(), to.data_mut().as_mut_slice()) {
        reference::copy(&shape, from, to);
        return Ok(());
    }
    Ok(launch::copy(stream, plan::launch(shape.grid(), 0)?, shape, from.data(), to.into_data())?)
}
