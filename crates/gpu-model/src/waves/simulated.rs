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
use super::{Counts, Instructions, Scaled, Waits};
use crate::error::{Error, Result};
use crate::units::Bytes;

/// Bytes of a sector.
const SECTOR: f64 = 32.0;
/// Sectors of a line.
const SECTORS: f64 = 4.0;
/// Bytes that a pass through the banks serves.
const PASS: f64 = 128.0;

/// The simulator's settings under which [`counts`] finds what it needs: everything recorded, the caches of `device`
/// modelled, and blocks in ascending order, as hardware tends to start them.
pub fn config(device: Architecture) -> Config {
    Config {
        record: Record::Full,
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
/// - *Lines* of the requests at a place in the source. Where two lanes or more share a sector on average, the sectors
///   are taken to lie side by side, four a line: so do neighbours of 1 to 16 bytes and strides of 2 and 4 words. Where
///   fewer do, each sector is taken to be in a line of its own: the worst case, which a stride of 8 words does not
///   reach.
/// - *Waits* are the paths of blocks ([`gpu_sim::Paths`]): a block waits once for each place in the source where it
///   loads from global memory, as those of a loop's iterations are in flight together, and between two barriers once
///   for each place where it does an atomic or a fence. What one warp does between two barriers the others wait for.
///   What loads find in the modelled caches they wait for there.
/// - *The last block* does the most of each kind that any does; the chain is that of blocks that read what others
///   stored.
/// - *Conflicts.* Without them requests take a pass each, or as many as their bytes fill.
///
/// Where only a sample of the blocks ran ([`Config::sample`]), amounts are scaled to the whole grid. What blocks share
/// in the second-level cache is then read once for each of them. How far that is off one launch cannot tell: [`sampled`]
/// states it, from a second one.
///
/// `registers`, `instructions.arithmetic` and `waits.computing` (see [`counts_with`]), `operations` and `necessary` are
/// for the caller to give.
///
/// # Errors
/// [`Error::NotCounted`] where the launch was not recorded with [`Record::Full`] or its caches not modelled, as with
/// [`config`].
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
    let sectors_read = [all.global_loads, all.read_only_loads, all.global_atomics, all.async_copies];
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
        sectors_written: all.global_stores.sectors as f64,
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
        ..Counts::empty(&report.kernel, blocks, threads)
    };
    for SiteCounts { operation, count, .. } in &report.sites {
        add(&mut counts, *operation, count);
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
/// warps wait for what they load. The slowest warps of a block are taken to execute as much more than the average as
/// they have requests.
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
    let requests = counts.instructions.all();
    let path = report.paths.all.requests as f64 / report.blocks as f64;
    if requests > 0.0 {
        let slower = (path * warps / requests).max(1.0);
        counts.waits.computing = executed.cycles / warps * slower;
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

/// How often each kind of instruction was executed, of the whole grid.
fn executed(report: &Report) -> Vec<(Kind, f64)> {
    let blocks = report.geometry.grid.iter().map(|&one| f64::from(one)).product::<f64>();
    let factor = blocks / (report.blocks as f64).max(1.0);
    let mut all: Vec<(Kind, f64)> = Vec::new();
    for SiteCounts { operation, count, .. } in &report.sites {
        let bytes = count.bytes.checked_div(count.lanes).unwrap_or(0) as u32;
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
            Operation::Shuffle => (What::Shuffle, 0),
            Operation::Vote | Operation::Redux => (What::Vote, 0),
            Operation::Match => (What::Match, 0),
            Operation::Matrix => (What::Matrix, 0),
            Operation::Branch | Operation::Loop => continue,
        };
        let times = count.requests as f64 * factor;
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

/// Adds what one kind of operation did at one place.
fn add(counts: &mut Counts, operation: Operation, count: &Count) {
    match operation {
        Operation::GlobalLoad | Operation::ReadOnlyLoad => {
            counts.lines += lines(count);
        }
        Operation::AsyncCopy => {
            counts.lines += lines(count);
            passes(counts, count);
        }
        Operation::GlobalStore | Operation::GlobalAtomic => {
            counts.lines += lines(count);
            counts.lines_written += lines(count);
        }
        Operation::SharedLoad | Operation::SharedStore | Operation::SharedAtomic => passes(counts, count),
        Operation::Fence
        | Operation::Barrier
        | Operation::WarpSync
        | Operation::Shuffle
        | Operation::Vote
        | Operation::Redux
        | Operation::Match
        | Operation::Matrix
        | Operation::Branch
        | Operation::Loop => {}
    }
}

/// Lines that the requests of a place touch.
fn lines(count: &Count) -> f64 {
    let (requests, sectors) = (count.requests as f64, count.sectors as f64);
    let side_by_side = 2.0 * sectors <= count.lanes as f64;
    if side_by_side { requests.max(sectors / SECTORS) } else { requests.max(sectors) }
}

fn passes(counts: &mut Counts, count: &Count) {
    let wavefronts = count.wavefronts as f64;
    counts.wavefronts += wavefronts;
    // Lanes that share a word ask for more bytes than pass.
    let filled = (count.requests as f64).max(count.bytes as f64 / PASS);
    counts.wavefronts_without_conflicts += filled.min(wavefronts);
}

#[cfg(test)]
mod tests {
    use gpu_sim::device::{
        Load, Store, barrier, global_load, global_store, shared_load, shared_store, thread_idx,
    };
    use gpu_sim::{Geometry, Kernel, Simulator};

    use super::super::Waits;
    use super::super::ptx::Latency;
    use super::*;
    use crate::device::Device;

    const KERNEL: Kernel<'_> = Kernel { name: "counted", file: file!(), line: line!() };

    /// A tile of 32 × 32 words by 1024 threads: rows are read and stored in shared memory, columns are loaded from
    /// there and written by rows; then each word is stored once more, by columns.
    ///
    /// 32 warps read a line each, of 4 sectors, and store 1 + 32 lines. Shared memory is stored in 32 passes and loaded
    /// in 32 · 32, where 32 would do; 32 warps meet one barrier.
    #[test]
    fn a_tile() {
        let simulator = Simulator::new(config(Architecture::H200));
        let data = simulator.alloc(4096).expect("memory");
        simulator.fill(data, 4096, 0).expect("memory");
        let output = simulator.alloc(8192).expect("memory");
        let geometry = Geometry { grid: [1, 1, 1], block: [32, 32, 1], shared_bytes: 4096 };
        let report = simulator
            .launch(KERNEL, geometry, &|| {
                let [x, y, _] = thread_idx();
                let (row, column) = (u64::from(y * 32 + x) * 4, u64::from(x * 32 + y) * 4);
                shared_store(row as u32, global_load::<u32>(data + row, Load::Weak));
                barrier();
                let value: u32 = shared_load(column as u32);
                global_store(output + row, value, Store::Weak);
                global_store(output + 4096 + column, value, Store::Weak);
            })
            .expect("it is right");
        let counts = counts(&report).expect("all is recorded");
        assert_eq!((counts.blocks, counts.threads, counts.shared), (1, 1024, Bytes(4096.0)));
        assert_eq!((counts.sectors_read, counts.sectors_written), (128.0, 128.0 + 1024.0));
        assert_eq!((counts.lines, counts.lines_written), (32.0 + 32.0 + 1024.0, 32.0 + 1024.0));
        assert_eq!((counts.wavefronts, counts.wavefronts_without_conflicts), (1056.0, 64.0));
        assert_eq!((counts.memory_read, counts.memory_written), (Bytes(4096.0), Bytes(8192.0)));
        assert_eq!(counts.waits, Waits { memory: 1.0, l2: 0.0, shared: 1.0, ..Waits::default() });
        assert_eq!((counts.last, counts.chain), (Waits::default(), 0.0));
        assert_eq!((counts.instructions.memory, counts.instructions.synchronisation), (160.0, 32.0));
        assert_eq!(counts.check(), Ok(()));
    }

    /// A thread adds up 16 words, each of a line of its own, in a loop: one place, and by the text a wait in each turn.
    /// Of a loop that loads four words at a time, one in each of four turns.
    #[test]
    fn each_turn_waits_as_the_text_says() {
        let simulator = Simulator::new(config(Architecture::H200));
        let data = simulator.alloc(16 * 128).expect("memory");
        simulator.fill(data, 16 * 128, 0).expect("memory");
        let geometry = Geometry::linear(1, 1, 0);
        let report = simulator
            .launch(KERNEL, geometry, &|| {
                let sum: u32 = (0..16).map(|line| global_load::<u32>(data + line * 128, Load::Weak)).sum();
                global_store(data, sum, Store::Weak);
            })
            .expect("it is right");
        assert_eq!(counts(&report).expect("all is recorded").waits.memory, 1.0);
        let latency =
            Latency::of(&Device::by_name("h200").expect("it is described")).expect("it was measured");
        let waits = |turn: &str| {
            let text = format!("$1:\n{turn}@p0 bra $1;\nst.global.b32 [d1],s;");
            counts_with(&report, &Text::of(&text, latency)).expect("all is recorded").waits
        };
        let one = waits("ld.global.b32 a,[d0];\nadd.s32 s,s,a;\n");
        assert_eq!((one.memory, one.l2, one.turns), (16.0, 0.0, 15.0));
        let four = waits(
            "ld.global.b32 a,[d0];\nld.global.b32 b,[d0+128];\nld.global.b32 c,[d0+256];\n\
             ld.global.b32 d,[d0+384];\nadd.s32 s,s,a;\nadd.s32 s,s,b;\nadd.s32 s,s,c;\nadd.s32 s,s,d;\n",
        );
        assert_eq!((four.memory, four.turns), (4.0, 3.0));
    }

    /// A quarter of the blocks counts as much as all where all do the same; what a warp waits for stays.
    #[test]
    fn a_sample_of_blocks_stands_for_all() {
        let found = [None, Some(4)].map(|sample| {
            let simulator = Simulator::new(Config { sample, ..config(Architecture::H200) });
            let data = simulator.alloc(16 * 128).expect("memory");
            simulator.fill(data, 16 * 128, 0).expect("memory");
            let body = || {
                let word = data + u64::from(gpu_sim::device::block_idx()[0] * 32 + thread_idx()[0]) * 4;
                global_store(word, global_load::<u32>(word, Load::Weak), Store::Weak);
            };
            let report = simulator.launch(KERNEL, Geometry::linear(16, 32, 0), &body).expect("it is right");
            assert_eq!(report.blocks, u64::from(sample.unwrap_or(16)));
            counts(&report).expect("all is recorded")
        });
        assert_eq!((found[0].sectors_read, found[0].lines, found[0].waits.memory), (64.0, 32.0, 1.0));
        assert_eq!(found[0], found[1]);
    }

    /// Block 0 does 9 times what the other 15 do. By 4 blocks, of which none is the first, it is missed; by
    /// all it is not, and the difference is stated: 24 lines, where 4 of 1 line are 16.
    #[test]
    fn the_error_of_a_sample_is_stated() {
        let run = |sample, kernel, blocks| {
            let simulator = Simulator::new(Config { sample: Some(sample), ..config(Architecture::H200) });
            let data = simulator.alloc(blocks as usize * 9 * 128).expect("memory");
            let body = || {
                let block = gpu_sim::device::block_idx()[0];
                for line in 0..if block == 0 { 9 } else { 1 } {
                    let word = data + u64::from((block * 9 + line) * 32 + thread_idx()[0]) * 4;
                    global_store(word, line, Store::Weak);
                }
            };
            simulator.launch(kernel, Geometry::linear(blocks, 32, 0), &body).expect("it is right")
        };
        let (all, some) = (run(16, KERNEL, 16), run(4, KERNEL, 16));
        let found = sampled(&some, &all).expect("they are of one launch");
        assert_eq!((found.counts.lines, found.smaller.lines), (24.0, 16.0));
        assert_eq!((found.error, sampled(&all, &all).expect("all ran").error), (1.0 / 3.0, 0.0));
        // What cannot be compared.
        let other = Kernel { name: "other", ..KERNEL };
        let error = sampled(&all, &run(4, other, 16));
        assert!(matches!(error, Err(Error::OtherKernel { .. })), "{error:?}");
        for report in [&some, &run(4, KERNEL, 32)] {
            let error = sampled(report, &some);
            assert!(matches!(error, Err(Error::Contradiction { .. })), "{error:?}");
        }
    }

    #[test]
    fn a_fill_writes_its_bytes() {
        let found = fill(1 << 20);
        assert_eq!(
            (found.blocks, found.lines_written, found.memory_written),
            (128, 8192.0, Bytes(1048576.0))
        );
        assert_eq!((found.check(), fill(0).check()), (Ok(()), Ok(())));
    }

    #[test]
    fn what_was_not_recorded_is_missed() {
        let simulator = Simulator::new(Config { record: Record::Full, ..Config::default() });
        let report = simulator.launch(KERNEL, Geometry::linear(1, 32, 0), &|| {}).expect("it does nothing");
        let error = counts(&report).expect_err("there are no caches");
        assert_eq!(error.to_string(), "kernel `counted` was simulated without a model of the caches");
    }
}
