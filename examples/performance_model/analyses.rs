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
use gpu_benches::suite::{Case, Op, Shape, Type};
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
use super::waiting::waiting;

/// Rows of which one says how the others are.
const EACH: u32 = 61;
/// Registers of a thread, as ptxas says of 9.0.
const REGISTERS: u32 = 64;
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
/// The most groups that a block counts in shared memory.
const MOST_COUNTERS: usize = 8192;

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
    entries: usize,
    /// Rows of each level and class.
    groups: Vec<u32>,
    /// The way through its levels, where it was asked for.
    way: Way,
}

/// How long the levels of rows wait for each other.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Way {
    /// Cycles until all are known.
    cycles: u32,
    /// Instructions of all warps, but for questions that are asked again.
    instructions: f64,
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
            let group = CLASSES * (own as usize - 1) + class(count);
            if facts.groups.len() <= group {
                facts.groups.resize(CLASSES * own as usize, 0);
            }
            facts.groups[group] += 1;
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
        let classes = if self.profile.longest == 0 { 1 } else { class(self.profile.longest) as u32 + 2 };
        classes * self.profile.levels
    }

    /// In which way rows are ordered: whether each tile of them counts all keys, and whether a block counts all groups in
    /// shared memory.
    pub fn order(&self) -> [bool; 2] {
        [self.keys() <= FEW_KEYS, CLASSES * self.profile.levels as usize <= MOST_COUNTERS]
    }

    /// Warps that solve systems with ordered rows.
    pub fn tasks(&self) -> u32 {
        let widest = match self.profile.longest {
            0..=32 => 8,
            33..=64 => 16,
            _ => 32,
        };
        let lanes = [1, 1, 1, 2, 4, widest, 1];
        self.groups.iter().zip(lanes.iter().cycle()).map(|(rows, lanes)| rows.div_ceil(32 / lanes)).sum()
    }

    /// Whether the ordered rows' columns are kept a second time.
    fn is_packed(&self) -> bool {
        let units = self.tasks() as usize * UNITS;
        self.profile.longest <= LONGEST && units <= self.entries.max(FEW_UNITS)
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
fn walk(structure: Structure) -> (u32, u32) {
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
    if profile.is_grid() { (stride, WALKING) } else { (BLOCK, BLOCK) }
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
fn longest(
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
        let of_class = |class| facts.groups.iter().skip(class).step_by(CLASSES).sum::<u32>();
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
