//! Work as it is recorded: with all that it takes to enqueue it later.

use core::fmt;
use std::sync::Arc;

use gpu_std::launch::{Arg, Invocation, KernelMeta, LaunchConfig, Thread};

use crate::backend::{Executable, Queue};
use crate::device::Device;
use crate::error::Result;
#[cfg(feature = "simulator")]
use crate::simulator::given::Given;

/// What a stream does.
#[derive(Debug)]
pub(crate) enum Work {
    Fill { address: u64, bytes: usize, value: u8 },
    Copy { target: u64, source: u64, bytes: usize },
    CopyPeer { target: (Device, u64), source: (Device, u64), bytes: usize },
    Launch(Launch),
}

impl Work {
    /// What kind of work it is.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Fill { .. } => "a fill",
            Self::Copy { .. } => "a copy",
            Self::CopyPeer { .. } => "a copy between devices",
            Self::Launch(_) => "a kernel",
        }
    }

    /// Which it is, for errors.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Launch(launch) => launch.kernel.name,
            _ => self.kind(),
        }
    }

    /// Enqueues it.
    ///
    /// # Safety
    /// The memory that it uses is there until it has ended, and nothing else uses what it writes meanwhile.
    unsafe fn enqueue(&self, queue: &dyn Queue) -> Result<()> {
        match self {
            // SAFETY: the caller's promise.
            &Self::Fill { address, bytes, value } => unsafe { queue.fill(address, bytes, value) },
            // SAFETY: as above.
            &Self::Copy { target, source, bytes } => unsafe { queue.copy(target, source, bytes) },
            Self::CopyPeer { target: (to, target), source: (from, source), bytes } => {
                // SAFETY: as above.
                unsafe { queue.copy_peer((&to.backend, *target), (&from.backend, *source), *bytes) }
            }
            // SAFETY: as above.
            Self::Launch(launch) => launch.with(|invocation| unsafe { queue.launch(invocation) }),
        }
    }
}

/// A launch with its arguments.
pub(crate) struct Launch {
    pub(crate) kernel: &'static KernelMeta,
    pub(crate) config: LaunchConfig,
    /// The arguments' bytes, one after the other.
    bytes: Vec<u8>,
    /// Where each begins, and what was said of it.
    args: Vec<(usize, Arg)>,
    thread: Arc<dyn Thread + Send>,
    #[cfg(feature = "simulator")]
    given: Given,
}

// SAFETY: the pointers within `args` are never followed: `with` puts those to `bytes` in their place.
unsafe impl Send for Launch {}
// SAFETY: as above.
unsafe impl Sync for Launch {}

impl Launch {
    pub(super) fn new(invocation: &Invocation<'_>) -> Self {
        let (mut bytes, mut args) = (Vec::new(), Vec::new());
        for arg in invocation.args {
            args.push((bytes.len(), *arg));
            // SAFETY: that many bytes lie there while the invocation lives.
            bytes.extend_from_slice(unsafe {
                core::slice::from_raw_parts(arg.pointer.cast::<u8>(), arg.size)
            });
        }
        Self {
            kernel: invocation.kernel,
            config: invocation.config,
            bytes,
            args,
            thread: invocation.thread.keep(),
            #[cfg(feature = "simulator")]
            given: Given::so_far(),
        }
    }

    /// Hands `launch` the same invocation again.
    pub(crate) fn with<R>(&self, launch: impl FnOnce(&Invocation<'_>) -> R) -> R {
        let at = |&(start, arg): &(usize, Arg)| Arg { pointer: self.bytes[start..].as_ptr().cast(), ..arg };
        let args: Vec<Arg> = self.args.iter().map(at).collect();
        let thread = &*self.thread;
        #[cfg(feature = "simulator")]
        let _noted = self.given.again();
        launch(&Invocation { kernel: self.kernel, config: self.config, args: &args, thread })
    }
}

impl fmt::Debug for Launch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?}", self.kernel.name, self.config)
    }
}

/// A device and the allocations there that work uses, each with whether it is written.
pub(crate) type Used = (Device, Vec<(u64, bool)>);

/// The graph of a device that has none of its own: its work is enqueued piece by piece.
pub(crate) struct Replay(pub(crate) Vec<Work>);

impl Executable for Replay {
    unsafe fn launch(&mut self, queue: &Arc<dyn Queue>, _: &[Used]) -> Result<()> {
        // SAFETY: the caller's promise.
        self.0.iter().try_for_each(|work| unsafe { work.enqueue(&**queue) })
    }

    fn update(&mut self, work: Vec<Work>) -> Result<()> {
        self.0 = work;
        Ok(())
    }
}
