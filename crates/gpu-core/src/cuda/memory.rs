//! The CUDA device as a backend: memory, transfers, streams.

use core::ffi::c_void;
use core::ptr;
use std::sync::{Arc, Mutex};

use cuda_shim::{self as sys, CUresult};

use super::attributes;
use super::context::Context;
use super::pool::Pool;
use super::stream::Queue;
use crate::backend::{self, Backend, Slot};
use crate::capability::Capability;
use crate::device::Kind;
use crate::error::{Error, Result};
use crate::order;
use crate::properties::Properties;
use crate::scratch::Scratch;
use crate::texture::{Plan, Raw};

impl Context {
    /// The error of a failed allocation: out of memory says what was asked for and what there is.
    pub(super) fn allocation_error(&self, call: &'static str, code: i32, asked: usize) -> Error {
        if code != CUresult::CUDA_ERROR_OUT_OF_MEMORY.0 {
            return self.fail(super::call::failure(call, code));
        }
        let (free, total) = self.memory_info().unwrap_or_default();
        Error::OutOfMemory { device: self.name.clone(), asked: asked as u64, free, total }
    }

    /// Memory of someone else's becomes a buffer's.
    pub(crate) fn adopt(&self, address: u64, bytes: usize) {
        self.order.add_memory(address, bytes, false);
    }

    /// A buffer's memory becomes someone else's.
    pub(crate) fn disown(&self, address: u64) {
        self.order.remove_memory(address);
    }

    /// A call that uses memory on the legacy default stream, in the order of the streams.
    pub(super) fn on_default(
        &self,
        (address, write): (u64, bool),
        call: &'static str,
        work: impl FnOnce() -> CUresult,
    ) -> Result<()> {
        self.enter()?;
        let uses = |to: &mut dyn FnMut(u64, bool)| to(address, write);
        self.order.run(&self.itself(), order::DEFAULT, &uses, || self.check(call, work()))
    }
}

impl Backend for Context {
    fn kind(&self) -> Kind {
        Kind::Cuda
    }

    fn name(&self) -> String {
        self.name.clone()
    }

    fn properties(&self) -> Result<Properties> {
        self.enter()?;
        attributes::properties(self)
    }

    fn capability(&self) -> Option<Capability> {
        Some(self.capability)
    }

    fn multiprocessors(&self) -> Option<u32> {
        Some(self.multiprocessors).filter(|&count| count > 0)
    }

    fn memory_info(&self) -> Result<(u64, u64)> {
        self.enter()?;
        let (mut free, mut total) = (0_usize, 0_usize);
        self.check("cuMemGetInfo", sys::cuMemGetInfo_v2(&mut free, &mut total))?;
        let unused = self.pool.map_or(0, Pool::unused);
        Ok((free as u64 + unused, total as u64))
    }

    fn synchronize(&self) -> Result<()> {
        self.enter()?;
        self.check("cuCtxSynchronize", sys::cuCtxSynchronize())?;
        self.free_dropped();
        Ok(())
    }

    fn allocate(&self, bytes: usize, zeroed: bool) -> Result<u64> {
        self.enter()?;
        let mut address = 0;
        let pooled = self.pool.is_some();
        let call = if pooled { "cuMemAllocAsync" } else { "cuMemAlloc" };
        self.with_dropped_freed(call, bytes, || {
            if pooled {
                // SAFETY: the legacy default stream is there as long as the context.
                unsafe { sys::cuMemAllocAsync(&mut address, bytes, ptr::null_mut()) }
            } else {
                sys::cuMemAlloc_v2(&mut address, bytes)
            }
        })?;
        self.order.add_memory(address, bytes, pooled);
        if zeroed {
            // On the legacy default stream, so before all that is enqueued later.
            // SAFETY: the memory was just allocated with that size.
            let clear = || unsafe { sys::cuMemsetD8_v2(address, 0, bytes) };
            let cleared = self.on_default((address, true), "cuMemsetD8", clear);
            if let Err(error) = cleared {
                // SAFETY: nothing else has seen the address.
                unsafe { self.release(address, bytes) };
                return Err(error);
            }
        }
        Ok(address)
    }

