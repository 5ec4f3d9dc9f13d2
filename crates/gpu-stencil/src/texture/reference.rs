//! The same reads on the CPU, in rayon.

use gpu_core::cores;
use gpu_std::texture::Sampler;
use gpu_stencil_kernels::texture::coordinate;

use gpu_core::ImageLayout;

/// The values, of `channels` each, at `places` of `dimensions` coordinates.
///
/// # Panics
/// Where there are more than three dimensions or four channels, or none.
pub fn sample(sampler: &Sampler, (dimensions, channels): (usize, usize), places: &[f32], output: &mut [f32]) {
    cores::chunks(output, channels, 1, |number, value| {
        let coordinates = &places[number * dimensions..][..dimensions];
        let mut place = [0.0; 3];
        place[..dimensions].copy_from_slice(coordinates);
        value.copy_from_slice(&sampler.sample(place)[..channels]);
    });
}

/// The texture in the size of the output; `scales` are those of the plan.
///
/// # Panics
/// Where the slice is shorter than its layout says, or has more than four channels.
pub fn resize(sampler: &Sampler, [x, y]: [f32; 2], (output, layout): (&mut [f32], ImageLayout)) {
    cores::chunks(&mut output[..layout.span()], layout.pitch(), 1, |row, elements| {
        let y = coordinate(row as u32, y);
        for (column, pixel) in elements[..layout.row()].chunks_mut(layout.channels()).enumerate() {
            let value = sampler.sample([coordinate(column as u32, x), y, 0.0]);
            pixel.copy_from_slice(&value[..pixel.len()]);
        }
    });
}
