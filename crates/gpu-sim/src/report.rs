//! What a completed launch reports.

use crate::fault::Site;
use crate::geometry::Geometry;
use crate::metrics::Traffic;

/// A kind of operation, as counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Operation {
    /// Global loads, weak or volatile.
    GlobalLoad,
    /// Read-only global loads (`ld.global.nc`).
    ReadOnlyLoad,
    /// Global stores.
    GlobalStore,
    /// Shared-memory loads.
    SharedLoad,
    /// Shared-memory stores.
    SharedStore,
    /// Atomic operations on global memory.
    GlobalAtomic,
    /// Atomic operations on shared memory.
    SharedAtomic,
    /// Asynchronous copies from global to shared memory.
    AsyncCopy,
    /// Rows of boxes that the copy engine brings to shared memory, past the first-level cache.
    BoxCopy,
    /// Rows of boxes that the copy engine brings from shared to global memory.
    BoxStore,
    /// Fences.
    Fence,
    /// Block barriers.
    Barrier,
    /// `sync_warp`.
    WarpSync,
    /// Shuffles.
    Shuffle,
    /// Votes.
    Vote,
    /// Warp reductions.
    Redux,
    /// `match_any`.
    Match,
    /// Matrix operations of a warp (`mma`).
    Matrix,
    /// Matrix operations of a warpgroup (`wgmma`), along 128 bytes of each factor; their bytes are those of the second.
    WarpgroupMatrix,
    /// Branches.
    Branch,
    /// Loop iterations.
    Loop,
}

impl Operation {
    /// Whether it reaches global memory.
    pub(crate) fn is_global(self) -> bool {
        matches!(
            self,
            Self::GlobalLoad
                | Self::ReadOnlyLoad
                | Self::GlobalStore
                | Self::GlobalAtomic
                | Self::AsyncCopy
                | Self::BoxCopy
                | Self::BoxStore
        )
    }

    pub(crate) const COUNT: usize = 21;
    pub(crate) const ALL: [Self; Self::COUNT] = [
        Self::GlobalLoad,
        Self::ReadOnlyLoad,
        Self::GlobalStore,
        Self::SharedLoad,
        Self::SharedStore,
        Self::GlobalAtomic,
        Self::SharedAtomic,
        Self::AsyncCopy,
        Self::BoxCopy,
        Self::BoxStore,
        Self::Fence,
        Self::Barrier,
        Self::WarpSync,
        Self::Shuffle,
        Self::Vote,
        Self::Redux,
        Self::Match,
        Self::Matrix,
        Self::WarpgroupMatrix,
        Self::Branch,
        Self::Loop,
    ];
}

/// Counts of one kind of operation. A *request* is one warp executing the operation once, whatever the number of
/// its lanes that take part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Requests: (warp, call site, occurrence).
    pub requests: u64,
    /// Lanes that took part, over all requests.
    pub lanes: u64,
    /// Bytes that the lanes asked for.
    pub bytes: u64,
    /// Distinct 32-byte sectors over the lanes of each request (global memory).
    pub sectors: u64,
    /// Distinct lines of 128 bytes, likewise.
    pub lines: u64,
    /// Passes through the 32 banks of shared memory; equal to the minimum without bank conflicts.
    pub wavefronts: u64,
    /// Requests whose lanes went different ways (branches).
    pub divergent: u64,
}

impl Count {
    pub(crate) fn add(&mut self, other: &Self) {
        self.requests += other.requests;
        self.lanes += other.lanes;
        self.bytes += other.bytes;
        self.sectors += other.sectors;
        self.lines += other.lines;
        self.wavefronts += other.wavefronts;
        self.divergent += other.divergent;
    }
}

/// Counts of a whole launch, by kind of operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Global loads.
    pub global_loads: Count,
    /// Read-only global loads.
    pub read_only_loads: Count,
    /// Global stores.
    pub global_stores: Count,
    /// Shared-memory loads.
    pub shared_loads: Count,
    /// Shared-memory stores.
    pub shared_stores: Count,
    /// Atomics on global memory.
    pub global_atomics: Count,
    /// Atomics on shared memory.
    pub shared_atomics: Count,
    /// Asynchronous copies (sectors: global side; wavefronts: shared side).
    pub async_copies: Count,
    /// Rows of boxes that the copy engine brings (the same).
    pub box_copies: Count,
    /// Rows of boxes that it takes out of shared memory (the same).
    pub box_stores: Count,
    /// Fences.
    pub fences: Count,
    /// Block barriers, once per warp.
    pub barriers: Count,
    /// `sync_warp`.
    pub warp_syncs: Count,
    /// Shuffles.
    pub shuffles: Count,
    /// Votes.
    pub votes: Count,
    /// Warp reductions.
    pub reduxes: Count,
    /// `match_any`.
    pub matches: Count,
    /// Matrix operations of a warp.
    pub matrices: Count,
    /// Matrix operations of a warpgroup.
    pub warpgroup_matrices: Count,
    /// Branches.
    pub branches: Count,
    /// Loop iterations.
    pub loops: Count,
}

