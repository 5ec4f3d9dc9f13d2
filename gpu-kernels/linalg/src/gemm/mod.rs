//! Products of matrices: `C = alpha · A · B + beta · C`, in batches.
//!
//! # Order of operations
//! The sum of an element is cut into parts of [`Product::piece`] products, of which the host says how long they are: from the
//! shapes alone, and a single one unless C is small. Of a part: one chain of fused multiply-adds over ascending `k`, from
//! zero, `s_0 = +0`, `s_{k+1} = fma(a_k, b_k, s_k)`, and at last `s + 0`, so that a chain that ends in -0 gives +0, as it
//! does where a kernel goes on with zeros beyond the last `k`. Parts are added in ascending order. Then `fma(alpha, s, beta
//! · c)`; where `beta` is zero, `alpha · s`, and `c` is not read. Where `alpha` is zero there is one part, and its chain is
//! empty.
//!
//! No tile size enters into it, so tiles may be chosen for speed alone.
//!
//! A block computes one part of the elements of its tile, and writes it as a product of its own, with factors one and
//! zero; a second launch adds the parts ([`Parts`]).
//!
//! # Which matrices a kernel sees
//! C is row-major; a column-major C is the row-major `Cᵀ = Bᵀ · Aᵀ`. A and B are each either contiguous along `k` or
//! along the other axis, which the kernels are told at run time ([`Operand`]): it decides which thread copies what
//! and nothing in the inner loop.
//!
//! Of a square C only one triangle may be wanted ([`Product::triangle`]): tiles outside have no
//! blocks ([`grid()`]) or end at once, and blocks on the diagonal write what is inside.

pub mod aligned;
pub mod bulk;
mod eights;
mod finish;
mod instances;
pub mod large;
mod operand;
mod place;
pub mod short;
pub mod small;
mod store;
mod tensor;
mod tiled;

pub use finish::{FINISH_THREADS, Parts};
pub use instances::*;
pub use operand::{ALL, LOWER, Operand, Product, UPPER};
pub use place::grid;
pub use tiled::Tile;
