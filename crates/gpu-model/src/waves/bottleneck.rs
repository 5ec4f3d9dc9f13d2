//! What a launch is bound by, and what to change.

use core::fmt;

/// What takes the most time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Bottleneck {
    /// Launching it.
    Launch,
    /// Waves of blocks that wait.
    Latency,
    /// Starting blocks.
    Blocks,
    /// Instructions that warps issue.
    Issue,
    /// Floating-point operations.
    Arithmetic,
    /// Integers, comparisons and selections.
    Integers,
    /// Matrix operations of the tensor cores.
    Tensor,
    /// Lines that go through the first-level cache.
    L1,
    /// Passes through shared memory, at least half of them for conflicts.
    BankConflicts,
    /// Passes through shared memory.
    Shared,
    /// What the second-level cache is read for.
    L2,
    /// Lines that stores hand to the second-level cache.
    Stores,
    /// The device's memory.
    Memory,
    /// Blocks that wait for the one before them.
    Chain,
}

impl Bottleneck {
    /// What to change.
    pub fn advice(self) -> &'static str {
        match self {
            Self::Launch => "do more in a launch: fuse kernels, batch small inputs, or record a graph",
            Self::Latency => {
                "keep more in flight: more loads before the first use, more resident blocks (fewer registers, less \
                 shared memory), fewer barriers and waits one after another"
            }
            Self::Blocks => "start fewer blocks: more elements for each thread, more threads in a block",
            Self::Issue => {
                "issue less: wider loads, more elements for each thread, shuffles for shared memory"
            }
            Self::Arithmetic => {
                "compute less: another algorithm, fused multiply-adds, tensor cores, a smaller type"
            }
            Self::Integers => {
                "compare and select less: sort shorter keys, count digits, pack keys and indices into one word"
            }
            Self::Tensor => {
                "multiply narrower elements, or have warpgroups do it; tiles that leave less over at the edges"
            }
            Self::L1 => {
                "touch fewer lines: let the lanes of a warp access neighbours, through a tile in shared memory if \
                 the algorithm wants another order"
            }
            Self::BankConflicts => {
                "spread over the banks: pad the rows of a tile by one word, or permute its columns"
            }
            Self::Shared => {
                "use shared memory less: keep values in registers, exchange them by shuffles, load wider"
            }
            Self::L2 => {
                "read once: tiles in shared memory, blocks that follow one another in data that they share"
            }
            Self::Stores => {
                "write whole lines: let the lanes of a warp store neighbours, through a tile if need be"
            }
            Self::Memory => {
                "move fewer bytes: fuse with what comes before or after, a smaller type; if as many bytes move as \
                 any implementation has to, it is done"
            }
            Self::Chain => "shorten the chain: larger tiles, a look-back over a window of blocks, a tree",
        }
    }
}

/// Its name in a few words.
impl fmt::Display for Bottleneck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Launch => "launch",
            Self::Latency => "latency",
            Self::Blocks => "starting blocks",
            Self::Issue => "issue slots",
            Self::Arithmetic => "arithmetic",
            Self::Integers => "integers",
            Self::Tensor => "tensor cores",
            Self::L1 => "L1 lines",
            Self::BankConflicts => "bank conflicts",
            Self::Shared => "shared memory",
            Self::L2 => "L2 reads",
            Self::Stores => "stores to L2",
            Self::Memory => "memory",
            Self::Chain => "chain of blocks",
        })
    }
}
