//! The textbook's filters, for comparison only: what each lesson changes, and nothing else. Of `f32`, one channel,
//! without gaps.

mod blur;
mod sobel;

pub use blur::*;
pub use sobel::*;
