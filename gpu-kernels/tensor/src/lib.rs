//! Products of matrices on the tensor cores: `C = alpha · A · B + beta · C` of narrow elements, with wide sums.
//!
//! `warps.rs` is for capability 9.0: the copy engine fills a ring of stages, and two warpgroups multiply;
//! `lanes.rs` for 8.0 and for matrices that the copy engine does not take; `pack.rs` copies such matrices to where
//! it does; `thin.rs` is for factors of few rows or columns. All of them leave the sums to `store.rs`, and that to
//! `epilogue.rs` what else becomes of them.
#![cfg_attr(target_arch = "nvptx64", no_std)]

mod epilogue;
mod finish;
mod gelu;
mod instances;
mod lanes;
mod pack;
mod place;
mod store;
mod thin;
mod warps;

pub use epilogue::{Activation, Epilogue, Plain, Usual};
pub use finish::{FINISH_SHARED_BYTES, FINISH_THREADS, finished, group, part_leading};
pub use gelu::{gelu, gelu_tanh};
pub use instances::*;
pub use lanes::{Factors, LANES_SHARED_BYTES, LANES_THREADS, TILE, product as product_by_lanes};
pub use pack::{PACK_LINES, PACK_SHARED_BYTES, PACK_THREADS, PACK_WORDS, Packing, round_tf32};
pub use place::{Place, Product};
pub use store::Output;
pub use thin::{THIN_SHARED_BYTES, THIN_THREADS, THIN_TILE};
pub use warps::{ROWS, boxes, columns, shared_bytes, threads};
