//! From one storage of a matrix to another.

use gpu_core::{Buffer, Stream, View};
use gpu_scan::Options;
use gpu_sort::{SortOptions, sort_indices};
use gpu_sparse_kernels::NONE;
use gpu_sparse_kernels::convert::FOUND;

use super::sums;
use crate::error::Error;
use crate::launch::{self, Element};
use crate::matrix::{Coo, CooView, Csr, CsrView, check, first_difference};
use crate::plan::transpose::{self as plan, Transposition};
use crate::reference;
use crate::tiles::launch::Listed;

/// The entries of a list as compressed rows, computed where they live: sorted by row and column, those in the same
/// place added in the order in which they stand. What is sorted, and has no place twice, is found to be, and copied.
/// Waits for it.
///
/// # Errors
/// [`Error::OutOfRange`] where an entry stands outside of the matrix; [`Error::Device`] where memory does not suffice
/// or a launch failed.
///
/// ```
/// use gpu_sparse::{Coo, compress};
/// let device = gpu_core::Device::best();
/// let entries = Coo::upload(&device, 2, 2, &[1, 0, 1], &[0, 1, 0], &[1.0, 2.0, 3.0])?;
/// let (offsets, columns, values) = compress(&entries)?.into_buffers();
/// assert_eq!(offsets.to_vec()?, [0, 1, 2]);
/// assert_eq!((columns.to_vec()?, values.to_vec()?), (vec![1, 0], vec![2.0, 4.0]));
/// # Ok::<(), gpu_sparse::Error>(())
/// ```
pub fn compress<'a, T: Element>(entries: impl Into<CooView<'a, T>>) -> Result<Csr<T>, Error> {
    let entries = entries.into();
    let (rows, columns, len) = (entries.rows, entries.columns, entries.entries());
    let device = entries.device();
    let stream = device.default_stream();
    let outside = |entry: usize, row: u32, column: u32| {
        let (row, column) = (row as usize, column as usize);
        Error::OutOfRange { entry, row, column, rows, columns }
    };
    if let (Some(row_indices), Some(column_indices), Some(values)) =
        (entries.row_indices.as_slice(), entries.column_indices.as_slice(), entries.values.as_slice())
    {
        let is_outside = |entry: &usize| {
            row_indices[*entry] as usize >= rows || column_indices[*entry] as usize >= columns
        };
        if let Some(entry) = (0..len).find(is_outside) {
            return Err(outside(entry, row_indices[entry], column_indices[entry]));
        }
        return uploaded(
            device,
            rows,
            columns,
            reference::compress(rows, row_indices, column_indices, values),
        );
    }
    if len == 0 {
        return uploaded(device, rows, columns, (vec![0; rows + 1], Vec::new(), Vec::new()));
    }
    // ---- in the order of their places
    let (mut keys, mut found) = (device.alloc(len)?, device.upload(&[NONE; FOUND as usize])?);
    let places = (entries.row_indices, entries.column_indices);
    let (row_bits, column_bits) = (index_bits(rows), index_bits(columns));
    launch::keys(&stream, places, (rows, columns, column_bits), &mut keys, &mut found)?;
    let [first, unsorted] = found.view().to_array()?;
    if first != NONE {
        let entry = first as usize;
        let [row] = entries.row_indices.slice(entry..entry + 1).to_array()?;
        let [column] = entries.column_indices.slice(entry..entry + 1).to_array()?;
        return Err(outside(entry, row, column));
    }
    if unsorted == NONE {
        let (mut indices, mut values) = (device.alloc(len)?, device.alloc(len)?);
        stream.copy(&mut indices, entries.column_indices)?;
        stream.copy(&mut values, entries.values)?;
        let offsets = offsets(&stream, entries.row_indices, rows)?;
        return Ok(Csr { rows, columns, offsets, indices, values });
    }
    // A sort by no bits at all is none.
    let bits = (row_bits + column_bits).max(1);
    let (keys, order) = sort_indices(&keys, SortOptions::ascending().by_bits(0..bits))?;
    // ---- one entry for each place
    let mut places = device.alloc(len)?;
    launch::heads(&stream, &keys, &mut places)?;
    sums(&stream, &mut places, Options::inclusive())?;
    let [kept] = places.slice(len - 1..).to_array()?.map(|kept| kept as usize);
    let (mut row_indices, mut indices) = (device.alloc(kept)?, device.alloc(kept)?);
    let mut values = device.alloc(kept)?;
    let outputs = (&mut row_indices, &mut indices, &mut values);
    launch::add(&stream, (&keys, column_bits), (&order, &places), entries.values, outputs)?;
    let offsets = offsets(&stream, row_indices.view(), rows)?;
    Ok(Csr { rows, columns, offsets, indices, values })
}

