//! How a transposition is cut, and whether by tiles.

use gpu_sparse_kernels::tiles::{GROUP, ROOM, SLOTS};

pub use gpu_sparse_kernels::tiles::Tiles;

/// Which way the entries of a transposition go on a device. All of them give the same bits; the CPU has one way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Transposition {
    /// What is fastest: [`Sampled`](Self::Sampled) from [`LEAST`] entries on, [`Sorted`](Self::Sorted) of fewer.
    #[default]
    Auto,
    /// By tiles where columns are short ([`is_short`]) and a sample says that tiles have entries of few buckets
    /// ([`most_pairs`]), else sorted.
    Sampled,
    /// Sorted by columns; then rows and values are gathered.
    Sorted,
    /// Columns are gathered from the tiles of rows that have entries of them. Where a row has more than 512 entries, a
    /// column more than 256, a tile more than 2^16, eight tiles entries of more than 128 buckets, or some columns are
    /// in more than 512 tiles, entries are sorted.
    Tiles,
}

/// Entries of a tile in the mean at most: a tile is read for each bucket that it has entries of, and more of them are
/// more to look through for each. With a quarter of a bucket's, the rows of a grid's points are read 2.7 times.
const OF_TILE: u64 = 1 << 10;
/// The logarithm of the most rows of a tile.
const MOST_ROWS: u32 = 10;

/// The cut of a transposition of so many rows, columns and entries, at least one of each; none where columns have too
/// many entries in the mean, or so few that lists of tiles would take more than one of the matrix's arrays. No bit of
/// the matrix depends on it.
pub fn tiles(rows: u32, columns: u32, entries: u32) -> Option<Tiles> {
    let (least, most) = SLOTS;
    let of_column = entries.div_ceil(columns);
    let slots = of_column.checked_next_power_of_two()?.trailing_zeros().max(least);
    // As many rows as have so many entries.
    let fits = |tile: &u32| (u64::from(entries) << tile) / u64::from(rows) <= OF_TILE;
    let tile = (0..=MOST_ROWS).rev().find(fits).unwrap_or(0);
    let tiles = Tiles { rows, columns, entries, tile, slots };
    // Numbers of rows and columns have a bit to spare.
    let fits = slots <= most && rows.max(columns) <= 1 << 31;
    (fits && u64::from(tiles.buckets()) * u64::from(tiles.list()) <= entries.into()).then_some(tiles)
}

/// Whether columns have so few entries in the mean that a thread for each of them, which looks at all others of its
/// column, takes less than a sort: on an H200 entries of a band of 17 columns took 0.20 ms both ways, of 60 0.25 by
/// tiles and 0.17 by a sort, the 4 of a Laplacian's rows 0.64 and 1.74.
pub const fn is_short(tiles: Tiles) -> bool {
    tiles.slots <= 4
}

/// Groups of tiles in a sample, about.
const SAMPLED: u32 = 64;

/// Each how many groups of tiles one is in the sample.
pub const fn stride(tiles: Tiles) -> u32 {
    let stride = tiles.tiles().div_ceil(GROUP) / SAMPLED;
    if stride < 2 { 2 } else { stride }
}

/// Buckets that a tile has entries of, in the mean at most: it is read as often.
const READ: u32 = 16;

/// The most pairs of a tile and a bucket that it has entries of in a sample of a matrix whose near rows have near
/// columns.
pub const fn most_pairs(tiles: Tiles) -> u32 {
    READ * GROUP * tiles.tiles().div_ceil(GROUP).div_ceil(stride(tiles))
}

/// Entries of which a sample is worth waiting for: on an H200, 24 of 26 structures of up to 1.8 M entries took 2 to
/// 78 µs longer with one than sorted at once; by tiles those of 0.3 to 1.7 M took as long with it.
pub const LEAST: u32 = 1 << 21;

/// Columns of a bucket.
pub const fn of_bucket(tiles: Tiles) -> u32 {
    1 << (ROOM - tiles.slots)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_have_room_for_their_columns() {
        // Those of the figures: a Laplacian's triangle, 5 M rows of 8, a band of 17.
        for (columns, entries, slots, buckets, tile) in [
            (10_077_696, 40_170_816, 2, 9842, 8),
            (5_000_000, 39_999_972, 3, 9766, 7),
            (200_000, 3_399_864, 5, 1563, 5),
            // One bucket; fewer entries than columns.
            (7, 300, 6, 1, 4),
            (4096, 4000, 2, 4, 10),
        ] {
            let tiles = tiles(columns, columns, entries).unwrap();
            assert_eq!(
                (tiles.slots, tiles.buckets(), tiles.tile),
                (slots, buckets, tile),
                "{columns} columns"
            );
            assert_eq!(of_bucket(tiles).next_power_of_two(), of_bucket(tiles));
            // What a block may have on devices of 7.5.
            assert!(gpu_sparse_kernels::from_tiles::bytes::<f64>(&tiles) <= 64 << 10);
        }
    }

    #[test]
    fn what_is_no_matter_of_tiles_is_sorted() {
        // A column of more than 256, lists larger than the matrix, more rows or columns than numbers have bits for.
        assert_eq!(tiles(1000, 1, 257), None);
        assert!(tiles(1000, 1, 256).is_some());
        assert_eq!(tiles(1 << 25, 1 << 25, 1000), None);
        assert_eq!(tiles((1 << 31) + 1, 7, 1 << 20), None);
        assert_eq!(tiles(7, (1 << 31) + 1, u32::MAX), None);
    }

    #[test]
    fn tiles_are_read_a_few_times() {
        assert!(
            is_short(tiles(1000, 1000, 16_000).unwrap()) && !is_short(tiles(1000, 1000, 16_001).unwrap())
        );
        // The eight tiles of 1000 rows are one group.
        let tiles = tiles(1000, 1000, 8000).unwrap();
        assert_eq!((tiles.tiles(), stride(tiles), most_pairs(tiles)), (8, 2, 128));
    }

    #[test]
    fn a_sample_is_of_some_tiles_only() {
        let of_rows = |rows| stride(Tiles { rows, columns: 1, entries: 1, tile: 0, slots: 2 });
        assert_eq!([1, 1528, 1529, 51_200].map(of_rows), [2, 2, 3, 100]);
    }
}
