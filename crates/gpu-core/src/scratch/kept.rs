//! The scratch memory that a device keeps for its default stream.

use std::sync::{Mutex, TryLockError};

use super::Scratch;
use crate::error::Result;
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
        let (mut call, mut result) = (Some(call), None);
        Self::kept_for(stream, &mut |scratch| {
            let call = call.take().expect("it is called once");
            result = Some(call(scratch)?);
            Ok(())
        })?;
        Ok(result.expect("what did not fail was called"))
    }

    /// The same for all kinds of results, so that it is not compiled for each.
    fn kept_for(stream: &Stream, call: &mut dyn FnMut(&mut Self) -> Result<()>) -> Result<()> {
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
        let Some(mut guard) = guard else { return call(&mut Self::new(stream)) };
        let scratch = guard.take().filter(|scratch| scratch.stream == *stream && scratch.grows);
        let scratch = guard.insert(scratch.unwrap_or_else(|| Self::new(stream)));
        scratch.most = MOST_KEPT;
        call(scratch)
    }
}
