//! The simulator's side: every operation goes to `gpu_sim::device`, at the caller's line.
//!
//! What is not generic is not `#[inline]` here, and not in gpu-sim's `device` either: a kernel's crate is compiled
//! without optimization in tests, and would have each of these functions in it so.

pub mod async_copy;
pub mod atomic;
pub mod barrier;
pub mod cluster;
pub mod constant;
pub mod memory;
pub mod mma;
pub mod tensor_map;
pub mod texture;
pub mod thread;
pub mod warp;
pub mod wgmma;
