//! CUDA streams.

use core::any::Any;
use core::ffi::c_void;
use core::ptr;
use std::sync::Arc;

use cuda_shim::{self as sys, CUresult, CUstream, CUtensorMap, CUtensorMapDataType, CUtensorMapSwizzle};
use gpu_std::launch::Invocation;
use gpu_std::tensor_map::{Format, Swizzle, Tensor, TensorMap};

use super::call::failure;
use super::context::Context;
use super::event::Event;
use super::graph::Graph;
use super::launch;
use super::peer::Guests;
use crate::backend::{self, Backend, Executable, Mark, Place};
use crate::error::{Error, Launched, Result};
use crate::graph::work::Work;
use crate::order::{self, Id, Streams};

/// The driver's handle of a stream.
#[derive(Clone, Copy)]
pub(crate) struct Raw(pub(super) CUstream);

// SAFETY: the driver's streams may be used from any thread.
unsafe impl Send for Raw {}
// SAFETY: as above; the driver locks for itself.
unsafe impl Sync for Raw {}

/// A stream in the order of a device's: one of the device's, or of another that copies from or to it.
#[derive(Clone)]
pub(crate) struct Line {
    stream: Raw,
    /// `None` for the device itself.
    of: Option<Arc<Context>>,
}

impl Line {
    /// A stream of the device.
    pub(super) const fn own(stream: CUstream) -> Self {
        Self { stream: Raw(stream), of: None }
    }

    /// One of another device.
    pub(super) fn guest(stream: CUstream, of: &Arc<Context>) -> Self {
        Self { stream: Raw(stream), of: Some(Arc::clone(of)) }
    }
}

impl Streams for Arc<Context> {
    type Handle = Line;
    type Event = Event;

    fn record_order(&self, line: Line) -> Result<Event> {
        Event::record(line.of.as_ref().unwrap_or(self), line.stream.0)
    }

    fn wait_order(&self, line: Line, event: &Event) -> Result<()> {
        let context = line.of.as_ref().unwrap_or(self);
        context.enter()?;
        // SAFETY: streams and events of the order are alive. An event may be of another device than the stream.
        let outcome = unsafe { sys::cuStreamWaitEvent(line.stream.0, event.raw(), 0) };
        context.check("cuStreamWaitEvent", outcome)
    }

    fn has_ended(&self, event: &Event) -> bool {
        event.is_done().unwrap_or(false)
    }
}

/// A stream of a CUDA device.
pub(crate) struct Queue {
    raw: CUstream,
    /// Its number in the order of the context's streams; `None` where the program orders it by itself.
    pub(super) id: Option<Id>,
    /// The stream that this is another handle of.
    _of: Option<Arc<Queue>>,
    /// Whether it is destroyed with this: not the default stream, nor streams that belong to someone else.
    owned: bool,
    /// What it is in the orders of other devices.
    pub(super) guests: Guests,
    pub(super) context: Arc<Context>,
}

// SAFETY: the driver's streams may be used from any thread.
unsafe impl Send for Queue {}
// SAFETY: as above; the driver locks for itself.
unsafe impl Sync for Queue {}

impl Queue {
    /// A new blocking stream: the legacy default stream, and with it every plain transfer, is ordered with it.
    pub(super) fn create(context: Arc<Context>) -> Result<Self> {
        context.enter()?;
        let mut raw = ptr::null_mut();
        context.check("cuStreamCreate", sys::cuStreamCreate(&mut raw, sys::CU_STREAM_DEFAULT))?;
        let id = Some(context.order.add_stream(&context, Line::own(raw), true));
        Ok(Self { raw, id, _of: None, owned: true, guests: Guests::default(), context })
    }

    /// The stream that every context has.
    pub(super) fn legacy_default(context: Arc<Context>) -> Self {
        Self {
            raw: ptr::null_mut(),
            id: Some(order::DEFAULT),
            _of: None,
            owned: false,
            guests: Guests::default(),
            context,
        }
    }

    /// Someone else's stream.
    ///
    /// # Safety
    /// It is a stream of this context and outlives the result.
    pub(crate) unsafe fn borrowed(context: Arc<Context>, raw: CUstream) -> Self {
        let id = if raw.is_null() {
            order::DEFAULT
        } else {
            let mut flags = 0;
            // One of which the driver does not say is taken not to be ordered with the default stream.
            // SAFETY: the caller's promise.
            let asked = context.enter_to_release().then(|| unsafe { sys::cuStreamGetFlags(raw, &mut flags) });
            let blocking = asked == Some(CUresult::CUDA_SUCCESS) && flags == sys::CU_STREAM_DEFAULT;
            context.order.add_stream(&context, Line::own(raw), blocking)
        };
        Self { raw, id: Some(id), _of: None, owned: false, guests: Guests::default(), context }
    }

