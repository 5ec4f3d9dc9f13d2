//! Counts from what the simulator reports of a launch. Feature `simulator`.
//!
//! ```
//! use gpu_model::waves::{Bottleneck, predict, simulated};
//! use gpu_model::Device;
//! use gpu_sim::device::{Load, Store, block_idx, global_load, global_store, thread_idx};
//! use gpu_sim::metrics::Architecture;
//! use gpu_sim::{Geometry, Kernel, Simulator};
//!
//! let simulator = Simulator::new(simulated::config(Architecture::H200));
//! let bytes = 4 << 16;
//! let [input, output] = [simulator.alloc(bytes)?, simulator.alloc(bytes)?];
//! simulator.fill(input, bytes, 0)?;
//! // A copy of 2^16 words by blocks of 256 threads.
//! let kernel = Kernel { name: "copy", file: file!(), line: line!() };
//! let report = simulator.launch(kernel, Geometry::linear(256, 256, 0), &|| {
//!     let offset = u64::from(block_idx()[0] * 256 + thread_idx()[0]) * 4;
//!     global_store(output + offset, global_load::<u32>(input + offset, Load::Weak), Store::Weak);
//! })?;
//!
//! let counts = simulated::counts(&report)?;
//! // 2048 warps read and write a line each, of four sectors.
//! assert_eq!((counts.sectors_read, counts.sectors_written, counts.lines), (8192.0, 8192.0, 4096.0));
//! assert_eq!((counts.memory_read.0, counts.memory_written.0), (262_144.0, 262_144.0));
//! assert_eq!(predict(&Device::by_name("h200")?, &counts)?.bottleneck, Bottleneck::Launch);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use gpu_sim::metrics::{Architecture, Metrics};
use gpu_sim::{BlockOrder, Config, Count, Operation, Path, Record, Report, SiteCounts, WARP};

use super::ptx::{Kind, Text, What};
use super::{Counts, Instructions, Pipes, Scaled, Waits};
use crate::error::{Error, Result};
use crate::units::Bytes;

/// Bytes of a sector.
const SECTOR: f64 = 32.0;
/// Sectors of a line.
const SECTORS: f64 = 4.0;
/// Operations of 16 bits of a warpgroup for each byte of the second factor: its 64 rows, each half of a product.
const OF_COLUMN: f64 = 64.0;
/// Instructions of warps for what is counted as one operation of a warpgroup: four warps, and four pieces along the
/// sums.
const OF_WARPGROUP: f64 = 16.0;
/// Bytes that a pass through the banks serves.
const PASS: f64 = 128.0;
/// Where a kernel run by the host loads matrices from shared memory, and how many a warp loads at a time (`ldmatrix`).
const MATRICES: (&str, f64) = ("gpu-std/src/sim/mma.rs", 4.0);
/// Bytes of them that a lane gets.
const OF_MATRICES: u32 = 16;

/// The simulator's settings under which [`counts`] finds what it needs: everything counted, the caches of `device`
/// modelled, and blocks in ascending order, as hardware tends to start them.
pub fn config(device: Architecture) -> Config {
    Config {
        record: Record::Counts,
        caches: Some(device),
        block_order: BlockOrder::Ascending,
        vary_residency: false,
        ..Config::default()
    }
}

