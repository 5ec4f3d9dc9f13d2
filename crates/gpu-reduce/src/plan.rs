//! What a reduction launches, from its length and what it takes alone: pure, tested without a GPU.

use gpu_reduce_kernels::{self as reduce, Item, Lines, Reduction};
use gpu_std::launch::LaunchConfig;

use crate::instance::AlongColumns;
use crate::instance::Instance;
use crate::instance::Segmented;
use gpu_core::{Error, checks};

/// The launch for an array of one length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Tiles of [`reduce::tile`] elements that each block takes, one after the other.
    pub tiles_per_block: u64,
    /// Blocks, hence partial results.
    pub blocks: u32,
    /// Elements of a tile.
    pub tile: u32,
    /// Words that each block publishes.
    pub words: u32,
    /// Dynamic shared memory of a block, in bytes.
    pub shared_bytes: u32,
}

impl Plan {
    /// The plan for `len` elements. It fixes the order of combination, so it depends on nothing else.
    pub const fn new<R: Reduction>(len: usize) -> Self {
        // Words beyond would be dropped on their way between threads.
        const { assert!(reduce::publishes::<R>() <= reduce::MAX_WORDS, "an accumulator has 6 words at most") };
        Self {
            tiles_per_block: reduce::tiles_per_block::<R::Item>(len as u64),
            blocks: reduce::blocks::<R::Item>(len as u64),
            tile: reduce::tile::<R::Item>(),
            words: reduce::publishes::<R>(),
            shared_bytes: reduce::shared_bytes(reduce::publishes::<R>()),
        }
    }

    /// As [`Plan::new`], of what the kernel computes, if the length is one that a GPU could take.
    ///
    /// # Errors
    /// [`Error::TooLong`].
    pub(crate) fn checked<R: Instance>(len: usize) -> Result<Self, Error> {
        check_len(len)?;
        Ok(Self { words: R::WORDS, shared_bytes: reduce::shared_bytes(R::WORDS), ..Self::new::<R>(len) })
    }

    /// Elements that each block but the last one takes.
    pub const fn elements_per_block(self) -> u64 {
        self.tiles_per_block * self.tile as u64
    }

    /// Words of scratch memory that the partial results take.
    pub const fn scratch_words(self) -> usize {
        self.blocks as usize * self.words as usize
    }

    /// Grid, block and shared memory.
    pub const fn launch(self) -> LaunchConfig {
        LaunchConfig::linear(self.blocks, reduce::THREADS).shared(self.shared_bytes)
    }
}

/// Whether a GPU could take so many elements.
///
/// # Errors
/// [`Error::TooLong`].
pub(crate) fn check_len(len: usize) -> Result<(), Error> {
    checks::at_most(usize::try_from(reduce::MAX_LEN).unwrap_or(usize::MAX), len)
}

/// The launch for segments of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentsPlan {
    /// How many there are.
    pub segments: u32,
    /// What a block takes of the path of segments and elements (see `gpu_reduce_kernels::segments`), or 0 where the
    /// device works it out.
    pub share: u64,
    /// Blocks.
    pub blocks: u32,
    /// Dynamic shared memory of a block, in bytes.
    pub shared_bytes: u32,
}

impl SegmentsPlan {
    /// The plan for so many segments, the last of which ends at `end`: a long path is cut into a share for each block
    /// that there is room for at once on so many multiprocessors ([`Segmented::BLOCKS`]). The order of combination
    /// does not depend on it.
    pub const fn new<R: Segmented>(end: usize, segments: usize, multiprocessors: u32) -> Self {
        let (tile, weight) = (reduce::tile::<R::Item>() as u64, reduce::weight::<R::Item>() as u64);
        let path = end as u64 + segments as u64 * weight;
        let even = path.div_ceil(R::BLOCKS as u64 * multiprocessors as u64);
        let share = if even < tile { tile } else { even };
        Self {
            segments: segments as u32,
            share,
            blocks: path.div_ceil(share) as u32,
            shared_bytes: reduce::segments_shared_bytes(R::WORDS),
        }
    }

    /// The plan for up to `end` segments whose number only the device knows, none of them empty, the last of which
    /// ends at `end`: as many blocks as there is room for at once, which work out their shares themselves.
    pub const fn counted<R: Segmented>(end: usize, multiprocessors: u32) -> Self {
        Self { share: 0, ..Self::new::<R>(end, end, multiprocessors) }
    }

    /// Grid, block and shared memory.
    pub const fn launch(self) -> LaunchConfig {
        LaunchConfig::linear(self.blocks, reduce::THREADS).shared(self.shared_bytes)
    }
}

/// The launch for columns.
pub(crate) const fn columns_launch<R: Reduction>(lines: Lines) -> LaunchConfig {
    LaunchConfig::linear(lines.blocks::<R::Item>() as u32, reduce::THREADS)
        .shared(reduce::COLUMNS_SHARED_BYTES)
}

/// Words of 64 bits that a reduction along an axis needs, whatever the alignment of its rows.
pub(crate) const fn columns_scratch_words<R: AlongColumns>(lines: Lines) -> usize {
    // Single lines have more tiles, hence counts.
    Lines { is_vector: 0, ..lines }.scratch_words::<R::Item>(R::WORDS).div_ceil(2) as usize
}

/// The most words that any reduction of up to `len` elements needs.
pub(crate) const fn most_scratch_words(len: usize) -> usize {
    // The number of blocks is not monotonic in the length: it drops where each block takes one tile more. Before that
    // it is largest for the smallest tile, that of pairs of the widest elements.
    let tiles = len.div_ceil(reduce::tile::<<reduce::Dot<f64> as Reduction>::Item>() as usize);
    let blocks = if tiles > reduce::MAX_BLOCKS as usize {
        reduce::MAX_BLOCKS as usize
    } else if tiles == 0 {
        1
    } else {
        tiles
    };
    blocks * reduce::MAX_WORDS as usize
}

