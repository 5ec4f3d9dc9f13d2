//! Our own model: a launch's time from its counts, what it is bound by, and what to change.
//!
//! Blocks come in waves. In each, a block waits, and queues with its neighbours on a multiprocessor for the busiest
//! level there; and all blocks together take at least as long as the device's busiest level needs for what goes through
//! it.
//!
//! ```text
//! R = blocks resident on a multiprocessor: by blocks, warps, registers (units of 256 a warp), shared memory
//! S = multiprocessors,  B = blocks,  w = warps of a block,  W = ⌈B / (R·S)⌉ waves,  f = clock
//! I = ⌈B / S⌉ · S / B, the busiest multiprocessor's excess;  P = warps a cycle that its lanes take
//! taken      = min(R, B / S) · w / most warps                the part of the places that ask at a time
//! L(x)       = x_latency + taken · (x_loaded − x_latency)    x: memory, l2
//!
//! τ          = waits.turns / (waits.memory + waits.l2)       the part of them in further turns of loops
//! further    = τ · (waits.memory · memory_latency + waits.l2 · l2_latency) / f
//! latency    = turnover + w · turnover_warp + (1 − τ) · (waits.memory · L(memory) + waits.l2 · L(l2))
//!              + waits.shared · (shared_latency + barrier + w · barrier_warp), in cycles / f
//!              + max(waits.computing − instructions / (P · B), 0) / f    beside what its instructions take there anyway
//!              + further
//! α          = max(1 − waits.shared / waits.turns, 0)        the part of the turns between which a block does not meet
//! φ          = α · waits.turns / (waits.memory + waits.l2 + waits.shared)
//! stored     = max(lines written, sectors written / 2)       a line is taken two sectors at a time
//! alone      = max(lines + wavefronts + exchanges, integers / (P / 2), stored · store, bytes from l2 / l2_unit,
//!              instructions / P, operations / (2 · lanes)) / (B · f)    a block's busiest level on its multiprocessor
//!              of warpgroups tensor · S / B; as a block multiplies nothing while it writes, their latency has
//!              max(lines + passes of what is written, in and out; stored · store) / (B · f) more
//! far        = memory · min(B, S) / B                        a block's of each multiprocessor, memory as below
//! T(n; l, a, b) = l + a · (1 + q_a(n − 1)) + b · (1 + q_b(n − 1)),  q_a(n) = n · a · (1 + q_a(n − 1)) / T(n)
//! wave(r)    = T(r; latency − α · further, (1 − φ) · alone, (1 − α) · τ · far)
//!              + T(r · w; α · further, φ · alone / w, α · τ · far / w)
//! queued     = (W − 1) · wave(R) + wave(⌈(B − (W − 1) · R · S) / S⌉)    the last wave has what is left
//!
//! issue      = I · instructions / (P · S · f)                arithmetic = I · operations / peak
//! l1         = I · (lines + wavefronts + exchanges) / (S · f)    one memory serves all, a line or a pass a cycle
//! integers   = I · integers / (P / 2 · S · f)                units that half of the lanes have
//! tensor     = I · (warpgroups / tensor.warpgroups + warps / tensor.warps) / tensor.peak
//! l2         = bytes read from it / (l2 · f)
//! stores     = max(stored / stores, I · stored · store / (S · f))
//! memory     = 2m / (copy · bandwidth) + (read − m) / (read · bandwidth) + (written − m) / (write · bandwidth)
//!              where m = min(read, written): between them the bus turns round
//! starting   = B / blocks                                    blocks that start in a second
//! throughput = max(starting, min(B, R·S) / blocks + max(issue, arithmetic, integers, tensor, l1, l2, stores,
//!              memory))
//!
//! chain      = (chain · 2 · l2_latency + path.memory · memory_latency + path.l2 · l2_latency
//!              + path.shared · (as above) + path.computing) / f
//!              a store and the load that sees it, and what is done along the way
//! ending     = last.memory · memory_latency + last.l2 · l2_latency + last.shared · (as above), in cycles / f
//!              + l2_latency / f                              the way of what is stored
//! time       = max(launch, gap + max(queued, latency − α · further + throughput) + chain + ending)
//!              of several launches the largest of the sums of either side
//! bound      = max(necessary bytes / bandwidth, operations / peak)
//! ```
//!
//! T and q are the mean value analysis of a closed network of queues (Reiser and Lavenberg 1980): a block finds at each
//! what there was on average with one block less. In further turns of a loop between which a block does not meet, its
//! warps do so one by one: while one waits, others are served. They do not come all at once, as blocks of a wave do, so
//! memory is as fast for each of them as for one alone, but for what queues there: L(x) has that for what all ask for
//! at once, and in further turns memory is a queue. A launch among many takes what the host
//! needs to issue the next, or the gap between two and its own work; kernels that wait for the one before by themselves
//! ([`Counts::dependent`]) have a smaller gap, and their blocks start half as fast.
//!
//! `latency` is a block's critical path: between two barriers the slowest warp counts, so that a ticket that one thread
//! draws is a wait of all. What its warps compute one instruction after another takes as long as that at least, and
//! what it takes of the multiprocessor is part of it. `chain` counts blocks that wait for what another one stored, one
//! behind the other; `ending` is what the last one does beside, as where it adds the others' parts.
//!
//! `bound` needs nothing but the data sheet: no implementation is faster. The bottleneck is the largest of launch,
//! W · latency, the parts of throughput, and chain.
//!
//! ```
//! use gpu_model::waves::{Bottleneck, Counts, predict};
//! use gpu_model::{Device, units::Bytes};
//! // A copy of 2^26 floats by blocks of 256 threads, a float each: a warp reads and writes a line.
//! let (bytes, lines) = (Bytes(4.0 * 67_108_864.0), 2_097_152.0);
//! let mut counts = Counts::empty("copy", 262_144, 256);
//! (counts.lines, counts.lines_written, counts.l2_read) = (2.0 * lines, lines, bytes);
//! (counts.memory_read, counts.memory_written, counts.necessary) = (bytes, bytes, bytes * 2.0);
//! (counts.instructions.memory, counts.waits.memory) = (2.0 * lines, 1.0);
//! let found = predict(&Device::by_name("h200")?, &counts)?;
//! // Too little is on its way at a time: 8 blocks of a multiprocessor wait for 8 KiB.
//! assert_eq!(found.bottleneck, Bottleneck::Latency);
//! assert!(found.time.0 > 1.5 * found.bound.time.0);
//! # Ok::<(), gpu_model::Error>(())
//! ```
//!
//! # Calibration
//!
//! No data sheet has what section `[waves]` of a device's description has: example `calibrate` measures it, by kernels
//! of its own (`gpu-kernels/calibrate`), of which none is among those that the model is judged by. Those of the H200
//! are the medians of five rounds on 2026-11-23 (`nvidia-h200-2026-11-23-calibration.jsonl` in benches/results).
//! `memory_loaded` and `l2_loaded` are what a block of 512 or 1024 threads waits, turnover aside, that copies a word a
//! thread while every place for threads is taken. None of the numbers is fitted to the rows below.
//!
//! A time is that of one launch among many of a stream, with data that is not in the caches yet.
//!
//! # How well
//!
//! Against measured rows of the H200 (example `performance_model`), absolute errors in percent:
//!
//! | rows | | median | 90th percentile |
//! |---|---|---|---|
//! | 48 | transpositions, sums of `f64` | 7.0 | 15.6 |
//! | 127 | other cases of the benchmarks, looked at | 7.6 | 37.4 |
//! | 15 | sums of `f32`, `i32` and `u8`, held out by name | 5.1 | 17.8 |
//! | 103 | other cases of the benchmarks, held out by name | 7.9 | 33.9 |
//! | 96 | variants timed later | 13.0 | 37.1 |
//!
//! Of 396 pairs of variants of one size that differ by more than 10 %, the faster one is found in 384. The formulas
//! (not the numbers in them) were found with the 48 rows in view: that blocks queue on a multiprocessor, that the first
//! wave has to start before levels are busy, and that the bus turns round. With the 127 in view came what is counted
//! (fills between launches, dependent launches, arithmetic by [`ptx`], samples of blocks), critical paths, what warps
//! compute one instruction after another, chains and the last block. Until then no row was looked at that is held out
//! by its name, by a rule fixed before any was predicted. Turns of loops came last, with all rows of both devices in
//! view: with them nothing is held out any more but from the numbers. Before, the five lines were 7.5 and 21.3, 8.0 and
//! 37.3, 5.1 and 14.2, 8.3 and 34.4, 16.1 and 61.8, and 376 pairs were right.
//!
//! Of the H100, with its own calibration (one round, `nvidia-h100-2026-11-25-calibration.jsonl`); before turns of loops
//! no row of it had been looked at, and the numbers in brackets are those of then:
//!
//! | rows | | median | 90th percentile |
//! |---|---|---|---|
//! | 48 | transpositions, sums of `f64` | 5.0 (5.6) | 25.8 (25.8) |
//! | 98 | other cases of the benchmarks, looked at on the H200 | 7.5 (7.5) | 36.7 (33.5) |
//! | 15 | sums of `f32`, `i32` and `u8` | 10.0 (10.0) | 23.4 (23.4) |
//! | 90 | other cases of the benchmarks | 5.0 (5.5) | 28.2 (25.7) |
//! | 96 | variants timed later | 14.0 (16.2) | 34.7 (62.3) |
//!
//! The faster one of a pair is found in 385 of 400 (376). Other devices were not measured.
//!
//! Whole lines that are stored in two turns and last waves of what is left came after these tables, with rows of other
//! families in view. With them the rows that were looked at are 7.4 and 30.9, those held out by name 6.9 and 33.9, and
//! the variants 12.2 and 37.0; on the H100 5.8 and 30.4, 5.5 and 28.0, 14.1 and 31.1. As many pairs are found.
//!
//! Loops of one run by turns that come together, launches that the host issues meanwhile, and caches of two halves came
//! last: rows that were looked at are 6.9 and 29.3, those held out by name 6.2 and 31.3, the variants 13.8 and 35.7; on
//! the H100 5.6 and 27.6, 6.3 and 26.3, 14.2 and 30.2. The faster one of a pair is found in 385 of each.
//!
//! Rows of kernels that have changed since they were timed, some of the above, do not count any more, and sums of
//! segments have the grids of long arrays: rows that were looked at are 5.4 and 19.7 (142 rows), those held out by name
//! 4.8 and 19.1 (87), the variants 14.1 and 31.2 (93).
//!
//! With filters and histograms on a part of the multiprocessors, and variants timed again on the H200 with what
//! launching takes there, these are 5.2 and 19.7, 4.8 and 18.0, 12.9 and 28.8.
//!
//! With memory as a queue in turns of loops, and with texts' divisions, runs and order as they are now, these are 5.3
//! and 18.0, 4.8 and 24.0, 12.4 and 27.9; on the H100 5.2 and 26.9, 6.3 and 22.9, 13.2 and 28.3. All rows were in view.
//!
//! With loads that stand in a block on a line of the text, and the registers of all kernels, these are 5.2 and 18.1,
//! 5.0 and 21.5, 12.8 and 27.9; on the H100 4.8 and 26.9, 5.5 and 23.1, 12.9 and 28.3. All rows were in view.
//!
//! Families with programs of their own came before that, with [`Pipes`] and the tensor cores, which are 0 for all rows
//! above: their errors, and what was changed with them in view, are in this crate's README.
//!
//! # What is left out
//!
//! How full a level is beyond one multiprocessor, but for turns of loops: else the second-level cache and memory are as
//! fast as when alone; what branches take, by `calibrate` some 25 cycles each with the comparison before (with that for
//! each of the text, of which ptxas makes predicates, in part, errors are larger); that integer additions and products
//! may take the units of floats; that blocks which start together load together and then compute together; that the
//! cache's halves are far from each other, so that of what fills more than one, half is slow to come. Atomics on one
//! address, which wait for each other. Sectors that are written in parts by launches far apart (`patch_split`), and
//! rows of scattered stores far apart (`patch`). That a block which meets at a barrier in each turn of a loop does not
//! wait and work one after the other (`hillis_steele`). Grids that stop growing beyond what is simulated, unless they
//! ask the device for its multiprocessors. Arithmetic, unless `operations` and `instructions.arithmetic` are given: the
//! simulator counts none, [`ptx`] estimates it. Where the kernel's text is not known, turns of loops: loads of one
//! place are taken to overlap.

