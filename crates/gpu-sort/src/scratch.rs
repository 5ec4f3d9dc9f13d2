//! How much scratch memory sorts and selections need.

use gpu_core::{Element, Error, ScratchSize, Segments};
use gpu_sort_kernels::MAX_FEW;
use gpu_sort_kernels::segmented::{INDICES, PLACES};

use crate::key::{SortKey, SortOptions};
use crate::plan::SortPlan;
use crate::segmented::cut::Cut;
use crate::segmented::{self, SegmentedPlan};
use crate::select::SelectPlan;
use crate::top_k::{self, TopK};
use crate::values::moved_bytes;

/// Scratch memory of sorts of up to `len` keys of type `K`: as much as the keys, and a 30th of that, of 2 million keys
/// and less of 4 bytes a 12th.
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
///
/// ```
/// use gpu_sort::{sort_pairs_scratch, sort_scratch};
/// let more = sort_pairs_scratch::<u32, f64>(1 << 24)?.bytes() - sort_scratch::<u32>(1 << 24)?.bytes();
/// assert!(more >= 8 << 24);
/// # Ok::<(), gpu_sort::Error>(())
/// ```
pub fn sort_pairs_scratch<K: SortKey, V: Element>(len: usize) -> Result<ScratchSize, Error> {
    of_sort::<K>(len, size_of::<V>())
}

fn of_sort<K: SortKey>(len: usize, value_bytes: usize) -> Result<ScratchSize, Error> {
    let moved = moved_bytes(value_bytes);
    let of = |len| -> Result<ScratchSize, Error> {
        let plan = SortPlan::new(len, size_of::<K>(), moved)?;
        Ok(plan.scratch(K::BITS.div_ceil(plan.shape.digit_bits), moved != value_bytes))
    };
    // Short tiles are more.
    Ok(of(len)?.max(of(len.min(MAX_FEW as usize))?))
}

/// Scratch memory of selections from up to `len` items of type `T`, of partitions and run-length encodings too: about 17
/// bytes for each 2,000 or more of them.
///
/// # Errors
/// [`Error::TooLong`].
///
/// ```
/// use gpu_sort::{Scratch, select_flagged_into, select_scratch};
/// let device = gpu_core::Device::simulator();
/// let stream = device.stream()?;
/// // Memory that is yours.
/// let size = select_scratch::<u16>(3)?;
/// let mut scratch = Scratch::from_buffer(&stream, device.alloc(size.words())?)?;
/// let (mut selected, mut count) = (device.zeroed(3)?, device.zeroed(1)?);
/// let (items, flags) = (device.upload(&[1u16, 2, 3])?, device.upload(&[0u8, 0, 1])?);
/// select_flagged_into(&stream, &items, &flags, &mut selected, &mut count, &mut scratch)?;
/// assert_eq!((selected.to_vec()?[0], count.to_vec()?), (3, vec![1]));
/// # Ok::<(), gpu_sort::Error>(())
/// ```
pub fn select_scratch<T: Element>(len: usize) -> Result<ScratchSize, Error> {
    Ok(SelectPlan::new(len, size_of::<T>())?.scratch())
}

/// Scratch memory of sorts of `len` keys of type `K` in these segments: which of them are of which class, and, where some
/// are longer than a block sorts at once, room for two copies of the keys.
///
/// # Errors
/// Those of the segments; [`Error::TooLong`].
///
/// ```
/// use gpu_sort::{Segments, segmented_sort_scratch};
/// assert_eq!(segmented_sort_scratch::<f32>(1 << 20, Segments::of_length(64)?)?.bytes(), 0);
/// assert_eq!(segmented_sort_scratch::<f32>(1 << 20, Segments::of_length(1 << 19)?)?.bytes(), 8 << 20);
/// # Ok::<(), gpu_sort::Error>(())
/// ```
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
///
/// ```
/// use gpu_sort::{Segments, segmented_sort_pairs_scratch};
/// // Where in the array the values are.
/// assert_eq!(segmented_sort_pairs_scratch::<f32>(1 << 20, Segments::of_length(64)?)?.bytes(), 4 << 20);
/// # Ok::<(), gpu_sort::Error>(())
/// ```
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
///
/// ```
/// assert!(gpu_sort::top_k_scratch::<f32>(1 << 28, 100)?.bytes() < 1 << 20);
/// # Ok::<(), gpu_sort::Error>(())
/// ```
pub fn top_k_scratch<K: SortKey>(len: usize, k: usize) -> Result<ScratchSize, Error> {
    top_k::expect_k(k, len)?;
    top_k_segments_scratch::<K>(len, Segments::of_length(len)?, k)
}

/// Scratch memory of the first `k` of each of these segments of `len` keys, with their indices or with values: enough
/// on every device, though those of few multiprocessors need less.
///
/// # Errors
/// Those of [`top_k_segments`](crate::top_k_segments).
///
/// ```
/// use gpu_sort::{Scratch, Segments, top_k_segments_scratch};
/// let size = top_k_segments_scratch::<f32>(65_536 * 4096, Segments::of_length(4096)?, 32)?;
/// assert!(Scratch::with_size(&gpu_core::Device::cpu().default_stream(), size)?.bytes() < 16 << 20);
/// # Ok::<(), gpu_sort::Error>(())
/// ```
pub fn top_k_segments_scratch<'s, K: SortKey>(
    len: usize,
    segments: impl Into<Segments<'s>>,
    k: usize,
) -> Result<ScratchSize, Error> {
    let cut = Cut::of(segments.into(), top_k::NAME, len)?;
    let of =
        |payload| top_k::planned::<K>(len, cut, k, TopK::largest(), payload, top_k::MOST_MULTIPROCESSORS);
    Ok(of(INDICES)?.scratch::<K>()?.max(of(PLACES)?.scratch::<K>()?))
}
