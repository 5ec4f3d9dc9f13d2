//! Matrices in memory: their layout, views of them, and batches.

use gpu_core::{Buffer, Element, View, ViewMut};

use crate::error::Error;

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
/// use gpu_linalg::Layout;
/// let layout = Layout::row_major(3, 5)?.with_leading_dimension(8)?;
/// assert_eq!(layout.span(), 2 * 8 + 5); // the last row needs no padding
/// assert_eq!(layout.transposed().rows(), 5);
/// assert!(Layout::column_major(3, 5)?.with_leading_dimension(2).is_err());
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Layout {
    rows: usize,
    columns: usize,
    order: Order,
    leading_dimension: usize,
}

impl Layout {
    /// A row-major matrix without gaps.
    ///
    /// # Errors
    /// [`Error::SizeOverflow`] where its length is not a `usize`.
    pub fn row_major(rows: usize, columns: usize) -> Result<Self, Error> {
        Self { rows, columns, order: Order::RowMajor, leading_dimension: columns }.checked()
    }

    /// A column-major matrix without gaps.
    ///
    /// # Errors
    /// [`Error::SizeOverflow`] where its length is not a `usize`.
    pub fn column_major(rows: usize, columns: usize) -> Result<Self, Error> {
        Self { rows, columns, order: Order::ColumnMajor, leading_dimension: rows }.checked()
    }

    /// The same matrix with gaps between its rows, or its columns.
    ///
    /// # Errors
    /// [`Error::LeadingDimension`] where it is less than the contiguous axis has elements, [`Error::SizeOverflow`].
    pub fn with_leading_dimension(self, leading_dimension: usize) -> Result<Self, Error> {
        Self { leading_dimension, ..self }.checked()
    }

    /// One row: its length is that of memory that is there, so it cannot overflow.
    const fn vector(length: usize) -> Self {
        Self { rows: 1, columns: length, order: Order::RowMajor, leading_dimension: length }
    }

    fn checked(self) -> Result<Self, Error> {
        let Self { rows, columns, leading_dimension, .. } = self;
        if leading_dimension < self.contiguous() {
            return Err(Error::LeadingDimension {
                rows,
                columns,
                expected: self.contiguous(),
                actual: leading_dimension,
            });
        }
        if leading_dimension.checked_mul(self.lines()).is_none() {
            return Err(Error::SizeOverflow { rows, columns, leading_dimension });
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

fn expect_span(what: &'static str, expected: usize, actual: usize) -> Result<(), Error> {
    if actual < expected { Err(Error::Length { what, expected, actual }) } else { Ok(()) }
}

/// A matrix in the memory of a device, to read. What lies in its gaps is never read.
#[derive(Clone, Copy, Debug)]
pub struct Matrix<'a, T: Element> {
    pub(crate) data: View<'a, T>,
    pub(crate) layout: Layout,
}

impl<'a, T: Element> Matrix<'a, T> {
    /// The matrix that starts with the first element of `data`.
    ///
    /// # Errors
    /// [`Error::Length`] where `data` is shorter than the matrix.
    pub fn new(data: impl Into<View<'a, T>>, layout: Layout) -> Result<Self, Error> {
        let data = data.into();
        expect_span("a matrix", layout.span(), data.len())?;
        Ok(Self { data, layout })
    }

    /// Its shape, and how it lies in memory.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// Its memory.
    pub fn data(&self) -> View<'a, T> {
        self.data
    }

    /// The transposed matrix: the same memory, nothing is moved.
    #[must_use]
    pub fn transposed(self) -> Self {
        Self { layout: self.layout.transposed(), ..self }
    }
}

/// A matrix in the memory of a device, to read and write. What lies in its gaps is neither read nor written.
#[derive(Debug)]
pub struct MatrixMut<'a, T: Element> {
    pub(crate) data: ViewMut<'a, T>,
    pub(crate) layout: Layout,
}

impl<'a, T: Element> MatrixMut<'a, T> {
    /// The matrix that starts with the first element of `data`.
    ///
    /// # Errors
    /// [`Error::Length`] where `data` is shorter than the matrix.
    pub fn new(data: impl Into<ViewMut<'a, T>>, layout: Layout) -> Result<Self, Error> {
        let data = data.into();
        expect_span("a matrix", layout.span(), data.len())?;
        Ok(Self { data, layout })
    }

    /// Its shape, and how it lies in memory.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// The transposed matrix: the same memory, nothing is moved.
    #[must_use]
    pub fn transposed(self) -> Self {
        Self { layout: self.layout.transposed(), ..self }
    }
}

/// How the matrices of a batch lie: all alike, `stride` elements from the start of one to that of the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BatchLayout {
    /// Of each matrix.
    pub matrix: Layout,
    /// Matrices.
    pub count: usize,
    /// Elements from the start of one to that of the next. Of matrices that are only read it may be less than they
    /// span; zero is the same matrix each time.
    pub stride: usize,
}

