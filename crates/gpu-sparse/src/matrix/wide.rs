//! Matrices of more entries than 32 bits count.

use gpu_core::{Buffer, Device, Resources, View, Visitor, checks};

use super::csr::LARGEST;
use super::{CsrView, check, extents};
use crate::error::Error;
use crate::launch::{self, Element};

/// Numbers that one launch narrows.
const LAUNCH: usize = 1 << 30;

/// A matrix of compressed rows, borrowed, whose offsets have 64 bits; see [`CsrView`]. Columns have 32.
///
/// cuSPARSE takes 64-bit offsets with 64-bit or with 32-bit columns. Here it is the latter: a device's memory holds
/// more than 2^32 entries, at 12 bytes each, but hardly a vector of 2^32 elements, and columns of 64 bits would add a
/// third to the bytes of each entry, which is what products wait for. Columns that come with 64 bits are narrowed once
/// ([`narrow_indices`]).
///
/// It is cut into panels of rows whose offsets 32 bits hold, mostly a single one: the offsets of each are narrowed when
/// it is made, so that all kernels are those of [`CsrView`], with their bits and their speed. Of one panel,
/// [`Wide::narrow`] is the whole matrix, for all that takes one; products go over all panels
/// ([`WideSpmv`](crate::WideSpmv)).
#[derive(Debug)]
pub struct Wide<'a, T: Element> {
    rows: usize,
    columns: usize,
    panels: Vec<Panel<'a, T>>,
}

#[derive(Debug)]
struct Panel<'a, T: Element> {
    first: usize,
    rows: usize,
    offsets: Buffer<u32>,
    indices: View<'a, u32>,
    values: View<'a, T>,
}

impl<'a, T: Element> Wide<'a, T> {
    /// The `rows` × `columns` matrix in these arrays, once they are found to be one: where they live, a thread a row.
    /// Waits for that.
    ///
    /// # Errors
    /// Those of [`CsrView::new`]; [`gpu_core::Error::ExtentTooLarge`] where a row has more entries than a panel.
    ///
    /// ```
    /// use gpu_sparse::Wide;
    /// let a = Wide::new(2, 3, &[0u64, 2, 3], &[0, 2, 1], &[1.0, 2.0, 3.0])?;
    /// assert_eq!((a.rows(), a.columns(), a.entries()), (2, 3, 3));
    /// assert_eq!(a.narrow().map(|a| a.entries()), Some(3));
    /// # Ok::<(), gpu_sparse::Error>(())
    /// ```
    pub fn new(
        rows: usize,
        columns: usize,
        offsets: impl Into<View<'a, u64>>,
        indices: impl Into<View<'a, u32>>,
        values: impl Into<View<'a, T>>,
    ) -> Result<Self, Error> {
        Self::in_panels(rows, columns, offsets, indices, values, LARGEST)
    }

    /// The same in panels of at most so many rows and entries together.
    ///
    /// # Errors
    /// Those of [`Wide::new`]; [`gpu_core::Error::ExtentTooLarge`] also where `limit` is more than panels can have.
    pub fn in_panels(
        rows: usize,
        columns: usize,
        offsets: impl Into<View<'a, u64>>,
        indices: impl Into<View<'a, u32>>,
        values: impl Into<View<'a, T>>,
        limit: usize,
    ) -> Result<Self, Error> {
        cut(rows, columns, offsets.into(), indices.into(), values.into(), limit, true)
    }

    /// Rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Entries that are stored.
    pub fn entries(&self) -> usize {
        self.panels.iter().map(|panel| panel.values.len()).sum()
    }

