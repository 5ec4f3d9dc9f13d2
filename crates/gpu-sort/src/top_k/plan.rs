//! How the first keys are selected, from lengths and widths alone: pure, tested without a GPU.

use gpu_sort_kernels::segmented::{Job, PLACES, tile};
use gpu_sort_kernels::top_k::{
    DIGITS_THREADS, FILTER_THREADS, LAST_ROOM, LAST_THREADS, Loaded, MINIMA, Narrow, Selection, Tile,
    digits_bytes, digits_room, shared_bytes,
};
use gpu_std::launch::LaunchConfig;

use super::TopK;
use crate::key::{SortKey, Sorting};
use crate::plan::SortPlan;
use crate::scratch::sort_pairs_scratch;
use crate::segmented::cut::Cut;
use crate::segmented::plan::{SegmentedPlan, composite_bytes};
use gpu_core::{Error, ScratchSize, checks};

/// Rows of up to so many keys are sorted: a warp sorts several of them in registers in less than a block of its own
/// needs for each. (H200, 8 of each 128 `f32`: 1.27 ms by selecting, 3.54 by sorting 2^28; 4 of each 64: 3.9, 3.1.)
const SHORT: usize = 64;
/// So are rows of up to so many where more than a part of them is wanted, or more than there is a bound for. (388 of
/// each 408 `u8`: 0.21 ms by selecting, 0.06 by sorting; 34 of each 84: 0.014, 0.009.)
const SORTED: usize = 1024;
const PART_SORTED: usize = 4;
/// More than so many are selected by digits: there would be no bound to begin with.
const MANY: usize = Tile::FourWarps.threads();
/// Arrays from this length on are filtered, and where they have so many keys for each that is selected: in a smaller
/// sample many of those few blocks would draw more of them than they pass on.
const FILTERED: usize = 1 << 20;
const SPARSE: usize = 1 << 10;
/// Elements of a part of a row, at least, and for each that is selected.
const PART: usize = 1 << 14;
const PART_OF_ONE: usize = 8;
/// Blocks that select at the same time on a multiprocessor, or by digits.
const BLOCKS: usize = 8;
const DIGITS_BLOCKS: usize = 2;
/// Blocks that filter, for each.
const FILTER_BLOCKS: u64 = 6;
/// Multiprocessors that rows are cut for, at most: the scratch memory of so many is enough on every device.
pub(crate) const MOST_MULTIPROCESSORS: u32 = 256;
/// Candidates of a row that a block selects from at the end, at most.
const LAST: usize = 1 << 16;
/// Blocks that sample, and keys that each of their threads draws, at most. How large a sample is, and so for how many
/// candidates there is room, is the same on every device.
const SAMPLE_BLOCKS: u64 = 128;
const DRAWS: u64 = gpu_sort_kernels::top_k::DRAWS as u64;
/// Of a sample, so many keys at most are to be among the first `k`.
const MEAN: u64 = 16;

/// How a selection goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Method {
    /// All keys are wanted, in any order: they stay where they are.
    All,
    /// Segments are sorted, of which the first `k` are written.
    Sort(SegmentedPlan),
    /// The array is sorted in scratch memory.
    Radix,
    /// A block selects from each segment, or from each of several parts and then from those.
    Rows,
    /// A sample gives a bound, candidates are filtered, and a block selects from those.
    Filter(Sample),
}

/// A sample, and what it leads to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sample {
    pub(crate) blocks: u32,
    pub(crate) draws: u32,
    pub(crate) stretch: u32,
    /// Which of the minima is the bound.
    pub(crate) rank: u32,
}

/// A selection of the first `k`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TopKPlan {
    pub(crate) method: Method,
    pub(crate) selection: Selection,
    /// Bytes of a candidate.
    pub(crate) composite: u32,
    /// Room for candidates.
    pub(crate) candidates: usize,
    /// What a block that selects from a row reads at once.
    pub(crate) tile: Tile,
}

/// What a block reads at once of rows of up to `longest` keys: the smallest tile that holds a row and has a bound from
/// the start.
fn tile_of_rows(longest: usize, key_bytes: usize, k: usize) -> Tile {
    let most = match key_bytes {
        4 => u32::ITEMS,
        8 => u64::ITEMS,
        _ => Narrow::ITEMS,
    };
    let holds = |tile: &Tile| longest <= tile.items(most) * tile.threads() && k <= tile.threads();
    Tile::ALL.into_iter().find(holds).unwrap_or(Tile::FourWarps)
}

