//! Transpositions of sparse matrices: which way the entries of the structure that was measured go, and what is launched
//! for that.
//!
//! What is simulated are small matrices, which would go another way: the rule of gpu-sparse is applied to the whole
//! structure, of which every row's columns are drawn, and the small ones go the way that it says.

use std::error::Error;

use gpu_benches::suite::sparse::{Kind, Structure};
use gpu_examples::predicted::Counted;
use gpu_model::units::Bytes;
use gpu_model::waves::Counts;
use gpu_sparse::Transposition;
use gpu_sparse::plan::transpose::{Split, is_even, is_near, sampled, split};

use super::ahead::Ahead;
use super::cases::Counting;
use super::gathers::{GRANULE, misses};
use super::operations::{Operation, entries};
use super::sparse::{self, DIGIT, SECTOR};
use super::timing::Read;

/// Words of a value.
const WORDS: u32 = 2;
/// The first launches of a transposition by buckets whose name begins so are those behind the sample, and behind what
/// says how large the largest bucket is.
const TO_BUCKETS: &str = "sparse_to_buckets";
const FROM_BUCKETS: &str = "sparse_from_buckets";

/// How a structure is cut by buckets.
///
/// # Errors
/// More columns than buckets are for.
fn cut(structure: Structure) -> Result<Split, String> {
    // A cast saturates.
    let found = split(structure.rows, structure.rows, entries(structure) as u32, WORDS);
    found.ok_or_else(|| format!("{structure} has too many columns"))
}

/// Numbers of entries that are added up, of each tile and bucket.
///
/// # Errors
/// As above.
pub fn numbers(structure: Structure) -> Result<f64, String> {
    let split = cut(structure)?;
    Ok(f64::from(split.buckets()) * f64::from(split.tiles()) + 1.0)
}

/// Which way a structure goes, and the kernel of the other one before which it is left.
fn way(structure: Structure) -> Result<(Transposition, Option<&'static str>), String> {
    let split = cut(structure)?;
    let (sampled, tiles) = (sampled(split), split.tiles());
    let mut counts = vec![0; (sampled.len() as u32 * tiles) as usize];
    let mut sizes = vec![0; split.buckets() as usize];
    let (mut ahead, mut columns, mut entry) = (Ahead::new(structure), Vec::new(), 0);
    for row in 0..structure.rows {
        columns.clear();
        columns.extend_from_slice(ahead.columns(row));
        columns.sort_unstable();
        columns.dedup();
        columns.push(row);
        for column in &columns {
            let bucket = column >> split.shift;
            sizes[bucket as usize] += 1;
            if sampled.contains(&bucket) {
                // There are about as many entries as was said.
                let tile = (entry / split.tile).min(tiles - 1);
                counts[((bucket - sampled.start) * tiles + tile) as usize] += 1;
            }
            entry += 1;
        }
    }
    let mut start = 0;
    let mut starts = vec![start];
    starts.extend(counts.iter().map(|count| {
        start += count;
        start
    }));
    let largest = sizes.into_iter().max().unwrap_or(0);
    Ok(if !is_near(&starts) {
        (Transposition::Sorted, Some(TO_BUCKETS))
    } else if !is_even(largest, entry) {
        (Transposition::Sorted, Some(FROM_BUCKETS))
    } else {
        (Transposition::Buckets, None)
    })
}

/// What a transposition counts that goes the way that its structure says.
///
/// # Errors
/// Those of the simulator.
pub fn count(structure: Structure, counting: &Counting) -> Result<Counted, Box<dyn Error>> {
    let (way, left) = way(structure)?;
    let by = |way| sparse::count(structure, Operation::Transpose(way), counting);
    let mut counted = by(way)?;
    if let Some(kernel) = left {
        let before = by(Transposition::Buckets)?;
        let until = |all: Vec<Counts>| all.into_iter().take_while(|launch| launch.kernel != kernel);
        counted.launches = until(before.launches).chain(counted.launches).collect();
        counted.smaller = until(before.smaller).chain(counted.smaller).collect();
    }
    Ok(counted)
}

/// What the host reads meanwhile: where the entries of some buckets' tiles start, and the size of the largest bucket.
///
/// # Errors
/// More columns than buckets are for.
pub fn reads(structure: Structure, launches: &[Counts]) -> Result<Vec<Read>, String> {
    let mut all = Vec::new();
    let Some(counted) = launches.iter().position(|launch| launch.kernel == "sparse_bucket_counts") else {
        return Ok(all);
    };
    let split = cut(structure)?;
    let starts = sampled(split).len() as u32 * split.tiles() + 1;
    // The sums of the counts are ready.
    let summed = launches[counted..].iter().position(|launch| launch.kernel.starts_with("scan"));
    all.extend(summed.map(|summed| (counted + summed, starts)));
    let moved = launches.iter().position(|launch| launch.kernel == TO_BUCKETS);
    all.extend(moved.map(|moved| (moved, 1)));
    let read = |(launch, words)| Read { behind: launch + 1, bytes: Bytes(4.0 * f64::from(words)) };
    Ok(all.into_iter().map(read).collect())
}

/// The passes of the sort by columns, of which more rows take more than were simulated; and of a structure whose
/// columns are anywhere, what is read in their new order, and what is written on the way to buckets: the records of a
/// bucket come from tiles one by one, and leave the second-level cache before their sector is whole.
pub fn scaled(launches: &mut Vec<Counts>, structure: Structure, simulated: f64, l2: f64) {
    let passes = |rows: f64| (rows.log2().ceil() / DIGIT).ceil() as usize;
    let more = passes(structure.rows.into()) - passes(simulated);
    if let Some(last) = launches.iter().rposition(|launch| launch.kernel.starts_with("sort_pairs")) {
        let pass = launches[last].clone();
        launches.splice(last..last, std::iter::repeat_n(pass, more));
    }
    if !matches!(structure.kind, Kind::Random | Kind::Power) {
        return;
    }
    let all = entries(structure);
    for launch in launches {
        if launch.kernel.starts_with("sparse_gather") {
            // A place, a row and a value are read, and row and value are written.
            let missed = [4.0, 8.0].map(|bytes| misses(bytes * all, 24.0, l2));
            launch.memory_read = Bytes(all * (missed.iter().sum::<f64>() * GRANULE + 4.0));
        } else if launch.kernel == TO_BUCKETS {
            launch.memory_written = Bytes(launch.memory_written.0.max(all * SECTOR));
        }
    }
}
