//! The columns of a structure's rows, found by another thread while rows before them, or behind, are walked through.

use std::ops::Range;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

use gpu_benches::suite::sparse::Structure;

/// Rows of which the columns are handed over together.
const TOGETHER: u32 = 1 << 13;

/// The columns before the diagonal of rows that follow each other.
#[derive(Default)]
struct Rows {
    first: u32,
    /// Where each row's columns end.
    ends: Vec<usize>,
    columns: Vec<u32>,
}

impl Rows {
    fn of(structure: Structure, rows: Range<u32>, sorted: bool) -> Self {
        let (mut all, mut columns) = (Self { first: rows.start, ..Self::default() }, Vec::new());
        for row in rows {
            structure.columns_before(row, &mut columns);
            if sorted {
                columns.sort_unstable();
                columns.dedup();
            }
            all.columns.extend_from_slice(&columns);
            all.ends.push(all.columns.len());
        }
        all
    }

    fn has(&self, row: u32) -> bool {
        (self.first..self.first + self.ends.len() as u32).contains(&row)
    }
}

/// The columns of all rows, in the rows' order, or from the last to the first.
pub struct Ahead {
    from: Receiver<Rows>,
    rows: Rows,
}

impl Ahead {
    /// Begins to find them.
    pub fn new(structure: Structure) -> Self {
        let firsts = (0..structure.rows).step_by(TOGETHER as usize);
        Self::of(structure, firsts, false)
    }

    /// The same of columns in their order, each once.
    pub fn sorted(structure: Structure) -> Self {
        let firsts = (0..structure.rows).step_by(TOGETHER as usize);
        Self::of(structure, firsts, true)
    }

    /// The same from the last row to the first.
    pub fn backwards(structure: Structure) -> Self {
        let lots = structure.rows.div_ceil(TOGETHER);
        Self::of(structure, (0..lots).rev().map(|lot| lot * TOGETHER), false)
    }

    fn of(structure: Structure, firsts: impl Iterator<Item = u32> + Send + 'static, sorted: bool) -> Self {
        // Two lots wait at most, so that this takes next to no memory.
        let (to, from) = sync_channel(2);
        thread::spawn(move || {
            for first in firsts {
                let behind = structure.rows.min(first + TOGETHER);
                // Nobody asks any more.
                if to.send(Rows::of(structure, first..behind, sorted)).is_err() {
                    return;
                }
            }
        });
        Self { from, rows: Rows::default() }
    }

    /// Those of a row, which is not before one that was asked for; from the last to the first, not behind it.
    pub fn columns(&mut self, row: u32) -> &[u32] {
        while !self.rows.has(row) {
            self.rows = self.from.recv().expect("rows are asked for that there are");
        }
        let place = (row - self.rows.first) as usize;
        let start = if place == 0 { 0 } else { self.rows.ends[place - 1] };
        &self.rows.columns[start..self.rows.ends[place]]
    }
}

#[cfg(test)]
mod tests {
    use gpu_benches::suite::sparse::Kind;

    use super::*;

    #[test]
    fn each_row_has_its_columns_and_some_may_be_left_out() {
        let structure = Structure { kind: Kind::Random, rows: 3 * TOGETHER - 5, a: 4, b: 0, drawn: false };
        let (mut ahead, mut expected) = (Ahead::new(structure), Vec::new());
        for row in (0..structure.rows).step_by(7) {
            structure.columns_before(row, &mut expected);
            assert_eq!(ahead.columns(row), expected, "row {row}");
        }
        let mut ahead = Ahead::backwards(structure);
        for row in (0..structure.rows).rev().step_by(7) {
            structure.columns_before(row, &mut expected);
            assert_eq!(ahead.columns(row), expected, "row {row}");
        }
    }
}
