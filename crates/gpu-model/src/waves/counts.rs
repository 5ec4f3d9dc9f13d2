//! What a launch does, counted; and the same of a larger one, from two smaller.

use crate::error::{Error, Result, not_negative, positive};
use crate::units::Bytes;

/// Instructions that warps execute, by class.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct Instructions {
    /// Loads, stores and atomics of global and shared memory, and asynchronous copies.
    pub memory: f64,
    /// Block barriers, barriers of a warp, fences.
    pub synchronisation: f64,
    /// Shuffles, votes, reductions and matches.
    pub communication: f64,
    /// Branches: of the source, or of the compiled kernel where its text is known.
    pub control: f64,
    /// Everything else: arithmetic, conversions, moves. The simulator does not see them, so they are 0 unless given.
    pub arithmetic: f64,
}

impl Instructions {
    /// All of them.
    pub fn all(&self) -> f64 {
        self.memory + self.synchronisation + self.communication + self.control + self.arithmetic
    }
}

/// What goes through units of a multiprocessor that [`Instructions`] do not tell apart; 0 unless given.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct Pipes {
    /// Instructions of warps for the units that half of the lanes have: integers, logic, comparisons and selections;
    /// one of 64 bits is two of them.
    pub integers: f64,
    /// Instructions that exchange words between lanes, which takes a pass through shared memory's unit.
    pub exchanges: f64,
    /// What the tensor cores compute for warpgroups, in operations of 16 bits: one of 32 bits is two of them, one of 8
    /// bits half.
    pub warpgroups: f64,
    /// The same for warps.
    pub warps: f64,
}

/// What a block does one after the other: how often its slowest warps wait for what they asked for, and what they
/// execute.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct Waits {
    /// For global memory.
    pub memory: f64,
    /// For the second-level cache: loads of what is there, atomics and fences.
    pub l2: f64,
    /// For shared memory: at each barrier, what others stored before it.
    pub shared: f64,
    /// Cycles for the instructions of one warp, each of which waits for those whose results it reads; 0 unless given.
    pub computing: f64,
    /// Of those for memory and the second-level cache, further ones at places in the source that it has waited at
    /// before: in turns of loops.
    pub turns: f64,
}

impl Waits {
    /// Everything, in the order of [`WAITS`] and [`LAST`].
    fn all(&self) -> [f64; 5] {
        [self.memory, self.l2, self.shared, self.computing, self.turns]
    }

    /// The same, to be changed.
    fn all_mut(&mut self) -> [&mut f64; 5] {
        [&mut self.memory, &mut self.l2, &mut self.shared, &mut self.computing, &mut self.turns]
    }

    fn cached(&mut self) {
        self.l2 += core::mem::take(&mut self.memory);
    }
}

/// Names for errors.
const WAITS: [&str; 5] = ["waits.memory", "waits.l2", "waits.shared", "waits.computing", "waits.turns"];
const PATH: [&str; 5] = ["path.memory", "path.l2", "path.shared", "path.computing", "path.turns"];
const LAST: [&str; 5] = ["last.memory", "last.l2", "last.shared", "last.computing", "last.turns"];

