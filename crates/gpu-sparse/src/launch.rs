//! The launches, and matrices that are taken as they are: the crate's only unsafe code.

use gpu_core::{Buffer, Stream, View, ViewMut};
use gpu_sparse_kernels::levels::Rows;
use gpu_sparse_kernels::solve::Run;
use gpu_sparse_kernels::{Scalar, THREADS, check, convert, levels, order, solve, spmv};
use gpu_std::launch::{Kernel, LaunchConfig};
use gpu_std::memory::{Global, GlobalMut};

use crate::api::{Diagonal, Side};
use crate::error::Error;
use crate::matrix::CsrView;

/// A type of elements of matrices and vectors: `f32`, `f64`.
pub trait Element:
    gpu_core::Element + Scalar<Word: gpu_core::Element> + sealed::Kernels + crate::factor::launch::Kernels
{
}

mod sealed {
    use super::*;

    /// The kernels of a type.
    ///
    /// # Safety
    /// Each is the kernel of its name, of this type.
    pub unsafe trait Kernels: Scalar {
        /// Offsets, indices, values, x, y, partial sums, whose they are, what is to be done, alpha, beta.
        type Product: Kernel<
            Arguments = (
                Global<u32>,
                Global<u32>,
                Global<Self>,
                Global<Self>,
                GlobalMut<Self>,
                GlobalMut<Self>,
                GlobalMut<u32>,
                spmv::Shape,
                Self,
                Self,
            ),
        >;
        /// Offsets, partial sums, whose they are, y, what is to be done, alpha, beta.
        type Finish: Kernel<
            Arguments = (Global<u32>, Global<Self>, Global<u32>, GlobalMut<Self>, spmv::Shape, Self, Self),
        >;
        /// Offsets, indices, values, b, x, the ticket, the triangle, alpha.
        type Free: Kernel<
            Arguments = (
                Global<u32>,
                Global<u32>,
                Global<Self>,
                Global<Self>,
                GlobalMut<Self::Word>,
                GlobalMut<u32>,
                Rows,
                Self,
            ),
        >;
        /// Offsets, indices, values, b, x, the order, its starts, the triangle, the levels, alpha.
        type Levels: Kernel<
            Arguments = (
                Global<u32>,
                Global<u32>,
                Global<Self>,
                Global<Self>,
                GlobalMut<Self>,
                Global<u32>,
                Global<u32>,
                Rows,
                Run,
                Self,
            ),
        >;
        /// Keys, order, places, values, rows, columns, sums, how many.
        type Add: Kernel<
            Arguments = (
                Global<u64>,
                Global<u32>,
                Global<u32>,
                Global<Self>,
                GlobalMut<u32>,
                GlobalMut<u32>,
                GlobalMut<Self>,
                u32,
            ),
        >;
        /// Order, rows, values, rows' output, values' output, how many.
        type Gather: Kernel<
            Arguments = (Global<u32>, Global<u32>, Global<Self>, GlobalMut<u32>, GlobalMut<Self>, u32),
        >;
    }
}

macro_rules! elements {
    ($($T:ty: $product:ident, $finish:ident, $free:ident, $levels:ident, $add:ident, $gather:ident;)*) => { $(
        impl Element for $T {}

        // SAFETY: the table names the kernels of the type.
        unsafe impl sealed::Kernels for $T {
            type Product = spmv::$product;
            type Finish = spmv::$finish;
            type Free = solve::$free;
            type Levels = solve::$levels;
            type Add = convert::$add;
            type Gather = convert::$gather;
        }
    )* };
}
elements! {
    f32: sparse_spmv_f32, sparse_spmv_finish_f32, sparse_solve_free_f32, sparse_solve_levels_f32, sparse_add_f32, sparse_gather_f32;
    f64: sparse_spmv_f64, sparse_spmv_finish_f64, sparse_solve_free_f64, sparse_solve_levels_f64, sparse_add_f64, sparse_gather_f64;
}

