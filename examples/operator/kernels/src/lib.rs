//! Operators that gpu-reduce and gpu-scan do not have, and their kernels.
//!
//! Everything here is plain Rust that runs on the GPU, in the simulator and on the CPU. The kernels are the workspace's
//! own, made of these operators: one line each; and one that is composed of collectives (`gaps.rs`).
#![no_std]
#![cfg_attr(target_arch = "nvptx64", feature(abi_ptx))]

mod degrees;
mod gaps;
mod known;
mod variance;

pub use degrees::{BASE, HeatingDegrees};
pub use gaps::*;
pub use known::LastKnown;
pub use variance::{Moments, State};

use gpu_reduce_kernels::{self as reduce, Lines, Mapped, Starts, Sum};
use gpu_scan_kernels::{self as scan, WARPS, columns, segmented};
use gpu_std::kernel;
use gpu_std::memory::{Global, GlobalMut};

/// What a kernel can launch from.
#[cfg(not(target_arch = "nvptx64"))]
mod launch {
    use super::*;

    // SAFETY: `moments` is `whole` of `Moments`.
    unsafe impl gpu_reduce::Instance for Moments {
        type Of = Self;
        type Kernel = moments;
    }
    // SAFETY: `heating_degrees` is `whole` of this reduction.
    unsafe impl gpu_reduce::MappedInstance<Sum<f64>> for HeatingDegrees {
        type Kernel = heating_degrees;
    }
    // SAFETY: `last_known` is `whole` of `LastKnown`, in vectors of 4 elements, 4 a thread.
    unsafe impl gpu_scan::Instance for LastKnown {
        type Of = Self;
        type Kernel = last_known;
    }

    // SAFETY: `moments_of_segments` is `segments` of `Moments`.
    unsafe impl gpu_reduce::Segmented for Moments {
        type Of = Self;
        type Kernel = moments_of_segments;
    }
    // SAFETY: `moments_of_columns` is `columns` of `Moments`.
    unsafe impl gpu_reduce::AlongColumns for Moments {
        type Of = Self;
        type Kernel = moments_of_columns;
    }
    // SAFETY: `heating_degrees_of_segments` is `segments` of this reduction.
    unsafe impl gpu_reduce::MappedSegmented<Sum<f64>> for HeatingDegrees {
        type Kernel = heating_degrees_of_segments;
    }
    // SAFETY: `last_known_of_segments` is `segments` of `LastKnown`, in vectors of 4 elements, 4 a thread.
    unsafe impl gpu_scan::Segmented for LastKnown {
        type Of = Self;
        type Kernel = last_known_of_segments;
    }
    // SAFETY: `last_known_of_columns` is `columns` of `LastKnown`, 16 rows a warp.
    unsafe impl gpu_scan::AlongColumns for LastKnown {
        type Of = Self;
        type Kernel = last_known_of_columns;
    }
}

// Two blocks a multiprocessor leave 128 registers a thread: divisions of `f64` in four accumulators of six words take
// that many.
/// Count, mean and variance of `len` elements of `input` to `output`.
#[kernel(images = sm_75, launch_bounds(256, 2), programmatic)]
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
#[kernel(images = sm_75, launch_bounds(256, 4), programmatic)]
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
#[kernel(images = sm_75, launch_bounds(256, 4), programmatic)]
pub fn last_known(
    input: Global<f32>,
    output: GlobalMut<f32>,
    len: u64,
    initial: f32,
    mode: u32,
    words: GlobalMut<u64>,
    capacity: u64,
) {
    // Vectors of four elements, which are four words; four of them a thread.
    scan::whole::<LastKnown, 4, 4, 4, 4, WARPS>(input, output, len, initial, mode, words, capacity);
}

/// Count, mean and variance of each segment of `input`, which has `len` elements, to `output`.
#[kernel(images = sm_75, launch_bounds(256, reduce::segments_blocks::<Moments>()), programmatic)]
pub fn moments_of_segments(
    input: Global<f32>,
    len: u64,
    offsets: Global<u32>,
    form: u32,
    length: u64,
    count: u32,
    share: u64,
    scratch: GlobalMut<u64>,
    output: GlobalMut<f64>,
) {
    let starts = Starts { offsets, form, length, count };
    reduce::segments::<Moments, 4, 4>(input, len, starts, share, scratch, output);
}

// Two blocks, as for `moments`.
/// Count, mean and variance of each column of `input` to `output`.
#[kernel(images = sm_75, launch_bounds(256, 2), programmatic)]
pub fn moments_of_columns(
    input: Global<f32>,
    rows: u64,
    inner: u32,
    lines: u32,
    is_vector: u32,
    scratch: GlobalMut<u32>,
    output: GlobalMut<f64>,
) {
    reduce::columns::<Moments, 4>(input, Lines { rows, inner, lines, is_vector }, scratch, output);
}

/// The sum of the heating degrees of each segment of `input`, which has `len` elements, to `output`.
#[kernel(
    images = sm_75,
    launch_bounds(256, reduce::segments_blocks::<Mapped<HeatingDegrees, Sum<f64>>>()),
    programmatic
)]
pub fn heating_degrees_of_segments(
    input: Global<f32>,
    len: u64,
    offsets: Global<u32>,
    form: u32,
    length: u64,
    count: u32,
    share: u64,
    scratch: GlobalMut<u64>,
    output: GlobalMut<f64>,
) {
    let starts = Starts { offsets, form, length, count };
    reduce::segments::<Mapped<HeatingDegrees, Sum<f64>>, 4, 4>(input, len, starts, share, scratch, output);
}

// Kernels of scans of segments and columns are not `programmatic`: their bodies do not wait for the work before them.
// Four blocks a multiprocessor would leave 64 registers a thread, for which sm_120 would spill two.
/// The last known value of the segment at every place of `len` elements of `input`, to `output`.
#[kernel(images = sm_75, launch_bounds(256, 3))]
pub fn last_known_of_segments(
    input: Global<f32>,
    output: GlobalMut<f32>,
    len: u64,
    kind: u32,
    starts: Global<u8>,
    count: u64,
    initial: f32,
    mode: u32,
    words: GlobalMut<u64>,
    capacity: u64,
) {
    let starts = segmented::Starts { kind, array: starts, count };
    segmented::segments::<LastKnown, 4, 4, 4, 4, WARPS>(
        input, output, len, starts, initial, mode, words, capacity,
    );
}

/// The last known value of the column at every place of `input`, to `output`.
#[kernel(images = sm_75, launch_bounds(256, 4))]
pub fn last_known_of_columns(
    input: Global<f32>,
    output: GlobalMut<f32>,
    rows: u32,
    inner: u32,
    count: u32,
    initial: f32,
    mode: u32,
    words: GlobalMut<u64>,
    capacity: u64,
) {
    let lines = columns::Lines { rows, inner, columns: count };
    columns::columns::<LastKnown, 16, { columns::WARPS }>(
        input, output, lines, initial, mode, words, capacity,
    );
}