/// What one launch does. Everything but the shape of a block, `waits`, `last` and `chain` is of the whole grid.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Counts {
    /// The kernel's name.
    pub kernel: String,
    /// Blocks of the grid.
    pub blocks: u64,
    /// Threads of a block.
    pub threads: u32,
    /// Whether it waits for the kernel before by itself (programmatic dependent launch); false unless given.
    pub dependent: bool,
    /// Shared memory that a block asks for.
    pub shared: Bytes,
    /// Registers of a thread; where they are not known they do not limit how many blocks are resident.
    pub registers: Option<u32>,
    /// Instructions of warps.
    pub instructions: Instructions,
    /// Sectors that loads, atomics and asynchronous copies touch, summed over the requests of warps.
    pub sectors_read: f64,
    /// Sectors that stores touch.
    pub sectors_written: f64,
    /// Lines that all those requests touch: passes through the first-level cache.
    pub lines: f64,
    /// Of those, the lines of stores and atomics, which all go to the second-level cache.
    pub lines_written: f64,
    /// What the first-level caches read from the second.
    pub l2_read: Bytes,
    /// What is read from memory.
    pub memory_read: Bytes,
    /// What is written to memory.
    pub memory_written: Bytes,
    /// Passes through the banks of shared memory.
    pub wavefronts: f64,
    /// Of those, the passes that there would be without conflicts.
    pub wavefronts_without_conflicts: f64,
    /// Atomic operations on global memory, a request of a warp being one.
    pub atomics: f64,
    /// Branches at which the lanes of a warp part. What each side does is counted with the rest.
    pub divergent: f64,
    /// What a block waits for.
    pub waits: Waits,
    /// What the last block does beside that, as the one that adds what the others left; `computing` is no part of it.
    pub last: Waits,
    /// Steps through global memory from block to block that have to follow one another, as when each block looks back
    /// at the sum of the one before it.
    pub chain: f64,
    /// What is done along that chain beside: once after the other, by all blocks together. 0 unless given.
    pub path: Waits,
    /// 32-bit floating-point operations, a fused multiply-add being two; 0 unless given.
    pub operations: f64,
    /// What goes through single units.
    pub pipes: Pipes,
    /// What any implementation has to read and write.
    pub necessary: Bytes,
}

impl Counts {
    /// A launch of `blocks` of `threads` that does nothing.
    pub fn empty(kernel: &str, blocks: u64, threads: u32) -> Self {
        Self {
            kernel: kernel.to_owned(),
            blocks,
            threads,
            dependent: false,
            shared: Bytes(0.0),
            registers: None,
            instructions: Instructions::default(),
            sectors_read: 0.0,
            sectors_written: 0.0,
            lines: 0.0,
            lines_written: 0.0,
            l2_read: Bytes(0.0),
            memory_read: Bytes(0.0),
            memory_written: Bytes(0.0),
            wavefronts: 0.0,
            wavefronts_without_conflicts: 0.0,
            atomics: 0.0,
            divergent: 0.0,
            waits: Waits::default(),
            last: Waits::default(),
            chain: 0.0,
            path: Waits::default(),
            operations: 0.0,
            pipes: Pipes::default(),
            necessary: Bytes(0.0),
        }
    }

    /// The same launch with all its data in the second-level cache already, as after another launch on the same data
    /// that fits there.
    #[must_use]
    pub fn cached(mut self) -> Self {
        (self.memory_read, self.memory_written) = (Bytes(0.0), Bytes(0.0));
        self.waits.cached();
        self.last.cached();
        self
    }

    /// The same launch with `factor` times as much of everything that grows with the work.
    #[must_use]
    pub fn times(mut self, factor: f64) -> Self {
        self.amounts().into_iter().for_each(|(_, amount)| *amount *= factor);
        self
    }

