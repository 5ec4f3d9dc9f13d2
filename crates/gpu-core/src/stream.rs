//! Streams: queues of work.

use core::fmt;
use core::mem::size_of;
use std::sync::Arc;

use crate::backend::Queue;
use crate::checks;
use crate::device::Device;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::graph::capture;
use crate::view::{View, ViewMut};
use gpu_std::tensor_map::{Tensor, TensorMap, Unfit};

/// A queue of work on one device. Clones are the same stream.
///
/// # Order
/// What is enqueued on one stream runs in the order of the calls. Work on one stream that uses memory of a buffer which
/// another stream has written, or which it writes and the other has read, waits for that work of the other: an event is
/// recorded there at that moment, and none as long as one stream does all the work. What counts is the whole buffer,
/// also where the streams use different parts of it. Beyond that nothing is ordered between streams but by
/// [`Stream::wait`] and [`Stream::synchronize`]. The transfers of [`Buffer`](crate::Buffer) come after all work
/// enqueued on the device before. [`Stream::unordered`] is for those who order their streams by themselves.
///
/// [`Stream::copy_peer`] is ordered so on both devices. Of memory that was allocated elsewhere nothing is remembered.
///
/// [`Stream::capture`] records work for a [`Graph`](crate::Graph), whose launches are ordered as if they were kernels.
///
/// On CUDA these are blocking streams: the legacy default stream orders itself with them. On the CPU and in the
/// simulator work is done when the call that enqueues it returns. The simulator watches the order nevertheless: two
/// uses of the same bytes, one of which writes, on streams that nothing orders, are a race, reported by the call that
/// enqueues the second. With [`Stream::unordered`] a missing wait is found that way.
///
/// Dropping a stream does not wait; its work goes on.
#[derive(Clone)]
pub struct Stream {
    device: Device,
    pub(crate) queue: Arc<dyn Queue>,
    /// Whether it is the device's default stream, of which every call gives another handle.
    is_default: bool,
}

impl Stream {
    pub(crate) fn new(device: Device, queue: Arc<dyn Queue>) -> Self {
        Self { device, queue, is_default: false }
    }

    pub(crate) fn default_of(device: Device, queue: Arc<dyn Queue>) -> Self {
        Self { device, queue, is_default: true }
    }

    /// Whether it is the device's default stream.
    pub(crate) fn is_default(&self) -> bool {
        self.is_default
    }

    /// Where it runs.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Refuses `what` if it lives on another device than `device`, this stream's.
    ///
    /// # Errors
    /// [`Error::WrongDevice`].
    pub fn expect(&self, what: &'static str, device: &Device) -> Result<()> {
        self.device.expect(what, device)
    }

    /// Waits until everything enqueued so far has ended.
    ///
    /// # Errors
    /// A fault in a kernel that ran meanwhile.
    pub fn synchronize(&self) -> Result<()> {
        capture::refuse(&self.device, "a wait for a stream")?;
        self.queue.synchronize()
    }

    /// Whether everything enqueued so far has ended.
    ///
    /// # Errors
    /// A fault in a kernel that ran meanwhile.
    pub fn is_done(&self) -> Result<bool> {
        capture::refuse(&self.device, "a question to a stream")?;
        self.queue.is_done()
    }

    /// Marks this point of the stream.
    ///
    /// # Errors
    /// Those of the driver.
    pub fn record(&self) -> Result<Event> {
        capture::refuse(&self.device, "an event")?;
        Ok(Event::new(self.device.clone(), self.queue.record()?))
    }

