//! What can go wrong.

/// An error of an operation on sparse matrices. Its output is as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Arrays of a matrix have other lengths than its shape says.
    #[error("the {what} of a matrix are {actual} elements, not {expected}")]
    Length {
        /// Which array.
        what: &'static str,
        /// Elements it should have.
        expected: usize,
        /// Elements it has.
        actual: usize,
    },
    /// Rows, columns, or rows and entries together, are more than the kernels count.
    #[error("{what} are {actual}, the limit is {limit}")]
    TooLarge {
        /// What there is too much of.
        what: &'static str,
        /// How much there is.
        actual: usize,
        /// The most there may be.
        limit: usize,
    },
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
    /// A triangular matrix has as many rows as columns.
    #[error("a triangular matrix has as many rows as columns, not {rows} × {columns}")]
    NotSquare {
        /// Rows.
        rows: usize,
        /// Columns.
        columns: usize,
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
    /// Vectors do not fit the matrix.
    #[error(
        "a {rows} × {columns} matrix takes a vector of {columns} elements to one of {rows}, not {x} to {y}"
    )]
    VectorLengths {
        /// Rows of the matrix.
        rows: usize,
        /// Columns of the matrix.
        columns: usize,
        /// Elements of the vector that it is multiplied by, or that is solved for.
        x: usize,
        /// Elements of the other.
        y: usize,
    },
    /// The output shares memory with an input.
    #[error("the output shares memory with {input}")]
    Aliasing {
        /// Which input.
        input: &'static str,
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
    /// A dense matrix of vectors does not fit.
    #[error("{what} is {} × {}, not {} × {}", actual.0, actual.1, expected.0, expected.1)]
    Shape {
        /// Which one.
        what: &'static str,
        /// The rows and columns it should have.
        expected: (usize, usize),
        /// Those it has.
        actual: (usize, usize),
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
