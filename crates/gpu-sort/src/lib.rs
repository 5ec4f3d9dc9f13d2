#![doc = include_str!("../README.md")]

mod api;
mod histogram;
mod key;
mod launch;
mod plan;
mod reference;
mod scratch;
mod select;
mod values;

pub use api::*;
pub use gpu_core::Error;
pub use gpu_std::half::{bf16, f16};
pub use histogram::*;
pub use key::{SortKey, SortOptions};
pub use plan::SortPlan;
pub use scratch::SortScratch;
pub use select::*;

/// What the kernels are made of: [`predicate!`] asks for it.
pub mod kernels {
    pub use gpu_sort_kernels::*;
}

/// What [`predicate!`] expands to; not for use by hand.
#[doc(hidden)]
pub mod __private {
    pub use gpu_core::{Error, Stream};
    pub use gpu_std::launch::LaunchConfig;
    pub use gpu_std::memory::{Global, GlobalMut};
}
