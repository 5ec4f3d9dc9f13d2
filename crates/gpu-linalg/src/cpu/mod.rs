//! What the CPU device runs where the [reference](crate::reference) is too slow: the same bits, sooner.

mod aligned;
#[cfg(test)]
mod case;
mod down;
pub(crate) mod factor;
mod gemm;
mod gemv;
mod lanes;
mod launch;
mod pack;
mod panel;
mod shallow;
mod skyline;
mod slender;
pub(crate) mod solve;
mod tile;

pub use gemm::Products;
pub use gemv::{Lines, gemv};
pub(crate) use skyline::potrf_skyline;
