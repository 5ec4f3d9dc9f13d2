#![doc = include_str!("../README.md")]

mod api;
mod error;
mod launch;
mod plan;
pub mod reference;
mod scratch;

pub use api::{sum, sum_into};
pub use error::Error;
pub use plan::Plan;
pub use scratch::Scratch;
