//! What is launched, from extents and the alignment of addresses alone: pure, tested without a GPU.

mod filter;

pub(crate) use filter::aligned;
pub use filter::{Kernel, Plan, Window};

pub(crate) use gpu_core::checks::blocks;
