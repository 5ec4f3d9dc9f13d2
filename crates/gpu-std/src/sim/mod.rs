//! The simulator's side: every operation goes to `gpu_sim::device`, at the caller's line.

pub mod async_copy;
pub mod atomic;
pub mod barrier;
pub mod constant;
pub mod memory;
pub mod mma;
pub mod tensor_map;
pub mod texture;
pub mod thread;
pub mod warp;
pub mod wgmma;
