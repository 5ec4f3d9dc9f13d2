//! The textbook's sums and products, for comparison only: what each lesson changes, and nothing else. Of `f32`,
//! row-major.

mod add;
mod gemm;
mod gemv;

pub use add::*;
pub use gemm::*;
pub use gemv::*;
