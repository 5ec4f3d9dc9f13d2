//! Reads of textures at many places: at coordinates from memory, and at those of another size.
//!
//! The texture units interpolate, with weights of 8 bits; what they give is the texture's affair
//! ([`gpu_std::texture`]). Integers that are read as such are converted to `f32`.

use gpu_std::memory::{Global, GlobalMut};
use gpu_std::parameter::Parameter;
use gpu_std::texture::Texture;
use gpu_std::thread::{block_dim_x, block_idx_x, index_2d, thread_idx_x};
use gpu_std::{device, kernel, unroll};

/// Threads of a block that samples places.
pub const SAMPLE_THREADS: u32 = 256;
/// Threads of a block that resizes, in x and y: a warp is 32 neighbours of a row, whose reads share lines of the
/// texture's cache.
pub const RESIZE_BLOCK: [u32; 2] = [32, 8];

/// What is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Parameter)]
#[repr(C)]
pub struct Reads {
    /// Places, or, of an image, elements from one row to the next.
    pub length: u64,
    /// Channels of a texel: 1, 2 or 4.
    pub channels: u32,
    /// Whether texels are integers that are read as such: 1 or 0.
    pub integers: u32,
}

/// The coordinate of output `output`: `(output + 1/2) · scale`, each operation rounded. `scale` is the texels of an
/// output pixel, or, where coordinates are normalised, 1 over the outputs.
///
/// Not a `#[device]` function: the CPU reference calls it too.
#[inline(always)]
pub fn coordinate(output: u32, scale: f32) -> f32 {
    (output as f32 + 0.5) * scale
}

#[inline(always)]
fn floats([a, b, c, d]: [u32; 4]) -> [f32; 4] {
    [a as f32, b as f32, c as f32, d as f32]
}

/// Writes the channels that there are.
#[device]
#[inline(always)]
fn store(output: GlobalMut<f32>, first: u32, value: [f32; 4], channels: u32) {
    unroll::<4>(|k| {
        if (k as u32) < channels {
            output.write(first + k as u32, value[k]);
        }
    });
}

/// The number of the thread; below the number of places where it has one.
#[device]
#[inline(always)]
fn place() -> u64 {
    block_idx_x() as u64 * block_dim_x() as u64 + thread_idx_x() as u64
}

/// A texture of one dimension at the places `x` one after the other. Launch as many threads as places, or more.
#[kernel(images = sm_75, launch_bounds(256))]
pub fn stencil_texture_sample_1d(
    texture: Texture,
    places: Global<f32>,
    output: GlobalMut<f32>,
    reads: Reads,
) {
    let place = place();
    if place < reads.length {
        let x = places.offset(place).read(0);
        let value = if reads.integers != 0 { floats(texture.read_1d(x)) } else { texture.read_1d::<f32>(x) };
        store(output.offset(place * reads.channels as u64), 0, value, reads.channels);
    }
}

/// A texture of two dimensions at the places `x y` one after the other. Launch as many threads as places, or more.
#[kernel(images = sm_75, launch_bounds(256))]
pub fn stencil_texture_sample_2d(
    texture: Texture,
    places: Global<f32>,
    output: GlobalMut<f32>,
    reads: Reads,
) {
    let place = place();
    if place < reads.length {
        let at = places.offset(2 * place);
        let (x, y) = (at.read(0), at.read(1));
        let value =
            if reads.integers != 0 { floats(texture.read_2d(x, y)) } else { texture.read_2d::<f32>(x, y) };
        store(output.offset(place * reads.channels as u64), 0, value, reads.channels);
    }
}

/// A texture of three dimensions at the places `x y z` one after the other. Launch as many threads as places, or more.
#[kernel(images = sm_75, launch_bounds(256))]
pub fn stencil_texture_sample_3d(
    texture: Texture,
    places: Global<f32>,
    output: GlobalMut<f32>,
    reads: Reads,
) {
    let place = place();
    if place < reads.length {
        let at = places.offset(3 * place);
        let (x, y, z) = (at.read(0), at.read(1), at.read(2));
        let value = if reads.integers != 0 {
            floats(texture.read_3d(x, y, z))
        } else {
            texture.read_3d::<f32>(x, y, z)
        };
        store(output.offset(place * reads.channels as u64), 0, value, reads.channels);
    }
}

/// A texture of two dimensions at the places of an image of another size (seed: *Manejo de la Memoria*, scaling an
/// image with a texture): a thread a pixel.
///
/// Launch blocks of [`RESIZE_BLOCK`] threads, enough for all columns in x and all rows in y.
#[kernel(images = sm_75, launch_bounds(256))]
pub fn stencil_texture_resize(
    texture: Texture,
    output: GlobalMut<f32>,
    reads: Reads,
    columns: u32,
    rows: u32,
    scale_x: f32,
    scale_y: f32,
) {
    let [column, row] = index_2d();
    if column < columns && row < rows {
        let (x, y) = (coordinate(column, scale_x), coordinate(row, scale_y));
        let value =
            if reads.integers != 0 { floats(texture.read_2d(x, y)) } else { texture.read_2d::<f32>(x, y) };
        store(output.offset(row as u64 * reads.length), column * reads.channels, value, reads.channels);
    }
}
