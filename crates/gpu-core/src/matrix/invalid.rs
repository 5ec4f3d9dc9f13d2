//! What no matrix can be.

/// What no matrix, and no batch of them, can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Invalid {
    /// A leading dimension is smaller than what is contiguous: a row of a row-major matrix, a column of a
    /// column-major one.
    #[error(
        "the leading dimension of a {rows} × {columns} matrix is {actual}, but its contiguous axis has {expected} \
         elements"
    )]
    LeadingDimension {
        /// Rows.
        rows: usize,
        /// Columns.
        columns: usize,
        /// Elements of the contiguous axis.
        expected: usize,
        /// The leading dimension given.
        actual: usize,
    },

    /// A matrix's length is not a `usize`.
    #[error(
        "a {rows} × {columns} matrix with leading dimension {leading_dimension} is more than can be addressed"
    )]
    SizeOverflow {
        /// Rows.
        rows: usize,
        /// Columns.
        columns: usize,
        /// The leading dimension.
        leading_dimension: usize,
    },

    /// A batch's length is not a `usize`.
    #[error("{count} matrices {stride} elements apart are more than can be addressed")]
    BatchOverflow {
        /// Matrices.
        count: usize,
        /// Elements from one to the next.
        stride: usize,
    },

    /// Matrices of a batch that is written overlap.
    #[error(
        "the matrices of a batch that is written overlap: they are {actual} elements apart and span {expected}"
    )]
    Overlap {
        /// Elements a matrix spans.
        expected: usize,
        /// Elements from one to the next.
        actual: usize,
    },
}
