//! What `cust` needs to be linked without `libcuda`: the driver's functions, found at run time.
//!
//! `cust_raw` expects the `cu*` functions of `libcuda` when a program is linked. This crate defines every one of
//! them, and its build script an empty library for `-lcuda`. Each function looks itself up in the real driver when it
//! is first called, by way of `cuda-shim`. So a program that uses `cust` is linked, and starts, on any machine.
//!
//! Use it by linking it: `extern crate cuda_link as _;` in the crate that depends on `cust`, as `gpu-core` does with
//! its feature `cust`. Symbols are hidden on Linux, so a shared library that contains this crate exports none of
//! them.
//!
//! # What a call returns
//!
//! | situation | code |
//! | --- | --- |
//! | the driver answered | its code; see below for codes newer than CUDA 11.4 |
//! | no driver on this machine | 100 (`NO_DEVICE`), also from `cuInit` |
//! | a driver that is older than the function | 801 (`NOT_SUPPORTED`) |
//! | `cuGetErrorName`, `cuGetErrorString` | as the driver, or from `cuda-shim`'s table: they work without a driver |
//!
//! `cust_raw` declares the result as a Rust enum of CUDA 11.4's codes, and a value outside of it would be undefined
//! behaviour. A code that the enum lacks is therefore returned as [`UNKNOWN`] (999); [`last_code`] has the real one.

mod codes;
mod error_text;
mod export;
pub mod table;

pub use codes::{NO_DEVICE, NOT_SUPPORTED, SUCCESS, UNKNOWN};
pub use error_text::{cuGetErrorName, cuGetErrorString};
pub use export::last_code;
