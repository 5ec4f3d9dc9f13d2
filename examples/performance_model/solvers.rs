//! What is known of the solvers of sparse systems that wait for other rows' results: what their text and the machine
//! code say that a launch's counts do not.
//!
//! A warp that waits asks again and again, so that what the simulator counts of that depends on when its warps have
//! their turns. Along the longest way through a system ([`waiting`](super::waiting)) stands what a row costs:
//!
//! * [`Free`](Solver::Free), a thread a row: a lane asks for four values in a turn of its warp, and where rows have
//!   more of them some lane reads its next four in each turn, for which all wait.
//! * [`Chains`](Solver::Chains), 32 rows a warp: the same for what comes before them, then a step from lane to lane:
//!   the product is added, taken from the right-hand side and multiplied, and goes to the next lane by two shuffles.
//! * [`Ordered`](Solver::Ordered), level after level: loads follow each other, so that one sees a value half of its
//!   time after it is there; the sums go through the row's lanes.
//!
//! * [`Factor`](Solver::Factor), incomplete factors, a thread a row, as `Free` does: what a row is behind the last of
//!   those that it needs is a division and a root. An entry says itself whether it is known.
//!
//! Warps that ask share their scheduler: where they are many, a turn is as long as all of theirs.

use gpu_benches::suite::sparse::{Kind, Structure};
use gpu_model::waves::{Counts, Waits};
use gpu_sim::metrics::Architecture;

use super::cases::Counting;
use super::operations::{entries, level_count};
use super::waiting::{Places, Step, Way, longest, waiting};

/// Instructions of a turn in which a lane asks for four values that its block has in shared memory: in the machine code
/// for 9.0, between the turn's label and its branch back, without the loads from global memory.
const TURN: f64 = 88.0;
/// Rows of the least plane that a block walks through, and its threads.
const LEAST_PLANE: u32 = 1024;
const WALKING: u32 = 512;
/// Instructions of a division, and of a root, one behind the other: in the machine code for 9.0.
const DIVISION: f64 = 11.0;
/// Schedulers of a multiprocessor, each of which issues an instruction a cycle.
const SCHEDULERS: f64 = 4.0;

/// A kernel that waits for other rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Solver {
    Free,
    Chains,
    Ordered,
    Factor,
}

impl Solver {
    /// The one of a kernel of `f64`.
    pub fn of(kernel: &str) -> Option<Self> {
        match kernel {
            "sparse_solve_free_f64" => Some(Self::Free),
            "sparse_solve_chains_f64" => Some(Self::Chains),
            "sparse_solve_ordered_f64" | "sparse_solve_packed_f64" => Some(Self::Ordered),
            "sparse_ic0_f64" | "sparse_ilu0_f64" => Some(Self::Factor),
            _ => None,
        }
    }

    /// Registers of a thread, as ptxas says of 9.0.
    fn registers(self) -> u32 {
        match self {
            Self::Free => 42,
            Self::Chains => 64,
            Self::Ordered => 45,
            Self::Factor => 32,
        }
    }

    /// Whether a block has a plane of a grid, through which its warps walk.
    fn walks(self, structure: Structure) -> bool {
        self == Self::Chains && structure.kind == Kind::Laplacian && structure.a.pow(2) >= LEAST_PLANE
    }

