//! Triangular systems.

use gpu_core::{Buffer, Stream, View, ViewMut};
use gpu_sparse_kernels::levels::Rows;

use super::{RowOrder, expect_apart};
use crate::error::Error;
use crate::launch::{self, Element};
use crate::matrix::{CsrView, check};
use crate::plan::solve::{Method, method};
use crate::reference;

/// Which triangle a matrix is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// No entry stands right of the diagonal.
    Lower,
    /// No entry stands left of the diagonal.
    Upper,
}

/// What the diagonal of a triangle holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Diagonal {
    /// What is stored there: every row has such an entry, and it is not zero.
    Stored,
    /// Ones, whatever is stored there.
    Unit,
}

/// What is known of a triangular matrix before systems with it are solved: its levels, and how it is solved.
///
/// A row is of level 1 if it has no entry beside the diagonal, else of one more than the highest level of the rows that
/// those entries stand for: rows of a level can be solved at the same time, once all levels before are. It holds the
/// matrix, so there is no solving of another than the one analysed; other values of the same structure are
/// [`with_values`](Self::with_values). It belongs to the stream that it is used on.
#[derive(Debug)]
pub struct Analysis<'a, T: Element> {
    matrix: CsrView<'a, T>,
    side: Side,
    diagonal: Diagonal,
    levels: Buffer<u32>,
    count: u32,
    method: Method,
    order: Option<RowOrder>,
    ticket: Buffer<u32>,
}

impl<'a, T: Element> Analysis<'a, T> {
    /// Checks that `matrix` is such a triangle and finds its levels; waits for that. Chooses [`Method::Levels`] for few
    /// and wide levels, and orders the rows for it, else [`Method::Free`].
    ///
    /// # Errors
    /// [`Error::NotSquare`], [`Error::WrongSide`], [`Error::MissingDiagonal`], [`Error::ZeroPivot`]; [`Error::Device`]
    /// where memory does not suffice or a launch failed.
    ///
    /// ```
    /// use gpu_sparse::{Analysis, Csr, Diagonal, Side};
    /// let device = gpu_core::Device::simulator();
    /// let a = Csr::upload(&device, 3, 3, &[0, 1, 3, 4], &[0, 0, 1, 2], &[2.0, 1.0, 4.0, 8.0])?;
    /// let analysis = Analysis::new(&a, Side::Lower, Diagonal::Stored)?;
    /// assert_eq!(analysis.levels().len(), 3);
    /// assert_eq!(analysis.level_count(), 2); // the second row waits for the first
    /// # Ok::<(), gpu_sparse::Error>(())
    /// ```
    pub fn new(matrix: impl Into<CsrView<'a, T>>, side: Side, diagonal: Diagonal) -> Result<Self, Error> {
        let matrix = matrix.into();
        check::triangle(&matrix, side, diagonal)?;
        let device = matrix.device();
        let stream = device.default_stream();
        let mut ticket = device.alloc(1)?;
        let (levels, count) = match matrix.slices() {
            Some((offsets, indices, _)) => {
                let levels = reference::levels(offsets, indices, side);
                (device.upload(&levels)?, levels.into_iter().max().unwrap_or(0))
            }
            None if matrix.rows == 0 => (device.alloc(0)?, 0),
            None => {
                let mut levels = device.zeroed(matrix.rows)?;
                let shape = launch::rows_of(matrix.rows, side, diagonal);
                launch::levels(&stream, &matrix, shape, &mut levels, &mut ticket)?;
                let count = gpu_reduce::max(&levels)?;
                (levels, count)
            }
        };
        let method = method(matrix.rows as u32, count);
        let analysis = Self { matrix, side, diagonal, levels, count, method, order: None, ticket };
        analysis.with_method(method)
    }

    /// The same with another method; [`Method::Levels`] orders the rows if that was not done. The bits are the same.
    ///
    /// # Errors
    /// [`Error::Device`] where memory does not suffice or a launch failed.
    ///
    /// ```
    /// use gpu_sparse::{Analysis, CsrView, Diagonal, Method, Side};
    /// let a = CsrView::new(2, 2, &[0, 1, 3], &[0, 0, 1], &[2.0, 1.0, 4.0])?;
    /// let analysis = Analysis::new(a, Side::Lower, Diagonal::Stored)?.with_method(Method::Levels)?;
    /// assert_eq!(analysis.method(), Method::Levels);
    /// # Ok::<(), gpu_sparse::Error>(())
    /// ```
    pub fn with_method(mut self, method: Method) -> Result<Self, Error> {
        if method == Method::Levels && self.order.is_none() {
            self.order = Some(self.order_rows()?);
        }
        self.method = method;
        Ok(self)
    }

