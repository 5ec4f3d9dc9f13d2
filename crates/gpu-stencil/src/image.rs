//! Images in memory: their layout, and views of them.

use gpu_core::{Buffer, Element, View, ViewMut};

use crate::error::Error;

/// The extents of an image, or of a batch of images alike, and how they lie in memory.
///
/// Rows lie one after the other, the pixels of a row from left to right, the channels of a pixel next to each other
/// (interleaved, as PNG and OpenCV have them). The *pitch* is the number of elements from the start of one row to
/// that of the next.
///
/// ```
/// use gpu_stencil::ImageLayout;
/// let layout = ImageLayout::new(640, 480, 3)?.with_pitch(2048)?;
/// assert_eq!(layout.row(), 1920);
/// assert_eq!(layout.span(), 479 * 2048 + 1920); // the last row needs no padding
/// assert!(ImageLayout::new(640, 480, 3)?.with_pitch(1900).is_err());
/// assert_eq!(ImageLayout::of_rows(1920, 480, 3)?.width(), 640);
/// # Ok::<(), gpu_stencil::Error>(())
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
    /// [`Error::EmptyImage`], [`gpu_core::Error::ExtentTooLarge`], [`Error::SizeOverflow`].
    pub fn new(width: usize, height: usize, channels: usize) -> Result<Self, Error> {
        if width == 0 || height == 0 || channels == 0 {
            return Err(Error::EmptyImage { width, height, channels });
        }
        let Some(pitch) = width.checked_mul(channels).filter(|row| *row <= LIMIT) else {
            let limit = LIMIT / channels.min(LIMIT);
            return Err(Error::Device(gpu_core::Error::ExtentTooLarge {
                what: "the width of an image",
                actual: width,
                limit,
            }));
        };
        expect_at_most("the height of an image", height)?;
        Self { width, height, channels, pitch, count: 1, stride: 0 }.checked()
    }

    /// An image whose rows have `elements` elements, without gaps.
    ///
    /// # Errors
    /// [`Error::ChannelsDoNotDivideRow`], and those of [`ImageLayout::new`].
    pub fn of_rows(elements: usize, height: usize, channels: usize) -> Result<Self, Error> {
        if channels != 0 && !elements.is_multiple_of(channels) {
            return Err(Error::ChannelsDoNotDivideRow { elements, channels });
        }
        Self::new(elements.checked_div(channels).unwrap_or(0), height, channels)
    }

    /// The same image with gaps between its rows.
    ///
    /// # Errors
    /// [`Error::Pitch`] where it is less than a row has elements, [`Error::SizeOverflow`]; and [`Error::BatchStride`]
    /// where it makes the images of a batch overlap.
    pub fn with_pitch(self, elements: usize) -> Result<Self, Error> {
        if elements < self.row() {
            return Err(Error::Pitch { expected: self.row(), actual: elements });
        }
        Self { pitch: elements, ..self }.checked()
    }

    /// `count` such images, `stride` elements from the start of one to that of the next.
    ///
    /// # Errors
    /// [`Error::BatchStride`] where that is less than one spans; [`gpu_core::Error::ExtentTooLarge`], [`Error::SizeOverflow`].
    pub fn with_batch(self, count: usize, stride: usize) -> Result<Self, Error> {
        expect_at_most("the number of images", count)?;
        Self { count, stride, ..self }.checked()
    }

    fn checked(self) -> Result<Self, Error> {
        let Self { height, pitch, count, stride, .. } = self;
        if height.checked_mul(pitch).is_none() {
            return Err(Error::SizeOverflow { count: 1, rows: height, pitch });
        }
        if count > 1 && stride < self.image_span() {
            return Err(Error::BatchStride { expected: self.image_span(), actual: stride });
        }
        if count.checked_mul(stride).and_then(|start| start.checked_add(self.image_span())).is_none() {
            return Err(Error::SizeOverflow { count, rows: height, pitch: stride });
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

fn expect_at_most(what: &'static str, actual: usize) -> Result<(), Error> {
    if actual > LIMIT {
        Err(Error::Device(gpu_core::Error::ExtentTooLarge { what, actual, limit: LIMIT }))
    } else {
        Ok(())
    }
}

fn expect_span(layout: ImageLayout, actual: usize) -> Result<(), Error> {
    let expected = layout.span();
    if actual < expected { Err(Error::Length { expected, actual }) } else { Ok(()) }
}

/// An image, or a batch of them, in the memory of a device, to read. What lies in its gaps is never read.
#[derive(Clone, Copy, Debug)]
pub struct Image<'a, T: Element> {
    pub(crate) data: View<'a, T>,
    pub(crate) layout: ImageLayout,
}

impl<'a, T: Element> Image<'a, T> {
    /// The image that starts with the first element of `data`.
    ///
    /// # Errors
    /// [`Error::Length`] where `data` is shorter than the image.
    pub fn new(data: impl Into<View<'a, T>>, layout: ImageLayout) -> Result<Self, Error> {
        let data = data.into();
        expect_span(layout, data.len())?;
        Ok(Self { data, layout })
    }

    /// Its extents, and how it lies in memory.
    pub fn layout(&self) -> ImageLayout {
        self.layout
    }

    /// Its memory.
    pub fn data(&self) -> View<'a, T> {
        self.data
    }
}

