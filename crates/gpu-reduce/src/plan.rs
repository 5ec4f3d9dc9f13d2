//! What a reduction launches, from its length alone: pure, tested without a GPU.

use gpu_kernels::reduce;
use gpu_std::launch::LaunchConfig;

/// The launch for an array of one length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Tiles of [`reduce::TILE`] elements that each block takes, one after the other.
    pub tiles_per_block: u64,
    /// Blocks, hence partial sums.
    pub blocks: u32,
}

impl Plan {
    /// The plan for `len` elements. It fixes the order of combination, so it depends on nothing else.
    pub const fn new(len: usize) -> Self {
        Self { tiles_per_block: reduce::tiles_per_block(len as u64), blocks: reduce::blocks(len as u64) }
    }

    /// Elements that each block but the last one sums.
    pub const fn elements_per_block(self) -> u64 {
        self.tiles_per_block * reduce::TILE as u64
    }

    /// Grid, block and shared memory.
    pub const fn launch(self) -> LaunchConfig {
        LaunchConfig::linear(self.blocks, reduce::THREADS).shared(reduce::SHARED_BYTES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TILE: usize = reduce::TILE as usize;
    const MAX: usize = reduce::MAX_BLOCKS as usize;

    #[test]
    fn small_arrays_take_a_block_a_tile() {
        for (len, blocks) in [(0, 1), (1, 1), (TILE, 1), (TILE + 1, 2), (MAX * TILE, MAX)] {
            let plan = Plan::new(len);
            assert_eq!((plan.tiles_per_block, plan.blocks as usize), (1, blocks), "{len} elements");
        }
    }

    #[test]
    fn every_element_has_its_block_and_every_block_has_elements() {
        let lengths = [1, TILE - 1, MAX * TILE + 1, 3 * MAX * TILE, (1 << 33) + 5, 1 << 40, usize::MAX / 8];
        for len in lengths {
            let plan = Plan::new(len);
            let each = plan.elements_per_block() as u128;
            let blocks = plan.blocks as u128;
            assert!(plan.blocks <= reduce::MAX_BLOCKS, "{len} elements");
            assert!(blocks * each >= len as u128, "{len} elements: some are left over");
            assert!((blocks - 1) * each < len as u128, "{len} elements: the last block has none");
        }
    }
}
