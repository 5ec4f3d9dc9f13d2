//! Analyses of triangles: how long rows wait for each other's levels, and what the host reads meanwhile.
//!
//! A warp asks for the levels of 32 rows' entries, a thread a row, four entries at a time from the far side on: what a
//! lane lacks of four it waits for before it asks for the next, so that of long rows most are asked for while others
//! wait. With t for a lane's time, of each four
//!
//! ```text
//! t = t + ask                                         all four are known by then
//! t = known + hop + half a turn + the rest of a turn  of the last of those that are not
//!   + ask                                             where it was not the only one
//! ```
//!
//! A hop is a store and a load through the second-level cache, or through shared memory inside of a block. Rows that
//! need only the one before pass levels on by shuffles as soon as their own chain is ready, others in 32 steps when all
//! of the warp's rows are. What a part of the kernel takes are its instructions in the machine code for 9.0, one behind
//! the other, or as many as the warps that share a scheduler issue.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::error::Error;

use gpu_benches::suite::sparse::Structure;
use gpu_benches::suite::{Case, Op, Shape, Type};
use gpu_examples::predicted::Counted;
use gpu_model::units::Bytes;
use gpu_model::waves::{Counts, Waits};
use gpu_sparse::Algorithm;

use super::ahead::Ahead;
use super::cases::Counting;
use super::facts::walk;
use super::operations::Operation;
use super::solvers::resident;
use super::sparse;
use super::timing::Read;
use super::waiting::waiting;

/// Registers of a thread, as ptxas says of 9.0.
const REGISTERS: u32 = 64;
/// Rows of a warp.
const WINDOW: u32 = 32;
/// Entries that a lane asks for at a time.
const ASKED: usize = 4;
/// Instructions of the kernel's parts, in the machine code for 9.0: what begins a window; the question for one entry,
/// and for four; the end of a turn; what tells a chain's levels, beside its shuffles; the steps through a window.
const BEGIN: f64 = 122.0;
const ONE: f64 = 49.0;
const FOUR: f64 = 225.0;
const TURN: f64 = 25.0;
const TELL: f64 = 37.0;
const STEPS: f64 = 93.0;
/// Shuffles along a chain, and through a window.
const ALONG: f64 = 5.0;
const THROUGH: f64 = 32.0;
/// Cycles that a warp sleeps after a turn in which none of its lanes got further: 40 ns at 1.98 GHz.
const SLEEP: f64 = 79.0;

/// How long the levels of rows wait for each other.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Way {
    /// Cycles until all are known.
    cycles: u32,
    /// Instructions of all warps, but for questions that are asked again.
    instructions: f64,
}

/// What an analysis for an algorithm counts: its levels, and the order of the rows and what else the solution needs.
///
/// # Errors
/// Those of the simulator.
pub fn count(
    structure: Structure,
    algorithm: Algorithm,
    counting: &Counting,
) -> Result<Counted, Box<dyn Error>> {
    let facts = counting.facts(structure, true)?;
    let chosen = if algorithm == Algorithm::Auto { facts.profile.algorithm() } else { algorithm };
    let mut counted = sparse::count(structure, Operation::Levels, counting)?;
    // The highest level is found by as many blocks as there are for so many, which fewer rows do not have; as of signed
    // numbers.
    let shape = Shape::Vector(structure.rows as usize);
    let (highest, _) = counting.count(Case { op: Op::Max, element: Type::I32, shape })?;
    let is_other = |launch: &Counts| !launch.kernel.starts_with("max_");
    for (launches, highest) in
        [(&mut counted.launches, highest.launches), (&mut counted.smaller, highest.smaller)]
    {
        launches.retain(is_other);
        launches.extend(highest);
    }
    let more = match chosen {
        Algorithm::Ordered => sparse::count(structure, Operation::Prepare, counting)?,
        Algorithm::Levels => sparse::count(structure, Operation::Order, counting)?,
        _ => return Ok(counted),
    };
    let is_kept = |launch: &Counts| {
        facts.is_packed() || !matches!(launch.kernel.as_str(), "sparse_units" | "sparse_pack")
    };
    counted.launches.extend(more.launches.into_iter().filter(is_kept));
    counted.smaller.extend(more.smaller.into_iter().filter(is_kept));
    Ok(counted)
}