/// The counts of a launch.
///
/// The simulator knows sectors, passes and what the modelled caches let through. The rest is read out of that:
///
/// - *Waits* are the paths of blocks ([`gpu_sim::Paths`]): a block waits once for each place in the source where it
///   loads from global memory, as those of a loop's iterations are in flight together, and between two barriers once
///   for each place where it does an atomic or a fence. What one warp does between two barriers the others wait for.
///   What loads find in the modelled caches they wait for there.
/// - *The last block* does the most of each kind that any does; the chain is that of blocks that read what others
///   stored.
/// - *Conflicts.* Without them requests take a pass each, or as many as their bytes fill.
/// - *Matrices from shared memory.* A warp loads four by an instruction (`ldmatrix`) in a pass each; the simulator has
///   shuffles and loads for each of them.
///
/// Where only a sample of the blocks ran ([`Config::sample`]), amounts are scaled to the whole grid. What blocks share
/// in the second-level cache is then read once for each of them. How far that is off one launch cannot tell: [`sampled`]
/// states it, from a second one.
///
/// `registers`, `instructions.arithmetic` and `waits.computing` (see [`counts_with`]), `operations` and `necessary` are
/// for the caller to give.
///
/// # Errors
/// [`Error::NotCounted`] where the launch was not recorded with [`Record::Counts`] or `Full`, or its caches not
/// modelled, as with [`config`].
pub fn counts(report: &Report) -> Result<Counts> {
    let missing = |what| Error::NotCounted { kernel: report.kernel.clone(), what };
    let traffic = report.caches.ok_or_else(|| missing("a model of the caches"))?;
    let [grid, block] = [report.geometry.grid, report.geometry.block];
    let blocks = grid.iter().map(|&one| u64::from(one)).product::<u64>();
    let threads = block.iter().product::<u32>();
    // Of a sample of blocks all amounts are the sample's, until they are scaled at the end.
    let mean = waits(&report.paths.all, report.blocks as f64);
    let longest = waits(&report.paths.longest, 1.0);
    let all = &report.counts;
    let counted = Metrics::new(report).instructions;
    let sectors_read =
        [all.global_loads, all.read_only_loads, all.global_atomics, all.async_copies, all.box_copies];
    let mut counts = Counts {
        dependent: report.programmatic,
        shared: Bytes(report.geometry.shared_bytes.into()),
        instructions: Instructions {
            memory: (counted.ldst_executed()
                + counted.global_atomics
                + counted.shared_atomics
                + counted.async_copies) as f64,
            synchronisation: (counted.barriers + counted.warp_syncs + counted.fences) as f64,
            communication: counted.communication as f64,
            control: counted.control_approximate as f64,
            arithmetic: 0.0,
        },
        sectors_read: sectors_read.iter().map(|count| count.sectors as f64).sum(),
        sectors_written: (all.global_stores.sectors + all.box_stores.sectors) as f64,
        l2_read: Bytes((traffic.l2_reads + traffic.l2_atomics) as f64 * SECTOR),
        memory_read: Bytes(traffic.dram_reads as f64 * SECTOR),
        memory_written: Bytes((traffic.dram_writes + traffic.dirty) as f64 * SECTOR),
        atomics: all.global_atomics.requests as f64,
        divergent: all.branches.divergent as f64,
        waits: mean,
        last: Waits {
            memory: longest.memory - mean.memory,
            l2: (longest.l2 - mean.l2).max(0.0),
            shared: longest.shared - mean.shared,
            ..Waits::default()
        },
        chain: report.paths.hops.into(),
        pipes: Pipes { warpgroups: all.warpgroup_matrices.bytes as f64 * OF_COLUMN, ..Pipes::default() },
        ..Counts::empty(&report.kernel, blocks, threads)
    };
    for site in &report.sites {
        add(&mut counts, site);
    }
    if report.blocks < blocks {
        let factor = blocks as f64 / report.blocks as f64;
        counts.amounts().into_iter().for_each(|(_, amount)| *amount *= factor);
    }
    Ok(counts)
}

