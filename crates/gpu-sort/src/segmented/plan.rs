//! What a sort of segments launches, from lengths and widths alone: pure, tested without a GPU.

use gpu_sort_kernels::segmented::{
    ALL, CLASSES, CLASSIFY_THREADS, Job, LONG, PLACES, WARPS, class, list_start, passes, shared_bytes, tile,
};
use gpu_std::launch::LaunchConfig;

use super::cut::Cut;
use crate::key::Sorting;
use gpu_core::{Error, ScratchSize, checks};

/// Blocks of a launch that goes through lists, for each multiprocessor: three, four times.
const BLOCKS: u64 = 12;

/// The launches of a sort of segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentedPlan {
    /// What the kernels are told.
    pub job: Job,
    /// Bytes of what they sort: a key's word, and its index where values move with it.
    pub composite: u32,
    longest: u64,
}

/// Bytes of what is sorted for keys of `key_bytes`.
pub(crate) const fn composite_bytes(key_bytes: usize, is_indexed: bool) -> u32 {
    match (key_bytes, is_indexed) {
        (8, true) => 16,
        (8, false) | (_, true) => 8,
        _ => 4,
    }
}

impl SegmentedPlan {
    /// That for `len` keys of `key_bytes` with a payload as [`Job::payload`] says; of each segment the first `limit` are kept.
    ///
    /// # Errors
    /// [`Error::TooLong`].
    pub(crate) fn new(
        len: usize,
        cut: Cut,
        sorting: Sorting,
        key_bytes: usize,
        payload: u32,
        limit: Option<u32>,
    ) -> Result<Self, Error> {
        let longest = cut.longest as u64;
        // Short keys leave room for the indices of all but very long segments, and 32 bits are sorted in half the time of 64.
        let rest = 32u32.saturating_sub(8 * key_bytes as u32);
        let index_bits = if payload == 0 || longest > 1 << rest { 0 } else { rest };
        let composite = if index_bits > 0 { 4 } else { composite_bytes(key_bytes, payload != 0) };
        // Tiles of long rows are counted in 32 bits, and so is where a run ends in a segment.
        let most = 1usize << 31;
        let is_long = cut.longest > tile(composite) as usize;
        if is_long {
            checks::at_most(most, cut.longest)?;
        }
        if payload == PLACES {
            checks::at_most(u32::MAX as usize, len)?;
        }
        let tiles = longest.div_ceil(tile(composite) as u64);
        let job = Job {
            order: sorting.order,
            len: len as u64,
            row: cut.row as u64,
            segments: cut.count as u32,
            key_bytes: key_bytes as u32,
            index_bits,
            payload,
            limit: limit.unwrap_or(ALL),
            passes: if is_long { passes(tiles) } else { 0 },
        };
        Ok(Self { job, composite, longest })
    }

    const fn is_rows(&self) -> bool {
        self.job.row > 0
    }

    /// Words of 32 bits of the classes' counts and lists.
    pub(crate) const fn list_words(&self) -> usize {
        if self.is_rows() {
            0
        } else {
            16 + list_start(CLASSES, self.job.segments as u64, self.job.len, self.composite) as usize
        }
    }

    /// The scratch memory: the classes, two arrays of composites, and places.
    pub(crate) const fn scratch(&self) -> ScratchSize {
        ScratchSize::new()
            .array::<u32>(self.list_words())
            .array::<u8>(self.merged_bytes())
            .array::<u8>(self.merged_bytes())
            .array::<u32>(self.places())
    }

    /// Bytes of each of two arrays of composites.
    pub(crate) const fn merged_bytes(&self) -> usize {
        self.merged() * self.composite as usize
    }

    /// Elements of each of two arrays of composites.
    pub(crate) const fn merged(&self) -> usize {
        if self.job.passes > 0 { self.job.len as usize } else { 0 }
    }

    /// Places of values.
    pub(crate) const fn places(&self) -> usize {
        match (self.job.payload, self.job.limit) {
            (PLACES, ALL) => self.job.len as usize,
            (PLACES, limit) => self.job.segments as usize * limit as usize,
            _ => 0,
        }
    }

