//! The segments of an array: one description for reductions, scans and sorts.

mod invalid;
mod offsets;

pub use invalid::Invalid;
pub use offsets::Offsets;

use crate::device::Device;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::stream::Stream;
use crate::view::View;

/// Consecutive segments of an array, told in one of four ways.
///
/// What becomes of elements that lie before the first offset or after the last one is each primitive's own rule: a
/// reduction leaves them out, for a scan they are segments too, a sort refuses them ([`Invalid::Uncovered`]).
///
/// Whatever takes segments takes `impl Into<Segments>`: `&Offsets` will do.
///
/// ```
/// use gpu_core::{Device, Offsets, Segments};
/// let device = Device::best();
/// let offsets = Offsets::new(&device, &[0, 2, 2, 5])?;
/// assert_eq!(Segments::by_offsets(&offsets).starts("example", 5)?, [0, 2, 2]);
/// assert_eq!(Segments::of_length(2)?.starts("example", 5)?, [0, 2, 4]);
/// let flags = device.upload(&[0u8, 0, 1, 0, 7])?;
/// assert_eq!(Segments::by_flags(&flags).starts("example", 5)?, [0, 2, 4]);
/// assert_eq!(Segments::by_key(&[3u64, 3, 9, 9, 3]).starts("example", 5)?, [0, 2, 4]);
/// # Ok::<(), gpu_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Segments<'a>(Form<'a>);

/// How segments are told.
#[derive(Clone, Copy, Debug)]
pub enum Form<'a> {
    /// One lies between each two offsets.
    Offsets(&'a Offsets),
    /// All have one length, which is not 0.
    Length(usize),
    /// One starts at each element whose flag is not zero, and at the first.
    Flags(View<'a, u8>),
    /// One starts at each element whose key is not that of the element before, and at the first.
    Keys(Keys<'a>),
}

/// Keys as bytes.
#[derive(Clone, Copy, Debug)]
pub struct Keys<'a> {
    bytes: View<'a, u8>,
    width: usize,
}

impl<'a> Keys<'a> {
    /// All of them, one behind the other.
    pub fn bytes(&self) -> View<'a, u8> {
        self.bytes
    }

    /// Bytes of one: 1, 2, 4 or 8.
    pub fn width(&self) -> usize {
        self.width
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.bytes.len() / self.width
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }
}

impl<'a> Segments<'a> {
    /// A segment lies between each two offsets.
    pub const fn by_offsets(offsets: &'a Offsets) -> Self {
        Self(Form::Offsets(offsets))
    }

    /// All segments have `length` elements: the rows of a matrix.
    ///
    /// # Errors
    /// [`Invalid::SegmentLength`] where that is 0.
    pub const fn of_length(length: usize) -> Result<Self> {
        if length == 0 {
            Err(Error::Segments(Invalid::SegmentLength))
        } else {
            Ok(Self(Form::Length(length)))
        }
    }

    /// A segment starts at each element whose flag is not zero, and at the first.
    pub fn by_flags(flags: impl Into<View<'a, u8>>) -> Self {
        Self(Form::Flags(flags.into()))
    }

    /// A segment starts at each element whose key differs, in its bits, from that of the element before, and at the
    /// first. Keys have 1 to 8 bytes: others do not compile.
    pub fn by_key<K: Element>(keys: impl Into<View<'a, K>>) -> Self {
        const { assert!(size_of::<K>() <= 8, "keys have 8 bytes at most") };
        Self(Form::Keys(Keys { bytes: keys.into().cast(), width: size_of::<K>() }))
    }