/// The counts of a launch of which a sample of the blocks ran, with the error that scaling them to the whole grid may
/// have: from two launches of the same kernel and geometry with samples of different sizes ([`Config::sample`]).
///
/// `counts` are those of the larger sample and `smaller` those of the smaller one. `error` is the part by which the two
/// differ in the amount where they differ most, what a block waits for on average being one of them; by how much the
/// predictions of the two differ is the error of a time. Of samples of n blocks that are drawn independently and of n/2,
/// the difference is off by √3 times the larger one's standard error on average, so that it rather says too much than too
/// little. Where all blocks do the same, it is 0. It is none of what blocks do for each other: neither of what the second-level
/// cache would keep, nor of `last`, the most that any block of the sample does.
///
/// # Errors
/// Those of [`counts`]; launches of different kernels, grids or blocks; samples of as many blocks, unless all ran.
///
/// ```
/// use gpu_model::waves::simulated;
/// use gpu_sim::device::{Store, block_idx, global_store, thread_idx};
/// use gpu_sim::metrics::Architecture;
/// use gpu_sim::{Config, Geometry, Kernel, Simulator};
///
/// // Of 4096 blocks, 16 and 8: each warp stores a line, in the first half of the grid two.
/// let run = |sample| -> Result<_, Box<dyn std::error::Error>> {
///     let config = Config { sample: Some(sample), ..simulated::config(Architecture::H200) };
///     let simulator = Simulator::new(config);
///     let output = simulator.alloc(4096 * 256)?;
///     let kernel = Kernel { name: "uneven", file: file!(), line: line!() };
///     Ok(simulator.launch(kernel, Geometry::linear(4096, 32, 0), &|| {
///         let word = output + u64::from(block_idx()[0]) * 256 + u64::from(thread_idx()[0]) * 4;
///         global_store(word, 1_u32, Store::Weak);
///         if block_idx()[0] < 2048 {
///             global_store(word + 128, 1_u32, Store::Weak);
///         }
///     })?)
/// };
/// let found = simulated::sampled(&run(16)?, &run(8)?)?;
/// assert_eq!((found.counts.blocks, found.counts.lines_written, found.error), (4096, 6144.0, 0.0));
/// // Three blocks are not a half and a half.
/// assert!(simulated::sampled(&run(16)?, &run(3)?)?.error > 0.1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn sampled(one: &Report, other: &Report) -> Result<Scaled> {
    let (larger, smaller) = if one.blocks < other.blocks { (other, one) } else { (one, other) };
    let (counts, of_smaller) = (self::counts(larger)?, self::counts(smaller)?);
    if counts.kernel != of_smaller.kernel {
        return Err(Error::OtherKernel { one: counts.kernel, other: of_smaller.kernel });
    }
    let same = |field, value: f64, other, other_value: f64| {
        if value == other_value {
            Ok(())
        } else {
            Err(Error::Contradiction { field, value, other, other_value })
        }
    };
    let (blocks, threads) = (counts.blocks as f64, f64::from(counts.threads));
    same("blocks", blocks, "blocks of the other sample's grid", of_smaller.blocks as f64)?;
    same("threads", threads, "threads of the other sample", f64::from(of_smaller.threads))?;
    let all = counts.blocks == smaller.blocks;
    if larger.blocks == smaller.blocks && !all {
        return Err(Error::Contradiction {
            field: "simulated blocks",
            value: smaller.blocks as f64,
            other: "those of the other sample",
            other_value: larger.blocks as f64,
        });
    }
    let (error, worst) = counts.differs_from(&of_smaller);
    Ok(Scaled { counts, smaller: of_smaller, error, worst })
}

/// What a block waits for where so many have this path together.
fn waits(path: &Path, blocks: f64) -> Waits {
    let each = |count: u64| count as f64 / blocks;
    Waits {
        memory: each(path.memory),
        l2: each(path.loads - path.memory.min(path.loads) + path.atomics),
        shared: each(path.barriers),
        ..Waits::default()
    }
}