impl TopKPlan {
    /// The selection on so many multiprocessors, at least one of each segment. The more they are, the more scratch
    /// memory it has, up to [`MOST_MULTIPROCESSORS`].
    pub(crate) fn new<K: SortKey>(
        len: usize,
        cut: Cut,
        k: usize,
        options: TopK,
        payload: u32,
        multiprocessors: u32,
    ) -> Result<Self, Error> {
        let (sorting, key_bytes) = (options.sorting::<K>(), size_of::<K>());
        let most = u32::MAX as usize;
        checks::at_most(most, cut.longest)?;
        if payload == PLACES {
            checks::at_most(most, len)?;
        }
        let composite = composite_bytes(key_bytes, true);
        let job = Job {
            order: sorting.order,
            len: len as u64,
            row: cut.row as u64,
            segments: cut.count as u32,
            key_bytes: key_bytes as u32,
            index_bits: 0,
            payload,
            limit: k as u32,
            passes: 0,
        };
        let mut selection = Selection {
            job,
            last: sorting.order.last(sorting.width),
            part: u64::from(u32::MAX),
            parts: 1,
            guard: 0,
        };
        let of_tile = tile(composite) as usize;
        let mut candidates = 0;
        let is_short =
            cut.longest <= SHORT || cut.longest <= SORTED && (k > MANY || PART_SORTED * k > cut.longest);
        let is_sorted = is_short || k > digits_room(composite) as usize;
        let is_long = is_sorted && cut.count == 1 && cut.longest > of_tile;
        // Indices are written by a pass of the radix sort, which counts them in the array: not in each of several
        // segments.
        let stays = options.is_in_any_order()
            && k == cut.shortest
            && k == cut.longest
            && (payload == PLACES || is_long);
        let method = if stays {
            Method::All
        } else if is_long {
            Method::Radix
        } else if is_sorted {
            Method::Sort(SegmentedPlan::new(len, cut, sorting, key_bytes, payload, Some(k as u32))?)
        } else if cut.count == 1 && cut.longest >= FILTERED.max(SPARSE * k) {
            let sample = Sample::new(cut.longest as u64, k as u64);
            candidates = sample.room(cut.longest as u64);
            selection.guard = candidates as u32;
            Method::Filter(sample)
        } else {
            let each = if k > MANY { DIGITS_BLOCKS } else { BLOCKS };
            let blocks = each * multiprocessors.clamp(1, MOST_MULTIPROCESSORS) as usize;
            let parts =
                (cut.longest / PART.max(PART_OF_ONE * k)).min(blocks.div_ceil(cut.count)).min(LAST / k);
            if parts > 1 {
                selection.parts = parts as u32;
                selection.part = cut.longest.div_ceil(parts) as u64;
                candidates = cut.count * parts * k;
            }
            Method::Rows
        };
        let tile = tile_of_rows(cut.longest, key_bytes, k);
        Ok(Self { method, selection, composite, candidates, tile })
    }

    /// Words of 128 bits of scratch memory: the header, the bound, the minima, and the candidates.
    pub(crate) const fn words(&self) -> usize {
        match self.method {
            Method::All | Method::Sort(_) | Method::Radix => 0,
            _ => Self::CANDIDATES + (self.candidates * self.composite as usize).div_ceil(16),
        }
    }

    /// The scratch memory for keys of type `K`: candidates and a bound, or what a sort needs.
    pub(crate) fn scratch<K: SortKey>(&self) -> Result<ScratchSize, Error> {
        let size = ScratchSize::new();
        Ok(match &self.method {
            Method::All if self.selection.job.payload == PLACES => size,
            Method::All => {
                let len = self.selection.job.len as usize;
                SortPlan::new(len, size_of::<K>(), size_of::<u32>())?
                    .scratch(Sorting::PASSES_OF_NO_BITS, false)
            }
            Method::Sort(plan) => plan.scratch(),
            Method::Radix => {
                let len = self.selection.job.len as usize;
                size.array::<K>(len).array::<u32>(len).with(sort_pairs_scratch::<K, u32>(len)?)
            }
            Method::Rows | Method::Filter(_) => size.array::<u128>(self.words()).array::<u32>(self.places()),
        })
    }

    /// Whether all keys stay where they are.
    pub(crate) const fn is_of_all(&self) -> bool {
        matches!(self.method, Method::All)
    }

    /// Places of values.
    pub(crate) const fn places(&self) -> usize {
        match self.method {
            Method::All | Method::Sort(_) | Method::Radix => 0,
            _ if self.selection.job.payload == PLACES => {
                self.selection.job.segments as usize * self.selection.job.limit as usize
            }
            _ => 0,
        }
    }

    /// The word of the bound.
    pub(crate) const BOUND: usize = 1;
    /// The first of the minima.
    pub(crate) const MINIMA: usize = 2;
    /// The first of the candidates.
    pub(crate) const CANDIDATES: usize = 2 + (MINIMA as usize) * SAMPLE_BLOCKS as usize;

