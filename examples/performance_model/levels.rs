//! Counts of systems that are solved level after level: a launch for each level of many rows, and one of a single block
//! for levels of few that follow each other.
//!
//! Which rows have which level is found for the whole structure. What a launch does for its rows and their entries is
//! that of the largest level of a smaller structure, as often as this one has more of them; of levels of few rows what
//! the first ones of the smaller structure do. Of a row 7 words are read and written, and 3 of each entry beside the
//! diagonal. A row's thread waits for its place, its ends, its diagonal and the inverse of that, and then for each
//! entry: for the column, which is in a sector with seven others, and for what is there.

use std::error::Error;
use std::thread;

use gpu_benches::suite::sparse::{Kind, Structure};
use gpu_examples::predicted::Counted;
use gpu_model::units::Bytes;
use gpu_model::waves::Counts;
use gpu_sparse::Algorithm;
use gpu_sparse::plan::solve::runs;

use super::ahead::Ahead;
use super::cases::Counting;
use super::gathers::{GRANULE, anywhere, misses};
use super::operations::{Operation, bytes, shrunk};
use super::sparse::{SECTOR, simulate};

/// Rows that are simulated: so many that some levels are launches of their own.
const ROWS: u32 = 27_000;
/// Rows of a block.
const BLOCK: u64 = 256;

/// What rows of a level, or of several, have together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Level {
    rows: f64,
    entries: f64,
    /// The most entries of a row; of several levels, all of theirs.
    longest: f64,
    levels: f64,
}

impl Level {
    fn words(&self) -> f64 {
        7.0 * self.rows + 3.0 * self.entries
    }

    /// What a thread waits for, one behind the other.
    fn steps(&self) -> f64 {
        5.0 * self.levels + 1.125 * self.longest
    }
}

/// The levels of a structure, or of its transposed one, from the first that is solved.
fn levels(structure: Structure, backwards: bool) -> Vec<Level> {
    let rows = structure.rows as usize;
    let mut all: Vec<Level> = Vec::new();
    let mut add = |level: u32, entries: u32| {
        let place = level as usize;
        if all.len() <= place {
            all.resize(place + 1, Level { levels: 1.0, ..Level::default() });
        }
        let all = &mut all[place];
        all.rows += 1.0;
        all.entries += f64::from(entries);
        all.longest = all.longest.max(f64::from(entries));
    };
    if backwards {
        // Of each row its level and entries, side by side: rows are anywhere in memory.
        let mut known = vec![[0_u32; 2]; rows];
        let mut ahead = Ahead::backwards(structure);
        // Whoever waits for a row comes behind it, so that all is known of it.
        for row in (0..structure.rows).rev() {
            let [own, entries] = known[row as usize];
            add(own, entries);
            for &column in ahead.columns(row) {
                let [level, entries] = &mut known[column as usize];
                *level = (*level).max(own + 1);
                *entries += 1;
            }
        }
    } else {
        let mut level = vec![0_u32; rows];
        let mut ahead = Ahead::new(structure);
        for row in 0..structure.rows {
            let columns = ahead.columns(row);
            let own = columns.iter().map(|&column| level[column as usize] + 1).max().unwrap_or(0);
            level[row as usize] = own;
            add(own, columns.len() as u32);
        }
    }
    all
}

/// What each launch has, and its blocks.
fn launched(levels: &[Level]) -> Vec<(Level, u32)> {
    let rows: Vec<u32> = levels.iter().map(|level| level.rows as u32).collect();
    let of_run = |first: usize, count: usize| {
        let mut all = Level::default();
        for level in &levels[first..first + count] {
            all.rows += level.rows;
            all.entries += level.entries;
            all.longest += level.longest;
            all.levels += 1.0;
        }
        all
    };
    runs(&rows)
        .into_iter()
        .map(|(run, blocks)| (of_run(run.first as usize, run.count as usize), blocks))
        .collect()
}

/// A launch of a smaller structure, and what it has.
type Known = (Counts, Level);

