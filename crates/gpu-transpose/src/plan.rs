//! What a transposition launches, from its axes, the element's size and the addresses' alignment: pure, tested without a GPU.

use gpu_kernels::transpose::{self as kernels, Grid, Walk};
use gpu_std::launch::LaunchConfig;

use crate::axes::{Axis, of_matrices, widen};
use crate::error::Error;
use crate::matrix::Matrix;

/// The most blocks of a launch.
pub const MAX_BLOCKS: u32 = i32::MAX as u32;

/// Which of several tile sizes a kernel takes: for measurements.
pub mod tuning {
    use gpu_kernels::transpose::{self as kernels, Skew, Tile};

    /// Number 0 is what plans take by themselves; numbers that do not exist for an element's size mean 0.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Tuning {
        /// The tile of aligned arrays, see [`tiles`].
        pub tile: u8,
        /// The tile of arrays that are not, see [`skews`].
        pub skew: u8,
    }

    /// Narrower axes are moved element by element: below this, less than an eighth of a skewed tile would be in use.
    pub const THIN: usize = 8;

    /// The tiles for elements of `bytes` bytes.
    pub fn tiles(bytes: usize) -> &'static [Tile] {
        match bytes {
            1 => &[kernels::TILE_B8, kernels::TILE_B8_TALL, kernels::TILE_B8_WIDE],
            2 => &[kernels::TILE_B16, kernels::TILE_B16_SQUARE, kernels::TILE_B16_WIDE],
            // 64 × 64 was the fastest of {32, 64, 128, 256}² on the H200, square or not.
            4 => &[kernels::TILE_B32],
            8 => &[kernels::TILE_B64, kernels::TILE_B64_SQUARE, kernels::TILE_B64_WIDE],
            _ => &[kernels::TILE_B128, kernels::TILE_B128_TALL],
        }
    }

    /// The skewed tiles for elements of `bytes` bytes, fewer than 16.
    pub fn skews(bytes: usize) -> &'static [Skew] {
        match bytes {
            1 => &[kernels::SKEW_B8, kernels::SKEW_B8_SLIM],
            2 => &[kernels::SKEW_B16],
            4 => &[kernels::SKEW_B32, kernels::SKEW_B32_WIDE, kernels::SKEW_B32_SMALL],
            _ => &[kernels::SKEW_B64],
        }
    }
}

use tuning::Tuning;

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
    /// Whether everything is a multiple of 16 bytes, and the number of the tile.
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
    /// `tile.rs`, with the tile of this number.
    Aligned(u8),
    /// `skew.rs`, with the tile of this number.
    Skewed(u8),
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
    /// The plan for a matrix of elements of `bytes` bytes, transposed into rows without gaps, both starting on 16 bytes.
    ///
    /// # Errors
    /// [`Error::TooManyBlocks`], [`Error::ExtentTooLarge`].
    pub fn new(matrix: Matrix, bytes: usize) -> Result<Self, Error> {
        Self::of(
            of_matrices(matrix, matrix.rows(), 1, matrix.len(), matrix.len()),
            bytes,
            0,
            Tuning::default(),
        )
    }

    /// The plan for an array that is not empty, of elements of `bytes` bytes. Of `address`, which is both addresses or-ed
    /// together, the low four bits count.
    pub(crate) fn of(axes: Vec<Axis>, bytes: usize, address: u64, tuning: Tuning) -> Result<Self, Error> {
        let (axes, bytes) = widen(axes, bytes, address);
        match axes[..] {
            [] => return Ok(Self::Copy { bytes, elements: 1 }),
            [Axis { extent, input: 1, output: 1 }] => return Ok(Self::Copy { bytes, elements: extent }),
            _ => {}
        }
        let across = axes.iter().position(|axis| axis.input == 1);
        match across {
            Some(across) if across != 0 && axes[0].output == 1 => {
                let thin = axes[0].extent.min(axes[across].extent) < tuning::THIN;
                // Counting along the input's rows where those are the short ones, along the output's otherwise.
                let mut order = axes.clone();
                if axes[across].extent < axes[0].extent {
                    order.sort_by_key(|axis| axis.input);
                }
                match if thin { elements(&order, bytes) } else { None } {
                    Some(plan) => plan.map(Self::Elements),
                    None => tiles(&axes, across, bytes, address, tuning).map(Self::Tiles),
                }
            }
            _ => match elements(&axes, bytes) {
                Some(plan) => plan.map(Self::Elements),
                None => Err(Error::ExtentTooLarge { extent: axes[0].extent, limit: u32::MAX }),
            },
        }
    }
}

