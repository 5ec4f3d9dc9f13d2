//! Fibers: pooled stacks that simulated threads run on.
//!
//! A fiber runs threads one after another: one that never has to wait costs a call, not a change of stacks. A thread
//! that waits keeps its fiber, and the next one starts on another. Fibers outlive launches.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, Once, PoisonError};

use corosensei::stack::{DefaultStack, Stack};
use corosensei::{Coroutine, Yielder};

use super::block::NO_FIBER;
use super::scheduler::Next;
use super::unwritten::Park;
use super::{Abort, Caller, with};
use crate::config::Config;
use crate::fault::{FaultKind, Site};

/// Fibers kept between launches, in the whole process; their touched stack pages stay with them.
const KEPT: usize = 8192;
/// Fibers that running launches may need, in the whole process. A stack and its guard page are two mappings, of
/// which Linux grants a process 65,530 by default.
const RUNNING: usize = 20_000;

/// Fibers alive in the process.
static ALIVE: AtomicUsize = AtomicUsize::new(0);
/// Fibers that running launches may still ask for.
static ROOM: (Mutex<usize>, Condvar) = (Mutex::new(RUNNING), Condvar::new());

/// The right to as many fibers as a launch can have suspended. Launches on other OS threads wait for it rather than
/// run with fewer blocks in flight: a seed fixes the run, whatever else the process does.
pub(crate) struct Reserved(usize);

impl Reserved {
    pub(crate) fn new(fibers: usize) -> Self {
        let mut room = ROOM.0.lock().unwrap_or_else(PoisonError::into_inner);
        while *room < fibers {
            room = ROOM.1.wait(room).unwrap_or_else(PoisonError::into_inner);
        }
        *room -= fibers;
        Self(fibers)
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        *ROOM.0.lock().unwrap_or_else(PoisonError::into_inner) += self.0;
        ROOM.1.notify_all();
    }
}

type Link = Cell<*const Yielder<(), ()>>;

struct Fiber {
    coroutine: Coroutine<(), (), (), DefaultStack>,
    /// The coroutine's end of the connection, once it has run.
    link: Box<Link>,
    /// Threads must not use the stack below this address.
    stack_limit: usize,
}

impl Drop for Fiber {
    fn drop(&mut self) {
        ALIVE.fetch_sub(1, Ordering::Relaxed);
        // SAFETY: a fiber is dropped only while it is idle: its root frame owns nothing that needs dropping.
        unsafe { self.coroutine.force_reset() }
    }
}

/// The fibers of an OS thread.
#[derive(Default)]
pub(crate) struct Pool {
    fibers: Vec<Fiber>,
    idle: Vec<u32>,
    stack_bytes: usize,
}

thread_local! {
    static POOL: RefCell<Pool> = RefCell::default();
    /// The running thread's end of its fiber's connection.
    static LINK: Cell<*const Yielder<(), ()>> = const { Cell::new(std::ptr::null()) };
    /// Where and why the running thread panicked.
    static PANIC: RefCell<Option<Site>> = const { RefCell::new(None) };
}

impl Pool {
    /// The pool of this OS thread, with stacks of the given size.
    pub(crate) fn take(stack_bytes: usize) -> Self {
        let mut pool = POOL.take();
        if pool.stack_bytes != stack_bytes {
            pool = Self { stack_bytes, ..Self::default() };
        }
        pool
    }

    /// Puts the pool back, with all its fibers idle.
    pub(crate) fn give(mut self) {
        debug_assert_eq!(self.idle.len(), self.fibers.len());
        let surplus = ALIVE.load(Ordering::Relaxed).saturating_sub(KEPT);
        self.fibers.truncate(self.fibers.len().saturating_sub(surplus));
        let kept = self.fibers.len() as u32;
        self.idle = (0..kept).collect();
        POOL.replace(self);
    }

    /// An idle fiber, made if there is none.
    pub(crate) fn idle(&mut self) -> std::io::Result<u32> {
        if let Some(fiber) = self.idle.pop() {
            return Ok(fiber);
        }
        let link: Box<Link> = Box::new(Cell::new(std::ptr::null()));
        let own = std::ptr::from_ref(&*link);
        let stack = DefaultStack::new(self.stack_bytes)?;
        let reserve = Config::STACK_RESERVE.min(self.stack_bytes / 2);
        let stack_limit = stack.base().get() - self.stack_bytes + reserve;
        let coroutine = Coroutine::with_stack(stack, move |yielder: &Yielder<(), ()>, ()| {
            // SAFETY: the box outlives the coroutine, which it lies beside.
            unsafe { (*own).set(std::ptr::from_ref(yielder)) };
            loop {
                LINK.set(std::ptr::from_ref(yielder));
                run_threads();
                yielder.suspend(());
            }
        });
        ALIVE.fetch_add(1, Ordering::Relaxed);
        self.fibers.push(Fiber { coroutine, link, stack_limit });
        Ok(self.fibers.len() as u32 - 1)
    }

