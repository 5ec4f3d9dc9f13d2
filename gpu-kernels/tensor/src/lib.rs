//! Products of matrices on the tensor cores: `C = alpha · A · B + beta · C` of narrow elements, with wide sums.
//!
//! `warps.rs` is for capability 9.0: the copy engine fills a ring of stages, and two warpgroups multiply;
//! `rows.rs` is what they do to a factor of tf32 first;
//! `pairs.rs` is the same by clusters of two blocks, which share what they bring of B;
//! `lanes.rs` for 8.0 and for matrices that the copy engine does not take; `pack.rs` copies such matrices to where
//! it does; `thin.rs` is for factors of few rows or columns. All of them leave the sums to `store.rs`, and that to
//! `epilogue.rs` what else becomes of them. `steps/` has the steps up to there, to learn from.
//!
//! # An epilogue of one's own
//! A type that implements [`Epilogue`] makes a kernel, in a crate of one's own that gpu-builder compiles, of
//! [`product_by_lanes`], which takes any matrices; `gpu_linalg::plan::tensor::Plan` has its launch, [`Product`] and
//! [`Factors`]. It is for products whose sums are not in parts: where [`Product::parts`] is 1.
//!
//! ```
//! use gpu_std::half::bf16;
//! use gpu_std::kernel;
//! use gpu_std::memory::{Global, GlobalMut};
//! use gpu_tensor_kernels::{Epilogue, Factors, Place, Product, product_by_lanes};
//!
//! /// What is larger is cut.
//! #[derive(Clone, Copy)]
//! struct Clipped(f32);
//!
//! impl Epilogue<f32> for Clipped {
//!     fn apply(&self, value: f32, _: Place) -> f32 {
//!         gpu_std::float::min(value, self.0)
//!     }
//! }
//!
//! /// `min(A · B, limit)`, rounded to C's type.
//! #[kernel(launch_bounds(256, 2))]
//! pub fn clipped(
//!     a: Global<bf16>,
//!     b: Global<bf16>,
//!     c: GlobalMut<bf16>,
//!     product: Product,
//!     factors: Factors,
//!     limit: f32,
//! ) {
//!     product_by_lanes::<bf16, _, 8>(a, b, c, product, factors, 1.0, 0.0, Clipped(limit));
//! }
//! ```
#![cfg_attr(target_arch = "nvptx64", no_std)]

mod epilogue;
mod finish;
mod gelu;
mod instances;
mod lanes;
mod output;
mod pack;
mod pairs;
mod place;
mod rows;
mod steps;
mod store;
mod thin;
mod warps;

pub use epilogue::{Activation, Epilogue, Plain, Usual};
pub use finish::{FINISH_SHARED_BYTES, FINISH_THREADS, finish_blocks, finished, group, part_leading};
pub use gelu::{gelu, gelu_tanh};
pub use instances::*;
pub use lanes::{Factors, LANES_SHARED_BYTES, LANES_THREADS, TILE, product as product_by_lanes};
pub use output::Output;
pub use pack::{PACK_LINES, PACK_SHARED_BYTES, PACK_THREADS, PACK_WORDS, Packing};
pub use pairs::{PAIR, PAIR_SHARED_BYTES, PAIR_SUMS, output_box, pair_boxes};
pub use place::{Place, Product};
pub use rows::{CLASSES, Classes, class_box};
pub use steps::*;
pub use thin::{THIN_SHARED_BYTES, THIN_THREADS, THIN_TILE};
pub use warps::{ROWS, boxes, columns, shared_bytes, threads};
