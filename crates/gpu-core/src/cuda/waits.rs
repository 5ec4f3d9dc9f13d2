//! Tasks that wait for events: the driver calls back, and a thread wakes them.
//!
//! Each wait has a stream of its own meanwhile, which waits for the event and then calls the host: so nothing that a
//! program has enqueued comes behind such a call, and no wait behind another. The call is `cuStreamAddCallback`, since
//! that of `cuLaunchHostFunc` never comes where the device has failed.
//!
//! What is called may not use the driver, and waking a task may do anything, down to freeing the task's memory on the
//! device: so it only hands the bell over to a thread that has nothing else to do.

use core::ffi::c_void;
use core::ptr;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;

use cuda_shim::{self as sys, CUevent, CUresult, CUstream};

use super::context::Context;
use super::stream::Raw;
use crate::error::{Error, Result};
use crate::wait::Bell;

/// The waits of a context.
#[derive(Default)]
pub(super) struct Waits(Mutex<State>);

#[derive(Default)]
struct State {
    /// Streams that no wait has now.
    spare: Vec<Raw>,
    /// Those that were not called back yet.
    pending: HashMap<u64, Arc<Bell>>,
    made: u64,
}

/// A wait that is over.
struct Ended {
    context: Arc<Context>,
    stream: Raw,
    number: u64,
}

/// What the thread is handed.
enum Rings {
    Ended(Box<Ended>),
    /// The device has failed, which is all that there is to say.
    Failed(Vec<Arc<Bell>>),
}

impl Waits {
    fn with<R>(&self, change: impl FnOnce(&mut State) -> R) -> R {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The device has failed: all tasks are woken, to be told.
    #[cold]
    pub(super) fn give_up(&self) {
        let bells: Vec<_> = self.with(|state| state.pending.drain().map(|(_, bell)| bell).collect());
        // Without a thread there is no wait.
        if let (false, Some(Ok(thread))) = (bells.is_empty(), THREAD.get()) {
            let _ = thread.send(Rings::Failed(bells));
        }
    }
}

static THREAD: OnceLock<std::result::Result<Sender<Rings>, String>> = OnceLock::new();

/// Where the thread is told, which is started by the first wait.
fn thread(context: &Context) -> Result<Sender<Rings>> {
    let start = || {
        let (send, receive) = channel();
        let run = move || {
            for rings in receive {
                match rings {
                    Rings::Ended(ended) => ended.finish(),
                    Rings::Failed(bells) => bells.iter().for_each(|bell| ring_caught(bell)),
                }
            }
        };
        thread::Builder::new()
            .name("gpu-core waits".into())
            .spawn(run)
            .map(|_| send)
            .map_err(|why| why.to_string())
    };
    let unsupported = |_: String| Error::Unsupported {
        what: "waiting in a future, since the system gives no thread for it",
        device: context.name.clone(),
    };
    THREAD.get_or_init(start).clone().map_err(unsupported)
}

/// A waker that panics has said so; others still have to be woken.
fn ring_caught(bell: &Bell) {
    let _ = catch_unwind(AssertUnwindSafe(|| bell.ring()));
}

impl Ended {
    fn finish(self) {
        let bell = self.context.waits.with(|state| {
            state.spare.push(self.stream);
            state.pending.remove(&self.number)
        });
        // None where the device has failed meanwhile.
        if let Some(bell) = bell {
            ring_caught(&bell);
        }
    }
}

/// What the driver is handed.
struct Called {
    ended: Ended,
    thread: Sender<Rings>,
}

/// # Safety
/// `data` is a boxed [`Called`], which this takes.
unsafe extern "system" fn called(_: CUstream, _: CUresult, data: *mut c_void) {
    // SAFETY: the caller's promise.
    let called = unsafe { Box::from_raw(data.cast::<Called>()) };
    let Called { ended, thread } = *called;
    // The thread ends with the process.
    let _ = thread.send(Rings::Ended(Box::new(ended)));
}

/// Rings once the event has come, or the context has failed.
pub(super) fn ring(context: &Arc<Context>, event: CUevent, bell: Arc<Bell>) -> Result<()> {
    let thread = thread(context)?;
    context.enter()?;
    let stream = match context.waits.with(|state| state.spare.pop()) {
        Some(Raw(stream)) => stream,
        None => {
            let mut stream = ptr::null_mut();
            let outcome = sys::cuStreamCreate(&mut stream, sys::CU_STREAM_NON_BLOCKING);
            context.check("cuStreamCreate", outcome)?;
            stream
        }
    };
    let number = context.waits.with(|state| {
        state.made += 1;
        state.pending.insert(state.made, bell);
        state.made
    });
    let ended = Ended { context: Arc::clone(context), stream: Raw(stream), number };
    // SAFETY: both are alive and of this context.
    let waits = context.check("cuStreamWaitEvent", unsafe { sys::cuStreamWaitEvent(stream, event, 0) });
    if let Err(error) = waits {
        ended.forget();
        return Err(error);
    }
    let data = Box::into_raw(Box::new(Called { ended, thread }));
    // SAFETY: the stream is alive; the driver calls `called` once, with what it takes, where it has taken it.
    let outcome = unsafe { sys::cuStreamAddCallback(stream, Some(called), data.cast(), 0) };
    if let Err(error) = context.check("cuStreamAddCallback", outcome) {
        // SAFETY: the driver has refused it, so this is its only owner.
        unsafe { Box::from_raw(data) }.ended.forget();
        return Err(error);
    }
    // Whoever found a failure before the bell was there has not rung it.
    context.enter()
}

impl Ended {
    /// It was never begun. Its stream may wait for the event still, and so may who gets it next.
    fn forget(self) {
        self.context.waits.with(|state| {
            state.spare.push(self.stream);
            state.pending.remove(&self.number);
        });
    }
}
