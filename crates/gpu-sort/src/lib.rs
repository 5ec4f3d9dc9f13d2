#![doc = include_str!("../README.md")]

mod api;
mod error;
mod key;
mod launch;
mod plan;
mod reference;
mod scratch;
mod values;

pub use api::*;
pub use error::Error;
pub use gpu_std::half::{bf16, f16};
pub use key::{SortKey, SortOptions};
pub use plan::SortPlan;
pub use scratch::SortScratch;
