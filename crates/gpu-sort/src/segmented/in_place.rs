//! Sorting segments where they are.

use gpu_core::{Element, Error, Scratch, ScratchSize, Segments, Stream, ViewMut, checks};
use gpu_sort_kernels::segmented::PLACES;

use super::cut::Cut;
use super::launch::{self, Moved};
use super::{NAME, SegmentedPlan, all_bits, reference, write};
use crate::key::{SortKey, SortOptions};

/// Sorts the keys of each segment where they are, on `stream`; otherwise as
/// [`segmented_sort_into`](crate::segmented_sort_into).
///
/// # Errors
/// Those of [`segmented_sort_into`](crate::segmented_sort_into).
///
/// ```
/// use gpu_sort::{Scratch, Segments, SortOptions, segmented_sort_in_place};
/// let device = gpu_core::Device::simulator();
/// let stream = device.stream()?;
/// let mut keys = device.upload(&[5u8, 4, 3, 2, 1, 0])?;
/// let rows = Segments::of_length(3)?;
/// let mut scratch = Scratch::new(&stream);
/// segmented_sort_in_place(&stream, &mut keys, rows, SortOptions::ascending(), &mut scratch)?;
/// assert_eq!(keys.to_vec()?, [3, 4, 5, 0, 1, 2]);
/// # Ok::<(), gpu_sort::Error>(())
/// ```
pub fn segmented_sort_in_place<'a, 's, K: SortKey>(
    stream: &Stream,
    keys: impl Into<ViewMut<'a, K>>,
    segments: impl Into<Segments<'s>>,
    options: SortOptions,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    run::<K, u32>(stream, keys.into(), None, segments.into(), &options, scratch)
}

/// Sorts the keys of each segment where they are and puts the values into the order of their keys, on `stream`;
/// otherwise as [`segmented_sort_pairs_into`](crate::segmented_sort_pairs_into).
///
/// Values are gathered from a copy in the scratch memory, [`segmented_sort_pairs_in_place_scratch`].
///
/// # Errors
/// Those of [`segmented_sort_in_place`] and [`segmented_sort_pairs`](crate::segmented_sort_pairs). Keys and values are
/// as they were then, but where a launch failed.
///
/// ```
/// use gpu_sort::{Scratch, Segments, SortOptions, segmented_sort_pairs_in_place};
/// let device = gpu_core::Device::simulator();
/// let (stream, rows, order) = (device.stream()?, Segments::of_length(2)?, SortOptions::ascending());
/// let (mut keys, mut values) = (device.upload(&[2, 1, 3, 4])?, device.upload(&[20u8, 10, 30, 40])?);
/// let mut scratch = Scratch::new(&stream);
/// segmented_sort_pairs_in_place(&stream, &mut keys, &mut values, rows, order, &mut scratch)?;
/// assert_eq!((keys.to_vec()?, values.to_vec()?), (vec![1, 2, 3, 4], vec![10, 20, 30, 40]));
/// # Ok::<(), gpu_sort::Error>(())
/// ```
pub fn segmented_sort_pairs_in_place<'a, 'b, 's, K: SortKey, V: Element>(
    stream: &Stream,
    keys: impl Into<ViewMut<'a, K>>,
    values: impl Into<ViewMut<'b, V>>,
    segments: impl Into<Segments<'s>>,
    options: SortOptions,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    run(stream, keys.into(), Some(values.into()), segments.into(), &options, scratch)
}

/// Scratch memory of [`segmented_sort_pairs_in_place`] of `len` pairs in these segments: that of
/// [`segmented_sort_pairs_into`](crate::segmented_sort_pairs_into), and a copy of the values.
///
/// # Errors
/// As [`segmented_sort_scratch`](crate::segmented_sort_scratch).
///
/// ```
/// use gpu_sort::{Segments, segmented_sort_pairs_in_place_scratch, segmented_sort_pairs_scratch};
/// let (len, rows) = (1 << 20, Segments::of_length(64)?);
/// let to_elsewhere = segmented_sort_pairs_scratch::<f32>(len, rows)?.bytes();
/// assert_eq!(segmented_sort_pairs_in_place_scratch::<f32, u16>(len, rows)?.bytes(), to_elsewhere + 2 * len);
/// # Ok::<(), gpu_sort::Error>(())
/// ```
pub fn segmented_sort_pairs_in_place_scratch<'s, K: SortKey, V: Element>(
    len: usize,
    segments: impl Into<Segments<'s>>,
) -> Result<ScratchSize, Error> {
    let cut = Cut::of(segments.into(), NAME, len)?;
    let sorting = all_bits::<K>(&SortOptions::ascending())?;
    Ok(size::<V>(&SegmentedPlan::new(len, cut, sorting, size_of::<K>(), PLACES, None)?, len))
}

/// The scratch memory with a copy of `values` values.
fn size<V>(plan: &SegmentedPlan, values: usize) -> ScratchSize {
    ScratchSize::new().array::<V>(values).with(plan.scratch())
}

fn run<K: SortKey, V: Element>(
    stream: &Stream,
    mut keys: ViewMut<'_, K>,
    mut values: Option<ViewMut<'_, V>>,
    segments: Segments<'_>,
    options: &SortOptions,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let sorting = all_bits::<K>(options)?;
    let len = keys.len();
    let cut = Cut::new(segments, stream, NAME, len)?;
    let payload = if values.is_some() { PLACES } else { 0 };
    let plan = SegmentedPlan::new(len, cut, sorting, size_of::<K>(), payload, None)?;
    let moved = values.as_ref().map_or(0, |values| values.len());
    if values.is_some() {
        checks::inputs(NAME, len, moved)?;
    }
    let size = size::<V>(&plan, moved);
    scratch.expect(stream, NAME, size)?;
    stream.expect("keys of a segmented sort", keys.device())?;
    if let Some(values) = &values {
        stream.expect("values of a segmented sort", values.device())?;
    }
    if keys.is_empty() {
        return Ok(());
    }
    if let Some(keys) = keys.as_mut_slice() {
        let input = keys.to_vec();
        let ranges = cut.ranges(segments);
        let order = reference::sort(&input, &ranges, sorting, usize::MAX);
        let copy = values.as_ref().map(|values| values.view().to_vec()).transpose()?;
        let mut moved = match (&copy, values) {
            (Some(copy), Some(values)) => Moved::Of(copy.into(), values),
            _ => Moved::None,
        };
        write(&input, &ranges, &order, keys, &mut moved);
        return Ok(());
    }
    let output = keys.as_global_mut().cast();
    scratch.lend(NAME, size, |mut parts| {
        let mut copy = parts.array::<V>(moved);
        let moved = match &mut values {
            Some(values) => {
                stream.copy(copy.reborrow(), values.view())?;
                Moved::Of(copy.view(), values.reborrow())
            }
            None => Moved::None,
        };
        launch::sort(stream, &plan, segments, output.as_global(), output, moved, &mut parts)
    })
}