/// The entries of compressed rows as a list, computed where they live, in memory of its own: row after row, as they
/// stand. [`compress`] makes the same matrix of it, bit by bit.
///
/// # Errors
/// [`Error::Device`] where memory does not suffice or a launch failed.
///
/// ```
/// use gpu_sparse::{CsrView, expand};
/// let a = CsrView::new(3, 3, &[0, 2, 2, 3], &[0, 2, 1], &[1.0, 2.0, 3.0])?;
/// let (rows, columns, values) = expand(a)?.into_buffers();
/// assert_eq!((rows.to_vec()?, columns.to_vec()?), (vec![0, 0, 2], vec![0, 2, 1]));
/// assert_eq!(values.to_vec()?, [1.0, 2.0, 3.0]);
/// # Ok::<(), gpu_sparse::Error>(())
/// ```
pub fn expand<'a, T: Element>(matrix: impl Into<CsrView<'a, T>>) -> Result<Coo<T>, Error> {
    let matrix = matrix.into();
    let (device, len) = (matrix.device(), matrix.entries());
    let stream = device.default_stream();
    let row_indices = rows_of_entries(&stream, &matrix)?;
    let (mut column_indices, mut values) = (device.alloc(len)?, device.alloc(len)?);
    stream.copy(&mut column_indices, matrix.indices)?;
    stream.copy(&mut values, matrix.values)?;
    Ok(Coo { rows: matrix.rows, columns: matrix.columns, row_indices, column_indices, values })
}

/// What becomes of entries in the same place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Duplicates {
    /// They are added, in the order in which they stand.
    Added,
    /// They are refused: [`Error::Duplicate`].
    Refused,
}

/// The matrix of compressed rows whose columns are in any order: sorted where it lives, in memory of its own.
/// [`CsrView::new`] refuses such rows. Waits for it.
///
/// The arrays are those of a [`CsrView`], but for the order of the columns of a row.
///
/// # Errors
/// [`gpu_core::Error::LengthMismatch`] where there is not one offset more than rows, or not a value for each index,
/// [`gpu_core::Error::ExtentTooLarge`], [`Error::Offsets`], [`Error::OutOfRange`]; where duplicates are refused
/// [`Error::Duplicate`] with the first row that has one, and its least column that comes twice; [`Error::Device`] where
/// the arrays are on several devices, memory does not suffice or a launch failed.
///
/// ```
/// use gpu_sparse::{Duplicates, sort_rows};
/// let (offsets, columns, values) = ([0, 3], [2, 0, 2], [1.0, 2.0, 3.0]);
/// let sorted = sort_rows(1, 3, &offsets, &columns, &values, Duplicates::Added)?;
/// let (ends, ascending, sums) = sorted.into_buffers();
/// assert_eq!((ends.to_vec()?, ascending.to_vec()?), (vec![0, 2], vec![0, 2]));
/// assert_eq!(sums.to_vec()?, [2.0, 4.0]);
/// let error = sort_rows(1, 3, &offsets, &columns, &values, Duplicates::Refused).unwrap_err();
/// assert_eq!(error.to_string(), "row 0 has column 2 twice");
/// # Ok::<(), gpu_sparse::Error>(())
/// ```
pub fn sort_rows<'a, T: Element>(
    rows: usize,
    columns: usize,
    offsets: impl Into<View<'a, u32>>,
    indices: impl Into<View<'a, u32>>,
    values: impl Into<View<'a, T>>,
    duplicates: Duplicates,
) -> Result<Csr<T>, Error> {
    let (offsets, indices, values) = (offsets.into(), indices.into(), values.into());
    let unsorted = CsrView { rows, columns, offsets, indices, values };
    check::arrays(&unsorted)?;
    check::unsorted_entries(&unsorted)?;
    let row_indices = rows_of_entries(&unsorted.device().default_stream(), &unsorted)?;
    let sorted = compress(CooView {
        rows,
        columns,
        row_indices: row_indices.view(),
        column_indices: indices,
        values,
    })?;
    if duplicates == Duplicates::Refused && sorted.indices.len() < indices.len() {
        let place = first_difference(offsets, sorted.offsets.view())?;
        // The first offset is 0 in both. The row that ends at another one is the first that has fewer entries now.
        let row = place.expect("the last offset is another one") - 1;
        let [start, end] = offsets.slice(row..row + 2).to_array()?.map(|end| end as usize);
        let mut of_row = indices.try_slice(start..end)?.to_vec()?;
        of_row.sort_unstable();
        let pair = of_row.windows(2).find(|pair| pair[0] == pair[1]);
        let column = pair.expect("what the row has less came twice")[0] as usize;
        return Err(Error::Duplicate { row, column });
    }
    Ok(sorted)
}

