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
use super::launch;
use crate::backend::{self, Mark};
use crate::error::{Error, Launched, Result};

/// A stream of a CUDA device.
pub(crate) struct Queue {
    raw: CUstream,
    /// Whether it is destroyed with this: not the default stream, nor streams that belong to someone else.
    owned: bool,
    context: Arc<Context>,
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
        Ok(Self { raw, owned: true, context })
    }

    /// The stream that every context has.
    pub(super) fn legacy_default(context: Arc<Context>) -> Self {
        Self { raw: ptr::null_mut(), owned: false, context }
    }

    /// Someone else's stream.
    ///
    /// # Safety
    /// It is a stream of this context and outlives the result.
    pub(crate) unsafe fn borrowed(context: Arc<Context>, raw: CUstream) -> Self {
        Self { raw, owned: false, context }
    }

    pub(crate) fn raw(&self) -> CUstream {
        self.raw
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
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
        self.context.enter()?;
        // SAFETY: the caller's promise.
        self.context
            .check("cuMemsetD8Async", unsafe { sys::cuMemsetD8Async(address, value, bytes, self.raw) })
    }

    unsafe fn copy(&self, target: u64, source: u64, bytes: usize) -> Result<()> {
        self.context.enter()?;
        // SAFETY: the caller's promise.
        let outcome = unsafe { sys::cuMemcpyDtoDAsync_v2(target, source, bytes, self.raw) };
        self.context.check("cuMemcpyDtoDAsync", outcome)
    }

    unsafe fn upload(&self, target: u64, source: *const u8, bytes: usize) -> Result<()> {
        self.context.enter()?;
        // SAFETY: the caller's promise.
        let outcome = unsafe { sys::cuMemcpyHtoDAsync_v2(target, source.cast(), bytes, self.raw) };
        self.context.check("cuMemcpyHtoDAsync", outcome)
    }

    unsafe fn download(&self, target: *mut u8, source: u64, bytes: usize) -> Result<()> {
        self.context.enter()?;
        // SAFETY: the caller's promise.
        let outcome = unsafe { sys::cuMemcpyDtoHAsync_v2(target.cast(), source, bytes, self.raw) };
        self.context.check("cuMemcpyDtoHAsync", outcome)
    }

    unsafe fn launch(&self, invocation: &Invocation<'_>) -> Result<()> {
        let Invocation { kernel, config, args, .. } = *invocation;
        // What needs no driver is checked before the module is loaded.
        self.context.limits.check(kernel, &config, 0)?;
        self.context.enter()?;
        let function = self.context.modules.function(&self.context, kernel)?;
        function.prepare(&self.context, kernel, &config)?;

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
        // SAFETY: the arguments are those of the kernel, which the caller promises to be valid to run with; a
        // programmatic one waits for the work before it.
        let outcome = unsafe {
            if function.is_programmatic(kernel) {
                launch::programmatic(function.raw(), config, self.raw, pointers)
            } else {
                launch::plain(function.raw(), config, self.raw, pointers)
            }
        };
        match outcome.code() {
            Ok(()) => {
                self.context.set_last_launch(launched);
                Ok(())
            }
            Err(code) => {
                let mut failure = failure("cuLaunchKernel", code);
                // A sticky code is the fault of an earlier launch; any other is this one's.
                if !failure.sticky {
                    failure.launch = Some(Box::new(launched));
                }
                Err(self.context.fail(failure))
            }
        }
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
        Ok(unsafe { TensorMap::from_driver(map.opaque) })
    }

    fn record(&self) -> Result<Box<dyn Mark>> {
        Ok(Box::new(Event::record(&self.context, self.raw)?))
    }

    fn wait(&self, mark: &dyn Mark) -> Result<()> {
        let mark: &dyn Any = mark;
        let Some(event) = mark.downcast_ref::<Event>() else {
            unreachable!("marks of one device are of one type")
        };
        self.context.enter()?;
        // SAFETY: stream and event are alive and of one context.
        self.context.check("cuStreamWaitEvent", unsafe { sys::cuStreamWaitEvent(self.raw, event.raw(), 0) })
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
