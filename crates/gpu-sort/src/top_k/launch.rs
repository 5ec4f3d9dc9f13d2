//! The launches of selections.

use gpu_core::{Element, Segments, Stream, View, ViewMut};
use gpu_sort_kernels as kernels;
use gpu_std::memory::{Global, GlobalMut};

use super::plan::{Method, Sample, TopKPlan};
use super::scratch::{Sorted, TopKScratch};
use crate::api::sort_indices_into;
use crate::key::SortKey;
use crate::launch::gather;
use crate::segmented::launch::{self as segmented, Moved};
use crate::top_k::TopK;
use gpu_core::Error;

/// Enqueues a selection from one segment at least. Everything has been checked: same device, lengths, enough scratch.
#[expect(clippy::too_many_arguments, reason = "those of the function")]
pub(super) fn top_k<K: SortKey, V: Element>(
    stream: &Stream,
    plan: &TopKPlan,
    segments: Segments<'_>,
    options: TopK,
    keys: View<'_, K>,
    mut output: ViewMut<'_, K>,
    mut moved: Moved<'_, '_, V>,
    scratch: &mut TopKScratch<K>,
) -> Result<(), Error> {
    match plan.method {
        Method::Sort(plan) => {
            let scratch = scratch.segmented.as_mut().expect("it has been checked");
            let (keys, output) = (keys.as_global().cast(), output.as_global_mut().cast());
            segmented::sort(stream, &plan, segments, keys, output, moved, scratch)
        }
        Method::Radix => {
            let sorted = scratch.radix.as_mut().expect("it has been checked");
            by_sort(stream, keys, options, output, moved, sorted)
        }
        Method::Rows | Method::Filter(_) => {
            if let Method::Filter(_) = plan.method {
                stream.memset(scratch.words.slice_mut(..1), 0)?;
            }
            let output = output.as_global_mut().cast::<u8>();
            let places = scratch.places.view_mut().as_global_mut();
            let indices = moved.indices(places, output);
            let words = scratch.words.view_mut().as_global_mut();
            let arrays = Arrays { keys: keys.as_global().cast(), output, indices, words };
            match size_of::<K>() {
                1 | 2 => select_b16(stream, plan, segments, arrays)?,
                4 => select_b32(stream, plan, segments, arrays)?,
                _ => select_b64(stream, plan, segments, arrays)?,
            }
            if let Moved::Of(values, values_output) = moved {
                gather(stream, values, places.as_global(), values_output)?;
            }
            Ok(())
        }
    }
}

#[derive(Clone, Copy)]
struct Arrays {
    keys: Global<u8>,
    output: GlobalMut<u8>,
    indices: GlobalMut<u32>,
    words: GlobalMut<u128>,
}

macro_rules! selects {
    ($($select:ident of $composite:ty: $rows:ident $sample:ident $filter:ident $last:ident;)*) => { $(
        fn $select(stream: &Stream, plan: &TopKPlan, segments: Segments<'_>, arrays: Arrays) -> Result<(), Error> {
            let Arrays { keys, output, indices, words } = arrays;
            let selection = plan.selection;
            let header = words.cast::<u32>();
            let bound = words.offset(TopKPlan::BOUND as u64).cast::<$composite>();
            let minima = words.offset(TopKPlan::MINIMA as u64).cast::<$composite>();
            let candidates = words.offset(TopKPlan::CANDIDATES as u64).cast::<$composite>();
            let offsets = crate::segmented::cut::offsets(segments, header.as_global());
            let (order, len) = (selection.job.order, selection.job.len as u32);
            if let Method::Filter(sample) = plan.method {
                let Sample { draws, stretch, rank, .. } = sample;
                let (room, bytes) = (plan.candidates as u32, selection.job.key_bytes);
                // SAFETY: the draws lie in the array: there are as many stretches as draws; the header was cleared; there is room
                // for all minima and for `room` candidates.
                unsafe {
                    let config = sample.config(plan.composite);
                    kernels::$sample::launch(stream, config, keys, bytes, stretch, draws, rank, order, minima, bound, header)?;
                    let bound = bound.as_global();
                    kernels::$filter::launch(stream, plan.filter(), keys, bytes, len, order, bound, candidates, room, header)?;
                }
            }
            let (header, from) = (header.as_global(), candidates.as_global());
            let mut last = selection;
            let is_filtered = matches!(plan.method, Method::Filter(_));
            last.parts = if is_filtered { 0 } else { selection.parts };
            // SAFETY: segments lie in the keys, and have `limit` elements at least; the outputs have `limit` for each of them. The
            // candidates are those of the launches before, or there is room for `limit` of each part.
            unsafe {
                if is_filtered {
                    kernels::$last::launch(
                        stream, plan.last(), last, from, offsets, header, output, indices,
                    )?;
                }
                // After a filter it returns at once, unless there were too many candidates or too few.
                kernels::$rows::launch(
                    stream, plan.rows(), selection, keys, offsets, header, output, indices, candidates,
                )?;
                if selection.parts > 1 {
                    kernels::$last::launch(
                        stream, plan.last(), last, from, offsets, header, output, indices,
                    )?;
                }
            }
            Ok(())
        }
    )* };
}
selects! {
    select_b16 of u64: top_k_rows_b16 top_k_sample_b32 top_k_filter_b16 top_k_last_b64;
    select_b32 of u64: top_k_rows_b32 top_k_sample_b32 top_k_filter_b32 top_k_last_b64;
    select_b64 of u128: top_k_rows_b64 top_k_sample_b64 top_k_filter_b64 top_k_last_b128;
}

/// The first of an array that is sorted.
fn by_sort<K: SortKey, V: Element>(
    stream: &Stream,
    keys: View<'_, K>,
    options: TopK,
    output: ViewMut<'_, K>,
    moved: Moved<'_, '_, V>,
    sorted: &mut Sorted<K>,
) -> Result<(), Error> {
    let (len, k) = (keys.len(), output.len());
    let (all, indices) = (sorted.keys.slice_mut(..len), sorted.indices.slice_mut(..len));
    sort_indices_into(stream, keys, options.sort_options(), all, indices, &mut sorted.scratch)?;
    stream.copy(output, sorted.keys.slice(..k))?;
    match moved {
        Moved::None => {}
        Moved::Indices(output) => stream.copy(output, sorted.indices.slice(..k))?,
        Moved::Of(values, output) => gather(stream, values, sorted.indices.view().as_global(), output)?,
    }
    Ok(())
}