/// An image, or a batch of them, in the memory of a device, to write. What lies in its gaps stays as it is.
#[derive(Debug)]
pub struct ImageMut<'a, T: Element> {
    pub(crate) data: ViewMut<'a, T>,
    pub(crate) layout: ImageLayout,
}

impl<'a, T: Element> ImageMut<'a, T> {
    /// The image that starts with the first element of `data`.
    ///
    /// # Errors
    /// [`Error::Length`] where `data` is shorter than the image.
    pub fn new(data: impl Into<ViewMut<'a, T>>, layout: ImageLayout) -> Result<Self, Error> {
        let data = data.into();
        expect_span(layout, data.len())?;
        Ok(Self { data, layout })
    }

    /// Its extents, and how it lies in memory.
    pub fn layout(&self) -> ImageLayout {
        self.layout
    }
}

/// A signal is an image of one row, and one channel.
///
/// # Errors
/// [`Error::EmptyImage`], [`gpu_core::Error::ExtentTooLarge`].
impl<'a, T: Element> TryFrom<&'a Buffer<T>> for Image<'a, T> {
    type Error = Error;

    fn try_from(buffer: &'a Buffer<T>) -> Result<Self, Error> {
        Self::new(buffer.view(), ImageLayout::new(buffer.len(), 1, 1)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_an_image_is_refused() {
        assert!(matches!(
            ImageLayout::new(0, 4, 1),
            Err(Error::EmptyImage { width: 0, height: 4, channels: 1 })
        ));
        assert!(matches!(
            ImageLayout::of_rows(7, 4, 3),
            Err(Error::ChannelsDoNotDivideRow { elements: 7, channels: 3 })
        ));
        assert!(matches!(ImageLayout::of_rows(7, 4, 0), Err(Error::EmptyImage { channels: 0, .. })));
        let layout = ImageLayout::new(4, 3, 2).unwrap();
        assert!(matches!(layout.with_pitch(7), Err(Error::Pitch { expected: 8, actual: 7 })));
        assert!(matches!(layout.with_batch(2, 23), Err(Error::BatchStride { expected: 24, actual: 23 })));
        assert!(matches!(layout.with_pitch(usize::MAX), Err(Error::SizeOverflow { .. })));
        assert!(matches!(layout.with_batch(LIMIT, usize::MAX / 2), Err(Error::SizeOverflow { .. })));
        for (width, height, channels) in
            [(1 << 31, 1, 1), (usize::MAX, 1, 2), (1, 1 << 31, 1), (1, 1, usize::MAX)]
        {
            assert!(matches!(
                ImageLayout::new(width, height, channels),
                Err(Error::Device(gpu_core::Error::ExtentTooLarge { .. }))
            ));
        }
    }

    #[test]
    fn the_last_element_is_the_last_of_the_span() {
        let layout = ImageLayout::new(4, 3, 2).unwrap().with_pitch(10).unwrap().with_batch(5, 40).unwrap();
        assert_eq!(layout.index(4, 2, 3, 1) + 1, layout.span());
    }
}
