//! What is known of a sparse structure's rows: their levels, what the library chooses by, and how they are ordered.

use gpu_benches::suite::sparse::Structure;
use gpu_core::Device;
use gpu_sparse::plan::order::tile;
use gpu_sparse::plan::solve::{Profile, is_packed};
use gpu_sparse_kernels::order::{CLASSES, MOST_COUNTERS, class, classes};
use gpu_sparse_kernels::ordered::{lanes_of, widest};
use gpu_sparse_kernels::packed::{LONGEST, UNITS};

use super::ahead::Ahead;
use super::analyses::{Way, longest};
use super::cases::Counting;

/// Rows of which one says how the others are.
const EACH: u32 = 61;
/// Rows of a block that does not walk, of which a profile says how many wait for one of the same.
const BLOCK: u32 = 256;
/// What is known of a structure's rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Facts {
    /// As the library finds it.
    pub profile: Profile,
    /// Entries, the diagonal among them.
    entries: usize,
    /// Rows of each level and class.
    groups: Vec<u32>,
    /// The way through its levels, where it was asked for.
    pub way: Way,
}

impl Facts {
    /// Those of all rows of a structure; the way through its levels only where it is asked for.
    pub fn of(structure: Structure, counting: Option<&Counting>) -> Self {
        let rows = structure.rows;
        let walk = walk(structure);
        let mut facts = Self {
            profile: Profile { rows, stride: stride(structure), stored: rows, ..Profile::default() },
            entries: rows as usize,
            groups: Vec::new(),
            way: Way::default(),
        };
        let is_linked = is_linked(structure);
        let mut add = |row: u32, own: u32, columns: &[u32]| {
            let profile = &mut facts.profile;
            let count = columns.len() as u32;
            profile.levels = profile.levels.max(own);
            profile.longest = profile.longest.max(count);
            facts.entries += columns.len();
            let [near, aligned] = of_grid(row, columns, profile.stride, is_linked);
            profile.near += near;
            profile.aligned += aligned;
            let group = CLASSES * (own - 1) + class(count);
            if facts.groups.len() <= group as usize {
                facts.groups.resize((CLASSES * own) as usize, 0);
            }
            facts.groups[group as usize] += 1;
        };
        let mut ahead = Ahead::sorted(structure);
        if let Some(counting) = counting {
            facts.way = longest(structure, walk, counting, &mut ahead, add);
            return facts;
        }
        let mut levels = vec![0; rows as usize];
        for row in 0..rows {
            let columns = ahead.columns(row);
            let own = columns.iter().map(|&column| levels[column as usize]).max().unwrap_or(0) + 1;
            levels[row as usize] = own;
            add(row, own, columns);
        }
        facts
    }

    /// Keys of the rows' order: of each level as many as its classes up to the longest row's, and one for rows without
    /// entries.
    pub fn keys(&self) -> u32 {
        classes(self.profile.longest) * self.profile.levels
    }

    /// In which way rows are ordered: whether each tile of them counts all keys, and whether a block counts all groups
    /// in shared memory.
    pub fn order(&self) -> [bool; 2] {
        let multiprocessors = Device::simulator().planned_multiprocessors();
        let counts_all = tile(self.profile.rows, self.keys(), multiprocessors, None).is_some();
        [counts_all, CLASSES * self.profile.levels <= MOST_COUNTERS]
    }

    /// Warps that solve systems with ordered rows.
    pub fn tasks(&self) -> u32 {
        let lanes = |group: usize| lanes_of(group as u32 % CLASSES, widest(self.profile.longest));
        self.groups.iter().enumerate().map(|(group, rows)| rows.div_ceil(32 / lanes(group))).sum()
    }

    /// Whether the ordered rows' columns are kept a second time.
    pub fn is_packed(&self) -> bool {
        let units = self.tasks() as usize * UNITS as usize;
        self.profile.longest <= LONGEST && is_packed(units, self.entries)
    }
}

