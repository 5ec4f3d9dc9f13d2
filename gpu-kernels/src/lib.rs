//! The kernels of the workspace, one file per primitive.
//!
//! Each is written once, in Rust, against [`gpu_std`]. rustc compiles it to the PTX under `ptx/`, which the driver
//! runs; and it compiles for the host like any other function, where the simulator runs it. The committed PTX is
//! kept in step with the sources by `cargo run -p gpu-builder -- check`.
//!
//! Tile sizes exist here and nowhere else: the host crates plan their launches from these constants.
#![no_std]
#![cfg_attr(target_arch = "nvptx64", feature(abi_ptx))]

pub mod linalg;
pub mod reduce;
pub mod scan;
pub mod stencil;
pub mod transpose;

/// The PTX modules, written by gpu-builder.
#[cfg(not(target_arch = "nvptx64"))]
#[allow(missing_docs)]
pub mod modules {
    include!("../ptx/modules.rs");
}
