//! The CUDA backend: all of the crate's use of `cust` and of the driver, outside of `interop`.
//!
//! A device's primary context is retained when the device is first asked for and kept until the process ends, with
//! the modules loaded into it. So every handle to a device shares one context, nothing can outlive it, and a second
//! `Device::cuda(0)` costs nothing.

mod attributes;
mod call;
mod context;
mod discovery;
mod event;
mod launch;
mod memory;
mod module;
mod stream;
#[cfg(test)]
mod tests;
mod texture;

// Links the functions that `cust` expects of the driver.
extern crate cuda_shim as _;

pub(crate) use context::Context;
pub(crate) use discovery::{context, count};
pub(crate) use stream::Queue;
