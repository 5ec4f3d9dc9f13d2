//! Parts of matrices, and of all matrices of a batch.

use core::ops::Range;

use gpu_core::ViewMut;

use crate::error::Error;
use crate::launch::RealElement;
use crate::matrix::{Batch, BatchLayout, BatchMut, Layout};

/// The place of a part: of a batch the same one of every matrix.
fn place(
    of: BatchLayout,
    rows: Range<usize>,
    columns: Range<usize>,
) -> Result<(Range<usize>, BatchLayout), Error> {
    let layout = BatchLayout { matrix: of.matrix.part(rows.len(), columns.len())?, ..of };
    let start = if layout.matrix.is_empty() { 0 } else { of.matrix.index(rows.start, columns.start) };
    Ok((start..start + layout.span()?, layout))
}

/// The layout of some rows of every matrix.
pub(crate) fn rows_of(of: BatchLayout, rows: usize) -> Result<BatchLayout, Error> {
    Ok(BatchLayout { matrix: of.matrix.part(rows, of.matrix.columns())?, ..of })
}

/// Some rows and columns of every matrix.
pub(crate) fn part<T: RealElement>(
    of: Batch<'_, T>,
    rows: Range<usize>,
    columns: Range<usize>,
) -> Result<Batch<'_, T>, Error> {
    let (range, layout) = place(of.layout(), rows, columns)?;
    Ok(Batch::new(of.data().slice(range), layout)?)
}

/// Some rows and columns of every matrix, to be written.
pub(crate) fn part_mut<'c, T: RealElement>(
    of: &'c mut BatchMut<'_, T>,
    rows: Range<usize>,
    columns: Range<usize>,
) -> Result<BatchMut<'c, T>, Error> {
    let (range, layout) = place(of.layout(), rows, columns)?;
    Ok(BatchMut::new(of.data_mut().into_slice(range), layout)?)
}

/// All of it, to be read.
pub(crate) fn whole<'c, T: RealElement>(of: &'c BatchMut<'_, T>) -> Result<Batch<'c, T>, Error> {
    Ok(Batch::new(of.data(), of.layout())?)
}

/// How matrices of that shape and order lie in scratch memory: lines start at multiples of 16 bytes where they are long.
pub(crate) fn temporary(of: BatchLayout) -> Result<BatchLayout, Error> {
    let contiguous = of.matrix.contiguous();
    let leading = if contiguous < 32 { contiguous } else { contiguous.next_multiple_of(4) };
    let (rows, columns) = of.matrix.shape();
    let matrix = Layout::new(of.matrix.order(), rows, columns)?.with_leading_dimension(leading)?;
    Ok(BatchLayout::new(matrix, of.count, leading * matrix.lines())?)
}

/// Cuts the first `len` elements off scratch memory.
pub(crate) fn take<'s, T: RealElement>(
    scratch: &mut Option<ViewMut<'s, T>>,
    len: usize,
) -> Result<ViewMut<'s, T>, Error> {
    let all = scratch.take().expect("what is left is put back");
    let (first, rest) = all.try_split_at(len)?;
    *scratch = Some(rest);
    Ok(first)
}
