//! Cholesky factorisations, and the solutions of systems by them.
//!
//! Every result's order of operations is a function of the shapes alone, so the CPU, the simulator and every GPU give
//! the same bits; each module states its order. What is found at a pivot is in [`Root`].
#![no_std]
#![cfg_attr(target_arch = "nvptx64", feature(abi_ptx))]

mod batch;
mod block;
mod copy;
mod instances;
mod lanes;
mod pivot;
mod solve;
mod step;
mod strips;
pub mod tiled;
pub mod variants;

pub use batch::{Batch, FROM, TO};
pub use block::{BLOCK_THREADS, PANEL, STEP, block_shared_bytes};
pub use copy::{COPY_THREADS, COPY_TILE, Convert, Copy};
pub use instances::*;
pub use lanes::{LANES_MOST, LANES_THREADS, lanes_shared_bytes};
pub use pivot::Root;
pub use solve::{SOLVE_MOST, SOLVE_RHS, Solve, solve_shared_bytes};
pub use step::{STEP_ROWS, STEP_SLOTS, STEP_THREADS, Step, step_shared_bytes};
pub use strips::{STRIP_ROWS, Strips, strips_shared_bytes};