/// What a warp does, in cycles.
struct Costs {
    first: u32,
    begin: u32,
    ask: u32,
    /// What the levels of four take to be loaded, and until a lane sees one that it waits for: inside of a block, and
    /// from another one.
    loaded: [u32; 2],
    seen: [u32; 2],
    told: u32,
    chain: u32,
    window: u32,
}

impl Costs {
    /// Those of so many blocks, of which the device holds so many.
    fn of(blocks: f64, threads: u32, places: f64, counting: &Counting) -> Self {
        let latency = counting.latency;
        let multiprocessors = f64::from(counting.caches.multiprocessors);
        let warps = waiting(blocks, places) / multiprocessors * f64::from(threads / 32);
        // Four schedulers issue an instruction a cycle each.
        let issue = latency.single.0.max(warps / 4.0);
        let [l2, memory] = counting.far.map(|latency| latency.0);
        let shared = latency.shared.0;
        let turn = (ONE + TURN) * issue + SLEEP;
        let seen = |hop: f64| (hop + turn / 2.0 + ONE * issue) as u32;
        Self {
            // The ticket, the bounds of a row and its last column.
            first: (l2 + 2.0 * memory) as u32,
            begin: (BEGIN * issue) as u32,
            ask: (FOUR * issue + shared) as u32,
            loaded: [(ASKED as f64 * shared) as u32, l2 as u32],
            seen: [seen(shared), seen(2.0 * l2)],
            told: ((TURN + TELL) * issue) as u32,
            chain: ((TURN + TELL) * issue + ALONG * latency.exchange.0) as u32,
            window: ((TURN + STEPS) * issue + THROUGH * latency.exchange.0) as u32,
        }
    }

    /// When a lane has what it needs of other windows, if it begins then, and the highest level of that.
    fn ready(&self, start: u32, outer: &[u32], first: u32, known: &[Known]) -> (u32, u32) {
        let (mut time, mut level) = (start, 0);
        for four in outer.chunks(ASKED) {
            let loaded = self.loaded[usize::from(four[0] < first)];
            time += self.ask + loaded;
            let (mut lacking, mut latest) = (0, time);
            for &column in four {
                let of = known[column as usize];
                level = level.max(of.level);
                if of.time >= time {
                    latest = latest.max(of.time + self.seen[usize::from(column < first)]);
                    lacking += 1;
                }
            }
            time = if lacking > 1 { latest + self.ask + loaded } else { latest };
        }
        (time, level)
    }
}

/// A row's level, and when it is known.
#[derive(Clone, Copy)]
struct Known {
    level: u32,
    time: u32,
}

/// Blocks that the device holds.
fn places((chunk, threads): (u32, u32), counting: &Counting) -> u32 {
    let launch = Counts { shared: shared(chunk, threads), ..Counts::empty("sparse_levels", 1, threads) };
    resident(&counting.caches, &launch, REGISTERS) * counting.caches.multiprocessors
}

/// What a block has in shared memory: the ticket, and its last rows' levels.
fn shared(chunk: u32, threads: u32) -> Bytes {
    let ring = if chunk <= threads { threads } else { 4 * threads };
    Bytes(8.0 + 8.0 * f64::from(ring))
}

/// The longest way through a structure's levels, by blocks as they are launched; each row is handed over in turn.
pub fn longest(
    structure: Structure,
    (chunk, threads): (u32, u32),
    counting: &Counting,
    ahead: &mut Ahead,
    mut add: impl FnMut(u32, u32, &[u32]),
) -> Way {
    let (rows, places) = (structure.rows, places((chunk, threads), counting));
    let costs = Costs::of(f64::from(rows.div_ceil(chunk)), threads, places.into(), counting);
    let mut known: Vec<Known> = Vec::with_capacity(rows as usize);
    let (mut ends, mut all) = (BinaryHeap::new(), Way::default());
    for first in (0..rows).step_by(chunk as usize) {
        let is_full = ends.len() == places as usize;
        let start = if is_full { ends.pop().map_or(all.cycles, |Reverse(end)| end) } else { 0 };
        let behind = rows.min(first.saturating_add(chunk));
        let mut warps = vec![start + costs.first; (threads / WINDOW) as usize];
        let mut end = start;
        for (number, window) in (first..behind).step_by(WINDOW as usize).enumerate() {
            let place = number % warps.len();
            let rows = [first, window, behind.min(window + WINDOW)];
            let start = warps[place] + costs.begin;
            let (last, instructions) = of_window(&costs, rows, start, &mut known, ahead, &mut add);
            warps[place] = last;
            all.instructions += instructions;
            end = end.max(last);
        }
        ends.push(Reverse(end));
        all.cycles = all.cycles.max(end);
    }
    all
}

