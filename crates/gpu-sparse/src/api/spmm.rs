//! Products of a matrix and a dense one.

use gpu_core::{Buffer, Layout, Matrix, MatrixMut, Stream, checks};
use gpu_sparse_kernels::spmm::Product;

use super::{Spmv, strides};
use crate::error::Error;
use crate::launch::{self, Element};
use crate::matrix::CsrView;
use crate::plan::spmv::columns_lanes;
use crate::reference;

/// Refuses a B or a C that is not of the product with such a matrix.
pub(super) fn expect_shapes((rows, columns): (usize, usize), b: Layout, c: Layout) -> Result<(), Error> {
    for (what, actual, rows) in [("B", b.shape(), columns), ("C", c.shape(), rows)] {
        checks::shape(what, (rows, c.columns()), actual)?;
    }
    Ok(())
}

impl<T: Element> Spmv<'_, T> {
    /// `C = alpha · A · B + beta · C`, on `stream`: B of a few columns, each with the bits that [`Spmv::run`] gives it.
    ///
    /// B has as many rows as A has columns, C as many as A has rows, and both have as many columns; each has its own
    /// layout. Where `beta` is zero C is not read, where `alpha` is zero neither A nor B. What lies between lines of C
    /// is left as it is. A row is computed by a thread or 4 lanes, a long one by its warp:
    /// [`Strategy::Balanced`](crate::Strategy::Balanced) is of products with one vector alone. Neither allocates nor
    /// waits.
    ///
    /// # Errors
    /// [`gpu_core::Error::Shape`], [`gpu_core::Error::ExtentTooLarge`] where there are more than 2^20 - 16 columns,
    /// [`gpu_core::Error::Aliasing`]; [`Error::Device`] where memory is on another device than the stream or where the
    /// launch failed. C is as it was then.
    ///
    /// ```
    /// use gpu_core::{Buffer, Layout, Matrix, MatrixMut};
    /// use gpu_sparse::{Csr, Spmv};
    /// let device = gpu_core::Device::simulator();
    /// let a = Csr::upload(&device, 2, 2, &[0, 1, 3], &[0, 0, 1], &[2.0, 1.0, 4.0])?;
    /// let (b, mut c) = (device.upload(&[1.0, 3.0, 10.0, 20.0])?, device.alloc(4)?);
    /// let b = Matrix::new(&b, Layout::row_major(2, 2)?)?;
    /// let columns = MatrixMut::new(&mut c, Layout::column_major(2, 2)?)?;
    /// Spmv::new(&a)?.run_many(&device.default_stream(), 1.0, b, 0.0, columns)?;
    /// assert_eq!(c.to_vec()?, [2.0, 41.0, 6.0, 83.0]);
    /// # Ok::<(), gpu_sparse::Error>(())
    /// ```
    pub fn run_many<'b, 'c>(
        &mut self,
        stream: &Stream,
        alpha: T,
        b: impl Into<Matrix<'b, T>>,
        beta: T,
        c: impl Into<MatrixMut<'c, T>>,
    ) -> Result<(), Error> {
        let a = self.matrix.view();
        let (b, mut c): (Matrix<'_, T>, MatrixMut<'_, T>) = (b.into(), c.into());
        let (b_layout, c_layout) = (b.layout(), c.layout());
        let count = c_layout.columns();
        expect_shapes((a.rows, a.columns), b_layout, c_layout)?;
        checks::extent("the number of columns of B", count, (1 << 20) - 16)?;
        let b = b.data();
        stream.expect("matrix of a product", a.device())?;
        stream.expect("B of a product", b.device())?;
        stream.expect("C of a product", c.data().device())?;
        let mut target = c.data_mut();
        a.expect_apart(&target)?;
        target.expect_apart("B", &b)?;
        if a.rows == 0 || count == 0 {
            return Ok(());
        }
        if let (Some((offsets, indices, values)), Some(b), Some(c)) =
            (a.slices(), b.as_slice(), target.as_mut_slice())
        {
            for column in 0..count {
                let x: Vec<T> = (0..a.columns).map(|row| b[b_layout.index(row, column)]).collect();
                let mut y: Vec<T> = (0..a.rows).map(|row| c[c_layout.index(row, column)]).collect();
                reference::spmv(alpha, offsets, indices, values, &x, beta, &mut y);
                for (row, value) in y.into_iter().enumerate() {
                    c[c_layout.index(row, column)] = value;
                }
            }
            return Ok(());
        }
        let ((b_row, b_column), (c_row, c_column)) = (strides(b_layout), strides(c_layout));
        let entries = if alpha == T::ZERO { 0 } else { self.statistics.entries };
        let (rows, last) = (self.statistics.rows, self.statistics.columns.saturating_sub(1));
        let (columns, lanes) = (count as u32, columns_lanes(self.statistics));
        // Where a row of B is contiguous, a sector of 32 bytes is read by as many threads at once: by one of them,
        // column after column, eight columns of 5 M rows of 8 entries anywhere took an H200 5.8 ms.
        let sector = (32 / size_of::<T>() as u32).min(columns.next_power_of_two());
        let beside = if b_column == 1 && b_row > 1 { sector.ilog2() } else { 0 };
        let shape = Product { b_row, b_column, c_row, c_column, rows, entries, last, columns, lanes, beside };
        Ok(launch::spmm(stream, shape, alpha, &a, b, beta, target)?)
    }
}

/// The product `A · B`, computed where A lives, as a row-major matrix without gaps in a buffer of its own.
///
/// Looks at the rows first, and waits for that; [`Spmv`] does it once for many products.
///
/// # Errors
/// Those of [`Spmv::new`] and of [`Spmv::run_many`].
///
/// ```
/// use gpu_core::{Layout, Matrix};
/// use gpu_sparse::{CsrView, spmm};
/// let a = CsrView::new(2, 2, &[0, 1, 3], &[0, 0, 1], &[2.0, 1.0, 4.0])?;
/// let b = Matrix::new(&[1.0, 3.0, 10.0, 20.0], Layout::row_major(2, 2)?)?;
/// assert_eq!(spmm(a, b)?.to_vec()?, [2.0, 6.0, 41.0, 83.0]);
/// # Ok::<(), gpu_sparse::Error>(())
/// ```
pub fn spmm<'a, 'b, T: Element>(
    a: impl Into<CsrView<'a, T>>,
    b: impl Into<Matrix<'b, T>>,
) -> Result<Buffer<T>, Error> {
    let (mut product, b) = (Spmv::new(a)?, b.into());
    let device = product.matrix.view().device().clone();
    let layout = Layout::row_major(product.matrix.view().rows, b.layout().columns())?;
    let mut c = device.alloc(layout.span())?;
    product.run_many(&device.default_stream(), T::ONE, b, T::ZERO, MatrixMut::new(&mut c, layout)?)?;
    Ok(c)
}
