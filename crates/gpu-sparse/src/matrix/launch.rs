//! Matrices that are taken as they are: the unsafe twins of the constructors that check.

use gpu_core::{Buffer, View};

use super::csr::LARGEST;
use super::wide::cut;
use super::{Csc, CscView, Csr, CsrView, Wide};
use crate::error::Error;
use crate::launch::Element;

impl<'a, T: Element> CsrView<'a, T> {
    /// The `rows` × `columns` matrix in these arrays, which are not looked at; see [`CsrView::new`].
    ///
    /// # Safety
    /// Offsets are one more than rows, the first is 0, none is less than the one before, the last is the number of
    /// indices and of values; each index is less than `columns`, and those of a row ascend strictly. The arrays are on
    /// one device, `rows` and entries together less than 2^32 − 2048, and `rows` and `columns` less than 2^32 − 1.
    ///
    /// ```
    /// use gpu_sparse::{CsrView, spmv};
    /// // SAFETY: two rows of one and two entries, whose columns ascend and are less than 2; all on the host.
    /// let a = unsafe { CsrView::new_unchecked(2, 2, &[0, 1, 3], &[0, 0, 1], &[2.0, 1.0, 4.0]) };
    /// assert_eq!(spmv(a, &[1.0, 10.0])?.to_vec()?, [2.0, 41.0]);
    /// # Ok::<(), gpu_sparse::Error>(())
    /// ```
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

impl<T: Element> Csr<T> {
    /// The `rows` × `columns` matrix in these buffers, which are not looked at; see [`Csr::new`].
    ///
    /// # Safety
    /// That of [`CsrView::new_unchecked`].
    ///
    /// ```
    /// use gpu_sparse::{Csr, spmv};
    /// let device = gpu_core::Device::simulator();
    /// let (offsets, indices) = (device.upload(&[0, 1, 3])?, device.upload(&[0, 0, 1])?);
    /// let values = device.upload(&[2.0, 1.0, 4.0])?;
    /// // SAFETY: two rows of one and two entries, whose columns ascend and are less than 2; all on one device.
    /// let a = unsafe { Csr::new_unchecked(2, 2, offsets, indices, values) };
    /// assert_eq!(spmv(&a, &device.upload(&[1.0, 10.0])?)?.to_vec()?, [2.0, 41.0]);
    /// # Ok::<(), gpu_sparse::Error>(())
    /// ```
    pub unsafe fn new_unchecked(
        rows: usize,
        columns: usize,
        offsets: Buffer<u32>,
        indices: Buffer<u32>,
        values: Buffer<T>,
    ) -> Self {
        Self { rows, columns, offsets, indices, values }
    }
}

impl<'a, T: Element> CscView<'a, T> {
    /// The `rows` × `columns` matrix in these arrays, which are not looked at; see [`CscView::new`].
    ///
    /// # Safety
    /// That of [`CsrView::new_unchecked`] of the transposed matrix: what it calls rows are columns.
    ///
    /// ```
    /// use gpu_sparse::CscView;
    /// // SAFETY: two columns of two and one entries, whose rows ascend and are less than 3; all on the host.
    /// let a = unsafe { CscView::new_unchecked(3, 2, &[0, 2, 3], &[0, 2, 1], &[1.0, 2.0, 3.0]) };
    /// assert_eq!(a.to_csr()?.into_buffers().2.to_vec()?, [1.0, 3.0, 2.0]);
    /// # Ok::<(), gpu_sparse::Error>(())
    /// ```
    pub unsafe fn new_unchecked(
        rows: usize,
        columns: usize,
        offsets: impl Into<View<'a, u32>>,
        indices: impl Into<View<'a, u32>>,
        values: impl Into<View<'a, T>>,
    ) -> Self {
        // SAFETY: the caller's promise.
        Self::of_transposed(unsafe { CsrView::new_unchecked(columns, rows, offsets, indices, values) })
    }
}

impl<T: Element> Csc<T> {
    /// The `rows` × `columns` matrix in these buffers, which are not looked at; see [`Csc::new`].
    ///
    /// # Safety
    /// That of [`CscView::new_unchecked`].
    ///
    /// ```
    /// use gpu_sparse::Csc;
    /// let device = gpu_core::Device::cpu();
    /// let (offsets, indices) = (device.upload(&[0, 2, 3])?, device.upload(&[0, 2, 1])?);
    /// let values = device.upload(&[1.0, 2.0, 3.0])?;
    /// // SAFETY: two columns of two and one entries, whose rows ascend and are less than 3; all on one device.
    /// let a = unsafe { Csc::new_unchecked(3, 2, offsets, indices, values) };
    /// assert_eq!((a.rows(), a.columns()), (3, 2));
    /// # Ok::<(), gpu_sparse::Error>(())
    /// ```
    pub unsafe fn new_unchecked(
        rows: usize,
        columns: usize,
        offsets: Buffer<u32>,
        indices: Buffer<u32>,
        values: Buffer<T>,
    ) -> Self {
        // SAFETY: the caller's promise.
        Self::of_transposed(unsafe { Csr::new_unchecked(columns, rows, offsets, indices, values) })
    }
}

impl<'a, T: Element> Wide<'a, T> {
    /// The `rows` × `columns` matrix in these arrays, whose columns are not looked at; see [`Wide::new`]. Offsets are
    /// narrowed, and waited for.
    ///
    /// # Safety
    /// No offset is less than the one before; each index is less than `columns`, and those of a row ascend strictly.
    ///
    /// # Errors
    /// [`gpu_core::Error::LengthMismatch`], [`gpu_core::Error::ExtentTooLarge`], and [`Error::Offsets`] where a panel
    /// does not start or end within the entries; [`Error::Device`] where the arrays are on several devices, memory does
    /// not suffice or a launch failed.
    ///
    /// ```
    /// use gpu_sparse::Wide;
    /// // SAFETY: two rows of two and one entries, whose columns ascend and are less than 3.
    /// let a = unsafe { Wide::new_unchecked(2, 3, &[0u64, 2, 3], &[0, 2, 1], &[1.0, 2.0, 3.0]) }?;
    /// assert_eq!((a.rows(), a.columns(), a.entries()), (2, 3, 3));
    /// # Ok::<(), gpu_sparse::Error>(())
    /// ```
    pub unsafe fn new_unchecked(
        rows: usize,
        columns: usize,
        offsets: impl Into<View<'a, u64>>,
        indices: impl Into<View<'a, u32>>,
        values: impl Into<View<'a, T>>,
    ) -> Result<Self, Error> {
        cut(rows, columns, offsets.into(), indices.into(), values.into(), LARGEST, false)
    }

    /// The same in panels of at most so many rows and entries together; see [`Wide::in_panels`].
    ///
    /// # Safety
    /// That of [`Wide::new_unchecked`].
    ///
    /// # Errors
    /// Those of [`Wide::new_unchecked`]; [`gpu_core::Error::ExtentTooLarge`] also where `limit` is more than panels can
    /// have.
    ///
    /// ```
    /// use gpu_sparse::Wide;
    /// // SAFETY: two rows of two and one entries, whose columns ascend and are less than 3.
    /// let a = unsafe { Wide::in_panels_unchecked(2, 3, &[0u64, 2, 3], &[0, 2, 1], &[1.0, 2.0, 3.0], 3) }?;
    /// assert_eq!(a.panels().count(), 2);
    /// # Ok::<(), gpu_sparse::Error>(())
    /// ```
    pub unsafe fn in_panels_unchecked(
        rows: usize,
        columns: usize,
        offsets: impl Into<View<'a, u64>>,
        indices: impl Into<View<'a, u32>>,
        values: impl Into<View<'a, T>>,
        limit: usize,
    ) -> Result<Self, Error> {
        cut(rows, columns, offsets.into(), indices.into(), values.into(), limit, false)
    }
}