/// The transposed matrix, computed where it lives, in memory of its own: of a symmetric structure the same structure,
/// else the compressed columns. Waits for it.
///
/// # Errors
/// [`gpu_core::Error::ExtentTooLarge`]; [`Error::Device`] where memory does not suffice or a launch failed.
///
/// ```
/// use gpu_sparse::{CsrView, transpose};
/// let a = CsrView::new(1, 3, &[0, 2], &[0, 2], &[1.0, 2.0])?;
/// let transposed = transpose(a)?;
/// assert_eq!((transposed.view().rows(), transposed.view().columns()), (3, 1));
/// let (offsets, columns, values) = transposed.into_buffers();
/// assert_eq!(offsets.to_vec()?, [0, 1, 1, 2]);
/// assert_eq!((columns.to_vec()?, values.to_vec()?), (vec![0, 0], vec![1.0, 2.0]));
/// # Ok::<(), gpu_sparse::Error>(())
/// ```
pub fn transpose<'a, T: Element>(matrix: impl Into<CsrView<'a, T>>) -> Result<Csr<T>, Error> {
    Ok(transpose_by(matrix, Transposition::Auto)?.0)
}

/// The same a way of choice, and which way it went: on the CPU, and of a matrix without entries, it is always
/// [`Sorted`](Transposition::Sorted). No bit of the matrix depends on it.
///
/// # Errors
/// Those of [`transpose`].
///
/// ```
/// use gpu_sparse::{Csr, Transposition, transpose_by};
/// let device = gpu_core::Device::simulator();
/// let a = Csr::upload(&device, 1, 3, &[0, 2], &[0, 2], &[1.0, 2.0])?;
/// let (transposed, way) = transpose_by(&a, Transposition::Tiles)?;
/// assert_eq!(way, Transposition::Tiles);
/// assert_eq!(transposed.into_buffers().0.to_vec()?, [0, 1, 1, 2]);
/// # Ok::<(), gpu_sparse::Error>(())
/// ```
pub fn transpose_by<'a, T: Element>(
    matrix: impl Into<CsrView<'a, T>>,
    way: Transposition,
) -> Result<(Csr<T>, Transposition), Error> {
    let matrix = matrix.into();
    let is_small = way == Transposition::Auto && matrix.entries() < plan::LEAST as usize;
    if way != Transposition::Sorted
        && !is_small
        && let Some(transposed) = transposed_by_tiles(&matrix, way)?
    {
        return Ok((transposed, Transposition::Tiles));
    }
    Ok((transposed_with_order(matrix)?.0, Transposition::Sorted))
}

