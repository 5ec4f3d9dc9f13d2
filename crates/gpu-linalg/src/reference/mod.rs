//! The same results on the CPU, in rayon: simple, and bit for bit what the kernels compute.

mod elementwise;
pub(crate) mod factor;
mod gemm;
mod gemv;
mod ger;
mod integer;
pub mod level3;
mod tensor;
mod triangle;

pub use elementwise::{elementwise, map, swap, update};
pub use factor::{potrf, potrs};
pub(crate) use gemm::by_tiles;
pub use gemm::gemm;
pub use gemv::gemv;
pub use ger::ger;
pub use integer::gemm_i8;
pub use tensor::{gemm_tensor, gemm_tensor_with, gemm_tf32, gemm_tf32_with};
pub(crate) use tensor::{gemm_tensor_in_chains, gemm_tf32_in_chains};
pub use triangle::{symv, trmv};

use gpu_std::float::Float;

/// `alpha · sum + beta · old`, as the kernels do it: `old` is asked for only where `beta` is not zero.
#[inline(always)]
pub(crate) fn finish<T: Float>(alpha: T, sum: T, beta: T, old: impl FnOnce() -> T) -> T {
    // A sum that is -0 gives +0, as it does where a kernel goes on with zeros.
    let sum = sum + T::ZERO;
    if beta == T::ZERO { alpha * sum } else { alpha.mul_add(sum, beta * old()) }
}