/// Adds when the rows of a window are known, which a warp begins with then; says when it has ended, and how many
/// instructions that takes if nothing is asked for again.
fn of_window(
    costs: &Costs,
    [first, window, behind]: [u32; 3],
    start: u32,
    known: &mut Vec<Known>,
    ahead: &mut Ahead,
    add: &mut impl FnMut(u32, u32, &[u32]),
) -> (u32, f64) {
    const ROWS: usize = WINDOW as usize;
    let (mut ready, mut is_chain, mut is_free) = ([start; ROWS], [false; ROWS], [true; ROWS]);
    let (mut are_chains, mut asked, mut level) = (true, 0, [0; ROWS]);
    for (place, row) in (window..behind).enumerate() {
        let columns = ahead.columns(row);
        let (outer, inside) = columns.split_at(columns.partition_point(|&column| column < window));
        (ready[place], level[place]) = costs.ready(start, outer, first, known);
        let here = inside.iter().map(|&column| level[(column - window) as usize]).max().unwrap_or(0);
        level[place] = level[place].max(here) + 1;
        add(row, level[place], columns);
        is_chain[place] = inside.len() == 1 && inside[0] + 1 == row;
        is_free[place] = inside.is_empty();
        are_chains &= is_chain[place] || is_free[place];
        asked = asked.max(outer.len().div_ceil(ASKED));
    }
    let rows = (behind - window) as usize;
    let all = ready[..rows].iter().copied().max().unwrap_or(start);
    let (mut carried, mut end) = (start, start);
    for place in 0..rows {
        carried = if is_chain[place] { carried.max(ready[place]) } else { ready[place] };
        let found = match (are_chains, is_free[place]) {
            (_, true) => ready[place] + costs.told,
            (true, false) => carried + costs.chain,
            (false, false) => all + costs.window,
        };
        end = end.max(found);
        known.push(Known { level: level[place], time: found });
    }
    let told = if are_chains { TELL + ALONG } else { TELL + STEPS + THROUGH };
    (end, BEGIN + asked as f64 * FOUR + TURN + told)
}

/// A launch that finds levels with the blocks of its structure and the way through that, which has all that warps wait
/// for; and with a store for each row. Asking again is none of what it does.
///
/// # Errors
/// A structure of which nothing is known.
pub fn wait(launch: &mut Counts, structure: Structure, counting: &Counting) -> Result<(), String> {
    let facts = counting.facts(structure, true)?;
    let (chunk, threads) = walk(structure);
    let asked = facts.way.instructions / launch.instructions.all().max(facts.way.instructions);
    *launch = Counts {
        blocks: structure.rows.div_ceil(chunk).into(),
        threads,
        shared: shared(chunk, threads),
        memory_read: launch.memory_read,
        memory_written: launch.memory_written,
        ..launch.clone().times(asked)
    };
    launch.lines_written = f64::from(structure.rows).min(launch.lines);
    launch.sectors_written = launch.lines_written;
    launch.waits = Waits::default();
    launch.path = Waits { computing: facts.way.cycles.into(), ..Waits::default() };
    launch.chain = 0.0;
    Ok(())
}

/// Kernels behind which the host reads what they have found, and before which it writes what says that nothing was.
const CHECKS: [&str; 4] = ["sparse_triangle", "sparse_differ", "sparse_narrow", "sparse_check"];

