//! The CUDA driver, found at run time: no toolkit and no driver needed to build or start.
//!
//! Types, constants and functions have the names that `cuda.h` gives them; functions those that the header maps to,
//! such as `cuMemAlloc_v2`. Each function looks itself up in the driver when it is first called. There are those that
//! `gpu-core` and captured graphs need: one more is a line in its group's file.
//!
//! ```
//! let mut count = 0;
//! match cuda_shim::cuInit(0).code().and_then(|()| cuda_shim::cuDeviceGetCount(&mut count).code()) {
//!     Ok(()) => println!("{count} devices"),
//!     Err(code) => println!("{:?}", cuda_shim::CUresult(code).text()),
//! }
//! ```
//!
//! # What a call returns
//!
//! | situation | code |
//! | --- | --- |
//! | the driver answered | its code, also one that this crate has no name for |
//! | no driver on this machine | [`CUresult::CUDA_ERROR_NO_DEVICE`] (100), also from `cuInit`; [`driver`] says why |
//! | a driver that is older than the function | [`CUresult::CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER`] (36) |
//!
//! [`CUresult::name`] and [`CUresult::text`] describe codes, with or without a driver.
//!
//! # What is unsafe
//!
//! What takes a handle, or an address to read, write or free. The rest is checked by the driver itself, and results
//! are written through references.
//!
//! # Where it looks
//!
//! 64-bit Linux: `libcuda.so.1` on the loader's path, then `/usr/lib/wsl/lib`. 64-bit Windows: `nvcuda.dll` in the
//! system's folder. Elsewhere there is no driver.
#![allow(non_snake_case, non_camel_case_types, clippy::upper_case_acronyms, clippy::too_many_arguments)]

mod context;
mod device;
mod event;
mod graph;
mod launch;
mod library;
mod memory;
mod module;
mod resolve;
mod result;
mod stream;
mod tensor;
mod texture;
mod types;

pub use context::*;
pub use device::*;
pub use event::*;
pub use graph::*;
pub use launch::*;
pub use library::driver;
pub use memory::*;
pub use module::*;
pub use resolve::Function;
pub use result::*;
pub use stream::*;
pub use tensor::*;
pub use texture::*;
pub use types::*;

/// The names of all functions here.
pub fn names() -> impl Iterator<Item = &'static str> {
    [
        context::NAMES,
        device::NAMES,
        event::NAMES,
        graph::NAMES,
        launch::NAMES,
        memory::NAMES,
        module::NAMES,
        result::NAMES,
        stream::NAMES,
        tensor::NAMES,
        texture::NAMES,
    ]
    .into_iter()
    .flatten()
    .map(|name| name.to_str().expect("names are ASCII"))
}

/// The functions that this machine's driver lacks: none, unless it is old, or there is none.
pub fn missing() -> Vec<&'static str> {
    let Ok(library) = library::library() else { return names().collect() };
    names()
        .filter(|name| {
            let name = std::ffi::CString::new(*name).expect("names hold no zero");
            library.symbol(&name).is_none()
        })
        .collect()
}