impl<'a, T: Element> CsrView<'a, T> {
    /// The `rows` × `columns` matrix in these arrays, which are not looked at.
    ///
    /// # Safety
    /// Offsets are one more than rows, the first is 0, none is less than the one before, the last is the number of
    /// indices and of values; each index is less than `columns`, and those of a row ascend strictly. The arrays are on one
    /// device, `rows` and entries together less than 2^32 − 2048, and `columns` less than 2^32 − 1.
    pub unsafe fn new_unchecked(
        rows: usize,
        columns: usize,
        offsets: impl Into<View<'a, u32>>,
        indices: impl Into<View<'a, u32>>,
        values: impl Into<View<'a, T>>,
    ) -> Self {
        Self { rows, columns, offsets: offsets.into(), indices: indices.into(), values: values.into() }
    }
}

/// A thread for each of `len` elements, at least one.
pub(crate) fn linear(len: usize) -> LaunchConfig {
    LaunchConfig::linear((len as u32).div_ceil(THREADS), THREADS)
}

/// What the kernel of the checks finds in a matrix with rows, whose arrays have the lengths of its shape.
pub(crate) fn check<T: Element>(matrix: &CsrView<'_, T>) -> Result<[u32; check::CHECKS as usize], Error> {
    let stream = matrix.device().default_stream();
    let mut found = stream.device().upload(&[gpu_sparse_kernels::NONE; check::CHECKS as usize])?;
    let (rows, columns, entries) = (matrix.rows as u32, matrix.columns as u32, matrix.indices.len() as u32);
    let arguments = (matrix.offsets, matrix.indices, rows, columns, entries, &mut found);
    // SAFETY: there is one offset more than rows, and the kernel reads only those of the entries that there are.
    unsafe { stream.launch::<check::sparse_check>(linear(matrix.rows), arguments)? };
    let mut words = [0; check::CHECKS as usize];
    found.copy_to(&mut words)?;
    Ok(words)
}

/// What the kernel of the checks of triangles finds in a square matrix with rows.
pub(crate) fn check_triangle<T: Element>(
    matrix: &CsrView<'_, T>,
    side: Side,
    diagonal: Diagonal,
) -> Result<[u32; check::TRIANGLE_CHECKS as usize], Error> {
    let stream = matrix.device().default_stream();
    let mut found = stream.device().upload(&[gpu_sparse_kernels::NONE; check::TRIANGLE_CHECKS as usize])?;
    let Rows { rows, upper, unit } = rows_of(matrix.rows, side, diagonal);
    let shape = check::Triangle { rows, upper, unit, words: (size_of::<T>() / 4) as u32 };
    let arguments = (matrix.offsets, matrix.indices, matrix.values.untyped(), shape, &mut found);
    // SAFETY: the matrix was checked; of its values the kernel reads words within their bytes.
    unsafe { stream.launch::<check::sparse_triangle>(linear(matrix.rows), arguments)? };
    let mut words = [0; check::TRIANGLE_CHECKS as usize];
    found.copy_to(&mut words)?;
    Ok(words)
}

/// A triangle, as the kernels take it.
pub(crate) fn rows_of(rows: usize, side: Side, diagonal: Diagonal) -> Rows {
    let (upper, unit) = ((side == Side::Upper) as u32, (diagonal == Diagonal::Unit) as u32);
    Rows { rows: rows as u32, upper, unit }
}

/// Entries of the longest row of a matrix with rows.
pub(crate) fn longest<T: Element>(matrix: &CsrView<'_, T>) -> Result<u32, Error> {
    let stream = matrix.device().default_stream();
    let mut longest = stream.device().zeroed::<u32>(1)?;
    let arguments = (matrix.offsets, matrix.rows as u32, &mut longest);
    // SAFETY: there is one offset more than rows.
    unsafe { stream.launch::<check::sparse_longest>(linear(matrix.rows), arguments)? };
    let mut word = [0];
    longest.copy_to(&mut word)?;
    Ok(word[0])
}

