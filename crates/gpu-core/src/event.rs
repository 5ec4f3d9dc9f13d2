//! Events: points in streams, to wait for and to measure between.

use core::fmt;
use std::sync::Arc;

use crate::backend::Mark;
use crate::device::Device;
use crate::error::Result;
use crate::graph::capture;

/// A point in a stream, made by [`Stream::record`](crate::Stream::record): everything enqueued there before.
pub struct Event {
    device: Device,
    mark: Arc<dyn Mark>,
}

impl Event {
    pub(crate) fn new(device: Device, mark: Box<dyn Mark>) -> Self {
        Self { device, mark: mark.into() }
    }

    /// The same, to keep.
    #[cfg(feature = "async")]
    pub(crate) fn shared(&self) -> Arc<dyn Mark> {
        Arc::clone(&self.mark)
    }

    pub(crate) fn mark(&self) -> &dyn Mark {
        &*self.mark
    }

    /// Where its stream runs.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Waits until the stream has come here.
    ///
    /// # Errors
    /// A fault in a kernel that ran meanwhile.
    pub fn synchronize(&self) -> Result<()> {
        capture::refuse(&self.device, "a wait for an event")?;
        self.mark.synchronize()
    }

    /// Whether the stream has come here.
    ///
    /// # Errors
    /// A fault in a kernel that ran meanwhile.
    pub fn is_done(&self) -> Result<bool> {
        capture::refuse(&self.device, "a question to an event")?;
        self.mark.is_done()
    }

    /// The milliseconds from `earlier` to here, on the device's clock; waits for both.
    ///
    /// # Errors
    /// [`Error::WrongDevice`](crate::Error::WrongDevice); a fault in a kernel that ran meanwhile.
    pub fn elapsed_ms(&self, earlier: &Self) -> Result<f32> {
        self.device.expect("earlier event", &earlier.device)?;
        capture::refuse(&self.device, "a wait for an event")?;
        self.mark.elapsed_ms(earlier.mark())
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Event({})", self.device)
    }
}
