//! The running launch: who runs, what each knows, what happened.

pub(crate) mod access;
pub(crate) mod arrays;
pub(crate) mod asynchronous;
pub(crate) mod atomic;
pub(crate) mod between;
pub(crate) mod block;
pub(crate) mod cluster;
pub(crate) mod collective;
pub(crate) mod counts;
pub(crate) mod earlier;
pub(crate) mod fiber;
pub(crate) mod launch;
pub(crate) mod path;
pub(crate) mod phase;
mod progress;
pub(crate) mod scheduler;
pub(crate) mod store;
pub(crate) mod sync;
pub(crate) mod unwritten;
mod waiting;
pub(crate) mod warpgroup;

use std::cell::Cell;
use std::collections::HashMap;
use std::panic::{Location, resume_unwind};
use std::ptr::null_mut;

use arrays::Arrays;
use block::Block;
use cluster::Cluster;
use counts::Tally;
use earlier::Waited;
use scheduler::Scheduler;
use store::Stores;
use unwritten::Parked;

use crate::clock::Who;
use crate::config::{Config, Record};
use crate::fault::{Direction, Fault, FaultDetails, FaultKind, OtherAccess, Site, Space, Waiter};
use crate::geometry::{Geometry, WARP, unflatten};
use crate::memory::alloc::Heap;
use crate::memory::cell::Conflict;
use crate::memory::history::Locations;
use crate::memory::shadow::ReadSets;
use crate::rng::Rng;

/// A call site.
pub(crate) type Caller = &'static Location<'static>;

thread_local! {
    /// The launch that runs on this OS thread.
    static CURRENT: Cell<*mut Engine> = const { Cell::new(null_mut()) };
}

/// The payload that unwinds a fiber when its launch has ended with a fault.
pub(crate) struct Abort;

/// The most device functions that a thread calls after its end, from destructors or after it caught that.
const CALLS_AFTER_END: u32 = 1 << 20;

/// The running thread.
#[derive(Clone, Copy, Default)]
pub(crate) struct Current {
    /// Its block's slot.
    pub(crate) slot: usize,
    /// Its linear index in the block.
    pub(crate) tid: u32,
    /// Its number in the launch.
    pub(crate) gid: u32,
}

/// Numbers for call sites, through a small cache in front of a map.
struct Sites {
    cache: Box<[(usize, u16); 1024]>,
    numbers: HashMap<usize, u16>,
    list: Vec<Option<Caller>>,
}

/// One launch.
pub(crate) struct Engine {
    pub(crate) current: Current,
    /// Plain accesses and iterations left before the running thread must give way.
    pub(crate) quantum: u32,
    /// Plain accesses must be observed: races are watched, or a livelock is suspected.
    pub(crate) observe: bool,
    /// A store changed a value, a thread finished, a barrier completed or a block started since this was last looked
    /// at.
    pub(crate) progressed: bool,
    pub(crate) record: Record,
    pub(crate) heap: Heap,
    /// By slot: those of a cluster are neighbours, in the order of their ranks.
    pub(crate) blocks: Vec<Block>,
    /// Blocks of a cluster, and what the clusters in flight have in common.
    pub(crate) cluster: u32,
    pub(crate) clusters: Vec<Cluster>,
    /// The number of the simulator.
    pub(crate) simulator: u64,
    pub(crate) geometry: Geometry,
    arrays: Arrays,
    /// Threads of a block, and the coordinates of each.
    pub(crate) per_block: u32,
    pub(crate) coordinates: Vec<[u32; 3]>,
    pub(crate) config: Config,
    pub(crate) rng: Rng,
    pub(crate) scheduler: Scheduler,
    /// The first thread that has read bytes which nobody had written.
    pub(crate) parked: Option<Parked>,
    /// Global memory that `cp.async` copies under way may still read: how many, per 16 bytes.
    pub(crate) sources: HashMap<u64, u32>,
    /// Copies of boxes under way.
    pub(crate) flights: usize,
    /// The same out of shared memory.
    pub(crate) stores: Stores,
    /// The running thread's stack must not reach below this address: above all others once the thread has ended.
    stack_limit: usize,
    /// The same, of the fiber that runs.
    fiber_limit: usize,
    /// The running thread goes no further: it unwinds, or has caught that, and nothing it calls has an effect.
    pub(crate) ended: bool,
    /// Device functions called since.
    calls_after_end: u32,
    /// The launch was made while its OS thread unwound: that a panic is under way says nothing of the running thread.
    launched_in_panic: bool,
    pub(crate) sets: ReadSets,
    pub(crate) locations: Locations,
    /// Of a programmatic kernel: the kernel before, and who has waited for it.
    pub(crate) waited: Option<Waited>,
    pub(crate) tally: Tally,
    sites: Sites,
    kernel: (String, String),
    fault: Option<Fault>,
    /// The launch has ended with a fault: whoever resumes unwinds.
    pub(crate) aborting: bool,
    body: launch::Body,
}

