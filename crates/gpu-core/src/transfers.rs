//! Transfers of borrowed memory that run while the host goes on, within a scope that waits for them.

use core::cell::Cell;
use core::fmt;
use core::marker::PhantomData;
use core::mem::{forget, size_of_val};

use crate::checks;
use crate::element::Element;
use crate::error::Result;
use crate::graph::capture;
use crate::stream::Stream;
use crate::view::{View, ViewMut};

/// Starts transfers between parts of the host's memory and parts of buffers: what [`Stream::transfers`] lends.
///
/// The host's memory is borrowed until the scope has ended. That of the device is not: later work is ordered with the
/// transfer, as with all work of the stream.
pub struct Transfers<'scope, 'env: 'scope> {
    stream: &'env Stream,
    /// Whether something has to be waited for.
    started: Cell<bool>,
    /// Neither lifetime may shrink or grow, or memory could be borrowed for less than the scope.
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

impl<'scope> Transfers<'scope, '_> {
    /// Starts a copy of `source` to `target`, which is as long.
    ///
    /// # Errors
    /// [`LengthMismatch`](crate::Error::LengthMismatch), [`WrongDevice`](crate::Error::WrongDevice),
    /// [`NotCapturable`](crate::Error::NotCapturable), and then nothing is written; those of the driver.
    #[track_caller]
    pub fn upload<'a, T: Element>(
        &'scope self,
        source: &'scope [T],
        target: impl Into<ViewMut<'a, T>>,
    ) -> Result<()> {
        #[cfg(feature = "simulator")]
        let _called = crate::simulator::place::Called::here();
        let target = target.into();
        self.stream.expect("target of a transfer", target.device())?;
        if !self.begin("source of a transfer", target.len(), source.len())? {
            return Ok(());
        }
        let from = source.as_ptr().cast();
        // SAFETY: both have that many bytes; the source is borrowed until the scope has ended, which waits for the
        // copy.
        unsafe { self.stream.queue.upload(target.address(), from, size_of_val(source)) }
    }

    /// Starts a copy of `source` to `target`, which is as long, and holds it when the scope has ended.
    ///
    /// # Errors
    /// As [`Transfers::upload`]; in the simulator the fault of reading bytes that were never written.
    #[track_caller]
    pub fn download<'a, T: Element>(
        &'scope self,
        source: impl Into<View<'a, T>>,
        target: &'scope mut [T],
    ) -> Result<()> {
        #[cfg(feature = "simulator")]
        let _called = crate::simulator::place::Called::here();
        let source = source.into();
        self.stream.expect("source of a transfer", source.device())?;
        if !self.begin("target of a transfer", source.len(), target.len())? {
            return Ok(());
        }
        let (to, bytes) = (target.as_mut_ptr().cast(), size_of_val(target));
        // SAFETY: both have that many bytes; the target is borrowed until the scope has ended, which waits for the
        // copy.
        unsafe { self.stream.queue.download(to, source.address(), bytes) }
    }

    /// The stream.
    pub fn stream(&self) -> &Stream {
        self.stream
    }

    /// Whether there is something to copy.
    fn begin(&self, what: &'static str, expected: usize, actual: usize) -> Result<bool> {
        checks::length(what, expected, actual)?;
        if expected == 0 {
            return Ok(false);
        }
        capture::refuse(self.stream.device(), "a transfer of the host's memory")?;
        self.started.set(true);
        Ok(true)
    }
}

impl fmt::Debug for Transfers<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Transfers({})", self.stream.device())
    }
}

/// Waits when the scope is left by a panic.
struct End<'a>(&'a Stream);

impl Drop for End<'_> {
    fn drop(&mut self) {
        // A failure has left the device unusable: nothing is transferred any more.
        let _ = self.0.queue.synchronize();
    }
}

impl Stream {
    /// Lets `enqueue` start transfers between parts of the host's memory and views, and other work between them; waits
    /// for all of it. The transfers are in the order of the stream, and the host goes on meanwhile where its memory is
    /// [pinned](crate::Pinned) (other memory the driver copies first, or last).
    ///
    /// Where a transfer should outlive the call that starts it, [`upload`](Stream::upload) and
    /// [`download`](Stream::download) take ownership of whole buffers.
    ///
    /// ```
    /// # let device = gpu_core::Device::best();
    /// let stream = device.stream()?;
    /// let mut pinned = device.pinned::<u32>(6)?;
    /// pinned.copy_from_slice(&[1, 2, 3, 4, 5, 6]);
    /// let (source, results) = pinned.split_at_mut(4);
    /// let (mut x, mut y) = (device.zeroed(4)?, device.alloc(2)?);
    /// stream.transfers(|transfers| {
    ///     for part in [0..2, 2..4] {
    ///         transfers.upload(&source[part.clone()], x.slice_mut(part))?;
    ///     }
    ///     stream.copy(&mut y, x.slice(1..3))?;
    ///     transfers.download(&y, results)
    /// })?;
    /// assert_eq!(*pinned, [1, 2, 3, 4, 2, 3]);
    /// # Ok::<(), gpu_core::Error>(())
    /// ```
    ///
    /// The host's memory is borrowed until the end:
    ///
    /// ```compile_fail,E0506
    /// let device = gpu_core::Device::cpu();
    /// let (mut number, mut buffer) = ([1u32], device.alloc::<u32>(1)?);
    /// device.stream()?.transfers(|transfers| {
    ///     transfers.upload(&number, &mut buffer)?;
    ///     number[0] = 2;
    ///     Ok(())
    /// })?;
    /// # Ok::<(), gpu_core::Error>(())
    /// ```
    ///
    /// and what lives shorter is not taken:
    ///
    /// ```compile_fail,E0597
    /// let device = gpu_core::Device::cpu();
    /// let mut buffer = device.alloc::<u32>(1)?;
    /// device.stream()?.transfers(|transfers| {
    ///     let number = [1u32];
    ///     transfers.upload(&number, &mut buffer)
    /// })?;
    /// # Ok::<(), gpu_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// That of `enqueue`, and a fault in a kernel that ran meanwhile.
    pub fn transfers<'env, R>(
        &'env self,
        enqueue: impl for<'scope> FnOnce(&'scope Transfers<'scope, 'env>) -> Result<R>,
    ) -> Result<R> {
        let transfers =
            Transfers { stream: self, started: Cell::new(false), scope: PhantomData, env: PhantomData };
        let end = End(self);
        let enqueued = enqueue(&transfers);
        forget(end);
        let ended = if transfers.started.get() { self.queue.synchronize() } else { Ok(()) };
        enqueued.and_then(|result| ended.map(|()| result))
    }
}
