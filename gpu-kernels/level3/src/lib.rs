//! Triangular solves, triangular and symmetric products: what of them is not a product of matrices.
//!
//! Each is built of products, which gpu-linalg has, and of three steps: the inverses of the blocks on a diagonal
//! (`invert.rs`), a triangle written out as a full matrix (`spread.rs`), and a result that goes where it belongs (`merge.rs`).
//!
//! A matrix of which one triangle counts is to the kernels a *lower* one, of any distance from row to row and from column to
//! column: the upper triangle is the lower one of the transposed matrix.
#![no_std]
#![cfg_attr(target_arch = "nvptx64", feature(abi_ptx))]

mod instances;
mod invert;
mod merge;
mod spread;

pub use instances::*;
pub use invert::{BLOCK, Invert, THREADS, shared_bytes};
pub use merge::Merge;
pub use spread::{Spread, TILE, spread_shared_bytes};