    /// The longest way through a structure for so many systems, by blocks as they were launched.
    pub fn way(self, launch: &Counts, structure: Structure, systems: usize, counting: &Counting) -> Way {
        let walks = self.walks(structure);
        let block = if walks { structure.a.pow(2) } else { 256 };
        let resident = resident(&counting.caches, launch, self.registers());
        let multiprocessors = f64::from(counting.caches.multiprocessors);
        let waiting = waiting(launch.blocks as f64, f64::from(resident) * multiprocessors) / multiprocessors;
        let warps = waiting * f64::from(launch.threads / 32) / SCHEDULERS;
        let latency = counting.latency;
        let turn = (TURN * latency.single.0).max(TURN * warps);
        let [l2, memory] = counting.far.map(|latency| latency.0 as u32);
        let shuffles = latency.exchange.0 + 2.0;
        let inside = shuffles + 3.0 * latency.double.0 + latency.single.0;
        // Blocks that follow each other are of one system after the other.
        let resident = resident as usize * counting.caches.multiprocessors as usize / systems;
        let walking = walks.then_some(WALKING as usize / 32);
        let places = Places { unit: 1, block, walking, resident: resident.max(1) };
        let step = Step { inside: 0, batch: turn as u32, memory, hop: 2 * l2, most: 2 };
        match self {
            Self::Free => longest(structure, places, step),
            Self::Factor => {
                let batch = turn + 2.0 * DIVISION * latency.double.0;
                longest(structure, places, Step { batch: batch as u32, ..step })
            }
            Self::Chains => {
                let step = Step { inside: inside as u32, most: u32::MAX, ..step };
                longest(structure, Places { unit: 32, ..places }, step)
            }
            Self::Ordered => {
                let levels = level_count(structure);
                let lanes = lanes(structure);
                let sums = lanes * (4.0 * latency.double.0 + if lanes > 1.0 { shuffles } else { 0.0 });
                let cycles =
                    levels * (sums + 2.0 * latency.double.0 + latency.exchange.0 + 2.5 * f64::from(l2));
                Way { cycles: cycles as u32, memory: 0, hops: levels as u32 }
            }
        }
    }

    /// A launch with the blocks of the structure, which has planes where a smaller one has none.
    pub fn launched(self, launch: &mut Counts, structure: Structure) {
        if self.walks(structure) {
            (launch.blocks, launch.threads) = (structure.rows.div_ceil(structure.a.pow(2)).into(), WALKING);
        }
    }

    /// A launch with the way through its structure, and with a store for each row: asking again is none.
    pub fn wait(
        self,
        launch: &mut Counts,
        structure: Structure,
        systems: f64,
        way: Way,
        counting: &Counting,
    ) {
        let [l2, memory] = counting.far.map(|latency| latency.0.floor());
        let [hops, reads] = [way.hops, way.memory].map(f64::from);
        launch.registers = Some(self.registers());
        let stored = match self {
            Self::Factor => entries(structure),
            _ => f64::from(structure.rows) * systems,
        };
        launch.lines_written = stored.min(launch.lines);
        launch.sectors_written = launch.lines_written;
        launch.chain = hops;
        launch.path.memory = reads;
        launch.path.l2 = if self == Self::Ordered { hops / 2.0 } else { 0.0 };
        launch.path.computing =
            f64::from(way.cycles) - hops * 2.0 * l2 - reads * memory - launch.path.l2 * l2;
        // What a block's warps compute while they wait is on the way already.
        launch.waits = Waits { computing: 0.0, ..launch.waits };
    }
}

/// Lanes of a row where rows have their level's order.
fn lanes(structure: Structure) -> f64 {
    let mut columns = Vec::new();
    structure.columns_before(structure.rows - 1, &mut columns);
    match columns.len() {
        0..=4 => 1.0,
        5..=8 => 2.0,
        9..=16 => 4.0,
        _ => 32.0,
    }
}

/// Blocks of a launch that are resident on a multiprocessor.
pub fn resident(architecture: &Architecture, launch: &Counts, registers: u32) -> u32 {
    let warps = launch.threads.div_ceil(32);
    let of_block = (registers * 32).next_multiple_of(256) * warps;
    let shared = launch.shared.0 as u32 + architecture.shared_reserved;
    let fit = architecture.shared_bytes / shared.max(1);
    fit.min(architecture.warps / warps).min(architecture.registers / of_block).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 42 registers of 32 lanes are 1344, in units of 256 1536; of 8 warps 12,288 of 65,536.
    #[test]
    fn registers_limit_residence() {
        let launch = Counts::empty("sparse_solve_free_f64", 782, 256);
        assert_eq!(resident(&Architecture::H200, &launch, 42), 5);
        assert_eq!(resident(&Architecture::H200, &launch, 32), 8);
    }
}
