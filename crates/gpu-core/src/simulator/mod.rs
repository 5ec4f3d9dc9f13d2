//! The simulator as a device: its memory, and streams whose work is done at once.

use std::sync::Arc;
use std::time::Instant;

use gpu_sim::{Config, FaultKind, Simulator};
use gpu_std::launch::{Invocation, LaunchTarget};
use gpu_std::tensor_map::{Tensor, TensorMap, Unfit};

use crate::backend::{Backend, HostMark, Mark, Queue};
use crate::cpu;
use crate::device::Kind;
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::properties::Properties;

/// One simulator.
pub(crate) struct Device {
    simulator: Simulator,
}

/// A stream of it.
struct Immediate {
    simulator: Simulator,
}

impl Device {
    pub(crate) fn new(config: Config) -> Self {
        Self { simulator: Simulator::new(config) }
    }

    pub(crate) fn simulator(&self) -> &Simulator {
        &self.simulator
    }
}

impl Backend for Device {
    fn kind(&self) -> Kind {
        Kind::Simulator
    }

    fn name(&self) -> String {
        "simulator".into()
    }

    fn properties(&self) -> Result<Properties> {
        Err(Error::Unsupported { what: "CUDA device properties", device: self.name() })
    }

    fn memory_info(&self) -> Result<(u64, u64)> {
        let limit = self.simulator.config().memory_limit as u64;
        Ok(match cpu::memory_info() {
            (_, 0) => (limit, limit),
            (free, total) => (free.min(limit), total.min(limit)),
        })
    }

    fn synchronize(&self) -> Result<()> {
        Ok(())
    }

    fn allocate(&self, bytes: usize, zeroed: bool) -> Result<u64> {
        // Simulated memory is host memory.
        cpu::check_room(self.name(), bytes)?;
        let address = if zeroed { self.simulator.alloc_zeroed(bytes) } else { self.simulator.alloc(bytes) };
        address.map_err(|fault| match fault.kind {
            FaultKind::OutOfMemory { asked, free, total } => {
                Error::OutOfMemory { device: self.name(), asked, free, total }
            }
            _ => fault.into(),
        })
    }

    unsafe fn release(&self, address: u64, _: usize) {
        // It fails only for an address that was never allocated, which a buffer's is not.
        let _ = self.simulator.free(address);
    }

    fn allocation(&self, address: u64) -> Option<u64> {
        self.simulator.allocation(address)
    }

    unsafe fn write(&self, address: u64, source: &[u8]) -> Result<()> {
        Ok(self.simulator.write(address, source)?)
    }

    unsafe fn read(&self, address: u64, target: *mut u8, bytes: usize) -> Result<()> {
        // The simulator takes a slice, whose bytes must be initialised; and a fault leaves the target as it was.
        let mut staging = vec![0_u8; bytes];
        self.simulator.read(address, &mut staging)?;
        // SAFETY: the caller's promise: the target has that many bytes.
        unsafe { target.copy_from_nonoverlapping(staging.as_ptr(), bytes) };
        Ok(())
    }

    fn allocate_pinned(&self, bytes: usize) -> Result<*mut u8> {
        cpu::allocate(bytes)
    }

    unsafe fn release_pinned(&self, memory: *mut u8, bytes: usize) {
        // SAFETY: the caller's promise: `allocate_pinned` gave it for that size.
        unsafe { cpu::release(memory, bytes) };
    }

    fn create_queue(self: Arc<Self>) -> Result<Arc<dyn Queue>> {
        Ok(self.default_queue())
    }

    fn default_queue(self: Arc<Self>) -> Arc<dyn Queue> {
        Arc::new(Immediate { simulator: self.simulator.clone() })
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
        self.simulator.fill(address, bytes, value)?;
        self.simulator.note_fill(bytes as u64);
        Ok(())
    }

    unsafe fn copy(&self, target: u64, source: u64, bytes: usize) -> Result<()> {
        Ok(self.simulator.copy(target, source, bytes)?)
    }

    unsafe fn upload(&self, target: u64, source: *const u8, bytes: usize) -> Result<()> {
        // SAFETY: the caller's promise: the source has that many bytes.
        Ok(self.simulator.write(target, unsafe { core::slice::from_raw_parts(source, bytes) })?)
    }

    unsafe fn download(&self, target: *mut u8, source: u64, bytes: usize) -> Result<()> {
        // SAFETY: the caller's promise: the target has that many bytes, and pinned memory is initialised.
        Ok(self.simulator.read(source, unsafe { core::slice::from_raw_parts_mut(target, bytes) })?)
    }

    unsafe fn launch(&self, invocation: &Invocation<'_>) -> Result<()> {
        self.prepare(invocation)?;
        // SAFETY: the caller's promise.
        unsafe { LaunchTarget::launch(&self.simulator, invocation) }?;
        if invocation.kernel.programmatic {
            self.simulator.note_programmatic();
        }
        Ok(())
    }

    fn prepare(&self, invocation: &Invocation<'_>) -> Result<()> {
        let limits = Limits { shared_bytes: self.simulator.config().shared_limit, ..Limits::SIMULATOR };
        limits.check(invocation.kernel, &invocation.config, 0)
    }

    fn tensor_map(&self, tensor: &Tensor) -> Result<TensorMap> {
        TensorMap::simulated(*tensor).map_err(|Unfit { what, actual, allowed }| Error::InvalidTensor {
            what,
            actual,
            allowed,
        })
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
