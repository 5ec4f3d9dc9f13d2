//! The textbook's products, for comparison only: what each lesson changes, and nothing else. Of `f32`, row-major.

mod gemm;
mod gemv;

pub use gemm::*;
pub use gemv::*;
