//! Kernels that measure a device, each one thing: what gpu-model's `calibrate` launches.
//!
//! | file | measures |
//! | --- | --- |
//! | `launches.rs` | launches, blocks, dependent launches |
//! | `latency.rs` | how long an access takes to each level of memory, to shared memory, a barrier |
//! | `throughput.rs` | what levels move, lines that loads and stores touch, instructions |
//! | `divergence.rs` | branches that threads of a warp take apart |
//! | `atomics.rs` | sums in a register, in global memory, by atomic additions |
//!
//! Most read clocks on the device: then neither the launch nor the frequency, which changes, is in what is measured.
//! Whatever they compute is written, so that no compiler leaves it out.
#![no_std]
#![cfg_attr(target_arch = "nvptx64", feature(abi_ptx))]

mod atomics;
mod divergence;
mod latency;
mod launches;
mod throughput;

pub use atomics::*;
pub use divergence::*;
pub use latency::*;
pub use launches::*;
pub use throughput::*;
