//! What can go wrong.

/// An error of a reduction. Input and output are as they were.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no result of no elements.
    #[error("the {reduction} of no elements does not exist")]
    Empty {
        /// What was asked for.
        reduction: &'static str,
    },
    /// Two arrays that are taken together have different lengths.
    #[error("the arrays of a {reduction} have {first} and {second} elements")]
    InputLengths {
        /// What was asked for.
        reduction: &'static str,
        /// Elements of the first.
        first: usize,
        /// Elements of the second.
        second: usize,
    },
    /// The output does not hold exactly the elements that the reduction writes.
    #[error("the output of a {reduction} holds {actual} elements, not {expected}")]
    OutputLength {
        /// What was asked for.
        reduction: &'static str,
        /// What it writes.
        expected: usize,
        /// Elements of the output given.
        actual: usize,
    },
    /// The scratch memory was made for a shorter input.
    #[error(
        "a {reduction} of {len} elements needs scratch memory of {expected} words, but this has {actual}"
    )]
    ScratchTooSmall {
        /// What was asked for.
        reduction: &'static str,
        /// Elements of the input.
        len: usize,
        /// Words that the partial results take.
        expected: usize,
        /// Words that the scratch memory has.
        actual: usize,
    },
    /// The scratch memory belongs to another stream, whose reductions may be using it.
    #[error("scratch memory of one stream was given with another stream")]
    ScratchOfOtherStream,
    /// The input is longer than offsets within a block's part can tell.
    #[error("an input of {len} elements is longer than {most}")]
    TooLong {
        /// Elements of the input.
        len: usize,
        /// The most there may be.
        most: usize,
    },
    /// Offsets of segments are one more than segments: there must be one at least.
    #[error("there are no offsets: segments need one more than there are segments")]
    NoOffsets,
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
    /// The last segment ends beyond the input.
    #[error("the last segment of a {reduction} ends at {end}, but there are {len} elements")]
    BeyondEnd {
        /// What was asked for.
        reduction: &'static str,
        /// Where it ends.
        end: usize,
        /// Elements of the input.
        len: usize,
    },
    /// A segment has no elements, and there is no result of none.
    #[error("segment {segment} has no elements, of which the {reduction} does not exist")]
    EmptySegment {
        /// What was asked for.
        reduction: &'static str,
        /// The first such segment.
        segment: usize,
    },
    /// There are more segments than a launch can count.
    #[error("{count} segments are more than {most}")]
    TooManySegments {
        /// How many there are.
        count: usize,
        /// The most there may be.
        most: usize,
    },
    /// An array has no such axis.
    #[error("axis {axis} of an array of {axes} axes (counted from 0)")]
    Axis {
        /// The axis.
        axis: usize,
        /// Axes of the array.
        axes: usize,
    },
    /// An array does not have as many elements as its shape.
    #[error("the array of a {reduction} has {actual} elements, its shape {expected}")]
    Shape {
        /// What was asked for.
        reduction: &'static str,
        /// Elements of the shape.
        expected: usize,
        /// Elements of the array.
        actual: usize,
    },
    /// The device, its memory or the launch.
    #[error(transparent)]
    Device(#[from] gpu_core::Error),
}
