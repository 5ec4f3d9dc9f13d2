//! What is launched, from layouts and the alignment of addresses alone: pure, tested without a GPU.

use gpu_std::launch::LaunchConfig;
use gpu_stencil_kernels::resize::{Axis, COLUMNS, HALF_BYTES, HALF_ROWS, ROWS, Shape, THREADS};

use super::Interpolation;
use crate::error::Error;
use crate::plan::blocks;
use gpu_core::ImageLayout;

/// Which kernel resizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernel {
    /// The nearest pixel.
    Nearest,
    /// Bilinear, any size.
    Bilinear,
    /// Bilinear, half of both sides, one channel, rows at multiples of 16 bytes.
    Half,
}

/// The launch of a resize.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// The kernel.
    pub kernel: Kernel,
    /// Grid and block.
    pub launch: LaunchConfig,
    /// What it works on.
    pub shape: Shape,
}

impl Plan {
    /// The plan for elements of `bytes` bytes; layouts and addresses are those of the input and the output, of as many
    /// channels and images, at least one.
    ///
    /// # Errors
    /// [`gpu_core::Error::TooManyBlocks`].
    pub fn new<T: Copy + Default>(
        bytes: usize,
        [input, output]: [ImageLayout; 2],
        interpolation: Interpolation<T>,
        addresses: [u64; 2],
    ) -> Result<Self, Error> {
        let kernel = match interpolation {
            Interpolation::Nearest => Kernel::Nearest,
            Interpolation::Bilinear(_) if is_half(bytes, [input, output], addresses) => Kernel::Half,
            Interpolation::Bilinear(_) => Kernel::Bilinear,
        };
        let mode = match interpolation {
            Interpolation::Nearest => 0,
            Interpolation::Bilinear(addressing) => addressing.code().0,
        };
        // Elements of a row, and rows, of a thread.
        let (columns, rows) = match kernel {
            Kernel::Half => (u64::from(HALF_BYTES) / 2 / bytes as u64, HALF_ROWS),
            Kernel::Bilinear | Kernel::Nearest => (u64::from(COLUMNS), ROWS),
        };
        let length = output.row() as u64;
        let width = length.div_ceil(columns).next_power_of_two().min(u64::from(THREADS)) as u32;
        let across = length.div_ceil(u64::from(width) * columns);
        let down = (output.height() as u64).div_ceil(u64::from(THREADS / width * rows));
        let grid = blocks(u128::from(across) * u128::from(down) * output.count() as u128)?;
        // Layouts have extents of 31 bits, and blocks are no more than the grid's.
        let shape = Shape {
            x: Axis::new(input.width() as u32, output.width() as u32),
            y: Axis::new(input.height() as u32, output.height() as u32),
            input_pitch: input.pitch() as u64,
            output_pitch: output.pitch() as u64,
            input_stride: input.stride() as u64,
            output_stride: output.stride() as u64,
            channels: output.channels() as u32,
            mode,
            width,
            across: across as u32,
            down: down as u32,
        };
        Ok(Self { kernel, launch: LaunchConfig::linear(grid, THREADS), shape })
    }
}

/// Whether the kernel for halves can do it: it loads 16 bytes of the input and stores 8 of the output at once.
fn is_half(bytes: usize, [input, output]: [ImageLayout; 2], [from, to]: [u64; 2]) -> bool {
    let aligned = |layout: ImageLayout, address: u64, by: usize| {
        let stride = if layout.count() > 1 { layout.stride() } else { 0 };
        address.is_multiple_of(by as u64)
            && (layout.pitch() * bytes).is_multiple_of(by)
            && (stride * bytes).is_multiple_of(by)
    };
    let halved = input.width() == 2 * output.width() && input.height() == 2 * output.height();
    let load = HALF_BYTES as usize;
    halved && input.channels() == 1 && aligned(input, from, load) && aligned(output, to, load / 2)
}

#[cfg(test)]
mod tests {
    use super::super::Addressing;
    use super::*;

    fn plan(input: ImageLayout, output: ImageLayout, addresses: [u64; 2]) -> Plan {
        Plan::new::<f32>(4, [input, output], Interpolation::Bilinear(Addressing::Clamp), addresses).unwrap()
    }

    #[test]
    fn only_aligned_halves_take_their_kernel() {
        let image = |width, height| ImageLayout::new(width, height, 1).unwrap();
        assert_eq!(plan(image(16384, 16384), image(8192, 8192), [0; 2]).kernel, Kernel::Half);
        assert_eq!(plan(image(12, 6), image(6, 3), [16, 8]).kernel, Kernel::Half);
        assert_eq!(plan(image(12, 6), image(6, 3), [8, 8]).kernel, Kernel::Bilinear);
        assert_eq!(plan(image(12, 6), image(6, 3), [16, 4]).kernel, Kernel::Bilinear);
        assert_eq!(plan(image(10, 6), image(5, 3), [0; 2]).kernel, Kernel::Bilinear, "40 bytes a row");
        assert_eq!(plan(image(12, 7), image(6, 3), [0; 2]).kernel, Kernel::Bilinear);
        let pixels = |width, height| ImageLayout::new(width, height, 4).unwrap();
        assert_eq!(plan(pixels(16, 16), pixels(8, 8), [0; 2]).kernel, Kernel::Bilinear);
        let batch = image(12, 6).with_batch(2, 73).unwrap();
        assert_eq!(plan(batch, image(6, 3).with_batch(2, 18).unwrap(), [0; 2]).kernel, Kernel::Bilinear);
    }

    #[test]
    fn threads_cover_every_element_and_narrow_images_stack_them() {
        let image = |width, height| ImageLayout::new(width, height, 3).unwrap();
        let narrow = plan(image(9, 9), image(5, 1000), [0; 2]);
        let Shape { width, across, down, .. } = narrow.shape;
        assert_eq!((width, across, down), (4, 1, 1000u32.div_ceil(64 * ROWS)));
        let wide = plan(image(9, 9), image(1000, ROWS as usize + 1), [0; 2]);
        let Shape { width, across, down, .. } = wide.shape;
        assert_eq!((width, across, down), (256, 3, 2));
        assert_eq!(wide.launch.grid, [6, 1, 1]);
    }

    #[test]
    fn a_grid_too_large_is_refused() {
        let small = ImageLayout::new(1, 1, 1).unwrap();
        let large = ImageLayout::new((1 << 31) - 5000, (1 << 31) - 5000, 1).unwrap();
        let error = Plan::new::<u8>(1, [small, large], Interpolation::Nearest, [0; 2]).unwrap_err();
        assert!(
            matches!(error, Error::Device(gpu_core::Error::TooManyBlocks { limit: 0x7fff_ffff, .. })),
            "{error}"
        );
    }
}