    /// Everything that grows with the work, with names for errors.
    pub(super) fn amounts(&mut self) -> [(&'static str, &mut f64); 22] {
        let instructions = &mut self.instructions;
        [
            ("instructions.memory", &mut instructions.memory),
            ("instructions.synchronisation", &mut instructions.synchronisation),
            ("instructions.communication", &mut instructions.communication),
            ("instructions.control", &mut instructions.control),
            ("instructions.arithmetic", &mut instructions.arithmetic),
            ("sectors_read", &mut self.sectors_read),
            ("sectors_written", &mut self.sectors_written),
            ("lines", &mut self.lines),
            ("lines_written", &mut self.lines_written),
            ("l2_read", &mut self.l2_read.0),
            ("memory_read", &mut self.memory_read.0),
            ("memory_written", &mut self.memory_written.0),
            ("wavefronts", &mut self.wavefronts),
            ("wavefronts_without_conflicts", &mut self.wavefronts_without_conflicts),
            ("atomics", &mut self.atomics),
            ("divergent", &mut self.divergent),
            ("operations", &mut self.operations),
            ("pipes.integers", &mut self.pipes.integers),
            ("pipes.exchanges", &mut self.pipes.exchanges),
            ("pipes.warpgroups", &mut self.pipes.warpgroups),
            ("pipes.warps", &mut self.pipes.warps),
            ("necessary", &mut self.necessary.0),
        ]
    }

    /// What follows one another: waits, those of the last block, and the chain.
    pub(super) fn path_mut(&mut self) -> Vec<&mut f64> {
        let waits = self.waits.all_mut().into_iter().chain(self.last.all_mut());
        waits.chain([&mut self.chain]).collect()
    }

    /// By what part of itself it differs from what should be the same, in the amount or wait where that is most, and
    /// which; empty where nothing differs.
    #[cfg(feature = "simulator")]
    pub(super) fn differs_from(&self, other: &Self) -> (f64, &'static str) {
        let (mut one, mut two) = (self.clone(), other.clone());
        let amounts = one.amounts().into_iter().zip(two.amounts());
        let mut pairs: Vec<_> = amounts.map(|((field, one), (_, two))| (field, *one, *two)).collect();
        let waits = WAITS.into_iter().zip(self.waits.all()).zip(other.waits.all());
        pairs.extend(waits.map(|((field, one), two)| (field, one, two)));
        let parts = pairs.into_iter().filter(|(_, one, two)| one != two);
        let parts = parts.map(|(field, one, two)| ((one - two).abs() / one, field));
        parts.max_by(|one, other| one.0.total_cmp(&other.0)).unwrap_or((0.0, ""))
    }

    /// Fails where a count is negative or not finite, or two contradict each other.
    pub(super) fn check(&self) -> Result<()> {
        let mut copy = self.clone();
        copy.amounts().into_iter().try_for_each(|(field, value)| not_negative(field, *value).map(drop))?;
        not_negative("shared", self.shared.0)?;
        for (fields, values) in [(WAITS, self.waits.all()), (LAST, self.last.all()), (PATH, self.path.all())]
        {
            fields
                .into_iter()
                .zip(values)
                .try_for_each(|(field, value)| not_negative(field, value).map(drop))?;
        }
        not_negative("chain", self.chain)?;
        let within = |field, value: f64, other, other_value: f64| {
            if value <= other_value {
                Ok(())
            } else {
                Err(Error::Contradiction { field, value, other, other_value })
            }
        };
        within("lines_written", self.lines_written, "lines", self.lines)?;
        let far = self.waits.memory + self.waits.l2;
        within("waits.turns", self.waits.turns, "waits.memory and waits.l2", far)?;
        let free = self.wavefronts_without_conflicts;
        within("wavefronts_without_conflicts", free, "wavefronts", self.wavefronts)
    }
}

/// The counts of a launch that was not counted itself.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Scaled {
    /// The counts, scaled from the larger launch.
    pub counts: Counts,
    /// The same scaled from the smaller one: what a prediction differs by between the two is the error of its time.
    pub smaller: Counts,
    /// How far what grows with the work is off, as a part of it: by how much the larger of the two launches differs
    /// from the smaller one scaled to it, in the count where they differ most.
    pub error: f64,
    /// That count; empty where nothing differs.
    pub worst: &'static str,
}

