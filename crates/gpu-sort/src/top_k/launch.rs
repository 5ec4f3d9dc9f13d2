//! The launches of selections.

use gpu_core::{Element, Stream, View, ViewMut};
use gpu_sort_kernels::{self as kernels, GATHER_THREADS};
use gpu_std::launch::LaunchConfig;
use gpu_std::memory::{Global, GlobalMut};

use super::plan::{Method, Sample, TopKPlan};
use super::scratch::{Sorted, TopKScratch};
use crate::api::sort_indices_into;
use crate::error::Error;
use crate::key::SortKey;
use crate::segmented::Segments;
use crate::segmented::launch::{self as segmented, Moved};
use crate::top_k::TopK;

/// Enqueues a selection from one segment at least. Everything has been checked: same device, lengths, enough scratch.
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
            let (values, values_output) = moved.arrays(output);
            let words = scratch.words.view_mut().as_global_mut();
            let arrays = Arrays { keys: keys.as_global().cast(), values, output, values_output, words };
            match size_of::<K>() {
                1 => select_b8(stream, plan, segments, arrays),
                2 => select_b16(stream, plan, segments, arrays),
                4 => select_b32(stream, plan, segments, arrays),
                _ => select_b64(stream, plan, segments, arrays),
            }
        }
    }
}

#[derive(Clone, Copy)]
struct Arrays {
    keys: Global<u8>,
    values: Global<u8>,
    output: GlobalMut<u8>,
    values_output: GlobalMut<u8>,
    words: GlobalMut<u128>,
}

macro_rules! selects {
    ($($select:ident of $key:ty, $composite:ty: $rows:ident $sample:ident $filter:ident $last:ident;)*) => { $(
        fn $select(stream: &Stream, plan: &TopKPlan, segments: Segments<'_>, arrays: Arrays) -> Result<(), Error> {
            let Arrays { keys, values, output, values_output, words } = arrays;
            let selection = plan.selection;
            let header = words.cast::<u32>();
            let bound = words.offset(TopKPlan::BOUND as u64).cast::<$composite>();
            let minima = words.offset(TopKPlan::MINIMA as u64).cast::<$composite>();
            let candidates = words.offset(TopKPlan::CANDIDATES as u64).cast::<$composite>();
            let offsets = segments.offsets(header.as_global());
            let (order, len) = (selection.job.order, selection.job.len as u32);
            if let Method::Filter(sample) = plan.method {
                let Sample { draws, stretch, rank, .. } = sample;
                let typed = keys.cast::<$key>();
                let room = plan.candidates as u32;
                // SAFETY: the draws lie in the array: there are as many stretches as draws; the header was cleared; there is room
                // for all minima and for `room` candidates.
                unsafe {
                    let config = sample.config(plan.composite);
                    kernels::$sample::launch(stream, config, typed, stretch, draws, rank, order, minima, bound, header)?;
                    let bound = bound.as_global();
                    kernels::$filter::launch(stream, plan.filter(), typed, len, order, bound, candidates, room, header)?;
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
                        stream, plan.last(), last, from, values, offsets, header, output, values_output,
                    )?;
                }
                // After a filter it returns at once, unless there were too many candidates or too few.
                kernels::$rows::launch(
                    stream, plan.rows(), selection, keys, values, offsets, header, output, values_output, candidates,
                )?;
                if selection.parts > 1 {
                    kernels::$last::launch(
                        stream, plan.last(), last, from, values, offsets, header, output, values_output,
                    )?;
                }
            }
            Ok(())
        }
    )* };
}
selects! {
    select_b8 of u8, u64: top_k_rows_b8 top_k_sample_b8 top_k_filter_b8 top_k_last_b64;
    select_b16 of u16, u64: top_k_rows_b16 top_k_sample_b16 top_k_filter_b16 top_k_last_b64;
    select_b32 of u32, u64: top_k_rows_b32 top_k_sample_b32 top_k_filter_b32 top_k_last_b64;
    select_b64 of u64, u128: top_k_rows_b64 top_k_sample_b64 top_k_filter_b64 top_k_last_b128;
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
        Moved::Of(values, mut values_output) => {
            let config = LaunchConfig::linear((k as u64).div_ceil(GATHER_THREADS as u64).min(1 << 20) as u32, GATHER_THREADS);
            let (input, index) = (values.as_global(), sorted.indices.view().as_global());
            let output = values_output.as_global_mut();
            let k = k as u64;
            // SAFETY: the output has `k` elements, the index more, and it holds places in the values.
            unsafe {
                match size_of::<V>() {
                    1 => kernels::sort_gather_b8::launch(stream, config, input.cast(), index, output.cast(), k),
                    2 => kernels::sort_gather_b16::launch(stream, config, input.cast(), index, output.cast(), k),
                    4 => kernels::sort_gather_b32::launch(stream, config, input.cast(), index, output.cast(), k),
                    8 => kernels::sort_gather_b64::launch(stream, config, input.cast(), index, output.cast(), k),
                    _ => kernels::sort_gather_b128::launch(stream, config, input.cast(), index, output.cast(), k),
                }?;
            }
        }
    }
    Ok(())
}
