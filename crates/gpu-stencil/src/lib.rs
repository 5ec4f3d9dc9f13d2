#![doc = include_str!("../README.md")]

mod border;
mod error;
mod image;
pub mod iterate;
pub mod signal;
mod simd;

pub use border::Border;
pub use error::Error;
pub use image::{Image, ImageLayout, ImageMut};
