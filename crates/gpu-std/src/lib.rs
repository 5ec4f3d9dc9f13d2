//! The standard library that GPU kernels are written against, on the GPU and in the simulator.
//!
//! A kernel is Rust. For the target `nvptx64-nvidia-cuda` everything here compiles to the bare instruction; on the
//! host the same calls go to the simulator (`gpu-sim`), which checks bounds, alignment and races and counts what
//! happened. Names follow `cuda_std` wherever it has the function.
//!
//! ```
//! use gpu_std::prelude::*;
//!
//! /// `y[i] += a * x[i]` for `n` elements, one thread each.
//! #[kernel]
//! pub fn axpy(a: f32, x: Global<f32>, y: GlobalMut<f32>, n: u32) {
//!     let i = thread::index_1d();
//!     if i < n {
//!         y.write(i, gpu_std::float::mul_add(a, x.read(i), y.read(i)));
//!     }
//! }
//! ```
//!
//! # Memory spaces
//!
//! Latencies are orders of magnitude on current hardware; measure before relying on one.
//!
//! | Space | Scope | Lifetime | Speed | Accessor |
//! |---|---|---|---|---|
//! | Registers | one thread | the variable | no latency; 255 × 32 bits a thread at most | local variables; arrays only with indices known after unrolling ([`unroll`]) |
//! | Local | one thread | the kernel | as global (it lies there), cached in L1 | none: spills and arrays indexed at run time land here, and the PTX checks reject them |
//! | Shared | one block, or its cluster ([`cluster`]) | the block | about 30 cycles; 32 banks of 4 bytes | [`shared::dynamic`], [`memory::Shared`], [`atomic::Atomic`] |
//! | Global | the device (and the host, by copies) | until freed | 400 to 800 cycles past the L2, about 250 within it; wants 128-byte lines per warp | [`memory::Global`], [`memory::GlobalMut`], [`atomic::Atomic`] |
//! | Global, read-only | the device | the kernel must not write it | as global, through the read-only L1 path | [`memory::Global::read_only`], [`memory::Global::read_streaming`] |
//! | Texture | the device | until freed | as global, through the same L1; interpolates on the way; laid out for neighbours in 2 and 3 dimensions | [`texture::Texture`] |
//! | Constant (kernel parameters) | the grid | one launch | as a register when all lanes read the same entry; one pass per distinct entry | [`constant::Constant`] |
//! | Global to shared and back, asynchronous | one block, or its cluster | until waited for | hides global latency without registers | [`async_copy`], [`tensor_map`] |
//!
//! # What is checked where
//!
//! On the GPU nothing is: an index out of bounds is undefined behaviour, which is why making an accessor
//! (`from_raw`) and launching a kernel are `unsafe` and a kernel's body is not. In the simulator everything is, and the
//! report names the kernel's source line.
#![cfg_attr(target_arch = "nvptx64", no_std)]
#![cfg_attr(
    target_arch = "nvptx64",
    feature(
        abi_unadjusted,
        allow_internal_unstable,
        asm_experimental_arch,
        core_float_math,
        core_intrinsics,
        f16,
        gpu_intrinsics,
        gpu_launch_sized_workgroup_mem,
        link_llvm_intrinsics
    )
)]
#![cfg_attr(target_arch = "nvptx64", allow(internal_features))]

// The macros name the crate by its own path, also in its own tests and doc examples.
extern crate self as gpu_std;

#[cfg(target_arch = "nvptx64")]
#[path = "nvptx/mod.rs"]
mod backend;
#[cfg(not(target_arch = "nvptx64"))]
#[path = "sim/mod.rs"]
mod backend;

pub mod async_copy;
pub mod atomic;
pub mod barrier;
pub mod bits;
pub mod branch;
pub mod cluster;
pub mod constant;
#[cfg(not(target_arch = "nvptx64"))]
pub mod edits;
pub mod float;
pub mod half;
#[cfg(not(target_arch = "nvptx64"))]
pub mod launch;
pub mod memory;
pub mod mma;
mod opaque;
pub mod parameter;
pub mod shared;
pub mod tensor_map;
pub mod texture;
pub mod thread;
mod unroll;
pub mod warp;
pub mod wgmma;

pub use gpu_std_macros::{device, kernel};
#[doc(inline)]
pub use opaque::{keep_rolled, opaque, rolled};
#[doc(inline)]
pub use unroll::unroll;

/// What nearly every kernel names.
pub mod prelude {
    pub use crate::atomic::{Atomic, Ordering, Scope};
    pub use crate::constant::Constant;
    pub use crate::memory::{Element, Global, GlobalMut, Shared};
    pub use crate::parameter::Parameter;
    pub use crate::{shared, thread, warp};
    pub use gpu_std_macros::{device, kernel};
}

/// What `#[kernel]` expands to; not for use by hand.
#[doc(hidden)]
pub mod __private {
    #[cfg(target_arch = "nvptx64")]
    pub use crate::{__entry as entry, __parameter_address as parameter_address};

    #[cfg(not(target_arch = "nvptx64"))]
    pub use crate::{__ptx as ptx, __thread as thread};
}

/// The PTX in this file.
#[doc(hidden)]
#[macro_export]
#[cfg(all(feature = "ptx", not(target_arch = "nvptx64")))]
macro_rules! __ptx {
    ($($path:tt)*) => {
        ::core::include_str!($($path)*)
    };
}

/// No PTX: nothing in this program hands it to a driver.
#[doc(hidden)]
#[macro_export]
#[cfg(not(any(feature = "ptx", target_arch = "nvptx64")))]
macro_rules! __ptx {
    ($($path:tt)*) => {
        ""
    };
}

/// One thread of a kernel, for the simulator.
#[doc(hidden)]
#[macro_export]
#[cfg(all(feature = "simulator", not(target_arch = "nvptx64")))]
macro_rules! __thread {
    ($call:expr) => {
        move || $call
    };
}

/// Nothing in this program runs threads, so kernels are not compiled for the host.
#[doc(hidden)]
#[macro_export]
#[cfg(not(any(feature = "simulator", target_arch = "nvptx64")))]
macro_rules! __thread {
    ($call:expr) => {
        || ::core::unreachable!("only the simulator runs threads")
    };
}
