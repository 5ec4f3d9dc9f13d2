//! Triangular systems: who solves them.

use gpu_sparse_kernels::THREADS;
use gpu_sparse_kernels::solve::Run;

/// How a triangular system is solved. All of them give the same bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// What [`Profile::algorithm`] chooses.
    #[default]
    Auto,
    /// Free of synchronisation, rows in their own order, a thread a row.
    Free,
    /// The same, a warp 32 rows: what they wait for inside of it passes through registers.
    Chains,
    /// Free of synchronisation, rows in the order of their levels and size classes.
    Ordered,
    /// Level after level over that order, small levels that follow each other in one launch.
    Levels,
}

impl Algorithm {
    /// All that solve.
    pub const ALL: [Self; 4] = [Self::Free, Self::Chains, Self::Ordered, Self::Levels];

    /// Whether it needs the rows ordered.
    pub(crate) fn is_ordered(self) -> bool {
        matches!(self, Self::Ordered | Self::Levels)
    }
}

/// What is known of a triangle's rows and levels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// Rows.
    pub rows: u32,
    /// Levels.
    pub levels: u32,
    /// The most entries that a row has beside the diagonal.
    pub longest: u32,
    /// Rows that wait for one of the same 256, counted from the first row to be solved.
    pub near: u32,
    /// How far the farthest entry of the row that is solved last is from its diagonal.
    pub stride: u32,
    /// Rows of which the farthest entry is as far; none where lines of as many rows do not begin where those of a grid do:
    /// the row with that number waits for the one before.
    pub aligned: u32,
    /// Rows whose diagonal is stored.
    pub stored: u32,
}

// ---- the constants of the choice
//
// What they rest on are the times of benches/results/README.md, "Sparse", on an H200 in f64: with 646 levels (the
// Laplacian of 216³) 0.6 ms with ordered rows, 3.5 as chains, 4.1 level by level, and 11.7 with the rows in their own
// order, of which nearly all wait for one of the same block; with rows that hardly ever do (5 M of 8, drawn) 0.81 ms in
// their own order, 1.7 to 7.8 otherwise; a chain of 200,000 rows 22.5 ms, 105 to 571 otherwise. `--bin sparse` of
// gpu-benches measures every algorithm on 40 structures beside what is chosen: of those of 2026-11-25, and of their
// transposed ones, what is chosen takes at most 1.13 of the time of the fastest. The limits lie between the two
// structures beside them.

/// Mean rows of a level up to which a warp has 32 rows in a row: at 30 rows in their own order take a fifth to a third
/// of the time, at 9 as much, at 1 four times as much.
const CHAIN_WIDTH: u32 = 12;
/// The same of a grid, whose planes follow each other: 0.99 ms beside 9.8 at 116 rows, 1.2 beside 0.69 at 5,300.
const GRID_CHAIN_WIDTH: u32 = 256;
/// Launches that levels may take, for them to be what is taken: each costs some 6 µs, all rows at once some 18: three
/// levels 19.6 and, transposed, 26.9 µs.
const MOST_LAUNCHES: u32 = 2;
/// Levels that are so few that ordered rows hardly wait: 17.9 and 19.4 µs there, 20.2 and 23.6 in their own order.
const FEW_LEVELS: u32 = 4;
/// Rows that are on the device at the same time, about: more are held up by those that wait.
const RESIDENT: u32 = 1 << 18;
/// Entries of a row from which one thread alone is too slow for it, the longer all others wait: 0.4 ms with ordered rows
/// beside 2.2 in their own order where they have up to 3,000, of 100,000 rows; but 1.8 beside 0.74 where 5 M rows have up
/// to some 130, and 8 in the mean.
const LONG_ROW: u32 = 256;
/// Entries of a row up to which a lane has a whole ordered row, and the mean rows of a level from which that is the fastest:
/// 0.07 ms beside 0.09 at 600 rows, 0.18 beside 0.22 at 9,600, but 0.68 beside 0.50 at 62.
const SHORT_ROW: u32 = 4;
const SHORT_ROW_WIDTH: u32 = 64;
/// Mean rows of a level from which ordered ones are the fastest where most wait for near ones: 0.020 ms beside 0.029.
const NEAR_WIDTH: u32 = 1024;
/// The same where most rows wait for others that are near, but not of the same 32.
const LONG_ROW_NEAR: u32 = 16;
/// Rows of a level, in the mean, from which ordered rows are worth it there: 0.232 ms beside 0.268 at 30, 1.8 of the
/// time at 9.
const LEAST_WIDTH: u32 = 24;
/// The least distance of rows, and how often it fits at least, for blocks to have as many rows. A block's warps hand
/// results on through the second-level cache then, so that short lines are better dealt out.
const LEAST_STRIDE: u32 = 1024;
const LEAST_STRIDES: u32 = 8;
/// Threads of blocks that walk: two fit on a multiprocessor of Hopper with what chains have in shared memory.
const WALKING_THREADS: u32 = 512;
/// One row in so many waiting for one of its own block: from there on rows in their own order hold up each other. And
/// where the last row waits for none that is farther than such a part of all, as then most are near: without that a
/// power law's transposed triangle, whose last row waits for 254,618 of 364,264, had 0.190 ms for 0.112.
const NEAR_SHARE: u32 = 8;
/// Rows of a level that one block has in a run of levels: more are a launch of their own.
const MOST_MERGED: u32 = 2 * THREADS;
/// Shared memory that a block of ordered rows asks for, and does not use all of: at most 8 blocks, 1024 rows, are on a
/// multiprocessor of Hopper then: what lies ahead is read in time, and not so much that those whose turn is far are in the
/// way. Packed rows do without.
pub(crate) const ORDERED_SHARED_BYTES: u32 = 26 << 10;