/// What the host writes and reads meanwhile, a few words each, which take as long either way: the words of checks, the
/// highest level, how many warps there are.
pub fn reads(launches: &[Counts]) -> Vec<Read> {
    let few = |behind| Read { behind, bytes: Bytes(32.0) };
    let mut reads = Vec::new();
    for (place, launch) in launches.iter().enumerate() {
        let kernel = launch.kernel.as_str();
        let next = launches.get(place + 1).map(|next| next.kernel.as_str());
        if CHECKS.contains(&kernel) {
            reads.push(few(place));
        }
        let is_read = match kernel {
            // The profile is found behind the triangle, and both are read at once.
            "sparse_triangle" => next != Some("sparse_profile"),
            "sparse_profile" | "sparse_longest" => true,
            _ if CHECKS.contains(&kernel) || kernel.starts_with("max_") => true,
            _ => next == Some("sparse_tasks"),
        };
        if is_read {
            reads.push(few(place + 1));
        }
    }
    reads
}

#[cfg(test)]
mod tests {
    use gpu_benches::suite::sparse::Kind;

    use super::*;

    fn structure(kind: Kind, rows: u32, a: u32) -> Structure {
        Structure { kind, rows, a, b: 0, drawn: false }
    }

    const COSTS: Costs = Costs {
        first: 0,
        begin: 1,
        ask: 10,
        loaded: [1, 2],
        seen: [100, 1000],
        told: 3,
        chain: 20,
        window: 300,
    };

    /// What is known is loaded, what is not is waited for; of two that are not both are asked for again.
    #[test]
    fn lanes_wait_for_what_they_lack() {
        let known = [(1, 0), (4, 50), (2, 60)].map(|(level, time)| Known { level, time });
        // A block whose rows begin with the second: the first is another one's.
        let ready = |outer: &[u32]| COSTS.ready(20, outer, 1, &known);
        assert_eq!(ready(&[]), (20, 0));
        assert_eq!(ready(&[0]), (20 + 10 + 2, 1));
        assert_eq!(ready(&[1]), (50 + 100, 4));
        assert_eq!(ready(&[0, 1, 2]), (60 + 100 + 10 + 2, 4));
    }

    /// A chain is told by shuffles in each window, any other rows by steps.
    #[test]
    fn windows_are_chains_or_not() {
        let last = |structure: Structure| {
            let (mut known, mut ahead, mut levels) = (Vec::new(), Ahead::sorted(structure), Vec::new());
            let mut add = |_: u32, level: u32, _: &[u32]| levels.push(level);
            let (first, _) = of_window(&COSTS, [0, 0, 32], 5, &mut known, &mut ahead, &mut add);
            let (second, instructions) = of_window(&COSTS, [0, 32, 64], 5, &mut known, &mut ahead, &mut add);
            (first, second, instructions, levels[63])
        };
        let told = BEGIN + FOUR + TURN + TELL;
        assert_eq!(last(structure(Kind::Band, 64, 1)), (25, 25 + 100 + 20, told + ALONG, 64));
        // All rows but the first two of the second window know what they need in the first.
        let steps = told + STEPS + THROUGH;
        assert_eq!(last(structure(Kind::Band, 64, 2)), (305, 305 + 100 + 10 + 1 + 300, steps, 64));
    }

    /// Words are written before the checks and read behind the profile, the highest level and the number of warps.
    #[test]
    fn the_host_reads_what_was_found() {
        let kernels = [
            "fill",
            "sparse_triangle",
            "sparse_profile",
            "sparse_levels",
            "max_u32",
            "sparse_task_counts",
            "scan_sum_u32",
            "sparse_tasks",
            "sparse_units",
        ];
        let launches = kernels.map(|kernel| Counts::empty(kernel, 1, 32));
        let places: Vec<usize> = reads(&launches).iter().map(|read| read.behind).collect();
        assert_eq!(places, [1, 3, 5, 7]);
        let checks = ["sparse_differ", "sparse_triangle"].map(|kernel| Counts::empty(kernel, 1, 32));
        let places: Vec<usize> = reads(&checks).iter().map(|read| read.behind).collect();
        assert_eq!(places, [0, 1, 1, 2]);
    }
}
