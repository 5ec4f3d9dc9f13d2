//! Every function of the driver API that `cust_raw` 0.11.3 declares, and a few that are newer.
//!
//! Names are link names: where NVIDIA's header maps `cuMemAlloc` to `cuMemAlloc_v2`, the latter stands here.
#![allow(non_snake_case, clippy::too_many_arguments)]

pub mod context;
pub mod device;
pub mod graph;
pub mod memory;
pub mod module;
pub mod stream;
pub mod texture;

/// Any pointer or handle.
pub type P = *mut core::ffi::c_void;

/// A handle that another process can open, passed by value.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Ipc {
    /// Its bytes; only the driver knows what they mean.
    pub reserved: [u8; 64],
}

/// The names of all functions, for checks against the bindings.
pub fn names() -> impl Iterator<Item = &'static str> {
    [context::NAMES, device::NAMES, graph::NAMES, memory::NAMES, module::NAMES, stream::NAMES, texture::NAMES]
        .into_iter()
        .flatten()
        .copied()
        .chain(["cuGetErrorName", "cuGetErrorString"])
}