    fn allocation(&self, address: u64) -> Option<u64> {
        self.order.allocation(address)
    }

    unsafe fn release(&self, address: u64, _: usize) {
        let entered = self.enter_to_release();
        // The default stream waits for those that the driver does not order with it.
        let uses = |to: &mut dyn FnMut(u64, bool)| to(address, true);
        let waits = entered && self.order.run(&self.itself(), order::DEFAULT, &uses, || Ok(())).is_ok();
        // Forgotten before it is freed: another thread may be given the same address at once.
        let pooled = self.order.remove_memory(address);
        if !entered {
            return;
        }
        if pooled && waits {
            // Behind all work on the blocking streams. A failure is reported by the next call that can return one.
            // SAFETY: the caller's promise: `allocate` gave the address and nothing else frees it.
            let _ = unsafe { sys::cuMemFreeAsync(address, ptr::null_mut()) };
            return;
        }
        // Work on any stream may still use the memory. The driver waits as well when it frees, but does not promise
        // to. A failure is reported by the next call that can return one.
        let _ = sys::cuCtxSynchronize();
        // SAFETY: as above; the driver takes memory of its pools here too.
        let _ = unsafe { sys::cuMemFree_v2(address) };
    }

    unsafe fn write(&self, address: u64, source: &[u8]) -> Result<()> {
        // On the legacy default stream, so after all that was enqueued on the blocking ones. It returns when the source
        // has been read.
        self.on_default((address, true), "cuMemcpyHtoD", || {
            // SAFETY: the caller's promise: as many bytes at `address` as in `source`.
            unsafe { sys::cuMemcpyHtoD_v2(address, source.as_ptr().cast::<c_void>(), source.len()) }
        })
    }

    unsafe fn read(&self, address: u64, target: *mut u8, bytes: usize) -> Result<()> {
        self.on_default((address, false), "cuMemcpyDtoH", || {
            // SAFETY: the caller's promise: as many bytes at `address` as at `target`. It returns when they are written.
            unsafe { sys::cuMemcpyDtoH_v2(target.cast::<c_void>(), address, bytes) }
        })
    }

    fn allocate_pinned(&self, bytes: usize) -> Result<*mut u8> {
        self.enter()?;
        let mut memory = core::ptr::null_mut::<c_void>();
        // Portable: pinned for every context, so that a copy on another device is no fault.
        let outcome = sys::cuMemHostAlloc(&mut memory, bytes, sys::CU_MEMHOSTALLOC_PORTABLE);
        if let Err(code) = outcome.code() {
            return Err(self.allocation_error("cuMemHostAlloc", code, bytes));
        }
        // SAFETY: the driver has allocated that many bytes.
        unsafe { memory.cast::<u8>().write_bytes(0, bytes) };
        Ok(memory.cast())
    }

    unsafe fn release_pinned(&self, memory: *mut u8, _: usize) {
        if self.enter_to_release() {
            // SAFETY: the caller's promise: `allocate_pinned` gave it. No work uses it: a transfer would own it.
            let _ = unsafe { sys::cuMemFreeHost(memory.cast()) };
        }
    }

    unsafe fn create_texture(&self, plan: &Plan) -> Result<Raw> {
        // SAFETY: the caller's promise.
        unsafe { self.make_texture(plan) }
    }

    unsafe fn release_texture(&self, raw: Raw) {
        // SAFETY: the caller's promise.
        unsafe { self.free_texture(raw) };
    }

    fn create_queue(self: Arc<Self>) -> Result<Arc<dyn backend::Queue>> {
        Ok(Arc::new(Queue::create(self)?))
    }

    fn default_queue(self: Arc<Self>) -> Arc<dyn backend::Queue> {
        let queue = self.default_queue.get_or_init(|| Arc::new(Queue::legacy_default(Arc::clone(&self))));
        Arc::<Queue>::clone(queue)
    }

    fn take_slot(&self) -> Option<Slot> {
        self.slots.take().or_else(|| self.make_slot())
    }

    fn give_back_slot(&self, slot: Slot) {
        self.slots.give_back(slot);
    }

    fn kept_scratch(&self) -> Option<&Mutex<Option<Scratch>>> {
        Some(&self.kept)
    }
}
