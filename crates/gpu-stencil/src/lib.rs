#![doc = include_str!("../README.md")]

mod api;
mod border;
mod error;
mod image;
mod launch;
pub mod plan;
pub mod reference;
pub mod scipy;
mod weights;

pub use api::*;
pub use border::Border;
pub use error::Error;
pub use image::{Image, ImageLayout, ImageMut};
pub use launch::{Pixel, Sum};
pub use weights::{Filter, SeparableFilter, Weight};
