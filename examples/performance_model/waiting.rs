//! How long the rows of a sparse system wait for each other, where blocks wait for what others stored.
//!
//! Rows are solved in their order, so many together, by blocks of which the device holds so many: a block starts when
//! another has ended. What is known when follows row by row:
//!
//! ```text
//! known(u) = max(start of its block, known(v) + hop, for all v that its rows need) + step(u)
//! hop      = a store and the load that sees it, from another block; nothing inside of a block
//! step     = steps inside of u · Step::inside + batches of entries of rows before · Step::batch
//!            + those behind the first · Step::memory
//! ```

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use gpu_benches::suite::sparse::Structure;

use super::ahead::Ahead;

/// Entries that a lane asks for at a time.
const ASKED: u32 = 4;

/// Rows that are solved together, and of a block; how many of those the block has in hand at a time, where its warps
/// walk from one to the next, which then see each other's results as other blocks do; blocks that the device holds.
#[derive(Clone, Copy, Debug)]
pub struct Places {
    pub unit: u32,
    pub block: u32,
    pub walking: Option<usize>,
    pub resident: usize,
}

/// What is done for some rows, in cycles.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// A step from row to row inside.
    pub inside: u32,
    /// Asking for a batch of entries, and adding them.
    pub batch: u32,
    /// Reading entries that are asked for next.
    pub memory: u32,
    /// Until another block sees what is stored.
    pub hop: u32,
    /// Batches that are asked for one after the other at most: those of a warp whose lanes are at different rows come
    /// in each turn, one lane's or another's.
    pub most: u32,
}

/// A way from the first row: cycles, and what of them are reads of memory and hops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Way {
    pub cycles: u32,
    pub memory: u32,
    pub hops: u32,
}

/// Blocks that wait on average, where so many are there at a time: at the end there are fewer.
pub fn waiting(blocks: f64, places: f64) -> f64 {
    let most = places.min(blocks);
    most * (1.0 - most / (2.0 * blocks))
}

/// The longest way through a structure.
pub fn longest(structure: Structure, places: Places, step: Step) -> Way {
    let mut known = Known::default();
    let (mut ends, mut ahead) = (BinaryHeap::new(), Ahead::new(structure));
    let mut last = Way::default();
    for first in (0..structure.rows).step_by(places.block as usize) {
        // A place is free when the first of the blocks that are there ends.
        let is_full = ends.len() == places.resident;
        let start = if is_full { ends.pop().map_or(last, |Reverse(end)| end) } else { Way::default() };
        let (mut end, behind) = (start, structure.rows.min(first + places.block));
        let before = known.ways.len();
        for unit in (first..behind).step_by(places.unit as usize) {
            let rows = unit..behind.min(unit + places.unit);
            // A warp that walks begins with the next rows when it has done its last.
            let own = places.walking.and_then(|warps| known.ways[before..].len().checked_sub(warps));
            let start = own.map_or(start, |own| start.max(known.ways[before + own]));
            let found = solved(places, step, (first, rows), (start, &known), &mut ahead);
            known.push(found);
            end = end.max(found);
        }
        ends.push(Reverse(end));
        last = last.max(end);
    }
    last
}

/// When rows are known, by units.
#[derive(Default)]
struct Known {
    ways: Vec<Way>,
    /// The cycles of each alone: of a row's columns, which may lie anywhere, the greatest is found without a branch, so
    /// that many are asked for at the same time.
    cycles: Vec<u32>,
}

impl Known {
    fn push(&mut self, way: Way) {
        self.ways.push(way);
        self.cycles.push(way.cycles);
    }
}

