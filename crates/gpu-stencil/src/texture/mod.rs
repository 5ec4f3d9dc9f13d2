//! Reads of textures: at any places, and at those of another size.
//!
//! A [`Texture`] is an array of one to three dimensions that the GPU's texture units read, between texels too:
//! [`gpu_std::texture`] says what a read gives. It is made once, with a copy of its texels, and read often.
//!
//! The units keep eight bits of a weight's fraction. A weight is so off by 2^-9 at most, and as a value changes by the texels' range
//! `R` (largest less smallest) for a weight of one, a linear read of `d` dimensions differs from the exact one by at most
//! `d · (2^-9 + c) · R`, and a few roundings of `f32`. Here `c` is how far the coordinate itself is off, in texels: of `N` of them, `f32` counts
//! with `N · 2^-24`. At texel centres reads are exact. So a bilinear [`resize`] is within `2 · (2^-9 + N · 2^-23) · R` of
//! [`crate::resize`]'s, which has all bits, is the same on all devices, and reads any image in place.
//!
//! The simulator and the CPU round as the documentation leaves open, so their bits may differ from a GPU's within that bound.

mod api;
mod launch;
pub mod plan;
pub mod reference;

pub use api::{resize, resize_into, sample, sample_into};
pub use gpu_core::Texture;
pub use gpu_core::texture::{AddressMode, Descriptor, FilterMode, ReadMode, Texel};