/// Of a smaller structure the launches of its largest level, of the next smaller one, and of its first ones.
fn known(small: Structure, operation: Operation, counting: &Counting) -> Result<[Known; 3], String> {
    let backwards = matches!(operation, Operation::Backwards(_));
    let launches = simulate(small, operation, counting.caches, counting)?;
    let of = launched(&levels(small, backwards));
    if launches.len() != of.len() {
        return Err(format!("{small}: {} launches for {} runs of levels", launches.len(), of.len()));
    }
    let all = || launches.iter().zip(&of);
    let mut large: Vec<_> = all().filter(|(_, (_, blocks))| *blocks > 1).collect();
    large.sort_by(|one, other| other.1.0.rows.total_cmp(&one.1.0.rows));
    let few = all().find(|(_, (_, blocks))| *blocks == 1);
    let [largest, next, ..] = large[..] else { return Err(format!("{small} has no levels of many rows")) };
    Ok([largest, next, few.unwrap_or(largest)].map(|(counts, (level, _))| (counts.clone(), *level)))
}

/// What the system of a structure counts, level after level.
///
/// # Errors
/// Those of the simulator; a structure of few rows.
pub fn count(
    structure: Structure,
    operation: Operation,
    counting: &Counting,
) -> Result<Counted, Box<dyn Error>> {
    let backwards = operation == Operation::Backwards(Algorithm::Levels);
    let small = shrunk(structure, ROWS);
    let (known, all) = thread::scope(|scope| {
        let all = scope.spawn(|| levels(structure, backwards));
        (known(small, operation, counting), all.join())
    });
    let ([largest, next, few], all) = (known?, all.map_err(|_| "the levels were not found")?);
    let mut counted = Counted { launches: Vec::new(), smaller: Vec::new(), simulated: small.rows as usize };
    for (level, blocks) in launched(&all) {
        for (launches, large) in [(&mut counted.launches, &largest), (&mut counted.smaller, &next)] {
            let (one, of) = if blocks == 1 { &few } else { large };
            let mut launch = one.clone().times(level.words() / of.words());
            launch.blocks = if blocks == 1 { 1 } else { (level.rows as u64).div_ceil(BLOCK) };
            let longer = level.steps() / of.steps();
            let waits = &mut launch.waits;
            for wait in [&mut waits.memory, &mut waits.l2, &mut waits.turns, &mut waits.computing] {
                *wait *= longer;
            }
            waits.shared *= level.levels / of.levels;
            read(&mut launch, structure, level, counting.l2.0);
            launches.push(launch);
        }
    }
    Ok(counted)
}

/// What a level reads from memory: of a grid its part of everything, as what is between two uses fits into the
/// second-level cache; of a random structure rows are anywhere, and so is what they read.
fn read(launch: &mut Counts, structure: Structure, level: Level, l2: f64) {
    let rows = f64::from(structure.rows);
    launch.memory_written = Bytes(8.0 * level.rows);
    if structure.kind != Kind::Random {
        let once = bytes(structure, Operation::Solve(Algorithm::Levels)) - 8.0 * rows;
        launch.memory_read = Bytes(once * level.rows / rows);
        return;
    }
    let of_row = level.entries / level.rows + 1.0;
    let row = anywhere(8.0, 4.0) + anywhere(4.0 * of_row, 4.0) + anywhere(8.0 * of_row, 8.0) + GRANULE;
    let streamed = level.rows * row;
    let missed = if level.entries > 0.0 { misses(8.0 * rows, streamed / level.entries, l2) } else { 0.0 };
    launch.memory_read = Bytes(level.entries * missed * GRANULE + streamed);
    // A lone sector takes all that a slice of the second-level cache gives in a cycle, which is two.
    launch.l2_read = Bytes(launch.l2_read.0.max(level.entries * SECTOR) + level.entries * (GRANULE - SECTOR));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A plane of two lines of three points: its levels are its diagonals, from either end.
    #[test]
    fn levels_have_rows_and_entries() {
        let plane = Structure { kind: Kind::Plane, rows: 6, a: 3, b: 0, drawn: false };
        for backwards in [false, true] {
            let found = levels(plane, backwards);
            let rows: Vec<f64> = found.iter().map(|level| level.rows).collect();
            let entries: Vec<f64> = found.iter().map(|level| level.entries).collect();
            assert_eq!((rows, entries), (vec![1.0, 2.0, 2.0, 1.0], vec![0.0, 2.0, 3.0, 2.0]));
        }
        let [(all, blocks)] = launched(&levels(plane, false))[..] else { panic!("they are few") };
        assert_eq!((all.rows, all.entries, all.longest, all.levels, blocks), (6.0, 7.0, 5.0, 4.0, 1));
    }
}
