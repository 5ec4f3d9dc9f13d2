//! Analyses of triangles: what is known of a structure's rows, how long they wait for each other's levels, and what the
//! host reads meanwhile.
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
use gpu_examples::predicted::Counted;
use gpu_model::units::Bytes;
use gpu_model::waves::{Counts, Waits};
use gpu_sparse::Algorithm;
use gpu_sparse::plan::solve::Profile;

use super::ahead::Ahead;
use super::cases::Counting;
use super::operations::Operation;
use super::solvers::resident;
use super::sparse;
use super::timing::Read;
use super::waiting::{Way, waiting};

/// Rows of a warp, and of a block that does not walk.
const WINDOW: u32 = 32;
const BLOCK: u32 = 256;
/// Threads of a block that walks through a line or a plane of a grid.
const WALKING: u32 = 512;
/// Entries that a lane asks for at a time.
const ASKED: usize = 4;
/// Classes of rows of a level: of 1, 2, 3–4, 5–8, 9–16, more entries, and of none.
const CLASSES: usize = 7;
/// Entries of the longest rows that are packed, and units of a warp.
const LONGEST: u32 = 128;
const UNITS: usize = 32;
/// Units that are few enough however few entries there are.
const FEW_UNITS: usize = 1 << 18;
/// The most keys of which each tile of rows counts all.
const FEW_KEYS: u32 = 256;

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

/// What is known of a structure's rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Facts {
    /// As the library finds it.
    pub profile: Profile,
    /// Entries, the diagonal among them.
    pub entries: usize,
    /// Rows of each level and class.
    groups: Vec<u32>,
}

/// The class of a row with so many entries beside the diagonal.
fn class(entries: u32) -> usize {
    match entries {
        0 => CLASSES - 1,
        1 => 0,
        2 => 1,
        3..=4 => 2,
        5..=8 => 3,
        9..=16 => 4,
        _ => 5,
    }
}

impl Facts {
    /// Those of all rows of a structure.
    pub fn of(structure: Structure) -> Self {
        let rows = structure.rows;
        let (mut level, mut groups) = (vec![0_u32; rows as usize], Vec::new());
        let mut columns = Vec::new();
        structure.columns(rows - 1, &mut columns);
        let stride = rows - 1 - columns[0];
        // Lines of a grid begin without the row before.
        structure.columns(stride, &mut columns);
        let is_linked = columns.len() > 1 && columns[columns.len() - 2] + 1 == stride;
        let mut profile = Profile { rows, stride, stored: rows, ..Profile::default() };
        let (mut ahead, mut entries) = (Ahead::sorted(structure), rows as usize);
        for row in 0..rows {
            let columns = ahead.columns(row);
            let own = columns.iter().map(|&column| level[column as usize]).max().unwrap_or(0) + 1;
            level[row as usize] = own;
            let count = columns.len() as u32;
            profile.levels = profile.levels.max(own);
            profile.longest = profile.longest.max(count);
            entries += columns.len();
            if let (Some(first), Some(last)) = (columns.first(), columns.last()) {
                profile.near += u32::from(last / BLOCK == row / BLOCK);
                profile.aligned += u32::from(!is_linked && row - first == stride);
            }
            let group = CLASSES * (own as usize - 1) + class(count);
            groups.resize(groups.len().max(CLASSES * own as usize), 0);
            groups[group] += 1;
        }
        Self { profile, entries, groups }
    }

    /// Keys of the rows' order: of each level as many as its classes up to the longest row's, and one for rows without
    /// entries.
    pub fn keys(&self) -> u32 {
        let classes = if self.profile.longest == 0 { 1 } else { class(self.profile.longest) as u32 + 2 };
        classes * self.profile.levels
    }

    /// Whether each tile of rows counts all of them.
    pub fn has_few_keys(&self) -> bool {
        self.keys() <= FEW_KEYS
    }

    /// Whether the ordered rows' columns are kept a second time.
    fn is_packed(&self) -> bool {
        let widest = match self.profile.longest {
            0..=32 => 8,
            33..=64 => 16,
            _ => 32,
        };
        let lanes = [1, 1, 1, 2, 4, widest, 1];
        let tasks = self.groups.iter().zip(lanes.iter().cycle());
        let units = tasks.map(|(&rows, lanes)| rows.div_ceil(32 / lanes) as usize * UNITS).sum::<usize>();
        self.profile.longest <= LONGEST && units <= self.entries.max(FEW_UNITS)
    }

