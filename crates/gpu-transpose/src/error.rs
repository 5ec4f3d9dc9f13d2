//! What can go wrong.

/// An error of a transposition. Input and output are as they were.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The output has not as many matrices as the input.
    #[error("the input has {expected} matrices, the output {actual}")]
    Count {
        /// Matrices of the input.
        expected: usize,
        /// Matrices of the output.
        actual: usize,
    },
    /// The array's length is not a `usize`.
    #[error("an array of shape {shape:?} has more elements than can be addressed")]
    ShapeOverflow {
        /// Its shape.
        shape: Vec<usize>,
    },
    /// A list of axes does not name each axis once.
    #[error("{axes:?} is no permutation of {rank} axes")]
    NotAPermutation {
        /// The axes given.
        axes: Vec<usize>,
        /// The axes of the array.
        rank: usize,
    },
    /// Too many axes remain after unit axes are dropped and adjacent ones fused.
    #[error("the permutation moves {actual} axes separately, the limit is {limit}")]
    Rank {
        /// The most.
        limit: usize,
        /// How many there are.
        actual: usize,
    },
    /// A rectangle in place has gaps between its rows: its transposed form would have its rows elsewhere.
    #[error(
        "a rectangle in place has no gaps: the leading dimension is {actual}, a row has {expected} elements"
    )]
    InPlaceGap {
        /// Elements of a row.
        expected: usize,
        /// The leading dimension given.
        actual: usize,
    },
    /// A textbook's transposition of a matrix whose columns are contiguous.
    #[error("the textbook's transpositions are of row-major matrices")]
    ColumnMajor,
    /// The device, its memory or the launch.
    #[error(transparent)]
    Device(#[from] gpu_core::Error),
}

/// So that `?` works in a function that calls primitives of several crates and returns gpu-core's error.
impl From<Error> for gpu_core::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Device(error) => error,
            own => Self::Primitive(Box::new(own)),
        }
    }
}
