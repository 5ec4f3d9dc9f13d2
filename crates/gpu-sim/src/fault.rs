//! What the simulator reports when a kernel does something that a GPU would not forgive.

use std::fmt;
use std::ops::Deref;
use std::panic::Location;

/// A place in the source.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Site {
    /// File, as the compiler names it.
    pub file: String,
    /// Line, from one.
    pub line: u32,
    /// Column, from one.
    pub column: u32,
}

impl From<&Location<'_>> for Site {
    fn from(location: &Location<'_>) -> Self {
        Self { file: location.file().into(), line: location.line(), column: location.column() }
    }
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// A memory space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// Global memory, named by 64-bit simulated addresses.
    Global,
    /// A block's dynamic shared memory, named by byte offsets.
    Shared,
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Global => "global",
            Self::Shared => "shared",
        })
    }
}

/// Read or write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// The memory is read.
    Read,
    /// The memory is written (an atomic read-modify-write counts as a write).
    Write,
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Read => "read",
            Self::Write => "write",
        })
    }
}

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

/// The access that a race was with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherAccess {
    /// Where it stands in the source.
    pub site: Option<Site>,
    /// Whether a thread made it, and not a copy or a fill: then `block` and `thread` are its.
    pub threads: bool,
    /// The block that made it.
    pub block: [u32; 3],
    /// The thread that made it.
    pub thread: [u32; 3],
    /// Read or write.
    pub direction: Direction,
    /// Whether it was an atomic or volatile access.
    pub atomic: bool,
    /// The kernel that made it, or what else it was, where that is not the one at fault: the one before, which a
    /// programmatic kernel has not waited for, or work on another stream.
    pub kernel: Option<String>,
    /// That other stream; the default one is 0.
    pub stream: Option<u32>,
}

/// A thread that waits, for livelock and divergence reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiter {
    /// Its block.
    pub block: [u32; 3],
    /// Its index in the block.
    pub thread: [u32; 3],
    /// Where it waits.
    pub site: Option<Site>,
    /// What it waits for.
    pub what: &'static str,
}

/// Everything known about a fault. Reached through [`Fault`], which derefs to it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FaultDetails {
    /// What went wrong.
    pub kind: FaultKind,
    /// The kernel's name; empty when a host call failed.
    pub kernel: String,
    /// Where the kernel is written, `file:line`; empty for host calls.
    pub kernel_site: String,
    /// The source line of the access or call.
    pub site: Option<Site>,
    /// The block of the thread at fault.
    pub block: [u32; 3],
    /// The thread at fault, as an index in its block.
    pub thread: [u32; 3],
    /// The stream it was enqueued on; the default one is 0.
    pub stream: u32,
    /// The seed that reproduces the run.
    pub seed: u64,
    /// The other access of a race.
    pub other: Option<OtherAccess>,
    /// Threads that wait, the first several.
    pub waiters: Vec<Waiter>,
    /// Where the host reads unwritten bytes: the last kernel that wrote other bytes of that allocation, or, as long as
    /// none has, the last that ran since. Its name and where it is written.
    pub after: Option<String>,
}

/// A kernel, or a host call, did something that real hardware would not forgive, or would forgive silently.
///
/// The fields are those of [`FaultDetails`]: `fault.kind`, `fault.site`, `fault.block` and so on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Fault(Box<FaultDetails>);

impl Fault {
    pub(crate) fn new(details: FaultDetails) -> Self {
        Self(Box::new(details))
    }

    /// A fault of a host call: there is no kernel, block or thread.
    pub(crate) fn host(kind: FaultKind, seed: u64, caller: &Location<'_>) -> Self {
        Self::new(FaultDetails { site: Some(caller.into()), ..FaultDetails::blank(kind, seed) })
    }

    /// The fault, with the kernel that came before it.
    pub(crate) fn after(mut self, kernel: Option<&str>) -> Self {
        self.0.after = kernel.map(Into::into);
        self
    }
}

impl FaultDetails {
    /// Without a kernel, a place and another side.
    pub(crate) fn blank(kind: FaultKind, seed: u64) -> Self {
        Self {
            kind,
            kernel: String::new(),
            kernel_site: String::new(),
            site: None,
            block: [0; 3],
            thread: [0; 3],
            stream: 0,
            seed,
            other: None,
            waiters: Vec::new(),
            after: None,
        }
    }
}

impl OtherAccess {
    /// `stream`: that of the access at fault.
    fn fmt(&self, stream: u32, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let atomic = if self.atomic { "atomic " } else { "" };
        write!(f, "\n  other access: {atomic}{}", self.direction)?;
        if self.threads {
            write!(f, " by block {:?}, thread {:?}", self.block, self.thread)?;
        }
        match (&self.kernel, self.stream) {
            (None, _) => {}
            (Some(kernel), None) => write!(f, "\n  of kernel {kernel}, which was not waited for")?,
            (Some(work), Some(theirs)) => {
                write!(f, "\n  of {work} on stream {theirs}, which stream {stream} has not waited for")?;
            }
        }
        match &self.site {
            Some(site) => write!(f, "\n  at {site}"),
            None => Ok(()),
        }
    }
}

impl Deref for Fault {
    type Target = FaultDetails;

    fn deref(&self) -> &FaultDetails {
        &self.0
    }
}

impl fmt::Display for FaultDetails {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kind)?;
        if let Some(site) = &self.site {
            write!(f, "\n  at {site}")?;
        }
        if self.kernel.is_empty() {
            write!(f, "\n  in a host call")?;
            if let Some(kernel) = &self.after {
                write!(f, "\n  after kernel {kernel}")?;
            }
        } else {
            write!(
                f,
                "\n  in kernel `{}` ({}), block {:?}, thread {:?}",
                self.kernel, self.kernel_site, self.block, self.thread
            )?;
        }
        if let Some(other) = &self.other {
            other.fmt(self.stream, f)?;
        }
        if self.kernel.is_empty() {
            return Ok(());
        }
        for waiter in &self.waiters {
            write!(f, "\n  block {:?}, thread {:?}: {}", waiter.block, waiter.thread, waiter.what)?;
            if let Some(site) = &waiter.site {
                write!(f, " at {site}")?;
            }
        }
        write!(f, "\n  seed {}", self.seed)
    }
}
