//! How a transposition is cut, and whether by buckets.

use std::ops::Range;

use gpu_sparse_kernels::buckets::{MOST_BUCKETS, ROUND, SHIFTS, most_slots};

pub use gpu_sparse_kernels::buckets::Split;

/// Which way the entries of a transposition go on a device. All of them give the same bits; the CPU has one way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Transposition {
    /// What is fastest: [`Sampled`](Self::Sampled) from [`LEAST`] entries on, [`Sorted`](Self::Sorted) of fewer.
    #[default]
    Auto,
    /// By buckets where a sample of them says so ([`is_near`]) and none is far larger than the others ([`is_even`]),
    /// else sorted.
    Sampled,
    /// Sorted by columns; then rows and values are gathered.
    Sorted,
    /// Moved to buckets of columns, and from there to the columns. Where these are more than 2^25, entries are sorted.
    Buckets,
}

/// Blocks of a multiprocessor among which the entries of matrices are dealt out that are too small for whole tiles and
/// buckets.
const BLOCKS: u32 = 4;
/// The most entries of a tile.
const MOST_OF_TILE: u32 = 1 << 15;
/// Entries of a bucket in the mean at most: some more than half of those that are put in order in shared memory, as
/// buckets differ.
const MEAN: u32 = 1 << 13;
/// Entries of a bucket that no matrix is too small for.
const FEW: u32 = 3 << 14;

/// The cut of a transposition of so many rows, columns and entries, at least one entry, with values of so many words of
/// 32 bits, on so many multiprocessors; none where the columns are too many. No bit of the matrix depends on it.
pub fn split(rows: u32, columns: u32, entries: u32, words: u32, multiprocessors: u32) -> Option<Split> {
    let of_block = entries / BLOCKS.saturating_mul(multiprocessors.max(1));
    let rounds = (of_block / ROUND).clamp(1, MOST_OF_TILE / ROUND);
    let mean = of_block.clamp(2 * ROUND, MEAN);
    let tile = rounds * ROUND;
    let of_shift = |shift| Split { rows, columns, entries, tile, shift, words, slots: most_slots(shift) };
    let (least, most) = SHIFTS;
    // As many columns as have that many entries, or more where buckets would be too many.
    let fits = |shift: &u32| (u64::from(entries) << shift) / u64::from(columns) <= mean.into();
    let shift = (least..=most).rev().find(fits).unwrap_or(least);
    (shift..=most).map(of_shift).find(|split| split.buckets() <= MOST_BUCKETS)
}

/// Whether a bucket of so many entries is one that the others are not kept waiting for: a block brings a bucket's to
/// their places at a sixtieth of the device's speed.
pub const fn is_even(largest: u32, entries: u32) -> bool {
    let part = entries / 64;
    // Mutants: of two equal numbers either is the larger.
    largest <= if part > FEW { part } else { FEW }
}

/// Entries of a tile that go to the same bucket, in the mean at least.
const TOGETHER: u32 = 64;

/// Entries of which a sample is worth waiting for: on an H200, 24 of 26 structures of up to 1.8 M entries took 2 to
/// 78 µs longer with one than sorted at once, and all but one of those of 2.4 M and more that went to buckets took at
/// least 38 µs less.
pub const LEAST: u32 = 1 << 21;

/// Buckets that are looked at before entries go to them.
const SAMPLED: u32 = 4;

/// The buckets of which [`is_near`] is asked: some in the middle.
pub fn sampled(split: Split) -> Range<u32> {
    let first = split.buckets() / 2;
    first..split.buckets().min(first + SAMPLED)
}

/// Whether what a tile has for a bucket, if it has some, is so much that it is written together, from where each of
/// several tiles' entries start. Where a tile's entries go to all buckets, a sort moves them no slower: 5 M rows of 8
/// at random took 3.8 ms on an H200 by buckets and 3.6 by a sort, 2.4 M entries of 89 thousand rows 0.33 and 0.20.
pub fn is_near(starts: &[u32]) -> bool {
    let entries = starts.last().zip(starts.first()).map_or(0, |(last, first)| last - first);
    let parts = starts.windows(2).filter(|ends| ends[0] != ends[1]).count() as u32;
    // Mutants: without entries there is nothing to be moved.
    entries >= TOGETHER * parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_entries_are_many_of_few_tiles() {
        assert!(is_near(&[]) && is_near(&[5]) && is_near(&[5, 5, 5]));
        assert!(is_near(&[0, TOGETHER]) && !is_near(&[0, TOGETHER - 1]));
        assert!(is_near(&[7, 7, 7 + 2 * TOGETHER, 8 + 2 * TOGETHER]) && !is_near(&[0, 64, 100, 128]));
    }

    #[test]
    fn buckets_have_some_thousand_entries() {
        // Those of the figures: a Laplacian's triangle, 5 M rows of 8, a band of 17.
        for (columns, entries, shift, buckets) in [
            (10_077_696, 40_170_816, 11, 4921),
            (5_000_000, 39_999_972, 10, 4883),
            (200_000, 3_399_864, 8, 782),
            // One bucket; more columns than entries; as many columns as there can be, and more.
            (7, 300, 8, 1),
            (1 << 20, 1000, 12, 256),
            (1 << 25, 1000, 12, 8192),
        ] {
            let split = split(columns, columns, entries, 2, 132).unwrap();
            assert_eq!((split.shift, split.buckets()), (shift, buckets), "{columns} columns");
        }
        assert_eq!(split(1, (1 << 25) + 1, 1000, 2, 132), None);
    }

    #[test]
    fn tiles_are_whole_rounds_and_as_many_as_blocks() {
        for (entries, tile, tiles) in [
            (1, ROUND, 1),
            (ROUND + 1, ROUND, 2),
            (3_399_864, 6 * ROUND, 554),
            (40_170_816, MOST_OF_TILE, 1226),
        ] {
            let split = split(1000, 1000, entries, 1, 132).unwrap();
            assert_eq!((split.tile, split.tiles()), (tile, tiles), "{entries} entries");
        }
        // The largest that there is: words of counts, and bytes of shared memory.
        let split = split(1, 1 << 25, u32::MAX - 4096, 2, 132).unwrap();
        assert!(u64::from(split.buckets()) * u64::from(split.tiles()) < u32::MAX.into());
        assert!(split.from_bytes() <= 64 << 10 && split.to_bytes() <= 48 << 10);
    }

    #[test]
    fn tiles_are_cut_for_the_multiprocessors() {
        for (multiprocessors, tile, tiles) in
            [(132, 6 * ROUND, 554), (80, 10 * ROUND, 333), (16, MOST_OF_TILE, 104), (0, MOST_OF_TILE, 104)]
        {
            let split = split(200_000, 200_000, 3_399_864, 2, multiprocessors).unwrap();
            assert_eq!((split.tile, split.tiles()), (tile, tiles), "{multiprocessors} multiprocessors");
        }
        let most = split(1, 1, 3_399_864, 2, u32::MAX).unwrap();
        assert_eq!((most.tile, most.buckets()), (ROUND, 1));
    }

    #[test]
    fn the_largest_bucket_may_have_a_part_of_all_entries() {
        assert!(is_even(FEW, 1000) && !is_even(FEW + 1, 64 * FEW));
        assert!(is_even(1_000_000, 64_000_000) && !is_even(1_000_001, 64_000_000));
    }
}
