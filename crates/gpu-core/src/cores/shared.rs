//! A call that other threads join while it runs, and none after it.
//!
//! A scope of rayon's ends when every task it was given has run: a thread that wakes up when all is done is waited for
//! all the same, some 10 µs and on a virtual machine several times as long. A task here that comes too late finds the
//! call closed, and leaves what it borrowed alone.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// The bit of a call's state that says that none joins it any more; below it is how many are in it.
const CLOSED: usize = 1 << (usize::BITS - 1);
/// How often a caller looks for the others' end before it sleeps: some 10 µs, as long as waking up takes.
const LOOKS: usize = 300;
/// How long a helper waits for its caller's next call.
const PATIENCE: Duration = Duration::from_micros(20);

/// Calls `work` on this thread, and on up to `helpers` others of rayon's that are free meanwhile; it is told whether
/// this thread, the caller, does it.
///
/// # Panics
/// If `work` does, on whichever thread, as soon as no other is in it.
pub(super) fn call(helpers: usize, work: &(dyn Fn(bool) + Sync)) {
    let work: *const (dyn Fn(bool) + Sync + '_) = work;
    // SAFETY: only the lifetime differs, and what is borrowed is not used after this function, as `Call::work` says.
    let work = unsafe {
        std::mem::transmute::<*const (dyn Fn(bool) + Sync + '_), *const (dyn Fn(bool) + Sync + 'static)>(work)
    };
    let call = Arc::new(Call {
        work,
        state: AtomicUsize::new(0),
        caller: thread::current(),
        line: LINE.with(Arc::clone),
        may_wait: rayon::current_thread_index().is_none(),
        panic: Mutex::default(),
    });
    let waiting = call.line.hand(&call, helpers);
    for _ in waiting..helpers {
        let call = Arc::clone(&call);
        rayon::spawn(move || Call::serve(call));
    }
    let end = End(&call);
    // SAFETY: it is borrowed until this function returns.
    unsafe { (*work)(true) };
    drop(end);
    let panic = call.panic.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(panic) = panic {
        resume_unwind(panic);
    }
}

/// What threads share.
struct Call {
    /// Lives until the state is [`CLOSED`] and counts no thread; only threads that were counted before use it.
    work: *const (dyn Fn(bool) + Sync),
    state: AtomicUsize,
    caller: Thread,
    /// The caller's, and whether helpers may wait in it for the next call: not those that the caller's own pool has
    /// other work for.
    line: Arc<Line>,
    may_wait: bool,
    /// What came of a thread that panicked.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

// SAFETY: `work` is a shared reference to what is `Sync`; all else is both.
unsafe impl Send for Call {}
// SAFETY: as above.
unsafe impl Sync for Call {}

thread_local! {
    /// Helpers that wait for this thread's next call.
    static LINE: Arc<Line> = Arc::default();
}

/// Helpers that have done a caller's last call and are still awake. Rayon's own wait looks for work of all threads, and
/// for a caller that comes back at once it may wake another thread, which then takes a core from it.
#[derive(Default)]
struct Line {
    /// How many wait, and are not promised a call.
    waiting: AtomicUsize,
    /// Calls that were promised, and how many those are.
    calls: Mutex<Vec<Arc<Call>>>,
    promised: AtomicUsize,
}

impl Line {
    /// Promises a call to up to so many of those that wait; says how many they are.
    fn hand(&self, call: &Arc<Call>, most: usize) -> usize {
        let less = |waiting: usize| (waiting.min(most) > 0).then(|| waiting - waiting.min(most));
        let Ok(waiting) = self.waiting.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less) else {
            return 0;
        };
        let some = waiting.min(most);
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        calls.extend((0..some).map(|_| Arc::clone(call)));
        self.promised.store(calls.len(), Ordering::Release);
        some
    }

    /// The next call, if it comes while a helper waits.
    fn next(&self) -> Option<Arc<Call>> {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let start = Instant::now();
        loop {
            for _ in 0..16 {
                if self.promised.load(Ordering::Acquire) > 0 {
                    let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
                    if let Some(call) = calls.pop() {
                        self.promised.store(calls.len(), Ordering::Release);
                        return Some(call);
                    }
                }
                std::hint::spin_loop();
            }
            // Whoever is promised a call takes one.
            let less = |waiting: usize| waiting.checked_sub(1);
            if start.elapsed() > PATIENCE
                && self.waiting.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok()
            {
                return None;
            }
        }
    }
}

impl Call {
    /// Does the work too, unless the call has ended, and that of the caller's next calls.
    fn serve(mut call: Arc<Self>) {
        loop {
            call.join();
            if !call.may_wait {
                return;
            }
            let line = Arc::clone(&call.line);
            match line.next() {
                Some(next) => call = next,
                None => return,
            }
        }
    }

    /// Does the work too, unless the call has ended.
    fn join(&self) {
        // This acquires nothing: what the caller wrote before it came with the task.
        if self.state.fetch_add(1, Ordering::Relaxed) & CLOSED == 0 {
            // SAFETY: the call was not closed when this thread was counted, so the caller waits for it.
            let done = catch_unwind(AssertUnwindSafe(|| unsafe { (*self.work)(false) }));
            if let Err(panic) = done {
                *self.panic.lock().unwrap_or_else(PoisonError::into_inner) = Some(panic);
            }
        }
        // What was done is released to the caller, which may go on now.
        if self.state.fetch_sub(1, Ordering::Release) == CLOSED | 1 {
            self.caller.unpark();
        }
    }
}

/// Closes a call when it is dropped, be it by a panic, and waits for those that are in it.
struct End<'a>(&'a Call);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.state.fetch_or(CLOSED, Ordering::Relaxed);
        let mut looks = 0;
        while self.0.state.load(Ordering::Acquire) != CLOSED {
            looks += 1;
            if looks < LOOKS {
                std::hint::spin_loop();
            } else {
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
                    call(1, &|is_caller| {
                        inside.fetch_add(1, Ordering::SeqCst);
                        assert!(until(|| inside.load(Ordering::SeqCst) == 2), "both threads");
                        if is_caller == panics_here {
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
    fn who_waits_gets_the_next_call_and_all_that_are_promised_are_taken() {
        let line = Arc::new(Line::default());
        let call = Arc::new(Call {
            work: &|_| {},
            state: AtomicUsize::new(CLOSED),
            caller: thread::current(),
            line: Arc::clone(&line),
            may_wait: false,
            panic: Mutex::default(),
        });
        assert_eq!(line.hand(&call, 3), 0, "nobody waits");
        let (taken, is_over) = (AtomicUsize::new(0), AtomicBool::new(false));
        let mut promised = 0;
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while !is_over.load(Ordering::SeqCst) {
                        taken.fetch_add(usize::from(line.next().is_some()), Ordering::SeqCst);
                    }
                });
            }
            let most = if cfg!(miri) { 3 } else { 1000 };
            let start = Instant::now();
            while promised < most && start.elapsed() < Duration::from_secs(20) {
                promised += line.hand(&call, 2);
                thread::yield_now();
            }
            is_over.store(true, Ordering::SeqCst);
        });
        assert!(promised > 0, "some wait");
        assert_eq!(taken.into_inner(), promised);
        assert_eq!(line.waiting.load(Ordering::SeqCst), 0);
        assert_eq!(line.hand(&call, 1), 0, "nobody waits any more");
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
