//! Fibers: pooled stacks that simulated threads run on.
//!
//! A fiber runs threads one after another: one that never has to wait costs a call, not a change of stacks. A thread
//! that waits keeps its fiber, and the next one starts on another. Fibers outlive launches.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, Once, PoisonError};

use corosensei::stack::{DefaultStack, Stack};
use corosensei::{Coroutine, Yielder};

use super::block::NO_FIBER;
use super::scheduler::Next;
use super::{Abort, Caller, with};
use crate::config::Config;
use crate::fault::{Direction, FaultKind, Site};

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
    coroutine: ManuallyDrop<Coroutine<(), (), (), DefaultStack>>,
    /// No thread is suspended on it.
    idle: bool,
    /// The coroutine's end of the connection, once it has run.
    link: Box<Link>,
    /// Threads must not use the stack below this address.
    stack_limit: usize,
}

impl Drop for Fiber {
    fn drop(&mut self) {
        // What is suspended on it may be borrowed by others: that stack stays.
        if !self.idle {
            return;
        }
        ALIVE.fetch_sub(1, Ordering::Relaxed);
        // SAFETY: the fiber is idle: its root frame owns nothing that needs dropping. It is dropped here only.
        unsafe {
            self.coroutine.force_reset();
            ManuallyDrop::drop(&mut self.coroutine);
        }
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
    /// Where the running thread panicked.
    static PANIC: RefCell<Option<Site>> = const { RefCell::new(None) };
    /// A fiber runs on this OS thread.
    static ON_FIBER: Cell<bool> = const { Cell::new(false) };
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
        let surplus = ALIVE.load(Ordering::Relaxed).saturating_sub(KEPT);
        self.fibers.truncate(self.fibers.len().saturating_sub(surplus));
        self.fibers.retain(|fiber| fiber.idle);
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
        let stack_limit = stack.base().get() - self.stack_bytes + Config::STACK_RESERVE;
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
        self.fibers.push(Fiber { coroutine: ManuallyDrop::new(coroutine), idle: true, link, stack_limit });
        Ok(self.fibers.len() as u32 - 1)
    }

    /// Runs a fiber until it suspends.
    pub(crate) fn resume(&mut self, fiber: u32) {
        let Fiber { coroutine, idle, link, stack_limit } = &mut self.fibers[fiber as usize];
        LINK.set(link.get());
        with(|engine| engine.enter_fiber(fiber, *stack_limit));
        *idle = false;
        ON_FIBER.set(true);
        let _ = coroutine.resume(());
        ON_FIBER.set(false);
        *idle = with(|engine| engine.scheduler.fiber == NO_FIBER);
        if *idle {
            self.idle.push(fiber);
        }
    }
}

/// Runs the current thread, and after it others as long as they have not started.
fn run_threads() {
    loop {
        let body = with(|engine| {
            engine.begin_thread();
            engine.body()
        });
        let result = catch_unwind(AssertUnwindSafe(|| {
            // SAFETY: the body outlives the launch, and the launch this call.
            unsafe { (*body)() };
            with(|engine| {
                if !engine.ended && engine.exit_matters() {
                    engine.check_exit();
                }
            });
        }));
        // The payload of an end that the thread did not cause itself, or has caught before, says nothing.
        let message = result.err().and_then(|payload| {
            let caused = with(|engine| {
                let before = engine.ended;
                engine.end_thread();
                !before
            });
            let message = message_of(payload);
            caused.then_some(message)
        });
        let next = with(|engine| engine.close_thread(message));
        if next != Next::Fresh {
            with(|engine| {
                engine.scheduler.next = next;
                engine.scheduler.fiber = NO_FIBER;
            });
            return;
        }
    }
}

/// Gives way to whoever the scheduler picks. The current thread is filed already, and does not unwind: destructors
/// wait for nothing.
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
    let over = with(|engine| {
        if engine.aborting {
            engine.end_thread();
        }
        engine.aborting
    });
    if over {
        resume_unwind(Box::new(Abort));
    }
}

/// The message of a panic. Dropping its payload runs the kernel's code, which may panic again.
#[cold]
fn message_of(payload: Box<dyn Any + Send>) -> String {
    let message = payload
        .downcast_ref::<&str>()
        .map(ToString::to_string)
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a value that is no string".into());
    std::mem::forget(catch_unwind(AssertUnwindSafe(|| drop(payload))));
    message
}

impl super::Engine {
    /// The current thread is over: by itself, by a panic of its own with this message, or ended before.
    fn close_thread(&mut self, panicked: Option<String>) -> Next {
        if let Some(message) = panicked {
            let mut details = self.details(FaultKind::Panic { message }, None, self.current.gid);
            details.site = PANIC.take();
            self.set_fault(details);
        } else if !self.ended {
            self.finish_thread();
        }
        self.pick()
    }

    /// The current thread is about to leave the kernel while others may wait for it.
    #[cold]
    #[inline(never)]
    fn check_exit(&mut self) {
        let (tid, number, lane) = (self.current.tid, self.warp(), self.lane());
        let nowhere = Location::caller();
        self.check_collectives_of(number, lane, None, "has exited");
        self.check_warpgroup("has exited");
        let last = self.block().exited + 1 == self.per_block;
        self.check_stores();
        self.leave_cluster(last);
        if let Some(started) = self.block().phases.started().filter(|_| last) {
            // The block's shared memory is another's when it arrives.
            let (address, caller) = started;
            self.raise(FaultKind::AsyncNotWaited { direction: Direction::Write, address }, caller);
        }
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
            if ON_FIBER.get() {
                PANIC.set(info.location().map(Into::into));
            } else {
                before(info);
            }
        }));
    });
}