mod bottleneck;
mod counts;
mod grown;
pub mod ptx;
mod queue;
#[cfg(feature = "simulator")]
pub mod simulated;
pub mod tuning;

pub use bottleneck::Bottleneck;
pub use counts::{Counts, Instructions, Pipes, Scaled, Waits, scale};
pub use grown::{combined, extrapolate};

use self::queue::Apart;
use crate::device::{Calibration, Device, Launch};
use crate::error::{Error, Result, positive};
use crate::literature::roofline::{Demand, LowerBound, Roofline};
use crate::units::{Cycles, Seconds};

/// A launch's time and what it consists of.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// How long the launch takes among many.
    pub time: Seconds,
    /// What takes the most of it.
    pub bottleneck: Bottleneck,
    /// What no implementation is faster than, and why.
    pub bound: LowerBound,
    /// Blocks resident on a multiprocessor.
    pub resident: u32,
    /// Resident warps, of the most that a multiprocessor holds.
    pub occupancy: f64,
    /// Waves of blocks.
    pub waves: u64,
    /// How much of the last wave's places have a block.
    pub last_wave: f64,
    /// What launching takes.
    pub launch: Seconds,
    /// What the host takes to issue it, beside the device.
    pub issue: Seconds,
    /// What the device takes, launching included.
    pub device: Seconds,
    /// What a block waits.
    pub latency: Seconds,
    /// What the chain of blocks takes.
    pub chain: Seconds,
    /// What each level takes for all that goes through it, the longest first.
    pub levels: Vec<(Bottleneck, Seconds)>,
}

