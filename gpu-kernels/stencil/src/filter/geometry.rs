//! What the filters' kernels are told: extents, where rows lie, and who computes what.

use gpu_std::parameter::Parameter;

use super::divisor::Divisor;

/// Threads of a block of the fast kernels.
pub const THREADS: u32 = 128;
/// Its warps, each with a strip of its own.
pub const WARPS: u32 = THREADS / 32;
/// The largest extent of a filter along an axis.
pub const MAX_EXTENT: u32 = 63;

/// A batch of images, and how it is shared out.
///
/// An output at (`x`, `y`) depends on the inputs from (`x - left`, `y - top`) on, as many as the filter has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Parameter)]
#[repr(C)]
pub struct Geometry {
    /// Elements from one row of the input to the next.
    pub input_pitch: u64,
    /// Elements from one image of the input to the next.
    pub input_stride: u64,
    /// The same of the output.
    pub output_pitch: u64,
    /// The same of the output.
    pub output_stride: u64,
    /// Pixels of a row of the input.
    pub width: u32,
    /// Rows of the input.
    pub height: u32,
    /// Elements of a row of the output.
    pub output_row: u32,
    /// Rows of the output.
    pub output_height: u32,
    /// Elements of a pixel.
    pub channels: u32,
    /// Taps in a row of the filter.
    pub taps_x: u32,
    /// Rows of the filter.
    pub taps_y: u32,
    /// Pixels left of an output that its window starts at; negative where it starts at the right.
    pub left: i32,
    /// The same upwards, in rows.
    pub top: i32,
    /// The border mode ([`crate::border`]).
    pub mode: u32,
    /// What the mode makes of places outside, for the fast kernels: the factor of [`super::march::inward`], and what
    /// it adds along x and along y.
    pub inward: i32,
    /// Along x.
    pub inward_x: i32,
    /// Along y.
    pub inward_y: i32,
    /// Rows of the output that a block computes.
    pub rows: u32,
    /// Blocks side by side.
    pub across: Divisor,
    /// Blocks one below the other, of an image.
    pub down: Divisor,
    /// The bytes, 16, 4 or none, that all of the input's rows, and windows in them, start at multiples of.
    pub input_aligned: u32,
    /// Whether the output's rows start at multiples of 16 bytes: 1 or 0.
    pub output_aligned: u32,
    /// What makes words of the input unsigned, and words of unsigned results the output's:
    /// [`Pixel::FLIP`](super::Pixel::FLIP).
    pub flip: u32,
}

/// Where a block works.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// The image.
    pub image: u32,
    /// The first row of the output.
    pub row: u32,
    /// How many.
    pub rows: u32,
    /// The block's number in its row of blocks.
    pub across: u32,
}

impl Geometry {
    /// Where block number `block` works.
    #[inline(always)]
    pub(super) fn place(&self, block: u32) -> Place {
        let line = self.across.quotient(block);
        let image = self.down.quotient(line);
        let row = (line - image * self.down.get()) * self.rows;
        let left = self.output_height - row;
        // Mutants: of two equal numbers either is the smaller.
        let rows = if left < self.rows { left } else { self.rows };
        Place { image, row, rows, across: block - line * self.across.get() }
    }
}
