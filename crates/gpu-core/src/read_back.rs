//! Results that a call waits for.

use core::mem::size_of_val;

use crate::backend::SLOT_BYTES;
use crate::element::Element;
use crate::error::Result;
use crate::stream::Stream;
use crate::view::ViewMut;

impl Stream {
    /// Lets `enqueue` enqueue work that writes as many elements as `results` has, waits for this stream, and copies
    /// them there. For those who write primitives whose result comes back to the host.
    ///
    /// Where the device's kernels can write to the host's memory and there are no more than 256 bytes, that is what
    /// they are handed: no copy follows the work then, and nothing is allocated. They write it by plain stores (no
    /// atomics), and not more than once: each store goes over the bus.
    ///
    /// ```
    /// let device = gpu_core::Device::simulator();
    /// let stream = device.default_stream();
    /// let mut results = [0u16; 2];
    /// stream.read_back(&mut results, |output| stream.memset(output, 1))?;
    /// assert_eq!(results, [0x101; 2]);
    /// # Ok::<(), gpu_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// That of `enqueue`, a fault in a kernel that ran meanwhile, and
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory); then `results` are as they were.
    pub fn read_back<T: Element>(
        &self,
        results: &mut [T],
        enqueue: impl FnOnce(ViewMut<'_, T>) -> Result<()>,
    ) -> Result<()> {
        self.refuse_capture("a result that comes back to the host")?;
        let (device, bytes) = (self.device(), size_of_val(results));
        let slot = if (1..=SLOT_BYTES).contains(&bytes) { device.backend.take_slot() } else { None };
        let Some(slot) = slot else {
            let mut memory = device.alloc(results.len())?;
            enqueue(memory.view_mut())?;
            return memory.copy_to(results);
        };
        // SAFETY: the slot has room for that many elements at an alignment of 256 bytes, and is this call's alone.
        let enqueued = enqueue(unsafe { ViewMut::from_parts(device, slot.address, results.len()) });
        // Behind a failure too: something may have been enqueued. What was enqueued elsewhere is waited for here.
        let ended = self.queue.join(slot.address).and_then(|()| self.synchronize());
        if ended.is_ok() {
            if enqueued.is_ok() {
                // SAFETY: both have that many bytes, and are apart; nothing writes to the slot any more; any bytes are
                // elements.
                unsafe { slot.host.as_ptr().copy_to_nonoverlapping(results.as_mut_ptr().cast(), bytes) };
            }
            device.backend.give_back_slot(slot);
        }
        enqueued.and(ended)
    }
}
