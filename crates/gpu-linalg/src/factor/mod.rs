//! Cholesky factorisations: batches of sizes of their own, and the steps of a large one.

mod copy;
mod large;
pub mod launch;
pub(crate) mod sizes;
mod solve;

pub(crate) use copy::{copy, copy_batch, identities, narrow, narrow_triangle, widen_and_add};
pub(crate) use large::{factor, scratch_len, tiled};
pub use launch::FactorElement;
pub use sizes::Sizes;
pub(crate) use solve::{scratch_len as solve_scratch_len, solve};
