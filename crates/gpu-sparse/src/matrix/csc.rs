//! Compressed columns.

use gpu_core::{Buffer, Device, Resources, View, Visitor};

use super::{Csr, CsrView};
use crate::api::transpose;
use crate::error::Error;
use crate::launch::Element;

/// A matrix of compressed columns (CSC), borrowed: the entries of column `c` stand from `offsets[c]` to before
/// `offsets[c + 1]` of `indices`, their rows, and `values`. The rows of a column ascend, and none comes twice.
///
/// It is kept as what it also is, its transposed matrix of compressed rows. With [`CscView::transposed`],
/// `Spmv::transposed` and `Analysis::transposed` compute with the matrix itself, `Spmv::new` and `Analysis::new` with
/// the transposed one.
#[derive(Clone, Copy, Debug)]
pub struct CscView<'a, T: Element> {
    transposed: CsrView<'a, T>,
}

impl<'a, T: Element> CscView<'a, T> {
    /// The `rows` × `columns` matrix in these arrays, once they are found to be one: where they live, a thread a
    /// column. Waits for that.
    ///
    /// # Errors
    /// Those of [`CsrView::new`] of the transposed matrix: what they call rows are columns.
    ///
    /// ```
    /// use gpu_sparse::{CscView, Spmv};
    /// let a = CscView::new(3, 2, &[0, 2, 3], &[0, 2, 1], &[1.0, 2.0, 3.0])?;
    /// assert_eq!((a.rows(), a.columns(), a.entries()), (3, 2, 3));
    /// let mut y = [0.0; 3];
    /// Spmv::transposed(a.transposed())?.run(&a.device().default_stream(), 1.0, &[1.0, 10.0], 0.0, &mut y)?;
    /// assert_eq!(y, [1.0, 30.0, 2.0]);
    /// # Ok::<(), gpu_sparse::Error>(())
    /// ```
    pub fn new(
        rows: usize,
        columns: usize,
        offsets: impl Into<View<'a, u32>>,
        indices: impl Into<View<'a, u32>>,
        values: impl Into<View<'a, T>>,
    ) -> Result<Self, Error> {
        Ok(Self { transposed: CsrView::new(columns, rows, offsets, indices, values)? })
    }

    /// The matrix whose transposed one is given: its columns are those rows.
    pub fn of_transposed(transposed: impl Into<CsrView<'a, T>>) -> Self {
        Self { transposed: transposed.into() }
    }

    /// Rows.
    #[expect(clippy::misnamed_getters, reason = "they are the columns of the transposed matrix")]
    pub fn rows(&self) -> usize {
        self.transposed.columns
    }

    /// Columns.
    #[expect(clippy::misnamed_getters, reason = "they are the rows of the transposed matrix")]
    pub fn columns(&self) -> usize {
        self.transposed.rows
    }

    /// Entries that are stored.
    pub fn entries(&self) -> usize {
        self.transposed.entries()
    }

    /// Where it lives.
    pub fn device(&self) -> &'a Device {
        self.transposed.device()
    }

    /// The transposed matrix, of compressed rows.
    pub fn transposed(&self) -> CsrView<'a, T> {
        self.transposed
    }

    /// The matrix as compressed rows, computed where it lives, in memory of its own. Waits for it.
    ///
    /// # Errors
    /// [`gpu_core::Error::ExtentTooLarge`]; [`Error::Device`] where memory does not suffice or a launch failed.
    pub fn to_csr(&self) -> Result<Csr<T>, Error> {
        transpose(self.transposed)
    }
}

/// A matrix of compressed columns (CSC) that owns its memory; see [`CscView`].
#[derive(Debug)]
pub struct Csc<T: Element> {
    transposed: Csr<T>,
}

impl<T: Element> Csc<T> {
    /// The `rows` × `columns` matrix in these buffers, once they are found to be one.
    ///
    /// # Errors
    /// Those of [`CscView::new`].
    ///
    /// ```
    /// use gpu_sparse::Csc;
    /// let device = gpu_core::Device::cpu();
    /// let (offsets, indices) = (device.upload(&[0, 2, 3])?, device.upload(&[0, 2, 1])?);
    /// let a = Csc::new(3, 2, offsets, indices, device.upload(&[1.0, 2.0, 3.0])?)?;
    /// assert_eq!((a.rows(), a.columns()), (3, 2));
    /// # Ok::<(), gpu_sparse::Error>(())
    /// ```
    pub fn new(
        rows: usize,
        columns: usize,
        offsets: Buffer<u32>,
        indices: Buffer<u32>,
        values: Buffer<T>,
    ) -> Result<Self, Error> {
        Ok(Self { transposed: Csr::new(columns, rows, offsets, indices, values)? })
    }

    /// The matrix whose transposed one is given: its columns are those rows.
    ///
    /// ```
    /// use gpu_sparse::{Csc, Csr};
    /// let columns = Csr::upload(&gpu_core::Device::cpu(), 3, 2, &[0, 1, 1, 2], &[1, 0], &[1.0, 2.0])?;
    /// let a = Csc::of_transposed(columns);
    /// assert_eq!((a.rows(), a.columns()), (2, 3));
    /// # Ok::<(), gpu_sparse::Error>(())
    /// ```
    pub fn of_transposed(transposed: Csr<T>) -> Self {
        Self { transposed }
    }

    /// A matrix of compressed rows as one of compressed columns, computed where it lives. Waits for it.
    ///
    /// # Errors
    /// [`gpu_core::Error::ExtentTooLarge`]; [`Error::Device`] where memory does not suffice or a launch failed.
    ///
    /// ```
    /// use gpu_sparse::{Csc, Csr};
    /// let a = Csr::upload(&gpu_core::Device::simulator(), 1, 2, &[0, 2], &[0, 1], &[1.0, 2.0])?;
    /// let columns = Csc::from_csr(&a)?;
    /// assert_eq!((columns.rows(), columns.columns()), (1, 2));
    /// let (_, _, values) = columns.view().to_csr()?.into_buffers();
    /// assert_eq!(values.to_vec()?, [1.0, 2.0]);
    /// # Ok::<(), gpu_sparse::Error>(())
    /// ```
    pub fn from_csr<'a>(matrix: impl Into<CsrView<'a, T>>) -> Result<Self, Error> {
        Ok(Self { transposed: transpose(matrix)? })
    }

    /// The matrix, borrowed.
    pub fn view(&self) -> CscView<'_, T> {
        CscView { transposed: self.transposed.view() }
    }

    /// Rows.
    #[expect(clippy::misnamed_getters, reason = "they are the columns of the transposed matrix")]
    pub fn rows(&self) -> usize {
        self.transposed.columns
    }

    /// Columns.
    #[expect(clippy::misnamed_getters, reason = "they are the rows of the transposed matrix")]
    pub fn columns(&self) -> usize {
        self.transposed.rows
    }

    /// The transposed matrix, of compressed rows.
    pub fn transposed(&self) -> CsrView<'_, T> {
        self.transposed.view()
    }

    /// The same, with its memory.
    pub fn into_transposed(self) -> Csr<T> {
        self.transposed
    }
}

impl<'a, T: Element> From<&'a Csc<T>> for CscView<'a, T> {
    fn from(matrix: &'a Csc<T>) -> Self {
        matrix.view()
    }
}

// SAFETY: it owns its memory.
unsafe impl<T: Element> Resources for Csc<T> {
    fn visit(&self, visitor: &mut Visitor<'_>) {
        self.transposed.visit(visitor);
    }
}
