//! Plans of transpositions in place: pure, tested without a GPU.

use gpu_core::{BatchLayout, Layout, checks};
use gpu_std::launch::LaunchConfig;
use gpu_transpose_kernels as kernels;

use crate::error::Error;

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
/// Blocks of a rectangle's passes for each multiprocessor.
const BLOCKS: usize = 4;
/// Sides from which on wide tiles are faster. H200, of the copy's speed, with wide tiles and with the others: 16384²
/// 0.915 and 0.875, 12288² 0.906 and 0.881, 10240² 0.881 and 0.869, 8192² 0.911 and 0.882; but 7168² 0.934 and 0.943,
/// 6144² 1.237 and 1.348, 4096² 0.623 and 0.857. Many matrices do not make up for a small side: 16 of 4096² 0.919 and
/// 0.935, 256 of 1024² 0.895 and 0.916.
const WIDE_SIDE: usize = 8192;
/// What the rows start at multiples of where wide tiles are faster, in bytes: a row of a tile. H200, of the copy's
/// speed: 16384² with rows 16512 bytes apart 0.827 and 0.864, 8208² 0.750 and 0.777.
const WIDE_ALIGNMENT: u64 = kernels::SQUARE_WIDE_SIDE as u64;

impl InPlace {
    /// The plan for `count` matrices of elements of `bytes` bytes on a device with so many multiprocessors
    /// ([`Device::planned_multiprocessors`](gpu_core::Device::planned_multiprocessors)). Only the blocks of rectangles
    /// and with them the scratch memory depend on these.
    ///
    /// # Errors
    /// [`Error::InPlaceGap`], [`gpu_core::Error::ExtentTooLarge`], [`gpu_core::Error::TooManyBlocks`].
    pub fn new(matrix: Layout, bytes: usize, count: usize, multiprocessors: u32) -> Result<Self, Error> {
        // The transposed form of a column-major matrix is column-major: in memory the same as of rows.
        let (rows, columns) = (matrix.lines(), matrix.contiguous());
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
        checks::extent("an extent", rows.max(columns), limit as usize)?;
        let common = greatest_common_divisor(rows, columns);
        let band = kernels::band(bytes as u32) as usize;
        let scratch = columns.max(rows * band);
        let useful = rows.max(columns.div_ceil(band)).min(BLOCKS * multiprocessors.max(1) as usize);
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
        let launch =
            LaunchConfig::linear(checks::blocks(blocks)?, kernels::THREADS).shared(tile.shared_bytes);
        Ok(Self::Square { launch, tiles: tiles as u32 })
    }

    /// The plan for a batch of elements of `bytes` bytes that starts at `address`: this one, or wide tiles where they
    /// are faster, taken by at most `blocks` blocks.
    pub(crate) fn on(
        self,
        batch: BatchLayout,
        bytes: usize,
        address: u64,
        blocks: impl FnOnce() -> u32,
    ) -> Self {
        if batch.matrix.rows() >= WIDE_SIDE && starts(batch, address).is_multiple_of(WIDE_ALIGNMENT) {
            self.wide(batch, bytes, address, blocks)
        } else {
            self
        }
    }

    /// As [`on`](Self::on), with wide tiles wherever they can be.
    pub(crate) fn wide(
        self,
        batch: BatchLayout,
        bytes: usize,
        address: u64,
        blocks: impl FnOnce() -> u32,
    ) -> Self {
        let (side, ld) = (batch.matrix.rows(), batch.matrix.leading_dimension());
        let aligned = (starts(batch, address) | side as u64).is_multiple_of(16);
        if !matches!(self, Self::Square { .. }) || bytes != 1 || !aligned || ld / 16 > u32::MAX as usize {
            return self;
        }
        let tiles = side.div_ceil(kernels::SQUARE_WIDE_SIDE as usize) as u64;
        // No more than the blocks of the other kernel, whose number has been checked: so neither this nor the side is
        // too large.
        let items = (kernels::square_wide_pairs(tiles) * batch.count as u64) as u32;
        let launch = LaunchConfig::linear(items.min(blocks().max(1)), kernels::SQUARE_WIDE_THREADS)
            .shared(kernels::SQUARE_WIDE_SHARED_BYTES);
        Self::SquareWide { launch, tiles: tiles as u32, items }
    }

    /// Scratch elements it needs.
    pub const fn scratch_len(self) -> usize {
        match self {
            Self::Rectangle { blocks, scratch, .. } => blocks as usize * scratch,
            _ => 0,
        }
    }
}