/// How long a launch takes on a device.
///
/// # Errors
/// A device without calibration; a block that the device does not take; counts that are negative, not finite, or
/// contradict each other.
pub fn predict(device: &Device, counts: &Counts) -> Result<Prediction> {
    counts.check()?;
    let given = device.waves()?;
    positive("multiprocessors", f64::from(device.multiprocessors))?;
    positive("clock", device.clock.0)?;
    positive("bandwidth", device.memory.bandwidth.0)?;
    let launch = Launch::new(device, counts.blocks, counts.threads)?;
    let resident = resident(device, &launch, counts)?;
    let units = f64::from(device.multiprocessors);
    let (blocks, warps) = (launch.blocks() as f64, f64::from(launch.warps()));
    let places = u64::from(resident) * u64::from(device.multiprocessors);
    let waves = launch.blocks().div_ceil(places);
    let [least, gap, starts] = if counts.dependent {
        [given.launch_dependent.0, given.gap_dependent.0, given.blocks_dependent.0]
    } else {
        [given.launch.0, given.gap.0, given.blocks.0]
    };

    // The part of the places for warps that is taken at a time.
    let taken = (f64::from(resident).min(blocks / units) * warps / f64::from(device.limits.warps)).min(1.0);
    let loaded = |idle: Cycles, loaded: Cycles| idle + (loaded - idle) * taken;
    let barrier = given.shared_latency + given.barrier + given.barrier_warp * warps;
    let Waits { memory, l2, shared, computing, .. } = counts.waits;
    let at_once = loaded(given.memory_latency, given.memory_loaded) * memory
        + loaded(given.l2_latency, given.l2_loaded) * l2;
    // Turns of loops come at any time: what queues there does so in the wave, not here.
    let apart = Apart::of(counts, warps);
    let turns = (given.memory_latency * memory + given.l2_latency * l2) * apart.turns;
    let latency = given.turnover
        + given.turnover_warp * warps
        + at_once * (1.0 - apart.turns)
        + turns
        + barrier * shared;
    let tensor = tensor(device, counts)?;
    let mut alone = alone(device, given, counts);
    // Beside what a block's instructions take of its multiprocessor, its slowest warps wait for what they compute.
    let issued = counts.instructions.all() * f64::from(device.warp) / f64::from(device.lanes) / blocks;
    let latency = latency + Cycles((computing - issued).max(0.0));
    let mut latency: Seconds = latency / device.clock;
    if counts.pipes.warpgroups > 0.0 {
        // A block writes its sums while it multiplies nothing: what queues is its turn on the tensor cores.
        latency = latency + writing(device, given, counts);
        alone = tensor * (units / blocks);
    } else {
        alone = alone.max(tensor * (units / blocks));
    }
    let by_warps: Seconds = turns * apart.of_turns / device.clock;
    let along = given.memory_latency * counts.path.memory
        + given.l2_latency * counts.path.l2
        + barrier * counts.path.shared;
    let chain = given.l2_latency * 2.0 * counts.chain + along + Cycles(counts.path.computing);
    let chain: Seconds = chain / device.clock;
    // At the end the last block has the device for itself, and what was stored is on its way.
    let stored = f64::from(u8::from(counts.lines_written > 0.0));
    let ending = given.memory_latency * counts.last.memory
        + given.l2_latency * (counts.last.l2 + stored)
        + barrier * counts.last.shared;
    let ending: Seconds = ending / device.clock;
    let excess = (blocks / units).ceil() * units / blocks;
    let mut levels = levels(device, given, counts, excess);
    levels.push((Bottleneck::Tensor, tensor * excess));
    // What a block takes of memory beside one of each other multiprocessor.
    let memory = levels.iter().filter(|(level, _)| *level == Bottleneck::Memory);
    let far = memory.map(|(_, time)| *time).sum::<Seconds>() * (blocks.min(units) / blocks);
    levels.sort_by(|one, other| other.1.0.total_cmp(&one.1.0));
    // Levels are busy once the first wave has started; where starting blocks takes longer, they are done with it.
    let busy = levels[0].1 + Seconds(blocks.min(places as f64) / starts);
    let starting = Seconds(blocks / starts);
    levels.push((Bottleneck::Blocks, starting));
    levels.sort_by(|one, other| other.1.0.total_cmp(&one.1.0));
    let (slowest, throughput) = (levels[0].0, busy.max(starting));
    // All waves but the last are full.
    let left = (launch.blocks() - (waves - 1) * places).div_ceil(u64::from(device.multiprocessors));
    let wave = |resident: u64| apart.wave([latency, by_warps], alone, far, resident);
    let queued = wave(resident.into()) * (waves - 1) as f64 + wave(left);
    let waiting = latency * waves as f64;

    let mut bottleneck = (Bottleneck::Launch, Seconds(least));
    for other in [(slowest, throughput), (Bottleneck::Latency, waiting), (Bottleneck::Chain, chain)] {
        if other.1 > bottleneck.1 {
            bottleneck = other;
        }
    }
    // Before levels are busy what blocks wait for first has to be there; warps by themselves wait while they are.
    let time = Seconds(gap) + queued.max(latency - by_warps + throughput) + chain + ending;
    let demand = Demand { operations: counts.operations, bytes: vec![counts.necessary] };
    Ok(Prediction {
        time: time.max(Seconds(least)),
        bottleneck: bottleneck.0,
        bound: Roofline::single(device).bound(&demand)?,
        resident,
        occupancy: f64::from(resident) * f64::from(launch.warps()) / f64::from(device.limits.warps),
        waves,
        last_wave: (launch.blocks() - (waves - 1) * places) as f64 / places as f64,
        launch: Seconds(gap),
        issue: Seconds(least),
        device: time,
        latency,
        chain,
        levels,
    })
}

