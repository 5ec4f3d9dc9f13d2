//! The structure of a skyline matrix, as its factorisation takes it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use gpu_factor_kernels::tiled::{FIRST, HEAD, NO_CUT, NO_ROW, PLACE, TASK, TILE};

use super::extent;
use crate::error::Error;

/// Rows and columns of a tile.
const SIDE: usize = TILE as usize;

/// Tiles whose products a tile's second part adds: on an H200 they take as long as it takes from one column to the
/// next some four times.
const SECOND: u32 = 8;
/// A place of sums is used again when so many tasks were handed out since it was read: more than there are blocks.
const BETWEEN: usize = 512;

/// What the kernels need to know of a structure.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tables {
    /// The tables, as [`Shape`](gpu_factor_kernels::tiled::Shape) says.
    pub words: Vec<u32>,
    /// Tasks: so many words tell of their progress.
    pub tasks: usize,
    /// Places of sums that two tasks share.
    pub places: usize,
}

impl Tables {
    /// Elements of all places.
    pub const fn sums(&self) -> usize {
        self.places * PLACE as usize
    }
}

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
        // A tile has up to two tasks, and the tables' words are counted by 32 bits.
        let of_rows = (3 + SIDE) * tile_rows;
        let limit = (u32::MAX as usize).saturating_sub(of_rows) / (2 * TASK as usize);
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

    /// The kernels' tables.
    pub fn tables(&self) -> Tables {
        self.tables_with(SECOND)
    }

    /// Those of tiles in two parts, of which the second one adds the products of so many tiles.
    pub(crate) fn tables_with(&self, second: u32) -> Tables {
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
        let firsts: Vec<u32> = self.first_tiles().collect();
        let word_of = |row: u32, column: u32| words[(rows + row) as usize].wrapping_add(column);
        let mut tasks = Tasks::new(self.tiles);
        // Column by column; but the tile on the diagonal comes as soon as the last one left of it was handed out: all
        // others of its column wait for its factor. A row's tiles begin somewhere and go on to the diagonal, so the
        // rows that are open are all that is looked at.
        let mut begins = vec![Vec::new(); rows as usize];
        for (row, &first) in (0..).zip(&firsts) {
            begins[first as usize].push(row);
        }
        let (mut open, mut ahead) = (BTreeSet::new(), BTreeSet::new());
        if rows > 0 {
            tasks.whole_or_second((0, 0), word_of(0, 0));
        }
        for next in 0..rows.min(second + 1) {
            ahead.extend(begins[next as usize].iter().copied().filter(|&row| row >= next));
        }
        for column in 0..rows {
            open.extend(&begins[column as usize]);
            open.remove(&column);
            let next = column + 1;
            if open.contains(&next) {
                tasks.whole_or_second((next, column), word_of(next, column));
            }
            if next < rows {
                tasks.whole_or_second((next, next), word_of(next, next));
            }
            for &row in open.iter().filter(|&&row| row != next) {
                tasks.whole_or_second((row, column), word_of(row, column));
            }
            // The first parts of what takes longer than the other tiles of its column: their products are of columns
            // that were handed out.
            let late = next + second;
            if late >= rows {
                continue;
            }
            ahead.extend(&begins[late as usize]);
            ahead.retain(|&row| row >= late);
            let begin = |row: u32| firsts[row as usize].max(firsts[late as usize]);
            let products: u64 = ahead.iter().map(|&row| u64::from(late - begin(row))).sum();
            for &row in &ahead {
                let all = late - begin(row);
                if all > 2 * second && u64::from(all) * ahead.len() as u64 > products {
                    tasks.first((row, late), next);
                }
            }
        }
        let Tasks { words: of_tasks, count, places, .. } = tasks;
        words.extend(of_tasks);
        Tables { words, tasks: count, places }
    }
}

/// Tasks in the order in which they are handed out.
struct Tasks {
    /// Their words.
    words: Vec<u32>,
    count: usize,
    /// Words of progress.
    progress: u32,
    /// Places of sums.
    places: usize,
    /// First parts whose second parts are to come: row and column, the cut, the place and the word.
    begun: BTreeMap<(u32, u32), [u32; 3]>,
    /// Places that were read, by whom, and when that was handed out.
    read: VecDeque<(u32, u32, usize)>,
}

impl Tasks {
    /// None yet, of so many tiles.
    fn new(tiles: usize) -> Self {
        let progress = HEAD + tiles as u32;
        let (begun, read) = Default::default();
        Self { words: Vec::new(), count: 0, progress, places: 0, begun, read }
    }

