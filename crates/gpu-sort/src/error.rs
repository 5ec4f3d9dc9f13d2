//! What can go wrong.

/// An error of a sort. Inputs and outputs are as they were.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The output does not hold exactly the elements that there will be.
    #[error("the output of a {what} holds {actual} elements, not {expected}")]
    OutputLength {
        /// What was asked for.
        what: &'static str,
        /// Elements that there will be.
        expected: usize,
        /// Elements of the output given.
        actual: usize,
    },
    /// The scratch memory was made for less.
    #[error("a {what} of {len} elements needs scratch memory of {expected} words, but this has {actual}")]
    ScratchTooSmall {
        /// What was asked for.
        what: &'static str,
        /// Elements of the input.
        len: usize,
        /// Words that are needed.
        expected: usize,
        /// Words that the scratch memory has.
        actual: usize,
    },
    /// The scratch memory belongs to another stream, whose sorts may be using it.
    #[error("scratch memory of one stream was given with another stream")]
    ScratchOfOtherStream,
    /// Two inputs that go together have different lengths: keys and values.
    #[error("the inputs of a {what} hold {first} and {second} elements")]
    InputLengths {
        /// What was asked for.
        what: &'static str,
        /// Elements of the first input.
        first: usize,
        /// Elements of the second.
        second: usize,
    },
    /// There are no such bits in a key.
    #[error("a sort by bits {start} to {end} of keys that have {width}")]
    Bits {
        /// The lowest bit.
        start: u32,
        /// One past the highest.
        end: u32,
        /// Bits of a key.
        width: u32,
    },
    /// A sort of segments compares all bits of the keys.
    #[error("a {what} by bits {start} to {end} of keys that have {width}: it compares all")]
    SomeBits {
        /// What was asked for.
        what: &'static str,
        /// The lowest bit.
        start: u32,
        /// One past the highest.
        end: u32,
        /// Bits of a key.
        width: u32,
    },
    /// Segments have one element at least.
    #[error("segments of length 0")]
    SegmentLength,
    /// The array does not consist of whole rows.
    #[error("a {what} of rows of {row} elements, but there are {len}")]
    Rows {
        /// What was asked for.
        what: &'static str,
        /// Elements of the input.
        len: usize,
        /// Elements of a row.
        row: usize,
    },
    /// There is one offset at least: that of the first segment.
    #[error("there are no offsets: there must be one at least")]
    NoOffsets,
    /// The first segment starts where the array does.
    #[error("the first offset is {actual}, not 0")]
    FirstOffset {
        /// The offset.
        actual: usize,
    },
    /// An offset is smaller than the one before it: segments overlap.
    #[error("offset {index} is {actual}, less than {before} before it")]
    Decreasing {
        /// Its number.
        index: usize,
        /// The offset before.
        before: usize,
        /// The offset.
        actual: usize,
    },
    /// The last segment ends where the array does.
    #[error("the last offset of a {what} of segments is {end}, but there are {len} elements")]
    LastOffset {
        /// What was asked for.
        what: &'static str,
        /// The offset.
        end: usize,
        /// Elements of the input.
        len: usize,
    },
    /// There is not one key to be selected, or less keys than are to be.
    #[error("a {what} of the first {k}, not 1 to {most}")]
    K {
        /// What was asked for.
        what: &'static str,
        /// How many.
        k: usize,
        /// How many there are, in the shortest segment.
        most: usize,
    },
    /// The input is longer than can be indexed.
    #[error("an input of {len} elements is longer than {most}")]
    TooLong {
        /// Elements of the input.
        len: usize,
        /// The most there may be.
        most: usize,
    },
    /// The device, its memory or the launch.
    #[error(transparent)]
    Device(#[from] gpu_core::Error),
}
