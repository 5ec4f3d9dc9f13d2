//! Systems of large factored matrices: a triangular one with L, and one with its transposed.

use gpu_core::{Stream, ViewMut};

use super::launch::FactorElement;
use crate::api::{Diagonal, Triangle};
use crate::error::Error;
use crate::level3::{Needs, OnLeft, system, take};
use crate::matrix::{Batch, BatchLayout, BatchMut};

/// Elements that hold a word for each matrix, a multiple of 16 bytes.
fn info_len<T>(count: usize) -> usize {
    count.div_ceil(4) * (16 / size_of::<T>())
}

/// Elements of scratch memory for right-hand sides of such a layout, which is not empty.
pub(crate) fn scratch_len<T: FactorElement>(b: BatchLayout) -> Result<usize, Error> {
    Needs::new::<T>(b)?.elements(2, info_len::<T>(b.count))
}

/// Solves for all right-hand sides, in place. There is as much scratch memory as [`scratch_len`] says.
pub(crate) fn solve<T: FactorElement>(
    stream: &Stream,
    triangle: Triangle,
    l: Batch<'_, T>,
    mut b: BatchMut<'_, T>,
    scratch: ViewMut<'_, T>,
) -> Result<(), Error> {
    let (needs, count) = (Needs::new::<T>(b.layout())?, b.layout().count);
    let mut scratch = Some(scratch);
    // A factor has no zeros on its diagonal: nobody reads these.
    let info = take(&mut scratch, info_len::<T>(count))?;
    let mut info = info.cast::<u32>().try_into_slice(..count)?;
    let mut words = take(&mut scratch, 2 * needs.words)?;
    let mut rest = scratch.expect("what is left is put back");
    if needs.words > 0 {
        stream.memset(words.reborrow(), 0)?;
    }
    let lower = if triangle == Triangle::Lower { l } else { l.transposed() };
    let (forwards, backwards) = words.try_split_at(needs.words)?;
    for (transposed, words) in [(false, forwards), (true, backwards)] {
        let of = (&OnLeft { lower, transposed }, Diagonal::Stored);
        system(stream, &needs, of, T::ONE, &mut b, info.reborrow(), (words, rest.reborrow()))?;
    }
    Ok(())
}
