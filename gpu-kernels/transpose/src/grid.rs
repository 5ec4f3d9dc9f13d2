//! From a block's number to its tile: the part that all tiled kernels share.

use gpu_std::device;
use gpu_std::parameter::Parameter;

/// The most axes a launch can have.
pub const MAX_AXES: usize = 8;

/// The tiles of a launch as an array of up to [`MAX_AXES`] axes: the block's number counts through it, axis 0 fastest.
///
/// Axis 0 goes along the output's rows, so that blocks that run at the same time write next to each other (H200,
/// 16384² `f32`: 4,129 GB/s against 4,013 along the input's rows). One or two of the others go along the input's
/// rows, the rest are batches or the remaining axes of a permutation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Parameter)]
#[repr(C)]
pub struct Grid {
    /// Elements from one tile to the next in the input.
    pub input: [u64; MAX_AXES],
    /// Elements from one tile to the next in the output.
    pub output: [u64; MAX_AXES],
    /// Tiles along each axis.
    pub extents: [u32; MAX_AXES],
    /// Tiles along the input's rows from one index to the next: zero for axes that do not go along them.
    pub across: [u32; MAX_AXES],
    /// How many axes there are.
    pub axes: u32,
}

/// Where a tile lies.
#[derive(Clone, Copy)]
pub struct Place {
    /// Its number along the output's rows.
    pub down: u32,
    /// Its number along the input's rows.
    pub across: u32,
    /// Elements before it in the input.
    pub source: u64,
    /// Elements before it in the output.
    pub target: u64,
}

impl Grid {
    /// The tile of block `block`.
    #[device]
    #[inline(always)]
    pub fn place(&self, block: u32) -> Place {
        let (mut rest, mut place) = (block, Place { down: 0, across: 0, source: 0, target: 0 });
        gpu_std::unroll::<MAX_AXES>(|axis| {
            // Mutants: an axis that is not there has one place, number 0.
            if (axis as u32) < self.axes {
                let extent = self.extents[axis].max(1); // so that the division has no path for zero
                let index = rest % extent;
                rest /= extent;
                place.source += index as u64 * self.input[axis];
                place.target += index as u64 * self.output[axis];
                if axis == 0 {
                    place.down = index;
                }
                place.across += index * self.across[axis];
            }
        });
        place
    }
}