/// The counts of a launch whose kernel has this text: with its arithmetic and branches, what they take, and how often
/// warps wait for what they load. The slowest warps of a block are taken to execute as much more of loops than the
/// average as they have requests.
///
/// A warp issues in order: what it loads in one turn of a loop it waits for before it asks in the next one
/// ([`ptx`](super::ptx) has these steps). So it waits oftener than once for each place in the source:
///
/// ```text
/// w            = waits of the text / loads · loads of a block's slowest warps, at most those that miss
/// waits.turns  = more = max(w − places, 0)           places: those in the source that are waited for once, as above
/// waits.memory = places in memory + more · misses in memory / misses
/// waits.l2     = places in L2 + atomics + more · (1 − misses in memory / misses)
/// ```
///
/// # Errors
/// Those of [`counts`].
pub fn counts_with(report: &Report, text: &Text) -> Result<Counts> {
    let mut counts = counts(report)?;
    let kinds = self::executed(report);
    let warps = counts.blocks as f64 * f64::from(counts.threads.div_ceil(WARP));
    let executed = text.executed(&kinds, warps);
    let factor = counts.blocks as f64 / report.blocks as f64;
    let requests = counts.instructions.all() + report.sites.iter().map(merged).sum::<f64>() * factor;
    let path = report.paths.all.requests as f64 / report.blocks as f64;
    if requests > 0.0 {
        let slower = (path * warps / requests).max(1.0);
        // What is in no loop they all execute once.
        counts.waits.computing = (executed.cycles + executed.cycles_of_loops * (slower - 1.0)) / warps;
        let each = |count: u64| count as f64 / report.blocks as f64;
        let Path { loads, all_loads, misses, memory_misses, .. } = report.paths.all;
        let is_load = |(kind, _): &&(Kind, f64)| kind.0 == What::GlobalLoad;
        let requests: f64 = kinds.iter().filter(is_load).map(|(_, times)| times).sum();
        let waits = if requests > 0.0 { executed.waits / requests * each(all_loads) } else { 0.0 };
        let more = waits.min(each(misses)) - each(loads);
        if more > 0.0 {
            let in_memory = memory_misses as f64 / misses as f64;
            counts.waits.memory += more * in_memory;
            counts.waits.l2 += more * (1.0 - in_memory);
            counts.waits.turns = more;
        }
    }
    counts.instructions.arithmetic = executed.arithmetic;
    counts.instructions.control = executed.control;
    // Where a branch of the source has become a predicate, nothing parts.
    counts.divergent = counts.divergent.min(executed.control);
    Ok(counts)
}

/// The same, with what goes through single units ([`Pipes`]). A matrix operation of a warp (`mma`) is so many
/// operations of 16 bits.
///
/// Matrix operations of warpgroups go on by themselves, and what they take is the tensor cores' time. So where there
/// are some, warps are not taken to wait for what the text says of their registers.
///
/// # Errors
/// Those of [`counts`].
pub fn counts_with_pipes(report: &Report, text: &Text, mma: f64) -> Result<Counts> {
    let mut counts = counts_with(report, text)?;
    let factor = counts.blocks as f64 / (report.blocks as f64).max(1.0);
    counts.pipes.warps = report.counts.matrices.requests as f64 * factor * mma;
    let warps = counts.blocks as f64 * f64::from(counts.threads.div_ceil(WARP));
    counts.pipes.integers = text.executed(&executed(report), warps).integers;
    counts.pipes.exchanges = counts.instructions.communication;
    if counts.pipes.warpgroups > 0.0 {
        counts.waits.computing = 0.0;
    }
    Ok(counts)
}

/// How often each kind of instruction was executed, of the whole grid.
fn executed(report: &Report) -> Vec<(Kind, f64)> {
    let blocks = report.geometry.grid.iter().map(|&one| f64::from(one)).product::<f64>();
    let factor = blocks / (report.blocks as f64).max(1.0);
    let mut all: Vec<(Kind, f64)> = Vec::new();
    for site in &report.sites {
        let SiteCounts { operation, count, .. } = site;
        let is_matrices = is_matrices(site);
        let bytes = if is_matrices { OF_MATRICES } else { of_lane(count) };
        let kind = match operation {
            Operation::GlobalLoad | Operation::ReadOnlyLoad => (What::GlobalLoad, bytes),
            Operation::GlobalStore => (What::GlobalStore, bytes),
            Operation::GlobalAtomic => (What::GlobalAtomic, bytes),
            Operation::SharedLoad => (What::SharedLoad, bytes),
            Operation::SharedStore => (What::SharedStore, bytes),
            Operation::SharedAtomic => (What::SharedAtomic, bytes),
            Operation::AsyncCopy => (What::AsyncCopy, bytes),
            Operation::Barrier => (What::Barrier, 0),
            Operation::WarpSync => (What::Barrier, 1),
            Operation::Fence => (What::Fence, 0),
            Operation::Shuffle if is_matrices => continue,
            Operation::Shuffle => (What::Shuffle, 0),
            Operation::Vote | Operation::Redux => (What::Vote, 0),
            Operation::Match => (What::Match, 0),
            Operation::Matrix | Operation::WarpgroupMatrix => (What::Matrix, 0),
            // The copy engine's rows are none of the warps' instructions.
            Operation::BoxCopy | Operation::BoxStore | Operation::Branch | Operation::Loop => continue,
        };
        let each = if *operation == Operation::WarpgroupMatrix { OF_WARPGROUP } else { 1.0 };
        let times = (count.requests as f64 - merged(site)) * factor * each;
        match all.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, sum)) => *sum += times,
            None => all.push((kind, times)),
        }
    }
    all
}

