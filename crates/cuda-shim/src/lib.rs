//! Resolves the CUDA driver at run time: no toolkit and no driver needed to build or start.
//!
//! `cust` and `cust_raw` expect the `cu*` functions of `libcuda` when a program is linked. This crate defines every
//! one of them. Each looks itself up in the real driver when it is first called; where there is no driver it
//! answers [`NO_DEVICE`], the code that the driver itself gives on a machine without a GPU. So a program that uses
//! `cust` is built, and starts, on any machine.
//!
//! Use it by linking it: `extern crate cuda_shim as _;` in the crate that depends on `cust`.
//!
//! # What a call returns
//!
//! | situation | code |
//! | --- | --- |
//! | the driver answered | its code; see below for codes newer than CUDA 11.4 |
//! | no driver on this machine | [`NO_DEVICE`] (100), also from `cuInit` |
//! | a driver that is older than the function | [`NOT_SUPPORTED`] (801) |
//! | `cuGetErrorName`, `cuGetErrorString` | as the driver, or from a table here: they work without a driver |
//!
//! `cust_raw` declares the result as a Rust enum of CUDA 11.4's codes, and a value outside of it would be undefined
//! behaviour. A code that the enum lacks is therefore returned as [`UNKNOWN`] (999); [`last_code`] has the real one.
//!
//! # Where it looks
//!
//! Linux: `libcuda.so.1` on the loader's path, then `/usr/lib/wsl/lib`. Windows: `nvcuda.dll`. Elsewhere there is
//! no driver. Symbols are hidden on ELF targets, so a shared library built with this crate exports none of them.

mod codes;
mod error_text;
mod library;
mod resolve;
pub mod table;

pub use codes::{NO_DEVICE, NOT_SUPPORTED, SUCCESS, UNKNOWN, name_of};
pub use error_text::{cuGetErrorName, cuGetErrorString};
pub use library::driver;
pub use resolve::last_code;