/// The launch of the tiled kernel: axis 0 along the output's rows, axis `across` along the input's.
fn tiles(axes: &[Axis], across: usize, bytes: usize, address: u64, tuning: Tuning) -> Result<Tiles, Error> {
    let (along, rows_of_output) = (axes[0], axes[across]);
    let mut multiples = (along.extent | rows_of_output.extent | along.input | rows_of_output.output) * bytes;
    for (number, axis) in axes.iter().enumerate() {
        if number != 0 && number != across {
            multiples |= (axis.input | axis.output) * bytes;
        }
    }
    let aligned = bytes == 16 || (multiples.is_multiple_of(16) && address.is_multiple_of(16));
    let pick = |number: u8, len: usize| if usize::from(number) < len { number } else { 0 };
    let (kernel, rows, columns, extra, shared) = if aligned {
        let number = pick(tuning.tile, tuning::tiles(bytes).len());
        let tile = tuning::tiles(bytes)[usize::from(number)];
        (Kernel::Aligned(number), tile.rows, tile.columns, 0, tile.shared_bytes)
    } else {
        let number = pick(tuning.skew, tuning::skews(bytes).len());
        let tile = tuning::skews(bytes)[usize::from(number)];
        (Kernel::Skewed(number), tile.rows, tile.columns, tile.slack - 1, tile.shared_bytes)
    };
    // Aligned kernels count in words.
    let unit = |elements: usize| {
        if aligned { (elements as u128 * bytes as u128 / 4) as u64 } else { elements as u64 }
    };
    let mut grid = Grid { axes: axes.len() as u32, across: across as u32, ..Grid::default() };
    let mut blocks = 1u128;
    for (number, axis) in axes.iter().enumerate() {
        let (step, extent) = match number {
            0 => (rows as usize, axis.extent.saturating_add(extra as usize)),
            _ if number == across => (columns as usize, axis.extent),
            _ => (1, axis.extent),
        };
        let count = extent.div_ceil(step);
        grid.extents[number] = u32::try_from(count)
            .map_err(|_| Error::TooManyBlocks { blocks: count as u128, limit: MAX_BLOCKS })?;
        grid.input[number] = unit(axis.input.saturating_mul(step));
        grid.output[number] = unit(axis.output.saturating_mul(step));
        blocks *= count as u128;
    }
    Ok(Tiles {
        kernel,
        bytes,
        launch: LaunchConfig::linear(check_blocks(blocks)?, kernels::THREADS).shared(shared),
        grid,
        rows: along.extent as u64,
        columns: rows_of_output.extent as u64,
        input_ld: unit(along.input),
        output_ld: unit(rows_of_output.output),
    })
}

/// The launch that moves single elements, counting through `axes` in their order; `None` where their extents do not fit it.
fn elements(axes: &[Axis], bytes: usize) -> Option<Result<Elements, Error>> {
    const MAX: usize = (kernels::MAX_ELEMENTS / 2) as usize;
    let (mut walk, mut grid) = (Walk::default(), Grid { across: 1, axes: 2, ..Grid::default() });
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
    Some(check_blocks(blocks).map(|blocks| Elements {
        bytes,
        launch: LaunchConfig::linear(blocks, kernels::THREADS),
        grid,
        walk,
        last: last as u64,
    }))
}

fn check_blocks(blocks: u128) -> Result<u32, Error> {
    u32::try_from(blocks)
        .ok()
        .filter(|&blocks| blocks <= MAX_BLOCKS)
        .ok_or(Error::TooManyBlocks { blocks, limit: MAX_BLOCKS })
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