/// When some rows are known that are solved together, by a block that starts then and whose first row is that.
fn solved(
    places: Places,
    step: Step,
    (first, rows): (u32, Range<u32>),
    (start, known): (Way, &Known),
    ahead: &mut Ahead,
) -> Way {
    let (mut from, mut batches, mut is_chain) = (start, 1, true);
    let unit = |column: u32| if places.unit == 1 { column } else { column / places.unit } as usize;
    let hops = |column: u32| u32::from(places.walking.is_some() || column < first);
    let cycles = |column: u32| known.cycles[unit(column)] + hops(column) * step.hop;
    // How many rows are behind each other, of each row that is solved in a warp's registers.
    let (mut depths, mut steps) = ([1; 32], 1);
    for row in rows.clone() {
        let columns = ahead.columns(row);
        let (mut depth, mut outer) = (1, 0_u32);
        let mut greatest = 0;
        for &column in columns {
            if column >= rows.start {
                depth = depth.max(depths[(column - rows.start) as usize] + 1);
                is_chain &= column + 1 == row;
                continue;
            }
            outer += 1;
            greatest = greatest.max(cycles(column));
        }
        if outer > 0 && greatest >= from.cycles {
            let all = columns.iter().filter(|&&column| column < rows.start && cycles(column) == greatest);
            for &column in all {
                let other = known.ways[unit(column)];
                from = from.max(Way { cycles: greatest, hops: other.hops + hops(column), ..other });
            }
        }
        depths[(row - rows.start) as usize] = depth;
        steps = steps.max(depth);
        batches = batches.max(outer.div_ceil(ASKED).min(step.most));
    }
    let steps = if is_chain { steps } else { places.unit };
    let cycles = steps * step.inside + batches * step.batch + (batches - 1) * step.memory;
    Way { cycles: from.cycles + cycles, memory: from.memory + batches - 1, ..from }
}

#[cfg(test)]
mod tests {
    use gpu_benches::suite::sparse::Kind;

    use super::*;

    const STEP: Step = Step { inside: 0, batch: 10, memory: 100, hop: 50, most: 2 };

    /// 16 rows in four blocks, each behind the one before: 16 batches and 3 hops. Of bands of five entries there are
    /// two batches from the sixth row on, and what is between them is read.
    #[test]
    fn a_chain_goes_from_row_to_row() {
        let band = |a| Structure { kind: Kind::Band, rows: 16, a, b: 0, drawn: false };
        let places = Places { unit: 1, block: 4, walking: None, resident: 100 };
        let found = longest(band(1), places, STEP);
        assert_eq!(found, Way { cycles: 16 * 10 + 3 * 50, memory: 0, hops: 3 });
        let found = longest(band(5), places, STEP);
        assert_eq!(found, Way { cycles: 27 * 10 + 11 * 100 + 3 * 50, memory: 11, hops: 3 });
        // Four rows in a warp's registers: a step each, and a batch for each four.
        let window = Step { inside: 1, ..STEP };
        let found = longest(band(1), Places { unit: 4, ..places }, window);
        assert_eq!(found, Way { cycles: 16 + 4 * 10 + 3 * 50, memory: 0, hops: 3 });
    }

    /// Four rows that need nothing, in blocks of their own: at once, or one after the other where there is one place.
    #[test]
    fn blocks_wait_for_a_place() {
        let apart = Structure { kind: Kind::Random, rows: 4, a: 1, b: 0, drawn: false };
        let places = |resident| Places { unit: 1, block: 1, walking: None, resident };
        assert_eq!(longest(apart, places(4), STEP).cycles, 10);
        assert_eq!(longest(apart, places(2), STEP).cycles, 20);
        assert_eq!(longest(apart, places(1), STEP).cycles, 40);
    }

    /// A block of 4 rows by two warps, each of which has two: the second ones wait for the first, and there are hops.
    #[test]
    fn warps_walk() {
        let apart = Structure { kind: Kind::Random, rows: 4, a: 1, b: 0, drawn: false };
        let places = Places { unit: 1, block: 4, walking: Some(2), resident: 1 };
        assert_eq!(longest(apart, places, STEP), Way { cycles: 20, memory: 0, hops: 0 });
        let band = Structure { kind: Kind::Band, ..apart };
        assert_eq!(longest(band, places, STEP), Way { cycles: 40 + 3 * 50, memory: 0, hops: 3 });
    }

    /// Of 10 blocks with 4 places: 6 times 4 wait, and then 4 to 0.
    #[test]
    fn fewer_wait_at_the_end() {
        assert_eq!(waiting(10.0, 4.0), 3.2);
        assert_eq!(waiting(10.0, 40.0), 5.0);
    }
}
