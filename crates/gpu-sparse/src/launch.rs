//! The launches: with those of factors and systems, and matrices that are taken as they are, the crate's only unsafe
//! code.

use gpu_core::{Buffer, Stream, View, ViewMut};
use gpu_sparse_kernels::levels::Rows;
use gpu_sparse_kernels::solve::Run;
use gpu_sparse_kernels::spmm::{self, COLUMNS};
use gpu_sparse_kernels::tiles::Tiles;
use gpu_sparse_kernels::waiting::Strides;
use gpu_sparse_kernels::{
    NONE, Scalar, THREADS, chains, check, convert, free, from_tiles, levels, order, ordered, packed, solve,
    spmv,
};
use gpu_std::launch::{Kernel, LaunchConfig};
use gpu_std::memory::{Global, GlobalMut};

use crate::api::{Diagonal, Side};
use crate::error::Error;
use crate::matrix::CsrView;
use crate::plan::solve::Profile;

/// A type of elements of matrices and vectors: `f32`, `f64`.
pub trait Element:
    gpu_core::Element + Scalar<Word: gpu_core::Element> + sealed::Kernels + crate::factor::launch::Kernels
{
}

mod sealed {
    use super::*;

    /// What the kernels take that have rows in their own order.
    pub type Waiting<T> = (
        Global<u32>,
        Global<u32>,
        Global<T>,
        Global<T>,
        GlobalMut<<T as Scalar>::Word>,
        GlobalMut<u32>,
        Rows,
        Strides,
        T,
    );

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
        /// Offsets, indices, values, B, C, what is to be done, alpha, beta.
        type Products: Kernel<
            Arguments = (
                Global<u32>,
                Global<u32>,
                Global<Self>,
                Global<Self>,
                GlobalMut<Self>,
                spmm::Product,
                Self,
                Self,
            ),
        >;
        /// Offsets, indices, values, b, x, the ticket, the triangle, where b and x lie, alpha.
        type Free: Kernel<Arguments = Waiting<Self>>;
        /// The same.
        type Chains: Kernel<Arguments = Waiting<Self>>;
        /// Offsets, indices, values, b, x, the order, the tasks, the ticket, the triangle, where b and x lie, how many
        /// tasks, alpha.
        type Ordered: Kernel<
            Arguments = (
                Global<u32>,
                Global<u32>,
                Global<Self>,
                Global<Self>,
                GlobalMut<Self::Word>,
                Global<u32>,
                Global<u32>,
                GlobalMut<u32>,
                Rows,
                Strides,
                u32,
                Self,
            ),
        >;
        /// Offsets, indices, values, b, x, the tasks, the rows of units, positions, what is known, the ticket, the triangle,
        /// where b and x lie, how many tasks, alpha.
        type Packed: Kernel<
            Arguments = (
                Global<u32>,
                Global<u32>,
                Global<Self>,
                Global<Self>,
                GlobalMut<Self::Word>,
                Global<u32>,
                Global<u32>,
                Global<u32>,
                GlobalMut<Self::Word>,
                GlobalMut<u32>,
                Rows,
                Strides,
                u32,
                Self,
            ),
        >;
        /// Offsets, indices, values, b, x, the order, its starts, the triangle, where b and x lie, the levels, alpha.
        type Levels: Kernel<
            Arguments = (
                Global<u32>,
                Global<u32>,
                Global<Self>,
                Global<Self>,
                GlobalMut<Self::Word>,
                Global<u32>,
                Global<u32>,
                Rows,
                Strides,
                Run,
                Self,
            ),
        >;
        /// Keys, order, places, values, rows, columns, sums, bits of columns, how many.
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
                u32,
            ),
        >;
        /// Order, rows, values, rows' output, values' output, how many.
        type Gather: Kernel<
            Arguments = (Global<u32>, Global<u32>, Global<Self>, GlobalMut<u32>, GlobalMut<Self>, u32),
        >;
        /// Offsets, indices, values, the lists of tiles, what was found, columns' offsets, rows, values' output, words
        /// in which blocks meet, the cut.
        type FromTiles: Kernel<
            Arguments = (
                Global<u32>,
                Global<u32>,
                Global<Self>,
                Global<u32>,
                GlobalMut<u32>,
                GlobalMut<u32>,
                GlobalMut<u32>,
                GlobalMut<Self>,
                GlobalMut<u64>,
                Tiles,
            ),
        >;
    }
}

