//! Compiles Rust kernel crates to PTX, and checks and inspects what came out.
//!
//! A kernel crate says in its Cargo.toml what is to be compiled:
//!
//! ```toml
//! [package.metadata.gpu]
//! toolchain = "nightly-2026-05-20"
//! images = [{ arch = 75, isa = 74 }]        # sm_75, PTX 7.4; { arch = 90, exact = true, isa = 80 } is sm_90a
//! stack = { kernel_name = 64 }              # bytes of stack a kernel may have; 0 where not named
//! generic = ["kernel_name"]                 # kernels that may use generic addresses
//! ```
//!
//! `#[kernel(images = sm_75)]` says which of them a kernel is compiled for.
//!
//! [`Builder`] makes the PTX, a file for each kernel and architecture, and a `manifest.json` that
//! says what it was made of. [`Checker`] tells whether it still is what the sources give and whether it is fit for the
//! GPUs it is meant for; [`Inspector`] what each kernel takes of them. `gpu-builder` is the same as a command.
//!
//! The same compiler gives the same text byte for byte, from any folder: nothing of the environment reaches it.

mod assemble;
mod builder;
mod check;
mod compact;
mod compile;
pub mod digest;
mod edits;
mod error;
pub mod finish;
mod inspect;
mod kernel_crate;
pub mod manifest;
pub mod memory;
#[cfg(feature = "cli")]
pub mod mutate;
mod names;
mod process;
pub mod ptx;
pub mod ptxas;
mod record;
mod report;
pub mod sass;
mod table;
mod toolchain;
pub mod tools;

pub use assemble::targets;
pub use builder::{Builder, Built};
pub use check::{Checker, Require};
pub use error::{Error, Result};
pub use inspect::{Inspected, Inspection, Inspector};
pub use kernel_crate::{GpuConfig, ImageSpec, KernelCrate, SourcePackage};
pub use report::{Outcome, Report, Verdict};
pub use table::Table;
pub use toolchain::{Compiler, Toolchain};