/// How far the farthest entry of the last row is from its diagonal.
fn stride(structure: Structure) -> u32 {
    let mut columns = Vec::new();
    structure.columns(structure.rows - 1, &mut columns);
    structure.rows - 1 - columns[0]
}

/// Whether the row with the number of that distance waits for the one before: lines of a grid begin without it.
fn is_linked(structure: Structure) -> bool {
    let (stride, mut columns) = (stride(structure), Vec::new());
    structure.columns(stride, &mut columns);
    columns.len() > 1 && columns[columns.len() - 2] + 1 == stride
}

/// Whether a row waits for one of its block, and whether its farthest entry is as far as the last row's: 1 or 0.
fn of_grid(row: u32, columns: &[u32], stride: u32, is_linked: bool) -> [u32; 2] {
    let (Some(first), Some(last)) = (columns.first(), columns.last()) else { return [0; 2] };
    [last / BLOCK == row / BLOCK, !is_linked && row - first == stride].map(u32::from)
}

/// Rows and threads of a block that finds levels. Of all rows 7 in 8, and half, are asked for; one in so many says so.
pub fn walk(structure: Structure) -> (u32, u32) {
    let (stride, is_linked, mut columns) = (stride(structure), is_linked(structure), Vec::new());
    let each = if structure.rows < EACH * EACH { 1 } else { EACH };
    let mut profile = Profile { rows: structure.rows, stride, ..Profile::default() };
    for row in (0..structure.rows).step_by(each as usize) {
        structure.columns(row, &mut columns);
        columns.pop();
        let [near, aligned] = of_grid(row, &columns, stride, is_linked);
        profile.near += each * near;
        profile.aligned += each * aligned;
    }
    profile.walk()
}

#[cfg(test)]
mod tests {
    use gpu_benches::suite::sparse::Kind;

    use super::*;

    fn structure(kind: Kind, rows: u32, a: u32) -> Structure {
        Structure { kind, rows, a, b: 0, drawn: false }
    }

    /// A plane of 2048 lines of 1024 points is a grid, and its levels are its diagonals: of the points of the first row
    /// and column one waits for none, and the others for one.
    #[test]
    fn facts_are_those_of_all_rows() {
        let plane = structure(Kind::Plane, 1 << 21, 1024);
        let facts = Facts::of(plane, None);
        let Profile { levels, longest, stride, stored, .. } = facts.profile;
        assert_eq!((levels, longest, stride, stored), (1024 + 2047, 2, 1024, 1 << 21));
        assert!(facts.profile.is_grid());
        assert_eq!(facts.entries, 3 * (1 << 21) - 1024 - 2048);
        let of_class = |class| facts.groups.iter().skip(class).step_by(CLASSES as usize).sum::<u32>();
        assert_eq!([6, 0, 1].map(of_class), [1, 1023 + 2047, 1023 * 2047]);
        // Classes of none, one and two; levels of up to 1024 rows.
        assert_eq!((facts.keys(), facts.order()), (3 * 3071, [false, false]));
        assert_eq!((walk(plane), walk(structure(Kind::Band, 1 << 12, 3))), ((1024, 512), (256, 256)));
    }

    /// A level of 64 rows of none, and one of 64 rows of 7, two lanes each: two warps and four.
    #[test]
    fn warps_have_lanes_for_their_rows() {
        let profile = Profile { rows: 128, levels: 2, longest: 7, ..Profile::default() };
        let groups = vec![0, 0, 0, 0, 0, 0, 64, 0, 0, 0, 64, 0, 0, 0];
        let facts = Facts { profile, entries: 64 * 9, groups, way: Way::default() };
        assert_eq!((facts.tasks(), facts.keys(), facts.order()), (6, 10, [true, true]));
        assert!(facts.is_packed());
        let long = Profile { longest: LONGEST + 1, ..profile };
        assert!(!Facts { profile: long, ..facts }.is_packed());
    }
}
