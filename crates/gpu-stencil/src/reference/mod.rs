//! The same on the CPU, by all its cores: what the CPU device runs, bit for bit what the kernels compute.

mod filter;
mod sobel;

pub use filter::{correlate, separable};
pub use sobel::{Wanted, sobel};
