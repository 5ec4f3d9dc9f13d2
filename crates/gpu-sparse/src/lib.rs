#![doc = include_str!("../README.md")]

mod api;
mod error;
mod factor {
    pub(crate) mod launch;
}
mod launch;
pub mod market;
mod matrix;
pub mod plan;
pub mod reference;
mod systems;
mod tiles {
    pub(crate) mod launch;
}

pub use api::*;
pub use error::Error;
pub use launch::Element;
pub use matrix::{Coo, CooView, Csc, CscView, Csr, CsrView, Wide, narrow_indices};
