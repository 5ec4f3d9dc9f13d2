//! Products of matrices: `C = alpha · A · B + beta · C`, in batches.
//!
//! # Order of operations
//! Of an element of the product: one chain of fused multiply-adds over ascending `k`, from zero, `s_0 = +0`, `s_{k+1}
//! = fma(a_k, b_k, s_k)`, and at last `s + 0`, so that a chain that ends in -0 gives +0, as it does where a kernel
//! goes on with zeros beyond the last `k`. Then `fma(alpha, s, beta · c)`; where `beta` is zero, `alpha · s`, and `c`
//! is not read. Where `alpha` is zero the chain is empty.
//!
//! No tile size enters into it, so tiles may be chosen for speed alone.
//!
//! # Which matrices a kernel sees
//! C is row-major; a column-major C is the row-major `Cᵀ = Bᵀ · Aᵀ`. A and B are each either contiguous along `k` or
//! along the other axis, which the kernels are told at run time ([`Operand`]): it decides which thread copies what
//! and nothing in the inner loop.

mod instances;
mod operand;
mod tensor;
mod tiled;

pub use instances::*;
pub use operand::{Operand, Product};
pub use tiled::Tile;
