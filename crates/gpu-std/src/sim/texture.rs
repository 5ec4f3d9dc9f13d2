//! Reads of textures, from the samplers that their handles stand for. They are not counted in the metrics.

use crate::texture::Samplers;
use gpu_sim::device;

macro_rules! reads {
    ($name:ident, $integers:literal, $of:expr, $missing:expr) => {
        pub mod $name {
            use super::{Samplers, device};

            /// A texture of another number of dimensions, or of another type, is the kernel's fault. Channels that it
            /// does not have are numbers that nobody expects: on a GPU they are undefined.
            #[track_caller]
            fn read(texture: u64, place: &[f32]) -> [$name; 4] {
                let sampler = Samplers::get().find(device::simulator(), texture);
                let (dimensions, read) = (sampler.dimensions(), place.len());
                assert!(
                    dimensions == read,
                    "a texture of {dimensions} dimensions is read at a place of {read}"
                );
                let (has, reads) = if $integers { ("f32", "u32") } else { ("u32", "f32") };
                assert!(
                    sampler.reads_integers() == $integers,
                    "a texture whose reads give {has} is read as {reads}"
                );
                let mut all = [0.0; 3];
                all[..read].copy_from_slice(place);
                let mut texel = sampler.sample(all).map($of);
                texel[sampler.channels()..].fill($missing);
                texel
            }

            #[track_caller]
            pub fn read_1d(texture: u64, x: f32) -> [$name; 4] {
                read(texture, &[x])
            }

            #[track_caller]
            pub fn read_2d(texture: u64, x: f32, y: f32) -> [$name; 4] {
                read(texture, &[x, y])
            }

            #[track_caller]
            pub fn read_3d(texture: u64, x: f32, y: f32, z: f32) -> [$name; 4] {
                read(texture, &[x, y, z])
            }
        }
    };
}
reads!(f32, false, |value| value, f32::NAN);
// Integers of 16 bits, exact in an f32.
reads!(u32, true, |value| value as u32, 0xdead_beef);
