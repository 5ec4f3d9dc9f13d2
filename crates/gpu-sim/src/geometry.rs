//! What is launched, and in which shape.

use crate::config::Config;
use crate::fault::FaultKind;

/// Lanes of a warp.
pub const WARP: u32 = 32;

/// A kernel's name and where it is written, for reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kernel<'a> {
    /// Its name.
    pub name: &'a str,
    /// The source file it stands in.
    pub file: &'a str,
    /// The line it begins at.
    pub line: u32,
}

/// Grid, block and dynamic shared memory of a launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Geometry {
    /// Blocks in x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y and z.
    pub block: [u32; 3],
    /// Dynamic shared memory of a block in bytes.
    pub shared_bytes: u32,
}

impl Geometry {
    /// A one-dimensional launch.
    pub const fn linear(blocks: u32, threads: u32, shared_bytes: u32) -> Self {
        Self { grid: [blocks, 1, 1], block: [threads, 1, 1], shared_bytes }
    }

    pub(crate) fn threads_per_block(&self) -> u32 {
        self.block.iter().product()
    }

    pub(crate) fn blocks(&self) -> u32 {
        self.grid.iter().product()
    }

    /// Checks every extent against CUDA's limits and against what the simulator can number.
    pub(crate) fn check(&self, config: &Config, max_threads: u32) -> Result<(), FaultKind> {
        let limit = |what: &'static str, asked: u64, most: u64| {
            if asked == 0 || asked > most {
                Err(FaultKind::InvalidLaunch { what, asked, limit: most })
            } else {
                Ok(())
            }
        };
        limit("grid.x", self.grid[0].into(), (1 << 31) - 1)?;
        limit("grid.y", self.grid[1].into(), 65_535)?;
        limit("grid.z", self.grid[2].into(), 65_535)?;
        limit("block.x", self.block[0].into(), 1024)?;
        limit("block.y", self.block[1].into(), 1024)?;
        limit("block.z", self.block[2].into(), 64)?;
        let per_block: u64 = self.block.iter().map(|&d| u64::from(d)).product();
        limit("threads per block", per_block, 1024)?;
        limit("threads per block (launch bounds of the kernel)", per_block, max_threads.into())?;
        // Threads are numbered with 32 bits; two numbers are kept for "nobody" and "several".
        let blocks = u128::from(self.grid[0]) * u128::from(self.grid[1]) * u128::from(self.grid[2]);
        let threads = u64::try_from(blocks * u128::from(per_block)).unwrap_or(u64::MAX);
        limit("threads of the launch", threads, u64::from(u32::MAX) - 2)?;
        if self.shared_bytes > config.shared_limit {
            return Err(FaultKind::InvalidLaunch {
                what: "dynamic shared memory",
                asked: self.shared_bytes.into(),
                limit: config.shared_limit.into(),
            });
        }
        Ok(())
    }
}

impl Geometry {
    /// Checks that the grid's rows are whole clusters of so many blocks.
    pub(crate) fn check_cluster(&self, blocks: u32) -> Result<(), FaultKind> {
        /// What every GPU with clusters takes.
        const MOST: u32 = 8;
        if blocks == 0 || blocks > MOST {
            let (asked, limit) = (blocks.into(), MOST.into());
            return Err(FaultKind::InvalidLaunch { what: "blocks of a cluster", asked, limit });
        }
        if !self.grid[0].is_multiple_of(blocks) {
            return Err(FaultKind::PartialCluster { blocks: self.grid[0], cluster: blocks });
        }
        Ok(())
    }
}

/// Linear number to coordinates: x runs fastest.
pub(crate) fn unflatten(linear: u32, shape: [u32; 3]) -> [u32; 3] {
    let x = linear % shape[0];
    let rest = linear / shape[0];
    [x, rest % shape[1], rest / shape[1]]
}