    /// Runs a fiber until it suspends; says whether it is idle after that.
    pub(crate) fn resume(&mut self, fiber: u32) -> bool {
        let Fiber { coroutine, link, stack_limit } = &mut self.fibers[fiber as usize];
        LINK.set(link.get());
        with(|engine| {
            engine.scheduler.fiber = fiber;
            engine.stack_limit = *stack_limit;
        });
        let _ = coroutine.resume(());
        let idle = with(|engine| engine.scheduler.fiber == NO_FIBER);
        if idle {
            self.idle.push(fiber);
        }
        idle
    }
}

/// Runs the current thread, and after it others as long as they have not started.
fn run_threads() {
    loop {
        let body = with(|engine| engine.body());
        let result = catch_unwind(AssertUnwindSafe(|| {
            // SAFETY: the body outlives the launch, and the launch this call.
            unsafe { (*body)() };
            with(|engine| {
                if engine.exit_matters() {
                    engine.check_exit();
                }
            });
        }));
        let next = with(|engine| {
            if let Err(payload) = result {
                if payload.is::<Park>() {
                    return engine.pick();
                }
                engine.thread_panicked(payload);
                return Next::Over;
            }
            engine.finish_thread();
            engine.pick()
        });
        if next != Next::Fresh {
            with(|engine| {
                engine.scheduler.next = next;
                engine.scheduler.fiber = NO_FIBER;
            });
            return;
        }
    }
}

/// Gives way to whoever the scheduler picks. The current thread is filed already.
#[inline(never)]
pub(crate) fn suspend() {
    let again = with(|engine| {
        let fiber = engine.scheduler.fiber;
        let (slot, tid) = (engine.current.slot, engine.current.tid);
        engine.blocks[slot].threads[tid as usize].fiber = fiber;
        let next = engine.pick();
        engine.scheduler.next = next;
        next == Next::Resume(fiber)
    });
    if again {
        return;
    }
    let link = LINK.get();
    // SAFETY: set by the fiber that runs, when it was resumed; its yielder lives as long as its stack.
    unsafe { (*link).suspend(()) };
    if with(|engine| engine.aborting) && !std::thread::panicking() {
        resume_unwind(Box::new(Abort));
    }
}

impl super::Engine {
    /// The current thread's body ended in a panic: ours, which ends the launch, or its own.
    #[cold]
    fn thread_panicked(&mut self, payload: Box<dyn Any + Send>) {
        let (slot, tid) = (self.current.slot, self.current.tid);
        self.blocks[slot].threads[tid as usize].fiber = NO_FIBER;
        if payload.is::<Abort>() {
            return;
        }
        let message = payload
            .downcast_ref::<&str>()
            .map(ToString::to_string)
            .or_else(|| payload.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "a value that is no string".into());
        let mut details = self.details(FaultKind::Panic { message }, None, self.current.gid);
        details.site = PANIC.take();
        self.set_fault(details);
    }

    /// The current thread is about to leave the kernel while others may wait for it.
    #[cold]
    #[inline(never)]
    fn check_exit(&mut self) {
        let (tid, number, lane) = (self.current.tid, self.warp(), self.lane());
        let nowhere = Location::caller();
        self.check_collectives_of(number, lane, None, "has exited");
        let barrier = &self.block().barrier;
        if barrier.arrived > 0 {
            let site: Caller = barrier.site.unwrap_or(nowhere);
            let (first, detail) =
                (barrier.first, format!("thread {:?} has exited", self.coordinates[tid as usize]));
            // Reported at the barrier, for the first thread that waits there in vain.
            self.current.gid = self.current.gid - tid + first;
            self.barrier_divergence(detail, site);
        }
        self.abandon_copies();
    }
}

/// Makes panics of simulated threads silent: they become faults, with the place the hook was told.
pub(crate) fn install_hook() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if super::inside() && with(|engine| engine.scheduler.fiber != NO_FIBER) {
                PANIC.set(info.location().map(Into::into));
            } else {
                before(info);
            }
        }));
    });
}
