//! What a selection launches, from length and width alone: pure, tested without a GPU.

use gpu_sort_kernels::select::{BLOCKS, MAX_TILES, Shape};
use gpu_std::launch::LaunchConfig;

use gpu_core::{Device, Error, ScratchSize};

/// The launch of a selection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SelectPlan {
    /// How the items are cut.
    pub shape: Shape,
    /// How many there are.
    pub len: usize,
    /// Tiles of [`Shape::tile`] items.
    pub tiles: u64,
}

impl SelectPlan {
    /// That for `len` items of so many bytes.
    ///
    /// # Errors
    /// [`Error::TooLong`].
    pub const fn new(len: usize, item_bytes: usize) -> Result<Self, Error> {
        let shape = Shape::new(item_bytes as u32);
        let tiles = shape.tiles(len as u64);
        if tiles > MAX_TILES - 1 {
            return Err(Error::TooLong { len, most: ((MAX_TILES - 1) * shape.tile() as u64) as usize });
        }
        Ok(Self { shape, len, tiles })
    }

    /// Words of 64 bits of scratch memory.
    pub const fn scratch_words(self) -> usize {
        self.shape.scratch_words(self.tiles) as usize
    }

    /// The scratch memory: how many items the tiles keep, on their way from block to block.
    pub(crate) const fn scratch(self) -> ScratchSize {
        ScratchSize::new().own_tickets(self.scratch_words())
    }

    /// Grid, block and shared memory on a device; for at least one item.
    pub fn launch(self, device: &Device) -> LaunchConfig {
        LaunchConfig::linear(device.blocks_for(BLOCKS, self.tiles), self.shape.threads())
            .shared(self.shape.shared_bytes(false))
    }

    /// The same where the numbers of selected items are wanted, too.
    pub(super) fn launch_with_numbers(self, device: &Device) -> LaunchConfig {
        self.launch(device).shared(self.shape.shared_bytes(true))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_tiles_within_48_kib() {
        let device = Device::simulator();
        for bytes in [1, 2, 4, 8, 16] {
            let plan = SelectPlan::new(1_000_000, bytes).unwrap();
            assert!(plan.launch_with_numbers(&device).shared_bytes <= 48 << 10, "{bytes}");
            let tile = plan.shape.tile() as usize;
            assert_eq!(SelectPlan::new(tile, bytes).unwrap().tiles, 1);
            assert_eq!(SelectPlan::new(tile + 1, bytes).unwrap().tiles, 2);
            let long = SelectPlan::new(tile * 5 * 132 + 1, bytes).unwrap();
            assert_eq!((long.tiles, long.launch(&device).grid[0]), (5 * 132 + 1, 5 * 132));
        }
    }

    #[test]
    fn tiles_are_counted_in_31_bits() {
        let most = (MAX_TILES as usize - 1) * Shape::new(8).tile() as usize;
        assert_eq!(SelectPlan::new(most, 8).unwrap().tiles, MAX_TILES - 1);
        assert!(matches!(SelectPlan::new(most + 1, 8), Err(Error::TooLong { .. })));
    }
}