    /// The launch that classifies, if one does.
    pub(crate) fn classify(&self) -> Option<LaunchConfig> {
        let config = LaunchConfig::linear(self.job.segments.div_ceil(CLASSIFY_THREADS), CLASSIFY_THREADS);
        let bytes = gpu_std::shared::SharedLayout::new().array::<u32>(CLASSES).array::<u32>(CLASSES).bytes();
        (!self.is_rows()).then_some(config.shared(bytes))
    }

    /// Tiles of long segments, at most.
    fn long_tiles(&self) -> u64 {
        let tile = u64::from(tile(self.composite));
        match self.job.row {
            0 => 2 * (self.job.len / tile),
            row => u64::from(self.job.segments) * row.div_ceil(tile),
        }
    }

    fn blocks(&self, units: u64, multiprocessors: u32) -> LaunchConfig {
        let most = BLOCKS * u64::from(multiprocessors.max(1));
        LaunchConfig::linear(units.clamp(1, most) as u32, 32 * WARPS).shared(shared_bytes(self.composite))
    }

    /// The launch that sorts tiles, on so many multiprocessors.
    pub(crate) fn sort(&self, multiprocessors: u32) -> LaunchConfig {
        let (segments, tile) = (u64::from(self.job.segments), u64::from(tile(self.composite)));
        let units = match self.job.row {
            0 => u64::from(CLASSES) + segments.div_ceil(256) + 2 * (self.job.len / tile) + self.long_tiles(),
            row => match class(row, self.composite) {
                LONG => self.long_tiles(),
                class => segments.div_ceil(256 >> class),
            },
        };
        self.blocks(units, multiprocessors)
    }

    /// The launches that merge, on so many multiprocessors.
    pub(crate) fn merges(&self, multiprocessors: u32) -> impl Iterator<Item = (u32, LaunchConfig)> {
        let config = self.blocks(self.long_tiles(), multiprocessors);
        (0..self.job.passes).map(move |pass| (pass, config))
    }

    /// Elements of the longest segment.
    pub const fn longest(&self) -> u64 {
        self.longest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SortOptions;

    fn plan(len: usize, row: usize, payload: u32) -> SegmentedPlan {
        let cut = Cut { row, count: len / row, longest: row, shortest: row };
        let sorting = SortOptions::ascending().checked::<u32>().unwrap();
        SegmentedPlan::new(len, cut, sorting, 4, payload, None).unwrap()
    }

    #[test]
    fn rows_need_no_lists_and_short_ones_no_passes() {
        let short = plan(1 << 20, 64, 0);
        assert_eq!((short.list_words(), short.merged(), short.job.passes), (0, 0, 0));
        // Slots of four lanes: 64 in a tile.
        assert_eq!(short.sort(132).grid[0], (1 << 14) / 64);
        let long = plan(1 << 20, 1 << 18, 0);
        assert_eq!((long.merged(), long.job.passes), (1 << 20, 6));
        assert_eq!((plan(1 << 20, 1 << 18, PLACES).job.passes, plan(96, 3, PLACES).places()), (6, 96));
    }

    #[test]
    fn blocks_are_as_many_as_the_multiprocessors_take_in_turns() {
        let plan = plan(1 << 24, 1 << 18, 0);
        for (multiprocessors, blocks) in [(132, 1584), (80, 960), (16, 192), (1000, 4096)] {
            let merges = plan.merges(multiprocessors).map(|(_, config)| config.grid[0]);
            let sort = plan.sort(multiprocessors).grid[0];
            assert!(merges.chain([sort]).all(|grid| grid == blocks), "{multiprocessors} multiprocessors");
        }
    }

    #[test]
    fn no_more_shared_memory_than_needs_no_leave() {
        for composite in [4, 8, 16] {
            assert!(shared_bytes(composite) <= 48 << 10);
        }
    }
}
