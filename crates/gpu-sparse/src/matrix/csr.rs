//! Compressed rows.

use gpu_core::{Buffer, Device, Resources, View, ViewMut, Visitor, checks};
use gpu_sparse_kernels::{NONE, spmv::SPAN};

use super::check;
use crate::error::Error;
use crate::launch::Element;

/// A matrix of compressed rows (CSR), borrowed: the entries of row `r` stand from `offsets[r]` to before
/// `offsets[r + 1]` of `indices`, their columns, and `values`. The columns of a row ascend, and none comes twice.
///
/// Copying it copies the addresses. Offsets and indices have 32 bits: rows and entries together are less than 2^32 −
/// 2048; [`Wide`](crate::Wide) is one whose offsets have 64.
#[derive(Clone, Copy, Debug)]
pub struct CsrView<'a, T: Element> {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) offsets: View<'a, u32>,
    pub(crate) indices: View<'a, u32>,
    pub(crate) values: View<'a, T>,
}

impl<'a, T: Element> CsrView<'a, T> {
    /// The `rows` × `columns` matrix in these arrays, once they are found to be one: where they live, a thread a row.
    /// Waits for that.
    ///
    /// # Errors
    /// [`gpu_core::Error::LengthMismatch`] where there is not one offset more than rows, or not a value for each index,
    /// [`gpu_core::Error::ExtentTooLarge`], [`Error::Offsets`], [`Error::OutOfRange`]; [`Error::Unsorted`] and
    /// [`Error::Duplicate`] of rows that [`sort_rows`](crate::sort_rows) takes; [`Error::Device`] where the arrays are
    /// on several devices or where the launch failed.
    ///
    /// ```
    /// use gpu_sparse::CsrView;
    /// let a = CsrView::new(2, 3, &[0, 2, 3], &[0, 2, 1], &[1.0, 2.0, 3.0])?;
    /// assert_eq!((a.rows(), a.columns(), a.entries()), (2, 3, 3));
    /// assert!(CsrView::new(2, 3, &[0, 2, 3], &[2, 0, 1], &[1.0, 2.0, 3.0]).is_err());
    /// # Ok::<(), gpu_sparse::Error>(())
    /// ```
    pub fn new(
        rows: usize,
        columns: usize,
        offsets: impl Into<View<'a, u32>>,
        indices: impl Into<View<'a, u32>>,
        values: impl Into<View<'a, T>>,
    ) -> Result<Self, Error> {
        let matrix =
            Self { rows, columns, offsets: offsets.into(), indices: indices.into(), values: values.into() };
        check::arrays(&matrix)?;
        check::entries(&matrix)?;
        Ok(matrix)
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
        self.indices.len()
    }

    /// Where it lives.
    pub fn device(&self) -> &'a Device {
        self.offsets.device()
    }

    /// Where each row starts, and where the last ends.
    pub fn offsets(&self) -> View<'a, u32> {
        self.offsets
    }

    /// The entries' columns.
    pub fn indices(&self) -> View<'a, u32> {
        self.indices
    }

    /// The entries' values.
    pub fn values(&self) -> View<'a, T> {
        self.values
    }

    /// The same structure with other values.
    ///
    /// # Errors
    /// [`gpu_core::Error::LengthMismatch`] where there is not a value for each index; [`Error::Device`] where they live
    /// elsewhere.
    ///
    /// ```
    /// use gpu_sparse::CsrView;
    /// let a = CsrView::new(1, 1, &[0, 1], &[0], &[1.0f32])?;
    /// assert_eq!(a.with_values(&[2.0f32])?.values().as_slice(), Some(&[2.0][..]));
    /// # Ok::<(), gpu_sparse::Error>(())
    /// ```
    pub fn with_values<'b, U: Element>(&self, values: impl Into<View<'b, U>>) -> Result<CsrView<'b, U>, Error>
    where
        'a: 'b,
    {
        let Self { rows, columns, offsets, indices, .. } = *self;
        let matrix = CsrView { rows, columns, offsets, indices, values: values.into() };
        check::arrays(&matrix)?;
        Ok(matrix)
    }

    /// Refuses an output in memory of its own.
    pub(crate) fn expect_apart(&self, output: &ViewMut<'_, T>) -> Result<(), Error> {
        output.expect_apart("A", &self.values)?;
        output.expect_apart("A's offsets", &self.offsets)?;
        Ok(output.expect_apart("A's indices", &self.indices)?)
    }

    /// Its arrays, on the CPU.
    pub(crate) fn slices(&self) -> Option<(&'a [u32], &'a [u32], &'a [T])> {
        Some((self.offsets.as_slice()?, self.indices.as_slice()?, self.values.as_slice()?))
    }
}

