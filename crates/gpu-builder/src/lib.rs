//! Compiles Rust kernel crates to PTX.
mod builder;
mod compile;
pub mod digest;
mod error;
pub mod finish;
mod kernel_crate;
pub mod manifest;
mod modules_rs;
mod process;
pub mod ptx;
mod toolchain;

pub use builder::{Builder, Built};
pub use error::{Error, Result};
pub use kernel_crate::{GpuConfig, ImageSpec, KernelCrate, ModuleSpec, SourcePackage};
pub use toolchain::{Compiler, Toolchain};
