//! What can go wrong.

/// An error of an operation on sparse matrices. Its output is as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The offsets of a row do not ascend, or leave the entries.
    #[error("row {row} has the entries from {start} to {end}, of {entries}")]
    Offsets {
        /// The first such row.
        row: usize,
        /// Where it starts.
        start: usize,
        /// Where it ends.
        end: usize,
        /// Entries of the matrix.
        entries: usize,
    },
    /// An entry stands in a row or a column that the matrix does not have.
    #[error("entry {entry} stands in row {row} and column {column} of a {rows} × {columns} matrix")]
    OutOfRange {
        /// The entry.
        entry: usize,
        /// Its row.
        row: usize,
        /// Its column.
        column: usize,
        /// Rows of the matrix.
        rows: usize,
        /// Columns of the matrix.
        columns: usize,
    },
    /// The columns of a row do not ascend: [`sort_rows`](crate::sort_rows) takes them.
    #[error("row {row} has column {column} after {before}: columns ascend")]
    Unsorted {
        /// The first such row.
        row: usize,
        /// The column before.
        before: usize,
        /// The column.
        column: usize,
    },
    /// A column comes twice in a row.
    #[error("row {row} has column {column} twice")]
    Duplicate {
        /// The first such row.
        row: usize,
        /// The column.
        column: usize,
    },
    /// An entry of a triangular matrix stands on the wrong side of the diagonal.
    #[error("row {row} has an entry in column {column}, on the wrong side of the diagonal")]
    WrongSide {
        /// The first such row.
        row: usize,
        /// The column.
        column: usize,
    },
    /// A diagonal that is not said to be ones lacks an entry.
    #[error("row {row} has no entry on the diagonal")]
    MissingDiagonal {
        /// The first such row.
        row: usize,
    },
    /// An entry on the diagonal is zero.
    #[error("the entry on the diagonal of row {row} is zero")]
    ZeroPivot {
        /// The first such row.
        row: usize,
    },
    /// A pivot of an incomplete Cholesky factor is not positive.
    #[error("the pivot of row {row} is not positive")]
    NotPositive {
        /// The first such row.
        row: usize,
    },
    /// A plan was made for a matrix of another size.
    #[error("the plan is for {} rows with {} entries, the matrix has {} with {}", expected.0, expected.1, actual.0, actual.1)]
    OtherPlan {
        /// Rows and entries of the plan.
        expected: (usize, usize),
        /// Those of the matrix.
        actual: (usize, usize),
    },
    /// A matrix has not the structure of the one that was analysed.
    #[error("row {row} has other columns than the same row of the matrix that was analysed")]
    OtherStructure {
        /// The first such row.
        row: usize,
    },
    /// A Matrix Market file cannot be understood.
    #[error("line {line}: {what}")]
    Market {
        /// The line, counted from 1.
        line: usize,
        /// What is wrong there.
        what: String,
    },
    /// A file cannot be read or written.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The device, its memory or a launch.
    #[error(transparent)]
    Device(#[from] gpu_core::Error),
}

impl From<Error> for gpu_core::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Device(error) => error,
            own => Self::Primitive(Box::new(own)),
        }
    }
}
