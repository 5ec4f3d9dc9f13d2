//! `scipy.ndimage`'s filters, bit for bit: sums in `f64`, in the order of SciPy's C code and without fused
//! operations, one axis after the other, first down the columns, and each pass converted to the type of the image:
//! towards zero for integers, where what does not fit wraps around. For comparisons with what was computed with
//! SciPy; speed does not matter here.
//!
//! Images are dense: a pitch of their own, or gaps between the images of a batch, are an error. Every channel is
//! filtered by itself, as SciPy does where the axes are `(0, 1)`. [`Border::Valid`](crate::Border::Valid) has no
//! counterpart in SciPy and is an error too.
//!
//! What SciPy computes where a sum is beyond 32 bits is undefined in C; it is saturated to 32 bits here before it
//! wraps around.
//!
//! Weights of a Gaussian come from the platform's `exp` here, and from NumPy's in SciPy: the C library's as well, but
//! for processors with AVX-512, where NumPy has its own, which may differ in the last bit. Of 110 filtered images of
//! `tests/tests/data/stencil_scipy.txt` 94 have the bits that SciPy gives with that one, all 110 those that it gives
//! with glibc's. Pass SciPy's weights to [`correlate1d`] where that matters.
//!
//! SciPy 1.17's `correlate` reads pixels that are not those of [`Border::Reflect`](crate::Border::Reflect) where a
//! filter reaches four or more image lengths beyond the image (`weights.shape[i] // 2 >= 4 * image.shape[i]`).
//! [`correlate`] does not do that after it.
//!
//! ```
//! use gpu_stencil::{Border, Image, ImageLayout, scipy};
//! let image = Image::new(&[10u8, 20, 40, 80], ImageLayout::new(4, 1, 1)?)?;
//! // Truncated: 70 / 3 = 23.3 and 140 / 3 = 46.7.
//! assert_eq!(scipy::uniform_filter(image, 3, 1, Border::Nearest)?.to_vec()?, [13, 23, 46, 66]);
//! # Ok::<(), gpu_stencil::Error>(())
//! ```

mod api;
mod launch;
mod reference;

pub use api::{Axis, correlate, correlate1d, gaussian_filter, laplace, sobel, uniform_filter};
pub use launch::Exact;
