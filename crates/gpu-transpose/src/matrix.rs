//! The shape of a row-major matrix in a linear buffer.

use crate::error::Error;

/// A row-major matrix: `rows` rows of `columns` elements, each `leading_dimension` elements after the one before.
///
/// ```
/// use gpu_transpose::Matrix;
/// let matrix = Matrix::with_leading_dimension(3, 5, 8)?;
/// assert_eq!(matrix.len(), 2 * 8 + 5); // the last row needs no padding
/// assert!(Matrix::with_leading_dimension(3, 5, 4).is_err());
/// # Ok::<(), gpu_transpose::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Matrix {
    rows: usize,
    columns: usize,
    leading_dimension: usize,
}

impl Matrix {
    /// A matrix whose rows follow each other without a gap.
    ///
    /// # Errors
    /// [`Error::SizeOverflow`] where its length is not a `usize`.
    pub fn new(rows: usize, columns: usize) -> Result<Self, Error> {
        Self::with_leading_dimension(rows, columns, columns)
    }

    /// A matrix with `leading_dimension` elements from the start of a row to that of the next.
    ///
    /// # Errors
    /// [`Error::LeadingDimension`] where that is less than `columns`, [`Error::SizeOverflow`] where the matrix's length
    /// is not a `usize`.
    pub fn with_leading_dimension(
        rows: usize,
        columns: usize,
        leading_dimension: usize,
    ) -> Result<Self, Error> {
        if leading_dimension < columns {
            return Err(Error::LeadingDimension { expected: columns, actual: leading_dimension });
        }
        if rows.checked_mul(leading_dimension).is_none() {
            return Err(Error::SizeOverflow { rows, leading_dimension });
        }
        Ok(Self { rows, columns, leading_dimension })
    }

    /// Rows.
    pub const fn rows(self) -> usize {
        self.rows
    }

    /// Columns.
    pub const fn columns(self) -> usize {
        self.columns
    }

    /// Elements from the start of a row to that of the next.
    pub const fn leading_dimension(self) -> usize {
        self.leading_dimension
    }

    /// Whether it has no elements.
    pub const fn is_empty(self) -> bool {
        self.rows == 0 || self.columns == 0
    }

    /// Elements from its first to its last, gaps between rows included.
    pub const fn len(self) -> usize {
        if self.is_empty() { 0 } else { (self.rows - 1) * self.leading_dimension + self.columns }
    }

    /// The shape of the transposed matrix, its rows `leading_dimension` elements apart.
    ///
    /// # Errors
    /// As [`Matrix::with_leading_dimension`]: the transposed matrix has `rows` columns.
    pub fn transposed(self, leading_dimension: usize) -> Result<Self, Error> {
        Self::with_leading_dimension(self.columns, self.rows, leading_dimension)
    }
}

/// Matrices of one shape, each so many elements after the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Batch {
    matrix: Matrix,
    count: usize,
    stride: usize,
}

impl Batch {
    /// One matrix.
    pub const fn one(matrix: Matrix) -> Self {
        Self { matrix, count: 1, stride: 0 }
    }

    /// `count` matrices, `stride` elements from the start of one to that of the next.
    ///
    /// # Errors
    /// [`Error::BatchOverflow`] where their length is not a `usize`.
    pub fn new(matrix: Matrix, count: usize, stride: usize) -> Result<Self, Error> {
        match count.saturating_sub(1).checked_mul(stride).and_then(|start| start.checked_add(matrix.len())) {
            Some(_) => Ok(Self { matrix, count, stride }),
            None => Err(Error::BatchOverflow { count, stride }),
        }
    }

    /// Each matrix.
    pub const fn matrix(self) -> Matrix {
        self.matrix
    }

    /// How many there are.
    pub const fn count(self) -> usize {
        self.count
    }

    /// Elements from the start of one to that of the next.
    pub const fn stride(self) -> usize {
        self.stride
    }

    /// Whether there are no elements.
    pub const fn is_empty(self) -> bool {
        self.count == 0 || self.matrix.is_empty()
    }

    /// Elements from the first to the last, gaps included.
    pub const fn len(self) -> usize {
        if self.is_empty() { 0 } else { (self.count - 1) * self.stride + self.matrix.len() }
    }

    /// That no two of them overlap.
    pub(crate) fn expect_apart(self, what: &'static str) -> Result<(), Error> {
        if self.count > 1 && self.stride < self.matrix.len() {
            return Err(Error::Overlap { what, expected: self.matrix.len(), actual: self.stride });
        }
        Ok(())
    }
}
