//! How much scratch memory sorts and selections need.

use gpu_core::{Element, Error, ScratchSize, Segments};
use gpu_sort_kernels::segmented::{INDICES, PLACES};

use crate::key::{SortKey, SortOptions};
use crate::plan::SortPlan;
use crate::segmented::cut::Cut;
use crate::segmented::{self, SegmentedPlan};
use crate::select::SelectPlan;
use crate::top_k::{self, TopK};
use crate::values::moved_bytes;

/// Scratch memory of sorts of up to `len` keys of type `K`: as much as the keys, and a 30th of that.
///
/// # Errors
/// [`Error::TooLong`].
///
/// ```
/// let (bytes, of_keys) = (gpu_sort::sort_scratch::<u32>(1 << 24)?.bytes(), 4 << 24);
/// assert!(of_keys < bytes && bytes < of_keys / 25 * 26, "{bytes}");
/// # Ok::<(), gpu_sort::Error>(())
/// ```
pub fn sort_scratch<K: SortKey>(len: usize) -> Result<ScratchSize, Error> {
    of_sort::<K>(len, 0)
}

/// Scratch memory of sorts of up to `len` pairs, or of keys with `u32` as `V` of keys and their indices: as much as the
/// pairs, and a 30th of that. For values of 1, 2 or 16 bytes it has two indices of 4 bytes instead of the values.
///
/// # Errors
/// [`Error::TooLong`].
pub fn sort_pairs_scratch<K: SortKey, V: Element>(len: usize) -> Result<ScratchSize, Error> {
    of_sort::<K>(len, size_of::<V>())
}

fn of_sort<K: SortKey>(len: usize, value_bytes: usize) -> Result<ScratchSize, Error> {
    let moved = moved_bytes(value_bytes);
    let plan = SortPlan::new(len, size_of::<K>(), moved)?;
    Ok(plan.scratch(K::BITS.div_ceil(plan.shape.digit_bits), moved != value_bytes))
}

/// Scratch memory of selections from up to `len` items of type `T`, of partitions and run-length encodings too: about 17
/// bytes for each 2,000 or more of them.
///
/// # Errors
/// [`Error::TooLong`].
pub fn select_scratch<T: Element>(len: usize) -> Result<ScratchSize, Error> {
    Ok(SelectPlan::new(len, size_of::<T>())?.scratch())
}

/// Scratch memory of sorts of `len` keys of type `K` in these segments: which of them are of which class, and, where some
/// are longer than a block sorts at once, room for two copies of the keys.
///
/// # Errors
/// Those of the segments; [`Error::TooLong`].
pub fn segmented_sort_scratch<'s, K: SortKey>(
    len: usize,
    segments: impl Into<Segments<'s>>,
) -> Result<ScratchSize, Error> {
    of_segments::<K>(len, segments.into(), 0)
}

/// The same for keys with their indices, or with values of any type.
///
/// # Errors
/// As [`segmented_sort_scratch`].
pub fn segmented_sort_pairs_scratch<'s, K: SortKey>(
    len: usize,
    segments: impl Into<Segments<'s>>,
) -> Result<ScratchSize, Error> {
    let segments = segments.into();
    Ok(of_segments::<K>(len, segments, INDICES)?.max(of_segments::<K>(len, segments, PLACES)?))
}

fn of_segments<K: SortKey>(len: usize, segments: Segments<'_>, payload: u32) -> Result<ScratchSize, Error> {
    let cut = Cut::of(segments, segmented::NAME, len)?;
    let sorting = SortOptions::ascending().checked::<K>()?;
    Ok(SegmentedPlan::new(len, cut, sorting, size_of::<K>(), payload, None)?.scratch())
}

/// Scratch memory of the first `k` of `len` keys: candidates and a bound, or what a sort needs where that is faster.
///
/// # Errors
/// [`Error::K`], [`Error::TooLong`].
pub fn top_k_scratch<K: SortKey>(len: usize, k: usize) -> Result<ScratchSize, Error> {
    top_k::expect_k(k, len)?;
    top_k_segments_scratch::<K>(len, Segments::of_length(len)?, k)
}

/// Scratch memory of the first `k` of each of these segments of `len` keys, with their indices or with values.
///
/// # Errors
/// Those of [`top_k_segments`](crate::top_k_segments).
pub fn top_k_segments_scratch<'s, K: SortKey>(
    len: usize,
    segments: impl Into<Segments<'s>>,
    k: usize,
) -> Result<ScratchSize, Error> {
    let cut = Cut::of(segments.into(), top_k::NAME, len)?;
    let of = |payload| top_k::planned::<K>(len, cut, k, TopK::largest(), payload);
    Ok(of(INDICES)?.scratch::<K>()?.max(of(PLACES)?.scratch::<K>()?))
}
