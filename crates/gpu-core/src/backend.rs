//! What every backend provides. Addresses are 64-bit numbers everywhere: device addresses on CUDA, simulated ones
//! in the simulator, host addresses on the CPU.
//!
//! Callers of the `unsafe` functions promise that the addressed bytes lie within live allocations of this backend.

use core::any::Any;
use core::fmt;
use core::ptr::NonNull;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use gpu_std::launch::Invocation;
use gpu_std::tensor_map::{Tensor, TensorMap};

use crate::capability::Capability;
use crate::device::Kind;
use crate::error::{Error, Result};
use crate::graph::work::{Replay, Used, Work};
use crate::properties::Properties;
use crate::scratch::Scratch;
use crate::texture::{Plan, Raw};
#[cfg(feature = "async")]
use crate::wait::Bell;

/// A device.
pub(crate) trait Backend: Any + Send + Sync {
    fn kind(&self) -> Kind;
    fn name(&self) -> String;
    fn properties(&self) -> Result<Properties>;
    /// The compute capability, if it has one.
    fn capability(&self) -> Option<Capability> {
        None
    }

    /// How many multiprocessors it has, if it has any.
    fn multiprocessors(&self) -> Option<u32> {
        None
    }
    /// Bytes free and in total; zeros where that cannot be known.
    fn memory_info(&self) -> Result<(u64, u64)>;
    /// Waits for all work of the device.
    fn synchronize(&self) -> Result<()>;

    /// Memory of `bytes` > 0 bytes; its content is undefined unless `zeroed`.
    fn allocate(&self, bytes: usize, zeroed: bool) -> Result<u64>;
    /// Frees what `allocate` gave, after all work that might use it has ended.
    unsafe fn release(&self, address: u64, bytes: usize);
    /// Where the allocation begins that an address is in, if it is in one.
    fn allocation(&self, address: u64) -> Option<u64>;
    /// Host to device; ordered after all work that was enqueued before.
    unsafe fn write(&self, address: u64, source: &[u8]) -> Result<()>;
    /// Device to host; ordered after all work that was enqueued before. Writes all of `target` or fails.
    unsafe fn read(&self, address: u64, target: *mut u8, bytes: usize) -> Result<()>;

    /// Zeroed host memory that the device can reach without staging; `bytes` > 0.
    fn allocate_pinned(&self, bytes: usize) -> Result<*mut u8>;
    /// Frees what `allocate_pinned` gave.
    unsafe fn release_pinned(&self, memory: *mut u8, bytes: usize);

    /// A texture with a copy of the plan's texels, which its source has all. Where kernels read textures of the
    /// host's there is none to create.
    unsafe fn create_texture(&self, _plan: &Plan) -> Result<Raw> {
        Err(Error::Unsupported { what: "texture units", device: self.name() })
    }
    /// Frees what `create_texture` gave, behind all work that was enqueued so far and might use it; waits for none.
    unsafe fn release_texture(&self, _raw: Raw) {}

    fn create_queue(self: Arc<Self>) -> Result<Arc<dyn Queue>>;
    fn default_queue(self: Arc<Self>) -> Arc<dyn Queue>;

    /// A place in the host's memory that kernels can write to, if there is such; it is nobody else's until it is given
    /// back.
    fn take_slot(&self) -> Option<Slot> {
        None
    }
    /// Gives it back. No work uses it any more.
    fn give_back_slot(&self, _: Slot) {}
    /// Where the device keeps scratch memory of its default stream, if it does: see [`Scratch::kept`].
    fn kept_scratch(&self) -> Option<&Mutex<Option<Scratch>>> {
        None
    }
}

/// Bytes of a [`Slot`].
pub(crate) const SLOT_BYTES: usize = 256;

/// A place in the host's memory that kernels can write to: see [`Backend::take_slot`]. Its bytes are initialised.
pub(crate) struct Slot {
    /// Where the host finds it.
    pub(crate) host: NonNull<u8>,
    /// Where kernels do.
    pub(crate) address: u64,
}

// SAFETY: whoever has it has the memory alone.
unsafe impl Send for Slot {}

impl fmt::Debug for dyn Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}

/// A device and an address in its memory.
pub(crate) type Place<'a> = (&'a Arc<dyn Backend>, u64);

