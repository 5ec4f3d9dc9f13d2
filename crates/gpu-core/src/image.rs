//! Images in memory: their layout, and views of them.
//!
//! ```
//! use gpu_core::{Device, Image, ImageLayout};
//! let pixels = Device::simulator().upload(&[1u8, 2, 3, 4, 5, 6])?;
//! let image = Image::new(&pixels, ImageLayout::new(1, 2, 3)?)?;
//! assert_eq!(image.layout().height(), 2);
//! assert!(Image::new(&pixels, ImageLayout::new(2, 2, 3)?).is_err());
//! # Ok::<(), gpu_core::Error>(())
//! ```

use crate::buffer::Buffer;
use crate::checks;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::matrix::accessors;
use crate::view::{View, ViewMut};

/// What no image can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Invalid {
    /// There are no pixels.
    #[error("an image has at least one pixel, this one is {width} × {height} with {channels} channels")]
    Empty {
        /// Pixels of a row.
        width: usize,
        /// Rows.
        height: usize,
        /// Elements of a pixel.
        channels: usize,
    },
    /// A row's elements are not whole pixels.
    #[error("a row of {elements} elements cannot hold pixels of {channels} channels")]
    ChannelsDoNotDivideRow {
        /// Elements of a row.
        elements: usize,
        /// Elements of a pixel.
        channels: usize,
    },
    /// A pitch is smaller than a row.
    #[error("the pitch is {actual} elements, but a row has {expected}")]
    Pitch {
        /// Elements of a row.
        expected: usize,
        /// The pitch given.
        actual: usize,
    },
    /// Images of a batch overlap.
    #[error("the images of the batch are {actual} elements apart, but each spans {expected}")]
    BatchStride {
        /// Elements an image spans.
        expected: usize,
        /// Elements from one image to the next.
        actual: usize,
    },
    /// The length of all images is not a `usize`.
    #[error("{count} images of {rows} rows, {pitch} elements apart, are more than can be addressed")]
    TooLarge {
        /// Images.
        count: usize,
        /// Rows of each.
        rows: usize,
        /// Elements from one row, or image, to the next.
        pitch: usize,
    },
}

/// The extents of an image, or of a batch of images alike, and how they lie in memory.
///
/// Rows lie one after the other, the pixels of a row from left to right, the channels of a pixel next to each other
/// (interleaved, as PNG and OpenCV have them). The *pitch* is the number of elements from the start of one row to
/// that of the next.
///
/// ```
/// use gpu_core::ImageLayout;
/// let layout = ImageLayout::new(640, 480, 3)?.with_pitch(2048)?;
/// assert_eq!(layout.row(), 1920);
/// assert_eq!(layout.span(), 479 * 2048 + 1920); // the last row needs no padding
/// assert!(ImageLayout::new(640, 480, 3)?.with_pitch(1900).is_err());
/// assert_eq!(ImageLayout::of_rows(1920, 480, 3)?.width(), 640);
/// # Ok::<(), gpu_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ImageLayout {
    width: usize,
    height: usize,
    channels: usize,
    pitch: usize,
    count: usize,
    stride: usize,
}

/// The largest width, height, row and count: places are 32-bit numbers with a sign, and a filter's reach is added to
/// them.
const LIMIT: usize = i32::MAX as usize - 4096;

impl ImageLayout {
    /// An image of `width` × `height` pixels of `channels` elements, without gaps.
    ///
    /// # Errors
    /// [`Invalid::Empty`], [`Error::ExtentTooLarge`], [`Invalid::TooLarge`].
    pub fn new(width: usize, height: usize, channels: usize) -> Result<Self> {
        if width == 0 || height == 0 || channels == 0 {
            return Err(Invalid::Empty { width, height, channels }.into());
        }
        let Some(pitch) = width.checked_mul(channels).filter(|row| *row <= LIMIT) else {
            let limit = LIMIT / channels.min(LIMIT);
            return Err(Error::ExtentTooLarge { what: "the width of an image", actual: width, limit });
        };
        checks::extent("the height of an image", height, LIMIT)?;
        Self { width, height, channels, pitch, count: 1, stride: 0 }.checked()
    }

    /// An image whose rows have `elements` elements, without gaps.
    ///
    /// # Errors
    /// [`Invalid::ChannelsDoNotDivideRow`], and those of [`ImageLayout::new`].
    pub fn of_rows(elements: usize, height: usize, channels: usize) -> Result<Self> {
        if channels != 0 && !elements.is_multiple_of(channels) {
            return Err(Invalid::ChannelsDoNotDivideRow { elements, channels }.into());
        }
        Self::new(elements.checked_div(channels).unwrap_or(0), height, channels)
    }

    /// The same image with gaps between its rows.
    ///
    /// # Errors
    /// [`Invalid::Pitch`] where it is less than a row has elements, [`Invalid::TooLarge`]; and [`Invalid::BatchStride`]
    /// where it makes the images of a batch overlap.
    pub fn with_pitch(self, elements: usize) -> Result<Self> {
        if elements < self.row() {
            return Err(Invalid::Pitch { expected: self.row(), actual: elements }.into());
        }
        Self { pitch: elements, ..self }.checked()
    }

    /// `count` such images, `stride` elements from the start of one to that of the next.
    ///
    /// # Errors
    /// [`Invalid::BatchStride`] where that is less than one spans; [`Error::ExtentTooLarge`], [`Invalid::TooLarge`].
    pub fn with_batch(self, count: usize, stride: usize) -> Result<Self> {
        checks::extent("the number of images", count, LIMIT)?;
        Self { count, stride, ..self }.checked()
    }

