//! The scratch memory that a device keeps for its default stream.

use std::sync::{Mutex, TryLockError};

use super::Scratch;
use crate::buffer::Buffer;
use crate::device::Device;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::stream::Stream;

/// The most bytes of a call that a device keeps: see [`Scratch::kept`].
const MOST_KEPT: usize = 1 << 20;

impl Scratch {
    /// Hands `call` the scratch memory that the device keeps for its default stream, for calls that are brought none:
    /// from the second one on those that need up to a MiB allocate nothing and clear nothing. What needs more is
    /// allocated and freed by the call, and so is all of it on other streams, on devices that keep none, and while
    /// another thread calls.
    ///
    /// ```
    /// use gpu_core::{Scratch, ScratchSize};
    /// let stream = gpu_core::Device::simulator().default_stream();
    /// let size = ScratchSize::new().array::<f32>(100);
    /// let room = Scratch::kept(&stream, |scratch| scratch.lend("example", size, |mut parts| Ok(parts.array::<f32>(100).len())))?;
    /// assert_eq!(room, 100);
    /// # Ok::<(), gpu_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of `call`.
    pub fn kept<R>(stream: &Stream, call: impl FnOnce(&mut Self) -> Result<R>) -> Result<R> {
        Self::lent(stream, call)?
    }

    /// A buffer of `len` elements that `call` writes on the default stream of `device`, with the scratch memory that is
    /// [kept](Scratch::kept) for it: what calls that return buffers have in common.
    ///
    /// ```
    /// use gpu_core::{Device, Scratch};
    /// let sevens = Scratch::computed::<u8, gpu_core::Error>(&Device::simulator(), 3, |stream, output, _| {
    ///     stream.memset(output, 7)
    /// })?;
    /// assert_eq!(sevens.to_vec()?, [7; 3]);
    /// # Ok::<(), gpu_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of `call`, [`Error::OutOfMemory`].
    pub fn computed<T: Element, E: From<Error>>(
        device: &Device,
        len: usize,
        call: impl FnOnce(&Stream, &mut Buffer<T>, &mut Self) -> core::result::Result<(), E>,
    ) -> core::result::Result<Buffer<T>, E> {
        let (stream, mut output) = (device.default_stream(), device.alloc(len)?);
        Self::lent(&stream, |scratch| call(&stream, &mut output, scratch))??;
        Ok(output)
    }

    /// What `call` returns, which is handed the memory that is kept.
    fn lent<R>(stream: &Stream, call: impl FnOnce(&mut Self) -> R) -> Result<R> {
        let (mut call, mut result) = (Some(call), None);
        Self::kept_for(stream, &mut |scratch| {
            let call = call.take().expect("it is called once");
            result = Some(call(scratch));
        })?;
        Ok(result.expect("it was called"))
    }

    /// The same for all kinds of results, so that it is not compiled for each; it calls once.
    fn kept_for(stream: &Stream, call: &mut dyn FnMut(&mut Self)) -> Result<()> {
        // No graph can hold it.
        stream.refuse_capture("scratch memory that a device keeps")?;
        let kept = if stream.is_default() { stream.device().backend.kept_scratch() } else { None };
        // Not to wait for a call that loads kernels, nor for one that this is within.
        let guard = match kept.map(Mutex::try_lock) {
            Some(Ok(guard)) => Some(guard),
            // What a call leaves that ended in the middle is taken for unknown: see `lend`.
            Some(Err(TryLockError::Poisoned(error))) => Some(error.into_inner()),
            Some(Err(TryLockError::WouldBlock)) | None => None,
        };
        let Some(mut guard) = guard else {
            call(&mut Self::new(stream));
            return Ok(());
        };
        let scratch = guard.take().filter(|scratch| scratch.stream == *stream && scratch.grows);
        let scratch = guard.insert(scratch.unwrap_or_else(|| Self::new(stream)));
        scratch.most = MOST_KEPT;
        call(scratch);
        Ok(())
    }
}