/// Units, of four columns each, that are few enough however few entries there are.
const PACKED_ANYWAY: usize = 1 << 18;

/// Whether so many units are few enough, for so many entries, for rows to be packed: no more than entries.
pub fn is_packed(units: usize, entries: usize) -> bool {
    units <= entries.max(PACKED_ANYWAY)
}

impl Profile {
    /// What is taken where nothing else is asked for.
    ///
    /// * [`Algorithm::Chains`] where levels have at most 12 rows in the mean, in a grid ([`is_grid`](Self::is_grid)) 256;
    /// * [`Algorithm::Levels`] where there are at most 2, of more rows than one block has;
    /// * [`Algorithm::Ordered`] where there are at most 4 such levels; where a row has more than 256 entries; where all
    ///   have at most 4, and levels at least 64 in the mean; where half of them wait for one of the same 256, and
    ///   levels have 1024; of more than 2^18 rows also where a row in 8 does, or the last one waits for none farther
    ///   than 2^18 and an eighth of them; of fewer where rows have more than 16 entries, levels 24 rows, and half of
    ///   them wait for one of the same 256, but not of the same 32;
    /// * [`Algorithm::Free`] else.
    pub fn algorithm(&self) -> Algorithm {
        let width = self.rows / self.levels.max(1);
        let widest_chain = if self.is_grid() { GRID_CHAIN_WIDTH } else { CHAIN_WIDTH };
        let many = self.rows > RESIDENT;
        let near = self.near > self.rows / 2;
        let long = self.longest > LONG_ROW;
        let short = self.longest <= SHORT_ROW && width >= SHORT_ROW_WIDTH;
        let wide = near && width >= NEAR_WIDTH;
        let close = self.stride < RESIDENT.min(self.rows / NEAR_SHARE);
        let held_up = many && (self.near > self.rows / NEAR_SHARE || close);
        let slow = !many && self.longest > LONG_ROW_NEAR && near && self.stride >= 32 && width >= LEAST_WIDTH;
        if width <= widest_chain {
            Algorithm::Chains
        } else if self.levels <= FEW_LEVELS && width > MOST_MERGED {
            if self.levels <= MOST_LAUNCHES { Algorithm::Levels } else { Algorithm::Ordered }
        } else if long || short || wide || held_up || slow {
            Algorithm::Ordered
        } else {
            Algorithm::Free
        }
    }

    /// Whether rows are numbered as the points of a grid are: of 8 rows 7 have their farthest entry at the same distance
    /// of at least 1024, which is at most an eighth of the rows, and half of them wait for one of the same 256. Blocks of
    /// as many rows as that distance follow each other closely then.
    pub fn is_grid(&self) -> bool {
        let later = self.rows - self.stride.min(self.rows);
        self.stride >= LEAST_STRIDE
            && self.rows / LEAST_STRIDES >= self.stride
            && self.aligned >= later - later / 8
            && self.near >= self.rows / 2
    }