    /// Rows and threads of a block that finds levels.
    fn walk(&self) -> (u32, u32) {
        if self.profile.is_grid() { (self.profile.stride, WALKING) } else { (BLOCK, BLOCK) }
    }
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
    let facts = counting.facts(structure)?;
    let chosen = if algorithm == Algorithm::Auto { facts.profile.algorithm() } else { algorithm };
    let mut counted = sparse::count(structure, Operation::Levels, counting)?;
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

/// Cycles of what a warp does.
struct Costs {
    begin: f64,
    ask: f64,
    /// What the levels of four take to be loaded, and until a lane sees one that it waits for: inside of a block, and
    /// from another one.
    loaded: [f64; 2],
    seen: [f64; 2],
    told: f64,
    chain: f64,
    window: f64,
}

impl Costs {
    fn of(launch: &Counts, counting: &Counting) -> Self {
        let latency = counting.latency;
        let multiprocessors = f64::from(counting.caches.multiprocessors);
        let places = places(launch, counting) as f64;
        let warps = waiting(launch.blocks as f64, places) / multiprocessors * f64::from(launch.threads / 32);
        // Four schedulers issue an instruction a cycle each.
        let issue = latency.single.0.max(warps / 4.0);
        let [l2, memory] = counting.far.map(|latency| latency.0);
        let shared = latency.shared.0;
        let turn = (ONE + TURN) * issue + SLEEP;
        let seen = |hop: f64| hop + turn / 2.0 + ONE * issue;
        Self {
            // The ticket, the bounds of a row and its last column before the first window.
            begin: l2 + 2.0 * memory + BEGIN * issue,
            ask: FOUR * issue + shared,
            loaded: [ASKED as f64 * shared, l2],
            seen: [seen(shared), seen(2.0 * l2)],
            told: (TURN + TELL) * issue,
            chain: (TURN + TELL) * issue + ALONG * latency.exchange.0,
            window: (TURN + STEPS) * issue + THROUGH * latency.exchange.0,
        }
    }
}

/// Blocks that the device holds.
fn places(launch: &Counts, counting: &Counting) -> usize {
    let registers = launch.registers.unwrap_or(0).max(1);
    (resident(&counting.caches, launch, registers) * counting.caches.multiprocessors) as usize
}

impl Way {
    /// So many cycles later.
    fn later(self, cycles: f64) -> Self {
        Self { cycles: self.cycles + cycles as u32, ..self }
    }
}

/// The longest way through a structure's levels, by blocks as they are launched.
fn longest(structure: Structure, facts: &Facts, launch: &Counts, counting: &Counting) -> Way {
    let (costs, places) = (Costs::of(launch, counting), places(launch, counting));
    let ((chunk, threads), rows) = (facts.walk(), structure.rows);
    let warps = (threads / WINDOW) as usize;
    let mut known: Vec<Way> = Vec::with_capacity(rows as usize);
    let (mut ends, mut ahead) = (BinaryHeap::new(), Ahead::sorted(structure));
    let mut last = Way::default();
    for first in (0..rows).step_by(chunk as usize) {
        let is_full = ends.len() == places;
        let start = if is_full { ends.pop().map_or(last, |Reverse(end)| end) } else { Way::default() };
        let behind = rows.min(first.saturating_add(chunk));
        let mut warps = vec![start.later(costs.begin); warps];
        let mut end = start;
        for (number, window) in (first..behind).step_by(WINDOW as usize).enumerate() {
            let place = number % warps.len();
            let found = of_window(&costs, (first, window, behind), warps[place], &mut known, &mut ahead);
            warps[place] = found;
            end = end.max(found);
        }
        ends.push(Reverse(end));
        last = last.max(end);
    }
    last
}

/// Adds when the rows of a window are known, which a warp begins with then, and says when it has ended.
fn of_window(
    costs: &Costs,
    (first, window, behind): (u32, u32, u32),
    start: Way,
    known: &mut Vec<Way>,
    ahead: &mut Ahead,
) -> Way {
    let (mut ready, mut is_chain, mut are_chains) = (Vec::with_capacity(WINDOW as usize), [false; 32], true);
    let mut is_free = [true; 32];
    for row in window..behind.min(window + WINDOW) {
        let columns = ahead.columns(row);
        let (outer, inside) = columns.split_at(columns.partition_point(|&column| column < window));
        let place = (row - window) as usize;
        let mut time = start;
        for four in outer.chunks(ASKED) {
            let is_far = |&column: &u32| usize::from(column < first);
            let loaded = four.iter().map(is_far).max().unwrap_or(0);
            time = time.later(costs.ask + costs.loaded[loaded]);
            let (mut lacking, mut latest) = (0, time);
            for column in four {
                let (of, far) = (known[*column as usize], is_far(column));
                if of >= time {
                    let hops = of.hops + far as u32;
                    latest = latest.max(Way { hops, ..of.later(costs.seen[far]) });
                    lacking += 1;
                }
            }
            time = if lacking > 1 { latest.later(costs.ask + costs.loaded[loaded]) } else { latest };
        }
        ready.push(time);
        is_chain[place] = inside == [row.wrapping_sub(1)];
        is_free[place] = inside.is_empty();
        are_chains &= is_chain[place] || is_free[place];
    }
    let all = ready.iter().copied().max().unwrap_or(start);
    let (mut carried, mut end) = (start, start);
    for (place, ready) in ready.into_iter().enumerate() {
        carried = if is_chain[place] { carried.max(ready) } else { ready };
        let found = match (are_chains, is_free[place]) {
            (_, true) => ready.later(costs.told),
            (true, false) => carried.later(costs.chain),
            (false, false) => all.later(costs.window),
        };
        end = end.max(found);
        known.push(found);
    }
    end
}

/// A launch that finds levels with the blocks of its structure, the way through that, and a store for each row: asking
/// again is none.
///
/// # Errors
/// A structure of which nothing is known.
pub fn wait(launch: &mut Counts, structure: Structure, counting: &Counting) -> Result<(), String> {
    let facts = counting.facts(structure)?;
    let (chunk, threads) = facts.walk();
    (launch.blocks, launch.threads) = (structure.rows.div_ceil(chunk).into(), threads);
    let ring = if chunk <= threads { threads } else { 4 * threads };
    launch.shared = Bytes(8.0 + 8.0 * f64::from(ring));
    let name = format!("{structure} by {} of {threads}", launch.blocks);
    let way = counting.ways.get(name, || Ok(longest(structure, &facts, launch, counting)))?;
    let hops = f64::from(way.hops);
    let l2 = counting.far[0].0;
    launch.lines_written = f64::from(structure.rows).min(launch.lines);
    launch.sectors_written = launch.lines_written;
    launch.chain = hops;
    launch.path = Waits { computing: f64::from(way.cycles) - hops * 2.0 * l2, ..launch.path };
    launch.waits = Waits { computing: 0.0, ..launch.waits };
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
