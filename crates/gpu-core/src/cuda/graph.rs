//! CUDA graphs.
//!
//! Work that was recorded is handed to the driver at once, on a stream of its own that the driver captures meanwhile
//! and that is not ordered with the default stream: so other threads' calls neither fail nor spoil the capture, and
//! nothing but this file's calls happens within it.

use core::any::Any;
use core::ffi::c_void;
use core::ptr;
use std::sync::Arc;

use cuda_shim::{
    self as sys, CUgraph, CUgraphExec, CUgraphExecUpdateResult, CUgraphExecUpdateResultInfo, CUresult,
    CUstream, CUstreamCaptureMode,
};

use super::context::Context;
use super::event::Event;
use super::launch;
use super::module::Function;
use super::peer;
use super::stream::Queue;
use crate::backend::{self, Executable};
use crate::error::{Launched, Result};
use crate::graph::work::{Launch, Used, Work};

/// A graph that can be launched.
pub(super) struct Graph {
    executable: Raw,
    /// The stream of its last launch.
    last: Option<Arc<dyn backend::Queue>>,
    /// Its last kernel, for reports of faults.
    launched: Option<Launched>,
    context: Arc<Context>,
}

/// An executable graph of the driver.
pub(super) struct Raw(CUgraphExec);

// SAFETY: the driver's graphs may be used from any thread, by one at a time.
unsafe impl Send for Raw {}
// SAFETY: what is shared is not used.
unsafe impl Sync for Raw {}

impl Raw {
    /// # Safety
    /// It does not run, and is not used again. The context is current.
    unsafe fn destroy(&self) {
        // A failure leaks it, which is all that can be done.
        // SAFETY: the caller's promise.
        let _ = unsafe { sys::cuGraphExecDestroy(self.0) };
    }
}

/// Destroys graphs whose last launches have ended. The context is current.
fn destroy_given_up(context: &Context) {
    // SAFETY: it was given up, and does not run any more. It leaves the list.
    context.given_up.sweep(context, |raw| unsafe { raw.destroy() });
}

impl Graph {
    pub(super) fn new(context: &Arc<Context>, work: &[Work]) -> Result<Self> {
        context.enter()?;
        destroy_given_up(context);
        let graph = Captured::new(context, work)?;
        let executable = graph.instantiate(context)?;
        Ok(Self { executable, last: None, launched: last_kernel(work), context: Arc::clone(context) })
    }

    /// Gives up an executable, which may still run.
    fn give_up(&mut self, raw: Raw) {
        let last = self.last.take();
        let last: Option<&dyn Any> = last.as_ref().map(|queue| &**queue as &dyn Any);
        let Some(queue) = last.and_then(|queue| queue.downcast_ref::<Queue>()) else {
            // SAFETY: it was never launched, and the caller does not use it again.
            unsafe { raw.destroy() };
            return;
        };
        // Where the end cannot be marked the context is unusable, and the graph stays.
        if let Ok(end) = Event::record(&self.context, queue.raw()) {
            self.context.given_up.push(raw, vec![Arc::new(end)]);
            destroy_given_up(&self.context);
        }
    }
}

impl Executable for Graph {
    unsafe fn launch(&mut self, queue: &Arc<dyn backend::Queue>, uses: &[Used]) -> Result<()> {
        let any: &dyn Any = &**queue;
        let Some(stream) = any.downcast_ref::<Queue>() else {
            unreachable!("streams of one device are of one type")
        };
        self.last = Some(Arc::clone(queue));
        let uses: Vec<_> =
            uses.iter().map(|(device, used)| (peer::context(&device.backend), used.as_slice())).collect();
        stream.ordered_on_each(&uses, &mut || {
            // SAFETY: executable and stream are alive and of one context; the caller's promise for the memory.
            let outcome = unsafe { sys::cuGraphLaunch(self.executable.0, stream.raw()) };
            self.context.check("cuGraphLaunch", outcome)
        })?;
        if let Some(launched) = &self.launched {
            self.context.set_last_launch(launched.clone());
        }
        Ok(())
    }

    fn update(&mut self, work: Vec<Work>) -> Result<()> {
        self.context.enter()?;
        let graph = Captured::new(&self.context, &work)?;
        let mut result = CUgraphExecUpdateResultInfo {
            result: CUgraphExecUpdateResult::CU_GRAPH_EXEC_UPDATE_SUCCESS,
            pad: [0; 4],
            errorNode: ptr::null_mut(),
            errorFromNode: ptr::null_mut(),
        };
        // SAFETY: both are alive. Launches that are enqueued are not touched.
        let outcome = unsafe { sys::cuGraphExecUpdate_v2(self.executable.0, graph.raw, &mut result) };
        if outcome != CUresult::CUDA_SUCCESS {
            // Drivers differ in what they update, and those before CUDA 12 lack the call: then it is another
            // executable.
            let executable = graph.instantiate(&self.context)?;
            let old = core::mem::replace(&mut self.executable, executable);
            self.give_up(old);
        }
        self.launched = last_kernel(&work);
        Ok(())
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        if self.context.enter_to_release() {
            let raw = Raw(self.executable.0);
            self.give_up(raw);
        }
    }
}

