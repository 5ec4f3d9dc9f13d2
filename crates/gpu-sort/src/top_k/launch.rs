//! The launches of selections.

use gpu_core::{Element, Parts, Segments, Stream, View, ViewMut};
use gpu_sort_kernels::top_k::{Selection, Tile};
use gpu_sort_kernels::{self as kernels, Order};
use gpu_std::launch::Kernel;
use gpu_std::memory::{Global, GlobalMut};

use super::plan::{Method, Sample, TopKPlan};
use crate::key::SortKey;
use crate::launch::{self, gather};
use crate::plan::SortPlan;
use crate::segmented::launch::{self as segmented, Moved};
use crate::top_k::TopK;
use crate::values::Values;
use gpu_core::Error;

/// Enqueues a selection from one segment at least. Everything has been checked: same device, lengths; the parts are
/// those of [`TopKPlan::scratch`].
#[expect(clippy::too_many_arguments, reason = "those of the function")]
pub(super) fn top_k<K: SortKey, V: Element>(
    stream: &Stream,
    plan: &TopKPlan,
    segments: Segments<'_>,
    options: TopK,
    keys: View<'_, K>,
    mut output: ViewMut<'_, K>,
    mut moved: Moved<'_, '_, V>,
    mut parts: Parts<'_>,
) -> Result<(), Error> {
    match plan.method {
        Method::All => all(stream, keys, options, output, moved, parts),
        Method::Sort(plan) => {
            let (keys, output) = (keys.as_global().cast(), output.as_global_mut().cast());
            segmented::sort(stream, &plan, segments, keys, output, moved, &mut parts)
        }
        Method::Radix => by_sort(stream, keys, options, output, moved, parts),
        Method::Rows | Method::Filter(_) => {
            let mut words = parts.array::<u128>(plan.words());
            let mut places = parts.array::<u32>(plan.places());
            let (words_at, places) = (words.as_global_mut(), places.as_global_mut());
            if let Method::Filter(_) = plan.method {
                stream.memset(words.into_slice(..1), 0)?;
            }
            let output = output.as_global_mut().cast::<u8>();
            let indices = moved.indices(places, output);
            let arrays = Arrays { keys: keys.as_global().cast(), output, indices, words: words_at };
            match size_of::<K>() {
                1 | 2 => select::<u16>(stream, plan, segments, arrays)?,
                4 => select::<u32>(stream, plan, segments, arrays)?,
                _ => select::<u64>(stream, plan, segments, arrays)?,
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

/// The kernels for keys of a width.
///
/// # Safety
/// Each is that of its name, of this width.
unsafe trait Selects {
    /// A key and its index.
    type Composite: gpu_std::memory::Element;
    /// What is selected, keys, offsets, header, keys and indices of the selected, candidates.
    type Rows: Kernel<
        Arguments = (
            Selection,
            Global<u8>,
            Global<u32>,
            Global<u32>,
            GlobalMut<u8>,
            GlobalMut<u32>,
            GlobalMut<Self::Composite>,
        ),
    >;
    /// As `Rows`, by smaller tiles.
    type TwoWarps: Kernel<Arguments = <Self::Rows as Kernel>::Arguments>;
    type Warp: Kernel<Arguments = <Self::Rows as Kernel>::Arguments>;
    type Half: Kernel<Arguments = <Self::Rows as Kernel>::Arguments>;
    type Quarter: Kernel<Arguments = <Self::Rows as Kernel>::Arguments>;
    /// Keys, their bytes, the stretch between draws, how many, the rank, order, minima, the bound, header.
    type Sample: Kernel<
        Arguments = (
            Global<u8>,
            u32,
            u32,
            u32,
            u32,
            Order,
            GlobalMut<Self::Composite>,
            GlobalMut<Self::Composite>,
            GlobalMut<u32>,
        ),
    >;
    /// Keys, their bytes, their number, order, the bound, candidates, for how many there is room, header.
    type Filter: Kernel<
        Arguments = (
            Global<u8>,
            u32,
            u32,
            Order,
            Global<Self::Composite>,
            GlobalMut<Self::Composite>,
            u32,
            GlobalMut<u32>,
        ),
    >;
    /// As `Rows`, by digits.
    type RowsByDigits: Kernel<Arguments = <Self::Rows as Kernel>::Arguments>;
    /// As `Last`, by digits.
    type LastByDigits: Kernel<Arguments = <Self::Last as Kernel>::Arguments>;
    /// What is selected, candidates, offsets, header, keys and indices of the selected.
    type Last: Kernel<
        Arguments = (
            Selection,
            Global<Self::Composite>,
            Global<u32>,
            Global<u32>,
            GlobalMut<u8>,
            GlobalMut<u32>,
        ),
    >;
}

macro_rules! selects {
    ($($width:ty as $composite:ty:
        $rows:ident $two_warps:ident $warp:ident $half:ident $quarter:ident
        $digits:ident $filter:ident $sample:ident $last:ident $last_digits:ident;
    )*) => { $(
        // SAFETY: the names say so.
        unsafe impl Selects for $width {
            type Composite = $composite;
            type Rows = kernels::$rows;
            type TwoWarps = kernels::$two_warps;
            type Warp = kernels::$warp;
            type Half = kernels::$half;
            type Quarter = kernels::$quarter;
            type Sample = kernels::$sample;
            type Filter = kernels::$filter;
            type Last = kernels::$last;
            type RowsByDigits = kernels::$digits;
            type LastByDigits = kernels::$last_digits;
        }
    )* };
}
selects! {
    u16 as u64:
        top_k_rows_b16 top_k_two_warps_b16 top_k_warp_b16 top_k_half_b16 top_k_quarter_b16
        top_k_digits_b16 top_k_filter_b16 top_k_sample_b32 top_k_last_b64 top_k_digits_last_b64;
    u32 as u64:
        top_k_rows_b32 top_k_two_warps_b32 top_k_warp_b32 top_k_half_b32 top_k_quarter_b32
        top_k_digits_b32 top_k_filter_b32 top_k_sample_b32 top_k_last_b64 top_k_digits_last_b64;
    u64 as u128:
        top_k_rows_b64 top_k_two_warps_b64 top_k_warp_b64 top_k_half_b64 top_k_quarter_b64
        top_k_digits_b64 top_k_filter_b64 top_k_sample_b64 top_k_last_b128 top_k_digits_last_b128;
}

fn select<B: Selects>(
    stream: &Stream,
    plan: &TopKPlan,
    segments: Segments<'_>,
    Arrays { keys, output, indices, words }: Arrays,
) -> Result<(), Error> {
    let (selection, multiprocessors) = (plan.selection, stream.device().planned_multiprocessors());
    let header = words.cast::<u32>();
    let bound = words.offset(TopKPlan::BOUND as u64).cast();
    let minima = words.offset(TopKPlan::MINIMA as u64).cast();
    let candidates = words.offset(TopKPlan::CANDIDATES as u64).cast();
    let offsets = crate::segmented::cut::offsets(segments, header.as_global());
    let (order, len) = (selection.job.order, selection.job.len as u32);
    let mut last = selection;
    let is_filtered = if let Method::Filter(sample) = plan.method {
        let Sample { draws, stretch, rank, .. } = sample;
        let (room, bytes) = (plan.candidates as u32, selection.job.key_bytes);
        let config = sample.config(plan.composite);
        let of_sample = (keys, bytes, stretch, draws, rank, order, minima, bound, header);
        let of_filter = (keys, bytes, len, order, bound.as_global(), candidates, room, header);
        // SAFETY: the draws lie in the array: there are as many stretches as draws; the header was cleared; there is room
        // for all minima and for `room` candidates.
        unsafe {
            stream.launch::<B::Sample>(config, of_sample)?;
            stream.launch::<B::Filter>(plan.filter(multiprocessors), of_filter)?;
        }
        last.parts = 0;
        true
    } else {
        false
    };
    let header = header.as_global();
    let of_rows = (selection, keys, offsets, header, output, indices, candidates);
    let of_last = (last, candidates.as_global(), offsets, header, output, indices);
    // SAFETY: segments lie in the keys, and have `limit` elements at least; the outputs have `limit` for each of them. The
    // candidates are those of the launches before, or there is room for `limit` of each part.
    unsafe {
        let select_last = || {
            if plan.by_digits() {
                stream.launch::<B::LastByDigits>(plan.last(), of_last)
            } else {
                stream.launch::<B::Last>(plan.last(), of_last)
            }
        };
        if is_filtered {
            select_last()?;
        }
        // After a filter it returns at once, unless there were too many candidates or too few.
        match plan.tile {
            _ if plan.by_digits() => stream.launch::<B::RowsByDigits>(plan.rows(), of_rows)?,
            Tile::FourWarps => stream.launch::<B::Rows>(plan.rows(), of_rows)?,
            Tile::TwoWarps => stream.launch::<B::TwoWarps>(plan.rows(), of_rows)?,
            Tile::Warp => stream.launch::<B::Warp>(plan.rows(), of_rows)?,
            Tile::Half => stream.launch::<B::Half>(plan.rows(), of_rows)?,
            Tile::Quarter => stream.launch::<B::Quarter>(plan.rows(), of_rows)?,
        }
        if selection.parts > 1 {
            select_last()?;
        }
    }
    Ok(())
}

/// All keys, where they are.
fn all<K: SortKey, V: Element>(
    stream: &Stream,
    keys: View<'_, K>,
    options: TopK,
    output: ViewMut<'_, K>,
    moved: Moved<'_, '_, V>,
    mut parts: Parts<'_>,
) -> Result<(), Error> {
    match moved {
        Moved::None => stream.copy(output, keys),
        Moved::Of(values, values_output) => {
            stream.copy(output, keys)?;
            stream.copy(values_output, values)
        }
        Moved::Indices(indices) => {
            let plan = SortPlan::new(keys.len(), size_of::<K>(), size_of::<u32>())?;
            let (values, sorting) = (Values::<u32>::Indices(indices), options.sorting::<K>().by_no_bits());
            launch::sort(stream, Some(keys), output, values, sorting, plan, &mut parts)
        }
    }
}

/// The first of an array that is sorted.
fn by_sort<K: SortKey, V: Element>(
    stream: &Stream,
    keys: View<'_, K>,
    options: TopK,
    output: ViewMut<'_, K>,
    moved: Moved<'_, '_, V>,
    mut parts: Parts<'_>,
) -> Result<(), Error> {
    let (len, k) = (keys.len(), output.len());
    let (mut all, mut indices) = (parts.array::<K>(len), parts.array::<u32>(len));
    let values = Values::<u32>::Indices(indices.reborrow());
    let plan = SortPlan::new(len, size_of::<K>(), size_of::<u32>())?;
    launch::sort(stream, Some(keys), all.reborrow(), values, options.sorting::<K>(), plan, &mut parts)?;
    stream.copy(output, all.view().slice(..k))?;
    match moved {
        Moved::None => {}
        Moved::Indices(output) => stream.copy(output, indices.view().slice(..k))?,
        Moved::Of(values, output) => gather(stream, values, indices.view().as_global(), output)?,
    }
    Ok(())
}
