//! Sorting keys and values where they are.

use gpu_core::{Element, Error, Scratch, ScratchSize, Stream, ViewMut};

use crate::api::{NAME, expect_indexable, expect_values};
use crate::key::{SortKey, SortOptions};
use crate::launch::{self, Values};
use crate::plan::SortPlan;
use crate::reference;
use crate::values::moved_bytes;

/// Sorts the keys where they are, on `stream`, with the scratch memory of [`sort_into`](crate::sort_into); see
/// [`sort`](crate::sort()).
///
/// An even number of digits costs what [`sort_into`](crate::sort_into) does, since every other pass writes to the keys
/// anyway; an odd one a copy of the keys more.
///
/// # Errors
/// [`Error::Bits`], [`Error::TooLong`], [`Error::ScratchTooSmall`], [`Error::ScratchOfOtherStream`]; those of the device
/// where the keys are on another device than the stream or where a launch failed. The keys are as they were then, but
/// where a launch failed.
///
/// ```
/// use gpu_sort::{Scratch, SortOptions, sort_in_place};
/// let device = gpu_core::Device::simulator();
/// let stream = device.stream()?;
/// let mut keys = device.upload(&[5i16, -7, 0, 9])?;
/// let mut scratch = Scratch::new(&stream);
/// // A part of them.
/// sort_in_place(&stream, keys.slice_mut(..3), SortOptions::ascending(), &mut scratch)?;
/// assert_eq!(keys.to_vec()?, [-7, 0, 5, 9]);
/// # Ok::<(), gpu_sort::Error>(())
/// ```
pub fn sort_in_place<'a, K: SortKey>(
    stream: &Stream,
    keys: impl Into<ViewMut<'a, K>>,
    options: SortOptions,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let mut keys = keys.into();
    let sorting = options.checked::<K>()?;
    let plan = SortPlan::new(keys.len(), size_of::<K>(), 0)?;
    let size = plan.scratch(sorting.passes(), false);
    scratch.expect(stream, NAME, size)?;
    stream.expect("keys of a sort", keys.device())?;
    if keys.is_empty() {
        return Ok(());
    }
    if let Some(keys) = keys.as_mut_slice() {
        reference::sort_in_place(keys, sorting);
        return Ok(());
    }
    let none = Values::<u32>::None;
    scratch.lend(NAME, size, |mut parts| launch::sort(stream, None, keys, none, sorting, plan, &mut parts))
}

/// Sorts the keys where they are and puts the values into the order of their keys, on `stream`; see
/// [`sort_pairs`](crate::sort_pairs) and [`sort_in_place`].
///
/// # Errors
/// Those of [`sort_in_place`] and of [`sort_pairs`](crate::sort_pairs).
///
/// ```
/// use gpu_sort::{Scratch, SortOptions, sort_pairs_in_place};
/// let device = gpu_core::Device::simulator();
/// let stream = device.stream()?;
/// let (mut keys, mut values) = (device.upload(&[2u32, 1, 2])?, device.upload(&[20u16, 10, 21])?);
/// sort_pairs_in_place(&stream, &mut keys, &mut values, SortOptions::ascending(), &mut Scratch::new(&stream))?;
/// assert_eq!((keys.to_vec()?, values.to_vec()?), (vec![1, 2, 2], vec![10, 20, 21]));
/// # Ok::<(), gpu_sort::Error>(())
/// ```
pub fn sort_pairs_in_place<'a, 'b, K: SortKey, V: Element>(
    stream: &Stream,
    keys: impl Into<ViewMut<'a, K>>,
    values: impl Into<ViewMut<'b, V>>,
    options: SortOptions,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let (mut keys, mut values) = (keys.into(), values.into());
    let sorting = options.checked::<K>()?;
    expect_values(keys.len(), values.len())?;
    let plan = planned::<K, V>(keys.len())?;
    let size = in_place_scratch::<V>(&plan, sorting.passes());
    scratch.expect(stream, NAME, size)?;
    stream.expect("keys of a sort", keys.device())?;
    stream.expect("values of a sort", values.device())?;
    if keys.is_empty() {
        return Ok(());
    }
    if let (Some(keys), Some(values)) = (keys.as_mut_slice(), values.as_mut_slice()) {
        let (keys_input, values_input) = (keys.to_vec(), values.to_vec());
        reference::sort_pairs(&keys_input, |index| values_input[index], sorting, keys, values);
        return Ok(());
    }
    let values = Values::InPlace(values);
    scratch.lend(NAME, size, |mut parts| launch::sort(stream, None, keys, values, sorting, plan, &mut parts))
}

/// Scratch memory of [`sort_pairs_in_place`] of up to `len` pairs: that of
/// [`sort_pairs_into`](crate::sort_pairs_into), and a copy of values of 1, 2 or 16 bytes.
///
/// # Errors
/// [`Error::TooLong`].
///
/// ```
/// use gpu_sort::{sort_pairs_in_place_scratch, sort_pairs_scratch};
/// let len = 1 << 20;
/// assert_eq!(sort_pairs_in_place_scratch::<u32, f64>(len)?.bytes(), sort_pairs_scratch::<u32, f64>(len)?.bytes());
/// assert!(sort_pairs_in_place_scratch::<u32, u16>(len)?.bytes() >= sort_pairs_scratch::<u32, u16>(len)?.bytes() + 2 * len);
/// # Ok::<(), gpu_sort::Error>(())
/// ```
pub fn sort_pairs_in_place_scratch<K: SortKey, V: Element>(len: usize) -> Result<ScratchSize, Error> {
    let plan = planned::<K, V>(len)?;
    Ok(in_place_scratch::<V>(&plan, K::BITS.div_ceil(plan.shape.digit_bits)))
}

fn planned<K: SortKey, V: Element>(len: usize) -> Result<SortPlan, Error> {
    if moved_bytes(size_of::<V>()) != size_of::<V>() {
        expect_indexable(len)?;
    }
    SortPlan::new(len, size_of::<K>(), moved_bytes(size_of::<V>()))
}

/// That of a sort, and of values that are gathered a copy.
fn in_place_scratch<V: Element>(plan: &SortPlan, passes: u32) -> ScratchSize {
    let is_gathered = moved_bytes(size_of::<V>()) != size_of::<V>();
    let size = plan.scratch(passes, is_gathered);
    if is_gathered { size.array::<V>(plan.len) } else { size }
}
