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
use gpu_sparse::plan::transpose::{LEAST, Tiles, is_short, most_pairs, of_bucket, stride, tiles};
use gpu_sparse_kernels::tiles::{FOUND, GROUP, MOST_BUCKETS, MOST_OF_ROW, MOST_OF_TILE, MOST_TILES, SLOTS};
use gpu_sparse_kernels::{THREADS, from_tiles};

use super::ahead::Ahead;
use super::cases::Counting;
use super::gathers::{GRANULE, misses};
use super::operations::{Operation, entries};
use super::sparse::{self, DIGIT};
use super::timing::Read;

/// The launches of a transposition by tiles: the sample, which is the first of its name, and the last of all, which the
/// host waits for.
pub const LIST: &str = "sparse_list_tiles";
const FROM_TILES: &str = "sparse_from_tiles_f64";

/// Which way a structure goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// Sorted at once; behind a sample, and launches that see what it found and end; behind all launches by tiles, at
    /// the end of which one was found too uneven.
    Sorted,
    Far,
    Uneven,
    Tiles,
}

/// How a structure is cut by tiles.
fn cut(structure: Structure) -> Option<Tiles> {
    // A cast saturates.
    tiles(structure.rows, structure.rows, entries(structure) as u32)
}

fn way(structure: Structure) -> Way {
    let is_sampled = |tiles: &Tiles| tiles.entries >= LEAST && is_short(*tiles);
    let Some(tiles) = cut(structure).filter(is_sampled) else { return Way::Sorted };
    let (bucket, stride) = (of_bucket(tiles), stride(tiles) as usize);
    // ---- the sample
    let (mut columns, mut found, mut pairs) = (Vec::new(), Vec::new(), 0);
    let group = GROUP << tiles.tile;
    for first in (0..structure.rows).step_by(stride * group as usize) {
        found.clear();
        for row in first..structure.rows.min(first + group) {
            structure.columns_before(row, &mut columns);
            columns.push(row);
            found.extend(columns.iter().map(|column| (column / bucket, row >> tiles.tile)));
        }
        found.sort_unstable();
        found.dedup();
        pairs += found.len() as u32;
        found.dedup_by_key(|(bucket, _)| *bucket);
        if found.len() > MOST_BUCKETS as usize {
            return Way::Far;
        }
    }
    if pairs > most_pairs(tiles) {
        return Way::Far;
    }
    // ---- whether rows, columns and buckets have more than they may
    let mut of_columns = vec![0_u16; structure.rows as usize];
    let mut of_buckets = vec![(u32::MAX, 0); tiles.buckets() as usize];
    let (mut ahead, mut of_tile) = (Ahead::sorted(structure), 0);
    for row in 0..structure.rows {
        let before = ahead.columns(row);
        of_tile = before.len() + 1 + if row.trailing_zeros() < tiles.tile { of_tile } else { 0 };
        if before.len() + 1 > MOST_OF_ROW as usize || of_tile > MOST_OF_TILE as usize {
            return Way::Uneven;
        }
        for column in before.iter().copied().chain([row]) {
            let count = &mut of_columns[column as usize];
            *count += 1;
            let (last, tiles_of) = &mut of_buckets[(column / bucket) as usize];
            if *last != row >> tiles.tile {
                (*last, *tiles_of) = (row >> tiles.tile, *tiles_of + 1);
            }
            if *count > 1 << SLOTS.1 || *tiles_of > MOST_TILES {
                return Way::Uneven;
            }
        }
    }
    Way::Tiles
}

/// What a transposition counts that goes the way that its structure says.
///
/// # Errors
/// Those of the simulator.
pub fn count(structure: Structure, counting: &Counting) -> Result<Counted, Box<dyn Error>> {
    let by = |way| sparse::count(structure, Operation::Transpose(way), counting);
    let way = way(structure);
    let last = match way {
        Way::Sorted => return by(Transposition::Sorted),
        Way::Far => LIST,
        Way::Uneven | Way::Tiles => FROM_TILES,
    };
    let mut counted = by(Transposition::Sampled)?;
    let sorted = if way == Way::Tiles { None } else { Some(by(Transposition::Sorted)?) };
    for (launches, behind) in [
        (&mut counted.launches, sorted.as_ref().map(|sorted| &sorted.launches)),
        (&mut counted.smaller, sorted.as_ref().map(|sorted| &sorted.smaller)),
    ] {
        let end = launches.iter().position(|launch| launch.kernel == last);
        launches.truncate(end.ok_or_else(|| format!("small ones of {structure} go another way"))? + 1);
        if way == Way::Far {
            let tiles = cut(structure).expect("a sample was read");
            let groups = u64::from(tiles.tiles().div_ceil(GROUP));
            launches.push(Counts::empty(LIST, groups, THREADS));
            launches.push(Counts::empty(FROM_TILES, tiles.buckets().into(), from_tiles::THREADS));
        }
        launches.extend(behind.into_iter().flatten().cloned());
    }
    Ok(counted)
}

/// What the host reads meanwhile: what was found at last.
pub fn reads(launches: &[Counts]) -> Vec<Read> {
    let moved = launches.iter().position(|launch| launch.kernel == FROM_TILES);
    let read = |launch| Read { behind: launch + 1, bytes: Bytes(4.0 * f64::from(FOUND)) };
    moved.into_iter().map(read).collect()
}

/// The passes of the sort by columns, of which more rows take more than were simulated; and of a structure whose
/// columns are anywhere, what is read in their new order.
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
    /// and of long columns no sample is read.
    #[test]
    fn the_whole_structure_says_which_way_its_entries_go() {
        let (band, random) = (structure(Kind::Band, 1 << 18, 8), structure(Kind::Random, 1 << 18, 8));
        assert_eq!([band, random].map(way), [Way::Tiles, Way::Far]);
        assert_eq!([band, random].map(|one| way(Structure { rows: 1 << 15, ..one })), [Way::Sorted; 2]);
        assert_eq!(way(structure(Kind::Band, 1 << 18, 16)), Way::Sorted);
    }

    /// The host reads behind the last launch by tiles.
    #[test]
    fn reads_are_behind_what_they_wait_for() {
        let named = |kernel: &&str| Counts::empty(kernel, 1, 32);
        let launches = |all: &[&str]| -> Vec<Counts> { all.iter().map(named).collect() };
        let by_tiles = launches(&["fill", LIST, LIST, FROM_TILES]);
        assert_eq!(reads(&by_tiles), [Read { behind: 4, bytes: Bytes(12.0) }]);
        assert_eq!(reads(&launches(&["sparse_rows", "sort_pairs", "scan_sum_u32"])), Vec::new());
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
