//! Reads of textures: at any places, and at those of another size.
//!
//! A [`Texture`] is an array of one to three dimensions that the GPU's texture units read, between texels too:
//! [`gpu_std::texture`] says what a read gives. It is made once, with a copy of its texels, and read often.
//!
//! The units keep eight bits of each axis' fraction, and of each texel's weight, the product of those. An H200 was
//! seen to round them to the nearest, so that the weights' sum stays one: of fractions `a` and `b`, texel (1, 1) gets
//! `⌊a·b⌉`, its neighbours `a` and `b` less that, and the fourth one the rest; with three axes, y divides what x and
//! z give. In units of 2^-9 of the texels' range `R` (largest less smallest) a fraction so adds an error of 1 at
//! most; a product of two `2 · 1`, as two texels get more and two less; and the four products that a third axis
//! divides `4 · 1`: 1, 2 + 2, 3 + 2 + 4. So a linear read of `d` dimensions differs from the exact one by at most
//! `(d² · 2^-9 + d · c) · R`, and a few roundings of `f32`; normalised integers are also rounded to multiples of
//! 1/65,535. Here `c` is how far the coordinate itself is off, in texels: of `N` of them, `f32` counts with `N ·
//! 2^-24`. At texel centres reads are exact. So a bilinear [`resize`] is within `(2^-7 + N · 2^-22) · R` of
//! [`crate::resize`]'s, which has all bits, is the same on all devices, and reads any image in place.
//!
//! The simulator and the CPU round the fractions only, so their bits may differ from a GPU's within that bound.

mod api;
mod launch;
pub mod plan;
pub mod reference;

pub use api::{resize, resize_into, sample, sample_into};
pub use gpu_core::Texture;
pub use gpu_core::texture::{AddressMode, Descriptor, FilterMode, ReadMode, Texel};