/// Words that segments of up to `len` elements need.
pub(crate) const fn segments_scratch_words<R: Segmented>(len: usize) -> usize {
    reduce::scratch_words::<R::Item>(R::WORDS, len as u64) as usize
}

// No tile is smaller than the one above.
const _: () = {
    const fn smallest<I: Item>() -> bool {
        reduce::tile::<I>() >= reduce::tile::<(f64, f64)>()
    }
    assert!(smallest::<(u64, u64)>() && smallest::<(f32, f32)>() && smallest::<u8>() && smallest::<i16>());
};

#[cfg(test)]
mod tests {
    use super::*;
    use gpu_reduce_kernels::{ArgMax, Dot, NormL2, Sum};

    const MAX: usize = reduce::MAX_BLOCKS as usize;

    fn small_arrays_take_a_block_a_tile<R: Reduction>(tile: usize) {
        for (len, blocks) in [(0, 1), (1, 1), (tile, 1), (tile + 1, 2), (MAX * tile, MAX)] {
            let plan = Plan::new::<R>(len);
            assert_eq!((plan.tiles_per_block, plan.blocks as usize), (1, blocks), "{len} elements");
            assert_eq!(plan.tile as usize, tile);
        }
    }

    #[test]
    fn a_tile_is_16_kib() {
        small_arrays_take_a_block_a_tile::<Sum<u8>>(16384);
        small_arrays_take_a_block_a_tile::<Sum<i16>>(8192);
        small_arrays_take_a_block_a_tile::<Sum<f32>>(4096);
        small_arrays_take_a_block_a_tile::<ArgMax<f64>>(2048);
        small_arrays_take_a_block_a_tile::<Dot<f64>>(1024);
    }

    #[test]
    fn every_element_has_its_block_and_every_block_has_elements() {
        let tile = Plan::new::<Sum<f32>>(0).tile as usize;
        let lengths = [1, tile - 1, MAX * tile + 1, 3 * MAX * tile, (1 << 33) + 5, 1 << 40, usize::MAX / 8];
        for len in lengths {
            let plan = Plan::new::<Sum<f32>>(len);
            let each = plan.elements_per_block() as u128;
            let blocks = plan.blocks as u128;
            assert!(plan.blocks <= reduce::MAX_BLOCKS, "{len} elements");
            assert!(blocks * each >= len as u128, "{len} elements: some are left over");
            assert!((blocks - 1) * each < len as u128, "{len} elements: the last block has none");
        }
    }

    #[test]
    fn offsets_in_a_block_fit_32_bits() {
        let most = reduce::MAX_LEN as usize;
        let plan = Plan::checked::<Sum<u8>>(most).unwrap();
        assert!(plan.elements_per_block() <= 1 << 32);
        let error = Plan::checked::<Sum<u8>>(most + 1).unwrap_err();
        assert!(matches!(error, Error::TooLong { len, most: m } if len == most + 1 && m == most), "{error}");
    }

    fn has_a_share_for_each_of<R: Segmented>(blocks: u32) {
        let tile = reduce::tile::<R::Item>() as usize;
        for (end, segments, wanted) in [
            (1, 1, 1),
            (tile, 0, 1),
            (tile + 1, 0, 2),
            (1 << 26, 1 << 14, blocks),
            (0, 1 << 26, blocks),
            (0, 0, 0),
        ] {
            let plan = SegmentsPlan::new::<R>(end, segments, 132);
            assert_eq!(plan.blocks, wanted, "{segments} segments up to {end}");
            let path = end as u64 + segments as u64 * reduce::weight::<R::Item>() as u64;
            assert!(
                plan.blocks as u64 * plan.share >= path,
                "{segments} segments up to {end}: some are left over"
            );
        }
    }

    /// The kernels' `images` say which have one for compute capability 9.0.
    #[test]
    fn a_long_path_has_a_share_for_each_block_of_an_h200() {
        has_a_share_for_each_of::<Sum<f32>>(4 * 132);
        has_a_share_for_each_of::<ArgMax<f32>>(3 * 132);
        has_a_share_for_each_of::<Sum<u32>>(3 * 132);
        has_a_share_for_each_of::<NormL2<f64>>(3 * 132);
        has_a_share_for_each_of::<Sum<u8>>(3 * 132);
    }

    #[test]
    fn counted_segments_have_as_many_blocks_as_the_most_of_them() {
        for (end, blocks) in [(1, 1), (100, 1), (4096, 18), (1 << 26, 4 * 132), (u32::MAX as usize, 4 * 132)]
        {
            let plan = SegmentsPlan::counted::<Sum<f32>>(end, 132);
            assert_eq!((plan.blocks, plan.share, plan.segments as usize), (blocks, 0, end), "{end}");
        }
    }

    #[test]
    fn scratch_for_a_length_is_enough_for_all_shorter_ones() {
        for len in [0, 1, 1024, 1025, 100_000, MAX * 1024, MAX * 1024 + 1, MAX * 16384, 1 << 40] {
            let have = most_scratch_words(len);
            for shorter in [len, len / 2, len.min(MAX * 1024), len.min(MAX * 2048), len.min(MAX * 4096)] {
                assert!(Plan::new::<Dot<f64>>(shorter).scratch_words() <= have, "{shorter} of {len}");
                assert!(Plan::new::<NormL2<f64>>(shorter).scratch_words() <= have, "{shorter} of {len}");
                assert!(Plan::new::<Sum<f32>>(shorter).scratch_words() <= have, "{shorter} of {len}");
            }
        }
    }
}
