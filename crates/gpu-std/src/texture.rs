//! Textures: arrays that are read at places between their elements, by the GPU's texture units.
//!
//! A texture is an array of one to three dimensions, of texels with 1, 2 or 4 channels, and what is to happen when it
//! is read (a [`Descriptor`]): outside the array, between texels, to integers. gpu-core's `Texture` makes one; a
//! kernel takes it as a parameter:
//!
//! ```
//! use gpu_std::prelude::*;
//! use gpu_std::texture::Texture;
//!
//! /// The texture's values at `n` places of one coordinate.
//! #[kernel]
//! pub fn sample(texture: Texture, places: Global<f32>, values: GlobalMut<f32>, n: u32) {
//!     let i = thread::index_1d();
//!     if i < n {
//!         let [value, ..] = texture.read_1d::<f32>(places.read(i));
//!         values.write(i, value);
//!     }
//! }
//! ```
//!
//! # What a read gives
//!
//! As CUDA documents it (C++ Programming Guide, "Texture Fetching"). Along an axis of `N` texels, texel `i` has its
//! centre at `i + 1/2`; a normalised coordinate is multiplied by `N`. With point filtering a read gives texel
//! `floor(x)`. With linear filtering it gives `(1 - a) · T[i] + a · T[i + 1]`, where `x - 1/2` has the whole part `i`
//! and the fraction `a`, **kept in 8 bits**: that is the hardware's precision, and what tells a texture from a
//! computation with floats. Bilinear and trilinear reads do so along each axis. An index outside is mapped by the
//! [`AddressMode`].
//!
//! The guide says neither how the fraction is rounded nor how the products are: the simulator and the CPU round the
//! fraction to the nearest multiple of 2^-8, as an H200 was seen to, and use fused multiply-adds, where that also
//! rounds the products of two or three axes' weights to such multiples. At texel centres the fraction is zero and all
//! give the texel itself.

use crate::backend::texture as backend;
use crate::parameter::Parameter;

#[cfg(not(target_arch = "nvptx64"))]
mod sampler;
#[cfg(not(target_arch = "nvptx64"))]
pub use sampler::{Sampler, Samplers};

/// What a coordinate outside the texture reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum AddressMode {
    /// The outermost texel.
    #[default]
    Clamp,
    /// The texture repeats. With normalised coordinates only.
    Wrap,
    /// The texture repeats, every second time backwards, its outermost texels twice. With normalised coordinates only.
    Mirror,
    /// Zero.
    Border,
}

/// What a coordinate between two texels' centres reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum FilterMode {
    /// The nearest texel.
    #[default]
    Point,
    /// The weighted mean of the two, four or eight around it. With reads of floats only.
    Linear,
}

/// What texels are read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum ReadMode {
    /// What they are: `f32`, or integers as `u32`.
    #[default]
    Element,
    /// Integers as `f32` from 0 to 1: divided by the largest of their type.
    NormalizedFloat,
}

/// How a texture is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Descriptor {
    /// Outside.
    pub address: AddressMode,
    /// Between texels.
    pub filter: FilterMode,
    /// What texels become.
    pub read: ReadMode,
    /// Whether coordinates go from 0 to 1 instead of to the number of texels.
    pub normalized_coordinates: bool,
}

/// A texture as a kernel's parameter. Copying it copies the handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Texture(u64);

mod sealed {
    pub trait Sealed: crate::memory::Element {}
    impl Sealed for f32 {}
    impl Sealed for u32 {}
}

/// What a read gives: `f32`, or `u32` of a texture of integers that is read by [`ReadMode::Element`].
pub trait Texel: sealed::Sealed {
    #[doc(hidden)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn read_1d(texture: u64, x: f32) -> [Self; 4];
    #[doc(hidden)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn read_2d(texture: u64, x: f32, y: f32) -> [Self; 4];
    #[doc(hidden)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn read_3d(texture: u64, x: f32, y: f32, z: f32) -> [Self; 4];
}

macro_rules! texels {
    ($($T:ident)*) => { $(
        impl Texel for $T {
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            fn read_1d(texture: u64, x: f32) -> [Self; 4] {
                backend::$T::read_1d(texture, x)
            }
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            fn read_2d(texture: u64, x: f32, y: f32) -> [Self; 4] {
                backend::$T::read_2d(texture, x, y)
            }
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            fn read_3d(texture: u64, x: f32, y: f32, z: f32) -> [Self; 4] {
                backend::$T::read_3d(texture, x, y, z)
            }
        }
    )* };
}
texels!(f32 u32);

impl Texture {
    /// The texture with this handle: a CUDA texture object's, or that of one of the simulator's `Samplers`.
    ///
    /// # Safety
    /// Until the kernels that it is passed to have ended, the handle must be that of a live texture of the device
    /// they run on. Its reads must be of the texture's number of dimensions and of the type that its [`ReadMode`]
    /// gives.
    #[inline(always)]
    pub const unsafe fn from_raw(handle: u64) -> Self {
        Self(handle)
    }

    /// The handle.
    #[inline(always)]
    pub const fn raw(self) -> u64 {
        self.0
    }

    /// A texture of one dimension at `x` (`tex.1d.v4`). Channels that it does not have are undefined.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn read_1d<T: Texel>(self, x: f32) -> [T; 4] {
        T::read_1d(self.0, x)
    }

    /// A texture of two dimensions at column `x` and row `y` (`tex.2d.v4`); channels as for [`Texture::read_1d`].
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn read_2d<T: Texel>(self, x: f32, y: f32) -> [T; 4] {
        T::read_2d(self.0, x, y)
    }

    /// A texture of three dimensions at column `x`, row `y` and slice `z` (`tex.3d.v4`); channels as for
    /// [`Texture::read_1d`].
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn read_3d<T: Texel>(self, x: f32, y: f32, z: f32) -> [T; 4] {
        T::read_3d(self.0, x, y, z)
    }
}

// SAFETY: a handle of 8 bytes on both sides.
unsafe impl Parameter for Texture {
    crate::__by_value!();
}