/// The counts of a launch with `work`, from those of two smaller ones: the larger scaled. Work is whatever the counts
/// are proportional to: elements, pixels. `blocks` are those of the launch where they are known; else they are taken to
/// grow with the work like the rest.
///
/// A launch whose `blocks` are given and are as many in both smaller ones has grown within its blocks: what they do
/// once stays, by the line through the two; in proportion to the larger one it is `smaller` then. So do `waits`, of
/// which there are more in longer loops.
///
/// `last` and `chain`, and the `waits` of grids that grow, stay those of the larger launch.
///
/// # Errors
/// Work that is not positive or does not grow; launches of different kernels or blocks.
///
/// ```
/// use gpu_model::waves::{Counts, scale};
/// let small = Counts { sectors_read: 1000.0, ..Counts::empty("copy", 10, 256) };
/// let large = Counts { sectors_read: 1980.0, ..Counts::empty("copy", 20, 256) };
/// let scaled = scale((&small, 1e4), (&large, 2e4), 1e6, None)?;
/// // 50 times the larger; twice the smaller would have been 2000, 20 of 1980 too many.
/// assert_eq!((scaled.counts.sectors_read, scaled.counts.blocks), (99_000.0, 1000));
/// assert_eq!((scaled.error, scaled.worst), (20.0 / 1980.0, "sectors_read"));
/// # Ok::<(), gpu_model::Error>(())
/// ```
pub fn scale(small: (&Counts, f64), large: (&Counts, f64), work: f64, blocks: Option<u64>) -> Result<Scaled> {
    let ((small, small_work), (large, large_work)) = (small, large);
    positive("work", small_work)?;
    let contradiction =
        |field, value, other, other_value| Err(Error::Contradiction { field, value, other, other_value });
    if large_work <= small_work {
        return contradiction("work of the small launch", small_work, "work of the large one", large_work);
    }
    if work < large_work || !work.is_finite() {
        return contradiction("work", work, "work of the large launch", large_work);
    }
    if small.kernel != large.kernel {
        return Err(Error::OtherKernel { one: small.kernel.clone(), other: large.kernel.clone() });
    }
    if small.threads != large.threads {
        let (value, other_value) = (f64::from(small.threads), f64::from(large.threads));
        return contradiction("threads of the small launch", value, "threads of the large one", other_value);
    }
    let (growth, factor) = (large_work / small_work, work / large_work);
    let (mut error, mut worst) = (0.0, "");
    let mut differ = |field, small: f64, large: f64| {
        let off = if small == large { 0.0 } else { (small - large).abs() / large };
        if off > error {
            (error, worst) = (off, field);
        }
    };
    let (mut before, mut counts) = (small.clone(), large.clone());
    let line =
        |small: f64, large: f64| large + (large - small) * (work - large_work) / (large_work - small_work);
    // Blocks that become no more do something once, and only the rest grows.
    let fixed = blocks.is_some() && small.blocks == large.blocks;
    if blocks.is_none() {
        differ("blocks", small.blocks as f64 * growth, large.blocks as f64);
    }
    for ((field, small), (_, large)) in before.amounts().into_iter().zip(counts.amounts()) {
        differ(field, *small * growth, *large);
        let in_proportion = *large * factor;
        (*small, *large) = if fixed {
            (in_proportion, line(*small, *large).max(0.0))
        } else {
            (*small * growth * factor, in_proportion)
        };
    }
    if fixed {
        // Longer loops wait oftener: in more turns, at more barriers and atomics. What varies from run to run does not
        // make them wait less. A place that is waited for once is no more than that.
        let (waits, many) = (&mut counts.waits, large.waits);
        for (small, large) in small.waits.all().into_iter().zip(waits.all_mut()) {
            *large = line(small, *large).max(*large);
        }
        let part = if many.turns > 0.0 { many.memory / (many.memory + many.l2) } else { 0.0 };
        waits.memory = many.memory + (waits.turns - many.turns) * part;
        waits.turns = waits.turns.min(waits.memory + waits.l2);
        before.waits.all_mut().into_iter().zip(many.all()).for_each(|(wait, many)| *wait = many * factor);
        // What the caches let through is the part of the sectors that it was.
        let part =
            |amount: Bytes, of: f64, now: f64| if of > 0.0 { amount * (now / of) } else { amount * factor };
        counts.l2_read = part(large.l2_read, large.sectors_read, counts.sectors_read);
        counts.memory_read = part(large.memory_read, large.sectors_read, counts.sectors_read);
        counts.memory_written = part(large.memory_written, large.sectors_written, counts.sectors_written);
        if counts.check().is_err() {
            counts = before.clone();
        }
    }
    counts.blocks = blocks.unwrap_or((large.blocks as f64 * factor).ceil() as u64);
    before.blocks = blocks.unwrap_or((small.blocks as f64 * growth * factor).ceil() as u64);
    Ok(Scaled { counts, smaller: before, error, worst })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_scaled() {
        let (one, other) = (Counts::empty("one", 4, 64), Counts::empty("other", 8, 64));
        assert!(matches!(scale((&one, 1.0), (&other, 2.0), 4.0, None), Err(Error::OtherKernel { .. })));
        let wider = Counts { threads: 128, ..one.clone() };
        assert!(matches!(scale((&one, 1.0), (&wider, 2.0), 4.0, None), Err(Error::Contradiction { .. })));
        for (small, large, work) in [(2.0, 2.0, 4.0), (1.0, 2.0, 1.5), (0.0, 2.0, 4.0), (1.0, 2.0, f64::NAN)]
        {
            assert!(scale((&one, small), (&one, large), work, None).is_err(), "{small} {large} {work}");
        }
    }

    /// A grid that is the same for both: that it does not grow with the work is stated, unless it is known.
    #[test]
    fn a_grid_that_does_not_grow_is_stated() {
        let counts = |sectors_read| Counts { sectors_read, ..Counts::empty("sum", 132, 256) };
        let (small, large) = (counts(1e3), counts(2e3));
        let scaled = scale((&small, 1.0), (&large, 2.0), 8.0, None).expect("they fit");
        assert_eq!((scaled.counts.sectors_read, scaled.error, scaled.worst), (8e3, 1.0, "blocks"));
        let scaled = scale((&small, 1.0), (&large, 2.0), 8.0, Some(132)).expect("they fit");
        assert_eq!((scaled.counts.blocks, scaled.error, scaled.worst), (132, 0.0, ""));
    }

    /// 132 blocks that clear 500 lines in all and write one for each unit of work; half of the sectors come from
    /// memory.
    #[test]
    fn what_blocks_do_once_does_not_grow() {
        let counts = |work: f64| Counts {
            lines: 500.0 + work,
            sectors_read: 4.0 * work,
            memory_read: Bytes(64.0 * work),
            ..Counts::empty("histogram", 132, 256)
        };
        let (small, large) = (counts(1000.0), counts(2000.0));
        let scaled = scale((&small, 1000.0), (&large, 2000.0), 8000.0, Some(132)).expect("they fit");
        assert_eq!((scaled.counts.lines, scaled.smaller.lines), (8500.0, 10_000.0));
        assert_eq!((scaled.counts.sectors_read, scaled.counts.memory_read), (32_000.0, Bytes(512_000.0)));
    }

    /// One block that waits once, and in four turns of each 1000 elements: at 8000 33 times, as its loop is longer. Of
    /// more blocks each waits as often as before.
    #[test]
    fn longer_loops_wait_oftener() {
        let counts = |turns, blocks| Counts {
            waits: Waits { memory: 1.0 + turns, turns, shared: 5.0, ..Waits::default() },
            ..Counts::empty("loop", blocks, 256)
        };
        let scaled =
            |small, large, blocks| scale((&small, 1e3), (&large, 2e3), 8e3, blocks).expect("they fit");
        let one = scaled(counts(4.0, 1), counts(8.0, 1), Some(1));
        assert_eq!(
            (one.counts.waits.memory, one.counts.waits.turns, one.counts.waits.shared),
            (33.0, 32.0, 5.0)
        );
        assert_eq!((one.smaller.waits.memory, one.smaller.waits.turns), (36.0, 32.0));
        let many = scaled(counts(4.0, 8), counts(4.0, 16), None);
        assert_eq!((many.counts.waits.memory, many.counts.blocks), (5.0, 64));
    }

    #[test]
    fn counts_that_contradict_each_other() {
        let counts = Counts::empty("one", 4, 64);
        assert_eq!(counts.check(), Ok(()));
        assert!(Counts { lines_written: 1.0, ..counts.clone() }.check().is_err());
        assert!(Counts { wavefronts_without_conflicts: 1.0, ..counts.clone() }.check().is_err());
        let negative = Counts { l2_read: Bytes(-1.0), ..counts.clone() };
        assert_eq!(negative.check(), Err(Error::Negative { field: "l2_read", value: -1.0 }));
        assert!(Counts { chain: f64::INFINITY, ..counts }.check().is_err());
    }
}