    /// Whether blocks count digits.
    pub(crate) const fn by_digits(&self) -> bool {
        self.selection.job.limit as usize > MANY
    }

    /// The launch that selects from rows.
    pub(crate) fn rows(&self) -> LaunchConfig {
        self.blocks(self.selection.job.segments * self.selection.parts, self.tile.threads(), self.tile.room())
    }

    /// The launch that selects from candidates.
    pub(crate) fn last(&self) -> LaunchConfig {
        self.blocks(self.selection.job.segments, LAST_THREADS, LAST_ROOM)
    }

    fn blocks(&self, blocks: u32, threads: usize, room: u32) -> LaunchConfig {
        if self.by_digits() {
            let bytes = digits_bytes(digits_room(self.composite), self.composite);
            return LaunchConfig::linear(blocks, DIGITS_THREADS as u32).shared(bytes);
        }
        let threads = threads as u32;
        LaunchConfig::linear(blocks, threads).shared(shared_bytes(threads, room, self.composite))
    }

    /// The launch that filters, on so many multiprocessors.
    pub(crate) fn filter(&self, multiprocessors: u32) -> LaunchConfig {
        let bytes = self.selection.job.len * u64::from(self.selection.job.key_bytes);
        let tiles = bytes.div_ceil(u64::from(FILTER_THREADS) * 64);
        let most = FILTER_BLOCKS * u64::from(multiprocessors.max(1));
        LaunchConfig::linear(tiles.min(most) as u32, FILTER_THREADS)
    }
}

impl Sample {
    fn new(len: u64, k: u64) -> Self {
        let threads = u64::from(FILTER_THREADS);
        let most = (SAMPLE_BLOCKS * threads * DRAWS).min(MEAN * len / k).min(len / 8);
        let blocks = (most / threads).clamp(1, SAMPLE_BLOCKS);
        let draws = (most / (blocks * threads)).max(1);
        let drawn = blocks * threads * draws;
        // How many of the first `k` are drawn is distributed as Poisson's law has it; that there are more than this
        // happens once in 10^9 times.
        let mean = (k * drawn) as f64 / len as f64;
        let rank = (mean + 6.0 * mean.sqrt()).ceil() as u32 + 4;
        let rank = rank.min(MINIMA * blocks as u32 - 1);
        Self { blocks: blocks as u32, draws: draws as u32, stretch: (len / drawn) as u32, rank }
    }

    /// Room for candidates: eight times what is expected.
    fn room(&self, len: u64) -> usize {
        8 * (u64::from(self.rank) + 1) as usize * (self.stretch as usize + 1).min(len as usize)
    }

    pub(crate) fn config(&self, composite: u32) -> LaunchConfig {
        let bytes = 16 + 8 * composite + 256 * composite + 16;
        LaunchConfig::linear(self.blocks, FILTER_THREADS).shared(bytes)
    }
}

#[cfg(test)]
mod tests {
    use gpu_sort_kernels::segmented::INDICES;

    use super::*;

    fn plan(rows: usize, row: usize, k: usize) -> TopKPlan {
        planned(rows, row, k, INDICES, false)
    }

    fn planned(rows: usize, row: usize, k: usize, payload: u32, is_in_any_order: bool) -> TopKPlan {
        let options = if is_in_any_order { TopK::largest().in_any_order() } else { TopK::largest() };
        on(132, rows, row, k, payload, options)
    }

    fn on(multiprocessors: u32, rows: usize, row: usize, k: usize, payload: u32, options: TopK) -> TopKPlan {
        let cut = Cut { row, count: rows, longest: row, shortest: row };
        TopKPlan::new::<f32>(rows * row, cut, k, options, payload, multiprocessors).unwrap()
    }

    #[test]
    fn the_shapes_of_the_figures() {
        let array = plan(1, 1 << 28, 100);
        let Method::Filter(sample) = array.method else { panic!("{array:?}") };
        // Every thousandth key, some 7000 candidates.
        assert_eq!((sample.blocks, sample.draws, sample.stretch, sample.rank), (128, 8, 1024, 6));
        assert!(array.candidates < 1 << 16);
        let rows = plan(65_536, 4096, 32);
        assert_eq!((rows.method, rows.selection.parts, rows.tile), (Method::Rows, 1, Tile::FourWarps));
    }