/// Blocks of a launch that are resident on a multiprocessor.
fn resident(device: &Device, launch: &Launch, counts: &Counts) -> Result<u32> {
    let limits = &device.limits;
    let over = |field, asked, limit| Error::OverLimit { field, asked, device: device.name.clone(), limit };
    let mut blocks = limits.blocks.min(limits.warps / launch.warps());
    // From compute capability 8.0 on the driver takes a KiB of each block's shared memory for itself.
    let shared = counts.shared.0 + if device.capability.0 >= 8 { 1024.0 } else { 0.0 };
    if shared > limits.shared.0 {
        return Err(over("shared", shared, limits.shared.0));
    }
    if shared > 0.0 {
        // A cast saturates where a block asks for next to nothing.
        blocks = blocks.min((limits.shared.0 / shared) as u32);
    }
    if let Some(registers) = counts.registers.filter(|&registers| registers > 0) {
        // A warp gets its registers in units of 256.
        let block =
            (u64::from(registers) * u64::from(device.warp)).next_multiple_of(256) * u64::from(launch.warps());
        let fit = u64::from(limits.registers) / block;
        if fit == 0 {
            return Err(over("registers", block as f64, f64::from(limits.registers)));
        }
        blocks = blocks.min(u32::try_from(fit).unwrap_or(u32::MAX));
    }
    // Only a device that was not read from a description can have limits that contradict each other.
    positive("resident blocks", f64::from(blocks)).map(|_| blocks)
}

