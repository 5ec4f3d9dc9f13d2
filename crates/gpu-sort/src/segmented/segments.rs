//! Where the segments of an array are.

use gpu_core::{Buffer, Device, Stream};
use gpu_std::memory::Global;

use gpu_core::Error;

/// The segments of an array, one behind the other, from its first element to its last.
///
/// ```
/// use gpu_sort::{Offsets, Segments, SortOptions, segmented_sort};
/// let keys = [3, 1, 2, 9, 8, 7];
/// let offsets = Offsets::new(&gpu_core::Device::cpu(), &[0, 2, 2, 6])?;
/// let sorted = segmented_sort(&keys, Segments::by_offsets(&offsets), SortOptions::ascending())?;
/// assert_eq!(sorted.to_vec()?, [1, 3, 2, 7, 8, 9]);
/// // The rows of a matrix.
/// let sorted = segmented_sort(&keys, Segments::of_length(3)?, SortOptions::ascending())?;
/// assert_eq!(sorted.to_vec()?, [1, 2, 3, 7, 8, 9]);
/// # Ok::<(), gpu_sort::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Segments<'a>(Kind<'a>);

#[derive(Clone, Copy, Debug)]
enum Kind<'a> {
    Offsets(&'a Offsets),
    Length(usize),
}

impl<'a> Segments<'a> {
    /// A segment lies between each two offsets.
    pub const fn by_offsets(offsets: &'a Offsets) -> Self {
        Self(Kind::Offsets(offsets))
    }

    /// All segments have `length` elements, as the rows of a matrix.
    ///
    /// # Errors
    /// [`Error::SegmentLength`] where that is 0.
    pub const fn of_length(length: usize) -> Result<Self, Error> {
        if length == 0 { Err(Error::SegmentLength) } else { Ok(Self(Kind::Length(length))) }
    }

    /// What they are of an array of `len` elements on the stream's device.
    pub(crate) fn cut(&self, stream: &Stream, what: &'static str, len: usize) -> Result<Cut, Error> {
        match self.0 {
            Kind::Length(row) => {
                if !len.is_multiple_of(row) {
                    return Err(Error::Rows { what, len, row });
                }
                // A number of rows is an index of 32 bits, and so is a place in a row.
                let (count, most) = (len / row, u32::MAX as usize);
                if count > most || row > most {
                    return Err(Error::TooLong { len: count.max(row), most });
                }
                let longest = if count == 0 { 0 } else { row };
                Ok(Cut { row, count, longest, shortest: longest })
            }
            Kind::Offsets(offsets) => {
                stream.expect("offsets of segments", offsets.buffer.device())?;
                if offsets.end != len {
                    return Err(Error::LastOffset { what, end: offsets.end, len });
                }
                let Offsets { longest, shortest, .. } = *offsets;
                Ok(Cut { row: 0, count: offsets.buffer.len() - 1, longest, shortest })
            }
        }
    }

    /// Where kernels find offsets; `none` where there are none.
    pub(crate) fn offsets(&self, none: Global<u32>) -> Global<u32> {
        match self.0 {
            Kind::Length(_) => none,
            Kind::Offsets(offsets) => offsets.buffer.view().as_global(),
        }
    }

    /// Where each of `cut` starts and how many elements it has; on the CPU.
    pub(crate) fn ranges(&self, cut: Cut) -> Vec<std::ops::Range<usize>> {
        match self.0 {
            Kind::Length(row) => (0..cut.count).map(|number| number * row..(number + 1) * row).collect(),
            Kind::Offsets(offsets) => {
                let offsets = offsets.buffer.view().as_slice().expect("offsets are where the input is");
                offsets.windows(2).map(|pair| pair[0] as usize..pair[1] as usize).collect()
            }
        }
    }
}

/// What segments of an array there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    /// Elements of each; 0 where there are offsets.
    pub(crate) row: usize,
    pub(crate) count: usize,
    pub(crate) longest: usize,
    pub(crate) shortest: usize,
}

/// Offsets of segments on a device, checked once: what uses them neither checks nor waits.
#[derive(Debug)]
pub struct Offsets {
    buffer: Buffer<u32>,
    end: usize,
    longest: usize,
    shortest: usize,
}

impl Offsets {
    /// Those in `offsets`, copied to `device`: one more than there are segments. The first is 0 and the last the array's length, as in
    /// a sparse matrix by rows; two that are the same are an empty segment.
    ///
    /// # Errors
    /// [`Error::NoOffsets`], [`Error::FirstOffset`], [`Error::Decreasing`] (segments that overlap); those of the device, where its
    /// memory does not suffice.
    pub fn new(device: &Device, offsets: &[u32]) -> Result<Self, Error> {
        Self::checked(offsets, || device.upload(offsets))
    }

    /// Those of segments of these lengths, one behind the other.
    ///
    /// # Errors
    /// [`Error::TooLong`] where there are more than 2^32 - 1 elements in all; those of the device.
    pub fn from_lengths(device: &Device, lengths: &[u32]) -> Result<Self, Error> {
        let mut offsets = Vec::with_capacity(lengths.len() + 1);
        let mut end = 0u64;
        offsets.push(0);
        for length in lengths {
            end += u64::from(*length);
            let most = u32::MAX as usize;
            offsets.push(u32::try_from(end).map_err(|_| Error::TooLong { len: end as usize, most })?);
        }
        Self::new(device, &offsets)
    }

    /// Those in a buffer, which are copied to the host once, to be checked, after all work enqueued before.
    ///
    /// # Errors
    /// As [`Offsets::new`].
    pub fn from_buffer(buffer: Buffer<u32>) -> Result<Self, Error> {
        let on_host = buffer.to_vec()?;
        Self::checked(&on_host, || Ok(buffer))
    }

    fn checked(offsets: &[u32], buffer: impl FnOnce() -> Result<Buffer<u32>, Error>) -> Result<Self, Error> {
        let (Some(&first), Some(&last)) = (offsets.first(), offsets.last()) else {
            return Err(Error::NoOffsets);
        };
        if first != 0 {
            return Err(Error::FirstOffset { actual: first as usize });
        }
        let (mut longest, mut shortest) = (0, usize::MAX);
        for (index, pair) in offsets.windows(2).enumerate() {
            let (before, actual) = (pair[0] as usize, pair[1] as usize);
            if actual < before {
                return Err(Error::Decreasing { index: index + 1, before, actual });
            }
            longest = longest.max(actual - before);
            shortest = shortest.min(actual - before);
        }
        Ok(Self { buffer: buffer()?, end: last as usize, longest, shortest: shortest.min(longest) })
    }
}