macro_rules! elements {
    ($(
        $T:ty: $product:ident, $finish:ident, $products:ident, $free:ident, $chains:ident, $ordered:ident,
        $packed:ident, $levels:ident, $add:ident, $gather:ident, $from_tiles:ident;
    )*) => { $(
        impl Element for $T {}

        // SAFETY: the table names the kernels of the type.
        unsafe impl sealed::Kernels for $T {
            type Product = spmv::$product;
            type Finish = spmv::$finish;
            type Products = spmm::$products;
            type Free = free::$free;
            type Chains = chains::$chains;
            type Ordered = ordered::$ordered;
            type Packed = packed::$packed;
            type Levels = solve::$levels;
            type Add = convert::$add;
            type Gather = convert::$gather;
            type FromTiles = from_tiles::$from_tiles;
        }
    )* };
}
elements! {
    f32: sparse_spmv_f32, sparse_spmv_finish_f32, sparse_spmm_f32, sparse_solve_free_f32, sparse_solve_chains_f32,
        sparse_solve_ordered_f32, sparse_solve_packed_f32, sparse_solve_levels_f32, sparse_add_f32, sparse_gather_f32,
        sparse_from_tiles_f32;
    f64: sparse_spmv_f64, sparse_spmv_finish_f64, sparse_spmm_f64, sparse_solve_free_f64, sparse_solve_chains_f64,
        sparse_solve_ordered_f64, sparse_solve_packed_f64, sparse_solve_levels_f64, sparse_add_f64, sparse_gather_f64,
        sparse_from_tiles_f64;
}

/// A thread for each of `len` elements, at least one.
pub(crate) fn linear(len: usize) -> LaunchConfig {
    LaunchConfig::linear((len as u32).div_ceil(THREADS), THREADS)
}

/// Threads that go over `len` elements, at least one: so few that what their warps find is soon added.
pub(crate) fn striding(len: usize) -> LaunchConfig {
    let all = linear(len);
    LaunchConfig::linear(all.grid[0].min(1024), THREADS)
}

/// The place that a kernel has found, if it has found one.
fn place(found: &Buffer<u32>) -> Result<Option<usize>, Error> {
    let [place] = found.view().to_array()?;
    Ok((place != NONE).then_some(place as usize))
}

/// What the kernel of the checks finds in a matrix with rows, whose arrays have the lengths of its shape.
pub(crate) fn check<T: Element>(matrix: &CsrView<'_, T>) -> Result<[u32; check::CHECKS as usize], Error> {
    let stream = matrix.device().default_stream();
    let mut found = stream.device().upload(&[gpu_sparse_kernels::NONE; check::CHECKS as usize])?;
    let (rows, columns, entries) = (matrix.rows as u32, matrix.columns as u32, matrix.indices.len() as u32);
    let arguments = (matrix.offsets, matrix.indices, rows, columns, entries, &mut found);
    // SAFETY: there is one offset more than rows, and the kernel reads only those of the entries that there are.
    unsafe { stream.launch::<check::sparse_check>(linear(matrix.rows), arguments)? };
    Ok(found.view().to_array()?)
}