/// What the tensor cores of all multiprocessors take.
fn tensor(device: &Device, counts: &Counts) -> Result<Seconds> {
    let Pipes { warpgroups, warps, .. } = counts.pipes;
    if warpgroups + warps == 0.0 {
        return Ok(Seconds(0.0));
    }
    let given = device.tensor()?;
    Ok(Seconds((warpgroups / given.warpgroups.0 + warps / given.warps.0) / given.peak.0))
}

/// What a block takes on a multiprocessor that it has for itself, beside its waits: its busiest level.
fn alone(device: &Device, given: &Calibration, counts: &Counts) -> Seconds {
    let warps_a_cycle = f64::from(device.lanes) / f64::from(device.warp);
    let cycles = (counts.lines + counts.wavefronts + counts.pipes.exchanges)
        .max(counts.pipes.integers * 2.0 / warps_a_cycle)
        .max(stored(counts) * given.store.0)
        .max(counts.l2_read / given.l2_unit)
        .max(counts.instructions.all() / warps_a_cycle)
        .max(counts.operations / (2.0 * f64::from(device.lanes)));
    Cycles(cycles / counts.blocks as f64) / device.clock
}

/// Lines that are stored, of which the second-level cache takes two sectors at a time, from a multiprocessor alone and
/// from all: by `calibrate`, whole lines take twice the time of lines in which there is a sector.
fn stored(counts: &Counts) -> f64 {
    counts.lines_written.max(counts.sectors_written / 2.0)
}

