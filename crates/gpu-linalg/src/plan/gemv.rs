//! Products of a matrix and a vector: along or across the lines, and into how many pieces the sums are cut.
//!
//! Lanes that share a line and pieces are the order in which a sum is added: they are cut for an H200 on every device,
//! whatever its multiprocessors, so that every device gets the same bits.

use std::ops::RangeInclusive;

use gpu_linalg_kernels::gemv::{
    ACROSS_THREADS, LINES, Shape, THREADS, UNROLL, lines_per_block, lines_per_round, results_per_block,
    shared_bytes, vector,
};
use gpu_std::launch::LaunchConfig;

use super::{blocks, extent};
use crate::error::Error;
use crate::launch::Element;
use crate::matrix::{Layout, Order};

/// Warps that shall be at work along lines: sums are cut into pieces where there are fewer.
const ENOUGH_WARPS: u32 = 2048;
/// Blocks that shall be at work across lines: one on almost every multiprocessor of an H200, where a block's 64 KiB
/// in flight are as many as it takes. Where there are fewer, fewer lanes share a line, and then sums are cut into
/// pieces. Aᵀ · x of `f32` in batches on an H200, µs, for so many lanes and about so many blocks:
///
/// | A | 8, 128 | 8, 256 | 8, 1024 | 32, 128 | 32, 256 | 32, 1024 |
/// |---|---|---|---|---|---|---|
/// | 4096 × 4096 | 16.8 | 17.9 | 19.4 | 18.1 | 19.2 | 20.4 |
/// | 16384 × 16384 | | | 247 | 239 | 244 | 243 |
/// | 100000 × 2000 | 205 | 204 | 194 | 183 | 185 | 186 |
const ENOUGH_BLOCKS: u32 = 120;
/// So many of the widest strips are more than there are multiprocessors, but too few to even out that some of these
/// have one more than others, and are cut into pieces until there are [`EVEN_BLOCKS`]. Aᵀ · x of `f32` in batches on
/// an H200, µs:
///
/// | A | strips | uncut | cut |
/// |---|---|---|---|
/// | 8192 × 17500 | 137 | 178.9 | 133.7 |
/// | 5000 × 24576 | 192 | 137.2 | 113.3 |
/// | 8192 × 32768 | 256 | 244.0 | 243.2 |
/// | 3000 × 40000 | 313 | 112.6 | 111.1 |
/// | 4096 × 65536 | 512 | 241.3 | 242.8 |
const UNEVEN_BLOCKS: RangeInclusive<u32> = 133..=400;
/// Blocks that [`UNEVEN_BLOCKS`] are cut into, about.
const EVEN_BLOCKS: u32 = 1024;
/// Lanes that share a line across, at least, of an A of at most so many bytes. The fewer, the slower is memory: 16.8
/// µs of 4096 × 4096 uncut `f32` in batches on an H200 with 8, 20.0 with 4, 25.1 with 2; but each step less is worth
/// it while it takes less than the second launch for pieces, of about 1.3 µs. 1024 × 1024 takes 2.8 µs uncut with 2,
/// and 3.3 in two pieces with 4.
const LEAST_WIDTHS: [(u64, u32); 3] = [(8 << 20, 2), (24 << 20, 4), (128 << 20, 8)];
/// No piece is shorter than so many rounds of a warp's vectors.
const LEAST_ROUNDS: u32 = 4;

/// The launches of a product.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// Whether the sums run along the contiguous lines, or across them.
    pub along: bool,
    /// Grid, block and shared memory.
    pub launch: LaunchConfig,
    /// The same of the launch that adds the pieces, if there are several.
    pub finish: Option<LaunchConfig>,
    /// Shape, strides and pieces.
    pub shape: Shape,
}

