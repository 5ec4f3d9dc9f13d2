//! Sparse matrices: their checks, products with vectors, levels of triangles, triangular systems, incomplete factors,
//! conversions.
//!
//! Every result's order of operations is a function of the matrix's structure alone, so the CPU, the simulator and
//! every GPU give the same bits; each module states its order.
//!
//! Rows are *compressed* (CSR): the entries of row `r` stand from `offsets[r]` to before `offsets[r + 1]` of the
//! arrays of column indices and of values. Columns of a row ascend, and none comes twice.
//!
//! The kernels are written once, in Rust, against [`gpu_std`]. rustc compiles them to the PTX under `ptx/`, which the
//! driver runs; and it compiles them for the host like any other function, where the simulator runs them. `cargo run
//! -p gpu-builder -- check` keeps the committed PTX in step with the sources. Tile sizes exist here and nowhere else:
//! host crates plan their launches from these constants.
#![no_std]
#![cfg_attr(target_arch = "nvptx64", feature(abi_ptx))]

pub mod chains;
pub mod check;
pub mod convert;
pub mod factor;
pub mod free;
pub mod from_tiles;
pub mod levels;
pub mod order;
pub mod order_narrow;
pub mod ordered;
pub mod packed;
pub mod part;
mod ranks;
mod row;
mod scalar;
pub mod solve;
pub mod spmm;
pub mod spmv;
pub mod tiles;
pub mod waiting;

pub use scalar::Scalar;

/// Threads of a block, of every kernel here.
pub const THREADS: u32 = 256;
/// No row.
pub const NONE: u32 = u32::MAX;
