//! The simulator as a device: its memory, and streams whose work is done at once. It watches whether they are ordered.

pub(crate) mod given;
mod peer;
pub(crate) mod place;

use core::any::Any;
use std::sync::Arc;
use std::time::Instant;

use gpu_sim::{Config, FaultKind, Simulator};
use gpu_std::launch::{Invocation, LaunchTarget};
use gpu_std::tensor_map::{Tensor, TensorMap, Unfit};

use crate::backend::{Backend, HostMark, Mark, Place, Queue};
use crate::cpu;
use crate::device::Kind;
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::order::{self, Id, Order, Point, Streams, Uses};
use crate::properties::Properties;
use peer::{Guests, Visitors};

/// One simulator.
pub(crate) struct Device {
    /// That of the default stream.
    simulator: Simulator,
    order: Order<Simulator>,
    /// What its default stream is elsewhere.
    guests: Arc<Guests>,
    /// What its streams are elsewhere, as long as the host has not waited for them.
    visitors: Visitors,
}

/// A stream of it.
struct Immediate {
    /// That of this stream.
    simulator: Simulator,
    device: Arc<Device>,
    /// Its number in the order of the device's streams; `None` where the program orders it by itself.
    id: Option<Id>,
    /// What it is on other simulators.
    guests: Arc<Guests>,
    /// The stream that this is another handle of.
    _of: Option<Arc<Immediate>>,
}

/// A point in a stream.
struct Marked {
    at: HostMark,
    mark: gpu_sim::Mark,
    device: Arc<Device>,
    /// What whoever waits for it will know.
    point: Option<Box<Point>>,
    /// Where its stream is on other simulators.
    elsewhere: peer::Marks,
}

impl Streams for Simulator {
    type Handle = Self;
    type Event = gpu_sim::Mark;

    fn record_order(&self, stream: Self) -> Result<gpu_sim::Mark> {
        Ok(stream.record())
    }

    fn wait_order(&self, stream: Self, event: &gpu_sim::Mark) -> Result<()> {
        stream.wait(event);
        Ok(())
    }

    fn has_ended(&self, event: &gpu_sim::Mark) -> bool {
        // Its work is done, but nobody may know before he has waited.
        self.has_waited(event)
    }
}

impl Device {
    pub(crate) fn new(config: Config) -> Self {
        let simulator = Simulator::new(config);
        let order = Order::new(simulator.clone());
        Self { order, simulator, guests: Arc::default(), visitors: Visitors::default() }
    }

    /// A call on the default stream that uses memory, in the order of the streams.
    fn on_default<R>(&self, (address, write): (u64, bool), work: impl FnOnce() -> Result<R>) -> Result<R> {
        let uses = |to: &mut dyn FnMut(u64, bool)| to(address, write);
        let done = self.order.run(&self.simulator, order::DEFAULT, &uses, work);
        // The host has waited for all streams.
        self.visitors.reached();
        done
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
        self.simulator.synchronize();
        self.visitors.reached();
        Ok(())
    }

    fn allocate(&self, bytes: usize, zeroed: bool) -> Result<u64> {
        // Simulated memory is host memory.
        cpu::check_room(self.name(), bytes)?;
        let address = if zeroed { self.simulator.alloc_zeroed(bytes) } else { self.simulator.alloc(bytes) };
        let address = address.map_err(|fault| match fault.kind {
            FaultKind::OutOfMemory { asked, free, total } => {
                Error::OutOfMemory { device: self.name(), asked, free, total }
            }
            _ => fault.into(),
        })?;
        self.order.add_memory(address, bytes, false);
        Ok(address)
    }

    unsafe fn release(&self, address: u64, _: usize) {
        // As if behind all work that uses it, whichever stream's.
        self.order.remove_memory(address);
        // It fails only for an address that was never allocated, which a buffer's is not.
        let _ = self.simulator.free(address);
    }

    fn allocation(&self, address: u64) -> Option<u64> {
        self.simulator.allocation(address)
    }

    unsafe fn write(&self, address: u64, source: &[u8]) -> Result<()> {
        self.on_default((address, true), || Ok(self.simulator.write(address, source)?))
    }

    unsafe fn read(&self, address: u64, target: *mut u8, bytes: usize) -> Result<()> {
        // The simulator takes a slice, whose bytes must be initialised; and a fault leaves the target as it was.
        let mut staging = vec![0_u8; bytes];
        self.on_default((address, false), || Ok(self.simulator.read(address, &mut staging)?))?;
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
        let simulator = self.simulator.stream();
        let id = Some(self.order.add_stream(&self.simulator, simulator.clone(), true));
        Ok(Arc::new(Immediate { simulator, device: self, id, guests: Arc::default(), _of: None }))
    }

    fn default_queue(self: Arc<Self>) -> Arc<dyn Queue> {
        let (simulator, guests) = (self.simulator.clone(), Arc::clone(&self.guests));
        Arc::new(Immediate { simulator, device: self, id: Some(order::DEFAULT), guests, _of: None })
    }
}

impl Immediate {
    /// Work that uses this memory, in the order of the device's streams.
    fn ordered(&self, uses: Uses<'_>, work: impl FnOnce() -> Result<()>) -> Result<()> {
        match self.id {
            Some(id) => self.device.order.run(&self.device.simulator, id, uses, work),
            None => work(),
        }
    }