impl From<Layout> for BatchLayout {
    /// One matrix.
    fn from(matrix: Layout) -> Self {
        Self { matrix, count: 1, stride: 0 }
    }
}

impl BatchLayout {
    /// Elements from the first to the last.
    fn span(self) -> Result<usize, Error> {
        let Self { matrix, count, stride } = self;
        if count == 0 || matrix.is_empty() {
            return Ok(0);
        }
        let start = (count - 1).checked_mul(stride);
        start.and_then(|start| start.checked_add(matrix.span())).ok_or(Error::BatchOverflow { count, stride })
    }

    #[must_use]
    pub(crate) const fn transposed(self) -> Self {
        Self { matrix: self.matrix.transposed(), ..self }
    }
}

/// Matrices of one layout at a constant distance, to read. A [`Matrix`] is a batch of one.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a, T: Element> {
    pub(crate) data: View<'a, T>,
    pub(crate) layout: BatchLayout,
}

impl<'a, T: Element> Batch<'a, T> {
    /// The batch that starts with the first element of `data`.
    ///
    /// # Errors
    /// [`Error::Length`] where `data` is shorter than the batch, [`Error::BatchOverflow`].
    pub fn new(data: impl Into<View<'a, T>>, layout: BatchLayout) -> Result<Self, Error> {
        let data = data.into();
        expect_span("a batch", layout.span()?, data.len())?;
        Ok(Self { data, layout })
    }

    /// The transposed matrices: the same memory, nothing is moved.
    #[must_use]
    pub fn transposed(self) -> Self {
        Self { layout: self.layout.transposed(), ..self }
    }
}

/// Matrices of one layout at a constant distance, to read and write. A [`MatrixMut`] is a batch of one.
#[derive(Debug)]
pub struct BatchMut<'a, T: Element> {
    pub(crate) data: ViewMut<'a, T>,
    pub(crate) layout: BatchLayout,
}

impl<'a, T: Element> BatchMut<'a, T> {
    /// The batch that starts with the first element of `data`.
    ///
    /// # Errors
    /// [`Error::Overlap`] where its matrices overlap; [`Error::Length`] where `data` is shorter than the batch,
    /// [`Error::BatchOverflow`].
    pub fn new(data: impl Into<ViewMut<'a, T>>, layout: BatchLayout) -> Result<Self, Error> {
        let data = data.into();
        if layout.count > 1 && layout.stride < layout.matrix.span() {
            return Err(Error::Overlap { expected: layout.matrix.span(), actual: layout.stride });
        }
        expect_span("a batch", layout.span()?, data.len())?;
        Ok(Self { data, layout })
    }

    /// The transposed matrices: the same memory, nothing is moved.
    #[must_use]
    pub fn transposed(self) -> Self {
        Self { layout: self.layout.transposed(), ..self }
    }
}

impl<'a, T: Element> From<Matrix<'a, T>> for Batch<'a, T> {
    fn from(matrix: Matrix<'a, T>) -> Self {
        Self { data: matrix.data, layout: BatchLayout { matrix: matrix.layout, count: 1, stride: 0 } }
    }
}

impl<'a, T: Element> From<MatrixMut<'a, T>> for BatchMut<'a, T> {
    fn from(matrix: MatrixMut<'a, T>) -> Self {
        Self { data: matrix.data, layout: BatchLayout { matrix: matrix.layout, count: 1, stride: 0 } }
    }
}

/// A vector is a matrix of one row.
impl<'a, T: Element> From<View<'a, T>> for Matrix<'a, T> {
    fn from(data: View<'a, T>) -> Self {
        Self { data, layout: Layout::vector(data.len()) }
    }
}

/// What becomes a view becomes a vector. Not one implementation for all: other crates could make a [`Matrix`] one of
/// them.
macro_rules! vectors {
    ($($(const $n:ident)? $source:ty),*) => { $(
        impl<'a, T: Element $(, const $n: usize)?> From<&'a $source> for Matrix<'a, T> {
            fn from(source: &'a $source) -> Self {
                View::from(source).into()
            }
        }

        impl<'a, T: Element $(, const $n: usize)?> From<&'a mut $source> for MatrixMut<'a, T> {
            fn from(source: &'a mut $source) -> Self {
                ViewMut::from(source).into()
            }
        }
    )* };
}
vectors!(Buffer<T>, [T], Vec<T>, const N [T; N]);

/// A vector is a matrix of one row.
impl<'a, T: Element> From<ViewMut<'a, T>> for MatrixMut<'a, T> {
    fn from(data: ViewMut<'a, T>) -> Self {
        let layout = Layout::vector(data.len());
        Self { data, layout }
    }
}
