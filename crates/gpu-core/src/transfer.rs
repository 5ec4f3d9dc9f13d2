//! Transfers that run while the host goes on.

use core::fmt;
use core::mem::ManuallyDrop;

use crate::buffer::Buffer;
use crate::checks;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::graph::capture;
use crate::pinned::Pinned;
use crate::stream::Stream;

/// A transfer between pinned memory and a buffer. It owns both until it is waited for, so neither can be touched or
/// freed too early.
///
/// Dropping it waits; forgetting it leaks both.
#[must_use = "dropping a transfer waits for it at once"]
pub struct Transfer<T: Element> {
    end: Event,
    owned: ManuallyDrop<(Pinned<T>, Buffer<T>)>,
}

impl<T: Element> Transfer<T> {
    /// Waits for the transfer and gives back what it used.
    ///
    /// # Errors
    /// A fault on the device; then both are freed.
    pub fn wait(mut self) -> Result<(Pinned<T>, Buffer<T>)> {
        // Waited for in any case: both are given back below.
        let ended = self.end.mark().synchronize();
        let ended = ended.and(capture::refuse(self.end.device(), "a wait for a transfer"));
        // SAFETY: taken once: `self` is forgotten right below, so its drop does not take it again.
        let owned = unsafe { ManuallyDrop::take(&mut self.owned) };
        let mut this = ManuallyDrop::new(self);
        // SAFETY: the event is dropped here and, `this` being forgotten, nowhere else.
        unsafe { core::ptr::drop_in_place(&mut this.end) };
        ended.map(|()| owned)
    }

    /// Whether it has ended.
    ///
    /// # Errors
    /// A fault on the device.
    pub fn is_done(&self) -> Result<bool> {
        self.end.is_done()
    }

    /// The point in the stream where it has ended, for other streams to wait for.
    pub fn end(&self) -> &Event {
        &self.end
    }
}

impl<T: Element> Drop for Transfer<T> {
    fn drop(&mut self) {
        // A fault here has left the device unusable, and its next call says so.
        let _ = self.end.mark().synchronize();
        // SAFETY: dropped once: `wait` forgets `self` after taking it.
        unsafe { ManuallyDrop::drop(&mut self.owned) };
    }
}

impl<T: Element> fmt::Debug for Transfer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Transfer({:?})", *self.owned)
    }
}

/// A transfer that could not start: why, and what it was given.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub struct Refused<T: Element> {
    /// Why it could not start.
    #[source]
    pub error: Error,
    /// The host memory, as it was.
    pub pinned: Pinned<T>,
    /// The buffer, as it was.
    pub buffer: Buffer<T>,
}

impl<T: Element> From<Box<Refused<T>>> for Error {
    fn from(refused: Box<Refused<T>>) -> Self {
        refused.error
    }
}

/// What starting a transfer gives; `?` turns a refusal into its [`Error`].
pub type Started<T> = core::result::Result<Transfer<T>, Box<Refused<T>>>;

impl Stream {
    /// Starts a copy of `pinned` to `buffer`, which is as long.
    ///
    /// ```
    /// # let device = gpu_core::Device::best();
    /// let stream = device.stream()?;
    /// let mut pinned = device.pinned::<u32>(3)?;
    /// pinned.copy_from_slice(&[1, 2, 3]);
    /// let transfer = stream.upload(pinned, device.alloc(3)?)?;
    /// // ... the host does something else ...
    /// let (pinned, buffer) = transfer.wait()?;
    /// assert_eq!(buffer.to_vec()?, *pinned);
    /// # Ok::<(), gpu_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::LengthMismatch`], [`Error::WrongDevice`], those of the driver; both arguments come back with it.
    #[track_caller]
    pub fn upload<T: Element>(&self, pinned: Pinned<T>, buffer: Buffer<T>) -> Started<T> {
        self.transfer(pinned, buffer, |pinned, buffer| {
            // SAFETY: both have that many bytes and are owned by the transfer until it has ended.
            unsafe { self.queue.upload(buffer.address(), pinned.as_raw(), buffer.bytes()) }
        })
    }

    /// Starts a copy of `buffer` to `pinned`, which is as long.
    ///
    /// # Errors
    /// As [`Stream::upload`].
    #[track_caller]
    pub fn download<T: Element>(&self, buffer: Buffer<T>, pinned: Pinned<T>) -> Started<T> {
        self.transfer(pinned, buffer, |pinned, buffer| {
            // SAFETY: both have that many bytes and are owned by the transfer until it has ended.
            unsafe { self.queue.download(pinned.as_raw(), buffer.address(), buffer.bytes()) }
        })
    }

    #[track_caller]
    fn transfer<T: Element>(
        &self,
        pinned: Pinned<T>,
        buffer: Buffer<T>,
        start: impl FnOnce(&Pinned<T>, &Buffer<T>) -> Result<()>,
    ) -> Started<T> {
        #[cfg(feature = "simulator")]
        let _called = crate::simulator::place::Called::here();
        let check = || {
            capture::refuse(self.device(), "a transfer of pinned memory")?;
            self.device().expect("buffer of a transfer", buffer.device())?;
            self.device().expect("pinned memory of a transfer", pinned.device())?;
            checks::length("pinned memory of a transfer", buffer.len(), pinned.len())
        };
        if let Err(error) = check() {
            return Err(Box::new(Refused { error, pinned, buffer }));
        }
        let started = if buffer.is_empty() { Ok(()) } else { start(&pinned, &buffer) };
        match started.and_then(|()| self.record()) {
            Ok(end) => Ok(Transfer { end, owned: ManuallyDrop::new((pinned, buffer)) }),
            Err(error) => {
                // The copy may have started though its end could not be marked: nothing is given back before it ended.
                let _ = self.synchronize();
                Err(Box::new(Refused { error, pinned, buffer }))
            }
        }
    }
}
