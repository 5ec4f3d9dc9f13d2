//! Dense linear algebra: products of matrices and vectors, element-wise operations.
//!
//! Every result's order of operations is a function of the shapes alone, so the CPU, the simulator and every GPU give the
//! same bits; each module states its order.

pub mod elementwise;
pub mod gemm;
pub mod gemv;
pub mod ger;
mod scalar;
pub mod triangle;
pub mod variants;

pub use scalar::Scalar;
