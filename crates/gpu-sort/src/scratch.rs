//! Scratch memory of a sort.

use gpu_core::{Buffer, Element, Stream};

use crate::error::Error;
use crate::key::SortKey;
use crate::plan::SortPlan;
use crate::values::moved_bytes;

/// Where digits start, the tiles' counts, and room for the keys, and what moves with them, on their way.
///
/// It belongs to the stream that it was made for: sorts that share it must run one after the other. Every sort starts
/// by clearing what it needs cleared.
#[derive(Debug)]
pub struct SortScratch {
    pub(crate) words: Buffer<u64>,
    /// The keys after every other pass.
    pub(crate) keys: Buffer<u64>,
    /// What moves with them.
    pub(crate) values: Buffer<u64>,
    /// Two indices in turn, where values of another width are sorted by them.
    pub(crate) index: Buffer<u32>,
    pub(crate) stream: Stream,
}

/// Words of 64 bits that hold so many elements of so many bytes.
fn words_of(len: usize, bytes: usize) -> usize {
    (len * bytes).div_ceil(8)
}

impl SortScratch {
    /// Scratch memory for sorts of up to `len` keys of type `K` on `stream`: as much as the keys, and a 30th of that.
    ///
    /// # Errors
    /// [`Error::TooLong`]; [`Error::Device`] where the device's memory does not suffice.
    pub fn for_keys<K: SortKey>(stream: &Stream, len: usize) -> Result<Self, Error> {
        Self::new::<K>(stream, len, 0)
    }

    /// Scratch memory for sorts of up to `len` pairs on `stream`: as much as the pairs, and a 30th of that. For
    /// values of 1, 2 or 16 bytes it has two indices of 4 bytes instead of the values.
    ///
    /// # Errors
    /// As [`SortScratch::for_keys`].
    pub fn for_pairs<K: SortKey, V: Element>(stream: &Stream, len: usize) -> Result<Self, Error> {
        Self::new::<K>(stream, len, size_of::<V>())
    }

    fn new<K: SortKey>(stream: &Stream, len: usize, value_bytes: usize) -> Result<Self, Error> {
        let device = stream.device();
        let moved = moved_bytes(value_bytes);
        let plan = SortPlan::new(len, size_of::<K>(), moved)?;
        let passes = K::BITS.div_ceil(plan.shape.digit_bits);
        Ok(Self {
            words: device.alloc(plan.words(passes))?,
            keys: device.alloc(words_of(len, size_of::<K>()))?,
            values: device.alloc(words_of(len, moved))?,
            index: device.alloc(if moved == value_bytes { 0 } else { len })?,
            stream: stream.clone(),
        })
    }

    /// Whether it is enough, and belongs to the stream.
    pub(crate) fn check(
        &self,
        stream: &Stream,
        plan: &SortPlan,
        passes: u32,
        indexed: bool,
    ) -> Result<(), Error> {
        let len = plan.len;
        let needed = [
            (plan.words(passes), self.words.len()),
            (words_of(len, plan.shape.key_bytes as usize), self.keys.len()),
            (words_of(len, plan.shape.value_bytes as usize), self.values.len()),
            (if indexed { len } else { 0 }, self.index.len()),
        ];
        for (expected, actual) in needed {
            if actual < expected {
                return Err(Error::ScratchTooSmall { what: crate::api::NAME, len, expected, actual });
            }
        }
        if self.stream != *stream {
            return Err(Error::ScratchOfOtherStream);
        }
        Ok(())
    }
}
