//! Resizing: from the nearest pixel, or bilinear.
//!
//! Pixels are areas. Along either axis, output `o` of `n` samples the input of `w` pixels at `(o + 1/2) · w / n -
//! 1/2`: OpenCV's `INTER_LINEAR`, NPP's `NPPI_INTER_LINEAR`, and `scipy.ndimage.zoom(…, order=1, grid_mode=True,
//! mode="nearest", prefilter=False)`. The nearest pixel is the one that this place is in, the right or lower one on a
//! boundary. OpenCV's `INTER_NEAREST_EXACT` takes the same, but for some of the places that are exactly on a boundary,
//! where its rounding to 2^-16 takes the left or upper one: 731 of the 104,430 places of rows of 1 to 59 pixels that
//! become as many (OpenCV 5.0). Its `INTER_NEAREST` has no half pixels. Neither filters: an image made smaller than
//! half its size skips pixels.
//!
//! | | definition |
//! |---|---|
//! | place | exact: whole part and remainder of a division of whole numbers, whatever the extents |
//! | weight | `x`, `y`: that remainder over `2n`, rounded to the type that is computed in; exact where that can hold it |
//! | bilinear, of `a b` above `c d` | `lerp(lerp(a, b, x), lerp(c, d, x), y)`, `lerp(a, b, t) = fma(t, b - a, a)` |
//! | computed in | `f64` for `f64`, else `f32` |
//! | integers | rounded once, at the end, to the nearest, ties to even; never out of the range of the four pixels |
//! | outside | [`Addressing`]; the nearest pixel is never outside |
//! | NaN, infinities | a NaN among the four pixels gives NaN, an infinity NaN or an infinity |
//!
//! With `u` the rounding unit (2^-24 for `f32`, 2^-53 for `f64`) and `m` the largest magnitude among the four pixels,
//! a float errs by at most `10 u m` against the exact bilinear value, to first order. A weight errs by `u` of itself,
//! and so does the difference it is multiplied with, which is `2m` at most; the `fma` errs by `u` of its result:
//! `(2 + 2 + 1) u m` for a `lerp`. The second one's ends have that error, of which it takes the mean, and its own is
//! as much again.
//!
//! The CPU, the simulator and every GPU give the same bits. Halving both sides of an image of one channel has a
//! kernel of its own, with the same bits too.

mod api;
mod launch;
pub mod plan;
pub mod reference;

pub use api::{resize, resize_into};
pub use launch::Element;

use gpu_stencil_kernels::resize as kernels;

/// What is outside an image, with CUDA's names for textures and their meaning.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub enum Addressing<T> {
    /// The outermost pixel goes on. SciPy's `nearest`.
    #[default]
    Clamp,
    /// The image repeats. SciPy's `grid-wrap`.
    Wrap,
    /// The image repeats, every second time backwards, its outermost pixels twice. Places are less than a pixel
    /// outside: here that is what [`Addressing::Clamp`] gives. SciPy's `reflect`.
    Mirror,
    /// This value is everywhere. SciPy's `grid-constant`.
    Border(T),
}

impl<T: Copy + Default> Addressing<T> {
    /// The kernels' number of this mode, and the value outside.
    fn code(self) -> (u32, T) {
        match self {
            Self::Clamp | Self::Mirror => (kernels::CLAMP, T::default()),
            Self::Wrap => (kernels::WRAP, T::default()),
            Self::Border(value) => (kernels::BORDER, value),
        }
    }
}

/// How an output comes of the pixels around its place.
///
/// Unless told otherwise from the nearest, which is right for pixels of any meaning, labels and masks too: it gives no
/// value that the image does not have. PyTorch's `interpolate` has the same default; OpenCV's and NPP's is bilinear.
///
/// ```
/// use gpu_stencil::resize::{Interpolation, resize};
/// use gpu_stencil::{Image, ImageLayout};
/// let labels = Image::new(&[7u8, 200], ImageLayout::new(2, 1, 1)?)?;
/// assert_eq!(resize(labels, 4, 1, Interpolation::default())?.to_vec()?, [7, 7, 200, 200]);
/// # Ok::<(), gpu_stencil::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub enum Interpolation<T> {
    /// It is the nearest one, bit by bit.
    #[default]
    Nearest,
    /// It is the weighted mean of the four around it.
    Bilinear(Addressing<T>),
}