/// What a block of warpgroups takes for the sums of its tiles, once they are multiplied: they go through shared
/// memory, a pass in and one out for each line's worth, and are stored.
fn writing(device: &Device, given: &Calibration, counts: &Counts) -> Seconds {
    let passes = 2.0 * counts.sectors_written * device.memory.sector.0 / device.memory.line.0;
    let cycles = (counts.lines + passes).max(stored(counts) * given.store.0);
    Cycles(cycles / counts.blocks as f64) / device.clock
}

/// What each level takes; `excess` is what the busiest multiprocessor has more than the average.
fn levels(device: &Device, given: &Calibration, counts: &Counts, excess: f64) -> Vec<(Bottleneck, Seconds)> {
    let units = f64::from(device.multiprocessors);
    let on_unit = |cycles: f64| -> Seconds { Cycles(excess * cycles / units) / device.clock };
    let warps_a_cycle = f64::from(device.lanes) / f64::from(device.warp);
    let bandwidth = device.memory.bandwidth;
    let l1 = if counts.lines >= counts.wavefronts {
        Bottleneck::L1
    } else if counts.wavefronts >= 2.0 * counts.wavefronts_without_conflicts {
        Bottleneck::BankConflicts
    } else {
        Bottleneck::Shared
    };
    // The bus turns round between what is read and what is written.
    let both = counts.memory_read.min(counts.memory_written);
    let memory = both * 2.0 / (bandwidth * given.copy.0)
        + (counts.memory_read - both) / (bandwidth * given.read.0)
        + (counts.memory_written - both) / (bandwidth * given.write.0);
    let stores = Seconds(stored(counts) / given.stores.0);
    vec![
        (Bottleneck::Memory, memory),
        (Bottleneck::L2, Cycles(counts.l2_read / given.l2) / device.clock),
        (Bottleneck::Stores, stores.max(on_unit(stored(counts) * given.store.0))),
        (l1, on_unit(counts.lines + counts.wavefronts + counts.pipes.exchanges)),
        (Bottleneck::Integers, on_unit(counts.pipes.integers * 2.0 / warps_a_cycle)),
        (Bottleneck::Issue, on_unit(counts.instructions.all() / warps_a_cycle)),
        (Bottleneck::Arithmetic, Seconds(excess * counts.operations / device.peak_single().0)),
    ]
}

/// Launches that follow one another.
#[derive(Clone, Debug, PartialEq)]
pub struct Sequence {
    /// Each of them.
    pub launches: Vec<Prediction>,
    /// All of them.
    pub time: Seconds,
    /// That of the longest.
    pub bottleneck: Bottleneck,
}

/// How long launches that follow one another take on a device, again and again: as long as the host takes to issue all
/// of them, or the device for all of them, as one goes ahead while the other is busy.
///
/// # Errors
/// Those of [`predict`]; no launch.
pub fn sequence(device: &Device, launches: &[Counts]) -> Result<Sequence> {
    let launches = launches.iter().map(|counts| predict(device, counts)).collect::<Result<Vec<_>>>()?;
    let longest = launches.iter().max_by(|one, other| one.time.0.total_cmp(&other.time.0));
    let bottleneck = longest.ok_or(Error::NotPositive { field: "launches", value: 0.0 })?.bottleneck;
    let all = |of: fn(&Prediction) -> Seconds| -> Seconds { launches.iter().map(of).sum() };
    let time = all(|one| one.issue).max(all(|one| one.device));
    Ok(Sequence { time, bottleneck, launches })
}

#[cfg(test)]
mod tests;
