//! Where the segments of an array start.

use std::fmt;

use gpu_core::{Buffer, Device, Element, Stream, View};
use gpu_scan_kernels::segmented::{BY_FLAGS, BY_KEY, BY_OFFSETS, OF_LENGTH, Starts};
use gpu_std::memory::Global;

use gpu_core::Error;

/// Consecutive segments of an array, each of which is scanned on its own. The first starts with the first element,
/// whatever is said here; the last ends with the array.
///
/// ```
/// use gpu_scan::{Offsets, Options, Segments, kernels::Sum, scan_segments};
/// let values = [1, 2, 3, 4, 5];
/// let offsets = Offsets::new(&gpu_core::Device::cpu(), &[0, 2, 5])?;
/// for segments in [
///     Segments::by_offsets(&offsets),
///     Segments::by_flags(&[1u8, 0, 1, 0, 0]),
///     Segments::by_key(&['a', 'a', 'b', 'b', 'b'].map(u32::from)),
/// ] {
///     assert_eq!(scan_segments::<Sum<i32>>(&values, &segments, Options::inclusive())?.to_vec()?, [1, 3, 3, 7, 12]);
/// }
/// // The rows of a matrix.
/// let rows = Segments::of_length(2)?;
/// assert_eq!(scan_segments::<Sum<i32>>(&values[..4], &rows, Options::inclusive())?.to_vec()?, [1, 3, 3, 7]);
/// # Ok::<(), gpu_scan::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Segments<'a>(Kind<'a>);

#[derive(Clone, Copy, Debug)]
enum Kind<'a> {
    Flags(View<'a, u8>),
    Offsets(&'a Offsets),
    Length(usize),
    Keys(Keys<'a>),
}

/// Keys as bits.
#[derive(Clone, Copy, Debug)]
struct Keys<'a> {
    /// Bytes of a key: 1, 2, 4 or 8.
    width: usize,
    len: usize,
    device: &'a Device,
    place: Place<'a>,
}

/// Where keys are.
#[derive(Clone, Copy)]
enum Place<'a> {
    Host(&'a [u8]),
    Device(Global<u8>),
}

impl fmt::Debug for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host(_) => f.write_str("Host"),
            Self::Device(array) => write!(f, "Device({:#x})", array.address()),
        }
    }
}

impl<'a> Segments<'a> {
    /// A segment starts at each element whose flag is not zero.
    pub fn by_flags(flags: impl Into<View<'a, u8>>) -> Self {
        Self(Kind::Flags(flags.into()))
    }

    /// A segment starts at each offset.
    pub const fn by_offsets(offsets: &'a Offsets) -> Self {
        Self(Kind::Offsets(offsets))
    }

    /// A segment starts at each element whose key differs, in its bits, from that of the element before. Keys have 1
    /// to 8 bytes: others do not compile.
    pub fn by_key<K: Element>(keys: impl Into<View<'a, K>>) -> Self {
        const { assert!(size_of::<K>() <= 8, "keys have 8 bytes at most") };
        let keys = keys.into();
        let place = match keys.as_slice() {
            Some(keys) => Place::Host(bytemuck::cast_slice(keys)),
            None => Place::Device(keys.as_global().cast()),
        };
        Self(Kind::Keys(Keys { width: size_of::<K>(), len: keys.len(), device: keys.device(), place }))
    }

    /// All segments have `length` elements, but for the last, which may have fewer: rows of a matrix.
    ///
    /// # Errors
    /// [`Error::SegmentLength`] where that is 0.
    pub const fn of_length(length: usize) -> Result<Self, Error> {
        if length == 0 { Err(Error::SegmentLength) } else { Ok(Self(Kind::Length(length))) }
    }

    /// Whether they are segments of `len` elements that are on the stream's device.
    pub(super) fn check(&self, stream: &Stream, what: &'static str, len: usize) -> Result<(), Error> {
        let (described, device) = match self.0 {
            Kind::Flags(flags) => (flags.len(), flags.device()),
            Kind::Keys(keys) => (keys.len, keys.device),
            Kind::Offsets(offsets) => {
                if offsets.end > len {
                    return Err(Error::BeyondEnd { what, end: offsets.end, len });
                }
                (len, offsets.buffer.device())
            }
            Kind::Length(_) => return Ok(()),
        };
        if described != len {
            return Err(Error::InputLengths { what, first: len, second: described });
        }
        stream.expect("starts of segments", device)
    }

