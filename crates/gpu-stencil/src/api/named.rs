//! The filters everybody has.

use gpu_core::{Buffer, Image, ImageMut, Stream};

use super::{correlate, correlate_into, correlate_separable, correlate_separable_into};
use crate::border::Border;
use crate::error::Error;
use crate::launch::Pixel;
use crate::weights::{Filter, SeparableFilter};

macro_rules! named {
    ($($(#[$doc:meta])* $name:ident, $into:ident ($($parameter:ident: $P:ty),*): $filter:expr, $run:ident, $run_into:ident;)*) => { $(
        $(#[$doc])*
        ///
        /// On `stream`, into `output`, without allocating device memory or waiting.
        ///
        /// # Errors
        /// Those of the filter's constructor, and of [`correlate_into`]. The output is as it was then.
        pub fn $into<T: Pixel>(
            stream: &Stream,
            input: Image<'_, T>,
            $($parameter: $P,)*
            border: Border<T>,
            output: ImageMut<'_, T>,
        ) -> Result<(), Error> {
            $run_into(stream, input, &$filter, border, output)
        }

        $(#[$doc])*
        ///
        /// Where the images live, in a buffer of its own, without gaps.
        ///
        /// # Errors
        #[doc = concat!("As [`", stringify!($into), "`]; [`Error::Device`] where the device's memory does not suffice.")]
        pub fn $name<T: Pixel>(
            input: Image<'_, T>,
            $($parameter: $P,)*
            border: Border<T>,
        ) -> Result<Buffer<T>, Error> {
            $run(input, &$filter, border)
        }
    )* };
}

named! {
    /// Images blurred by a Gaussian of standard deviation `sigma`, cut off `truncate` standard deviations from its
    /// middle (SciPy: 4): [`SeparableFilter::gaussian`] through [`correlate_separable_into`].
    ///
    /// ```
    /// use gpu_stencil::{Border, Image, ImageLayout, gaussian};
    /// let device = gpu_core::Device::best();
    /// let pixels = device.upload(&vec![7u8; 640 * 480 * 3])?;
    /// let image = Image::new(&pixels, ImageLayout::new(640, 480, 3)?)?;
    /// assert_eq!(gaussian(image, 1.5, 4.0, Border::Reflect)?.to_vec()?, vec![7; 640 * 480 * 3]);
    /// # Ok::<(), gpu_stencil::Error>(())
    /// ```
    gaussian, gaussian_into(sigma: f64, truncate: f64): SeparableFilter::gaussian(sigma, truncate)?,
        correlate_separable, correlate_separable_into;
    /// The mean of `width` × `height` pixels around each: [`SeparableFilter::box_mean`] through
    /// [`correlate_separable_into`].
    box_mean, box_mean_into(width: usize, height: usize): SeparableFilter::box_mean(width, height)?,
        correlate_separable, correlate_separable_into;
    /// Images sharpened: [`Filter::sharpen`] through [`correlate_into`].
    ///
    /// ```
    /// use gpu_stencil::{Border, Image, ImageLayout, sharpen};
    /// let step = Image::new(&[10u8, 10, 20, 20], ImageLayout::new(4, 1, 1)?)?;
    /// assert_eq!(sharpen(step, Border::Nearest)?.to_vec()?, [10, 0, 30, 20]);
    /// # Ok::<(), gpu_stencil::Error>(())
    /// ```
    sharpen, sharpen_into(): Filter::sharpen(), correlate, correlate_into;
    /// The Laplace operator of images: [`Filter::laplace`] through [`correlate_into`].
    ///
    /// Of unsigned integers the negative part is cut off: take `i16` for both.
    laplace, laplace_into(): Filter::laplace(), correlate, correlate_into;
}