fn last_kernel(work: &[Work]) -> Option<Launched> {
    work.iter().rev().find_map(|work| match work {
        Work::Launch(launch) => Some(Launched { kernel: launch.kernel.name, config: launch.config }),
        _ => None,
    })
}

/// A graph of the driver as it was captured.
struct Captured {
    raw: CUgraph,
}

impl Captured {
    /// The context is current.
    fn new(context: &Context, work: &[Work]) -> Result<Self> {
        // Looked up before: nothing but the work is within the capture.
        let mut functions = work.iter().filter_map(|work| match work {
            Work::Launch(Launch { kernel, .. }) => Some(context.modules.function(context, kernel)),
            _ => None,
        });
        let functions = functions.by_ref().collect::<Result<Vec<_>>>()?;
        let stream = Stream::new(context)?;
        // What other threads do meanwhile is their own matter.
        let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        // SAFETY: the stream is alive.
        context.check("cuStreamBeginCapture", unsafe { sys::cuStreamBeginCapture_v2(stream.0, mode) })?;
        let enqueued = enqueue(context, stream.0, work, &functions);
        let mut captured = Self { raw: ptr::null_mut() };
        // SAFETY: the capture was begun above.
        let ended = unsafe { sys::cuStreamEndCapture(stream.0, &mut captured.raw) };
        enqueued?;
        context.check("cuStreamEndCapture", ended)?;
        Ok(captured)
    }

    fn instantiate(&self, context: &Context) -> Result<Raw> {
        let mut executable = ptr::null_mut();
        // SAFETY: the graph is alive.
        let outcome = unsafe { sys::cuGraphInstantiateWithFlags(&mut executable, self.raw, 0) };
        context.check("cuGraphInstantiateWithFlags", outcome)?;
        Ok(Raw(executable))
    }
}

impl Drop for Captured {
    fn drop(&mut self) {
        if !self.raw.is_null() {
            // SAFETY: it is this one's; executables are made of copies.
            let _ = unsafe { sys::cuGraphDestroy(self.raw) };
        }
    }
}

/// Enqueues the work on a stream that is captured. `functions` are those of its launches, in order.
fn enqueue(context: &Context, stream: CUstream, work: &[Work], functions: &[Arc<Function>]) -> Result<()> {
    let mut functions = functions.iter();
    for work in work {
        match work {
            &Work::Fill { address, bytes, value } => {
                // SAFETY: nothing is done now; whoever launches the graph promises that the memory is there. Below too.
                let outcome = unsafe { sys::cuMemsetD8Async(address, value, bytes, stream) };
                context.check("cuMemsetD8Async", outcome)?;
            }
            &Work::Copy { target, source, bytes } => {
                // SAFETY: as above.
                let outcome = unsafe { sys::cuMemcpyDtoDAsync_v2(target, source, bytes, stream) };
                context.check("cuMemcpyDtoDAsync", outcome)?;
            }
            &Work::CopyPeer { target: (ref to, target), source: (ref from, source), bytes } => {
                let (to, from) = (peer::context(&to.backend).raw(), peer::context(&from.backend).raw());
                // SAFETY: as above; the contexts are those of the addresses and stay until the process ends.
                let outcome = unsafe { sys::cuMemcpyPeerAsync(target, to, source, from, bytes, stream) };
                context.check("cuMemcpyPeerAsync", outcome)?;
            }
            Work::Launch(launch) => {
                let function = functions.next().expect("one was looked up for each launch");
                launch.with(|invocation| {
                    let mut pointers: Vec<*mut c_void> =
                        invocation.args.iter().map(|arg| arg.pointer.cast_mut()).collect();
                    // SAFETY: the arguments are those of the kernel, and the driver copies them.
                    let outcome =
                        unsafe { launch::plain(function.raw(), invocation.config, stream, &mut pointers) };
                    context.check("cuLaunchKernel", outcome)
                })?;
            }
        }
    }
    Ok(())
}

/// A stream to capture from.
struct Stream(CUstream);

impl Stream {
    fn new(context: &Context) -> Result<Self> {
        let mut raw = ptr::null_mut();
        let outcome = sys::cuStreamCreate(&mut raw, sys::CU_STREAM_NON_BLOCKING);
        context.check("cuStreamCreate", outcome)?;
        Ok(Self(raw))
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // SAFETY: it is this one's, and has no work.
        let _ = unsafe { sys::cuStreamDestroy_v2(self.0) };
    }
}
