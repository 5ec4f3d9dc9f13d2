//! What can go wrong.

/// An error of a reduction. Input and output are as they were.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The output does not hold exactly one element.
    #[error("the output of a sum holds {actual} elements, not {expected}")]
    OutputLength {
        /// What a reduction writes.
        expected: usize,
        /// Elements of the output given.
        actual: usize,
    },
    /// The scratch memory was made for a shorter input.
    #[error("an input of {len} elements needs scratch for {expected} blocks, but this is for {actual}")]
    ScratchTooSmall {
        /// Elements of the input.
        len: usize,
        /// Blocks that the input takes.
        expected: u32,
        /// Blocks that the scratch memory was made for.
        actual: u32,
    },
    /// The scratch memory belongs to another stream, whose reductions may be using it.
    #[error("scratch memory of one stream was given with another stream")]
    ScratchOfOtherStream,
    /// The device, its memory or the launch.
    #[error(transparent)]
    Device(#[from] gpu_core::Error),
}
