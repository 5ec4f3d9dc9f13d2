//! A call that other threads join while it runs, and none after it.
//!
//! A scope of rayon's ends when every task it was given has run: a thread that wakes up when all is done is waited for
//! all the same, some 10 µs and on a virtual machine several times as long. A task here that comes too late finds the
//! call closed, and leaves what it borrowed alone.
//!
//! Threads that have done a caller's last call wait for its next one for a while: to hand them one that way takes a
//! single write. Rayon's own wait looks for work of all threads, and for a caller that comes back at once it may wake
//! another thread, which then takes a core from it.

use std::any::Any;
use std::cell::{Cell, UnsafeCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use super::Apart;

/// The bit of a line's state that says that no call is open. Below it is how many helpers are in the call, and above
/// it the call's number: to add the bit closes a call, and to add it once more opens the next one.
const CLOSED: usize = 1 << 15;
/// How many helpers are in the call.
const INSIDE: usize = CLOSED - 1;
/// How long a helper waits for its caller's next call, and a caller for its helpers' end: as long as a thread of a
/// virtual machine takes to wake up.
pub(super) const PATIENCE: Duration = Duration::from_micros(50);
/// How long either waits before it lets others have its core now and then: the one that it waits for may be on it.
const BEFORE_OTHERS: Duration = Duration::from_micros(5);
/// How long a thread that lets others have its core is without it, at most, if none of them works there.
const SHORTLY: Duration = Duration::from_micros(100);
/// How long a helper whose part is done waits for the call's end. Without it, products of 1 ms found two cores asleep
/// for every other one, and took 1.6.
const LONG_PATIENCE: Duration = Duration::from_micros(500);

/// Calls `work` on this thread with 0, and on up to `helpers` others of rayon's that are free meanwhile, each with a
/// number of its own up to `helpers`; a thread that waits for the next call has the same one there.
///
/// # Panics
/// If `work` does, on whichever thread, as soon as no other is in it.
pub(super) fn call(helpers: usize, work: &(dyn Fn(usize) + Sync)) {
    // A call inside a call has another line.
    let line = LINE.take().unwrap_or_else(Line::new);
    let helpers = helpers.min(line.is_taken.len());
    let work: *const (dyn Fn(usize) + Sync + '_) = work;
    // SAFETY: only the lifetime differs, and what is borrowed is not used after this function, as `Line::work` says.
    let work = unsafe {
        std::mem::transmute::<*const (dyn Fn(usize) + Sync + '_), *const (dyn Fn(usize) + Sync + 'static)>(
            work,
        )
    };
    // SAFETY: no call is open, so only this thread uses it.
    unsafe { *line.work.get() = Some(work) };
    line.helpers.store(helpers, Ordering::Relaxed);
    line.state.fetch_add(CLOSED, Ordering::SeqCst);
    let end = End(&line);
    line.fill(helpers);
    // SAFETY: it is borrowed until this function returns.
    unsafe { (*work)(0) };
    drop(end);
    let panic = line.panic.lock().unwrap_or_else(PoisonError::into_inner).take();
    LINE.set(Some(line));
    if let Some(panic) = panic {
        resume_unwind(panic);
    }
}

/// What `call` is asked to do.
type Work = *const (dyn Fn(usize) + Sync);

thread_local! {
    /// This thread's, while it has no call.
    static LINE: Cell<Option<Arc<Line>>> = const { Cell::new(None) };
}

/// A caller and its helpers.
struct Line {
    /// Who leaves or opens a call reads what the other last wrote here and in `is_taken`, in one order of all: a write
    /// of a weaker kind between them may be read in its place by C++11's rules, if not by C++20's.
    state: Apart<AtomicUsize>,
    /// How many of them the open call wants.
    helpers: AtomicUsize,
    /// Written by the caller while no call is open, and read by helpers that are counted in an open one: its end waits
    /// for them.
    work: UnsafeCell<Option<Work>>,
    /// Whether there is a helper of each number, from 1 on, if only one that rayon will begin.
    is_taken: Box<[AtomicBool]>,
    caller: Thread,
    /// Whether helpers may wait for the next call: not those that the caller's own pool has other work for.
    may_wait: bool,
    /// What came of a helper that panicked.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

// SAFETY: `work` is a shared reference to what is `Sync`, and used as it says; all else is both.
unsafe impl Send for Line {}
// SAFETY: as above.
unsafe impl Sync for Line {}

impl Line {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            state: Apart(AtomicUsize::new(CLOSED)),
            helpers: AtomicUsize::new(0),
            work: UnsafeCell::new(None),
            is_taken: (0..super::count().min(INSIDE)).map(|_| AtomicBool::new(false)).collect(),
            caller: thread::current(),
            may_wait: rayon::current_thread_index().is_none(),
            panic: Mutex::default(),
        })
    }

    /// Has rayon begin the helpers that are missing.
    fn fill(self: &Arc<Self>, helpers: usize) {
        for (number, is_taken) in self.is_taken[..helpers].iter().enumerate() {
            if !is_taken.load(Ordering::SeqCst) && !is_taken.swap(true, Ordering::SeqCst) {
                let line = Arc::clone(self);
                rayon::spawn(move || line.serve(number + 1));
            }
        }
    }

    /// Does the work of the open call too, and that of the next ones.
    fn serve(&self, number: usize) {
        let is_taken = &self.is_taken[number - 1];
        let_others();
        let (mut last, mut start, mut patience) = (CLOSED, Instant::now(), PATIENCE);
        loop {
            for _ in 0..16 {
                if self.join(number, &mut last) {
                    (start, patience) = (Instant::now(), LONG_PATIENCE);
                }
                if !self.may_wait {
                    break;
                }
                std::hint::spin_loop();
            }
            if patience == LONG_PATIENCE && self.state.load(Ordering::Relaxed) & CLOSED != 0 {
                (start, patience) = (Instant::now(), PATIENCE);
            }
            if self.may_wait && stays(start, patience) {
                continue;
            }
            is_taken.store(false, Ordering::SeqCst);
            // A call that was opened before may have counted on this one.
            if !Self::is_new(self.state.load(Ordering::SeqCst), last) || is_taken.swap(true, Ordering::SeqCst)
            {
                return;
            }
        }
    }

    /// Whether a call is open, and not the last one.
    fn is_new(state: usize, last: usize) -> bool {
        state & CLOSED == 0 && state & !INSIDE != last
    }

    /// Does the work too, if there is a new call that wants this helper; says whether it has.
    fn join(&self, number: usize, last: &mut usize) -> bool {
        let state = self.state.load(Ordering::Acquire);
        if !Self::is_new(state, *last) {
            return false;
        }
        // What the caller wrote before it opened the call is seen in it.
        if self.helpers.load(Ordering::Relaxed) < number {
            *last = state & !INSIDE;
            return false;
        }
        let state = self.state.fetch_add(1, Ordering::SeqCst);
        let joins = state & CLOSED == 0 && number <= self.helpers.load(Ordering::Relaxed);
        if joins {
            *last = state & !INSIDE;
            // SAFETY: the call was not closed when this thread was counted, so the caller waits for it.
            let done = catch_unwind(AssertUnwindSafe(|| unsafe {
                let work = (*self.work.get()).expect("a call that is open has work");
                (*work)(number);
            }));
            if let Err(panic) = done {
                *self.panic.lock().unwrap_or_else(PoisonError::into_inner) = Some(panic);
            }
        }
        // What was done is released to the caller, which may go on now.
        if self.state.fetch_sub(1, Ordering::SeqCst) & (CLOSED | INSIDE) == CLOSED | 1 {
            self.caller.unpark();
        }
        joins
    }
}