/// Enqueues `y = alpha · A · x + beta · y`.
#[expect(clippy::too_many_arguments, reason = "those of the product")]
pub(crate) fn spmv<T: Element>(
    stream: &Stream,
    plan: &crate::plan::spmv::Plan,
    alpha: T,
    a: &CsrView<'_, T>,
    x: View<'_, T>,
    beta: T,
    mut y: ViewMut<'_, T>,
    partials: &mut Buffer<T>,
    tails: &mut Buffer<u32>,
) -> Result<(), Error> {
    let shape = plan.shape;
    let scratch = (partials.view_mut(), tails.view_mut());
    let arguments =
        (a.offsets, a.indices, a.values, x, y.reborrow(), scratch.0, scratch.1, shape, alpha, beta);
    // SAFETY: the matrix was checked, the vectors have as many elements as it has columns and rows (checked by the
    // caller), scratch memory is the plan's; `y` and that are exclusive. Everything is freed only after the work
    // enqueued before.
    unsafe { stream.launch::<T::Product>(plan.launch, arguments)? };
    if let Some(finish) = plan.finish {
        let arguments = (a.offsets, &*partials, &*tails, y, shape, alpha, beta);
        // SAFETY: as above; the partial sums were written by the launch before.
        unsafe { stream.launch::<T::Finish>(finish, arguments)? };
    }
    Ok(())
}

/// Enqueues the levels of a triangle with rows; `levels` is zero.
pub(crate) fn levels<T: Element>(
    stream: &Stream,
    a: &CsrView<'_, T>,
    shape: Rows,
    levels: &mut Buffer<u32>,
    ticket: &mut Buffer<u32>,
) -> Result<(), Error> {
    stream.memset(&mut *ticket, 0)?;
    let launch = linear(a.rows).shared(levels::SHARED_BYTES);
    // SAFETY: the matrix was found to be that triangle, so that rows wait for earlier ones alone; there is a level for
    // each.
    unsafe { stream.launch::<levels::sparse_levels>(launch, (a.offsets, a.indices, levels, ticket, shape))? };
    Ok(())
}

/// Enqueues the groups of a triangle's rows.
pub(crate) fn groups<T: Element>(
    stream: &Stream,
    a: &CsrView<'_, T>,
    shape: Rows,
    levels: &Buffer<u32>,
    groups: &mut Buffer<u32>,
) -> Result<(), Error> {
    let arguments = (a.offsets, a.indices, levels, groups, shape);
    // SAFETY: the matrix was checked, and there is a level and a group for each of its rows.
    unsafe { stream.launch::<order::sparse_groups>(linear(a.rows), arguments)? };
    Ok(())
}

/// Enqueues the numbers of warps of groups of rows, at least one group.
pub(crate) fn warps(stream: &Stream, counts: View<'_, u32>, warps: ViewMut<'_, u32>) -> Result<(), Error> {
    assert_eq!(counts.len(), warps.len());
    let groups = counts.len() as u32;
    // SAFETY: there is a count and a number for each group.
    unsafe { stream.launch::<order::sparse_warps>(linear(counts.len()), (counts, warps, groups))? };
    Ok(())
}

/// Enqueues the counts of `numbers`, at least one, all of them less than there are counts.
pub(crate) fn count(stream: &Stream, numbers: View<'_, u32>, counts: ViewMut<'_, u32>) -> Result<(), Error> {
    let mut counts = counts;
    stream.memset(counts.reborrow(), 0)?;
    let len = numbers.len() as u32;
    // SAFETY: the numbers are places of counts: groups of the levels there are, or rows and columns that were checked.
    unsafe { stream.launch::<convert::sparse_count>(linear(numbers.len()), (numbers, counts, len))? };
    Ok(())
}

/// Enqueues the solution free of synchronisation of a triangle with rows.
pub(crate) fn solve_free<T: Element>(
    stream: &Stream,
    a: &CsrView<'_, T>,
    shape: Rows,
    alpha: T,
    b: View<'_, T>,
    mut x: ViewMut<'_, T>,
    ticket: &mut Buffer<u32>,
) -> Result<(), Error> {
    stream.memset(&mut *ticket, 0)?;
    stream.memset(x.reborrow(), 0xff)?;
    let launch = linear(a.rows).shared(solve::shared_bytes::<T>());
    let arguments = (a.offsets, a.indices, a.values, b, x.cast::<T::Word>(), ticket, shape, alpha);
    // SAFETY: the matrix was found to be that triangle, so that rows wait for earlier ones alone; the vectors have an
    // element for each row (checked by the caller), and `x` is exclusive.
    unsafe { stream.launch::<T::Free>(launch, arguments)? };
    Ok(())
}