    /// Rows and threads of a block whose warps walk.
    pub fn walk(&self) -> (u32, u32) {
        if self.is_grid() { (self.stride, WALKING_THREADS) } else { (THREADS, THREADS) }
    }
}

/// The launches of a system whose levels have so many rows: which levels, and how many blocks. Levels of few rows that
/// follow each other are one launch.
pub fn runs(levels: &[u32]) -> Vec<(Run, u32)> {
    let mut runs: Vec<(Run, u32)> = Vec::new();
    let mut merges = false;
    for (level, &rows) in levels.iter().enumerate() {
        let small = rows <= MOST_MERGED;
        match runs.last_mut() {
            Some((run, _)) if small && merges => run.count += 1,
            _ => {
                let blocks = if small { 1 } else { rows.div_ceil(THREADS) };
                runs.push((Run { first: level as u32, count: 1 }, blocks));
            }
        }
        merges = small;
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_levels_are_one_launch_and_large_ones_one_each() {
        let run = |first, count| Run { first, count };
        assert_eq!(
            runs(&[1, 2, 512, 513, 3000, 4]),
            [(run(0, 3), 1), (run(3, 1), 3), (run(4, 1), 12), (run(5, 1), 1)]
        );
        assert!(runs(&[]).is_empty());
    }

    #[test]
    fn the_choice_follows_from_the_profile() {
        let choice = |rows, levels, longest, near, stride| {
            Profile { rows, levels, longest, near, stride, aligned: 1, stored: rows }.algorithm()
        };
        // Structures of `--bin sparse`, and what took the least time, or a tenth more, on an H200.
        assert_eq!(choice(200_000, 200_000, 16, 199_218, 16), Algorithm::Chains);
        assert_eq!(choice(19_616, 2353, 14, 18_279, 51), Algorithm::Chains);
        assert_eq!(choice(1_000_000, 1, 0, 0, 0), Algorithm::Levels);
        assert_eq!(choice(69_230, 3, 8, 11, 43_754), Algorithm::Ordered);
        assert_eq!(choice(2_000_376, 376, 3, 1_984_811, 15_876), Algorithm::Ordered);
        assert_eq!(choice(519_682, 820, 8, 61_258, 901), Algorithm::Ordered);
        assert_eq!(choice(45_271, 349, 22, 33_140, 160), Algorithm::Ordered);
        assert_eq!(choice(364_264, 107, 1024, 3506, 124_869), Algorithm::Ordered);
        assert_eq!(choice(82_378, 28, 27, 79_159, 1), Algorithm::Ordered);
        assert_eq!(choice(12_573, 413, 18, 9445, 272), Algorithm::Ordered);
        assert_eq!(choice(9595, 1015, 52, 8943, 505), Algorithm::Chains);
        assert_eq!(choice(364_264, 107, 68, 4692, 254_618), Algorithm::Free);
        assert_eq!(choice(88_934, 431, 26, 11_747, 88_618), Algorithm::Free);
        assert_eq!(choice(95_396, 215, 3032, 5543, 81_698), Algorithm::Ordered);
        assert_eq!(choice(1_073_780, 112, 4, 4028, 1_023_324), Algorithm::Ordered);
        assert_eq!(choice(88_043, 1398, 1, 1300, 63), Algorithm::Free);
        assert_eq!(choice(0, 0, 0, 0, 0), Algorithm::Chains);
        let grid = Profile {
            levels: 646,
            longest: 3,
            aligned: 10_031_040,
            stride: 46_656,
            near: 10_000_000,
            rows: 10_077_696,
            stored: 10_077_696,
        };
        assert_eq!((grid.algorithm(), grid.walk()), (Algorithm::Ordered, (46_656, 512)));
        let plane = Profile {
            rows: 1_429_871,
            levels: 12_300,
            longest: 2,
            near: 1_424_171,
            stride: 12_184,
            aligned: 1_417_687,
            stored: 1_429_871,
        };
        assert_eq!(plane.algorithm(), Algorithm::Chains);
        let other = Profile { aligned: 5_000_000, ..grid };
        assert_eq!((other.algorithm(), other.walk()), (Algorithm::Ordered, (256, 256)));
        assert!(!Profile::default().is_grid());
        assert!(Algorithm::ALL.iter().all(|&algorithm| algorithm != Algorithm::Auto));
    }
}