    /// The kernels' form of it for `len` elements; `none` stands where there is no array.
    pub(crate) fn starts(&self, none: Global<u8>, len: usize) -> Starts {
        match self.0 {
            Kind::Flags(flags) => Starts { kind: BY_FLAGS, array: flags.as_global(), count: 0 },
            Kind::Offsets(offsets) => Starts {
                kind: BY_OFFSETS,
                array: offsets.buffer.view().as_global().cast(),
                count: offsets.buffer.len() as u64,
            },
            // Longer ones are all the same: the kernel multiplies.
            Kind::Length(length) => Starts { kind: OF_LENGTH, array: none, count: length.min(len) as u64 },
            Kind::Keys(keys) => {
                let Place::Device(array) = keys.place else { unreachable!("keys are where the input is") };
                Starts { kind: BY_KEY + keys.width.ilog2(), array, count: 0 }
            }
        }
    }

    /// Sets the elements of `starts` to whether a segment starts at `base` and those behind it; on the CPU.
    pub(super) fn fill(&self, base: usize, starts: &mut [bool]) {
        match self.0 {
            Kind::Flags(flags) => {
                let flags = flags.as_slice().expect("flags are where the input is");
                let flags = &flags[base..][..starts.len()];
                starts.iter_mut().zip(flags).for_each(|(start, flag)| *start = *flag != 0);
            }
            Kind::Offsets(offsets) => {
                starts.fill(false);
                let offsets = offsets.buffer.view().as_slice().expect("offsets are where the input is");
                let first = offsets.partition_point(|offset| (*offset as usize) < base);
                for offset in &offsets[first..] {
                    let Some(start) = starts.get_mut(*offset as usize - base) else { break };
                    *start = true;
                }
            }
            Kind::Length(length) => {
                starts.fill(false);
                starts
                    .iter_mut()
                    .skip((length - base % length) % length)
                    .step_by(length)
                    .for_each(|start| *start = true);
            }
            Kind::Keys(keys) => {
                let Place::Host(bytes) = keys.place else { unreachable!("keys are where the input is") };
                let key = |index: usize| &bytes[index * keys.width..][..keys.width];
                for (index, start) in (base..).zip(starts.iter_mut()) {
                    *start = index > 0 && key(index) != key(index - 1);
                }
            }
        }
        if let (0, Some(first)) = (base, starts.first_mut()) {
            *first = true;
        }
    }
}

/// Offsets of segments on a device, checked once: scans that use them neither check nor wait.
#[derive(Debug)]
pub struct Offsets {
    buffer: Buffer<u32>,
    end: usize,
}

impl Offsets {
    /// Those in `offsets`, copied to `device`. Two that are the same are an empty segment. The last one may be where
    /// the array ends, as the rows of a sparse matrix have it, or less: then a segment starts there too.
    ///
    /// # Errors
    /// [`Error::NoOffsets`], [`Error::Decreasing`]; those of the device where the device's memory does not suffice.
    pub fn new(device: &Device, offsets: &[u32]) -> Result<Self, Error> {
        let end = checked(offsets)?;
        Ok(Self { buffer: device.upload(offsets)?, end })
    }

    /// Those in a buffer, which are copied to the host once, to be checked, after all work enqueued before.
    ///
    /// # Errors
    /// As [`Offsets::new`].
    pub fn from_buffer(buffer: Buffer<u32>) -> Result<Self, Error> {
        let end = checked(&buffer.to_vec()?)?;
        Ok(Self { buffer, end })
    }
}

/// The last offset, if none is less than the one before.
fn checked(offsets: &[u32]) -> Result<usize, Error> {
    let Some(&end) = offsets.last() else { return Err(Error::NoOffsets) };
    if let Some(at) = offsets.windows(2).position(|pair| pair[1] < pair[0]) {
        let (before, actual) = (offsets[at] as usize, offsets[at + 1] as usize);
        return Err(Error::Decreasing { index: at + 1, before, actual });
    }
    Ok(end as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_that_are_none_or_decrease_are_refused() {
        for device in [Device::cpu(), Device::simulator()] {
            let of = |offsets: &[u32]| {
                let both =
                    (Offsets::new(&device, offsets), Offsets::from_buffer(device.upload(offsets).unwrap()));
                assert_eq!(format!("{:?}", both.0.as_ref().err()), format!("{:?}", both.1.as_ref().err()));
                both.0
            };
            assert!(matches!(of(&[]), Err(Error::NoOffsets)));
            assert!(matches!(of(&[1, 5, 4]), Err(Error::Decreasing { index: 2, before: 5, actual: 4 })));
            assert_eq!(of(&[3]).unwrap().end, 3);
        }
    }
}
