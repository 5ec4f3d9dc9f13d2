//! Filters of images: correlations with a rectangle of weights, and their gradients.
//!
//! Order of operations: an output of a full filter is one chain of fused multiply-adds, rows of the filter ascending,
//! in a row taps ascending; of a separable filter each row of its window is first such a chain over the taps of the
//! row, then one over the rows. A chain starts with the product of its first pair. So which kernel runs never shows
//! in the bits.

pub mod arctangent;
mod divisor;
mod full;
pub mod general;
pub mod geometry;
mod instances;
pub mod march;
pub mod pixel;
pub mod scipy;
mod separable;
pub mod sobel;

pub use divisor::{Divisor, WideDivisor};
pub use geometry::Geometry;
pub use instances::*;
pub use pixel::Pixel;
