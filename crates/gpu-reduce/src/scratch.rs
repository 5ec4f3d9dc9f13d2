//! Scratch memory of a reduction.

use gpu_core::{Buffer, Stream};
use gpu_reduce_kernels::Reduction;

use crate::axis::Along;
use crate::instance::AlongColumns;
use crate::instance::Segmented;
use crate::plan::{most_scratch_words, segments_scratch_words};
use gpu_core::Error;

/// Words before the partial results: the ticket, and a place for the results of the forms that return them.
const HEADER: usize = 4;
/// Where the results lie in it.
pub(crate) const RESULT: core::ops::Range<usize> = 1..3;

/// The partial results of the blocks and the ticket that tells which block finishes.
///
/// It belongs to the stream that it was made for: reductions that share it must run one after the other. It is zero
/// between launches, and every launch leaves it so. One made for a length serves every reduction of up to that
/// length, of any type.
#[derive(Debug)]
pub struct Scratch {
    /// One allocation of 64-bit words: header, then those of each block.
    pub(crate) words: Buffer<u64>,
    pub(crate) stream: Stream,
    /// Set while a launch is being enqueued. It stays set if that fails: then the words must be cleared again.
    pub(crate) dirty: bool,
}

impl Scratch {
    /// Bytes of device memory that any reduction of up to `len` elements takes: 97 KiB at most.
    ///
    /// ```
    /// assert_eq!(gpu_reduce::Scratch::bytes(1), 8 * (4 + 6));
    /// assert_eq!(gpu_reduce::Scratch::bytes(usize::MAX), 8 * (4 + 6 * 2048));
    /// ```
    pub const fn bytes(len: usize) -> usize {
        (HEADER + most_scratch_words(len)) * size_of::<u64>()
    }

    /// Scratch memory for reductions of up to `len` elements on `stream`.
    ///
    /// # Errors
    /// Where the device's memory does not suffice.
    pub fn for_len(stream: &Stream, len: usize) -> Result<Self, Error> {
        let words = stream.device().zeroed(HEADER + most_scratch_words(len))?;
        Ok(Self { words, stream: stream.clone(), dirty: false })
    }

    /// Scratch memory for reductions `R` of segments of arrays of up to `len` elements on `stream`, and for
    /// every other one that needs no more of it: about a word for each 2 KiB.
    ///
    /// # Errors
    /// Where the device's memory does not suffice.
    pub fn for_segments<R: Segmented>(stream: &Stream, len: usize) -> Result<Self, Error> {
        let words = stream.device().zeroed(HEADER + segments_scratch_words::<R>(len))?;
        Ok(Self { words, stream: stream.clone(), dirty: false })
    }

    /// Scratch memory for reductions `R` along `axis` of arrays of `shape` on `stream`, and for every other one that
    /// needs no more of it.
    ///
    /// # Errors
    /// [`Error::Axis`], [`Error::TooLong`], [`Error::TooManySegments`]; those of the device where the device's memory
    /// does not suffice.
    pub fn for_axis<R: Segmented + AlongColumns>(
        stream: &Stream,
        shape: &[usize],
        axis: usize,
    ) -> Result<Self, Error> {
        let words = Along::new::<R>(shape, axis)?.scratch_words::<R>();
        Ok(Self { words: stream.device().zeroed(HEADER + words)?, stream: stream.clone(), dirty: false })
    }

    /// Words that it has for partial results.
    pub fn capacity(&self) -> usize {
        self.words.len() - HEADER
    }

    /// Whether the header has room for the results.
    pub(crate) const fn has_room_for<R: Reduction>() -> bool {
        R::OUTPUTS as usize * size_of::<R::Output>() <= (RESULT.end - RESULT.start) * size_of::<u64>()
    }

    /// Clears what a failed launch may have left.
    pub(crate) fn prepare(&mut self) -> Result<(), Error> {
        if self.dirty {
            self.stream.memset(&mut self.words, 0)?;
        }
        self.dirty = true;
        Ok(())
    }

    /// The address of the partial results, which are cleared where a failed launch may have left something; `dirty`
    /// is set.
    pub(crate) fn prepared(&mut self) -> Result<u64, Error> {
        self.prepare()?;
        Ok(self.partials())
    }

    /// The address of the ticket.
    pub(crate) fn ticket(&self) -> u64 {
        self.words.view().as_global().address()
    }

    /// The address of the results.
    pub(crate) fn result(&self) -> u64 {
        self.ticket() + (RESULT.start * size_of::<u64>()) as u64
    }

    /// The address of the partial results.
    pub(crate) fn partials(&self) -> u64 {
        self.ticket() + (HEADER * size_of::<u64>()) as u64
    }
}
