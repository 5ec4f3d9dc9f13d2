//! Textures: arrays in a layout of the device's own, read between their elements by its texture units.
//!
//! ```
//! use gpu_core::Device;
//! use gpu_core::texture::{Descriptor, FilterMode, Texture};
//! let smooth = Descriptor { filter: FilterMode::Linear, ..Descriptor::default() };
//! let texture = Texture::new(&Device::cpu(), &[2, 1], 1, smooth, &[1.0f32, 2.0])?;
//! // On the CPU it is read at once; elsewhere by kernels, through `as_texture`.
//! let sampler = texture.as_sampler().expect("it is on the CPU");
//! assert_eq!(sampler.sample([1.0, 0.5, 0.0])[0], 1.5);
//! # Ok::<(), gpu_core::Error>(())
//! ```

use core::fmt;
use std::sync::Arc;

#[doc(inline)]
pub use gpu_std::texture::{AddressMode, Descriptor, FilterMode, ReadMode};
use gpu_std::texture::{Sampler, Samplers};

use crate::checks;
use crate::device::{Device, Kind};
use crate::element::Element;
use crate::error::Result;
use crate::graph::capture;
use crate::view::View;

/// The most texels along each axis of a texture of one, two and three dimensions: what every device since capability
/// 7.5 has.
pub const LIMITS: [&[usize]; 3] = [&[131_072], &[131_072, 65_536], &[16_384, 16_384, 16_384]];

/// What no texture can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Invalid {
    /// Addressing that repeats needs normalised coordinates.
    #[error("a texture addressed by {address:?} needs normalised coordinates")]
    AddressNeedsNormalizedCoordinates {
        /// The address mode.
        address: AddressMode,
    },
    /// There is nothing between integers.
    #[error("linear filtering needs reads of floats: of texels of f32, or of others as normalised floats")]
    LinearNeedsFloats,
    /// Floats are not divided by anything.
    #[error("texels of f32 are read as they are, not as normalised floats")]
    FloatsAreNotNormalized,
    /// A number of channels that is not 1, 2 or 4.
    #[error("texels have 1, 2 or 4 channels, not {actual}")]
    Channels {
        /// The number of channels.
        actual: usize,
    },
    /// A number of axes that is not 1, 2 or 3.
    #[error("textures have 1, 2 or 3 dimensions, not {actual}")]
    Dimensions {
        /// The number of extents given.
        actual: usize,
    },
    /// An extent of zero, or more than devices have room for.
    #[error("axis {axis} of a texture of {dimensions} dimensions has 1 to {limit} texels, not {actual}")]
    Extent {
        /// Axes of the texture.
        dimensions: usize,
        /// The axis, counted from 0.
        axis: usize,
        /// The most texels.
        limit: usize,
        /// The texels given.
        actual: usize,
    },
}

/// A type of texels' channels: `u8`, `u16`, `f32`.
pub trait Texel: Element + sealed::Texel {}

pub(crate) mod sealed {
    pub trait Texel: Sized {
        /// Whether it is an integer.
        const INTEGER: bool;
        /// What it is read as, as it is or normalised.
        fn read(self, normalized: bool) -> f32;
    }
}

macro_rules! texels {
    ($($T:ty, $integer:literal, $most:expr;)*) => { $(
        impl Texel for $T {}
        impl sealed::Texel for $T {
            const INTEGER: bool = $integer;
            fn read(self, normalized: bool) -> f32 {
                let value = self as f32;
                if normalized { value / $most } else { value }
            }
        }
    )* };
}
texels! {
    u8, true, 255.0;
    u16, true, 65_535.0;
    f32, false, 1.0;
}

/// What a backend makes a texture of.
#[cfg_attr(not(feature = "cuda"), expect(dead_code, reason = "only a GPU has another layout"))]
pub(crate) struct Plan {
    /// Texels along x, y and z; 0 along an axis that it does not have.
    pub(crate) extents: [usize; 3],
    pub(crate) channels: usize,
    /// Bytes of a channel.
    pub(crate) bytes: usize,
    pub(crate) integer: bool,
    pub(crate) descriptor: Descriptor,
    /// Where the texels lie, one after the other.
    pub(crate) source: u64,
    /// Whether that is the host's memory, or the device's.
    pub(crate) on_host: bool,
}

/// A texture as a backend has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Raw {
    /// What kernels read it through.
    pub(crate) object: u64,
    /// Its memory.
    pub(crate) array: u64,
}

/// An array of texels on a device, and how kernels read it: see [`gpu_std::texture`] for what a read gives.
///
/// It has a copy of the texels: what becomes of their source does not matter. Dropping it waits for nothing: its memory
/// is free again behind the end of all work that was enqueued by then, once another texture is made, memory runs out,
/// or at [`Device::synchronize`].
pub struct Texture {
    device: Device,
    extents: Vec<usize>,
    channels: usize,
    reads_integers: bool,
    descriptor: Descriptor,
    raw: Raw,
    /// On the CPU.
    sampler: Option<Arc<Sampler>>,
}

