#![doc = include_str!("../README.md")]

mod api;
mod cpu;
mod error;
mod factor;
mod launch;
mod level3;
pub mod plan;
pub mod reference;
mod tensor;
pub mod variants;

// Where the modules take their shapes from.
use gpu_core::matrix;

pub use api::*;
pub use error::Error;
pub use factor::Sizes;
pub use factor::launch::FactorElement;
pub use gpu_core::matrix::{Batch, BatchLayout, BatchMut, Layout, Matrix, MatrixMut, Order};
pub use gpu_core::{Scratch, ScratchSize};
pub use gpu_reduce::{
    dot, dot_into, norm_l1 as asum, norm_l1_into as asum_into, norm_l2 as nrm2, norm_l2_into as nrm2_into,
    norm_max as amax, norm_max_into as amax_into,
};
pub use gpu_std::half::{bf16, f16};
pub use launch::{Element, RealElement};
pub use level3::launch::TriangleElement;
pub use tensor::launch::{TensorElement, TensorOutput};
