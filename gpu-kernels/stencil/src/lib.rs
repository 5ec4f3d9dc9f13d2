//! Stencils: every output is a function of a neighbourhood of inputs. Image filters, convolutions, resizing, iterated
//! stencils.
//!
//! What lies outside the input is decided by [`border`], once for all kernels. Every result's order of operations is
//! a function of the filter alone, so the CPU, the simulator and every GPU give the same bits; each module states its
//! order.
//!
//! The kernels are written once, in Rust, against [`gpu_std`]. rustc compiles them to the PTX under `ptx/`, which the
//! driver runs; and it compiles them for the host like any other function, where the simulator runs them. `cargo run
//! -p gpu-builder -- check` keeps the committed PTX in step with the sources. Tile sizes exist here and nowhere else:
//! host crates plan their launches from these constants.
#![no_std]
#![cfg_attr(target_arch = "nvptx64", feature(abi_ptx))]

pub mod border;
pub mod filter;
pub mod iterate;
pub mod resize;
pub mod signal;
pub mod texture;
pub mod variants;