    /// Where it lives.
    pub fn device(&self) -> &'a Device {
        self.panels[0].values.device()
    }

    /// The panels: the first row of each, and its rows.
    ///
    /// ```
    /// use gpu_sparse::Wide;
    /// let a = Wide::in_panels(2, 3, &[0u64, 2, 3], &[0, 2, 1], &[1.0, 2.0, 3.0], 3)?;
    /// let panels: Vec<_> = a.panels().map(|(row, panel)| (row, panel.rows(), panel.entries())).collect();
    /// assert_eq!(panels, [(0, 1, 2), (1, 1, 1)]);
    /// # Ok::<(), gpu_sparse::Error>(())
    /// ```
    pub fn panels(&self) -> impl Iterator<Item = (usize, CsrView<'_, T>)> {
        self.panels.iter().map(|panel| {
            let Panel { first, rows, offsets, indices, values } = panel;
            let offsets = offsets.view();
            let view =
                CsrView { rows: *rows, columns: self.columns, offsets, indices: *indices, values: *values };
            (*first, view)
        })
    }

    /// The whole matrix, if it is one panel.
    pub fn narrow(&self) -> Option<CsrView<'_, T>> {
        if self.panels.len() == 1 { self.panels().next().map(|(_, view)| view) } else { None }
    }
}

/// The matrix in these arrays, in panels of at most so many rows and entries together; whether offsets ascend within
/// them, and columns are sound, is looked at where that is wanted.
pub(super) fn cut<'a, T: Element>(
    rows: usize,
    columns: usize,
    offsets: View<'a, u64>,
    indices: View<'a, u32>,
    values: View<'a, T>,
    limit: usize,
    is_checked: bool,
) -> Result<Wide<'a, T>, Error> {
    extents(rows, columns)?;
    checks::extent("the number of rows and entries of a panel", limit, LARGEST)?;
    let entries = indices.len();
    checks::length("offsets of a matrix", rows + 1, offsets.len())?;
    checks::length("values of a matrix", entries, values.len())?;
    let stream = offsets.device().default_stream();
    stream.expect("indices of a matrix", indices.device())?;
    stream.expect("values of a matrix", values.device())?;
    let (start, end) = (at(offsets, 0)?, at(offsets, rows)?);
    if start != 0 || end != entries {
        let row = if start != 0 { 0 } else { rows.saturating_sub(1) };
        return Err(Error::Offsets { row, start, end, entries });
    }
    let (mut panels, mut first, mut base) = (Vec::new(), 0, 0);
    while first < rows || panels.is_empty() {
        // The last row whose end is within the limit: if offsets do not ascend, that is found below.
        let (mut low, mut high) = (first, rows.min(first.saturating_add(limit)));
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            let entries = at(offsets, middle)?.saturating_sub(base);
            if entries.saturating_add(middle - first) <= limit {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        if low == first && rows > 0 {
            let actual = at(offsets, first + 1)?.saturating_sub(base).saturating_add(1);
            return Err(
                gpu_core::Error::ExtentTooLarge { what: "a row with its entries", actual, limit }.into()
            );
        }
        let end = at(offsets, low)?;
        let panel = panel(offsets, indices, values, (first, low), (base, end))?;
        if is_checked {
            check_panel(&panel, (rows, columns), (base, entries))?;
        }
        panels.push(panel);
        (first, base) = (low, end);
    }
    Ok(Wide { rows, columns, panels })
}

/// Rows from `first` to `last`, which have the entries from `base` to `end`.
fn panel<'a, T: Element>(
    offsets: View<'a, u64>,
    indices: View<'a, u32>,
    values: View<'a, T>,
    (first, last): (usize, usize),
    (base, end): (usize, usize),
) -> Result<Panel<'a, T>, Error> {
    let entries = indices.len();
    let of_rows = offsets.slice(first..last + 1);
    let outside = |place: usize| -> Result<Error, Error> {
        let row = (first + place).saturating_sub(1);
        Ok(Error::Offsets { row, start: at(offsets, row)?, end: at(offsets, row + 1)?, entries })
    };
    if end < base || end > entries {
        return Err(outside(last - first)?);
    }
    let mut narrowed = offsets.device().alloc(of_rows.len())?;
    if let Some(place) = narrow(of_rows, &mut narrowed, base as u64, (end - base) as u32)? {
        return Err(outside(place)?);
    }
    let (indices, values) = (indices.slice(base..end), values.slice(base..end));
    Ok(Panel { first, rows: last - first, offsets: narrowed, indices, values })
}

