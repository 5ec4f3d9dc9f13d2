//! Sorting keys and values where they are.

use gpu_core::{Element, Error, Scratch, ScratchSize, Stream, ViewMut};

use crate::api::{expect_indexable, run};
use crate::key::{SortKey, SortOptions};
use crate::scratch::sort_pairs_scratch;
use crate::values::{Values, moved_bytes};

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
    run(stream, None, options, keys.into(), Values::<u32>::None, scratch)
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
    run(stream, None, options, keys.into(), Values::InPlace(values.into()), scratch)
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
    let size = sort_pairs_scratch::<K, V>(len)?;
    if moved_bytes(size_of::<V>()) == size_of::<V>() {
        return Ok(size);
    }
    expect_indexable(len)?;
    Ok(size.array::<V>(len))
}

#[cfg(test)]
mod tests {
    use gpu_sort_kernels::MAX_FEW;

    use super::*;

    /// Scratch memory is of up to so many, and tiles of few keys are shorter.
    fn check<K: SortKey, V: Element>() {
        let of = |len: usize| sort_pairs_in_place_scratch::<K, V>(len).unwrap().bytes();
        assert!(of(MAX_FEW as usize) <= of(MAX_FEW as usize + 1));
    }

    #[test]
    fn what_is_enough_for_many_is_enough_for_few() {
        check::<u32, u32>();
        check::<u32, u64>();
        check::<f32, u16>();
        check::<i64, f64>();
        check::<u8, u128>();
    }
}