/// The same by tiles, if there are entries on a device, and rows and columns have few enough. Where that is chosen by
/// itself, only what is fastest so: tiles with entries of few buckets.
fn transposed_by_tiles<T: Element>(
    matrix: &CsrView<'_, T>,
    way: Transposition,
) -> Result<Option<Csr<T>>, Error> {
    let (rows, columns, len) = (matrix.columns, matrix.rows, matrix.entries());
    let (row_count, entries) = crate::matrix::sizes(rows, len)?;
    if matrix.slices().is_some() || len == 0 {
        return Ok(None);
    }
    let device = matrix.device();
    let Some(tiles) = plan::tiles(matrix.rows as u32, row_count, entries) else {
        return Ok(None);
    };
    let is_forced = way == Transposition::Tiles;
    if !is_forced && !plan::is_short(tiles) {
        return Ok(None);
    }
    let stream = device.default_stream();
    let mut listed = Listed::new(&stream, tiles)?;
    if !is_forced {
        listed.sample(&stream, matrix, plan::stride(tiles))?;
    }
    // The launches read themselves what the sample found: the host waits once, for all of them.
    listed.list(&stream, matrix, if is_forced { u32::MAX } else { plan::most_pairs(tiles) })?;
    let mut offsets = device.alloc(rows + 1)?;
    let (mut indices, mut values) = (device.alloc(len)?, device.alloc(len)?);
    listed.transpose(&stream, matrix, (&mut offsets, &mut indices, &mut values))?;
    Ok(listed.is_even()?.then_some(Csr { rows, columns, offsets, indices, values }))
}

/// The same, and of each entry where it was; that is empty on the CPU.
pub(crate) fn transposed_with_order<T: Element>(
    matrix: CsrView<'_, T>,
) -> Result<(Csr<T>, Buffer<u32>), Error> {
    let (rows, columns, len) = (matrix.columns, matrix.rows, matrix.entries());
    crate::matrix::sizes(rows, len)?;
    let device = matrix.device();
    let stream = device.default_stream();
    if let Some((offsets, indices, values)) = matrix.slices() {
        let arrays = reference::transpose(rows, offsets, indices, values);
        return Ok((uploaded(device, rows, columns, arrays)?, device.alloc(0)?));
    }
    if len == 0 {
        let arrays = (vec![0; rows + 1], Vec::new(), Vec::new());
        return Ok((uploaded(device, rows, columns, arrays)?, device.alloc(0)?));
    }
    let row_of_entry = rows_of_entries(&stream, &matrix)?;
    let bits = index_bits(rows).max(1);
    let (column_of_entry, order) = sort_indices(matrix.indices, SortOptions::ascending().by_bits(0..bits))?;
    let (mut indices, mut values) = (device.alloc(len)?, device.alloc(len)?);
    launch::gather(&stream, &order, &row_of_entry, matrix.values, (&mut indices, &mut values))?;
    let offsets = offsets(&stream, column_of_entry.view(), rows)?;
    Ok((Csr { rows, columns, offsets, indices, values }, order))
}

/// The row of every entry.
fn rows_of_entries<T: Element>(stream: &Stream, matrix: &CsrView<'_, T>) -> Result<Buffer<u32>, Error> {
    if let Some(offsets) = matrix.offsets.as_slice() {
        return Ok(stream.device().upload(&reference::rows_of_entries(offsets))?);
    }
    let mut rows = stream.device().alloc(matrix.entries())?;
    if !rows.is_empty() {
        launch::rows_of_entries(stream, matrix, &mut rows)?;
    }
    Ok(rows)
}

/// Bits of the numbers below `count`.
fn index_bits(count: usize) -> u32 {
    usize::BITS - count.saturating_sub(1).leading_zeros()
}

/// Where each row starts, of the rows of entries.
fn offsets(stream: &Stream, rows: View<'_, u32>, count: usize) -> Result<Buffer<u32>, Error> {
    let mut offsets = stream.device().zeroed(count + 1)?;
    launch::count(stream, rows, offsets.slice_mut(..count))?;
    sums(stream, &mut offsets, Options::exclusive())?;
    Ok(offsets)
}

/// The matrix of arrays of the host that are one.
fn uploaded<T: Element>(
    device: &gpu_core::Device,
    rows: usize,
    columns: usize,
    (offsets, indices, values): (Vec<u32>, Vec<u32>, Vec<T>),
) -> Result<Csr<T>, Error> {
    let (offsets, indices) = (device.upload(&offsets)?, device.upload(&indices)?);
    Ok(Csr { rows, columns, offsets, indices, values: device.upload(&values)? })
}
