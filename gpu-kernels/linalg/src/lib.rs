//! Dense linear algebra: products of matrices and vectors, element-wise operations.
//!
//! Every result's order of operations is a function of the shapes alone, so the CPU, the simulator and every GPU give
//! the same bits; each module states its order.
//!
//! The kernels are written once, in Rust, against [`gpu_std`]. rustc compiles them to the PTX under `ptx/`, which the
//! driver runs; and it compiles them for the host like any other function, where the simulator runs them. `cargo run
//! -p gpu-builder -- check` keeps the committed PTX in step with the sources. Tile sizes exist here and nowhere else:
//! host crates plan their launches from these constants.
#![no_std]
#![cfg_attr(target_arch = "nvptx64", feature(abi_ptx))]

pub mod elementwise;
pub mod gemm;
pub mod gemv;
pub mod ger;
mod instances;
mod scalar;
pub mod triangle;
pub mod variants;

pub use instances::*;
pub use scalar::Scalar;