    /// Lets everything that is enqueued from now on wait for `event`, which may be of another stream, and of another
    /// device of this one's kind: another GPU, or another simulator.
    ///
    /// What waited here has waited for all that came before the event, on every device. So whoever waits for this
    /// stream's later work has waited for the other device's too.
    ///
    /// ```
    /// let (near, far) = (gpu_core::Device::simulator(), gpu_core::Device::simulator());
    /// let (here, there) = (near.stream()?, far.stream()?);
    /// let mut numbers = far.alloc::<u8>(4)?;
    /// there.memset(&mut numbers, 7)?;
    /// here.wait(&there.record()?)?;
    /// let mut fetched = near.alloc(4)?;
    /// here.copy_peer(&mut fetched, &numbers)?;
    /// assert_eq!(fetched.to_vec()?, [7; 4]);
    /// # Ok::<(), gpu_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::WrongDevice`] where the event is of a device of another kind; [`Error::NotCapturable`]; those of the
    /// driver.
    pub fn wait(&self, event: &Event) -> Result<()> {
        if self.device.kind() != event.device().kind() {
            self.device.expect("event to wait for", event.device())?;
        }
        capture::refuse(&self.device, "a wait for an event")?;
        self.queue.wait(event.mark())
    }

    /// Another handle of the same stream, whose work neither waits for that of other streams nor is waited for. It is
    /// not equal to this one.
    ///
    /// # Safety
    /// What is enqueued here, and what other handles enqueue or do with the same memory (freeing it too), is ordered by
    /// the caller wherever one of them writes: by [`Stream::wait`], by [`Stream::synchronize`], or by being on one
    /// stream.
    pub unsafe fn unordered(&self) -> Self {
        Self { device: self.device.clone(), queue: Arc::clone(&self.queue).unordered(), is_default: false }
    }

    /// A tensor as a kernel's parameter, for copies of boxes (capability 9.0). Its memory is not looked at.
    ///
    /// ```
    /// use gpu_core::Device;
    /// use gpu_std::tensor_map::{Format, Swizzle, Tensor};
    /// let device = Device::simulator();
    /// let numbers = device.upload(&[1.0_f32; 64 * 40])?;
    /// let tensor = Tensor {
    ///     address: numbers.view().as_global().address(),
    ///     format: Format::U32,
    ///     extents: [64, 40, 1],
    ///     strides: [256, 256 * 40],
    ///     tile: [32, 8, 1],
    ///     swizzle: Swizzle::Bytes128,
    /// };
    /// let map = device.default_stream().tensor_map(&tensor)?;
    /// let odd = Tensor { strides: [255, 256 * 40], ..tensor };
    /// assert!(matches!(device.default_stream().tensor_map(&odd), Err(gpu_core::Error::InvalidTensor { actual: 255, .. })));
    /// # Ok::<(), gpu_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::InvalidTensor`]; [`Error::Unsupported`] on the CPU; those of the driver.
    pub fn tensor_map(&self, tensor: &Tensor) -> Result<TensorMap> {
        tensor.check().map_err(|Unfit { what, actual, allowed }| Error::InvalidTensor {
            what,
            actual,
            allowed,
        })?;
        self.queue.tensor_map(tensor)
    }