    /// Enqueues work that uses this memory, in the order of the context's streams.
    pub(super) fn ordered(
        &self,
        uses: &[(u64, bool)],
        work: impl FnOnce() -> CUresult,
        call: &'static str,
    ) -> Result<()> {
        self.context.enter()?;
        let work = || self.context.check(call, work());
        match self.id {
            Some(id) => {
                let uses = |to: &mut dyn FnMut(u64, bool)| uses.iter().for_each(|&(at, write)| to(at, write));
                self.context.order.run(&self.context, id, &uses, work)
            }
            None => work(),
        }
    }

    pub(crate) fn raw(&self) -> CUstream {
        self.raw
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        self.guests.leave();
        if let Some(id) = self.id.filter(|&id| id != order::DEFAULT) {
            self.context.order.remove_stream(&self.context, id);
        }
        if self.owned && self.context.enter_to_release() {
            // Work that is still queued goes on. A failure leaks the stream, which is all that can be done.
            // SAFETY: `create` made it, and nothing else destroys it.
            let _ = unsafe { sys::cuStreamDestroy_v2(self.raw) };
        }
    }
}

impl backend::Queue for Queue {
    fn synchronize(&self) -> Result<()> {
        self.context.enter()?;
        // SAFETY: the stream is alive.
        self.context.check("cuStreamSynchronize", unsafe { sys::cuStreamSynchronize(self.raw) })
    }

    fn is_done(&self) -> Result<bool> {
        self.context.enter()?;
        // SAFETY: the stream is alive.
        done(&self.context, "cuStreamQuery", unsafe { sys::cuStreamQuery(self.raw) })
    }

    unsafe fn fill(&self, address: u64, bytes: usize, value: u8) -> Result<()> {
        // SAFETY: the caller's promise.
        let work = || unsafe { sys::cuMemsetD8Async(address, value, bytes, self.raw) };
        self.ordered(&[(address, true)], work, "cuMemsetD8Async")
    }

    unsafe fn copy(&self, target: u64, source: u64, bytes: usize) -> Result<()> {
        // SAFETY: the caller's promise.
        let work = || unsafe { sys::cuMemcpyDtoDAsync_v2(target, source, bytes, self.raw) };
        self.ordered(&[(target, true), (source, false)], work, "cuMemcpyDtoDAsync")
    }

