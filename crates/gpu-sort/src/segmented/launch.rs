//! The launches of sorts of segments.

use gpu_core::{Element, Parts, Segments, Stream, View, ViewMut};
use gpu_sort_kernels as kernels;
use gpu_sort_kernels::segmented::{INDICES, PLACES};
use gpu_std::memory::{Global, GlobalMut};

use super::cut::offsets;
use super::plan::SegmentedPlan;
use crate::launch::gather;
use gpu_core::Error;

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
    /// What the kernels are told: values are gathered by their places.
    pub(crate) const fn payload(&self) -> u32 {
        match self {
            Self::None => 0,
            Self::Of(..) => PLACES,
            Self::Indices(_) => INDICES,
        }
    }

    /// Where kernels write indices; `places` where values are gathered by them, `none` where there are none.
    pub(crate) fn indices(&mut self, places: GlobalMut<u32>, none: GlobalMut<u8>) -> GlobalMut<u32> {
        match self {
            Self::None => none.cast(),
            Self::Of(..) => places,
            Self::Indices(output) => output.as_global_mut(),
        }
    }
}

/// Enqueues a sort of one segment at least. Everything has been checked: same device, lengths; the next parts are those of
/// [`SegmentedPlan::scratch`]. `keys` may be where `output` is.
pub(crate) fn sort<V: Element>(
    stream: &Stream,
    plan: &SegmentedPlan,
    segments: Segments<'_>,
    keys: Global<u8>,
    output: GlobalMut<u8>,
    mut moved: Moved<'_, '_, V>,
    parts: &mut Parts<'_>,
) -> Result<(), Error> {
    let (job, multiprocessors) = (plan.job, stream.device().planned_multiprocessors());
    let mut lists = parts.array::<u32>(plan.list_words());
    let [first, second] =
        [0; 2].map(|_| parts.array::<u8>(plan.merged_bytes()).as_global_mut().cast::<u128>());
    let places = parts.array(plan.places()).as_global_mut();
    let indices = moved.indices(places, output);
    let counts = lists.as_global_mut();
    let classes = counts.offset(16);
    let offsets = offsets(segments, counts.as_global());
    if let Some(config) = plan.classify() {
        stream.memset(lists.into_slice(..16), 0)?;
        let arguments = (offsets, job.segments, job.len, plan.composite, counts, classes);
        // SAFETY: there is an offset more than segments, and none is less than the one before; of a class, and of tiles of
        // long segments, there are not more than `list_start` leaves room for, since together they have `job.len` elements.
        unsafe { stream.launch::<kernels::segmented_classify>(config, arguments)? };
    }
    let (counts, lists) = (counts.as_global(), classes.as_global());
    macro_rules! launch {
        ($sort:ident $merge:ident) => {{
            let (tiles, other) = (first.cast(), second.cast());
            let arguments = (job, keys, offsets, counts, lists, output, indices, tiles, other);
            // SAFETY: segments lie in the keys, and results in the outputs, which are as long or, where there is a limit,
            // hold as many of each segment, which has as many. Each slot's keys have been read before its results are
            // written. Both arrays have `job.len` composites wherever a segment is longer than a tile.
            unsafe { stream.launch::<kernels::$sort>(plan.sort(multiprocessors), arguments)? };
            for (pass, config) in plan.merges(multiprocessors) {
                let (from, to) = if pass % 2 == 0 { (first, second) } else { (second, first) };
                let (from, to) = (from.as_global().cast(), to.cast());
                let arguments = (job, pass, offsets, counts, lists, from, to, output, indices);
                // SAFETY: as above; from and to are apart, and runs lie where the pass before has written them.
                unsafe { stream.launch::<kernels::$merge>(config, arguments)? };
            }
        }};
    }
    match plan.composite {
        4 => launch!(segmented_sort_b32 segmented_merge_b32),
        8 => launch!(segmented_sort_b64 segmented_merge_b64),
        _ => launch!(segmented_sort_b128 segmented_merge_b128),
    }
    if let Moved::Of(values, values_output) = moved {
        gather(stream, values, places.as_global(), values_output)?;
    }
    Ok(())
}