/// Runs `f` on the launch of this OS thread.
#[inline(always)]
#[track_caller]
pub(crate) fn with<R>(f: impl FnOnce(&mut Engine) -> R) -> R {
    let engine = CURRENT.with(Cell::get);
    if engine.is_null() {
        outside();
    }
    // SAFETY: the pointer is set for the duration of a launch, whose engine outlives it. Fibers and main loop run on
    // one OS thread, and none suspends inside `with`, so this is the only reference while `f` runs.
    f(unsafe { &mut *engine })
}

/// [`with`] for device functions: they also see to it that the thread's stack lasts. `None`, without effect, in a
/// thread that unwinds: a destructor can neither wait nor end the launch.
#[inline(always)]
#[track_caller]
pub(crate) fn on_thread<R>(caller: Caller, f: impl FnOnce(&mut Engine) -> R) -> Option<R> {
    let panicking = std::thread::panicking();
    with(|engine| {
        let here = 0u8;
        let low = (&raw const here).addr() < engine.stack_limit;
        if (low || panicking) && !engine.may_go_on(low, panicking, caller) {
            return None;
        }
        Some(f(engine))
    })
}

#[cold]
#[track_caller]
fn outside() -> ! {
    panic!("gpu_sim::device was called outside a kernel: its functions work only inside Simulator::launch")
}

/// Whether a launch runs on this OS thread.
pub(crate) fn inside() -> bool {
    !CURRENT.with(Cell::get).is_null()
}

impl Engine {
    /// The running thread's block.
    #[inline]
    pub(crate) fn block(&mut self) -> &mut Block {
        &mut self.blocks[self.current.slot]
    }

    /// The running thread's lane.
    #[inline]
    pub(crate) fn lane(&self) -> u32 {
        self.current.tid % WARP
    }

    /// The running thread's warp in its block.
    #[inline]
    pub(crate) fn warp(&self) -> usize {
        (self.current.tid / WARP) as usize
    }

    /// The number of a call site.
    #[inline]
    pub(crate) fn site(&mut self, caller: Caller) -> u16 {
        let key = std::ptr::from_ref(caller) as usize;
        let entry = self.sites.cache[key / 8 % 1024];
        if entry.0 == key {
            return entry.1;
        }
        self.intern(key, caller)
    }

    #[cold]
    fn intern(&mut self, key: usize, caller: Caller) -> u16 {
        let sites = &mut self.sites;
        let number = *sites.numbers.entry(key).or_insert_with(|| {
            // The top bit is a flag in shadow cells; sites beyond that many share the nameless number zero.
            if sites.list.len() >= 1 << 15 {
                return 0;
            }
            sites.list.push(Some(caller));
            (sites.list.len() - 1) as u16
        });
        sites.cache[key / 8 % 1024] = (key, number);
        number
    }

    /// Coordinates of a thread of the launch: its block and its index in it.
    pub(crate) fn place(&self, gid: u32) -> ([u32; 3], [u32; 3]) {
        let block = unflatten(gid / self.per_block, self.geometry.grid);
        (block, self.coordinates[(gid % self.per_block) as usize])
    }

    fn details(&self, kind: FaultKind, caller: Option<Caller>, gid: u32) -> FaultDetails {
        let (block, thread) = self.place(gid);
        FaultDetails {
            kernel: self.kernel.0.clone(),
            kernel_site: self.kernel.1.clone(),
            site: caller.map(Into::into),
            block,
            thread,
            ..FaultDetails::blank(kind, self.config.seed)
        }
    }

    /// Ends the launch with a fault of the running thread.
    #[cold]
    #[inline(never)]
    pub(crate) fn raise(&mut self, kind: FaultKind, caller: Caller) -> ! {
        let details = self.details(kind, Some(caller), self.current.gid);
        self.raise_details(details)
    }