    unsafe fn copy_peer(&self, target: Place<'_>, source: Place<'_>, bytes: usize) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.copy_between(target, source, bytes) }
    }

    fn prepare_copy_peer(&self, peer: &Arc<dyn Backend>) -> Result<()> {
        self.connect(peer)
    }

    unsafe fn upload(&self, target: u64, source: *const u8, bytes: usize) -> Result<()> {
        // SAFETY: the caller's promise.
        let work = || unsafe { sys::cuMemcpyHtoDAsync_v2(target, source.cast(), bytes, self.raw) };
        self.ordered(&[(target, true)], work, "cuMemcpyHtoDAsync")
    }

    unsafe fn download(&self, target: *mut u8, source: u64, bytes: usize) -> Result<()> {
        // SAFETY: the caller's promise.
        let work = || unsafe { sys::cuMemcpyDtoHAsync_v2(target.cast(), source, bytes, self.raw) };
        self.ordered(&[(source, false)], work, "cuMemcpyDtoHAsync")
    }

    unsafe fn launch(&self, invocation: &Invocation<'_>) -> Result<()> {
        let Invocation { kernel, config, args, .. } = *invocation;
        let function = self.context.prepared(invocation)?;

        // `cuLaunchKernel` reads the arguments through these before it returns.
        let mut inline = [ptr::null_mut::<c_void>(); 16];
        let mut many;
        let pointers = match inline.get_mut(..args.len()) {
            Some(pointers) => pointers,
            None => {
                many = vec![ptr::null_mut(); args.len()];
                &mut many[..]
            }
        };
        for (pointer, arg) in pointers.iter_mut().zip(args) {
            *pointer = arg.pointer.cast_mut();
        }
        let launched = Launched { kernel: kernel.name, config };
        let mut work = || {
            // SAFETY: the arguments are those of the kernel, which the caller promises to be valid to run with; a
            // programmatic one waits for the work before it.
            let outcome = unsafe {
                if function.is_programmatic(kernel) {
                    launch::programmatic(function.raw(), config, self.raw, pointers)
                } else {
                    launch::plain(function.raw(), config, self.raw, pointers)
                }
            };
            let Err(code) = outcome.code() else { return Ok(()) };
            let mut failure = failure("cuLaunchKernel", code);
            // A sticky code is the fault of an earlier launch; any other is this one's.
            if !failure.sticky {
                failure.launch = Some(Box::new(launched.clone()));
            }
            Err(self.context.fail(failure))
        };
        match self.id {
            Some(id) => {
                let uses = |to: &mut dyn FnMut(u64, bool)| {
                    invocation.addresses().for_each(|(address, write)| to(address, write));
                };
                self.context.order.run(&self.context, id, &uses, &mut work)?;
            }
            None => work()?,
        }
        self.context.set_last_launch(launched);
        Ok(())
    }

    fn prepare(&self, invocation: &Invocation<'_>) -> Result<()> {
        self.context.prepared(invocation).map(drop)
    }

    fn instantiate(&self, work: Vec<Work>) -> Result<Box<dyn Executable>> {
        Ok(Box::new(Graph::new(&self.context, &work)?))
    }

    fn tensor_map(&self, tensor: &Tensor) -> Result<TensorMap> {
        self.context.enter()?;
        let format = match tensor.format {
            Format::U8 => CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_UINT8,
            Format::U16 => CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_UINT16,
            Format::U32 => CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_UINT32,
        };
        let swizzle = match tensor.swizzle {
            Swizzle::None => CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_NONE,
            Swizzle::Bytes128 => CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_128B,
        };
        let mut map = CUtensorMap::default();
        // SAFETY: the driver reads three extents, two strides, three extents of the box and three steps; it does not
        // touch the tensor.
        let outcome = unsafe {
            sys::cuTensorMapEncodeTiled(
                &mut map,
                format,
                3,
                ptr::without_provenance_mut(tensor.address as usize),
                tensor.extents.as_ptr(),
                tensor.strides.as_ptr(),
                tensor.tile.as_ptr(),
                [1; 3].as_ptr(),
                sys::CU_TENSOR_MAP_INTERLEAVE_NONE,
                swizzle,
                sys::CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                sys::CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
            )
        };
        self.context.check("cuTensorMapEncodeTiled", outcome)?;
        // SAFETY: the driver has made it; that the memory is valid is for whoever launches a kernel with it.
        Ok(unsafe { TensorMap::from_driver(map.opaque, tensor.address) })
    }

    fn record(&self) -> Result<Box<dyn Mark>> {
        let record = || Event::record(&self.context, self.raw);
        let Some(id) = self.id else { return Ok(Box::new(record()?)) };
        let (point, mut event) = self.context.order.record(id, record)?;
        event.point = point;
        Ok(Box::new(event))
    }

    fn wait(&self, mark: &dyn Mark) -> Result<()> {
        let mark: &dyn Any = mark;
        let Some(event) = mark.downcast_ref::<Event>() else {
            unreachable!("marks of one kind are of one type")
        };
        self.context.enter()?;
        // SAFETY: stream and event are alive. An event may be of another device than the stream.
        let outcome = unsafe { sys::cuStreamWaitEvent(self.raw, event.raw(), 0) };
        self.context.check("cuStreamWaitEvent", outcome)?;
        // The point is one in the order of its own device's streams.
        let home = event.context();
        let known = if Arc::ptr_eq(home, &self.context) { self.id } else { self.guests.known(home) };
        if let Some(id) = known {
            home.order.joined(id, event.point.as_deref());
        }
        Ok(())
    }

    fn join(&self, address: u64) -> Result<()> {
        self.ordered(&[(address, true)], || CUresult::CUDA_SUCCESS, "")
    }

    fn unordered(self: Arc<Self>) -> Arc<dyn backend::Queue> {
        let (raw, context) = (self.raw, Arc::clone(&self.context));
        Arc::new(Self { raw, id: None, _of: Some(self), owned: false, guests: Guests::default(), context })
    }
}

/// Whether a query found the work done; "not ready" is an answer and no failure.
pub(super) fn done(context: &Context, call: &'static str, outcome: CUresult) -> Result<bool> {
    match outcome.code() {
        Ok(()) => Ok(true),
        Err(code) if code == CUresult::CUDA_ERROR_NOT_READY.0 => Ok(false),
        Err(code) => Err::<bool, Error>(context.fail(failure(call, code))),
    }
}