/// What the kernel of the checks of triangles finds in a square matrix with rows; and, if it is asked for, what the
/// choice of a solver rests on, but for the number of levels, which is 0. That says nothing where the matrix is no
/// triangle.
pub(crate) fn check_triangle<T: Element>(
    matrix: &CsrView<'_, T>,
    (side, diagonal): (Side, Diagonal),
    has_profile: bool,
) -> Result<([u32; check::TRIANGLE_CHECKS as usize], Profile), Error> {
    const CHECKS: usize = check::TRIANGLE_CHECKS as usize;
    let stream = matrix.device().default_stream();
    let mut words = [0; CHECKS + order::FOUND as usize];
    words[..CHECKS].fill(NONE);
    let mut found = stream.device().upload(&words)?;
    let shape = rows_of(matrix, side, diagonal);
    let Rows { rows, entries, upper, unit, .. } = shape;
    let triangle = check::Triangle { rows, upper, unit, words: (size_of::<T>() / 4) as u32, entries };
    let checks = found.slice_mut(..CHECKS);
    let arguments = (matrix.offsets, matrix.indices, matrix.values.untyped(), triangle, checks);
    // SAFETY: the matrix was checked; of its values the kernel reads words within their bytes.
    unsafe { stream.launch::<check::sparse_triangle>(linear(matrix.rows), arguments)? };
    if has_profile {
        let arguments = (matrix.offsets, matrix.indices, found.slice_mut(CHECKS..), shape);
        // SAFETY: the matrix was checked, and the kernel holds what its rows wait for to earlier ones; there are as
        // many words as are found.
        unsafe { stream.launch::<order::sparse_profile>(striding(matrix.rows), arguments)? };
    }
    found.copy_to(&mut words)?;
    let [wrong, missing, zero, longest, near, stride, aligned, beside] = words;
    let stored = entries.saturating_sub(beside);
    Ok(([wrong, missing, zero], Profile { rows, levels: 0, longest, near, stride, aligned, stored }))
}

/// A triangle, as the kernels take it.
pub(crate) fn rows_of<T: Element>(matrix: &CsrView<'_, T>, side: Side, diagonal: Diagonal) -> Rows {
    let (upper, unit) = ((side == Side::Upper) as u32, (diagonal == Diagonal::Unit) as u32);
    Rows { rows: matrix.rows as u32, entries: matrix.entries() as u32, upper, unit, chunk: THREADS }
}

/// The first place where two arrays of one device and length, at least one word, differ.
pub(crate) fn differ(one: View<'_, u32>, other: View<'_, u32>) -> Result<Option<usize>, Error> {
    let stream = one.device().default_stream();
    let mut found = stream.device().upload(&[NONE])?;
    let arguments = (one, other, &mut found, one.len() as u32);
    // SAFETY: both have as many words.
    unsafe { stream.launch::<check::sparse_differ>(linear(one.len()), arguments)? };
    place(&found)
}

/// Enqueues `C = alpha · A · B + beta · C` of a matrix with rows.
pub(crate) fn spmm<T: Element>(
    stream: &Stream,
    shape: spmm::Product,
    alpha: T,
    a: &CsrView<'_, T>,
    b: View<'_, T>,
    beta: T,
    c: ViewMut<'_, T>,
) -> gpu_core::Result<()> {
    let blocks = shape.rows.div_ceil(shape.block_rows());
    let mut launch = LaunchConfig::linear(blocks, THREADS);
    launch.grid[1] = shape.columns.div_ceil(COLUMNS);
    let arguments = (a.offsets, a.indices, a.values, b, c, shape, alpha, beta);
    // SAFETY: the matrix was checked, B and C have its columns and rows where the shape says (checked by the caller); C
    // is exclusive.
    unsafe { stream.launch::<T::Products>(launch, arguments) }
}