    /// Sets every byte of `target` to `value`.
    ///
    /// # Errors
    /// [`Error::WrongDevice`]; those of the driver.
    #[track_caller]
    pub fn memset<'a, T: Element>(&self, target: impl Into<ViewMut<'a, T>>, value: u8) -> Result<()> {
        #[cfg(feature = "simulator")]
        let _called = crate::simulator::place::Called::here();
        let target = target.into();
        self.device.expect("target of a fill", target.device())?;
        if target.is_empty() {
            return Ok(());
        }
        let bytes = target.len() * size_of::<T>();
        if capture::fill(self, target.address(), bytes, value)? {
            return Ok(());
        }
        // SAFETY: a view has that many bytes of live memory, and freeing it waits for the fill.
        unsafe { self.queue.fill(target.address(), bytes, value) }
    }

    /// Copies `source` to `target` within the device.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] or [`Error::WrongDevice`], and then nothing is written; those of the driver.
    #[track_caller]
    pub fn copy<'a, 'b, T: Element>(
        &self,
        target: impl Into<ViewMut<'a, T>>,
        source: impl Into<View<'b, T>>,
    ) -> Result<()> {
        #[cfg(feature = "simulator")]
        let _called = crate::simulator::place::Called::here();
        let (target, source) = (target.into(), source.into());
        self.device.expect("target of a copy", target.device())?;
        self.device.expect("source of a copy", source.device())?;
        checks::length("source of a copy", target.len(), source.len())?;
        if target.is_empty() {
            return Ok(());
        }
        let bytes = target.len() * size_of::<T>();
        if capture::copy(self, target.address(), source.address(), bytes)? {
            return Ok(());
        }
        // SAFETY: both views have that many bytes of live memory, which is not freed before the copy has ended; they
        // do not overlap since one of them is exclusive.
        unsafe { self.queue.copy(target.address(), source.address(), bytes) }
    }

    /// Copies `source` to `target` on another device. The stream is one of either device: a copy can be sent or
    /// fetched.
    ///
    /// It is ordered as all work is, on both sides: it waits for the work of other streams, of the target's device as
    /// of the source's, that uses this memory, and they wait for it. On CUDA the first copy between two devices lets
    /// each reach the other's memory where the hardware can, and data goes straight from one to the other; else the
    /// driver takes it through the host's memory. Views of one device are [copied](Stream::copy) there. It is work of
    /// its stream: who waits for that, or for that device, has waited for the copy, and who waits for the other device
    /// has not.
    ///
    /// ```
    /// use gpu_core::Device;
    /// let (near, far) = (Device::simulator(), Device::simulator());
    /// let stream = near.stream()?;
    /// let source = near.upload(&[1u32, 2, 3])?;
    /// let (mut target, mut back) = (far.zeroed::<u32>(5)?, near.alloc(2)?);
    /// stream.copy_peer(target.slice_mut(1..4), &source)?;
    /// stream.copy_peer(&mut back, target.slice(2..4))?;
    /// assert_eq!(target.to_vec()?, [0, 1, 2, 3, 0]);
    /// assert_eq!(back.to_vec()?, [2, 3]);
    /// # Ok::<(), gpu_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::LengthMismatch`]; [`Error::NotPeers`] where the devices are of different kinds; [`Error::WrongDevice`]
    /// where the stream is of neither; [`Error::NotCapturable`] while this thread captures another stream of one of
    /// them. Then nothing is written. Those of the driver.
    #[track_caller]
    pub fn copy_peer<'a, 'b, T: Element>(
        &self,
        target: impl Into<ViewMut<'a, T>>,
        source: impl Into<View<'b, T>>,
    ) -> Result<()> {
        let (target, source) = (target.into(), source.into());
        let (to, from) = (target.device(), source.device());
        if to == from {
            return self.copy(target, source);
        }
        if to.kind() != from.kind() {
            return Err(Error::NotPeers { from: from.to_string(), to: to.to_string() });
        }
        if self.device != *to && self.device != *from {
            return Err(Error::WrongDevice {
                what: "stream of a copy between devices",
                expected: format!("{from} or {to}"),
                actual: self.device.to_string(),
            });
        }
        checks::length("source of a copy", target.len(), source.len())?;
        if target.is_empty() {
            return Ok(());
        }
        #[cfg(feature = "simulator")]
        let _called = crate::simulator::place::Called::here();
        let bytes = target.len() * size_of::<T>();
        if capture::copy_peer(self, (to, target.address()), (from, source.address()), bytes)? {
            return Ok(());
        }
        // SAFETY: as in `copy`, on each side.
        unsafe {
            self.queue.copy_peer((&to.backend, target.address()), (&from.backend, source.address()), bytes)
        }
    }
}

/// Whether both are handles to the same stream.
impl PartialEq for Stream {
    fn eq(&self, other: &Self) -> bool {
        self.device == other.device
            && (Arc::ptr_eq(&self.queue, &other.queue) || self.is_default && other.is_default)
    }
}

impl Eq for Stream {}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stream({})", self.device)
    }
}
