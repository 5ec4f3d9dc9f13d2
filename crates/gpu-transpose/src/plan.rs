//! What a transposition launches, from its axes, the element's size and the addresses' alignment: pure, tested
//! without a GPU.

pub use gpu_core::checks::MAX_BLOCKS;
use gpu_core::{Layout, checks};
use gpu_std::launch::LaunchConfig;
use gpu_transpose_kernels::{self as kernels, Grid, Walk};

use crate::axes::{Axis, of_matrices, widen};
use crate::error::Error;

/// Narrower axes are moved element by element: below this, less than an eighth of a skewed tile would be in use.
const THIN: usize = 8;

/// Rows of the input that are a multiple of this many bytes apart make neighbouring columns of tiles, which are read
/// at the same time, compete for the same channels of memory (H200: 16384² elements of 8 bytes 0.944 of the copy,
/// 8192² of 16 bytes 0.924).
const PITCH_OF_CONFLICT: usize = 128 << 10;
/// So columns of tiles are taken from so many strips of the matrix in turn (0.968 and 0.970; with 2 strips 0.971 and
/// 0.973, but 0.955 instead of 0.965 for 16384² of 16 bytes. Where rows are closer, strips cost 1 %).
const STRIPS: u32 = 4;

/// The tile for elements of `bytes` bytes, everything being a multiple of 16 bytes.
pub const fn tile(bytes: usize) -> kernels::Tile {
    match bytes {
        1 => kernels::TILE_B8,
        2 => kernels::TILE_B16,
        4 => kernels::TILE_B32,
        8 => kernels::TILE_B64,
        _ => kernels::TILE_B128,
    }
}

/// The tile for elements of `bytes` bytes, fewer than 16, that lie anywhere.
pub const fn skew(bytes: usize) -> kernels::Skew {
    match bytes {
        1 => kernels::SKEW_B8,
        2 => kernels::SKEW_B16,
        4 => kernels::SKEW_B32,
        _ => kernels::SKEW_B64,
    }
}

/// How an array is moved.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "a plan lives on the stack for the length of a launch")]
pub enum Plan {
    /// A copy of so many elements by the driver.
    Copy {
        /// Bytes of an element.
        bytes: usize,
        /// Elements.
        elements: usize,
    },
    /// A tiled kernel.
    Tiles(Tiles),
    /// The kernel that moves single elements.
    Elements(Elements),
}

/// The launch of a tiled kernel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tiles {
    /// Whether everything is a multiple of 16 bytes.
    pub kernel: Kernel,
    /// Bytes of an element.
    pub bytes: usize,
    /// Grid, block and shared memory.
    pub launch: LaunchConfig,
    /// Where each tile lies; strides in words of 4 bytes for [`Kernel::Aligned`], in elements otherwise.
    pub grid: Grid,
    /// Elements along the output's rows.
    pub rows: u64,
    /// Elements along the input's rows.
    pub columns: u64,
    /// From one row of the input to the next, units as in `grid`.
    pub input_ld: u64,
    /// From one row of the output to the next, units as in `grid`.
    pub output_ld: u64,
}

/// Which tiled kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernel {
    /// Vectors of 16 bytes everywhere: `tile.rs`.
    Aligned,
    /// Rows that start anywhere: `skew.rs`.
    Skewed,
}

/// The launch of the kernel that moves single elements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Elements {
    /// Bytes of an element.
    pub bytes: usize,
    /// Grid and block.
    pub launch: LaunchConfig,
    /// The axes that blocks count through.
    pub grid: Grid,
    /// The axes that threads count through.
    pub walk: Walk,
    /// Indices of the walk's last axis.
    pub last: u64,
}

impl Plan {
    /// The plan for a matrix of elements of `bytes` bytes, transposed into rows without gaps, both starting on 16
    /// bytes.
    ///
    /// # Errors
    /// [`gpu_core::Error::TooManyBlocks`], [`gpu_core::Error::ExtentTooLarge`].
    pub fn new(matrix: Layout, bytes: usize) -> Result<Self, Error> {
        let transposed = Layout::row_major(matrix.columns(), matrix.rows())?;
        Self::of(of_matrices(matrix.into(), transposed.into()), bytes, 0)
    }

    /// The plan for an array that is not empty, of elements of `bytes` bytes. Of `address`, which is both addresses
    /// or-ed together, the low four bits count.
    pub(crate) fn of(axes: Vec<Axis>, bytes: usize, address: u64) -> Result<Self, Error> {
        let (axes, bytes) = widen(axes, bytes, address);
        match axes[..] {
            [] => return Ok(Self::Copy { bytes, elements: 1 }),
            [Axis { extent, input: 1, output: 1 }] => return Ok(Self::Copy { bytes, elements: extent }),
            _ => {}
        }
        let across = axes.iter().position(|axis| axis.input == 1);
        match across {
            Some(across) if across != 0 && axes[0].output == 1 => {
                let thin = axes[0].extent.min(axes[across].extent) < THIN;
                // Counting along the input's rows where those are the short ones, along the output's otherwise.
                let mut order = axes.clone();
                if axes[across].extent < axes[0].extent {
                    order.sort_by_key(|axis| axis.input);
                }
                match if thin { elements(&order, bytes) } else { None } {
                    Some(plan) => Ok(Self::Elements(plan?)),
                    None => tiles(&axes, across, bytes, address).map(Self::Tiles),
                }
            }
            _ => match elements(&axes, bytes) {
                Some(plan) => Ok(Self::Elements(plan?)),
                None => {
                    let (what, actual, limit) = ("an extent", axes[0].extent, u32::MAX as usize);
                    Err(gpu_core::Error::ExtentTooLarge { what, actual, limit }.into())
                }
            },
        }
    }
}

