//! Reads of textures, from the samplers that their handles stand for. They are not counted in the metrics.

use crate::texture::Samplers;

macro_rules! reads {
    ($name:ident, $of:expr) => {
        pub mod $name {
            use super::Samplers;

            fn read(texture: u64, place: [f32; 3]) -> [$name; 4] {
                Samplers::get().find(texture).sample(place).map($of)
            }

            pub fn read_1d(texture: u64, x: f32) -> [$name; 4] {
                read(texture, [x, 0.0, 0.0])
            }

            pub fn read_2d(texture: u64, x: f32, y: f32) -> [$name; 4] {
                read(texture, [x, y, 0.0])
            }

            pub fn read_3d(texture: u64, x: f32, y: f32, z: f32) -> [$name; 4] {
                read(texture, [x, y, z])
            }
        }
    };
}
reads!(f32, |value| value);
// Integers of 16 bits, exact in an f32.
reads!(u32, |value| value as u32);
