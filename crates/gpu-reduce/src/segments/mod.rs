//! Where the segments of an array are.

use gpu_core::{Buffer, Device, View};

use gpu_core::Error;

/// Consecutive segments of an array, some of which may be empty: `offsets[s]..offsets[s + 1]`, or all of one length.
///
/// Checked once, when it is made: the reductions that use it neither check nor wait. It lives on the device whose
/// arrays it describes; segments of one length live everywhere.
///
/// ```
/// use gpu_reduce::{Segments, sum_segments};
/// let values = [1.0, 2.0, 3.0, 4.0, 5.0];
/// let segments = Segments::from_offsets(&gpu_core::Device::cpu(), &[0, 2, 2, 5])?;
/// assert_eq!(sum_segments(&values, &segments)?, [3.0, 0.0, 12.0]);
/// assert_eq!(sum_segments(&values[..4], &Segments::of_length(2, 2)?)?, [3.0, 7.0]);
/// # Ok::<(), gpu_reduce::Error>(())
/// ```
#[derive(Debug)]
pub struct Segments {
    places: Places,
    len: usize,
    end: usize,
    first_empty: Option<usize>,
}

#[derive(Debug)]
enum Places {
    OneLength(usize),
    Offsets(Buffer<u32>),
}

/// The most segments: they are counted in 32 bits, and one more.
const MOST: usize = u32::MAX as usize - 1;

impl Segments {
    /// The segments between `offsets` in elements, one more than there are segments, for arrays on `device`; there
    /// they are copied to. The first may be more than 0, and elements after the last belong to no segment.
    ///
    /// # Errors
    /// [`Error::NoOffsets`], [`Error::Decreasing`], [`Error::TooManySegments`]; those of the device where the device's
    /// memory does not suffice.
    pub fn from_offsets(device: &Device, offsets: &[u32]) -> Result<Self, Error> {
        let (end, first_empty) = checked(offsets)?;
        let places = Places::Offsets(device.upload(offsets)?);
        Ok(Self { places, len: offsets.len() - 1, end, first_empty })
    }

    /// As [`Segments::from_offsets`] with offsets that are on a device: they are copied to the host once, to be
    /// checked, after all work enqueued before.
    ///
    /// # Errors
    /// As [`Segments::from_offsets`].
    pub fn from_buffer(offsets: Buffer<u32>) -> Result<Self, Error> {
        let (end, first_empty) = checked(&offsets.to_vec()?)?;
        let len = offsets.len() - 1;
        Ok(Self { places: Places::Offsets(offsets), len, end, first_empty })
    }

    /// `count` segments of `length` elements each, the first from the first element on: rows of a matrix.
    ///
    /// # Errors
    /// [`Error::TooManySegments`]; [`Error::TooLong`] where there would be more than 2^63 elements.
    pub fn of_length(count: usize, length: usize) -> Result<Self, Error> {
        if count > MOST {
            return Err(Error::TooManySegments { count, most: MOST });
        }
        let most = isize::MAX as usize;
        match count.checked_mul(length) {
            Some(end) if end <= most => {
                let first_empty = if length == 0 && count > 0 { Some(0) } else { None };
                Ok(Self { places: Places::OneLength(length), len: count, end, first_empty })
            }
            _ => Err(Error::TooLong { len: count.saturating_mul(length), most }),
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Where the last one ends: arrays need so many elements.
    pub fn end(&self) -> usize {
        self.end
    }

    /// The first segment without elements, if there is one.
    pub fn first_empty(&self) -> Option<usize> {
        self.first_empty
    }

    /// The offsets on their device; `None` where all have one length.
    pub fn offsets(&self) -> Option<View<'_, u32>> {
        match &self.places {
            Places::OneLength(_) => None,
            Places::Offsets(offsets) => Some(offsets.view()),
        }
    }

    /// The length of all where they have one length, otherwise 0.
    pub(crate) fn length(&self) -> usize {
        match &self.places {
            Places::OneLength(length) => *length,
            Places::Offsets(_) => 0,
        }
    }

    /// Where each begins, and where the last one ends.
    pub(crate) fn to_vec(&self) -> Result<Vec<usize>, Error> {
        Ok(match &self.places {
            Places::OneLength(length) => (0..=self.len).map(|segment| segment * length).collect(),
            Places::Offsets(offsets) => offsets.to_vec()?.into_iter().map(|offset| offset as usize).collect(),
        })
    }
}

/// Where the last segment ends, and the first empty one.
fn checked(offsets: &[u32]) -> Result<(usize, Option<usize>), Error> {
    let Some(&end) = offsets.last() else { return Err(Error::NoOffsets) };
    let count = offsets.len() - 1;
    if count > MOST {
        return Err(Error::TooManySegments { count, most: MOST });
    }
    if let Some(at) = offsets.windows(2).position(|pair| pair[1] < pair[0]) {
        let (before, actual) = (offsets[at] as usize, offsets[at + 1] as usize);
        return Err(Error::Decreasing { index: at + 1, before, actual });
    }
    Ok((end as usize, offsets.windows(2).position(|pair| pair[0] == pair[1])))
}
