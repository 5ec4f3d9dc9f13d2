//! Operators that gpu-reduce and gpu-scan do not have, and their kernels.
//!
//! Everything here is plain Rust that runs on the GPU, in the simulator and on the CPU. The kernels are the workspace's
//! own, made of these operators: one line each.
#![no_std]
#![cfg_attr(target_arch = "nvptx64", feature(abi_ptx))]

mod degrees;
mod known;
mod variance;

pub use degrees::{BASE, HeatingDegrees};
pub use known::LastKnown;
pub use variance::{Moments, State};

use gpu_kernels::reduce::{self, Mapped, Sum};
use gpu_kernels::scan;
use gpu_std::kernel;
use gpu_std::memory::{Global, GlobalMut};

/// The PTX, written by gpu-builder.
#[cfg(not(target_arch = "nvptx64"))]
pub mod modules {
    include!("../ptx/modules.rs");
}

/// What a kernel can launch from.
#[cfg(not(target_arch = "nvptx64"))]
mod launch {
    use super::*;

    // SAFETY: `moments` is `whole` of `Moments`.
    gpu_reduce::instance!(unsafe Moments => moments);
    // SAFETY: `heating_degrees` is `whole` of this reduction.
    gpu_reduce::instance!(unsafe Mapped<HeatingDegrees, Sum<f64>> => heating_degrees);
    // SAFETY: `last_known` is `whole` of `LastKnown`, in vectors of 4 elements, 5 a thread.
    gpu_scan::instance!(unsafe LastKnown => last_known, 4 by 4);
}

// Two blocks a multiprocessor leave 128 registers a thread: divisions of `f64` in four accumulators of six words take that many.
/// Count, mean and variance of `len` elements of `input` to `output`.
#[kernel(module = measurements, launch_bounds(256, 2), programmatic)]
pub fn moments(
    input: Global<f32>,
    len: u64,
    tiles_per_block: u64,
    partials: GlobalMut<u64>,
    ticket: GlobalMut<u32>,
    output: GlobalMut<f64>,
) {
    // 16 bytes are four elements; four accumulators a thread, four loads in flight.
    reduce::whole::<Moments, 4, 4, 4>(input, len, tiles_per_block, partials, ticket, output);
}

/// The sum of the heating degrees of `len` elements of `input` to `output`.
#[kernel(module = measurements, launch_bounds(256, 4), programmatic)]
pub fn heating_degrees(
    input: Global<f32>,
    len: u64,
    tiles_per_block: u64,
    partials: GlobalMut<u64>,
    ticket: GlobalMut<u32>,
    output: GlobalMut<f64>,
) {
    reduce::whole::<Mapped<HeatingDegrees, Sum<f64>>, 4, 4, 4>(
        input,
        len,
        tiles_per_block,
        partials,
        ticket,
        output,
    );
}

/// The last known value at every place of `len` elements of `input`, to `output`.
#[kernel(module = measurements, launch_bounds(256, 4), programmatic)]
pub fn last_known(
    input: Global<f32>,
    output: GlobalMut<f32>,
    len: u64,
    initial: f32,
    mode: u32,
    words: GlobalMut<u64>,
    capacity: u64,
) {
    // Vectors of four elements, which are four words; five of them a thread.
    scan::whole::<LastKnown, 4, 4, 4, 4, { scan::WARPS }>(input, output, len, initial, mode, words, capacity);
}
