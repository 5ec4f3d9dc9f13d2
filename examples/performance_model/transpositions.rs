//! Transpositions of sparse matrices: which way the entries of the structure that was measured go, and what is launched
//! for that.
//!
//! What is simulated are small matrices, which would go another way: the rule of gpu-sparse is applied to the whole
//! structure, of which every row's columns are drawn, and the small ones go the way that it says.

use std::error::Error;

use gpu_benches::suite::sparse::{Kind, Structure};
use gpu_core::Device;
use gpu_examples::predicted::Counted;
use gpu_model::units::Bytes;
use gpu_model::waves::Counts;
use gpu_sparse::Transposition;
use gpu_sparse::plan::transpose::{LEAST, Split, is_even, is_near, sampled, split};

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
    let entries = entries(structure) as u32;
    let multiprocessors = Device::simulator().planned_multiprocessors();
    let found = split(structure.rows, structure.rows, entries, WORDS, multiprocessors);
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
    if split.entries < LEAST {
        return Ok((Transposition::Sorted, None));
    }
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
    let Some(counted) = launches.iter().position(|launch| launch.kernel == "sparse_bucket_counts") else {
        return Ok(Vec::new());
    };
    let split = cut(structure)?;
    let starts = sampled(split).len() as u32 * split.tiles() + 1;
    // The sums of the counts are ready.
    let summed = launches[counted..].iter().position(|launch| launch.kernel.starts_with("scan"));
    let moved = launches.iter().position(|launch| launch.kernel == TO_BUCKETS);
    let all = summed.map(|summed| (counted + summed, starts)).into_iter();
    let all = all.chain(moved.map(|moved| (moved, 1)));
    let read = |(launch, words)| Read { behind: launch + 1, bytes: Bytes(4.0 * f64::from(words)) };
    Ok(all.map(read).collect())
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

#[cfg(test)]
mod tests {
    use super::*;

    fn structure(kind: Kind, rows: u32, a: u32) -> Structure {
        Structure { kind, rows, a, b: 0, drawn: false }
    }

    /// A band's entries are near each other, those of a tile of a random structure go to all buckets; of few entries
    /// no sample is read.
    #[test]
    fn the_whole_structure_says_which_way_its_entries_go() {
        let (band, random) = (structure(Kind::Band, 1 << 18, 8), structure(Kind::Random, 1 << 18, 8));
        assert_eq!(way(band), Ok((Transposition::Buckets, None)));
        assert_eq!(way(random), Ok((Transposition::Sorted, Some(TO_BUCKETS))));
        for small in [band, random].map(|one| Structure { rows: 1 << 15, ..one }) {
            assert_eq!(way(small), Ok((Transposition::Sorted, None)));
        }
    }

    /// The host reads the sample behind the sums, and a number behind the first step.
    #[test]
    fn reads_are_behind_what_they_wait_for() {
        let named = |kernel: &&str| Counts::empty(kernel, 1, 32);
        let launches = |all: &[&str]| -> Vec<Counts> { all.iter().map(named).collect() };
        let band = structure(Kind::Band, 1 << 17, 8);
        let split = cut(band).expect("it has few columns");
        let by_buckets =
            launches(&["sparse_bucket_counts", "fill", "scan_sum_u32", "fill", TO_BUCKETS, FROM_BUCKETS]);
        let words = 4 * split.tiles() + 1;
        let expected =
            [(3, words), (5, 1)].map(|(behind, words)| Read { behind, bytes: Bytes(4.0 * f64::from(words)) });
        assert_eq!(reads(band, &by_buckets), Ok(expected.to_vec()));
        assert_eq!(reads(band, &launches(&["sparse_rows", "sort_pairs", "scan_sum_u32"])), Ok(Vec::new()));
    }

    /// 2^17 rows have three digits, 2^12 two; nothing is read in another order where columns are near.
    #[test]
    fn more_rows_take_more_passes() {
        let launches = ["sort_pairs_b32_b32", "sort_pairs_b32_b32", "sparse_gather_f64"];
        let launches = launches.map(|kernel| Counts::empty(kernel, 1, 32)).to_vec();
        let [mut of_band, mut of_random] = [launches.clone(), launches];
        scaled(&mut of_band, structure(Kind::Band, 1 << 17, 8), 4096.0, 30e6);
        scaled(&mut of_random, structure(Kind::Random, 1 << 23, 8), 4096.0, 30e6);
        for all in [&of_band, &of_random] {
            assert_eq!(all.iter().filter(|launch| launch.kernel.starts_with("sort_pairs")).count(), 3);
        }
        assert_eq!(of_band[3].memory_read, Bytes(0.0));
        // Nearly each place of so many is read from memory, and brings a pair of sectors of rows and of values.
        let entries = 8.0 * f64::from(1_u32 << 23);
        assert!((1.8..2.0).contains(&((of_random[3].memory_read.0 / entries - 4.0) / GRANULE)));
    }
}