impl Texture {
    /// The texture of `data`, which has `channels` elements for each texel, those of a row one after the other, then
    /// the rows and then the slices. `extents` are the texels along x, y and z, as many as it has dimensions. The
    /// data is on the host or on the device.
    ///
    /// # Errors
    /// [`Invalid`] says what no texture can be; [`LengthMismatch`](crate::Error::LengthMismatch) where the data has
    /// another length; [`WrongDevice`](crate::Error::WrongDevice) where it is on another device than this and the CPU;
    /// [`OutOfMemory`](crate::Error::OutOfMemory), and those of the driver.
    pub fn new<'a, T: Texel>(
        device: &Device,
        extents: &[usize],
        channels: usize,
        descriptor: Descriptor,
        data: impl Into<View<'a, T>>,
    ) -> Result<Self> {
        let data = data.into();
        check::<T>(extents, channels, descriptor)?;
        capture::refuse(device, "a new texture")?;
        // No more than 2^43 texels.
        let expected = extents.iter().product::<usize>() * channels;
        checks::length("texels of a texture", expected, data.len())?;
        if data.device().kind() != Kind::Cpu {
            device.expect("texels of a texture", data.device())?;
        }
        let reads_integers = T::INTEGER && descriptor.read == ReadMode::Element;
        let (mut raw, mut sampler) = (Raw { object: 0, array: 0 }, None);
        if device.kind() == Kind::Cuda {
            let mut all = [0; 3];
            all[..extents.len()].copy_from_slice(extents);
            let plan = Plan {
                extents: all,
                channels,
                bytes: size_of::<T>(),
                integer: T::INTEGER,
                descriptor,
                source: data.address(),
                on_host: data.device().kind() == Kind::Cpu,
            };
            // SAFETY: the view has as many bytes as the texture, checked above, on the host or on the device.
            raw = unsafe { device.backend.create_texture(&plan)? };
        } else {
            let mut values = vec![T::default(); data.len()];
            data.copy_to(&mut values)?;
            let normalized = descriptor.read == ReadMode::NormalizedFloat;
            let texel = |channel: &[T]| {
                let mut texel = [0.0; 4];
                texel.iter_mut().zip(channel).for_each(|(to, &from)| *to = from.read(normalized));
                texel
            };
            let made = Sampler::new(extents, descriptor, values.chunks(channels).map(texel).collect());
            let made =
                Arc::new(if reads_integers { made.of_integers() } else { made }.with_channels(channels));
            match device.simulator_id() {
                Some(simulator) => raw.object = Samplers::get().add(simulator, made),
                None => sampler = Some(made),
            }
        }
        Ok(Self {
            device: device.clone(),
            extents: extents.to_vec(),
            channels,
            reads_integers,
            descriptor,
            raw,
            sampler,
        })
    }

    /// What a kernel on this device reads it through; of no use on the CPU, where no kernel can be launched: see
    /// [`Texture::as_sampler`].
    pub fn as_texture(&self) -> gpu_std::texture::Texture {
        // SAFETY: this is a handle and no access: kernels read it, and launching one is unsafe.
        unsafe { gpu_std::texture::Texture::from_raw(self.raw.object) }
    }

    /// What reads it, if it is on the CPU.
    pub fn as_sampler(&self) -> Option<&Sampler> {
        self.sampler.as_deref()
    }

    /// Where it lives.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Texels along x, y and z, as many as it has dimensions.
    pub fn extents(&self) -> &[usize] {
        &self.extents
    }

    /// Elements of a texel.
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// How it is read.
    pub fn descriptor(&self) -> Descriptor {
        self.descriptor
    }

    /// Whether reads give `u32` and not `f32`.
    pub fn reads_integers(&self) -> bool {
        self.reads_integers
    }
}

/// Refuses what no texture can be.
fn check<T: Texel>(
    extents: &[usize],
    channels: usize,
    descriptor: Descriptor,
) -> core::result::Result<(), Invalid> {
    let dimensions = extents.len();
    let Some(limits) = dimensions.checked_sub(1).and_then(|at| LIMITS.get(at)) else {
        return Err(Invalid::Dimensions { actual: dimensions });
    };
    for (axis, (&actual, &limit)) in extents.iter().zip(*limits).enumerate() {
        if actual == 0 || actual > limit {
            return Err(Invalid::Extent { dimensions, axis, limit, actual });
        }
    }
    if !matches!(channels, 1 | 2 | 4) {
        return Err(Invalid::Channels { actual: channels });
    }
    let Descriptor { address, filter, read, normalized_coordinates } = descriptor;
    if matches!(address, AddressMode::Wrap | AddressMode::Mirror) && !normalized_coordinates {
        return Err(Invalid::AddressNeedsNormalizedCoordinates { address });
    }
    if !T::INTEGER && read == ReadMode::NormalizedFloat {
        return Err(Invalid::FloatsAreNotNormalized);
    }
    if T::INTEGER && read == ReadMode::Element && filter == FilterMode::Linear {
        return Err(Invalid::LinearNeedsFloats);
    }
    Ok(())
}

impl Drop for Texture {
    fn drop(&mut self) {
        match self.device.kind() {
            // SAFETY: the backend created it, and nothing else releases it. Work that may still read it comes before.
            Kind::Cuda => unsafe { self.device.backend.release_texture(self.raw) },
            Kind::Simulator => drop(Samplers::get().remove(self.raw.object)),
            Kind::Cpu => {}
        }
    }
}

impl fmt::Debug for Texture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Texture({:?} × {} on {})", self.extents, self.channels, self.device)
    }
}