    /// How they are told.
    pub const fn form(self) -> Form<'a> {
        self.0
    }

    /// Where they are told; `None` for segments of one length, which are everywhere.
    pub fn device(self) -> Option<&'a Device> {
        match self.0 {
            Form::Offsets(offsets) => Some(offsets.device()),
            Form::Length(_) => None,
            Form::Flags(flags) => Some(flags.device()),
            Form::Keys(keys) => Some(keys.bytes.device()),
        }
    }

    /// Refuses segments that are not those of `len` elements on the stream's device. Whether they have all of the
    /// elements is not asked.
    ///
    /// # Errors
    /// [`Invalid::BeyondEnd`] where offsets leave the array, [`Error::InputLengths`] where there are not as many flags
    /// or keys as elements, [`Error::WrongDevice`].
    pub fn expect(self, stream: &Stream, what: &'static str, len: usize) -> Result<()> {
        self.expect_len(what, len)?;
        self.device().map_or(Ok(()), |device| stream.expect("starts of segments", device))
    }

    fn expect_len(self, what: &'static str, len: usize) -> Result<()> {
        let described = match self.0 {
            Form::Offsets(offsets) if offsets.end() > len => {
                return Err(Invalid::BeyondEnd { what, end: offsets.end(), len }.into());
            }
            Form::Offsets(_) | Form::Length(_) => len,
            Form::Flags(flags) => flags.len(),
            Form::Keys(keys) => keys.len(),
        };
        if described == len {
            Ok(())
        } else {
            Err(Error::InputLengths { what, first: len, second: described })
        }
    }

    /// Where the segments of `len` elements start, on the host. Waits for what is on a device.
    ///
    /// # Errors
    /// [`Invalid::BeyondEnd`], [`Error::InputLengths`], which name `what`; those of the device.
    pub fn starts(self, what: &'static str, len: usize) -> Result<Vec<usize>> {
        self.expect_len(what, len)?;
        Ok(match self.0 {
            Form::Offsets(offsets) => {
                let offsets = on_host(offsets.view())?;
                offsets[..offsets.len() - 1].iter().map(|&offset| offset as usize).collect()
            }
            Form::Length(length) => (0..len).step_by(length).collect(),
            Form::Flags(flags) => {
                let flags = on_host(flags)?;
                (0..len).filter(|&index| index == 0 || flags[index] != 0).collect()
            }
            Form::Keys(keys) => {
                let bytes = on_host(keys.bytes)?;
                let key = |index: usize| &bytes[index * keys.width..][..keys.width];
                (0..len).filter(|&index| index == 0 || key(index) != key(index - 1)).collect()
            }
        })
    }
}

impl<'a> From<&'a Offsets> for Segments<'a> {
    fn from(offsets: &'a Offsets) -> Self {
        Self::by_offsets(offsets)
    }
}

impl<'a> From<&Segments<'a>> for Segments<'a> {
    fn from(segments: &Segments<'a>) -> Self {
        *segments
    }
}

/// A copy on the host.
fn on_host<T: Element>(view: View<'_, T>) -> Result<Vec<T>> {
    let mut elements = vec![T::zeroed(); view.len()];
    view.copy_to(&mut elements)?;
    Ok(elements)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_ways_to_tell_the_same_segments() {
        let device = Device::cpu();
        let flags = [0u8, 0, 2, 0, 255, 0];
        let keys = [5u16, 5, 6, 6, 5, 5];
        let offsets = Offsets::new(&device, &[0, 2, 4, 6]).unwrap();
        let ways: [Segments<'_>; 4] = [
            (&offsets).into(),
            Segments::of_length(2).unwrap(),
            Segments::by_flags(&flags),
            Segments::by_key(&keys),
        ];
        for segments in ways {
            assert_eq!(segments.starts("test", 6).unwrap(), [0, 2, 4], "{segments:?}");
            segments.expect(&device.default_stream(), "test", 6).unwrap();
        }
        for segments in [ways[0], ways[2], ways[3]] {
            let error = segments.expect(&device.default_stream(), "test", 5).unwrap_err();
            assert_eq!(segments.starts("test", 5).unwrap_err().to_string(), error.to_string());
            assert!(
                matches!(
                    error,
                    Error::Segments(Invalid::BeyondEnd { end: 6, len: 5, .. })
                        | Error::InputLengths { first: 5, second: 6, .. }
                ),
                "{error}"
            );
        }
    }

    #[test]
    fn keys_are_compared_by_all_of_their_bytes() {
        let wide = [1u64 << 40, 1, 1, 1 << 63];
        assert_eq!(Segments::by_key(&wide).starts("test", 4).unwrap(), [0, 1, 3]);
        assert_eq!(Segments::by_key(&[0.0f32, -0.0, -0.0]).starts("test", 3).unwrap(), [0, 1]);
    }

    #[test]
    fn nothing_has_no_segments() {
        let none: [u8; 0] = [];
        for segments in [Segments::by_flags(&none), Segments::by_key(&none), Segments::of_length(3).unwrap()]
        {
            assert!(segments.starts("test", 0).unwrap().is_empty(), "{segments:?}");
        }
        assert!(matches!(Segments::of_length(0), Err(Error::Segments(Invalid::SegmentLength))));
    }
}