/// A stream: what is enqueued runs in order.
pub(crate) trait Queue: Any + Send + Sync {
    fn synchronize(&self) -> Result<()>;
    /// Whether everything enqueued so far has ended.
    fn is_done(&self) -> Result<bool>;
    unsafe fn fill(&self, address: u64, bytes: usize, value: u8) -> Result<()>;
    /// Device to device; the ranges do not overlap.
    unsafe fn copy(&self, target: u64, source: u64, bytes: usize) -> Result<()>;
    /// Between two devices of a kind, one of which is this stream's; [`Error::Unsupported`] where there is only one.
    unsafe fn copy_peer(&self, _target: Place<'_>, _source: Place<'_>, _bytes: usize) -> Result<()> {
        Err(Error::Unsupported { what: "copies between devices", device: "the only one of its kind".into() })
    }
    /// Prepares copies between this stream's device and another of its kind, without one.
    fn prepare_copy_peer(&self, _peer: &Arc<dyn Backend>) -> Result<()> {
        Ok(())
    }
    /// Pinned host memory to device; `source` stays valid and unchanged until the copy has ended.
    unsafe fn upload(&self, target: u64, source: *const u8, bytes: usize) -> Result<()>;
    /// Device to pinned host memory; `target` stays valid and unused until the copy has ended.
    unsafe fn download(&self, target: *mut u8, source: u64, bytes: usize) -> Result<()>;
    /// As [`gpu_std::launch::LaunchTarget::launch`].
    unsafe fn launch(&self, invocation: &Invocation<'_>) -> Result<()>;
    /// Checks a launch and loads what it needs, without launching.
    fn prepare(&self, invocation: &Invocation<'_>) -> Result<()>;
    /// Work that was captured, to be launched; every launch in it [was prepared](Queue::prepare).
    fn instantiate(&self, work: Vec<Work>) -> Result<Box<dyn Executable>> {
        Ok(Box::new(Replay(work)))
    }
    /// A tensor that [was checked](Tensor::check), for the kernels of this queue's device.
    fn tensor_map(&self, tensor: &Tensor) -> Result<TensorMap>;
    fn record(&self) -> Result<Box<dyn Mark>>;
    /// Lets what is enqueued from now on wait for a mark of this device, or of another of its kind.
    fn wait(&self, mark: &dyn Mark) -> Result<()>;
    /// Lets what is enqueued from now on wait for the work of other streams that uses this memory, as if it wrote
    /// there.
    fn join(&self, _address: u64) -> Result<()> {
        Ok(())
    }
    /// The same stream, whose work is not ordered with that of others.
    fn unordered(self: Arc<Self>) -> Arc<dyn Queue>;
}

/// Captured work.
pub(crate) trait Executable: Send + Sync {
    /// Enqueues all of it on a stream of its device, in the order of the streams of each device that it uses memory of.
    unsafe fn launch(&mut self, queue: &Arc<dyn Queue>, uses: &[Used]) -> Result<()>;
    /// Puts other work in its place, of the same kinds in the same order; where that fails it stays as it is.
    fn update(&mut self, work: Vec<Work>) -> Result<()>;
}

/// A point in a stream.
pub(crate) trait Mark: Any + Send + Sync {
    fn synchronize(&self) -> Result<()>;
    fn is_done(&self) -> Result<bool>;
    /// Milliseconds since an earlier mark of the same device; waits for both.
    fn elapsed_ms(&self, earlier: &dyn Mark) -> Result<f32>;
    /// Rings once the stream has come here, or something has gone wrong on the device. It may ring early.
    #[cfg(feature = "async")]
    fn ring(&self, bell: Arc<Bell>) -> Result<()> {
        // Where work is done at once there is nothing to wait for.
        bell.ring();
        Ok(())
    }
}

/// A point in a stream whose work is done when the call that enqueues it returns.
pub(crate) struct HostMark(pub(crate) Instant);

impl Mark for HostMark {
    fn synchronize(&self) -> Result<()> {
        Ok(())
    }

    fn is_done(&self) -> Result<bool> {
        Ok(true)
    }

    fn elapsed_ms(&self, earlier: &dyn Mark) -> Result<f32> {
        let earlier: &dyn Any = earlier;
        let Some(Self(earlier)) = earlier.downcast_ref() else {
            unreachable!("marks of one kind are of one type")
        };
        // An event "before" its predecessor gives a negative time, as it does on CUDA.
        let milliseconds = |duration: std::time::Duration| duration.as_secs_f64() * 1e3;
        Ok(if self.0 >= *earlier {
            milliseconds(self.0 - *earlier) as f32
        } else {
            -milliseconds(*earlier - self.0) as f32
        })
    }
}