    #[test]
    fn a_tile_holds_a_row_and_has_a_bound_from_the_start() {
        for (longest, key_bytes, k, tile) in [
            (256, 4, 32, Tile::Quarter),
            (257, 4, 1, Tile::Half),
            (512, 4, 33, Tile::TwoWarps),
            (1024, 4, 32, Tile::Warp),
            (1025, 4, 32, Tile::TwoWarps),
            (2048, 4, 65, Tile::FourWarps),
            (2049, 4, 1, Tile::FourWarps),
            (1 << 20, 4, 1, Tile::FourWarps),
            (128, 8, 1, Tile::Quarter),
            (512, 2, 1, Tile::Warp),
            (513, 1, 1, Tile::TwoWarps),
        ] {
            assert_eq!(tile_of_rows(longest, key_bytes, k), tile, "{longest} {key_bytes} {k}");
        }
    }

    #[test]
    fn short_rows_are_sorted_where_much_of_them_is_wanted() {
        for (row, k, is_sorted) in [
            (64, 3, true),
            (65, 3, false),
            (128, 32, false),
            (128, 33, true),
            (1024, 128, false),
            (1024, 129, true),
            (1025, 1000, false),
        ] {
            let method = plan(100, row, k).method;
            assert_eq!(matches!(method, Method::Sort(_)), is_sorted, "{row} {k}: {method:?}");
        }
    }

    #[test]
    fn few_long_rows_are_cut_and_many_keys_sorted() {
        let few = plan(4, 1 << 19, 10);
        assert_eq!((few.method, few.selection.parts, few.selection.part), (Method::Rows, 32, 1 << 14));
        assert!(matches!(plan(1, 1 << 22, 5000).method, Method::Radix));
        assert!(matches!(plan(7, 1 << 14, 5000).method, Method::Sort(_)));
        let digits = plan(7, 4096, 200);
        assert!(digits.by_digits() && digits.method == Method::Rows && digits.selection.parts == 1);
        assert!(matches!(plan(1, 60 << 20, 771).method, Method::Filter(_)));
        // Less than a thousand keys for each.
        let parts = plan(1, 1 << 20, 2000);
        assert_eq!((parts.method, parts.selection.parts), (Method::Rows, 32));
    }

    #[test]
    fn rows_are_cut_for_the_multiprocessors_and_the_scratch_of_the_most_is_enough() {
        let of = |multiprocessors, k| on(multiprocessors, 4, 1 << 24, k, INDICES, TopK::largest());
        let most = [100, 1000].map(|k| of(MOST_MULTIPROCESSORS, k).scratch::<f32>().unwrap());
        for (multiprocessors, parts) in [
            (132, [264, 65]),
            (80, [160, 40]),
            (16, [32, 8]),
            (256, [512, 65]),
            (257, [512, 65]),
            (0, [2, 1]),
        ] {
            for (at, k) in [100, 1000].into_iter().enumerate() {
                let plan = of(multiprocessors, k);
                assert_eq!(plan.selection.parts, parts[at], "{k} on {multiprocessors}");
                let size = plan.scratch::<f32>().unwrap();
                assert_eq!(size.max(most[at]), most[at], "{k} on {multiprocessors}");
            }
        }
        let array = plan(1, 1 << 28, 100);
        assert_eq!([132, 80, 16].map(|most| array.filter(most).grid[0]), [792, 480, 96]);
    }

    #[test]
    fn keys_stay_where_they_are_only_if_all_are_wanted_in_any_order() {
        for (rows, row, k, payload, stays) in [
            (1, 1 << 22, 1 << 22, INDICES, true),
            (1, 1 << 22, (1 << 22) - 1, INDICES, false),
            (7, 5000, 5000, INDICES, false),
            (7, 5000, 5000, PLACES, true),
            (7, 5000, 4999, PLACES, false),
            (1, 3, 3, PLACES, true),
        ] {
            let any = planned(rows, row, k, payload, true);
            assert_eq!(any.method == Method::All, stays, "{rows} {row} {k}");
            let sorted = planned(rows, row, k, payload, false);
            assert_ne!(sorted.method, Method::All);
            // What is enough for the one is for the other.
            let sizes = [any, sorted].map(|plan| plan.scratch::<f32>().unwrap());
            assert_eq!(sizes[0].max(sizes[1]), sizes[1], "{rows} {row} {k}");
        }
    }

    #[test]
    fn samples_lie_in_the_array() {
        for len in [1u64 << 20, (1 << 20) + 77, 1 << 28, (1 << 32) - 1] {
            for k in [1, 100, 512, (len >> 10).min(4096)] {
                let sample = Sample::new(len, k);
                let drawn = u64::from(sample.blocks * sample.draws * FILTER_THREADS);
                assert!(sample.stretch > 0 && drawn * u64::from(sample.stretch) <= len, "{len} {k}");
                assert!(sample.rank < MINIMA * sample.blocks / 2, "{len} {k} {sample:?}");
                assert!(sample.room(len) as u64 > k);
            }
        }
    }
}
