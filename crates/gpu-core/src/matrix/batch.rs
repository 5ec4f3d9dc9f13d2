//! Batches of matrices of one layout.

use super::{Invalid, Layout, Matrix, MatrixMut};
use crate::checks;
use crate::element::Element;
use crate::error::Result;
use crate::view::{View, ViewMut};

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
    /// `count` matrices, `stride` elements from the start of one to that of the next.
    ///
    /// # Errors
    /// [`Invalid::BatchOverflow`] where their length is not a `usize`.
    ///
    /// ```
    /// use gpu_core::{BatchLayout, Layout};
    /// let batch = BatchLayout::new(Layout::row_major(2, 3)?, 4, 10)?;
    /// assert_eq!(batch.span()?, 3 * 10 + 6);
    /// assert!(BatchLayout::new(batch.matrix, 3, usize::MAX).is_err());
    /// # Ok::<(), gpu_core::Error>(())
    /// ```
    pub fn new(matrix: Layout, count: usize, stride: usize) -> Result<Self> {
        let batch = Self { matrix, count, stride };
        batch.span().map(|_| batch)
    }

    /// As many matrices of this shape and order without gaps, one after the other.
    ///
    /// # Errors
    /// [`Invalid::BatchOverflow`] where their length is not a `usize`.
    ///
    /// ```
    /// use gpu_core::{BatchLayout, Layout};
    /// let matrix = Layout::row_major(2, 3)?;
    /// let apart = BatchLayout::new(matrix.with_leading_dimension(8)?, 4, 100)?;
    /// assert_eq!(apart.without_gaps()?, matrix.batch(4)?);
    /// # Ok::<(), gpu_core::Error>(())
    /// ```
    pub fn without_gaps(self) -> Result<Self> {
        let (rows, columns) = self.matrix.shape();
        Layout::new(self.matrix.order(), rows, columns)?.batch(self.count)
    }

    /// Elements from the first to the last, gaps included.
    ///
    /// # Errors
    /// [`Invalid::BatchOverflow`] where they are not a `usize`.
    pub fn span(self) -> Result<usize> {
        let Self { matrix, count, stride } = self;
        if count == 0 || matrix.is_empty() {
            return Ok(0);
        }
        let start = (count - 1).checked_mul(stride);
        start
            .and_then(|start| start.checked_add(matrix.span()))
            .ok_or(Invalid::BatchOverflow { count, stride }.into())
    }

    /// That no two of the matrices overlap, as is needed of those that are written.
    ///
    /// # Errors
    /// [`Invalid::Overlap`].
    pub fn expect_apart(self) -> Result<()> {
        let (expected, actual) = (self.matrix.span(), self.stride);
        if self.count > 1 && actual < expected {
            Err(Invalid::Overlap { expected, actual }.into())
        } else {
            Ok(())
        }
    }

    /// Whether there are no elements.
    pub const fn is_empty(self) -> bool {
        self.count == 0 || self.matrix.is_empty()
    }

    /// The layout of the transposed matrices, in the same memory.
    #[must_use]
    pub const fn transposed(self) -> Self {
        Self { matrix: self.matrix.transposed(), ..self }
    }
}

/// Matrices of one layout at a constant distance, to read. A [`Matrix`] is a batch of one.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a, T: Element> {
    data: View<'a, T>,
    layout: BatchLayout,
}

impl<'a, T: Element> Batch<'a, T> {
    /// The batch that starts with the first element of `data`.
    ///
    /// # Errors
    /// [`Error::Length`](crate::Error::Length) where `data` is shorter than the batch, [`Invalid::BatchOverflow`].
    pub fn new(data: impl Into<View<'a, T>>, layout: BatchLayout) -> Result<Self> {
        let data = data.into();
        checks::span("a batch", layout.span()?, data.len())?;
        Ok(Self { data, layout })
    }
}

/// Matrices of one layout at a constant distance, to read and write. A [`MatrixMut`] is a batch of one.
#[derive(Debug)]
pub struct BatchMut<'a, T: Element> {
    data: ViewMut<'a, T>,
    layout: BatchLayout,
}

impl<'a, T: Element> BatchMut<'a, T> {
    /// The batch that starts with the first element of `data`.
    ///
    /// # Errors
    /// [`Invalid::Overlap`] where its matrices overlap; [`Error::Length`](crate::Error::Length) where `data` is shorter
    /// than the batch, [`Invalid::BatchOverflow`].
    pub fn new(data: impl Into<ViewMut<'a, T>>, layout: BatchLayout) -> Result<Self> {
        let data = data.into();
        layout.expect_apart()?;
        checks::span("a batch", layout.span()?, data.len())?;
        Ok(Self { data, layout })
    }
}

accessors!(Batch, BatchMut: BatchLayout);
transposed!(Batch, BatchMut);

impl<'a, T: Element> From<Matrix<'a, T>> for Batch<'a, T> {
    fn from(matrix: Matrix<'a, T>) -> Self {
        Self { data: matrix.data, layout: matrix.layout.into() }
    }
}

impl<'a, T: Element> From<MatrixMut<'a, T>> for BatchMut<'a, T> {
    fn from(matrix: MatrixMut<'a, T>) -> Self {
        Self { data: matrix.data, layout: matrix.layout.into() }
    }
}
