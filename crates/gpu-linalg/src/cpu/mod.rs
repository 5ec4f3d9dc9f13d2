//! What the CPU device runs where the [reference](crate::reference) is too slow: the same bits, sooner.

pub(crate) mod factor;
mod gemm;
mod gemv;
mod launch;
mod skyline;
pub(crate) mod solve;
mod thin;

pub(crate) use gemm::product;
pub use gemv::gemv;
pub(crate) use skyline::potrf_skyline;
