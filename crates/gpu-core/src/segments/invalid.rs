//! What no segments can be.

/// What no segments of an array can be, or not for what is asked of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Invalid {
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
    #[error("the last segment of a {what} ends at {end}, but there are {len} elements")]
    BeyondEnd {
        /// What was asked for.
        what: &'static str,
        /// Where it ends.
        end: usize,
        /// Elements of the input.
        len: usize,
    },

    /// A segment has no elements, and there is no result of none.
    #[error("segment {segment} has no elements, of which the {what} does not exist")]
    EmptySegment {
        /// What was asked for.
        what: &'static str,
        /// The first such segment.
        segment: usize,
    },

    /// Segments of one length have one element at least.
    #[error("segments of length 0")]
    SegmentLength,

    /// An array does not consist of whole rows.
    #[error("a {what} of rows of {row} elements, but there are {len}")]
    Rows {
        /// What was asked for.
        what: &'static str,
        /// Elements of the input.
        len: usize,
        /// Elements of a row.
        row: usize,
    },

    /// Segments leave elements out, before the first or after the last.
    #[error("a {what} needs segments of all {len} elements, but these lie in {start}..{end}")]
    Uncovered {
        /// What was asked for.
        what: &'static str,
        /// Where the first starts.
        start: usize,
        /// Where the last ends.
        end: usize,
        /// Elements of the input.
        len: usize,
    },

    /// Segments are told in a way that this does not take.
    #[error("a {what} takes no segments by {by}: use {instead}")]
    SegmentsBy {
        /// What was asked for.
        what: &'static str,
        /// How they are told: "flags", "keys".
        by: &'static str,
        /// What does the same.
        instead: &'static str,
    },

    /// There are more segments than can be counted.
    #[error("{count} segments are more than {most}")]
    TooManySegments {
        /// How many there are.
        count: usize,
        /// The most there may be.
        most: usize,
    },
}
