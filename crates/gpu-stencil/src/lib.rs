#![doc = include_str!("../README.md")]

mod border;
mod error;
mod image;
pub mod iterate;
mod memory;
pub mod resize;
pub mod signal;
pub mod texture;
pub mod variants;

pub use border::Border;
pub use error::Error;
pub use image::{Image, ImageLayout, ImageMut};