/// Entries of the longest row of a matrix with rows.
pub(crate) fn longest<T: Element>(matrix: &CsrView<'_, T>) -> Result<u32, Error> {
    let stream = matrix.device().default_stream();
    let mut longest = stream.device().zeroed::<u32>(1)?;
    let arguments = (matrix.offsets, matrix.rows as u32, &mut longest);
    // SAFETY: there is one offset more than rows.
    unsafe { stream.launch::<check::sparse_longest>(striding(matrix.rows), arguments)? };
    let [longest] = longest.view().to_array()?;
    Ok(longest)
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
) -> gpu_core::Result<()> {
    let shape = plan.shape;
    let scratch = (partials.view_mut(), tails.view_mut());
    let launch = plan.launch.shared(spmv::shared_bytes::<T>(&shape));
    let arguments =
        (a.offsets, a.indices, a.values, x, y.reborrow(), scratch.0, scratch.1, shape, alpha, beta);
    // SAFETY: the matrix was checked, the vectors have as many elements as it has columns and rows (checked by the
    // caller), scratch memory is the plan's; `y` and that are exclusive. Everything is freed only after the work
    // enqueued before.
    unsafe { stream.launch::<T::Product>(launch, arguments)? };
    if let Some(finish) = plan.finish {
        let arguments = (a.offsets, &*partials, &*tails, y, shape, alpha, beta);
        // SAFETY: as above; the partial sums were written by the launch before.
        unsafe { stream.launch::<T::Finish>(finish, arguments)? };
    }
    Ok(())
}

/// The launch of blocks of `threads` threads that walk through [`Rows::chunk`] rows each.
pub(crate) fn walking(shape: Rows, threads: u32) -> LaunchConfig {
    LaunchConfig::linear(shape.rows.div_ceil(shape.chunk), threads)
}

/// Enqueues the levels of a triangle with rows, by blocks of so many threads; `levels` is zero.
pub(crate) fn levels<T: Element>(
    stream: &Stream,
    a: &CsrView<'_, T>,
    (shape, threads): (Rows, u32),
    levels: &mut Buffer<u32>,
    ticket: &mut Buffer<u32>,
) -> gpu_core::Result<()> {
    stream.memset(&mut *ticket, 0)?;
    let launch = walking(shape, threads).shared(levels::shared_bytes(shape.chunk, threads));
    // SAFETY: the matrix was found to be that triangle, so that rows wait for earlier ones alone; there is a level for
    // each.
    unsafe { stream.launch::<levels::sparse_levels>(launch, (a.offsets, a.indices, levels, ticket, shape)) }
}

/// Enqueues the counts of `numbers`, at least one; those that are not less than there are counts, at least one, are
/// counted with the largest.
pub(crate) fn count(
    stream: &Stream,
    numbers: View<'_, u32>,
    counts: ViewMut<'_, u32>,
) -> gpu_core::Result<()> {
    let mut counts = counts;
    stream.memset(counts.reborrow(), 0)?;
    let [len, most] = [numbers.len(), counts.len()].map(|len| len as u32);
    // SAFETY: the kernel counts in the elements there are, as it is told how many.
    unsafe { stream.launch::<convert::sparse_count>(linear(numbers.len()), (numbers, counts, len, most)) }
}

/// Enqueues the row of every entry, at least one, of a matrix that was checked.
pub(crate) fn rows_of_entries<T: Element>(
    stream: &Stream,
    a: &CsrView<'_, T>,
    rows: &mut Buffer<u32>,
) -> gpu_core::Result<()> {
    let entries = a.indices.len() as u32;
    let arguments = (a.offsets, rows, a.rows as u32, entries);
    let blocks = entries.div_ceil(convert::ROWS_TILE);
    let launch = LaunchConfig::linear(blocks, THREADS).shared(convert::ROWS_SHARED_BYTES);
    // SAFETY: there is an offset more than rows, and a row for each entry.
    unsafe { stream.launch::<convert::sparse_rows>(launch, arguments) }
}

