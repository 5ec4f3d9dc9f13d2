//! Plans of transpositions in place: pure, tested without a GPU.

use gpu_kernels::transpose as kernels;
use gpu_std::launch::LaunchConfig;

use crate::error::Error;
use crate::matrix::Matrix;
use crate::plan::MAX_BLOCKS;

/// How a matrix is transposed in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InPlace {
    /// It is its own transposed form: empty, or one row or column.
    Nothing,
    /// Tiles across the diagonal are swapped.
    Square {
        /// Grid, block and shared memory.
        launch: LaunchConfig,
        /// Tiles along a side.
        tiles: u32,
    },
    /// Three passes through scratch memory.
    Rectangle {
        /// Blocks of each pass.
        blocks: u32,
        /// Scratch elements of each block.
        scratch: usize,
        /// Rows over the greatest common divisor of rows and columns.
        a: u32,
        /// Columns over the same.
        b: u32,
    },
}

/// Scratch memory beyond which no further block gets a part of its own: what stays in the cache of a large GPU.
const SCRATCH_BYTES: usize = 32 << 20;
/// Enough blocks for every GPU of today: four for each of 132 multiprocessors.
const BLOCKS: usize = 528;

impl InPlace {
    /// The plan for `count` matrices of elements of `bytes` bytes.
    ///
    /// # Errors
    /// [`Error::InPlaceGap`], [`Error::ExtentTooLarge`], [`Error::TooManyBlocks`].
    pub fn new(matrix: Matrix, bytes: usize, count: usize) -> Result<Self, Error> {
        let (rows, columns) = (matrix.rows(), matrix.columns());
        if matrix.is_empty() || count == 0 || (rows, columns) == (1, 1) {
            return Ok(Self::Nothing);
        }
        if rows == columns {
            return Self::square(rows, bytes, count);
        }
        if matrix.leading_dimension() != columns {
            return Err(Error::InPlaceGap { expected: columns, actual: matrix.leading_dimension() });
        }
        if rows == 1 || columns == 1 {
            return Ok(Self::Nothing);
        }
        let limit = u32::MAX - 2 * kernels::THREADS;
        for extent in [rows, columns] {
            if extent > limit as usize {
                return Err(Error::ExtentTooLarge { extent, limit });
            }
        }
        let common = greatest_common_divisor(rows, columns);
        let band = kernels::band(bytes as u32) as usize;
        let scratch = columns.max(rows * band);
        let useful = rows.max(columns.div_ceil(band)).min(BLOCKS);
        let blocks = (SCRATCH_BYTES / (scratch * bytes)).clamp(1, useful) as u32;
        Ok(Self::Rectangle { blocks, scratch, a: (rows / common) as u32, b: (columns / common) as u32 })
    }

    fn square(side: usize, bytes: usize, count: usize) -> Result<Self, Error> {
        let tile = match bytes {
            1 => kernels::SQUARE_B8,
            2 => kernels::SQUARE_B16,
            4 => kernels::SQUARE_B32,
            8 => kernels::SQUARE_B64,
            _ => kernels::SQUARE_B128,
        };
        let tiles = side.div_ceil(tile.side as usize) as u64;
        let blocks = u128::from(kernels::blocks(tiles)) * count as u128;
        if blocks > u128::from(MAX_BLOCKS) {
            return Err(Error::TooManyBlocks { blocks, limit: MAX_BLOCKS });
        }
        let launch = LaunchConfig::linear(blocks as u32, kernels::THREADS).shared(tile.shared_bytes);
        Ok(Self::Square { launch, tiles: tiles as u32 })
    }

    /// Scratch elements it needs.
    pub const fn scratch_len(self) -> usize {
        match self {
            Self::Rectangle { blocks, scratch, .. } => blocks as usize * scratch,
            _ => 0,
        }
    }
}

fn greatest_common_divisor(mut a: usize, mut b: usize) -> usize {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_of_tiles_has_one_block() {
        for tiles in 1..40u32 {
            let blocks = kernels::blocks(tiles.into()) as u32;
            let mut pairs: Vec<_> = (0..blocks).filter_map(|block| kernels::pair(block, tiles)).collect();
            pairs.sort_unstable();
            let expected: Vec<_> = (0..tiles).flat_map(|i| (i..tiles).map(move |j| (i, j))).collect();
            assert_eq!(pairs, expected, "{tiles} tiles");
        }
    }

    #[test]
    fn scratch_is_a_small_part_of_large_matrices() {
        let plan = InPlace::new(Matrix::new(16_384, 8_192).unwrap(), 4, 1).unwrap();
        let InPlace::Rectangle { a: 2, b: 1, .. } = plan else { panic!("{plan:?}") };
        assert!(4 * plan.scratch_len() <= SCRATCH_BYTES);
        assert_eq!(InPlace::new(Matrix::new(64, 64).unwrap(), 4, 3).unwrap().scratch_len(), 0);
        assert_eq!(InPlace::new(Matrix::new(1, 64).unwrap(), 4, 3).unwrap(), InPlace::Nothing);
    }

    #[test]
    fn what_cannot_be_done_is_an_error() {
        let gap = Matrix::with_leading_dimension(2, 3, 4).unwrap();
        assert!(matches!(InPlace::new(gap, 4, 1), Err(Error::InPlaceGap { expected: 3, actual: 4 })));
        let long = Matrix::new(2, 1 << 33).unwrap();
        assert!(matches!(InPlace::new(long, 1, 1), Err(Error::ExtentTooLarge { .. })));
        let many = Matrix::new(1 << 20, 1 << 20).unwrap();
        assert!(matches!(InPlace::new(many, 1, 1 << 10), Err(Error::TooManyBlocks { .. })));
    }
}
