#![doc = include_str!("../README.md")]

mod api;
mod border;
mod error;
pub mod iterate;
mod launch;
pub mod plan;
pub mod reference;
pub mod resize;
pub mod scipy;
pub mod signal;
pub mod texture;
pub mod variants;
mod weights;

pub use api::*;
pub use border::Border;
pub use error::Error;
pub use gpu_core::{Image, ImageLayout, ImageMut, Scratch, ScratchSize};
pub use launch::{Pixel, Sum};
pub use weights::{Filter, SeparableFilter, Weight};
