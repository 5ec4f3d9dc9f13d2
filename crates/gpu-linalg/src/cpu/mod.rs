//! What the CPU device runs where the [reference](crate::reference) is too slow: the same bits, sooner.

mod gemm;
mod launch;

pub use gemm::gemm;