/// Whether a thread that has waited since `start` goes on; it may have let others have its core.
fn stays(start: Instant, patience: Duration) -> bool {
    let waited = start.elapsed();
    if waited > BEFORE_OTHERS {
        let_others();
    }
    waited < patience
}

/// Lets others have this thread's core. Who works there meanwhile may be the one that is waited for: where threads may
/// run on two of sixteen cores, Linux woke helpers on their caller's, as another thread was about to leave the second
/// one, and left them there for 100 ms. Who sleeps for a moment wakes up on a core that is free.
fn let_others() {
    let start = Instant::now();
    thread::yield_now();
    if start.elapsed() > SHORTLY {
        thread::sleep(Duration::from_micros(1));
    }
}

/// Closes a call when it is dropped, be it by a panic, and waits for those that are in it.
struct End<'a>(&'a Line);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.state.fetch_add(CLOSED, Ordering::SeqCst);
        let (start, mut looks) = (Instant::now(), 0);
        while self.0.state.load(Ordering::Acquire) & INSIDE != 0 {
            looks += 1;
            if looks % 16 != 0 {
                std::hint::spin_loop();
            } else if !stays(start, PATIENCE) {
                // Whoever wakes it, it looks again.
                thread::park();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    /// Waits until `is_so`, for a few seconds at most.
    fn until(is_so: impl Fn() -> bool) -> bool {
        let start = Instant::now();
        while !is_so() && start.elapsed() < Duration::from_secs(20) {
            thread::yield_now();
        }
        is_so()
    }

    fn pool(threads: usize) -> rayon::ThreadPool {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads")
    }

    #[test]
    fn others_join_while_it_runs() {
        let inside = AtomicUsize::new(0);
        pool(3).install(|| {
            call(2, &|_| {
                inside.fetch_add(1, Ordering::SeqCst);
                // Each waits for all others, so that all are threads of their own.
                assert!(until(|| inside.load(Ordering::SeqCst) == 3), "three threads");
            });
        });
        assert_eq!(inside.into_inner(), 3);
    }

    #[test]
    fn what_comes_too_late_is_not_waited_for_and_does_nothing() {
        let (pool, times) = (pool(2), AtomicUsize::new(0));
        let (is_busy, may_go) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let (busy, go) = (Arc::clone(&is_busy), Arc::clone(&may_go));
        pool.spawn(move || {
            busy.store(true, Ordering::SeqCst);
            assert!(until(|| go.load(Ordering::SeqCst)), "it is told to go");
        });
        assert!(until(|| is_busy.load(Ordering::SeqCst)), "the other thread is at work");
        pool.install(|| call(1, &|_| _ = times.fetch_add(1, Ordering::SeqCst)));
        assert_eq!(times.load(Ordering::SeqCst), 1);
        may_go.store(true, Ordering::SeqCst);
        // Both threads have looked at all tasks.
        pool.broadcast(|_| {});
        assert_eq!(times.into_inner(), 1);
    }

    #[test]
    fn a_panic_of_either_thread_reaches_the_caller_after_the_others_end() {
        for panics_here in [true, false] {
            let (inside, left) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let done = catch_unwind(AssertUnwindSafe(|| {
                pool(2).install(|| {
                    call(1, &|number| {
                        inside.fetch_add(1, Ordering::SeqCst);
                        assert!(until(|| inside.load(Ordering::SeqCst) == 2), "both threads");
                        if (number == 0) == panics_here {
                            panic!("as planned");
                        }
                        // Long enough for the caller to sleep.
                        thread::sleep(Duration::from_millis(5));
                        left.fetch_add(1, Ordering::SeqCst);
                    });
                });
            }));
            assert_eq!(done.expect_err("one thread panics").downcast_ref(), Some(&"as planned"));
            assert_eq!(left.into_inner(), 1, "the other has left");
        }
    }

    #[test]
    fn who_waits_has_the_same_number_in_the_next_call_if_that_wants_it() {
        let (calls, kept) = (if cfg!(miri) { 20 } else { 2000 }, AtomicUsize::new(0));
        let last: [Mutex<Option<thread::ThreadId>>; 4] = Default::default();
        for call_number in 0..calls {
            let helpers = [3, 1, 2, 3][call_number % 4];
            let inside = AtomicUsize::new(0);
            call(helpers, &|number| {
                assert!(number <= helpers, "{number} of {helpers}");
                let mut last = last[number].lock().expect("no panic");
                kept.fetch_add(usize::from(*last == Some(thread::current().id())), Ordering::Relaxed);
                *last = Some(thread::current().id());
                inside.fetch_add(1, Ordering::SeqCst);
                if number == 0 {
                    drop(last);
                    // Helpers have some time to come.
                    (0..100).for_each(|_| std::hint::spin_loop());
                }
            });
            assert!((1..=helpers + 1).contains(&inside.into_inner()));
        }
        // This thread at least.
        assert!(kept.into_inner() >= calls - 1);
    }

    /// After pauses that are about as long as helpers wait.
    #[test]
    fn no_call_is_without_its_helper_because_that_has_just_left() {
        for number in 0..if cfg!(miri) { 10 } else { 3000 } {
            let (start, pause) = (Instant::now(), PATIENCE * (number % 31) / 20);
            while start.elapsed() < pause {}
            let inside = AtomicUsize::new(0);
            call(1, &|_| {
                inside.fetch_add(1, Ordering::SeqCst);
                assert!(until(|| inside.load(Ordering::SeqCst) == 2), "both threads, after {pause:?}");
            });
        }
    }

    /// By threads that wait for the next one, as this thread is none of rayon's.
    #[test]
    fn calls_that_follow_each_other_are_done() {
        for number in 1..if cfg!(miri) { 10 } else { 2000 } {
            let (times, next) = (AtomicUsize::new(0), AtomicUsize::new(0));
            call(2, &|_| {
                times.fetch_add(1, Ordering::Relaxed);
                while next.fetch_add(1, Ordering::Relaxed) < number % 7 {}
            });
            assert!((1..=3).contains(&times.into_inner()));
            assert!(next.into_inner() > number % 7);
        }
    }

    #[test]
    fn calls_in_calls_end() {
        let (times, calls) = (AtomicUsize::new(0), if cfg!(miri) { 10 } else { 200 });
        pool(4).install(|| {
            for _ in 0..calls {
                call(3, &|_| call(3, &|_| _ = times.fetch_add(1, Ordering::Relaxed)));
            }
        });
        assert!((calls..=calls * 16).contains(&times.into_inner()));
    }
}
