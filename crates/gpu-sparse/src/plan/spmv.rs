//! Products of a matrix and a vector.

use gpu_sparse_kernels::THREADS;
use gpu_sparse_kernels::spmv::{MOST_STREAMED, PIECE, SPAN, STREAMED, Shape, limit};
use gpu_std::launch::LaunchConfig;

/// Entries of a row in the mean from which those of a block are multiplied as they lie in memory, where a lane could hold
/// each row. On an H200, in f64: 0.200 ms beside 0.225 for the 4 of a Laplacian's triangle (216³), 0.388 beside 0.355
/// for 8 that are drawn (5 M rows).
const STREAMED_MEAN: u32 = 6;
/// Entries that a block has in the mean where its rows differ, so that it hardly ever has more than [`STREAMED`].
const STREAMED_FILL: u32 = STREAMED * 3 / 4;

/// What is known of a matrix's rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Rows.
    pub rows: u32,
    /// Entries.
    pub entries: u32,
    /// Entries of the longest row.
    pub longest: u32,
    /// Columns.
    pub columns: u32,
}

/// Who computes a row. All of them give the same bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// A thread; rows of more than 8 entries by a warp, those of more than 1024 by the block.
    Thread,
    /// 4 lanes; rows of more than 32 entries by a warp, those of more than 1024 by the block.
    Lanes4,
    /// Rows and entries are dealt out evenly, long rows in pieces.
    Balanced,
}

impl Statistics {
    /// What is taken where nothing else is asked for: balanced where a row is so much longer than the mean that the
    /// block that has it would be waited for; else a thread where all rows are as short as it can hold, or most are, and
    /// 4 lanes otherwise.
    ///
    /// On an H200, rows of up to 1024 entries and 7 in the mean take 4 lanes a tenth to a fifth more than a thread, and
    /// those of 19 a thread half as much again as 4 lanes.
    pub fn strategy(&self) -> Strategy {
        let mean = self.entries / self.rows.max(1);
        let most = if self.longest > MOST_STREAMED { limit(1) - 1 } else { limit(1) / 2 };
        // A warp's other work is some 32 rows.
        if self.longest > 8 * PIECE && self.longest / 32 > mean {
            Strategy::Balanced
        } else if self.longest <= limit(1) || mean <= most {
            Strategy::Thread
        } else {
            Strategy::Lanes4
        }
    }
}

/// Lanes of a row in products with several vectors: one where all rows are as short as it can hold, or most are, else 4.
pub fn columns_lanes(statistics: Statistics) -> u32 {
    let mean = statistics.entries / statistics.rows.max(1);
    if statistics.longest <= limit(1) || mean <= limit(1) / 2 { 1 } else { 4 }
}

/// The launches of a product.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// Who computes a row.
    pub strategy: Strategy,
    /// Grid and block.
    pub launch: LaunchConfig,
    /// Those of the launch that adds the pieces of long rows, where they are dealt out.
    pub finish: Option<LaunchConfig>,
    /// What the kernels are told.
    pub shape: Shape,
}

impl Plan {
    /// The plan for a matrix with rows.
    pub fn new(statistics: Statistics, strategy: Strategy) -> Self {
        let Statistics { rows, entries, .. } = statistics;
        let line = rows + entries;
        let (longest, mean) = (statistics.longest, entries / rows.max(1));
        // Where all rows are as short and of some length in the mean, a block has as many as fit.
        let dealt = strategy == Strategy::Balanced;
        let streamed = !dealt && longest <= MOST_STREAMED && (longest > limit(1) || mean >= STREAMED_MEAN);
        let fitting = (STREAMED / longest.max(1)).max(STREAMED_FILL / (mean + 1)) / 32 * 32;
        let (blocks, lanes, block_rows) = match strategy {
            Strategy::Thread | Strategy::Lanes4 => {
                let lanes = if strategy == Strategy::Thread { 1 } else { 4 };
                let block_rows = if streamed { fitting.clamp(32, THREADS) } else { THREADS / lanes };
                (rows.div_ceil(block_rows), lanes, block_rows)
            }
            Strategy::Balanced => (line.div_ceil(SPAN), 1, 0),
        };
        let finish = LaunchConfig::linear(line.div_ceil(PIECE).div_ceil(THREADS / 32), THREADS);
        Self {
            strategy,
            launch: LaunchConfig::linear(blocks, THREADS),
            finish: dealt.then_some(finish),
            shape: Shape {
                rows,
                entries,
                lanes,
                block_rows,
                dealt: dealt as u32,
                streamed: streamed as u32,
                listed: (longest > limit(lanes)) as u32,
                last: statistics.columns.saturating_sub(1),
            },
        }
    }

    /// Elements of scratch memory: of partial sums, and of whose they are.
    pub fn scratch_len(&self) -> (usize, usize) {
        if self.strategy != Strategy::Balanced {
            return (0, 0);
        }
        let slots = (self.shape.rows + self.shape.entries).div_ceil(PIECE) as usize;
        (2 * slots, slots)
    }

    /// The plan for a product that counts as zero, of which no entry is read.
    pub fn zero(rows: u32) -> Self {
        Self::new(Statistics { rows, ..Statistics::default() }, Strategy::Thread)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_one_length_are_not_dealt_out_and_skewed_ones_are() {
        let strategy =
            |rows, entries, longest| Statistics { rows, entries, longest, columns: rows }.strategy();
        assert_eq!(strategy(1000, 7000, 7), Strategy::Thread);
        assert_eq!(strategy(1000, 27_000, 27), Strategy::Lanes4);
        assert_eq!(strategy(1000, 4_000_000, 4000), Strategy::Lanes4);
        assert_eq!(strategy(100_000, 500_000, 90_000), Strategy::Balanced);
        assert_eq!(strategy(0, 0, 0), Strategy::Thread);
    }

    #[test]
    fn every_row_and_entry_has_its_block() {
        for (rows, entries) in [(1, 0), (1, 5000), (1000, 3000), (2048, 0)] {
            let statistics = Statistics { rows, entries, longest: entries, columns: 1 };
            let plan = Plan::new(statistics, Strategy::Balanced);
            assert!(plan.launch.grid[0] * SPAN >= rows + entries);
            assert!((plan.launch.grid[0] - 1) * SPAN < rows + entries);
            assert_eq!(plan.scratch_len().0, 2 * plan.scratch_len().1);
            assert_eq!(Plan::new(statistics, Strategy::Thread).scratch_len(), (0, 0));
        }
    }
}
