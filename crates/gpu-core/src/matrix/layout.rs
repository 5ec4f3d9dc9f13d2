//! How a matrix lies in memory.

use super::{BatchLayout, Invalid};
use crate::error::Result;

/// Which axis of a matrix is contiguous.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// Rows are contiguous, as in C and NumPy.
    RowMajor,
    /// Columns are contiguous, as in Fortran and BLAS.
    ColumnMajor,
}

/// The shape of a matrix and how it lies in memory.
///
/// The *leading dimension* is the number of elements from one row to the next of a row-major matrix, from one column
/// to the next of a column-major one.
///
/// ```
/// use gpu_core::Layout;
/// let layout = Layout::row_major(3, 5)?.with_leading_dimension(8)?;
/// assert_eq!(layout.span(), 2 * 8 + 5); // the last row needs no padding
/// assert_eq!(layout.transposed().rows(), 5);
/// assert!(Layout::column_major(3, 5)?.with_leading_dimension(2).is_err());
/// # Ok::<(), gpu_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Layout {
    rows: usize,
    columns: usize,
    order: Order,
    leading_dimension: usize,
}

impl Layout {
    /// A matrix of this order without gaps.
    ///
    /// # Errors
    /// [`Invalid::SizeOverflow`] where its length is not a `usize`.
    ///
    /// ```
    /// use gpu_core::{Layout, Order};
    /// assert_eq!(Layout::new(Order::ColumnMajor, 3, 5)?, Layout::column_major(3, 5)?);
    /// # Ok::<(), gpu_core::Error>(())
    /// ```
    pub fn new(order: Order, rows: usize, columns: usize) -> Result<Self> {
        let layout = Self { rows, columns, order, leading_dimension: 0 };
        Self { leading_dimension: layout.contiguous(), ..layout }.checked()
    }

    /// A row-major matrix without gaps.
    ///
    /// # Errors
    /// [`Invalid::SizeOverflow`] where its length is not a `usize`.
    pub fn row_major(rows: usize, columns: usize) -> Result<Self> {
        Self::new(Order::RowMajor, rows, columns)
    }

    /// A column-major matrix without gaps.
    ///
    /// # Errors
    /// [`Invalid::SizeOverflow`] where its length is not a `usize`.
    pub fn column_major(rows: usize, columns: usize) -> Result<Self> {
        Self::new(Order::ColumnMajor, rows, columns)
    }

    /// So many of such matrices, one after the other.
    ///
    /// # Errors
    /// [`Invalid::BatchOverflow`] where their length is not a `usize`.
    ///
    /// ```
    /// use gpu_core::{BatchLayout, Layout};
    /// let matrix = Layout::row_major(2, 3)?;
    /// assert_eq!(matrix.batch(4)?, BatchLayout::new(matrix, 4, 6)?);
    /// # Ok::<(), gpu_core::Error>(())
    /// ```
    pub fn batch(self, count: usize) -> Result<BatchLayout> {
        BatchLayout::new(self, count, self.span())
    }

    /// So many rows and columns of the same matrix: of its order, as far apart.
    ///
    /// # Errors
    /// [`Invalid::LeadingDimension`] where the part is wider than rows, or columns, are apart;
    /// [`Invalid::SizeOverflow`].
    ///
    /// ```
    /// let whole = gpu_core::Layout::row_major(8, 8)?;
    /// assert_eq!(whole.part(2, 3)?.span(), 8 + 3);
    /// # Ok::<(), gpu_core::Error>(())
    /// ```
    pub fn part(self, rows: usize, columns: usize) -> Result<Self> {
        Self { rows, columns, ..self }.checked()
    }

    /// The same matrix with gaps between its rows, or its columns.
    ///
    /// # Errors
    /// [`Invalid::LeadingDimension`] where it is less than the contiguous axis has elements, [`Invalid::SizeOverflow`].
    pub fn with_leading_dimension(self, leading_dimension: usize) -> Result<Self> {
        Self { leading_dimension, ..self }.checked()
    }

    /// One row: its length is that of memory that is there, so it cannot overflow.
    pub(super) const fn vector(length: usize) -> Self {
        Self { rows: 1, columns: length, order: Order::RowMajor, leading_dimension: length }
    }

    fn checked(self) -> Result<Self> {
        let Self { rows, columns, leading_dimension, .. } = self;
        if leading_dimension < self.contiguous() {
            return Err(Invalid::LeadingDimension {
                rows,
                columns,
                expected: self.contiguous(),
                actual: leading_dimension,
            }
            .into());
        }
        if leading_dimension.checked_mul(self.lines()).is_none() {
            return Err(Invalid::SizeOverflow { rows, columns, leading_dimension }.into());
        }
        Ok(self)
    }

    /// Rows.
    pub const fn rows(self) -> usize {
        self.rows
    }

    /// Columns.
    pub const fn columns(self) -> usize {
        self.columns
    }

    /// Rows and columns.
    pub const fn shape(self) -> (usize, usize) {
        (self.rows, self.columns)
    }

    /// Which axis is contiguous.
    pub const fn order(self) -> Order {
        self.order
    }

    /// Elements from one row to the next where rows are contiguous, else from one column to the next.
    pub const fn leading_dimension(self) -> usize {
        self.leading_dimension
    }

    /// Elements of the contiguous axis.
    pub const fn contiguous(self) -> usize {
        match self.order {
            Order::RowMajor => self.columns,
            Order::ColumnMajor => self.rows,
        }
    }

    /// Contiguous rows or columns.
    pub const fn lines(self) -> usize {
        match self.order {
            Order::RowMajor => self.rows,
            Order::ColumnMajor => self.columns,
        }
    }

    /// Whether it has no elements.
    pub const fn is_empty(self) -> bool {
        self.rows == 0 || self.columns == 0
    }

    /// Elements from its first to its last, gaps included.
    pub const fn span(self) -> usize {
        if self.is_empty() { 0 } else { (self.lines() - 1) * self.leading_dimension + self.contiguous() }
    }

    /// Where element (`row`, `column`) lies.
    pub const fn index(self, row: usize, column: usize) -> usize {
        match self.order {
            Order::RowMajor => row * self.leading_dimension + column,
            Order::ColumnMajor => column * self.leading_dimension + row,
        }
    }

    /// The transposed matrix in the same memory.
    #[must_use]
    pub const fn transposed(self) -> Self {
        let order = match self.order {
            Order::RowMajor => Order::ColumnMajor,
            Order::ColumnMajor => Order::RowMajor,
        };
        Self { rows: self.columns, columns: self.rows, order, leading_dimension: self.leading_dimension }
    }
}
