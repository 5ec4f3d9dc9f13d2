//! Triangular solves, triangular and symmetric products: what of them is not a product of matrices.
//!
//! Systems of a few hundred rows, or of a few right-hand sides, in one launch (`solve.rs`, and `few.rs` for up to 16 rows), a triangle written out as a full
//! matrix (`spread.rs`), and a copy of what a product overwrites (`copy.rs`); all else is products, which gpu-linalg has.
//!
//! A matrix of which one triangle counts is to the kernels a *lower* one, of any distance from row to row and from column to
//! column: the upper triangle is the lower one of the transposed matrix, or of the matrix read from its last element on.
#![no_std]
#![cfg_attr(target_arch = "nvptx64", feature(abi_ptx))]

mod copy;
mod few;
mod instances;
mod invert;
mod solve;
mod spread;

pub use copy::Copy;
pub use few::{FEW, FEW_SIDES, few_shared_bytes};
pub use instances::*;
pub use solve::{BLOCK, NARROW, SQUARE, Solve, WIDE, solve_shared_bytes};
pub use spread::{Spread, TILE, spread_shared_bytes};

/// Threads of a block of every kernel here but that of a few rows.
pub const THREADS: u32 = 256;