/// The launch of the tiled kernel: axis 0 along the output's rows, axis `across` along the input's.
fn tiles(axes: &[Axis], across: usize, bytes: usize, address: u64) -> Result<Tiles, Error> {
    let (along, rows_of_output) = (axes[0], axes[across]);
    let mut multiples = (along.extent | rows_of_output.extent | along.input | rows_of_output.output) * bytes;
    for (number, axis) in axes.iter().enumerate() {
        if number != 0 && number != across {
            multiples |= (axis.input | axis.output) * bytes;
        }
    }
    let aligned = bytes == 16 || (multiples.is_multiple_of(16) && address.is_multiple_of(16));
    let (kernel, rows, columns, extra, shared) = if aligned {
        let tile = tile(bytes);
        (Kernel::Aligned, tile.rows, tile.columns, 0, tile.shared_bytes)
    } else {
        let tile = skew(bytes);
        (Kernel::Skewed, tile.rows, tile.columns, tile.slack - 1, tile.shared_bytes)
    };
    // Aligned kernels count in words.
    let unit = |elements: usize| {
        if aligned { (elements as u128 * bytes as u128 / 4) as u64 } else { elements as u64 }
    };
    let (mut grid, mut blocks) = (Grid::default(), 1u128);
    // Counts through `count` more places, `step` indices of an axis apart; `tiles` of them along the input's rows.
    let mut add = |axis: &Axis, count: usize, step: usize, tiles: u32| {
        let number = grid.axes as usize;
        grid.extents[number] = checks::blocks(count as u128)?;
        grid.input[number] = unit(axis.input.saturating_mul(step));
        grid.output[number] = unit(axis.output.saturating_mul(step));
        grid.across[number] = tiles;
        grid.axes += 1;
        blocks *= count as u128;
        Ok::<(), Error>(())
    };
    for (number, axis) in axes.iter().enumerate() {
        let (rows, columns) = (rows as usize, columns as usize);
        if number == 0 {
            add(axis, axis.extent.saturating_add(extra as usize).div_ceil(rows), rows, 0)?;
        } else if number != across {
            add(axis, axis.extent, 1, 0)?;
        } else {
            let count = axis.extent.div_ceil(columns);
            let strip = u32::try_from(count).unwrap_or(0) / STRIPS;
            let conflict = (along.input * bytes).is_multiple_of(PITCH_OF_CONFLICT);
            if conflict && count == (strip * STRIPS) as usize && axes.len() < kernels::MAX_AXES {
                add(axis, STRIPS as usize, columns * strip as usize, strip)?;
                add(axis, strip as usize, columns, 1)?;
            } else {
                add(axis, count, columns, 1)?;
            }
        }
    }
    Ok(Tiles {
        kernel,
        bytes,
        launch: LaunchConfig::linear(checks::blocks(blocks)?, kernels::THREADS).shared(shared),
        grid,
        rows: along.extent as u64,
        columns: rows_of_output.extent as u64,
        input_ld: unit(along.input),
        output_ld: unit(rows_of_output.output),
    })
}

/// The launch that moves single elements, counting through `axes` in their order; `None` where their extents do not
/// fit it.
fn elements(axes: &[Axis], bytes: usize) -> Option<gpu_core::Result<Elements>> {
    const MAX: usize = (kernels::MAX_ELEMENTS / 2) as usize;
    let (mut walk, mut grid) = (Walk::default(), Grid { axes: 2, ..Grid::default() });
    grid.across[1] = 1;
    let (mut inner, mut last, mut blocks) = (1, 1, 1u128);
    for axis in axes {
        let number = walk.axes as usize;
        // The walk ends with the first axis that does not fit whole: the grid counts through its pieces.
        if grid.extents[1] == 0 {
            let piece = axis.extent.min(MAX / inner);
            walk.input[number] = axis.input as u64;
            walk.output[number] = axis.output as u64;
            walk.extents[number] = piece as u32;
            (walk.multipliers[number], walk.shifts[number]) = kernels::divisor(piece as u32);
            walk.axes += 1;
            walk.piece = piece as u32;
            inner *= piece;
            last = axis.extent;
            if piece < axis.extent || MAX / inner < 2 {
                grid.extents[1] = u32::try_from(axis.extent.div_ceil(piece)).ok()?;
                grid.input[1] = (axis.input * piece) as u64;
                grid.output[1] = (axis.output * piece) as u64;
            }
        } else {
            let number = grid.axes as usize;
            *grid.extents.get_mut(number)? = u32::try_from(axis.extent).ok()?;
            grid.input[number] = axis.input as u64;
            grid.output[number] = axis.output as u64;
            grid.axes += 1;
        }
    }
    grid.extents[1] = grid.extents[1].max(1);
    walk.elements = inner as u32;
    grid.extents[0] = walk.elements.div_ceil(kernels::PER_BLOCK);
    for extent in &grid.extents[..grid.axes as usize] {
        blocks *= u128::from(*extent);
    }
    Some(checks::blocks(blocks).map(|blocks| Elements {
        bytes,
        launch: LaunchConfig::linear(blocks, kernels::THREADS),
        grid,
        walk,
        last: last as u64,
    }))
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
