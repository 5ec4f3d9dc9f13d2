//! The CPU: host memory, and streams whose work is done at once. It launches no kernels: primitives run their
//! reference there.

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
mod pages;

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use gpu_std::launch::Invocation;
use gpu_std::tensor_map::{Tensor, TensorMap};

use crate::backend::{Backend, HostMark, Mark, Queue};
use crate::device::{Device, Kind};
use crate::error::{Error, Result};
use crate::properties::Properties;

/// What every allocation is aligned to, in bytes: two cache lines, since processors fetch them in pairs.
pub const ALIGNMENT: usize = 128;

/// This machine's processor.
pub(crate) struct Cpu;

/// A stream of the CPU.
struct Immediate;

impl Backend for Cpu {
    fn kind(&self) -> Kind {
        Kind::Cpu
    }

    fn name(&self) -> String {
        static NAME: OnceLock<String> = OnceLock::new();
        NAME.get_or_init(processor_name).clone()
    }

    fn properties(&self) -> Result<Properties> {
        Err(unsupported("CUDA device properties"))
    }

    fn memory_info(&self) -> Result<(u64, u64)> {
        Ok(memory_info())
    }

    fn synchronize(&self) -> Result<()> {
        Ok(())
    }

    fn allocate(&self, bytes: usize, _zeroed: bool) -> Result<u64> {
        // Uninitialised memory must not reach safe code, and the system's pages come zeroed anyway.
        Ok(allocate(bytes)?.expose_provenance() as u64)
    }

    unsafe fn release(&self, address: u64, bytes: usize) {
        // SAFETY: the caller's promise: `allocate` gave it for that size.
        unsafe { release(core::ptr::with_exposed_provenance_mut(address as usize), bytes) };
    }

    /// Nothing is captured here, so nobody asks.
    fn allocation(&self, _: u64) -> Option<u64> {
        None
    }

    unsafe fn write(&self, address: u64, source: &[u8]) -> Result<()> {
        let target = core::ptr::with_exposed_provenance_mut::<u8>(address as usize);
        // SAFETY: the caller's promise; a host slice and an exclusively borrowed buffer do not overlap.
        unsafe { target.copy_from_nonoverlapping(source.as_ptr(), source.len()) };
        Ok(())
    }

    unsafe fn read(&self, address: u64, target: *mut u8, bytes: usize) -> Result<()> {
        let source = core::ptr::with_exposed_provenance::<u8>(address as usize);
        // SAFETY: the caller's promise; an exclusively borrowed slice and a buffer do not overlap.
        unsafe { target.copy_from_nonoverlapping(source, bytes) };
        Ok(())
    }

    fn allocate_pinned(&self, bytes: usize) -> Result<*mut u8> {
        allocate(bytes)
    }

    unsafe fn release_pinned(&self, memory: *mut u8, bytes: usize) {
        // SAFETY: the caller's promise: `allocate_pinned` gave it for that size.
        unsafe { release(memory, bytes) };
    }

    fn create_queue(self: Arc<Self>) -> Result<Arc<dyn Queue>> {
        Ok(Arc::new(Immediate))
    }

    fn default_queue(self: Arc<Self>) -> Arc<dyn Queue> {
        Arc::new(Immediate)
    }
}

impl Queue for Immediate {
    fn synchronize(&self) -> Result<()> {
        Ok(())
    }

    fn is_done(&self) -> Result<bool> {
        Ok(true)
    }

    unsafe fn fill(&self, address: u64, bytes: usize, value: u8) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { core::ptr::with_exposed_provenance_mut::<u8>(address as usize).write_bytes(value, bytes) };
        Ok(())
    }

    unsafe fn copy(&self, target: u64, source: u64, bytes: usize) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { Cpu.read(source, core::ptr::with_exposed_provenance_mut(target as usize), bytes) }
    }

    unsafe fn upload(&self, target: u64, source: *const u8, bytes: usize) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { Cpu.write(target, core::slice::from_raw_parts(source, bytes)) }
    }

    unsafe fn download(&self, target: *mut u8, source: u64, bytes: usize) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { Cpu.read(source, target, bytes) }
    }

    unsafe fn launch(&self, _: &Invocation<'_>) -> Result<()> {
        Err(unsupported("kernel launches (primitives run their CPU reference there)"))
    }

    fn prepare(&self, _: &Invocation<'_>) -> Result<()> {
        Err(unsupported("kernel launches (primitives run their CPU reference there)"))
    }

    fn tensor_map(&self, _: &Tensor) -> Result<TensorMap> {
        Err(unsupported("tensor maps"))
    }

    fn record(&self) -> Result<Box<dyn Mark>> {
        Ok(Box::new(HostMark(Instant::now())))
    }

    fn wait(&self, _: &dyn Mark) -> Result<()> {
        Ok(())
    }

    fn unordered(self: Arc<Self>) -> Arc<dyn Queue> {
        self
    }
}

