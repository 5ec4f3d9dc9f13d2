//! The CPU: host memory, and streams whose work is done at once. It launches no kernels: primitives run their
//! reference there.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use gpu_std::launch::Invocation;

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

    fn record(&self) -> Result<Box<dyn Mark>> {
        Ok(Box::new(HostMark(Instant::now())))
    }

    fn wait(&self, _: &dyn Mark) -> Result<()> {
        Ok(())
    }
}

fn unsupported(what: &'static str) -> Error {
    Error::Unsupported { what, device: Device::cpu_ref().to_string() }
}

/// Zeroed host memory of `bytes` > 0 bytes.
pub(crate) fn allocate(bytes: usize) -> Result<*mut u8> {
    if let Ok(layout) = Layout::from_size_align(bytes, ALIGNMENT) {
        // SAFETY: the layout is not empty.
        let memory = unsafe { alloc_zeroed(layout) };
        if !memory.is_null() {
            return Ok(memory);
        }
    }
    let (free, total) = memory_info();
    Err(Error::OutOfMemory { device: Device::cpu_ref().to_string(), asked: bytes as u64, free, total })
}

/// Frees host memory.
///
/// # Safety
/// [`allocate`] gave it for this size.
pub(crate) unsafe fn release(memory: *mut u8, bytes: usize) {
    // SAFETY: the caller's promise, so this layout was accepted before.
    unsafe { dealloc(memory, Layout::from_size_align_unchecked(bytes, ALIGNMENT)) };
}

/// The host's memory in bytes, available and in total; zeros where the system does not say.
pub(crate) fn memory_info() -> (u64, u64) {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let bytes = |key: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(key))?;
        Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
    };
    (bytes("MemAvailable:").unwrap_or(0), bytes("MemTotal:").unwrap_or(0))
}

fn processor_name() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model =
        text.lines().find_map(|line| Some(line.strip_prefix("model name")?.trim().strip_prefix(':')?.trim()));
    model.unwrap_or(std::env::consts::ARCH).to_owned()
}