/// The counts of a fill of `bytes` that is enqueued as launches are: as of a kernel whose threads store 16 bytes each.
pub fn fill(bytes: u64) -> Counts {
    const THREADS: u32 = 512;
    const STORED: u64 = 16;
    let threads = bytes.div_ceil(STORED);
    let lines = bytes.div_ceil(128) as f64;
    Counts {
        instructions: Instructions { memory: threads.div_ceil(32) as f64, ..Instructions::default() },
        sectors_written: bytes.div_ceil(32) as f64,
        lines,
        lines_written: lines,
        memory_written: Bytes(bytes as f64),
        ..Counts::empty("fill", threads.div_ceil(THREADS.into()).max(1), THREADS)
    }
}

/// The bytes that a lane moves by a request.
fn of_lane(count: &Count) -> u32 {
    count.bytes.checked_div(count.lanes).unwrap_or(0) as u32
}

/// Whether it is part of an instruction that loads four matrices. The host has for each of them a shuffle, by which
/// lanes learn where its rows are, and a load of words; of its transpose two, as they are halves of words.
fn is_matrices(SiteCounts { site, operation, .. }: &SiteCounts) -> bool {
    matches!(operation, Operation::SharedLoad | Operation::Shuffle) && site.file.ends_with(MATRICES.0)
}

/// How many requests are no instructions of their own on the device.
fn merged(site: &SiteCounts) -> f64 {
    let requests = site.count.requests as f64;
    match site.operation {
        _ if !is_matrices(site) => 0.0,
        Operation::Shuffle => requests,
        _ => requests * (1.0 - f64::from(of_lane(&site.count)) / f64::from(OF_MATRICES)),
    }
}

/// Adds what one kind of operation did at one place.
fn add(counts: &mut Counts, site: &SiteCounts) {
    let SiteCounts { operation, count, .. } = site;
    match operation {
        Operation::Shuffle => counts.instructions.communication -= merged(site),
        Operation::SharedLoad if is_matrices(site) => {
            counts.instructions.memory -= merged(site);
            // A matrix is a pass, transposed or not, and lines of it that share banks are more.
            let passes =
                count.wavefronts as f64 * f64::from(of_lane(count)) * MATRICES.1 / f64::from(OF_MATRICES);
            counts.wavefronts += passes;
            let alone = (count.requests as f64 - merged(site)) * MATRICES.1;
            counts.wavefronts_without_conflicts += alone.min(passes);
        }
        Operation::GlobalLoad | Operation::ReadOnlyLoad => {
            counts.lines += lines(count);
        }
        // It passes by the lines that are known, four sectors at a time.
        Operation::AsyncCopy => {
            counts.lines += (count.requests as f64).max(count.sectors as f64 / SECTORS);
            passes(counts, count);
        }
        Operation::GlobalStore | Operation::GlobalAtomic => {
            counts.lines += lines(count);
            counts.lines_written += lines(count);
        }
        Operation::SharedLoad
        | Operation::SharedStore
        | Operation::SharedAtomic
        | Operation::BoxCopy
        | Operation::BoxStore => passes(counts, count),
        Operation::Fence
        | Operation::Barrier
        | Operation::WarpSync
        | Operation::Vote
        | Operation::Redux
        | Operation::Match
        | Operation::Matrix
        | Operation::WarpgroupMatrix
        | Operation::Branch
        | Operation::Loop => {}
    }
}

/// Lines that the requests of a place touch.
fn lines(count: &Count) -> f64 {
    count.lines as f64
}

fn passes(counts: &mut Counts, count: &Count) {
    let wavefronts = count.wavefronts as f64;
    counts.wavefronts += wavefronts;
    // Lanes that share a word ask for more bytes than pass.
    let filled = (count.requests as f64).max(count.bytes as f64 / PASS);
    counts.wavefronts_without_conflicts += filled.min(wavefronts);
}

#[cfg(test)]
mod tests;
