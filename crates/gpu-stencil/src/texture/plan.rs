//! What is launched, from extents alone: pure, tested without a GPU.

use gpu_core::{Texture, checks};
use gpu_std::launch::LaunchConfig;
use gpu_stencil_kernels::texture::{RESIZE_BLOCK, Reads, SAMPLE_THREADS};

use crate::error::Error;
use crate::plan::blocks;
use gpu_core::ImageLayout;

/// The most blocks of a launch in y.
const MAX_DOWN: u32 = u16::MAX as u32;

/// The launch that samples places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SamplePlan {
    /// Grid and block.
    pub launch: LaunchConfig,
    /// What is read.
    pub reads: Reads,
    /// Dimensions of the texture.
    pub dimensions: usize,
}

impl SamplePlan {
    /// The plan for `places` places, at least one.
    ///
    /// # Errors
    /// [`gpu_core::Error::TooManyBlocks`].
    pub fn new(places: usize, texture: &Texture) -> Result<Self, Error> {
        Ok(Self {
            launch: LaunchConfig::linear(sample_blocks(places)?, SAMPLE_THREADS),
            reads: reads(places, texture),
            dimensions: texture.extents().len(),
        })
    }
}

fn sample_blocks(places: usize) -> gpu_core::Result<u32> {
    blocks(places.div_ceil(SAMPLE_THREADS as usize) as u64)
}

fn reads(length: usize, texture: &Texture) -> Reads {
    Reads {
        length: length as u64,
        // 1, 2 or 4.
        channels: texture.channels() as u32,
        integers: texture.reads_integers().into(),
    }
}

/// The launch that resizes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ResizePlan {
    /// Grid and block.
    pub launch: LaunchConfig,
    /// What is read, and the output's pitch.
    pub reads: Reads,
    /// Columns and rows of the output.
    pub extents: [u32; 2],
    /// What a pixel of the output is along x and along y: so many texels, or, with normalised coordinates, such a part.
    pub scales: [f32; 2],
}

impl ResizePlan {
    /// The plan for a texture of `texels` columns and rows, and an output.
    ///
    /// # Errors
    /// [`gpu_core::Error::ExtentTooLarge`].
    pub fn new(texels: [usize; 2], texture: &Texture, output: ImageLayout) -> Result<Self, Error> {
        // Layouts have extents of 31 bits.
        let extents = [output.width() as u32, output.height() as u32];
        let [across, down] = [0, 1].map(|k| extents[k].div_ceil(RESIZE_BLOCK[k]));
        checks::extent("the height of an image", output.height(), (MAX_DOWN * RESIZE_BLOCK[1]) as usize)?;
        let [x, y] = RESIZE_BLOCK;
        Ok(Self {
            launch: LaunchConfig { grid: [across, down, 1], block: [x, y, 1], shared_bytes: 0 },
            reads: reads(output.pitch(), texture),
            extents,
            scales: scales(texels, extents, texture.descriptor().normalized_coordinates),
        })
    }
}

fn scales(texels: [usize; 2], extents: [u32; 2], normalized: bool) -> [f32; 2] {
    // One rounding.
    [0, 1].map(|k| (if normalized { 1.0 } else { texels[k] as f64 } / f64::from(extents[k])) as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_are_texels_or_parts() {
        assert_eq!(scales([12, 9], [24, 3], false), [0.5, 3.0]);
        assert_eq!(scales([12, 9], [24, 4], true), [1.0 / 24.0, 0.25]);
    }

    #[test]
    fn every_place_has_a_thread_and_grids_have_a_limit() {
        assert_eq!(
            (sample_blocks(1).unwrap(), sample_blocks(256).unwrap(), sample_blocks(257).unwrap()),
            (1, 1, 2)
        );
        let error = sample_blocks(1 << 40).unwrap_err();
        assert!(matches!(error, gpu_core::Error::TooManyBlocks { blocks: 4_294_967_296, .. }), "{error}");
    }
}
