//! Scratch memory of a scan.

use gpu_core::{Buffer, Stream};
use gpu_scan_kernels::Scan;

use crate::axis::{Along, scratch_words};
use crate::plan::{HEADER, most_scratch_words, most_segments_scratch_words};
use gpu_core::Error;

/// The totals of the tiles on their way from block to block, and the ticket by which blocks take tiles.
///
/// It belongs to the stream that it was made for: scans that share it must run one after the other. Every launch
/// leaves it ready for the next one. One made for a length serves every scan of up to that length, of any type.
#[derive(Debug)]
pub struct Scratch {
    /// One allocation of 64-bit words: header, then those of the tiles.
    pub(crate) words: Buffer<u64>,
    pub(crate) stream: Stream,
    /// Set while a launch is being enqueued. It stays set if that fails: then the words must be cleared again.
    pub(crate) dirty: bool,
}

impl Scratch {
    /// Bytes of device memory that any scan of up to `len` elements takes: 1 in 1,200 of those of an array of `f64`.
    ///
    /// ```
    /// assert_eq!(gpu_scan::Scratch::bytes(1000), 8 * 2);
    /// assert_eq!(gpu_scan::Scratch::bytes(5 << 19), 8 * (2 + 2 * (1024 + 32 + 1) + 32 + 1));
    /// ```
    pub const fn bytes(len: usize) -> usize {
        (HEADER + most_scratch_words(len)) * size_of::<u64>()
    }

    /// Scratch memory for scans of up to `len` elements on `stream`.
    ///
    /// # Errors
    /// Where the device's memory does not suffice.
    pub fn for_len(stream: &Stream, len: usize) -> Result<Self, Error> {
        let words = stream.device().zeroed(HEADER + most_scratch_words(len))?;
        Ok(Self { words, stream: stream.clone(), dirty: false })
    }

    /// Scratch memory for scans of segments of up to `len` elements on `stream`, and for all other scans of as many.
    ///
    /// # Errors
    /// Where the device's memory does not suffice.
    pub fn for_segments(stream: &Stream, len: usize) -> Result<Self, Error> {
        let words = stream.device().zeroed(HEADER + most_segments_scratch_words(len))?;
        Ok(Self { words, stream: stream.clone(), dirty: false })
    }

    /// Scratch memory for scans with the operator `S` along `axis` of arrays of `shape` on `stream`.
    ///
    /// # Errors
    /// [`Error::Axis`], [`Error::TooLong`]; those of the device where the device's memory does not suffice.
    pub fn for_axis<S: Scan>(stream: &Stream, shape: &[usize], axis: usize) -> Result<Self, Error> {
        let elements = shape.iter().fold(1usize, |all, &extent| all.saturating_mul(extent));
        let along = Along::new(shape, axis, elements)?;
        if along.inner == 1 {
            return Self::for_segments(stream, elements);
        }
        let words = stream.device().zeroed(HEADER + scratch_words::<S>(along.lines::<S>()?))?;
        Ok(Self { words, stream: stream.clone(), dirty: false })
    }

    /// Words that it has for tiles.
    pub fn capacity(&self) -> usize {
        self.words.len() - HEADER
    }

    /// Whether it has so many words for tiles, and belongs to the stream.
    pub(crate) fn check(
        &self,
        stream: &Stream,
        words: usize,
        what: &'static str,
        len: usize,
    ) -> Result<(), Error> {
        let (expected, actual) = (words, self.capacity());
        if actual < expected {
            return Err(Error::ScratchTooSmall { what, len, expected, actual });
        }
        if self.stream != *stream {
            return Err(Error::ScratchOfOtherStream);
        }
        Ok(())
    }

    /// Clears what a failed launch may have left.
    pub(crate) fn prepare(&mut self) -> Result<(), Error> {
        if self.dirty {
            self.stream.memset(&mut self.words, 0)?;
        }
        self.dirty = true;
        Ok(())
    }
}
