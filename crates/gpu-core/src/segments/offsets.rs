//! Offsets of segments.

use crate::buffer::Buffer;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::graph::{Resources, Visitor};
use crate::view::View;

use super::{Invalid, on_host};

/// The most segments: they are counted in 32 bits, and one more.
const MOST: usize = u32::MAX as usize - 1;
/// Where the last segment ends at most.
const LAST: usize = u32::MAX as usize;

/// Offsets of segments on a device, one more than there are segments: segment `s` has the elements
/// `offsets[s]..offsets[s + 1]`, as the rows of a sparse matrix have it. Two that are the same are an empty segment.
///
/// Checked once, when they are made: what uses them neither checks nor waits. They have 32 bits on the device, whatever
/// they were made of.
///
/// ```
/// use gpu_core::{Device, Offsets};
/// let offsets = Offsets::new(&Device::best(), &[0, 2, 2, 5])?;
/// assert_eq!((offsets.count(), offsets.first(), offsets.end()), (3, 0, 5));
/// assert_eq!((offsets.longest(), offsets.shortest(), offsets.first_empty()), (3, 0, Some(1)));
/// # Ok::<(), gpu_core::Error>(())
/// ```
#[derive(Debug)]
pub struct Offsets {
    buffer: Buffer<u32>,
    facts: Facts,
}

/// What is known of offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Facts {
    first: usize,
    end: usize,
    longest: usize,
    shortest: usize,
    first_empty: Option<usize>,
}

// SAFETY: it owns its buffer.
unsafe impl Resources for Offsets {
    fn visit(&self, visitor: &mut Visitor<'_>) {
        visitor.buffer(&self.buffer);
    }
}

impl Offsets {
    /// Those in `offsets`, copied to `device`.
    ///
    /// # Errors
    /// [`Invalid::NoOffsets`]; [`Invalid::Decreasing`], which is how segments overlap; [`Invalid::TooManySegments`];
    /// those of the device, where its memory does not suffice.
    pub fn new(device: &Device, offsets: &[u32]) -> Result<Self> {
        let facts = Facts::of(offsets)?;
        Ok(Self { buffer: device.upload(offsets)?, facts })
    }

    /// Those in `offsets`, which have 64 bits.
    ///
    /// # Errors
    /// As [`Offsets::new`]; [`Error::TooLong`] where one is more than 2^32 - 1.
    ///
    /// ```
    /// use gpu_core::{Device, Error, Offsets};
    /// assert_eq!(Offsets::from_u64(&Device::cpu(), &[0, 7])?.longest(), 7);
    /// assert!(matches!(Offsets::from_u64(&Device::cpu(), &[0, 1 << 32]), Err(Error::TooLong { .. })));
    /// # Ok::<(), gpu_core::Error>(())
    /// ```
    pub fn from_u64(device: &Device, offsets: &[u64]) -> Result<Self> {
        Self::new(device, &offsets.iter().map(|&offset| narrow(offset)).collect::<Result<Vec<_>>>()?)
    }

    /// Those of segments of these lengths, one behind the other, from element 0 on.
    ///
    /// # Errors
    /// [`Error::TooLong`] where there are more than 2^32 - 1 elements in all; those of [`Offsets::new`].
    ///
    /// ```
    /// use gpu_core::{Device, Offsets};
    /// let offsets = Offsets::from_lengths(&Device::best(), &[2, 0, 3])?;
    /// let mut on_host = [0; 4];
    /// offsets.view().copy_to(&mut on_host)?;
    /// assert_eq!(on_host, [0, 2, 2, 5]);
    /// # Ok::<(), gpu_core::Error>(())
    /// ```
    pub fn from_lengths(device: &Device, lengths: &[u32]) -> Result<Self> {
        let mut offsets = Vec::with_capacity(lengths.len() + 1);
        let mut end = 0u64;
        offsets.push(0);
        for length in lengths {
            end += u64::from(*length);
            offsets.push(narrow(end)?);
        }
        Self::new(device, &offsets)
    }

    /// Those in a buffer, on its device. They are copied to the host once, to be checked, after all work enqueued
    /// before.
    ///
    /// # Errors
    /// As [`Offsets::new`].
    pub fn from_buffer(buffer: Buffer<u32>) -> Result<Self> {
        let facts = Facts::of(&buffer.to_vec()?)?;
        Ok(Self { buffer, facts })
    }