    /// The simulator, which names whoever has called this crate.
    fn called(&self) -> Simulator {
        place::place().map_or_else(|| self.simulator.clone(), |place| self.simulator.called_from(place))
    }

    fn ordered_uses(&self, uses: &[(u64, bool)], work: impl FnOnce() -> Result<()>) -> Result<()> {
        self.ordered(
            &|to: &mut dyn FnMut(u64, bool)| uses.iter().for_each(|&(at, write)| to(at, write)),
            work,
        )
    }
}

impl Drop for Immediate {
    fn drop(&mut self) {
        if let Some(id) = self.id.filter(|&id| id != order::DEFAULT) {
            self.guests.leave();
            self.device.order.remove_stream(&self.device.simulator, id);
        }
    }
}

impl Mark for Marked {
    fn synchronize(&self) -> Result<()> {
        self.device.simulator.wait_on_host(&self.mark);
        self.elsewhere.reached();
        Ok(())
    }

    fn is_done(&self) -> Result<bool> {
        // Whoever is told so may rely on it.
        self.synchronize()?;
        Ok(true)
    }

    fn elapsed_ms(&self, earlier: &dyn Mark) -> Result<f32> {
        let earlier: &dyn Any = earlier;
        let Some(first) = earlier.downcast_ref::<Self>() else {
            unreachable!("marks of one device are of one type")
        };
        first.synchronize()?;
        self.synchronize()?;
        self.at.elapsed_ms(&first.at)
    }
}

impl Queue for Immediate {
    fn synchronize(&self) -> Result<()> {
        self.simulator.synchronize();
        self.elsewhere().reached();
        Ok(())
    }

    fn is_done(&self) -> Result<bool> {
        // Whoever is told so may rely on it.
        self.synchronize()?;
        Ok(true)
    }

    unsafe fn fill(&self, address: u64, bytes: usize, value: u8) -> Result<()> {
        self.ordered_uses(&[(address, true)], || {
            self.called().fill(address, bytes, value)?;
            self.simulator.note_fill(bytes as u64);
            Ok(())
        })
    }

    unsafe fn copy(&self, target: u64, source: u64, bytes: usize) -> Result<()> {
        let uses = [(target, true), (source, false)];
        self.ordered_uses(&uses, || Ok(self.called().copy(target, source, bytes)?))
    }

    unsafe fn copy_peer(&self, target: Place<'_>, source: Place<'_>, bytes: usize) -> Result<()> {
        self.copy_between(target, source, bytes)
    }

    unsafe fn upload(&self, target: u64, source: *const u8, bytes: usize) -> Result<()> {
        // SAFETY: the caller's promise: the source has that many bytes.
        let source = unsafe { core::slice::from_raw_parts(source, bytes) };
        self.ordered_uses(&[(target, true)], || Ok(self.called().write(target, source)?))
    }

    unsafe fn download(&self, target: *mut u8, source: u64, bytes: usize) -> Result<()> {
        // SAFETY: the caller's promise: the target has that many bytes, and pinned memory is initialised.
        let target = unsafe { core::slice::from_raw_parts_mut(target, bytes) };
        self.ordered_uses(&[(source, false)], || Ok(self.called().read(source, target)?))
    }

    unsafe fn launch(&self, invocation: &Invocation<'_>) -> Result<()> {
        self.prepare(invocation)?;
        let uses = |to: &mut dyn FnMut(u64, bool)| {
            invocation.addresses().for_each(|(address, write)| to(address, write));
        };
        self.ordered(&uses, || {
            // SAFETY: the caller's promise.
            Ok(unsafe { LaunchTarget::launch(&given::lending(&self.simulator, invocation), invocation) }?)
        })
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
        let (at, device) = (HostMark(Instant::now()), Arc::clone(&self.device));
        let (point, mark) = match self.id {
            Some(id) => self.device.order.record(id, || Ok(self.simulator.record()))?,
            None => (None, self.simulator.record()),
        };
        Ok(Box::new(Marked { at, mark, device, point, elsewhere: self.elsewhere() }))
    }

    fn wait(&self, mark: &dyn Mark) -> Result<()> {
        let mark: &dyn Any = mark;
        let Some(mark) = mark.downcast_ref::<Marked>() else {
            unreachable!("marks of one kind are of one type")
        };
        self.wait_elsewhere(&mark.elsewhere);
        let known = if Arc::ptr_eq(&mark.device, &self.device) {
            self.simulator.wait(&mark.mark);
            self.id
        } else {
            let guest = self.guest_on(&mark.device);
            guest.simulator.wait(&mark.mark);
            self.id.map(|_| guest.id)
        };
        if let Some(id) = known {
            mark.device.order.joined(id, mark.point.as_deref());
        }
        Ok(())
    }

    fn unordered(self: Arc<Self>) -> Arc<dyn Queue> {
        let (simulator, device) = (self.simulator.clone(), Arc::clone(&self.device));
        Arc::new(Self { simulator, device, id: None, guests: Arc::clone(&self.guests), _of: Some(self) })
    }
}