/// A number that is a multiple of those powers of two that all rows of bytes of a batch start at multiples of.
fn starts(batch: BatchLayout, address: u64) -> u64 {
    let stride = if batch.count > 1 { batch.stride } else { 0 };
    address | (batch.matrix.leading_dimension() | stride) as u64
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

    /// Blocks, tiles along a side and items of the plan for a batch on a device that takes `blocks` blocks at once;
    /// `None` if it is not of wide tiles.
    fn wide(batch: BatchLayout, bytes: usize, address: u64, blocks: u32) -> Option<(u32, u32, u32)> {
        let plan = InPlace::new(batch.matrix, bytes, batch.count, 132).unwrap();
        match plan.on(batch, bytes, address, || blocks) {
            InPlace::SquareWide { launch, tiles, items } => Some((launch.grid[0], tiles, items)),
            other => {
                assert_eq!(other, plan);
                None
            }
        }
    }

    /// `count` squares of so many rows `ld` apart, and `gap` elements between them.
    fn squares(side: usize, ld: usize, count: usize, gap: usize) -> BatchLayout {
        let matrix =
            Layout::row_major(side, side).and_then(|layout| layout.with_leading_dimension(ld)).unwrap();
        BatchLayout::new(matrix, count, side * ld + gap).unwrap()
    }

    #[test]
    fn large_squares_of_bytes_go_by_wide_tiles() {
        // 64 tiles of 256 along a side, 32 × 65 pairs.
        assert_eq!(wide(squares(16_384, 16_384, 1, 0), 1, 0, 132), Some((132, 64, 2080)));
        assert_eq!(wide(squares(16_384, 16_384, 1, 0), 1, 0, u32::MAX), Some((2080, 64, 2080)));
        assert_eq!(wide(squares(8192, 8192, 1, 0), 1, 256, 132), Some((132, 32, 528)));
        assert_eq!(wide(squares(8192, 8448, 3, 512), 1, 0, 132), Some((132, 32, 3 * 528)));
        // The last tiles end before.
        assert_eq!(wide(squares(8208, 8448, 1, 0), 1, 0, 132), Some((132, 33, 561)));
    }

    #[test]
    fn other_squares_go_by_the_other_tiles() {
        // Small ones, of which many are no better.
        for (side, count) in [(8176, 1), (7936, 1), (4096, 16), (1024, 256)] {
            assert_eq!(wide(squares(side, 8192, count, 0), 1, 0, 132), None, "{count} of {side}");
        }
        // Other elements, and a side that does not end on a vector.
        assert_eq!(wide(squares(16_384, 16_384, 1, 0), 2, 0, 132), None);
        assert_eq!(wide(squares(16_376, 16_384, 1, 0), 1, 0, 132), None);
        // Rows that start beside a piece: by the address, the leading dimension, the stride.
        assert_eq!(wide(squares(16_384, 16_384, 1, 0), 1, 128, 132), None);
        assert_eq!(wide(squares(16_384, 16_512, 1, 0), 1, 0, 132), None);
        assert_eq!(wide(squares(8192, 8192, 2, 128), 1, 0, 132), None);
        assert_eq!(wide(squares(8208, 8208, 1, 0), 1, 0, 132), None);
        // The stride of a single matrix is of no account.
        assert!(wide(squares(8192, 8192, 1, 128), 1, 0, 132).is_some());
        let rectangle = BatchLayout::from(Layout::row_major(16_384, 8192).unwrap());
        assert_eq!(wide(rectangle, 1, 0, 132), None);
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
        let plan = InPlace::new(Layout::row_major(16_384, 8_192).unwrap(), 4, 1, 132).unwrap();
        let InPlace::Rectangle { a: 2, b: 1, .. } = plan else { panic!("{plan:?}") };
        assert!(4 * plan.scratch_len() <= SCRATCH_BYTES);
        // Four blocks for each multiprocessor, where the matrix has work for as many and the cache room.
        let plan =
            |multiprocessors| InPlace::new(Layout::row_major(3000, 600).unwrap(), 1, 1, multiprocessors);
        let blocks = |multiprocessors| match plan(multiprocessors).unwrap() {
            InPlace::Rectangle { blocks, .. } => blocks,
            other => panic!("{other:?}"),
        };
        assert_eq!([blocks(1), blocks(2), blocks(20)], [4, 8, 80]);
        assert_eq!(InPlace::new(Layout::row_major(64, 64).unwrap(), 4, 3, 132).unwrap().scratch_len(), 0);
        assert_eq!(InPlace::new(Layout::row_major(1, 64).unwrap(), 4, 3, 132).unwrap(), InPlace::Nothing);
    }

    #[test]
    fn what_cannot_be_done_is_an_error() {
        let gap = Layout::row_major(2, 3).and_then(|layout| layout.with_leading_dimension(4)).unwrap();
        assert!(matches!(InPlace::new(gap, 4, 1, 132), Err(Error::InPlaceGap { expected: 3, actual: 4 })));
        let long = Layout::row_major(2, 1 << 33).unwrap();
        assert!(matches!(
            InPlace::new(long, 1, 1, 132),
            Err(Error::Device(gpu_core::Error::ExtentTooLarge { .. }))
        ));
        let many = Layout::row_major(1 << 20, 1 << 20).unwrap();
        assert!(matches!(
            InPlace::new(many, 1, 1 << 10, 132),
            Err(Error::Device(gpu_core::Error::TooManyBlocks { .. }))
        ));
    }
}
