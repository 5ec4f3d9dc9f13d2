//! Scratch memory of a selection.

use gpu_core::{Buffer, Element, Stream};

use super::plan::SelectPlan;
use super::rule::Rule;
use gpu_core::Error;

/// How many items the tiles keep, on their way from block to block.
///
/// It belongs to the stream that it was made for: selections that share it must run one after the other. Every
/// selection starts by clearing it.
#[derive(Debug)]
pub struct SelectScratch {
    pub(super) words: Buffer<u64>,
    stream: Stream,
}

impl SelectScratch {
    /// Scratch memory for selections from up to `len` items of type `T` on `stream`: about 17 bytes for each 2,000 or
    /// more of them.
    ///
    /// # Errors
    /// [`Error::TooLong`]; those of the device where the device's memory does not suffice.
    pub fn new<T: Element>(stream: &Stream, len: usize) -> Result<Self, Error> {
        let plan = SelectPlan::new(len, size_of::<T>())?;
        Ok(Self { words: stream.device().alloc(plan.scratch_words())?, stream: stream.clone() })
    }

    /// Whether it is enough, and belongs to the stream.
    pub(super) fn check<T: Element, R: Rule<T>>(
        &self,
        stream: &Stream,
        plan: &SelectPlan,
    ) -> Result<(), Error> {
        let (expected, actual) = (plan.scratch_words(), self.words.len());
        if actual < expected {
            return Err(Error::ScratchTooSmall { what: R::NAME, len: plan.len, expected, actual });
        }
        if self.stream != *stream {
            return Err(Error::ScratchOfOtherStream);
        }
        Ok(())
    }
}