    /// The same structure with other values, of which no entry on a stored diagonal is zero; waits for that check.
    ///
    /// # Errors
    /// [`Error::Length`], [`Error::ZeroPivot`]; [`Error::Device`] where the values live elsewhere or the launch failed.
    ///
    /// ```
    /// use gpu_sparse::{Analysis, CsrView, Diagonal, Side};
    /// let a = CsrView::new(1, 1, &[0, 1], &[0], &[2.0])?;
    /// let analysis = Analysis::new(a, Side::Lower, Diagonal::Stored)?;
    /// assert!(analysis.with_values(&[0.0]).is_err());
    /// # Ok::<(), gpu_sparse::Error>(())
    /// ```
    pub fn with_values<'b>(self, values: impl Into<View<'b, T>>) -> Result<Analysis<'b, T>, Error>
    where
        'a: 'b,
    {
        let matrix = self.matrix.with_values(values)?;
        check::triangle(&matrix, self.side, self.diagonal)?;
        let Self { side, diagonal, levels, count, method, order, ticket, .. } = self;
        Ok(Analysis { matrix, side, diagonal, levels, count, method, order, ticket })
    }

    /// The level of every row, from 1 on.
    pub fn levels(&self) -> View<'_, u32> {
        self.levels.view()
    }

    /// How many levels there are; none of no rows.
    pub fn level_count(&self) -> u32 {
        self.count
    }

    /// How systems are solved.
    pub fn method(&self) -> Method {
        self.method
    }

    /// The rows grouped by level and size class, computed where the matrix lives: maximum, counts, exclusive sums, order.
    /// Waits for it.
    ///
    /// # Errors
    /// [`Error::Device`] where memory does not suffice or a launch failed.
    ///
    /// ```
    /// use gpu_sparse::{Analysis, Csr, Diagonal, Side};
    /// let device = gpu_core::Device::simulator();
    /// let a = Csr::upload(&device, 3, 3, &[0, 1, 3, 4], &[0, 0, 1, 2], &[2.0, 1.0, 4.0, 8.0])?;
    /// let order = Analysis::new(&a, Side::Lower, Diagonal::Stored)?.order_rows()?;
    /// assert_eq!(order.rows().len(), 3);
    /// # let mut rows = [0; 3];
    /// # order.rows().copy_to(&mut rows)?;
    /// # assert_eq!(rows, [0, 2, 1]);
    /// # Ok::<(), gpu_sparse::Error>(())
    /// ```
    pub fn order_rows(&self) -> Result<RowOrder, Error> {
        let stream = self.matrix.device().default_stream();
        RowOrder::new(&stream, &self.matrix, self.shape(), &self.levels, self.count)
    }

    /// Solves `A · x = alpha · b` for `x`, on `stream`.
    ///
    /// Both have as many elements as A has rows. The order of every row's sum is a function of the matrix alone (see the
    /// [crate documentation](crate)). Neither allocates nor waits.
    ///
    /// # Errors
    /// [`Error::VectorLengths`], [`Error::Aliasing`]; [`Error::Device`] where memory is on another device than the stream
    /// or where the launch failed. `x` is as it was then, but where a launch failed.
    ///
    /// ```
    /// use gpu_sparse::{Analysis, Csr, Diagonal, Side};
    /// let device = gpu_core::Device::simulator();
    /// let a = Csr::upload(&device, 2, 2, &[0, 1, 3], &[0, 0, 1], &[2.0, 1.0, 4.0])?;
    /// let (b, mut x) = (device.upload(&[2.0, 9.0])?, device.alloc(2)?);
    /// let mut analysis = Analysis::new(&a, Side::Lower, Diagonal::Stored)?;
    /// analysis.solve(&device.default_stream(), 1.0, &b, &mut x)?;
    /// assert_eq!(x.to_vec()?, [1.0, 2.0]);
    /// # Ok::<(), gpu_sparse::Error>(())
    /// ```
    pub fn solve<'b, 'x>(
        &mut self,
        stream: &Stream,
        alpha: T,
        b: impl Into<View<'b, T>>,
        x: impl Into<ViewMut<'x, T>>,
    ) -> Result<(), Error> {
        let (a, b, mut x) = (self.matrix, b.into(), x.into());
        let (rows, columns) = (a.rows, a.columns);
        if b.len() != rows || x.len() != rows {
            return Err(Error::VectorLengths { rows, columns, x: x.len(), y: b.len() });
        }
        stream.expect("matrix of a system", a.device())?;
        stream.expect("right-hand side of a system", b.device())?;
        stream.expect("solution of a system", x.device())?;
        expect_apart(&x, "A", &a.values)?;
        expect_apart(&x, "A's offsets", &a.offsets)?;
        expect_apart(&x, "A's indices", &a.indices)?;
        expect_apart(&x, "b", &b)?;
        if rows == 0 {
            return Ok(());
        }
        if let (Some((offsets, indices, values)), Some(b), Some(x)) =
            (a.slices(), b.as_slice(), x.as_mut_slice())
        {
            reference::solve(offsets, indices, values, self.side, self.diagonal, alpha, b, x);
            return Ok(());
        }
        let shape = self.shape();
        match (&self.order, self.method) {
            (Some(order), Method::Levels) => launch::solve_levels(stream, &a, shape, alpha, b, x, order),
            _ => launch::solve_free(stream, &a, shape, alpha, b, x, &mut self.ticket),
        }
    }

    /// The matrix.
    pub(super) fn matrix(&self) -> CsrView<'_, T> {
        self.matrix
    }

    /// The level of every row.
    pub(super) fn level_buffer(&self) -> &Buffer<u32> {
        &self.levels
    }

    pub(super) fn shape(&self) -> Rows {
        launch::rows_of(self.matrix.rows, self.side, self.diagonal)
    }
}
