//! Transposition and permutation of axes. Elements are moved as bits of 1, 2, 4, 8 or 16 bytes.
//!
//! | file | for |
//! | --- | --- |
//! | `tile.rs` | everything on 16-byte boundaries: 16-byte accesses, a transposition in registers |
//! | `skew.rs` | rows that start anywhere, by aligned accesses of 16 bytes |
//! | `skew_bytes.rs` | the same for elements of a byte |
//! | `elements.rs` | thin matrices, permutations that keep the fastest axis |
//! | `square.rs` | squares in place |
//! | `square_wide.rs` | large squares of bytes in place |
//! | `rectangle.rs` | rectangles in place |
//!
//! A matrix is what the tiled kernels see of any array: the axis along the input's rows and that along the output's.
//! The other axes, and batches, are in the [`Grid`].
//!
//! The kernels are written once, in Rust, against [`gpu_std`]. rustc compiles them to the PTX under `ptx/`, which the
//! driver runs; and it compiles them for the host like any other function, where the simulator runs them. `cargo run
//! -p gpu-builder -- check` keeps the committed PTX in step with the sources. Tile sizes exist here and nowhere else:
//! host crates plan their launches from these constants.
#![no_std]
#![cfg_attr(target_arch = "nvptx64", feature(abi_ptx))]

mod elements;
mod grid;
mod rectangle;
mod registers;
mod skew;
mod skew_bytes;
mod square;
mod square_wide;
mod tile;
pub mod variants;

pub use elements::*;
pub use grid::{Grid, MAX_AXES, Place};
pub use rectangle::*;
pub use skew::*;
pub use skew_bytes::*;
pub use square::*;
pub use square_wide::*;
pub use tile::*;