/// Refuses a panel of a matrix of such a shape, and of so many entries from `base` on, whose rows are none.
fn check_panel<T: Element>(
    panel: &Panel<'_, T>,
    (rows, columns): (usize, usize),
    (base, entries): (usize, usize),
) -> Result<(), Error> {
    let Panel { first, rows: of_panel, offsets, indices, values } = panel;
    let (offsets, indices, values) = (offsets.view(), *indices, *values);
    let view = CsrView { rows: *of_panel, columns, offsets, indices, values };
    check::entries(&view).map_err(|error| match error {
        Error::Offsets { row, start, end, .. } => {
            Error::Offsets { row: first + row, start: base + start, end: base + end, entries }
        }
        Error::OutOfRange { entry, row, column, rows: _, columns } => {
            Error::OutOfRange { entry: base + entry, row: first + row, column, rows, columns }
        }
        Error::Unsorted { row, before, column } => Error::Unsorted { row: first + row, before, column },
        Error::Duplicate { row, column } => Error::Duplicate { row: first + row, column },
        error => error,
    })
}

/// Columns of 64 bits as 32, in a buffer of their own where they live. Waits for it.
///
/// # Errors
/// [`gpu_core::Error::ExtentTooLarge`] of the first that 32 bits do not hold; [`Error::Device`] where memory does not
/// suffice or a launch failed.
///
/// ```
/// use gpu_sparse::{Wide, narrow_indices};
/// let columns = narrow_indices(&[0u64, 2, 1])?;
/// assert_eq!(Wide::new(2, 3, &[0u64, 2, 3], &columns, &[1.0, 2.0, 3.0])?.entries(), 3);
/// assert!(narrow_indices(&[1u64 << 32]).is_err());
/// # Ok::<(), gpu_sparse::Error>(())
/// ```
pub fn narrow_indices<'a>(indices: impl Into<View<'a, u64>>) -> Result<Buffer<u32>, Error> {
    let indices = indices.into();
    let mut output = indices.device().alloc(indices.len())?;
    let most = u32::MAX - 1;
    match narrow(indices, &mut output, 0, most)? {
        None => Ok(output),
        Some(place) => {
            let (what, actual, limit) = ("a column", at(indices, place)?, most as usize);
            Err(gpu_core::Error::ExtentTooLarge { what, actual, limit }.into())
        }
    }
}

/// What each number is above `base`, and the first, if any, that is below or more than `most` above.
fn narrow(
    wide: View<'_, u64>,
    output: &mut Buffer<u32>,
    base: u64,
    most: u32,
) -> Result<Option<usize>, Error> {
    if let (Some(wide), Some(output)) = (wide.as_slice(), output.view_mut().as_mut_slice()) {
        let mut outside = None;
        for (place, (&wide, output)) in wide.iter().zip(output).enumerate() {
            let above = wide.wrapping_sub(base);
            outside = outside.or((above > u64::from(most)).then_some(place));
            *output = above as u32;
        }
        return Ok(outside);
    }
    for first in (0..wide.len()).step_by(LAUNCH) {
        let last = wide.len().min(first + LAUNCH);
        let found = launch::narrow(wide.slice(first..last), output.slice_mut(first..last), base, most)?;
        if let Some(place) = found {
            return Ok(Some(first + place));
        }
    }
    Ok(None)
}

/// An element of an array on a device.
fn at(array: View<'_, u64>, index: usize) -> Result<usize, Error> {
    let [element] = array.try_slice(index..index + 1)?.to_array()?;
    Ok(element as usize)
}

// SAFETY: it owns the offsets of its panels; indices and values are named by whoever holds them.
unsafe impl<T: Element> Resources for Wide<'_, T> {
    fn visit(&self, visitor: &mut Visitor<'_>) {
        self.panels.iter().for_each(|panel| visitor.buffer(&panel.offsets));
    }
}