/// Enqueues the solution level by level of a triangle with rows.
pub(crate) fn solve_levels<T: Element>(
    stream: &Stream,
    a: &CsrView<'_, T>,
    shape: Rows,
    alpha: T,
    b: View<'_, T>,
    mut x: ViewMut<'_, T>,
    order: &crate::api::RowOrder,
) -> Result<(), Error> {
    for &(run, blocks) in order.runs() {
        let (rows, starts) = (order.rows(), order.starts());
        let arguments = (a.offsets, a.indices, a.values, b, x.reborrow(), rows, starts, shape, run, alpha);
        // SAFETY: as above; the order is of this triangle's rows, of which a level reads what earlier ones have
        // written, and several levels are one block's.
        unsafe { stream.launch::<T::Levels>(LaunchConfig::linear(blocks, THREADS), arguments)? };
    }
    Ok(())
}

/// Enqueues the row of every entry, at least one, of a matrix that was checked.
pub(crate) fn rows_of_entries<T: Element>(
    stream: &Stream,
    a: &CsrView<'_, T>,
    rows: &mut Buffer<u32>,
) -> Result<(), Error> {
    let arguments = (a.offsets, rows, a.rows as u32, a.indices.len() as u32);
    // SAFETY: there is an offset more than rows, and a row for each entry.
    unsafe { stream.launch::<convert::sparse_rows>(linear(a.indices.len()), arguments)? };
    Ok(())
}

/// Enqueues the keys of entries, at least one, and looks for one that is outside of the matrix.
pub(crate) fn keys(
    stream: &Stream,
    (rows, columns): (&Buffer<u32>, &Buffer<u32>),
    (row_count, column_count): (usize, usize),
    keys: &mut Buffer<u64>,
    found: &mut Buffer<u32>,
) -> Result<(), Error> {
    let len = rows.len();
    let arguments = (rows, columns, keys, found, row_count as u32, column_count as u32, len as u32);
    // SAFETY: there are as many rows, columns and keys, and one word that is found.
    unsafe { stream.launch::<convert::sparse_keys>(linear(len), arguments)? };
    Ok(())
}

/// Enqueues the heads of runs of equal keys, at least one key.
pub(crate) fn heads(stream: &Stream, keys: &Buffer<u64>, heads: &mut Buffer<u32>) -> Result<(), Error> {
    let len = keys.len();
    // SAFETY: there is a head for each key.
    unsafe { stream.launch::<convert::sparse_heads>(linear(len), (keys, heads, len as u32))? };
    Ok(())
}

/// Enqueues the sums of values of equal keys, at least one key; `places` are the inclusive sums of their heads, the last
/// of them the outputs' length.
pub(crate) fn add<T: Element>(
    stream: &Stream,
    keys: &Buffer<u64>,
    (order, places): (&Buffer<u32>, &Buffer<u32>),
    values: &Buffer<T>,
    (rows, columns, sums): (&mut Buffer<u32>, &mut Buffer<u32>, &mut Buffer<T>),
) -> Result<(), Error> {
    let len = keys.len();
    let arguments = (keys, order, places, values, rows, columns, sums, len as u32);
    // SAFETY: the order is one of the values, and places are those of the outputs.
    unsafe { stream.launch::<T::Add>(linear(len), arguments)? };
    Ok(())
}

/// Enqueues rows and values of entries, at least one, in another order.
pub(crate) fn gather<T: Element>(
    stream: &Stream,
    order: &Buffer<u32>,
    rows: &Buffer<u32>,
    values: View<'_, T>,
    (rows_output, values_output): (&mut Buffer<u32>, &mut Buffer<T>),
) -> Result<(), Error> {
    let len = order.len();
    let arguments = (order, rows, values, rows_output, values_output, len as u32);
    // SAFETY: all have as many elements, and the order is one of them.
    unsafe { stream.launch::<T::Gather>(linear(len), arguments)? };
    Ok(())
}