    /// Those of segments that start at `starts`, the last of which ends at `end`, on the device of the starts: what an
    /// encoding of runs gives. The starts are copied to the host once, as in [`Offsets::from_buffer`].
    ///
    /// # Errors
    /// As [`Offsets::from_u64`].
    ///
    /// ```
    /// use gpu_core::{Device, Offsets};
    /// let starts = Device::best().upload(&[0u64, 2, 3])?;
    /// assert_eq!(Offsets::from_starts(&starts, 7)?.longest(), 4);
    /// # Ok::<(), gpu_core::Error>(())
    /// ```
    pub fn from_starts<'a>(starts: impl Into<View<'a, u64>>, end: usize) -> Result<Self> {
        let starts = starts.into();
        let mut offsets = on_host(starts)?;
        offsets.push(end as u64);
        Self::from_u64(starts.device(), &offsets)
    }

    /// Where they are.
    pub fn device(&self) -> &Device {
        self.buffer.device()
    }

    /// The offsets themselves, one more than segments.
    pub fn view(&self) -> View<'_, u32> {
        self.buffer.view()
    }

    /// How many segments there are.
    pub fn count(&self) -> usize {
        self.buffer.len() - 1
    }

    /// Where the first segment starts.
    pub const fn first(&self) -> usize {
        self.facts.first
    }

    /// Where the last segment ends: arrays need so many elements.
    pub const fn end(&self) -> usize {
        self.facts.end
    }

    /// Elements of the longest segment; 0 where there are none.
    pub const fn longest(&self) -> usize {
        self.facts.longest
    }

    /// Elements of the shortest segment; 0 where there are none.
    pub const fn shortest(&self) -> usize {
        self.facts.shortest
    }

    /// The first segment without elements, if there is one.
    pub const fn first_empty(&self) -> Option<usize> {
        self.facts.first_empty
    }
}

fn narrow(offset: u64) -> Result<u32> {
    u32::try_from(offset).map_err(|_| Error::TooLong { len: offset as usize, most: LAST })
}

impl Facts {
    /// Those of offsets none of which is less than the one before.
    fn of(offsets: &[u32]) -> Result<Self> {
        let (Some(&first), Some(&end)) = (offsets.first(), offsets.last()) else {
            return Err(Invalid::NoOffsets.into());
        };
        let count = offsets.len() - 1;
        if count > MOST {
            return Err(Invalid::TooManySegments { count, most: MOST }.into());
        }
        let (mut longest, mut shortest, mut first_empty) = (0, u32::MAX, None);
        for (segment, pair) in offsets.windows(2).enumerate() {
            let Some(length) = pair[1].checked_sub(pair[0]) else {
                let (before, actual) = (pair[0] as usize, pair[1] as usize);
                return Err(Invalid::Decreasing { index: segment + 1, before, actual }.into());
            };
            longest = longest.max(length);
            shortest = shortest.min(length);
            if length == 0 && first_empty.is_none() {
                first_empty = Some(segment);
            }
        }
        Ok(Self {
            first: first as usize,
            end: end as usize,
            longest: longest as usize,
            shortest: shortest.min(longest) as usize,
            first_empty,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(offsets: &[u32]) -> Result<Offsets> {
        let device = Device::cpu();
        let ways = [
            Offsets::new(&device, offsets),
            Offsets::from_buffer(device.upload(offsets).unwrap()),
            Offsets::from_u64(&device, &offsets.iter().map(|&offset| u64::from(offset)).collect::<Vec<_>>()),
        ];
        let told = ways.each_ref().map(|way| format!("{:?}", way.as_ref().map(|offsets| offsets.facts)));
        assert!(told.iter().all(|way| *way == told[0]), "{told:?}");
        ways.into_iter().next().unwrap()
    }

    #[test]
    fn offsets_that_are_none_or_decrease_are_refused() {
        assert!(matches!(of(&[]), Err(Error::Segments(Invalid::NoOffsets))));
        assert!(matches!(
            of(&[1, 5, 4]),
            Err(Error::Segments(Invalid::Decreasing { index: 2, before: 5, actual: 4 }))
        ));
    }

    #[test]
    fn what_is_known_of_offsets() {
        let known = |offsets: &[u32]| {
            let offsets = of(offsets).unwrap();
            let range = (offsets.first(), offsets.end());
            (offsets.count(), range, (offsets.shortest(), offsets.longest()), offsets.first_empty())
        };
        assert_eq!(known(&[3]), (0, (3, 3), (0, 0), None));
        assert_eq!(known(&[3, 5, 12]), (2, (3, 12), (2, 7), None));
        assert_eq!(known(&[0, 4, 4, 5, 5]), (4, (0, 5), (0, 4), Some(1)));
        assert_eq!(known(&[0, u32::MAX]), (1, (0, LAST), (LAST, LAST), None));
    }

    #[test]
    fn what_does_not_fit_32_bits_is_too_long() {
        let device = Device::cpu();
        let lengths = Offsets::from_lengths(&device, &[u32::MAX, 1]);
        assert!(matches!(lengths, Err(Error::TooLong { len, most: LAST }) if len == 1 << 32));
        let wide = Offsets::from_u64(&device, &[0, 5, 1 << 40]);
        assert!(matches!(wide, Err(Error::TooLong { len, most: LAST }) if len == 1 << 40));
        let starts = Offsets::from_starts(&[0u64, 2], 1 << 32);
        assert!(matches!(starts, Err(Error::TooLong { len, .. }) if len == 1 << 32));
        assert!(matches!(
            Offsets::from_starts(&[0u64, 9], 8),
            Err(Error::Segments(Invalid::Decreasing { index: 2, .. }))
        ));
    }
}
