//! What can go wrong.

/// An error of a scan. Input and output are as they were.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The output does not hold exactly one element for each of the input.
    #[error("the output of a {scan} holds {actual} elements, not {expected}")]
    OutputLength {
        /// What was asked for.
        scan: &'static str,
        /// Elements of the input.
        expected: usize,
        /// Elements of the output given.
        actual: usize,
    },
    /// The scratch memory was made for a shorter input.
    #[error("a {scan} of {len} elements needs scratch memory of {expected} words, but this has {actual}")]
    ScratchTooSmall {
        /// What was asked for.
        scan: &'static str,
        /// Elements of the input.
        len: usize,
        /// Words that the tiles take.
        expected: usize,
        /// Words that the scratch memory has for them.
        actual: usize,
    },
    /// The scratch memory belongs to another stream, whose scans may be using it.
    #[error("scratch memory of one stream was given with another stream")]
    ScratchOfOtherStream,
    /// Two inputs that go together have different lengths: keys and values, items and flags.
    #[error("the inputs of a {scan} hold {first} and {second} elements")]
    InputLengths {
        /// What was asked for.
        scan: &'static str,
        /// Elements of the first input.
        first: usize,
        /// Elements of the second.
        second: usize,
    },
    /// An offset is smaller than the one before it.
    #[error("offset {index} is {actual}, less than {before} before it")]
    Decreasing {
        /// Its number.
        index: usize,
        /// The offset before.
        before: usize,
        /// The offset.
        actual: usize,
    },
    /// The last offset lies beyond the input.
    #[error("the last offset of a {scan} of segments is {end}, but there are {len} elements")]
    BeyondEnd {
        /// What was asked for.
        scan: &'static str,
        /// The offset.
        end: usize,
        /// Elements of the input.
        len: usize,
    },
    /// The array has no such axis.
    #[error("axis {axis} of an array that has {axes}")]
    Axis {
        /// The axis asked for.
        axis: usize,
        /// How many there are.
        axes: usize,
    },
    /// The input does not have the elements of its shape.
    #[error("an array whose shape has {expected} elements holds {actual}")]
    ShapeLength {
        /// Those of the shape.
        expected: usize,
        /// Those there are.
        actual: usize,
    },
    /// There is one offset at least: that of the first segment.
    #[error("there are no offsets: there must be one at least")]
    NoOffsets,
    /// Segments have one element at least.
    #[error("segments of length 0")]
    SegmentLength,
    /// There is nothing between the bounds of a histogram, or more than its type can express, or so little that bins
    /// of that many to a unit are.
    #[error("a histogram from {lower} to {upper}")]
    Bounds {
        /// The lower bound.
        lower: f64,
        /// The upper bound.
        upper: f64,
    },
    /// A histogram needs a bin at least, and can only have so many.
    #[error("a histogram of {bins} bins, not 1 to {most}")]
    Bins {
        /// Bins asked for.
        bins: usize,
        /// The most there may be.
        most: usize,
    },
    /// An edge of a histogram is less than the one before, or one of them is not a number.
    #[error("edge {index} of a histogram is {after}, after {before}")]
    Edges {
        /// Which edge.
        index: usize,
        /// The edge before.
        before: f64,
        /// The edge.
        after: f64,
    },
    /// The input has more tiles than a launch can count.
    #[error("an input of {len} elements is longer than {most}")]
    TooLong {
        /// Elements of the input.
        len: usize,
        /// The most there may be.
        most: usize,
    },
    /// That of a sort.
    #[error(transparent)]
    Sort(#[from] gpu_sort::Error),
    /// The device, its memory or the launch.
    #[error(transparent)]
    Device(#[from] gpu_core::Error),
}
