//! Entries in any order.

use gpu_core::{Buffer, Device, View, checks};

use super::{extents, sizes};
use crate::error::Error;
use crate::launch::Element;

/// A matrix as a list of entries (COO), borrowed: row, column and value of each, in any order. What stands several
/// times in one place is meant to be added.
#[derive(Clone, Copy, Debug)]
pub struct CooView<'a, T: Element> {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) row_indices: View<'a, u32>,
    pub(crate) column_indices: View<'a, u32>,
    pub(crate) values: View<'a, T>,
}

impl<'a, T: Element> CooView<'a, T> {
    /// The `rows` × `columns` matrix of the entries in these arrays. Whether they stand in the matrix is seen when it
    /// is converted; until then nothing uses them.
    ///
    /// # Errors
    /// [`gpu_core::Error::LengthMismatch`] where there are not as many rows and values as columns,
    /// [`gpu_core::Error::ExtentTooLarge`]; [`Error::Device`] where the arrays are on several devices.
    ///
    /// ```
    /// use gpu_sparse::{CooView, compress};
    /// let entries = CooView::new(2, 2, &[1, 0, 1], &[1, 0, 0], &[4.0, 2.0, 1.0])?;
    /// assert_eq!((entries.rows(), entries.columns(), entries.entries()), (2, 2, 3));
    /// let (_, columns, values) = compress(entries)?.into_buffers();
    /// assert_eq!((columns.to_vec()?, values.to_vec()?), (vec![0, 0, 1], vec![2.0, 1.0, 4.0]));
    /// # Ok::<(), gpu_sparse::Error>(())
    /// ```
    pub fn new(
        rows: usize,
        columns: usize,
        row_indices: impl Into<View<'a, u32>>,
        column_indices: impl Into<View<'a, u32>>,
        values: impl Into<View<'a, T>>,
    ) -> Result<Self, Error> {
        let (row_indices, column_indices, values) =
            (row_indices.into(), column_indices.into(), values.into());
        extents(rows, columns)?;
        sizes(rows, column_indices.len())?;
        let expected = column_indices.len();
        checks::length("row indices of a matrix", expected, row_indices.len())?;
        checks::length("values of a matrix", expected, values.len())?;
        let stream = column_indices.device().default_stream();
        stream.expect("row indices of a matrix", row_indices.device())?;
        stream.expect("values of a matrix", values.device())?;
        Ok(Self { rows, columns, row_indices, column_indices, values })
    }

    /// Rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Entries, those in the same place counted each.
    pub fn entries(&self) -> usize {
        self.values.len()
    }

    /// Where it lives.
    pub fn device(&self) -> &'a Device {
        self.values.device()
    }

    /// The entries' rows.
    pub fn row_indices(&self) -> View<'a, u32> {
        self.row_indices
    }

    /// The entries' columns.
    pub fn column_indices(&self) -> View<'a, u32> {
        self.column_indices
    }

    /// The entries' values.
    pub fn values(&self) -> View<'a, T> {
        self.values
    }
}

/// A matrix as a list of entries (COO) that owns its memory; see [`CooView`].
#[derive(Debug)]
pub struct Coo<T: Element> {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) row_indices: Buffer<u32>,
    pub(crate) column_indices: Buffer<u32>,
    pub(crate) values: Buffer<T>,
}

impl<T: Element> Coo<T> {
    /// The `rows` × `columns` matrix of the entries in these buffers. Whether they stand in the matrix is seen when it
    /// is converted; until then nothing uses them.
    ///
    /// # Errors
    /// Those of [`CooView::new`].
    pub fn new(
        rows: usize,
        columns: usize,
        row_indices: Buffer<u32>,
        column_indices: Buffer<u32>,
        values: Buffer<T>,
    ) -> Result<Self, Error> {
        CooView::new(rows, columns, &row_indices, &column_indices, &values)?;
        Ok(Self { rows, columns, row_indices, column_indices, values })
    }

    /// A matrix on `device` of arrays of the host.
    ///
    /// # Errors
    /// Those of [`Coo::new`], [`Error::OutOfRange`]; [`Error::Device`] where the device's memory does not suffice.
    ///
    /// ```
    /// use gpu_sparse::Coo;
    /// let device = gpu_core::Device::best();
    /// let a = Coo::upload(&device, 2, 2, &[1, 0, 1], &[1, 0, 1], &[1.0, 2.0, 3.0])?;
    /// assert_eq!(a.entries(), 3);
    /// # Ok::<(), gpu_sparse::Error>(())
    /// ```
    pub fn upload(
        device: &Device,
        rows: usize,
        columns: usize,
        row_indices: &[u32],
        column_indices: &[u32],
        values: &[T],
    ) -> Result<Self, Error> {
        let outside = |(&row, &column): (&u32, &u32)| row as usize >= rows || column as usize >= columns;
        if let Some(entry) = row_indices.iter().zip(column_indices).position(outside) {
            let (row, column) = (row_indices[entry] as usize, column_indices[entry] as usize);
            return Err(Error::OutOfRange { entry, row, column, rows, columns });
        }
        let (row_indices, column_indices) = (device.upload(row_indices)?, device.upload(column_indices)?);
        Self::new(rows, columns, row_indices, column_indices, device.upload(values)?)
    }

    /// Rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Entries, those in the same place counted each.
    pub fn entries(&self) -> usize {
        self.values.len()
    }

    /// Where it lives.
    pub fn device(&self) -> &Device {
        self.values.device()
    }

    /// The matrix, borrowed.
    pub fn view(&self) -> CooView<'_, T> {
        let Self { rows, columns, row_indices, column_indices, values } = self;
        CooView {
            rows: *rows,
            columns: *columns,
            row_indices: row_indices.view(),
            column_indices: column_indices.view(),
            values: values.view(),
        }
    }

    /// Rows, columns and values of the entries.
    pub fn into_buffers(self) -> (Buffer<u32>, Buffer<u32>, Buffer<T>) {
        (self.row_indices, self.column_indices, self.values)
    }
}

impl<'a, T: Element> From<&'a Coo<T>> for CooView<'a, T> {
    fn from(matrix: &'a Coo<T>) -> Self {
        matrix.view()
    }
}
