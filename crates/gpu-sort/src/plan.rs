//! What a sort launches, from lengths and widths alone: pure, tested without a GPU.

use gpu_sort_kernels::{
    COUNT_AT_ONCE, COUNT_BLOCKS, COUNT_WARPS, DIGIT_BITS, HEADER_WORDS, MAX_SWEEP, Pass, Shape,
    count_shared_bytes, start_words, zero_words,
};
use gpu_std::launch::LaunchConfig;

use crate::key::Sorting;
use gpu_core::{Device, Error, ScratchSize};

/// The most keys: tiles are counted in 32 bits.
const MOST: usize = 1 << 42;

/// The launches of a sort.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SortPlan {
    /// How the keys are cut.
    pub shape: Shape,
    /// How many there are.
    pub len: usize,
    /// Tiles of [`Shape::tile`] keys.
    pub tiles: u32,
    /// Tiles that one launch sweeps.
    pub sweep: u32,
}

impl SortPlan {
    /// That for `len` keys of `key_bytes` with values of `value_bytes`; 0 where there are none.
    ///
    /// # Errors
    /// [`Error::TooLong`].
    pub const fn new(len: usize, key_bytes: usize, value_bytes: usize) -> Result<Self, Error> {
        if len > MOST {
            return Err(Error::TooLong { len, most: MOST });
        }
        let shape = match value_bytes {
            0 => Shape::of_keys(key_bytes as u32, len as u64),
            _ => Shape::new(key_bytes as u32, value_bytes as u32),
        };
        let tiles = shape.tiles(len as u64) as u32;
        Ok(Self { shape, len, tiles, sweep: (MAX_SWEEP / shape.tile() as u64) as u32 })
    }

    /// Words of 64 bits of scratch memory for sorting by `passes` digits: the header, where digits start, and the
    /// tiles' counts.
    pub(crate) const fn words(&self, passes: u32) -> usize {
        HEADER_WORDS / 2 + self.start_words(passes) + (self.count_words() / 2) as usize
    }

    /// Words of 32 bits of the tiles' counts.
    pub(crate) const fn count_words(&self) -> u64 {
        self.tiles as u64 * self.shape.digits() as u64
    }

    /// The scratch memory of that: the digits' counts, these words, the keys after every other pass, what moves with
    /// them, and, where values of another width are sorted by them, their indices.
    pub(crate) const fn scratch(&self, passes: u32, is_indexed: bool) -> ScratchSize {
        ScratchSize::new()
            .zeros(zero_words(passes, DIGIT_BITS as u32) as usize)
            .array::<u64>(self.words(passes))
            .array::<u8>(self.len * self.shape.key_bytes as usize)
            .array::<u8>(self.len * self.shape.value_bytes as usize)
            .array::<u32>(if is_indexed { self.len } else { 0 })
    }

    /// Words of 64 bits that say where digits start.
    pub(crate) const fn start_words(&self, passes: u32) -> usize {
        start_words(passes, DIGIT_BITS as u32) as usize
    }

    /// The launch that counts digits.
    pub(crate) fn count(&self, device: &Device, passes: u32) -> LaunchConfig {
        let threads = 32 * COUNT_WARPS as u32;
        let blocks = (self.len as u64).div_ceil((threads * COUNT_AT_ONCE as u32) as u64);
        LaunchConfig::linear(device.blocks_for(COUNT_BLOCKS, blocks), threads)
            .shared(count_shared_bytes(passes, DIGIT_BITS as u32))
    }

    /// The launches of a pass.
    pub(crate) fn sweeps(
        self,
        sorting: Sorting,
        pass: u32,
        indices: bool,
    ) -> impl Iterator<Item = (LaunchConfig, Pass)> {
        (0..self.tiles).step_by(self.sweep as usize).map(move |first_tile| {
            let tiles = self.sweep.min(self.tiles - first_tile);
            let config = LaunchConfig::linear(tiles, self.shape.threads()).shared(self.shape.shared_bytes());
            let pass = Pass {
                len: self.len as u64,
                last: sorting.order.last(sorting.width),
                digit: sorting.digit(pass),
                first_tile,
                tiles,
                tickets: pass.wrapping_mul(self.tiles).wrapping_add(first_tile),
                phase: pass % 2,
                indices: u32::from(indices),
            };
            (config, pass)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SortOptions;

    #[test]
    fn blocks_fit_three_times_on_a_multiprocessor() {
        for key in [1, 2, 4, 8] {
            for value in [0, 4, 8] {
                let bytes = SortPlan::new(1, key, value).unwrap().shape.shared_bytes();
                // 48 KiB need no leave of the driver.
                assert!(bytes <= 48 << 10, "{key} {value}: {bytes}");
            }
        }
    }

    #[test]
    fn long_arrays_take_several_launches_a_pass() {
        let plan = SortPlan::new(3 << 30, 4, 0).unwrap();
        let sorting = SortOptions::ascending().checked::<u32>().unwrap();
        let launches: Vec<Pass> = plan.sweeps(sorting, 2, false).map(|(_, pass)| pass).collect();
        assert_eq!(launches.len(), 4);
        let mut tiles = 0;
        for pass in launches {
            assert_eq!((pass.first_tile, pass.tickets), (tiles, 2 * plan.tiles + tiles));
            assert!(u64::from(pass.tiles * plan.shape.tile()) <= MAX_SWEEP);
            tiles += pass.tiles;
        }
        assert_eq!(tiles, plan.tiles);
    }

    #[test]
    fn lengths_are_bounded() {
        assert!(SortPlan::new(MOST, 8, 8).unwrap().tiles < 1 << 31);
        assert!(matches!(SortPlan::new(MOST + 1, 1, 0), Err(Error::TooLong { .. })));
    }
}
