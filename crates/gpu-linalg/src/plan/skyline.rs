//! The structure of a skyline matrix, as its factorisation takes it.

use gpu_core::checks;
use gpu_factor_kernels::tiled::{HEAD, NO_ROW, TASK, TILE};

use super::extent;
use crate::error::Error;

/// Rows and columns of a tile.
const SIDE: usize = TILE as usize;

/// Tiles are handed out column by column, but for each third one farther from the diagonal a column later, up to six:
/// what is near the diagonal is waited for soonest, and has the most products of a band's column. (H200, bands with a
/// tenth of 65,536 rows' blocks, `f32` and `f64`: 29.6 and 30.7 ms; the nearest ones' products in two parts, column by
/// column, 34.1 and 33.4.)
const EARLIER: u32 = 3;
const MOST_LATER: u32 = 18;

/// The blocks that are there, and the tiles of the kernels that they fall into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Structure {
    /// Rows, and columns.
    pub size: usize,
    /// The first column of every row, and [`NO_ROW`] where the last tiles reach beyond the matrix.
    pub starts: Vec<u32>,
    /// The first column of every row of tiles.
    pub firsts: Vec<u32>,
    /// Tiles that are there.
    pub tiles: usize,
}

impl Structure {
    /// That of a matrix of `size` rows in blocks of `side`, of which block row `i` begins with block `first[i]`.
    ///
    /// # Errors
    /// [`Error::SkylineSide`], [`Error::SkylineRows`], [`Error::SkylineRow`], [`gpu_core::Error::ExtentTooLarge`].
    pub fn new(size: usize, side: usize, first: &[usize]) -> Result<Self, Error> {
        extent("a skyline matrix's size", size)?;
        if side == 0 {
            return Err(Error::SkylineSide { side });
        }
        let expected = size.div_ceil(side);
        if first.len() != expected {
            return Err(Error::SkylineRows { n: size, side, expected, actual: first.len() });
        }
        if let Some(row) = (0..expected).find(|&row| first[row] > row) {
            return Err(Error::SkylineRow { row, first: first[row] });
        }
        // No overflow: a first block is at most the row's.
        let start = |row: usize| if row < size { (first[row / side] * side) as u32 } else { NO_ROW };
        let tile_rows = size.div_ceil(SIDE);
        let starts: Vec<u32> = (0..tile_rows * SIDE).map(start).collect();
        let firsts: Vec<u32> =
            starts.chunks(SIDE).map(|rows| rows.iter().min().copied().unwrap_or(0)).collect();
        let tiles = firsts.iter().enumerate().map(|(row, &first)| row + 1 - first as usize / SIDE).sum();
        // The tables' words are counted by 32 bits.
        let of_rows = (3 + SIDE) * tile_rows;
        let limit = (u32::MAX as usize).saturating_sub(of_rows) / TASK as usize;
        checks::extent("the number of a skyline's tiles", tiles, limit)?;
        Ok(Self { size, starts, firsts, tiles })
    }

    /// The first tile of every row of tiles.
    fn first_tiles(&self) -> impl Iterator<Item = u32> {
        self.firsts.iter().map(|first| first / TILE)
    }

    /// The kernels' tables, as [`Shape`](gpu_factor_kernels::tiled::Shape) says.
    pub fn tables(&self) -> Vec<u32> {
        let rows = self.firsts.len() as u32;
        let mut words = self.firsts.clone();
        let mut place = HEAD;
        for (row, first) in (0..).zip(self.first_tiles()) {
            words.push(place.wrapping_sub(first));
            place += row + 1 - first;
        }
        let of_all = |rows: &[u32]| rows.iter().filter(|&&start| start != NO_ROW).max().copied();
        words.extend(self.starts.chunks(SIDE).map(|rows| of_all(rows).unwrap_or(0)));
        words.extend(&self.starts);
        // What a tile waits for, those left of it, those of its column's row and the one on the diagonal, comes
        // earlier: a column before counts more than that it is farther away.
        let mut tiles = Vec::with_capacity(self.tiles);
        for (row, first) in (0..rows).zip(self.first_tiles()) {
            let turn = |column: u32| {
                u64::from(EARLIER) * u64::from(column) + u64::from((row - column).min(MOST_LATER))
            };
            tiles.extend((first..=row).map(|column| (turn(column), row - column, row)));
        }
        tiles.sort_unstable();
        words.extend(tiles.into_iter().flat_map(|(_, distance, row)| [row, row - distance]));
        words
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Blocks of 192 rows fall into tiles of 128: rows 192 to 383 begin with column 192, those of the third block row
    /// with column 0.
    #[test]
    fn blocks_of_another_side_fall_into_tiles() {
        let structure = Structure::new(400, 192, &[0, 1, 0]).unwrap();
        assert_eq!(structure.starts[191..193], [0, 192]);
        assert_eq!(structure.starts[383..385], [192, 0]);
        assert_eq!(structure.starts[399..401], [0, NO_ROW]);
        assert_eq!(structure.firsts, [0, 0, 192, 0]);
        assert_eq!(structure.tiles, 1 + 2 + 2 + 4);
        let words = structure.tables();
        assert_eq!(words[..4], [0, 0, 192, 0]);
        assert_eq!(words[4..8], [1, 2, 4 - 1, 6]);
        assert_eq!(words[8..12], [0, 192, 192, 0]);
        let order = [[0, 0], [1, 0], [1, 1], [3, 0], [2, 1], [3, 1], [2, 2], [3, 2], [3, 3]];
        assert_eq!(words[12 + 512..], order.concat());
    }

    /// Bands, wide and narrow, and all kinds of rows: what a tile waits for was handed out before.
    #[test]
    fn tiles_wait_for_earlier_ones_only() {
        let band = |width: usize| (0..60usize).map(|row| row.saturating_sub(width)).collect();
        let mixed: Vec<usize> = (0..60usize).map(|row| row * (row % 7) / 9).collect();
        for first in [band(12), band(40), band(60), mixed] {
            let structure = Structure::new(60 * SIDE, SIDE, &first).unwrap();
            let words = structure.tables();
            let mut known = BTreeSet::new();
            for tile in words[(3 + SIDE) * 60..].chunks(2) {
                let &[row, column] = tile else { unreachable!() };
                let begin = structure.firsts[row as usize].max(structure.firsts[column as usize]) / TILE;
                let is_known = |tile: (u32, u32)| known.contains(&tile);
                assert!((begin..column).all(|k| is_known((row, k)) && is_known((column, k))), "{tile:?}");
                assert!(row == column || is_known((column, column)), "{tile:?}");
                assert!(known.insert((row, column)), "{tile:?}");
            }
            assert_eq!(known.len(), structure.tiles);
        }
    }

    #[test]
    fn what_is_no_skyline_is_refused() {
        assert!(matches!(Structure::new(5, 0, &[]), Err(Error::SkylineSide { side: 0 })));
        let rows = Structure::new(5, 2, &[0, 0]);
        assert!(matches!(rows, Err(Error::SkylineRows { n: 5, side: 2, expected: 3, actual: 2 })));
        let row = Structure::new(5, 2, &[0, 2, 0]);
        assert!(matches!(row, Err(Error::SkylineRow { row: 1, first: 2 })));
        assert_eq!(Structure::new(0, 7, &[]).unwrap().tiles, 0);
    }
}
