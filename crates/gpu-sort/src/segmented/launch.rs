//! The launches of sorts of segments.

use gpu_core::{Element, Stream, View, ViewMut};
use gpu_sort_kernels as kernels;
use gpu_sort_kernels::segmented::INDICES;
use gpu_std::memory::{Global, GlobalMut};

use super::plan::SegmentedPlan;
use super::scratch::SegmentedScratch;
use super::segments::Segments;
use crate::error::Error;

/// Where values come from, and where they go.
pub(crate) enum Moved<'a, 'b, V: Element> {
    /// There are none.
    None,
    /// One a key.
    Of(View<'a, V>, ViewMut<'b, V>),
    /// The keys' indices in their segments.
    Indices(ViewMut<'b, u32>),
}

impl<V: Element> Moved<'_, '_, V> {
    /// What the kernels are told.
    pub(crate) const fn payload(&self) -> u32 {
        match self {
            Self::None => 0,
            Self::Of(..) => size_of::<V>() as u32,
            Self::Indices(_) => INDICES,
        }
    }

    /// From where and to where; `none` where there is nothing.
    pub(crate) fn arrays(&mut self, none: GlobalMut<u8>) -> (Global<u8>, GlobalMut<u8>) {
        match self {
            Self::None => (none.as_global(), none),
            Self::Of(input, output) => (input.as_global().cast(), output.as_global_mut().cast()),
            Self::Indices(output) => (none.as_global(), output.as_global_mut().cast()),
        }
    }
}

/// Enqueues a sort of one segment at least. Everything has been checked: same device, lengths, enough scratch. `keys` may be where
/// `output` is.
pub(crate) fn sort<V: Element>(
    stream: &Stream,
    plan: &SegmentedPlan,
    segments: Segments<'_>,
    keys: Global<u8>,
    output: GlobalMut<u8>,
    mut moved: Moved<'_, '_, V>,
    scratch: &mut SegmentedScratch,
) -> Result<(), Error> {
    let job = plan.job;
    let (values, values_output) = moved.arrays(output);
    let counts = scratch.lists.view_mut().as_global_mut();
    let lists = counts.offset(16);
    let offsets = segments.offsets(counts.as_global());
    if let Some(config) = plan.classify() {
        stream.memset(scratch.lists.slice_mut(..16), 0)?;
        // SAFETY: there is an offset more than segments, and none is less than the one before; of a class, and of tiles of long segments,
        // there are not more than `list_start` leaves room for, since together they have `job.len` elements.
        unsafe {
            kernels::segmented_classify::launch(
                stream, config, offsets, job.segments, job.len, plan.composite, counts, lists,
            )?;
        }
    }
    let first = scratch.merged.view_mut().as_global_mut();
    let second = first.offset(scratch.merged.len() as u64 / 2);
    let (counts, lists) = (counts.as_global(), lists.as_global());
    macro_rules! launch {
        ($sort:ident $merge:ident) => {{
            let config = plan.sort();
            // SAFETY: segments lie in the keys, and results in the outputs, which are as long or, where there is a limit, hold as many
            // of each segment, which has as many. Each slot's keys have been read before its results are written. Both arrays have
            // `job.len` composites wherever a segment is longer than a tile.
            unsafe {
                kernels::$sort::launch(
                    stream, config, job, keys, values, offsets, counts, lists, output, values_output, first.cast(), second.cast(),
                )?;
            }
            for (pass, config) in plan.merges() {
                let (from, to) = if pass % 2 == 0 { (first, second) } else { (second, first) };
                let from = from.as_global().cast();
                // SAFETY: as above; from and to are apart, and runs lie where the pass before has written them.
                unsafe {
                    kernels::$merge::launch(
                        stream, config, job, pass, values, offsets, counts, lists, from, to.cast(), output, values_output,
                    )?;
                }
            }
        }};
    }
    match plan.composite {
        4 => launch!(segmented_sort_b32 segmented_merge_b32),
        8 => launch!(segmented_sort_b64 segmented_merge_b64),
        _ => launch!(segmented_sort_b128 segmented_merge_b128),
    }
    Ok(())
}
