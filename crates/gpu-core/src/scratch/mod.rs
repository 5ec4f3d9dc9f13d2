//! Scratch memory: what primitives need on the way.

mod kept;
mod parts;
mod size;
#[cfg(test)]
mod tests;

use crate::buffer::Buffer;
use crate::error::{Error, Result};
use crate::graph::capture;
use crate::stream::Stream;
pub use parts::Parts;
pub use size::ScratchSize;
use size::WORD;

/// Scratch memory of one stream, for all primitives that are called on it.
///
/// It grows where a call needs more: one that was made with nothing allocates in the first call, and from the second one
/// on nothing allocates that is no larger. Where a call must not allocate, make it [with as
/// much](Scratch::with_size) as the `…_scratch` function beside that primitive says, or call once before. On the CPU no call
/// needs any.
///
/// What it holds is that of the last call, and calls on one stream run one after the other: so any number of primitives
/// can share it, and with another stream it is refused ([`Error::ScratchOfOtherStream`]). What kernels ask to be zero is
/// cleared once, when it is allocated, and again only behind a launch that failed; once it was used in a
/// [capture](Stream::capture), by every launch of the graph and before every call beside it.
///
/// ```
/// use gpu_core::{Scratch, ScratchSize};
/// let device = gpu_core::Device::simulator();
/// let stream = device.stream()?;
/// let grows = Scratch::new(&stream);
/// assert_eq!(grows.bytes(), 0);
/// let size = ScratchSize::new().array::<f64>(1000);
/// let enough = Scratch::with_size(&stream, size)?;
/// assert_eq!(enough.bytes(), size.bytes());
/// let own = Scratch::from_buffer(&stream, device.alloc(size.words())?)?;
/// assert_eq!(own.into_buffer().len(), size.words());
/// # Ok::<(), gpu_core::Error>(())
/// ```
#[derive(Debug)]
pub struct Scratch {
    stream: Stream,
    memory: Buffer<u128>,
    /// How it is divided: tickets, zeros, and the rest behind them.
    size: ScratchSize,
    /// How many words of the tickets launches have used since they were zero, if that is known.
    used: Option<usize>,
    /// Whether the zeros are.
    is_zero: bool,
    grows: bool,
    /// The last capture with a call that used it. What the graph's launches leave there is not known from then on.
    captured: Option<u64>,
    /// Calls that need more bytes have memory of their own.
    most: usize,
}

impl Scratch {
    /// Scratch memory on `stream` that has none yet.
    pub fn new(stream: &Stream) -> Self {
        let memory = Buffer::allocate(stream.device(), 0, false).expect("no memory is allocated");
        Self {
            stream: stream.clone(),
            memory,
            size: ScratchSize::new(),
            used: None,
            is_zero: false,
            grows: true,
            captured: None,
            most: usize::MAX,
        }
    }

    pub(crate) fn memory(&self) -> &Buffer<u128> {
        &self.memory
    }

    /// Scratch memory on `stream` that has enough for calls of that size.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; those of the driver.
    pub fn with_size(stream: &Stream, size: ScratchSize) -> Result<Self> {
        let mut scratch = Self::new(stream);
        scratch.make_room("call", size)?;
        scratch.clear(size)?;
        Ok(scratch)
    }

    /// The same with no more than it has now: [`Error::ScratchTooSmall`] where a call would allocate.
    #[must_use]
    pub fn fixed(self) -> Self {
        Self { grows: false, ..self }
    }

    /// Scratch memory on `stream` in memory that the caller brings; [fixed](Scratch::fixed).
    ///
    /// # Errors
    /// [`Error::WrongDevice`].
    pub fn from_buffer(stream: &Stream, buffer: Buffer<u128>) -> Result<Self> {
        stream.expect("scratch memory", buffer.device())?;
        Ok(Self { memory: buffer, grows: false, ..Self::new(stream) })
    }

    /// The memory.
    pub fn into_buffer(self) -> Buffer<u128> {
        self.memory
    }

    /// The stream that it belongs to.
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// Bytes that it has now.
    pub fn bytes(&self) -> usize {
        self.memory.bytes()
    }

    /// Whether a call on `stream` that needs so much can use it; `what` is the call's name in the error. For those who
    /// write primitives: checks come before anything is enqueued.
    ///
    /// # Errors
    /// [`Error::ScratchOfOtherStream`]; [`Error::ScratchTooSmall`] where it does not grow.
    pub fn expect(&self, stream: &Stream, what: &'static str, size: ScratchSize) -> Result<()> {
        if self.stream != *stream {
            return Err(Error::ScratchOfOtherStream { what });
        }
        if !self.grows && size.bytes() > self.bytes() {
            return Err(Error::ScratchTooSmall { what, expected: size.bytes(), actual: self.bytes() });
        }
        Ok(())
    }

