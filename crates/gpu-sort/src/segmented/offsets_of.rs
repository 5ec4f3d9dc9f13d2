//! Offsets of what flags or keys tell.

use gpu_core::{Element, Error, Offsets, View};

use crate::run_length_encode;

/// The offsets of the runs of equal keys of an array, where the keys are: what a sort or a reduction of segments takes
/// instead of keys. Keys are equal that have the same bits.
///
/// As [`run_length_encode`]; where runs start comes to the host once, as in [`Offsets::from_buffer`].
///
/// # Errors
/// [`Error::TooLong`] for 2^32 keys or more; those of the device.
///
/// ```
/// use gpu_sort::{SortOptions, offsets_of_keys, segmented_sort};
/// let device = gpu_core::Device::best();
/// let (stations, values) = (device.upload(&[7u8, 7, 7, 2, 2])?, device.upload(&[3, 1, 2, 9, 8])?);
/// let offsets = offsets_of_keys(&stations)?;
/// let sorted = segmented_sort(&values, &offsets, SortOptions::ascending())?;
/// assert_eq!(sorted.to_vec()?, [1, 2, 3, 8, 9]);
/// # Ok::<(), gpu_sort::Error>(())
/// ```
pub fn offsets_of_keys<'a, K: Element>(keys: impl Into<View<'a, K>>) -> Result<Offsets, Error> {
    let keys = keys.into();
    Offsets::from_starts(&run_length_encode(keys)?.starts, keys.len())
}

/// The offsets of the segments of which one starts at each flag that is not zero, and at the first; where the flags are.
///
/// The flags come to the host, after all work enqueued before, and the offsets go to their device.
///
/// # Errors
/// [`Error::TooLong`] for 2^32 flags or more; those of the device.
///
/// ```
/// use gpu_sort::{SortOptions, offsets_of_flags, segmented_sort};
/// let offsets = offsets_of_flags(&[0u8, 0, 1, 0])?;
/// assert_eq!(segmented_sort(&[2, 1, 4, 3], &offsets, SortOptions::ascending())?.to_vec()?, [1, 2, 3, 4]);
/// # Ok::<(), gpu_sort::Error>(())
/// ```
pub fn offsets_of_flags<'a>(flags: impl Into<View<'a, u8>>) -> Result<Offsets, Error> {
    let flags = flags.into();
    let starts = gpu_core::Segments::by_flags(flags).starts("segments by flags", flags.len())?;
    let offsets: Vec<u64> = starts.into_iter().chain([flags.len()]).map(|offset| offset as u64).collect();
    Offsets::from_u64(flags.device(), &offsets)
}
