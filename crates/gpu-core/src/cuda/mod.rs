//! The CUDA backend: all of the crate's use of the driver.
//!
//! A device's primary context is retained when the device is first asked for and kept until the process ends, with
//! the modules loaded into it. So every handle to a device shares one context, nothing can outlive it, and a second
//! `Device::cuda(0)` costs nothing.

mod attributes;
mod call;
mod context;
mod discovery;
mod event;
mod graph;
mod launch;
mod memory;
mod module;
mod peer;
mod pool;
mod retired;
mod slots;
mod stream;
#[cfg(test)]
mod tests;
mod texture;
#[cfg(feature = "async")]
mod waits;

#[cfg(feature = "cust")]
pub(crate) use call::failure;
pub(crate) use context::Context;
pub(crate) use discovery::{context, count, ordinal_of};
pub(crate) use stream::Queue;