    /// Lends its memory to `enqueue`, which enqueues kernels on [its stream](Scratch::stream) that use it as
    /// [`ScratchSize`] says. For those who write primitives.
    ///
    /// Where there is enough, and the launches before did not fail, that is no call of the driver.
    ///
    /// # Errors
    /// That of `enqueue`, behind which what has to be zero is cleared; [`Error::ScratchTooSmall`] where it does not grow;
    /// [`Error::OutOfMemory`]; those of the driver.
    pub fn lend<R>(
        &mut self,
        what: &'static str,
        size: ScratchSize,
        enqueue: impl FnOnce(Parts<'_>) -> Result<R>,
    ) -> Result<R> {
        let (mut enqueue, mut result) = (Some(enqueue), None);
        self.lend_to(what, size, &mut |parts| {
            let enqueue = enqueue.take().expect("it is called once");
            result = Some(enqueue(parts)?);
            Ok(())
        })?;
        Ok(result.expect("what did not fail was called"))
    }

    /// The same for all kinds of results, so that it is not compiled for each.
    fn lend_to(
        &mut self,
        what: &'static str,
        size: ScratchSize,
        enqueue: &mut dyn FnMut(Parts<'_>) -> Result<()>,
    ) -> Result<()> {
        // What is much has memory of its own, but for what has to be zero.
        let mut own = None;
        let size = if size.bytes() <= self.most {
            size
        } else if size.kept_bytes() <= self.most {
            own = Some(self.stream.device().alloc(size.rest / WORD)?);
            ScratchSize { rest: 0, ..size }
        } else {
            return Self::new(&self.stream).lend_to(what, size, enqueue);
        };
        self.make_room(what, size)?;
        let capture = capture::number(&self.stream);
        if self.captured != capture {
            // A graph may have run since the last call, and what a capture was to clear is not cleared yet. Within one
            // capture it is known again.
            (self.used, self.is_zero) = (None, false);
            self.captured = capture.or(self.captured);
        }
        let used = self.clear(size)?;
        // Unless it succeeds, nobody knows what is left there.
        if size.tickets > 0 {
            self.used = None;
        }
        self.is_zero &= size.zeros == 0;
        let (tickets, kept) = (self.size.ticket_bytes() / WORD, self.size.kept_bytes() / WORD);
        let mut memory = self.memory.view_mut();
        let first = memory.as_global_mut();
        enqueue(Parts {
            tickets: first.cast(),
            ticket_words: self.size.tickets as u64,
            zeros: first.offset(tickets as u64).cast(),
            rest: Some(match &mut own {
                Some(own) => own.view_mut(),
                None => memory.into_slice(kept..),
            }),
        })?;
        self.used = used;
        self.is_zero |= size.zeros > 0;
        Ok(())
    }

    /// Divides it so that each part is as large as that of `size`.
    fn make_room(&mut self, what: &'static str, size: ScratchSize) -> Result<()> {
        if self.size.holds(size) {
            return Ok(());
        }
        let both = self.size.max(size);
        let has = self.bytes();
        if both.bytes() <= has {
            self.size = both;
        } else if !self.grows {
            if size.bytes() > has {
                return Err(Error::ScratchTooSmall { what, expected: size.bytes(), actual: has });
            }
            self.size = size;
        } else {
            // What is there is given back first, so that both need not fit.
            let stream = self.stream.clone();
            *self = Self { most: self.most, ..Self::new(&stream) };
            self.memory = stream.device().alloc(both.words())?;
            self.size = both;
        }
        (self.used, self.is_zero) = (None, false);
        Ok(())
    }

    /// Clears what launches of `size` need to be zero and is not, and returns how many words of the tickets are used then.
    fn clear(&mut self, size: ScratchSize) -> Result<Option<usize>> {
        let (tickets, kept) = (self.size.ticket_bytes() / WORD, self.size.kept_bytes() / WORD);
        let own = if size.is_own { size.tickets } else { self.size.tickets };
        let are_tickets_left = size.tickets > 0 && self.used.is_none_or(|used| used > own);
        let are_zeros_left = size.zeros > 0 && !self.is_zero;
        if are_tickets_left || are_zeros_left {
            let from = if are_tickets_left { 0 } else { tickets };
            let to = if are_zeros_left { kept } else { tickets };
            self.stream.memset(self.memory.slice_mut(from..to), 0)?;
        }
        if are_tickets_left {
            self.used = Some(0);
        }
        self.is_zero |= are_zeros_left;
        Ok(if size.tickets > 0 { self.used.map(|used| used.max(own)) } else { self.used })
    }
}