/// Enqueues the keys of entries, at least one, with so many bits for the column, and looks for entries that are outside
/// of the matrix or do not ascend ([`convert::FOUND`]).
pub(crate) fn keys(
    stream: &Stream,
    (rows, columns): (View<'_, u32>, View<'_, u32>),
    (row_count, column_count, bits): (usize, usize, u32),
    keys: &mut Buffer<u64>,
    found: &mut Buffer<u32>,
) -> gpu_core::Result<()> {
    let len = rows.len();
    assert_eq!(found.len(), convert::FOUND as usize);
    let arguments = (rows, columns, keys, found, row_count as u32, column_count as u32, bits, len as u32);
    let launch = linear(len).shared(convert::KEYS_SHARED_BYTES);
    // SAFETY: there are as many rows, columns and keys, and the words that are found.
    unsafe { stream.launch::<convert::sparse_keys>(launch, arguments) }
}

/// Enqueues the heads of runs of equal keys, at least one key.
pub(crate) fn heads(stream: &Stream, keys: &Buffer<u64>, heads: &mut Buffer<u32>) -> gpu_core::Result<()> {
    let len = keys.len();
    // SAFETY: there is a head for each key.
    unsafe { stream.launch::<convert::sparse_heads>(linear(len), (keys, heads, len as u32)) }
}

/// Enqueues the sums of values of equal keys, at least one key, which have the column in so many bits; `places` are the
/// inclusive sums of their heads, the last of them the outputs' length.
pub(crate) fn add<T: Element>(
    stream: &Stream,
    (keys, bits): (&Buffer<u64>, u32),
    (order, places): (&Buffer<u32>, &Buffer<u32>),
    values: View<'_, T>,
    (rows, columns, sums): (&mut Buffer<u32>, &mut Buffer<u32>, &mut Buffer<T>),
) -> gpu_core::Result<()> {
    let len = keys.len();
    let arguments = (keys, order, places, values, rows, columns, sums, bits, len as u32);
    // SAFETY: the order is one of the values, and places are those of the outputs.
    unsafe { stream.launch::<T::Add>(linear(len), arguments) }
}

/// Enqueues rows and values of entries, at least one, in another order.
pub(crate) fn gather<T: Element>(
    stream: &Stream,
    order: &Buffer<u32>,
    rows: &Buffer<u32>,
    values: View<'_, T>,
    (rows_output, values_output): (&mut Buffer<u32>, &mut Buffer<T>),
) -> gpu_core::Result<()> {
    let len = order.len();
    let arguments = (order, rows, values, rows_output, values_output, len as u32);
    // SAFETY: all have as many elements, and the order is one of them.
    unsafe { stream.launch::<T::Gather>(linear(len), arguments) }
}

/// Enqueues values of entries, at least one, in another order.
pub(crate) fn gather_values<T: Element>(
    stream: &Stream,
    order: &Buffer<u32>,
    values: View<'_, T>,
    output: &mut Buffer<T>,
) -> gpu_core::Result<()> {
    let len = order.len();
    assert!(values.len() == len && output.len() == len);
    // The kernel moves rows with them: what it makes of these is not used.
    let mut rows = stream.device().alloc::<u32>(len)?;
    let arguments = (order, order, values, &mut rows, output, len as u32);
    // SAFETY: all have as many elements, and the order is one of them.
    unsafe { stream.launch::<T::Gather>(linear(len), arguments) }
}

/// How much each number of one launch's length is above `base`, and the first, if any, that is below or more than
/// `most` above.
pub(crate) fn narrow(
    wide: View<'_, u64>,
    mut narrow: ViewMut<'_, u32>,
    base: u64,
    most: u32,
) -> Result<Option<usize>, Error> {
    assert_eq!(wide.len(), narrow.len());
    if wide.is_empty() {
        return Ok(None);
    }
    let stream = wide.device().default_stream();
    let mut found = stream.device().upload(&[NONE])?;
    let arguments = (wide, narrow.reborrow(), &mut found, base, most, wide.len() as u32);
    // SAFETY: there are as many numbers of both.
    unsafe { stream.launch::<convert::sparse_narrow>(linear(wide.len()), arguments)? };
    place(&found)
}
