//! The structure of a skyline matrix, as its factorisation takes it.

use gpu_factor_kernels::tiled::{HEAD, NO_ROW, TILE};

use super::extent;
use crate::error::Error;

/// Rows and columns of a tile.
const SIDE: usize = TILE as usize;

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
    /// [`Error::SkylineSide`], [`Error::SkylineRows`], [`Error::SkylineRow`], [`Error::ExtentTooLarge`].
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
        let limit = (u32::MAX - HEAD) as usize / 2;
        if tiles > limit {
            return Err(Error::ExtentTooLarge {
                what: "the number of a skyline's tiles",
                actual: tiles,
                limit,
            });
        }
        Ok(Self { size, starts, firsts, tiles })
    }

    /// The first tile of every row of tiles.
    fn first_tiles(&self) -> impl Iterator<Item = u32> {
        self.firsts.iter().map(|first| first / TILE)
    }

    /// The kernels' tables, as [`Shape`](gpu_factor_kernels::tiled::Shape) says.
    pub fn tables(&self) -> Vec<u32> {
        let rows = self.firsts.len() as u32;
        let mut tables = self.firsts.clone();
        let mut place = HEAD;
        for (row, first) in (0..).zip(self.first_tiles()) {
            tables.push(place.wrapping_sub(first));
            place += row + 1 - first;
        }
        let of_all = |rows: &[u32]| rows.iter().filter(|&&start| start != NO_ROW).max().copied();
        tables.extend(self.starts.chunks(SIDE).map(|rows| of_all(rows).unwrap_or(0)));
        tables.extend(&self.starts);
        // Column by column; but the tile on the diagonal comes as soon as the last one left of it was handed out: all
        // others of its column wait for its factor. A row's tiles begin somewhere and go on to the diagonal, so the
        // rows that are open are all that is looked at.
        let mut begins = vec![Vec::new(); rows as usize];
        for (row, first) in (0..).zip(self.first_tiles()) {
            begins[first as usize].push(row);
        }
        let mut open = std::collections::BTreeSet::new();
        if rows > 0 {
            tables.extend([0, 0]);
        }
        for column in 0..rows {
            open.extend(begins[column as usize].drain(..));
            open.remove(&column);
            let next = column + 1;
            if open.contains(&next) {
                tables.extend([next, column]);
            }
            if next < rows {
                tables.extend([next, next]);
            }
            tables.extend(open.iter().filter(|&&row| row != next).flat_map(|&row: &u32| [row, column]));
        }
        tables
    }
}

#[cfg(test)]
mod tests {
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
        let tables = structure.tables();
        assert_eq!(tables[..4], [0, 0, 192, 0]);
        assert_eq!(tables[4..8], [1, 2, 4 - 1, 6]);
        let order = [0, 0, 1, 0, 1, 1, 3, 0, 2, 1, 2, 2, 3, 1, 3, 2, 3, 3];
        assert_eq!(tables[8..12], [0, 192, 192, 0]);
        assert_eq!(tables[12 + 512..], order);
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
