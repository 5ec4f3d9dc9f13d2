//! What can go wrong.

/// An error of a transposition. Input and output are as they were.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A leading dimension is smaller than the row.
    #[error("the leading dimension is {actual}, but a row has {expected} elements")]
    LeadingDimension {
        /// Elements of a row.
        expected: usize,
        /// The leading dimension given.
        actual: usize,
    },
    /// The matrix's length is not a `usize`.
    #[error("{rows} rows of {leading_dimension} elements are more than can be addressed")]
    SizeOverflow {
        /// Rows.
        rows: usize,
        /// Elements from the start of a row to that of the next.
        leading_dimension: usize,
    },
    /// A buffer is shorter than the matrix that it is to hold.
    #[error("the {what} holds {actual} elements, but its matrix spans {expected}")]
    Length {
        /// Which one: "input" or "output".
        what: &'static str,
        /// Elements the matrix spans.
        expected: usize,
        /// Elements the buffer holds.
        actual: usize,
    },
    /// A launch cannot hold as many blocks as the matrix has tiles.
    #[error("{tiles_down} × {tiles_across} tiles are more than the {limit} blocks of a launch")]
    TooManyTiles {
        /// Tiles from the first row to the last.
        tiles_down: usize,
        /// Tiles from the first column to the last.
        tiles_across: usize,
        /// The most blocks a launch can have.
        limit: u32,
    },
    /// The device, its memory or the launch.
    #[error(transparent)]
    Device(#[from] gpu_core::Error),
}