impl Counts {
    /// The count of one kind.
    pub fn get(&self, operation: Operation) -> &Count {
        match operation {
            Operation::GlobalLoad => &self.global_loads,
            Operation::ReadOnlyLoad => &self.read_only_loads,
            Operation::GlobalStore => &self.global_stores,
            Operation::SharedLoad => &self.shared_loads,
            Operation::SharedStore => &self.shared_stores,
            Operation::GlobalAtomic => &self.global_atomics,
            Operation::SharedAtomic => &self.shared_atomics,
            Operation::AsyncCopy => &self.async_copies,
            Operation::BoxCopy => &self.box_copies,
            Operation::BoxStore => &self.box_stores,
            Operation::Fence => &self.fences,
            Operation::Barrier => &self.barriers,
            Operation::WarpSync => &self.warp_syncs,
            Operation::Shuffle => &self.shuffles,
            Operation::Vote => &self.votes,
            Operation::Redux => &self.reduxes,
            Operation::Match => &self.matches,
            Operation::Matrix => &self.matrices,
            Operation::WarpgroupMatrix => &self.warpgroup_matrices,
            Operation::Branch => &self.branches,
            Operation::Loop => &self.loops,
        }
    }

    /// Adds the counts of another launch.
    pub fn add(&mut self, other: &Self) {
        for operation in Operation::ALL {
            self.get_mut(operation).add(other.get(operation));
        }
    }

    pub(crate) fn get_mut(&mut self, operation: Operation) -> &mut Count {
        match operation {
            Operation::GlobalLoad => &mut self.global_loads,
            Operation::ReadOnlyLoad => &mut self.read_only_loads,
            Operation::GlobalStore => &mut self.global_stores,
            Operation::SharedLoad => &mut self.shared_loads,
            Operation::SharedStore => &mut self.shared_stores,
            Operation::GlobalAtomic => &mut self.global_atomics,
            Operation::SharedAtomic => &mut self.shared_atomics,
            Operation::AsyncCopy => &mut self.async_copies,
            Operation::BoxCopy => &mut self.box_copies,
            Operation::BoxStore => &mut self.box_stores,
            Operation::Fence => &mut self.fences,
            Operation::Barrier => &mut self.barriers,
            Operation::WarpSync => &mut self.warp_syncs,
            Operation::Shuffle => &mut self.shuffles,
            Operation::Vote => &mut self.votes,
            Operation::Redux => &mut self.reduxes,
            Operation::Match => &mut self.matches,
            Operation::Matrix => &mut self.matrices,
            Operation::WarpgroupMatrix => &mut self.warpgroup_matrices,
            Operation::Branch => &mut self.branches,
            Operation::Loop => &mut self.loops,
        }
    }
}

/// Counts of one call site and kind of operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteCounts {
    /// Where the operation stands in the source.
    pub site: Site,
    /// What it is.
    pub operation: Operation,
    /// How often, and how well.
    pub count: Count,
}

/// What a block does one after the other: of each kind of step between two barriers, what the warp with the most of it
/// does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Path {
    /// Loads of places that the block comes by for the first time and that the first-level cache does not have.
    pub loads: u64,
    /// Of those, loads from memory.
    pub memory: u64,
    /// All loads but asynchronous copies, also those of places that the block has come by before.
    pub all_loads: u64,
    /// Of those, loads that the first-level cache does not have.
    pub misses: u64,
    /// Of those again, loads from memory.
    pub memory_misses: u64,
    /// Atomics on global memory that return something, and fences: ways to the second-level cache and back.
    pub atomics: u64,
    /// Block barriers.
    pub barriers: u64,
    /// All requests that are counted, branches and loop iterations too.
    pub requests: u64,
}

impl Path {
    fn both(&self, other: &Self, of: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            loads: of(self.loads, other.loads),
            memory: of(self.memory, other.memory),
            all_loads: of(self.all_loads, other.all_loads),
            misses: of(self.misses, other.misses),
            memory_misses: of(self.memory_misses, other.memory_misses),
            atomics: of(self.atomics, other.atomics),
            barriers: of(self.barriers, other.barriers),
            requests: of(self.requests, other.requests),
        }
    }

    pub(crate) fn plus(&self, other: &Self) -> Self {
        self.both(other, |one, other| one + other)
    }

    pub(crate) fn largest(&self, other: &Self) -> Self {
        self.both(other, u64::max)
    }
}

/// The paths of a launch's blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Paths {
    /// The sum over all blocks that ran.
    pub all: Path,
    /// Of each kind, the most that a block has: that of the last block, where one does more than the others.
    pub longest: Path,
    /// The longest chain of blocks of which each has read, by an atomic or volatile load, what the one before stored.
    pub hops: u32,
}

/// What a completed launch reports. Counts are all zero, and `sites` empty, unless recorded with
/// [`Record::Full`](crate::Record::Full) or `Counts`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The kernel's name.
    pub kernel: String,
    /// Its grid, block and dynamic shared memory.
    pub geometry: Geometry,
    /// Whether it waits for the kernel before by itself, where the device can: a programmatic dependent launch.
    pub programmatic: bool,
    /// Threads run.
    pub threads: u64,
    /// Blocks run.
    pub blocks: u64,
    /// Changes from one thread's stack to another's.
    pub switches: u64,
    /// Steps taken, as `Config::steps_per_thread` counts them.
    pub steps: u64,
    /// Seed of the run.
    pub seed: u64,
    /// Counts of the launch.
    pub counts: Counts,
    /// Counts per call site, ordered by file, line, column and operation.
    pub sites: Vec<SiteCounts>,
    /// What blocks do one after the other.
    pub paths: Paths,
    /// What went through the modelled caches, where [`Config::caches`](crate::Config::caches) asked for them.
    pub caches: Option<Traffic>,
}