impl Plan {
    /// The plan for a matrix at address `a`, and a vector at address `x`. Without `sums` the product
    /// counts as zero, and neither is read.
    ///
    /// # Errors
    /// [`gpu_core::Error::ExtentTooLarge`], [`gpu_core::Error::TooManyBlocks`].
    pub fn new<T: Element>(layout: Layout, a: u64, x: u64, sums: bool) -> Result<Self, Error> {
        let results = extent("the number of rows", layout.rows())?;
        let length = extent("the number of columns", layout.columns())?;
        let length = if sums { length } else { 0 };
        let along = layout.order() == Order::RowMajor;
        let vector = vector::<T>();

        let width = if along {
            length.div_ceil(vector).div_ceil(UNROLL).next_power_of_two().min(32)
        } else {
            let vectors = results.div_ceil(vector);
            let bytes = results as u64 * length as u64 * size_of::<T>() as u64;
            let least = LEAST_WIDTHS.iter().find(|(most, _)| bytes <= *most).map_or(32, |&(_, width)| width);
            // The widest of which there are enough, and no wider than there are results.
            let width = 1 << (vectors / ENOUGH_BLOCKS).max(1).ilog2();
            width.clamp(least, 32).min(vectors.next_power_of_two())
        };
        let (units, enough, round, least) = if along {
            (results.div_ceil(LINES * (32 / width)), ENOUGH_WARPS, width * vector * UNROLL, LEAST_ROUNDS)
        } else {
            let strips = results.div_ceil(results_per_block::<T>(width));
            let uneven = width == 32 && UNEVEN_BLOCKS.contains(&strips);
            let enough = if uneven { EVEN_BLOCKS } else { ENOUGH_BLOCKS };
            (strips, enough, lines_per_round(width), 1)
        };
        let most = length.div_ceil(least * round).max(1);
        let piece = length.div_ceil(enough.div_ceil(units.max(1)).min(most)).next_multiple_of(round).max(1);
        let pieces = length.div_ceil(piece).max(1);

        let bytes = size_of::<T>();
        let (per_block, threads, shared) = if along {
            (lines_per_block(width), THREADS, 0)
        } else {
            (results_per_block::<T>(width), ACROSS_THREADS, shared_bytes::<T>())
        };
        let blocks = blocks(results.div_ceil(per_block) as u128 * pieces as u128)?;
        let aligned = a.is_multiple_of(16) && (layout.leading_dimension() * bytes).is_multiple_of(16);
        Ok(Self {
            along,
            launch: LaunchConfig::linear(blocks, threads).shared(shared),
            finish: (pieces > 1).then(|| LaunchConfig::linear(results.div_ceil(THREADS), THREADS)),
            shape: Shape {
                leading: layout.leading_dimension() as u64,
                results,
                length,
                piece,
                pieces,
                width,
                vectors: (aligned || layout.lines() == 1 && a.is_multiple_of(16)) as u32,
                x_vectors: x.is_multiple_of(16) as u32,
            },
        })
    }

    /// Elements of scratch memory: the sums of all pieces, if there are several.
    pub fn scratch_len(&self) -> usize {
        if self.finish.is_some() { self.shape.pieces as usize * self.shape.results as usize } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan<T: Element>(layout: Layout) -> Plan {
        Plan::new::<T>(layout, 0, 0, true).unwrap()
    }

    #[test]
    fn pieces_cover_the_sums_and_are_whole_rounds() {
        for (rows, columns) in
            [(1, 1), (1, 1 << 24), (3, 100_000), (2000, 100_000), (100_000, 2000), (4096, 4096)]
        {
            for layout in
                [Layout::row_major(rows, columns).unwrap(), Layout::column_major(rows, columns).unwrap()]
            {
                let Shape { length, piece, pieces, .. } = plan::<f32>(layout).shape;
                assert!(u64::from(piece) * u64::from(pieces) >= u64::from(length), "{layout:?}");
                assert!(u64::from(piece) * u64::from(pieces - 1) < u64::from(length), "{layout:?}");
                assert!(piece.is_multiple_of(16), "{layout:?}: pieces start at vectors");
            }
        }
    }

    #[test]
    fn few_results_are_cut_and_many_are_not() {
        assert_eq!(plan::<f32>(Layout::row_major(16384, 16384).unwrap()).scratch_len(), 0);
        assert!(plan::<f32>(Layout::row_major(1, 1 << 24).unwrap()).shape.pieces > 1000);
        let across = |rows, columns| {
            let plan = plan::<f32>(Layout::column_major(rows, columns).unwrap());
            assert!(!plan.along);
            (plan.shape.width, plan.launch.grid[0], plan.shape.pieces, plan.scratch_len())
        };
        assert_eq!(across(16384, 16384), (32, 128, 1, 0));
        assert_eq!(across(4096, 4096), (8, 128, 1, 0));
        assert_eq!(across(1024, 1024), (2, 128, 1, 0));
        assert_eq!(across(2000, 100_000), (32, 128, 8, 8 * 2000));
        assert_eq!(across(100_000, 2000), (32, 782, 1, 0));
        assert_eq!(across(24_576, 5000), (32, 1152, 6, 6 * 24_576));
        assert_eq!(across(1, 1 << 24), (1, 118, 118, 118));
    }

    #[test]
    fn short_lines_share_a_warp() {
        let width = |columns| plan::<f32>(Layout::row_major(1000, columns).unwrap()).shape.width;
        assert_eq!([width(1), width(16), width(17), width(100), width(2000)], [1, 1, 2, 8, 32]);
    }
}