fn unsupported(what: &'static str) -> Error {
    Error::Unsupported { what, device: Device::cpu_ref().to_string() }
}

/// The layout that holds `bytes` bytes at a multiple of [`ALIGNMENT`], with room before them. Its own alignment is the
/// one that `calloc` gives: for a larger one the allocator would write all of the memory to zero it.
fn layout(bytes: usize) -> Option<Layout> {
    Layout::from_size_align(bytes.checked_add(ALIGNMENT)?, HEADER).ok()
}

/// Bytes before each allocation, the last of which says how far back the system's begins.
const HEADER: usize = 16;

/// Zeroed host memory of `bytes` > 0 bytes, which costs nothing before it is touched.
pub(crate) fn allocate(bytes: usize) -> Result<*mut u8> {
    let device = Device::cpu_ref();
    check_room(device, bytes)?;
    let none = || out_of_memory(device, bytes);
    // SAFETY: the layout is not empty.
    let start = unsafe { alloc_zeroed(layout(bytes).ok_or_else(none)?) };
    if start.is_null() {
        return Err(none());
    }
    // `start` is a multiple of 16, so this is 16 to 128.
    let ahead = ALIGNMENT - start.addr() % ALIGNMENT;
    // SAFETY: the layout has ALIGNMENT bytes more than are asked for, and `ahead` is at most that and not 0.
    unsafe {
        let memory = start.add(ahead);
        memory.sub(1).write(ahead as u8);
        #[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
        pages::ask_for_large(memory, bytes);
        Ok(memory)
    }
}

/// Frees host memory.
///
/// # Safety
/// [`allocate`] gave it for this size.
pub(crate) unsafe fn release(memory: *mut u8, bytes: usize) {
    let layout = layout(bytes).expect("it was allocated with this layout");
    // SAFETY: the caller's promise: `allocate` wrote there how far the allocation begins before `memory`.
    unsafe { dealloc(memory.sub(memory.sub(1).read().into()), layout) };
}

/// Refuses what the host has no memory for: systems that promise more than they have give it, and end the process
/// once it is touched.
///
/// # Errors
/// [`Error::OutOfMemory`] of `device`, which may be another one that lives in host memory.
pub(crate) fn check_room(device: impl fmt::Display, bytes: usize) -> Result<()> {
    /// Asking the system takes some 20 µs; less than this it has.
    const SMALL: usize = 1 << 28;
    if bytes < SMALL || system_memory().is_none_or(|memory| bytes as u64 <= memory.available + memory.swap) {
        return Ok(());
    }
    Err(out_of_memory(device, bytes))
}

fn out_of_memory(device: impl fmt::Display, bytes: usize) -> Error {
    let (free, total) = memory_info();
    Error::OutOfMemory { device: device.to_string(), asked: bytes as u64, free, total }
}

/// The host's memory in bytes.
struct SystemMemory {
    available: u64,
    swap: u64,
    total: u64,
}

/// What the system says of its memory, if it does.
fn system_memory() -> Option<SystemMemory> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let bytes = |key: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(key))?;
        Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
    };
    let swap = bytes("SwapFree:").unwrap_or(0);
    Some(SystemMemory { available: bytes("MemAvailable:")?, swap, total: bytes("MemTotal:")? })
}

/// The host's memory in bytes, available and in total; zeros where the system does not say.
pub(crate) fn memory_info() -> (u64, u64) {
    system_memory().map_or((0, 0), |memory| (memory.available, memory.total))
}

fn processor_name() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model =
        text.lines().find_map(|line| Some(line.strip_prefix("model name")?.trim().strip_prefix(':')?.trim()));
    model.unwrap_or(std::env::consts::ARCH).to_owned()
}