    /// Whether a device function does what it is called for: not in a thread that unwinds. One that has caught its
    /// end ends again, and one whose stack is used up ends here.
    #[cold]
    #[inline(never)]
    fn may_go_on(&mut self, low: bool, panicking: bool, caller: Caller) -> bool {
        let unwinds = panicking && !self.launched_in_panic;
        if !unwinds && !self.ended {
            if low {
                let bytes = self.config.stack_bytes as u64;
                self.raise(FaultKind::StackOverflow { bytes }, caller);
            }
            return true;
        }
        self.calls_after_end += 1;
        if self.calls_after_end > CALLS_AFTER_END {
            self.never_ends(caller);
        }
        if !unwinds {
            resume_unwind(Box::new(Abort));
        }
        false
    }

    /// A thread that catches its end for ever: its frames may hold what others borrow, so that the launch can neither
    /// leave them nor return.
    fn never_ends(&self, caller: Caller) -> ! {
        let Site { file, line, column } = caller.into();
        eprintln!("gpu-sim: a thread that has ended catches that, or its destructors wait, without end");
        eprintln!("  at {file}:{line}:{column}");
        if let Some(fault) = &self.fault {
            eprintln!("{fault}");
        }
        std::process::abort()
    }

    /// The running thread goes no further.
    pub(crate) fn end_thread(&mut self) {
        (self.ended, self.stack_limit) = (true, usize::MAX);
    }

    /// Another thread runs from here on, on a fiber whose stack must not reach below an address.
    pub(crate) fn begin_thread(&mut self) {
        (self.ended, self.calls_after_end, self.stack_limit) = (false, 0, self.fiber_limit);
    }

    /// Its thread and those after it must not use the stack below this address.
    pub(crate) fn enter_fiber(&mut self, fiber: u32, limit: usize) {
        (self.scheduler.fiber, self.fiber_limit) = (fiber, limit);
        self.begin_thread();
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn raise_details(&mut self, details: FaultDetails) -> ! {
        self.set_fault(details);
        self.end_thread();
        // Not `panic!`: the hook must not print. The root of the fiber catches it.
        resume_unwind(Box::new(Abort))
    }

    /// Ends the launch with a fault, without unwinding the caller. The first fault counts.
    pub(crate) fn set_fault(&mut self, details: FaultDetails) {
        if self.fault.is_none() {
            self.fault = Some(Fault::new(details));
        }
    }

    /// Ends the launch with the two accesses of a race.
    #[cold]
    #[inline(never)]
    pub(crate) fn raise_conflict(
        &mut self,
        conflict: Conflict,
        space: Space,
        address: u64,
        direction: Direction,
        caller: Caller,
    ) -> ! {
        let kind = if conflict.read_only {
            FaultKind::ReadOnlyWritten { address }
        } else {
            FaultKind::Race { space, direction, address }
        };
        let mut details = self.details(kind, Some(caller), self.current.gid);
        let (block, thread) = self.place(conflict.gid);
        let site = self.sites.list.get(conflict.site as usize).copied().flatten().map(Into::into);
        details.other = Some(OtherAccess {
            site,
            block,
            thread,
            direction: conflict.direction,
            atomic: conflict.atomic,
            kernel: None,
            stream: None,
            threads: true,
        });
        self.raise_details(details)
    }

    /// A thread as it appears in a report.
    pub(crate) fn waiter(&self, slot: usize, tid: u32) -> Waiter {
        let block = &self.blocks[slot];
        let thread = &block.threads[tid as usize];
        Waiter {
            block: block.index,
            thread: self.coordinates[tid as usize],
            site: thread.site.map(Into::into),
            what: match thread.status {
                block::Status::Runnable => "runs",
                block::Status::Barrier => "waits at a block barrier",
                block::Status::Collective => "waits in a warp collective",
                block::Status::Gather => "waits in active_mask",
                block::Status::Phase => "waits at a barrier in shared memory",
                block::Status::Warpgroup => "waits for its warpgroup",
                block::Status::Cluster => "waits at a barrier of its cluster",
                block::Status::Parked => "has read bytes that nobody had written",
                block::Status::Finished => "has finished",
            },
        }
    }

    /// The running thread with what it knows.
    #[inline]
    pub(crate) fn who<'a>(block: &'a Block, current: Current, per_block: u32) -> Who<'a> {
        Who {
            gid: current.gid,
            clock: block.clock(current.tid),
            first: block.number * per_block,
            per_block,
            floor: block.floor,
            view: block.view(current.tid),
        }
    }
}
