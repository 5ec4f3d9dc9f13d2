//! What the CPU device runs where the [reference](crate::reference) is too slow: the same bits, sooner.

mod gemm;
mod vectors;

pub use gemm::gemm;
