//! What can go wrong, one kind of fault each.

use super::{Direction, Space};

/// What went wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FaultKind {
    /// An access that does not lie inside its allocation.
    #[error(
        "out-of-bounds {direction} of {bytes} bytes at {space} address {address:#x}: offset {offset} of an allocation of {size} bytes"
    )]
    OutOfBounds {
        /// Memory space.
        space: Space,
        /// Read or write.
        direction: Direction,
        /// The simulated address, or the offset in shared memory.
        address: u64,
        /// Offset from the start of the allocation, or of the view of it that the kernel was given
        /// ([`Simulator::lending`](crate::Simulator::lending)); negative when before it.
        offset: i64,
        /// Bytes accessed.
        bytes: u64,
        /// Bytes of the allocation, or of that view.
        size: u64,
    },
    /// An address that never belonged to an allocation.
    #[error("{direction} of {bytes} bytes at {address:#x}, which belongs to no allocation")]
    WildAddress {
        /// Read or write.
        direction: Direction,
        /// The address.
        address: u64,
        /// Bytes accessed.
        bytes: u64,
    },
    /// An access to memory that was freed.
    #[error("{direction} of {bytes} bytes at {address:#x} after the allocation was freed")]
    UseAfterFree {
        /// Read or write.
        direction: Direction,
        /// The address.
        address: u64,
        /// Bytes accessed.
        bytes: u64,
    },
    /// `free` of an address that does not begin a live allocation.
    #[error("free of {address:#x}, which is not the start of a live allocation")]
    InvalidFree {
        /// The address.
        address: u64,
    },
    /// An address that is no multiple of the access's size.
    #[error("misaligned {direction} of {bytes} bytes at {space} address {address:#x}")]
    Misaligned {
        /// Memory space.
        space: Space,
        /// Read or write.
        direction: Direction,
        /// The address or offset.
        address: u64,
        /// Bytes accessed, and the alignment needed.
        bytes: u64,
    },
    /// A read of bytes that nobody wrote.
    #[error("read of {bytes} bytes of never-written {space} memory at {address:#x}")]
    Unwritten {
        /// Memory space.
        space: Space,
        /// The address or offset.
        address: u64,
        /// Bytes accessed.
        bytes: u64,
    },
    /// Two accesses, at least one a write, that nothing orders.
    #[error("race: unordered {direction} of {space} memory at {address:#x}")]
    Race {
        /// Memory space.
        space: Space,
        /// What this access did.
        direction: Direction,
        /// The address or offset.
        address: u64,
    },
    /// `ld.global.nc` of data that the same launch writes.
    #[error("read-only load of global memory at {address:#x} that this launch also writes")]
    ReadOnlyWritten {
        /// The address.
        address: u64,
    },
    /// Shared memory touched while a `cp.async` into it has not been waited for.
    #[error(
        "{direction} of shared memory at {address:#x} before the asynchronous copy into it was waited for"
    )]
    AsyncNotWaited {
        /// Read or write.
        direction: Direction,
        /// The offset in shared memory.
        address: u64,
    },
    /// An operation at a place of shared memory where no barrier has been made, or none that the thread knows of.
    #[error("no barrier has been made at shared address {address:#x}, before this")]
    NoBarrier {
        /// The offset in shared memory.
        address: u64,
    },
    /// More threads arrive at a barrier in shared memory than its phase needs.
    #[error("arrival beyond the {arrivals} that a phase of the barrier at shared address {address:#x} needs")]
    TooManyArrivals {
        /// The offset in shared memory.
        address: u64,
        /// Arrivals of a phase.
        arrivals: u32,
    },
    /// A phase of a barrier in shared memory is complete while a copy that it counts is under way.
    #[error(
        "the phase of the barrier at shared address {address:#x} is complete before a copy of {bytes} bytes that it counts: fewer bytes were announced"
    )]
    TransactionBytes {
        /// The offset in shared memory.
        address: u64,
        /// Bytes of the copy.
        bytes: u64,
    },
    /// Threads wait for a phase of a barrier in shared memory that never completes.
    #[error(
        "the phase of parity {parity} of the barrier at shared address {address:#x} never completes: the present one lacks {arrivals} arrivals and {bytes} bytes"
    )]
    NoSuchPhase {
        /// The offset in shared memory.
        address: u64,
        /// What is waited for.
        parity: u32,
        /// Arrivals that the present phase lacks.
        arrivals: u32,
        /// Bytes that were announced and have not come; negative where more came.
        bytes: i64,
    },
    /// A copy or the tensor cores use what a thread has written to shared memory, without `fence.proxy.async` after it.
    #[error(
        "no proxy fence between a thread's write at shared address {address:#x} and its use by copies or tensor cores"
    )]
    NoProxyFence {
        /// The offset in shared memory: of the barrier, or of the tile.
        address: u64,
    },
    /// An operation of a warpgroup that not all of its threads reach together.
    #[error("{operation} not reached by all 128 threads of the warpgroup: {detail}")]
    WarpgroupDivergence {
        /// The operation.
        operation: &'static str,
        /// Who is where.
        detail: String,
    },
    /// The barrier of a cluster that not all of its threads reach, or not the lanes of a warp together.
    #[error("barrier of a cluster under divergence: {detail}")]
    ClusterDivergence {
        /// Who is where.
        detail: String,
    },
    /// Shared memory, or a barrier there, of another block of the cluster that has not begun or is gone, for all that
    /// the thread knows.
    #[error("use of shared memory of block {rank} of the cluster, which {what}")]
    BlockOfCluster {
        /// The block's rank.
        rank: u32,
        /// What is known of it.
        what: &'static str,
    },
    /// A thread ends before its copies out of shared memory have read that.
    #[error("a thread ends before its copy out of shared memory at {address:#x} has been waited for")]
    StoreNotWaited {
        /// The offset in shared memory.
        address: u64,
    },
    /// A block barrier that not all threads of the block reach together.
    #[error("barrier under divergence: {detail}")]
    BarrierDivergence {
        /// Who is where.
        detail: String,
    },
    /// A warp collective that a lane named in its mask does not reach.
    #[error("{operation} with mask {mask:#010x} never reached by lanes {missing:#010x}: {detail}")]
    WarpDivergence {
        /// The collective.
        operation: &'static str,
        /// The mask it was called with.
        mask: u32,
        /// The lanes missing, one bit each.
        missing: u32,
        /// Where they are.
        detail: String,
    },
    /// A lane called a collective whose mask does not name it.
    #[error("{operation} with mask {mask:#010x}, which does not name the calling lane {lane}")]
    NotInMask {
        /// The collective.
        operation: &'static str,
        /// The mask.
        mask: u32,
        /// The calling lane.
        lane: u32,
    },
    /// A shuffle that reads a lane outside its mask: the value is undefined on hardware.
    #[error("shuffle with mask {mask:#010x} reads lane {source_lane}, which takes no part")]
    ShuffleSource {
        /// The mask.
        mask: u32,
        /// The lane read.
        source_lane: u32,
    },
    /// An operand that the instruction does not take.
    #[error("{operation}: {what} is {value}, allowed is {allowed}")]
    InvalidOperand {
        /// The operation.
        operation: &'static str,
        /// The operand.
        what: &'static str,
        /// Its value.
        value: u64,
        /// What is allowed.
        allowed: &'static str,
    },
    /// Threads run, but nothing changes any more.
    #[error("livelock: {steps} steps without progress, {not_started} blocks have not started")]
    Livelock {
        /// Steps since the last progress.
        steps: u64,
        /// Blocks without a place.
        not_started: u64,
    },
    /// A programmatic kernel in which no thread waited for the kernel before it: whoever waits for this one does not
    /// wait for that.
    #[error("a programmatic kernel behind {before} that never waits for it")]
    NeverWaits {
        /// The kernel before: its name and where it is written.
        before: String,
    },
    /// More steps than the launch may take.
    #[error("step budget of {budget} exhausted")]
    StepBudget {
        /// The budget.
        budget: u64,
    },
    /// A thread has nearly used up its stack.
    #[error("stack overflow: a thread needs more than the {bytes} bytes of Config::stack_bytes")]
    StackOverflow {
        /// Bytes of the stack.
        bytes: u64,
    },
    /// The kernel's body panicked.
    #[error("the kernel panicked: {message}")]
    Panic {
        /// The panic's message.
        message: String,
    },
    /// A launch whose shape is zero or too large.
    #[error("invalid launch: {what} is {asked}, allowed is 1 to {limit}")]
    InvalidLaunch {
        /// The extent.
        what: &'static str,
        /// What was asked for.
        asked: u64,
        /// The most allowed.
        limit: u64,
    },
    /// A grid whose rows are no whole number of clusters.
    #[error("invalid launch: grid.x is {blocks}, no multiple of the {cluster} blocks of a cluster")]
    PartialCluster {
        /// Blocks in x.
        blocks: u32,
        /// Blocks of a cluster.
        cluster: u32,
    },
    /// A setting that no launch can run with.
    #[error("invalid configuration: {what} is {asked}, allowed is {least} to {most}")]
    InvalidConfig {
        /// The field of [`Config`](crate::Config).
        what: &'static str,
        /// Its value.
        asked: u64,
        /// The least allowed.
        least: u64,
        /// The most allowed.
        most: u64,
    },
    /// No memory left for an allocation.
    #[error("out of memory: {asked} bytes asked, {free} of {total} free")]
    OutOfMemory {
        /// Bytes asked for.
        asked: u64,
        /// Bytes free.
        free: u64,
        /// Bytes in total.
        total: u64,
    },
}
