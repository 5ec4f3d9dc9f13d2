//! What the CPU device runs where the [reference](crate::reference) is too slow: the same bits, sooner.

pub(crate) mod factor;
mod gemm;
mod gemv;
mod lanes;
mod launch;
mod pack;
mod panel;
mod skyline;
pub(crate) mod solve;
mod thin;
mod tile;

pub(crate) use gemm::product;
pub use gemv::{Lines, gemv};
pub use lanes::Registers;
pub(crate) use skyline::potrf_skyline;
