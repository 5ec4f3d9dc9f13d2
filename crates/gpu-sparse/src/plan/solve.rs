//! Triangular systems.

use gpu_sparse_kernels::THREADS;
use gpu_sparse_kernels::solve::Run;

/// How a triangular system is solved. Both give the same bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// Rows wait for those that they need.
    Free,
    /// Level after level, over rows that were ordered by them.
    Levels,
}

/// Rows of a level that one block has in a run of levels: more are a launch of their own.
const MOST_MERGED: u32 = 2 * THREADS;
/// Launches that levels may take, for them to be what is taken: each costs about what a row waits for another.
const FEW_LAUNCHES: u32 = 8;

/// What is taken where nothing else is asked for: levels where there are few of them, each of many rows.
pub fn method(rows: u32, levels: u32) -> Method {
    if levels <= FEW_LAUNCHES && rows / levels.max(1) > MOST_MERGED { Method::Levels } else { Method::Free }
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
    fn levels_are_taken_where_they_are_few_and_wide() {
        assert_eq!(method(1_000_000, 1), Method::Levels);
        assert_eq!(method(1_000_000, 1000), Method::Free);
        assert_eq!(method(100, 1), Method::Free);
        assert_eq!(method(0, 0), Method::Free);
    }
}
