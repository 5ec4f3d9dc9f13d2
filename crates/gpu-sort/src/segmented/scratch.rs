//! Scratch memory of a sort of segments.

use gpu_core::{Buffer, Segments, Stream};
use gpu_sort_kernels::segmented::{INDICES, PLACES};

use super::cut::Cut;
use super::plan::SegmentedPlan;
use crate::key::{SortKey, SortOptions};
use gpu_core::Error;

/// Which segments are of which class, and, where some are longer than a block sorts at once, room for their keys and indices.
///
/// It belongs to the stream that it was made for: sorts that share it must run one after the other.
#[derive(Debug)]
pub struct SegmentedScratch {
    pub(crate) lists: Buffer<u32>,
    pub(crate) merged: Buffer<u128>,
    /// Where in the array values are.
    pub(crate) places: Buffer<u32>,
    pub(crate) stream: Stream,
}

impl SegmentedScratch {
    /// Scratch memory for sorts of `len` keys of type `K` in these segments on `stream`.
    ///
    /// # Errors
    /// Those of the segments; [`Error::TooLong`]; those of the device, where its memory does not suffice.
    pub fn for_keys<'s, K: SortKey>(
        stream: &Stream,
        len: usize,
        segments: impl Into<Segments<'s>>,
    ) -> Result<Self, Error> {
        Self::new::<K>(stream, len, segments.into(), 0)
    }

    /// The same for keys with values of any type: an index of 4 bytes for each more.
    ///
    /// # Errors
    /// As [`SegmentedScratch::for_keys`].
    pub fn for_pairs<'s, K: SortKey>(
        stream: &Stream,
        len: usize,
        segments: impl Into<Segments<'s>>,
    ) -> Result<Self, Error> {
        Self::new::<K>(stream, len, segments.into(), PLACES)
    }

    /// The same for keys with their indices.
    ///
    /// # Errors
    /// As [`SegmentedScratch::for_keys`].
    pub fn for_indices<'s, K: SortKey>(
        stream: &Stream,
        len: usize,
        segments: impl Into<Segments<'s>>,
    ) -> Result<Self, Error> {
        Self::new::<K>(stream, len, segments.into(), INDICES)
    }

    fn new<K: SortKey>(
        stream: &Stream,
        len: usize,
        segments: Segments<'_>,
        payload: u32,
    ) -> Result<Self, Error> {
        let cut = Cut::new(segments, stream, super::NAME, len)?;
        let sorting = SortOptions::ascending().checked::<K>()?;
        Self::for_plan(stream, &SegmentedPlan::new(len, cut, sorting, size_of::<K>(), payload, None)?)
    }

    pub(crate) fn for_plan(stream: &Stream, plan: &SegmentedPlan) -> Result<Self, Error> {
        let device = stream.device();
        Ok(Self {
            lists: device.alloc(plan.list_words())?,
            merged: device.alloc(Self::merged_words(plan))?,
            places: device.alloc(plan.places())?,
            stream: stream.clone(),
        })
    }

    /// Words of 128 bits of two arrays of composites, each from a multiple of 16 bytes on.
    fn merged_words(plan: &SegmentedPlan) -> usize {
        2 * (plan.merged() * plan.composite as usize).div_ceil(16)
    }

    /// Whether it is enough, and belongs to the stream.
    pub(crate) fn check(
        &self,
        stream: &Stream,
        what: &'static str,
        plan: &SegmentedPlan,
    ) -> Result<(), Error> {
        let needed = [
            (plan.list_words(), self.lists.len()),
            (Self::merged_words(plan), self.merged.len()),
            (plan.places(), self.places.len()),
        ];
        for (expected, actual) in needed {
            if actual < expected {
                return Err(Error::ScratchTooSmall { what, len: plan.job.len as usize, expected, actual });
            }
        }
        if self.stream != *stream {
            return Err(Error::ScratchOfOtherStream);
        }
        Ok(())
    }
}
