//! How a simulator behaves: what it watches, how many blocks it keeps in flight, where it gives up.

use crate::fault::FaultKind;
use crate::metrics::Architecture;

/// What is watched while a kernel runs. Bounds, alignment, use after free, reads of unwritten bytes, divergence
/// at barriers and warp collectives, livelock and stack overflow are checked at every level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Record {
    /// Nothing more than what every level checks. Relaxed loads return the newest value.
    Off,
    /// Data races by happens-before, stale relaxed loads, read-only loads of written data.
    Races,
    /// `Races`, and counts of requests, sectors, bank conflicts and divergence per warp and call site.
    Full,
    /// The same counts, and of data races only those that atomics have part in: for kernels that tests have run, as in
    /// models of time. Takes a fifth less time than `Full`, and much less memory.
    Counts,
}

impl Record {
    /// Whether requests are counted.
    pub(crate) fn is_counted(self) -> bool {
        matches!(self, Self::Full | Self::Counts)
    }
}

/// In which order blocks start. Hardware promises none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockOrder {
    /// Chosen by the seed: ascending, descending or shuffled.
    Any,
    /// Ascending linear block index: what hardware usually does, and never promises.
    Ascending,
}

/// The settings of a [`Simulator`](crate::Simulator). `Config::default()` suits tests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// Chooses the schedule, the order of blocks and the staleness of relaxed loads. Same seed, same run.
    pub seed: u64,
    /// What is watched.
    pub record: Record,
    /// The most blocks in flight at once. A waiting block starts only when one of these has finished.
    pub resident_blocks: usize,
    /// Let the seed choose a residency between one and `resident_blocks`. Switch it off for kernels whose blocks
    /// wait for one another and that are launched cooperatively on hardware.
    pub vary_residency: bool,
    /// In which order blocks start.
    pub block_order: BlockOrder,
    /// Stack of a simulated thread in bytes, from [`Config::MIN_STACK`] to [`Config::MAX_STACK`]; only the pages
    /// touched cost memory. A thread that calls a device function with less than [`Config::STACK_RESERVE`] left is a
    /// [`StackOverflow`](crate::FaultKind::StackOverflow).
    pub stack_bytes: usize,
    /// The most dynamic shared memory a block may ask for, in bytes.
    pub shared_limit: u32,
    /// The most simulated global memory in bytes.
    pub memory_limit: usize,
    /// Plain accesses or loop iterations after which a thread gives way to others.
    pub quantum: u32,
    /// Steps without any progress before a launch counts as livelocked, plus [`Config::SPIN_STEPS_PER_THREAD`]
    /// for every thread that can run. A step is an access, a collective or a loop iteration.
    pub spin_budget: u64,
    /// Steps that a launch may take for each of its threads, on top of `step_base`.
    pub steps_per_thread: u64,
    /// Steps that every launch may take, whatever its size.
    pub step_base: u64,
    /// Run one thread until it waits or ends, or for `quantum` accesses, then the next one in order: what one would
    /// expect who does not know that a GPU is parallel. See [`Config::one_at_a_time`].
    pub in_order: bool,
    /// How often a relaxed load that could return an older value does so, in percent.
    pub stale_percent: u32,
    /// How many stores of one location are remembered for stale loads.
    pub history: usize,
    /// Run only so many blocks of each launch, at least one, spread over the grid: a sample, to be counted. What the
    /// others would write stays as it is. Kernels that wait for blocks which do not run never end.
    pub sample: Option<u32>,
    /// Multiprocessors that hosts cut their launches for: 132, as an H200 has. Blocks run in any order, whatever it is.
    /// A part of a problem, on a device with as small a part of the multiprocessors, has blocks like those of the
    /// whole, and so many fewer of them.
    pub multiprocessors: u32,
    /// With [`Record::Full`] or `Counts`: model the caches of this device, and report what went through them.
    pub caches: Option<Architecture>,
}

impl Config {
    /// Added to `spin_budget` for every thread that can run: threads that only compute make no visible progress.
    pub const SPIN_STEPS_PER_THREAD: u64 = 1 << 13;
    /// Bytes of a stack that are left to the simulator itself.
    pub const STACK_RESERVE: usize = 32 << 10;
    /// The smallest stack.
    pub const MIN_STACK: usize = 2 * Self::STACK_RESERVE;
    /// The largest stack.
    pub const MAX_STACK: usize = 1 << 30;
    /// The most blocks that may be resident.
    pub const MAX_RESIDENT: usize = 256;
    /// The most threads that may be resident: every suspended one holds a stack.
    pub const MAX_RESIDENT_THREADS: usize = 1 << 14;

    /// The default settings with another seed.
    pub fn with_seed(seed: u64) -> Self {
        Self { seed, ..Self::default() }
    }

    /// Threads run one after the other, blocks in ascending order, nothing but what every level watches, and every load
    /// returns the newest value. For [`check::against_one_at_a_time`](crate::check::against_one_at_a_time).
    pub fn one_at_a_time() -> Self {
        Self {
            record: Record::Off,
            vary_residency: false,
            block_order: BlockOrder::Ascending,
            in_order: true,
            ..Self::default()
        }
    }

    /// Checks what a launch cannot do without.
    pub(crate) fn check(&self) -> Result<(), FaultKind> {
        if (Self::MIN_STACK..=Self::MAX_STACK).contains(&self.stack_bytes) {
            return Ok(());
        }
        Err(FaultKind::InvalidConfig {
            what: "stack_bytes",
            asked: self.stack_bytes as u64,
            least: Self::MIN_STACK as u64,
            most: Self::MAX_STACK as u64,
        })
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            seed: 0,
            record: Record::Races,
            resident_blocks: 4,
            vary_residency: true,
            block_order: BlockOrder::Any,
            // A panic message with a backtrace needs more than the kernel itself.
            stack_bytes: 256 << 10,
            shared_limit: 227 << 10,
            memory_limit: 16 << 30,
            quantum: 1024,
            spin_budget: 1 << 20,
            steps_per_thread: 1 << 22,
            step_base: 1 << 26,
            in_order: false,
            stale_percent: 65,
            history: 8,
            sample: None,
            multiprocessors: 132,
            caches: None,
        }
    }
}