    fn checked(self) -> Result<Self> {
        let Self { height, pitch, count, stride, .. } = self;
        if height.checked_mul(pitch).is_none() {
            return Err(Invalid::TooLarge { count: 1, rows: height, pitch }.into());
        }
        if count > 1 && stride < self.image_span() {
            return Err(Invalid::BatchStride { expected: self.image_span(), actual: stride }.into());
        }
        if count.checked_mul(stride).and_then(|start| start.checked_add(self.image_span())).is_none() {
            return Err(Invalid::TooLarge { count, rows: height, pitch: stride }.into());
        }
        Ok(self)
    }

    /// Pixels of a row.
    pub const fn width(self) -> usize {
        self.width
    }

    /// Rows.
    pub const fn height(self) -> usize {
        self.height
    }

    /// Elements of a pixel.
    pub const fn channels(self) -> usize {
        self.channels
    }

    /// Elements of a row, without the gap.
    pub const fn row(self) -> usize {
        self.width * self.channels
    }

    /// Elements from the start of one row to that of the next.
    pub const fn pitch(self) -> usize {
        self.pitch
    }

    /// Images.
    pub const fn count(self) -> usize {
        self.count
    }

    /// Elements from the start of one image to that of the next; of no meaning for a single one.
    pub const fn stride(self) -> usize {
        self.stride
    }

    /// Elements of an image from its first to its last, gaps included.
    const fn image_span(self) -> usize {
        (self.height - 1) * self.pitch + self.row()
    }

    /// Elements from the first to the last of all images, gaps included.
    pub const fn span(self) -> usize {
        if self.count == 0 { 0 } else { (self.count - 1) * self.stride + self.image_span() }
    }

    /// Where channel `channel` of pixel (`x`, `y`) of image `image` lies.
    pub const fn index(self, image: usize, y: usize, x: usize, channel: usize) -> usize {
        image * self.stride + y * self.pitch + x * self.channels + channel
    }
}

/// An image, or a batch of them, in the memory of a device, to read. What lies in its gaps is never read.
#[derive(Clone, Copy, Debug)]
pub struct Image<'a, T: Element> {
    data: View<'a, T>,
    layout: ImageLayout,
}

impl<'a, T: Element> Image<'a, T> {
    /// The image that starts with the first element of `data`.
    ///
    /// # Errors
    /// [`Error::Length`] where `data` is shorter than the image.
    pub fn new(data: impl Into<View<'a, T>>, layout: ImageLayout) -> Result<Self> {
        let data = data.into();
        checks::span("an image", layout.span(), data.len())?;
        Ok(Self { data, layout })
    }
}

/// An image, or a batch of them, in the memory of a device, to write. What lies in its gaps stays as it is.
#[derive(Debug)]
pub struct ImageMut<'a, T: Element> {
    data: ViewMut<'a, T>,
    layout: ImageLayout,
}

impl<'a, T: Element> ImageMut<'a, T> {
    /// The image that starts with the first element of `data`.
    ///
    /// # Errors
    /// [`Error::Length`] where `data` is shorter than the image.
    pub fn new(data: impl Into<ViewMut<'a, T>>, layout: ImageLayout) -> Result<Self> {
        let data = data.into();
        checks::span("an image", layout.span(), data.len())?;
        Ok(Self { data, layout })
    }
}

accessors!(Image, ImageMut: ImageLayout);

/// A signal is an image of one row, and one channel.
///
/// # Errors
/// [`Invalid::Empty`], [`Error::ExtentTooLarge`].
impl<'a, T: Element> TryFrom<&'a Buffer<T>> for Image<'a, T> {
    type Error = Error;

    fn try_from(buffer: &'a Buffer<T>) -> Result<Self> {
        Self::new(buffer.view(), ImageLayout::new(buffer.len(), 1, 1)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_an_image_is_refused() {
        let invalid = |layout: Result<ImageLayout>| match layout {
            Err(Error::Image(invalid)) => invalid,
            other => panic!("{other:?}"),
        };
        let of_rows = |elements, channels| invalid(ImageLayout::of_rows(elements, 4, channels));
        assert_eq!(invalid(ImageLayout::new(0, 4, 1)), Invalid::Empty { width: 0, height: 4, channels: 1 });
        assert_eq!(of_rows(7, 3), Invalid::ChannelsDoNotDivideRow { elements: 7, channels: 3 });
        assert_eq!(of_rows(7, 0), Invalid::Empty { width: 0, height: 4, channels: 0 });
        let layout = ImageLayout::new(4, 3, 2).unwrap();
        assert_eq!(invalid(layout.with_pitch(7)), Invalid::Pitch { expected: 8, actual: 7 });
        assert_eq!(invalid(layout.with_batch(2, 23)), Invalid::BatchStride { expected: 24, actual: 23 });
        let too_large = [layout.with_pitch(usize::MAX), layout.with_batch(LIMIT, usize::MAX / 2)];
        assert!(too_large.into_iter().all(|layout| matches!(invalid(layout), Invalid::TooLarge { .. })));
        for (width, height, channels) in
            [(1 << 31, 1, 1), (usize::MAX, 1, 2), (1, 1 << 31, 1), (1, 1, usize::MAX)]
        {
            let layout = ImageLayout::new(width, height, channels);
            assert!(matches!(layout, Err(Error::ExtentTooLarge { .. })), "{layout:?}");
        }
    }

    #[test]
    fn the_last_element_is_the_last_of_the_span() {
        let layout = ImageLayout::new(4, 3, 2).unwrap().with_pitch(10).unwrap().with_batch(5, 40).unwrap();
        assert_eq!(layout.index(4, 2, 3, 1) + 1, layout.span());
    }
}
