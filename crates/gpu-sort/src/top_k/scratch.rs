//! Scratch memory of a selection.

use gpu_core::{Buffer, Segments, Stream};
use gpu_sort_kernels::segmented::PLACES;

use super::plan::{Method, TopKPlan};
use crate::key::SortKey;
use crate::scratch::SortScratch;
use crate::segmented::SegmentedScratch;
use gpu_core::Error;

/// Candidates and a bound, or what a sort needs where one is faster.
///
/// It belongs to the stream that it was made for: selections that share it must run one after the other.
#[derive(Debug)]
pub struct TopKScratch<K: SortKey> {
    pub(super) words: Buffer<u128>,
    /// Where in the array values are.
    pub(super) places: Buffer<u32>,
    pub(super) segmented: Option<SegmentedScratch>,
    pub(super) radix: Option<Sorted<K>>,
    pub(super) stream: Stream,
}

/// A whole array in order.
#[derive(Debug)]
pub(super) struct Sorted<K: SortKey> {
    pub(super) keys: Buffer<K>,
    pub(super) indices: Buffer<u32>,
    pub(super) scratch: SortScratch,
}

impl<K: SortKey> TopKScratch<K> {
    /// Scratch memory for the first `k` of `len` keys on `stream`.
    ///
    /// # Errors
    /// Those of [`top_k`](crate::top_k).
    pub fn new(stream: &Stream, len: usize, k: usize) -> Result<Self, Error> {
        super::expect_k(k, len)?;
        Self::for_segments(stream, len, Segments::of_length(len)?, k)
    }

    /// Scratch memory for the first `k` of each of these segments of `len` keys on `stream`.
    ///
    /// # Errors
    /// Those of [`top_k_segments`](crate::top_k_segments).
    pub fn for_segments<'s>(
        stream: &Stream,
        len: usize,
        segments: impl Into<Segments<'s>>,
        k: usize,
    ) -> Result<Self, Error> {
        let (_, plan) = super::planned::<K>(stream, len, segments.into(), k, crate::TopK::largest(), PLACES)?;
        Self::for_plan(stream, len, &plan)
    }

    pub(super) fn for_plan(stream: &Stream, len: usize, plan: &TopKPlan) -> Result<Self, Error> {
        let device = stream.device();
        let segmented = match &plan.method {
            Method::Sort(plan) => Some(SegmentedScratch::for_plan(stream, plan)?),
            _ => None,
        };
        let radix = if plan.method == Method::Radix {
            let scratch = SortScratch::for_pairs::<K, u32>(stream, len)?;
            Some(Sorted { keys: device.alloc(len)?, indices: device.alloc(len)?, scratch })
        } else {
            None
        };
        let places = device.alloc(plan.places())?;
        Ok(Self { words: device.alloc(plan.words())?, places, segmented, radix, stream: stream.clone() })
    }

    /// Whether it is enough, and belongs to the stream.
    pub(super) fn check(&self, stream: &Stream, len: usize, plan: &TopKPlan) -> Result<(), Error> {
        let too_small =
            |expected, actual| Error::ScratchTooSmall { what: super::NAME, len, expected, actual };
        if self.words.len() < plan.words() {
            return Err(too_small(plan.words(), self.words.len()));
        }
        if self.places.len() < plan.places() {
            return Err(too_small(plan.places(), self.places.len()));
        }
        match (&plan.method, &self.segmented, &self.radix) {
            (Method::Sort(plan), Some(scratch), _) => scratch.check(stream, super::NAME, plan)?,
            (Method::Sort(plan), None, _) => return Err(too_small(plan.list_words().max(1), 0)),
            (Method::Radix, _, Some(sorted)) if sorted.keys.len() < len => {
                return Err(too_small(len, sorted.keys.len()));
            }
            (Method::Radix, _, None) => return Err(too_small(len, 0)),
            _ => {}
        }
        if self.stream != *stream {
            return Err(Error::ScratchOfOtherStream);
        }
        Ok(())
    }
}
