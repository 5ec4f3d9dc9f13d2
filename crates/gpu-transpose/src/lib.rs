#![doc = include_str!("../README.md")]

mod api;
mod error;
mod launch;
mod matrix;
mod plan;
pub mod reference;
pub mod variants;

pub use api::{transpose, transpose_into};
pub use error::Error;
pub use matrix::Matrix;
pub use plan::Plan;
