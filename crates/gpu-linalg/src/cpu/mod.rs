//! What the CPU device runs where the [reference](crate::reference) is too slow: the same bits, sooner.

pub(crate) mod factor;
mod gemm;
mod gemv;
mod launch;
mod thin;

pub use gemm::gemm;
pub use gemv::gemv;