    fn push(&mut self, (row, column): (u32, u32), rest: [u32; 4]) {
        self.words.extend([row, column]);
        self.words.extend(rest);
        self.count += 1;
    }

    /// All of a tile, of which `word` tells, or what its first part has left.
    fn whole_or_second(&mut self, tile: (u32, u32), word: u32) {
        match self.begun.remove(&tile) {
            None => self.push(tile, [NO_CUT, 0, 0, 0]),
            Some([cut, place, done]) => {
                self.push(tile, [cut, place, done, NO_CUT]);
                self.read.push_back((place, word, self.count));
            }
        }
    }

    /// The first part of a tile, up to the products of tile `cut`.
    fn first(&mut self, tile: (u32, u32), cut: u32) {
        let old = self.read.front().is_some_and(|&(.., then)| self.count - then >= BETWEEN);
        let (place, before) = match if old { self.read.pop_front() } else { None } {
            Some((place, word, _)) => (place, word),
            None => {
                self.places += 1;
                (self.places as u32 - 1, NO_CUT)
            }
        };
        let done = self.progress;
        self.progress += 1;
        self.push(tile, [cut | FIRST, place, done, before]);
        self.begun.insert(tile, [cut, place, done]);
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
        let Tables { words, tasks, places } = structure.tables();
        assert_eq!(words[..4], [0, 0, 192, 0]);
        assert_eq!(words[4..8], [1, 2, 4 - 1, 6]);
        let order = [[0, 0], [1, 0], [1, 1], [3, 0], [2, 1], [2, 2], [3, 1], [3, 2], [3, 3]];
        assert_eq!(words[8..12], [0, 192, 192, 0]);
        assert_eq!((tasks, places), (order.len(), 0));
        for (task, tile) in words[12 + 512..].chunks(6).zip(order) {
            assert_eq!(task[..3], [tile[0], tile[1], NO_CUT]);
        }
    }

    /// A band, and all kinds of rows: what a task waits for was handed out before, a second part has a first one, and a
    /// place is used again only when it was read.
    #[test]
    fn tasks_wait_for_earlier_ones_only() {
        let band: Vec<usize> = (0..40usize).map(|row| row.saturating_sub(12)).collect();
        let mixed: Vec<usize> = (0..40usize).map(|row| row * (row % 7) / 9).collect();
        for first in [band, mixed] {
            let structure = Structure::new(40 * SIDE, SIDE, &first).unwrap();
            for second in [1, 2, 8] {
                let Tables { words, tasks, places } = structure.tables_with(second);
                let tasks_words = &words[(3 + SIDE) * 40..];
                assert_eq!(tasks_words.len(), 6 * tasks);
                let (mut known, mut parts, mut by_place) =
                    (BTreeSet::new(), BTreeSet::new(), vec![None; places]);
                for task in tasks_words.chunks(6) {
                    let &[row, column, cut, place, done, before] = task else { unreachable!() };
                    let begin = structure.firsts[row as usize].max(structure.firsts[column as usize]) / TILE;
                    let is_first = cut != NO_CUT && cut & FIRST != 0;
                    let end = if is_first { cut & !FIRST } else { column };
                    let is_known = |tile: (u32, u32)| known.contains(&tile);
                    assert!((begin..end).all(|k| is_known((row, k)) && is_known((column, k))), "{task:?}");
                    if is_first {
                        assert!(begin < end && end + second == column, "{task:?}");
                        assert!(parts.insert(done), "{task:?}");
                        assert_eq!(by_place[place as usize].replace(None), before_of(before), "{task:?}");
                    } else {
                        assert!(row == column || is_known((column, column)), "{task:?}");
                        assert!(known.insert((row, column)), "{task:?}");
                        if cut != NO_CUT {
                            assert!(parts.contains(&done), "{task:?}");
                            let word = words[(40 + row) as usize].wrapping_add(column);
                            by_place[place as usize] = Some(Some(word));
                        }
                    }
                }
                assert_eq!(known.len(), structure.tiles);
                assert_eq!(tasks - known.len(), parts.len());
            }
        }
        fn before_of(word: u32) -> Option<Option<u32>> {
            (word != NO_CUT).then_some(Some(word))
        }
        let wide = Structure::new(40 * SIDE, SIDE, &[0; 40]).unwrap().tables();
        assert_eq!((wide.tasks, wide.places), (40 * 41 / 2, 0), "all tiles of a column take as long");
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
