#![doc = include_str!("../README.md")]

mod api;
mod axes;
mod error;
mod in_place;
mod launch;
mod plan;
pub mod reference;
pub mod variants;

#[doc(hidden)]
pub use api::transpose_in_place_wide;
pub use api::{in_place_scratch, permute, permute_into, transpose, transpose_in_place, transpose_into};
pub use axes::MAX_RANK;
pub use error::Error;
pub use gpu_core::matrix::{Batch, BatchLayout, BatchMut, Layout, Matrix, MatrixMut, Order};
pub use gpu_core::{Scratch, ScratchSize};
pub use in_place::InPlace;
pub use plan::{Elements, Kernel, MAX_BLOCKS, Plan, Tiles, skew, tile};