/// Refuses more rows or columns than the kernels count.
pub(crate) fn extents(rows: usize, columns: usize) -> Result<(), Error> {
    let limit = NONE as usize - 1;
    checks::extent("the number of rows", rows, limit)?;
    Ok(checks::extent("the number of columns", columns, limit)?)
}

/// The most rows and entries together.
pub(super) const LARGEST: usize = (u32::MAX - SPAN) as usize;

/// Rows and entries, as the kernels take them.
pub(crate) fn sizes(rows: usize, entries: usize) -> Result<(u32, u32), Error> {
    checks::extent("the number of rows and entries", rows.saturating_add(entries), LARGEST)?;
    Ok((rows as u32, entries as u32))
}

/// A matrix of compressed rows (CSR) that owns its memory; see [`CsrView`].
#[derive(Debug)]
pub struct Csr<T: Element> {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) offsets: Buffer<u32>,
    pub(crate) indices: Buffer<u32>,
    pub(crate) values: Buffer<T>,
}

impl<T: Element> Csr<T> {
    /// The matrix in these buffers, once they are found to be one.
    ///
    /// # Errors
    /// Those of [`CsrView::new`].
    pub fn new(
        rows: usize,
        columns: usize,
        offsets: Buffer<u32>,
        indices: Buffer<u32>,
        values: Buffer<T>,
    ) -> Result<Self, Error> {
        CsrView::new(rows, columns, &offsets, &indices, &values)?;
        Ok(Self { rows, columns, offsets, indices, values })
    }

    /// A matrix on `device` of arrays of the host.
    ///
    /// # Errors
    /// Those of [`CsrView::new`]; [`Error::Device`] where the device's memory does not suffice.
    ///
    /// ```
    /// use gpu_sparse::Csr;
    /// let device = gpu_core::Device::best();
    /// let a = Csr::upload(&device, 2, 2, &[0, 1, 3], &[0, 0, 1], &[2.0, 1.0, 4.0])?;
    /// assert_eq!(a.view().entries(), 3);
    /// # Ok::<(), gpu_sparse::Error>(())
    /// ```
    pub fn upload(
        device: &Device,
        rows: usize,
        columns: usize,
        offsets: &[u32],
        indices: &[u32],
        values: &[T],
    ) -> Result<Self, Error> {
        CsrView::new(rows, columns, offsets, indices, values)?;
        let (offsets, indices) = (device.upload(offsets)?, device.upload(indices)?);
        Ok(Self { rows, columns, offsets, indices, values: device.upload(values)? })
    }

    /// The matrix, borrowed.
    pub fn view(&self) -> CsrView<'_, T> {
        let Self { rows, columns, offsets, indices, values } = self;
        CsrView {
            rows: *rows,
            columns: *columns,
            offsets: offsets.view(),
            indices: indices.view(),
            values: values.view(),
        }
    }

    /// Its values, to be changed; the structure stays.
    pub fn values_mut(&mut self) -> ViewMut<'_, T> {
        self.values.view_mut()
    }

    /// Offsets, indices and values.
    pub fn into_buffers(self) -> (Buffer<u32>, Buffer<u32>, Buffer<T>) {
        (self.offsets, self.indices, self.values)
    }
}

impl<'a, T: Element> From<&'a Csr<T>> for CsrView<'a, T> {
    fn from(matrix: &'a Csr<T>) -> Self {
        matrix.view()
    }
}

// SAFETY: it owns its memory.
unsafe impl<T: Element> Resources for Csr<T> {
    fn visit(&self, visitor: &mut Visitor<'_>) {
        let Self { offsets, indices, values, .. } = self;
        visitor.buffer(offsets);
        visitor.buffer(indices);
        visitor.buffer(values);
    }
}
