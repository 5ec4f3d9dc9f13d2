//! What the simulator reports when a kernel does something that a GPU would not forgive.

mod kind;

use std::fmt;
use std::ops::Deref;
use std::panic::Location;

pub use kind::FaultKind;

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
