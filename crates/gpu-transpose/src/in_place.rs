//! Plans of transpositions in place: pure, tested without a GPU.

use gpu_kernels::transpose as kernels;
use gpu_std::launch::LaunchConfig;

use crate::error::Error;
use crate::matrix::{Batch, Matrix};
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
    /// The same of many large tiles of bytes, which blocks that stay take in turn.
    SquareWide {
        /// Grid, block and shared memory.
        launch: LaunchConfig,
        /// Tiles along a side.
        tiles: u32,
        /// Pairs of tiles of all matrices.
        items: u32,
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
/// Pairs of wide tiles for each multiprocessor from which on they are faster.
const WIDE_PAIRS: u64 = 4;

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

    /// The plan for a batch of elements of `bytes` bytes at `address` on a device with so many multiprocessors.
    pub(crate) fn on(self, batch: Batch, bytes: usize, address: u64, multiprocessors: u32) -> Self {
        self.wide_from(WIDE_PAIRS * u64::from(multiprocessors), batch, bytes, address, multiprocessors)
    }

    /// As [`on`](Self::on), with wide tiles if there are at least `least` pairs of them.
    pub(crate) fn wide_from(
        self,
        least: u64,
        batch: Batch,
        bytes: usize,
        address: u64,
        multiprocessors: u32,
    ) -> Self {
        let (side, ld) = (batch.matrix().rows(), batch.matrix().leading_dimension());
        let stride = if batch.count() > 1 { batch.stride() } else { 0 };
        let aligned = (address | (side | ld | stride) as u64).is_multiple_of(16);
        if !matches!(self, Self::Square { .. }) || bytes != 1 || !aligned || ld / 16 > u32::MAX as usize {
            return self;
        }
        let tiles = side.div_ceil(kernels::SQUARE_WIDE_SIDE as usize) as u64;
        // No more than the blocks of the other kernel, whose number has been checked: so neither this nor the side is too large.
        let items = kernels::square_wide_pairs(tiles) * batch.count() as u64;
        if items < least {
            return self;
        }
        let blocks = (items as u32).min(multiprocessors.max(1));
        let launch = LaunchConfig::linear(blocks, kernels::SQUARE_WIDE_THREADS)
            .shared(kernels::SQUARE_WIDE_SHARED_BYTES);
        Self::SquareWide { launch, tiles: tiles as u32, items: items as u32 }
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

    /// The plan of squares of elements of `bytes` bytes at `address` on a device with `multiprocessors`.
    fn on(batch: Batch, bytes: usize, address: u64, multiprocessors: u32) -> InPlace {
        let plan = InPlace::new(batch.matrix(), bytes, batch.count()).unwrap();
        plan.on(batch, bytes, address, multiprocessors)
    }

    #[test]
    fn many_wide_tiles_of_bytes_are_taken_in_turn() {
        let of = |side, count| {
            let matrix = Matrix::new(side, side).unwrap();
            Batch::new(matrix, count, side * side).unwrap()
        };
        let wide = |side, count, multiprocessors| match on(of(side, count), 1, 0, multiprocessors) {
            InPlace::SquareWide { launch, tiles, items } => Some((launch.grid[0], tiles, items)),
            _ => None,
        };
        // 64 tiles of 256 along a side, 32 × 65 pairs; one block a multiprocessor.
        assert_eq!(wide(16_384, 1, 132), Some((132, 64, 2080)));
        assert_eq!(wide(16_384 - 240, 1, 132), Some((132, 64, 2080)));
        // The least that are worth it, of one and of several matrices.
        for (side, count, multiprocessors) in [(8192, 1, 132), (1024, 12, 30), (1024, 4, 10)] {
            let wanted = on(of(side, count), 1, 0, multiprocessors);
            let InPlace::SquareWide { items, .. } = wanted else { panic!("{side}: {wanted:?}") };
            assert_eq!(u64::from(items), WIDE_PAIRS * u64::from(multiprocessors));
            assert_eq!(wide(side, count, multiprocessors + 1), None, "{side}");
        }
        // Other elements, and rows that do not start on vectors.
        let large = of(16_384, 1);
        assert!(matches!(on(large, 2, 0, 132), InPlace::Square { .. }));
        assert!(matches!(on(large, 1, 8, 132), InPlace::Square { .. }));
        assert_eq!(wide(16_376, 1, 132), None);
        let matrix = Matrix::with_leading_dimension(16_384, 16_384, 16_392).unwrap();
        assert!(matches!(on(Batch::one(matrix), 1, 0, 132), InPlace::Square { .. }));
        let apart = Batch::new(large.matrix(), 2, 16_384 * 16_384 + 8).unwrap();
        assert!(matches!(on(apart, 1, 0, 132), InPlace::Square { .. }));
        let rectangle = Batch::one(Matrix::new(16_384, 8_192).unwrap());
        assert!(matches!(on(rectangle, 1, 0, 132), InPlace::Rectangle { .. }));
    }

    #[test]
    fn every_pair_of_wide_tiles_has_one_item() {
        for tiles in 1..40u32 {
            let items = kernels::square_wide_pairs(tiles.into()) as u32;
            let mut pairs: Vec<_> = (0..items).map(|item| kernels::square_wide_pair(item, tiles)).collect();
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
