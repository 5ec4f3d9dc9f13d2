//! Scratch memory: what primitives need on the way.

use core::mem::size_of;
use std::sync::{Mutex, TryLockError};

use gpu_std::memory::GlobalMut;

use crate::buffer::Buffer;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::graph::capture;
use crate::stream::Stream;
use crate::view::ViewMut;

/// Parts and arrays begin at multiples of so many bytes, as allocations do.
const GRAIN: usize = 256;
/// A word of the memory.
const WORD: usize = size_of::<u128>();

/// How much scratch memory calls need, by what it has to hold when they are made.
///
/// The functions named `…_scratch` give that of a primitive, [`ScratchSize::max`] that of several, one after the other.
///
/// ```
/// use gpu_core::ScratchSize;
/// let size = ScratchSize::new().zeros(10).array::<f32>(1000);
/// assert_eq!(size.bytes(), 256 + 4096);
/// assert_eq!(size.max(ScratchSize::new().array::<u8>(5000)).bytes(), 256 + 5120);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScratchSize {
    /// Words of 64 bits.
    tickets: usize,
    /// Whether a launch knows only of its own tickets.
    is_own: bool,
    /// Words of 64 bits.
    zeros: usize,
    /// Bytes, a multiple of the grain.
    rest: usize,
}

impl ScratchSize {
    /// Nothing.
    pub const fn new() -> Self {
        Self { tickets: 0, is_own: false, zeros: 0, rest: 0 }
    }

    /// With words of 64 bits that are zero before every launch and that every launch leaves so.
    #[must_use]
    pub const fn zeros(self, words: usize) -> Self {
        Self { zeros: words, ..self }
    }

    /// With words of 64 bits in which blocks meet as `gpu_collective::grid` says: zero at first, and left by every launch
    /// to the next one, of whatever kernel. The launch is told how many words there are, [`Parts::ticket_words`]: all of
    /// them have to be cleared when it has run 2^32 times.
    #[must_use]
    pub const fn tickets(self, words: usize) -> Self {
        Self { tickets: words, is_own: false, ..self }
    }

    /// As [`ScratchSize::tickets`] for a kernel that is not told how many words there are, and clears as many as it uses
    /// itself: where a launch before has used more, they are cleared in front of it.
    #[must_use]
    pub const fn own_tickets(self, words: usize) -> Self {
        Self { tickets: words, is_own: true, ..self }
    }

    /// With an array of `len` elements of any content, behind those so far.
    #[must_use]
    pub const fn array<T>(self, len: usize) -> Self {
        Self { rest: self.rest.saturating_add(grains(len.saturating_mul(size_of::<T>()))), ..self }
    }

    /// With what `other` has at the same time: its arrays lie behind those so far.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self { rest: self.rest.saturating_add(other.rest), ..self.max(other) }
    }

    /// Enough for both, one after the other.
    #[must_use]
    pub const fn max(self, other: Self) -> Self {
        const fn larger(a: usize, b: usize) -> usize {
            if a > b { a } else { b }
        }
        Self {
            tickets: larger(self.tickets, other.tickets),
            is_own: self.is_own && other.is_own,
            zeros: larger(self.zeros, other.zeros),
            rest: larger(self.rest, other.rest),
        }
    }

    /// Bytes in all: a multiple of 256.
    pub const fn bytes(self) -> usize {
        self.kept_bytes().saturating_add(self.rest)
    }

    /// As the length of a buffer of `u128`: see [`Scratch::from_buffer`].
    pub const fn words(self) -> usize {
        self.bytes().div_ceil(WORD)
    }

    /// Bytes of the tickets.
    const fn ticket_bytes(self) -> usize {
        grains(self.tickets.saturating_mul(size_of::<u64>()))
    }

    /// Bytes of the tickets and of the zeros behind them.
    const fn kept_bytes(self) -> usize {
        self.ticket_bytes().saturating_add(grains(self.zeros.saturating_mul(size_of::<u64>())))
    }

    /// Whether each part is as large as `other`'s.
    const fn holds(self, other: Self) -> bool {
        self.tickets >= other.tickets && self.zeros >= other.zeros && self.rest >= other.rest
    }
}

/// As many bytes, up to the next multiple of the grain.
const fn grains(bytes: usize) -> usize {
    bytes.div_ceil(GRAIN).saturating_mul(GRAIN)
}

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

/// The most bytes of a call that a device keeps: see [`Scratch::kept`].
const MOST_KEPT: usize = 1 << 20;

/// What a call has of scratch memory: see [`Scratch::lend`].
pub struct Parts<'a> {
    /// See [`ScratchSize::tickets`].
    pub tickets: GlobalMut<u64>,
    /// How many of them there are, perhaps more than were asked for.
    pub ticket_words: u64,
    /// See [`ScratchSize::zeros`].
    pub zeros: GlobalMut<u64>,
    rest: Option<ViewMut<'a, u128>>,
}

impl<'a> Parts<'a> {
    /// The next of the arrays that were asked for, of any content.
    ///
    /// # Panics
    /// Where there is no more room: it was not asked for ([`ScratchSize::array`]).
    #[track_caller]
    pub fn array<T: Element>(&mut self, len: usize) -> ViewMut<'a, T> {
        let words = grains(len * size_of::<T>()) / WORD;
        let rest = self.rest.take().expect("it is put back below");
        if words == 0 {
            // Not where the memory may end: another buffer may begin there.
            let device = rest.device();
            self.rest = Some(rest);
            // SAFETY: it has no bytes.
            return unsafe { ViewMut::from_parts(device, self.tickets.address(), 0) };
        }
        let (array, rest) = rest.try_split_at(words).unwrap_or_else(|error| panic!("{error}"));
        self.rest = Some(rest);
        array.cast().into_slice(..len)
    }
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
        // What is much has memory of its own, but for what has to be zero.
        let mut own = None;
        let size = if size.bytes() <= self.most {
            size
        } else if size.kept_bytes() <= self.most {
            own = Some(self.stream.device().alloc(size.rest / WORD)?);
            ScratchSize { rest: 0, ..size }
        } else {
            return Self::new(&self.stream).lend(what, size, enqueue);
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
        let result = enqueue(Parts {
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
        Ok(result)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Device;

    fn devices() -> impl Iterator<Item = Device> {
        [Device::cpu(), Device::simulator()].into_iter()
    }

    /// The kept words of a call that writes `value` to all of them.
    fn call(scratch: &mut Scratch, size: ScratchSize, value: u8) -> (Vec<u64>, Vec<u64>) {
        let mut address = 0;
        scratch
            .lend("test", size, |parts| {
                address = parts.tickets.address();
                Ok(())
            })
            .unwrap();
        let first = scratch.memory.view().as_global().address();
        assert_eq!(address, first);
        let kept = scratch.size.kept_bytes() / WORD;
        let mut words = vec![0u64; 2 * kept];
        let view = scratch.memory.slice(..kept);
        view.cast::<u64>().copy_to(&mut words).unwrap();
        let zeros = words.split_off(scratch.size.ticket_bytes() / 8);
        let stream = scratch.stream.clone();
        stream.memset(scratch.memory.slice_mut(..kept), value).unwrap();
        words.truncate(scratch.size.tickets);
        (words, zeros[..scratch.size.zeros].to_vec())
    }

    #[test]
    fn it_grows_to_what_every_call_needs_and_no_further() {
        for device in devices() {
            let mut scratch = Scratch::new(&device.stream().unwrap());
            let (small, large) = (ScratchSize::new().array::<u8>(3), ScratchSize::new().array::<u64>(999));
            for (size, bytes) in [(small, 256), (large, 8192), (small, 8192), (large.zeros(1), 8448)] {
                scratch.lend("test", size, |_| Ok(())).unwrap();
                assert_eq!(scratch.bytes(), bytes, "{device}");
            }
        }
    }

    #[test]
    fn arrays_lie_one_behind_the_other() {
        for device in devices() {
            let mut scratch = Scratch::new(&device.stream().unwrap());
            let size =
                ScratchSize::new().tickets(3).zeros(40).array::<u8>(5).array::<f64>(33).array::<u128>(0);
            scratch
                .lend("test", size, |mut parts| {
                    let base = parts.tickets.address();
                    let (mut bytes, mut numbers, none) =
                        (parts.array::<u8>(5), parts.array::<f64>(33), parts.array::<u128>(0));
                    assert_eq!((bytes.len(), numbers.len(), none.len()), (5, 33, 0));
                    let places = [parts.zeros.address(), bytes.as_global_mut().address()];
                    assert_eq!(places.map(|place| place - base), [256, 256 + 512]);
                    assert_eq!(numbers.as_global_mut().address() - base, 256 + 512 + 256);
                    Ok(())
                })
                .unwrap();
            assert_eq!(scratch.bytes(), 256 + 512 + 256 + 512);
        }
    }

    #[test]
    #[should_panic(expected = "the range")]
    fn no_array_that_was_not_asked_for() {
        let stream = Device::cpu().default_stream();
        let size = ScratchSize::new().array::<u8>(256);
        let _ = Scratch::new(&stream).lend("test", size, |mut parts| {
            parts.array::<u8>(1);
            parts.array::<u8>(1);
            Ok(())
        });
    }

    #[test]
    fn what_has_to_be_zero_is_cleared_once_and_behind_a_failure() {
        for device in devices() {
            let mut scratch = Scratch::new(&device.stream().unwrap());
            let size = ScratchSize::new().tickets(4).zeros(3);
            assert_eq!(call(&mut scratch, size, 0), (vec![0; 4], vec![0; 3]));
            // Nothing is cleared: tickets are as the launch left them, and a launch that leaves zeros is trusted.
            call(&mut scratch, size, 1);
            let ones = u64::from_ne_bytes([1; 8]);
            assert_eq!(call(&mut scratch, size, 1), (vec![ones; 4], vec![ones; 3]));
            let failed: Result<()> = scratch.lend("test", ScratchSize::new().zeros(3), |_| {
                Err(Error::Empty { what: "launch that fails" })
            });
            assert!(failed.is_err());
            assert_eq!(call(&mut scratch, size, 2), (vec![ones; 4], vec![0; 3]), "{device}");
            let _: Result<()> = scratch.lend("test", size, |_| Err(Error::Empty { what: "other" }));
            assert_eq!(call(&mut scratch, size, 3), (vec![0; 4], vec![0; 3]), "{device}");
            // More of one part: all of it is new.
            assert_eq!(call(&mut scratch, size.zeros(1000), 4), (vec![0; 4], vec![0; 1000]), "{device}");
        }
    }

    #[test]
    fn tickets_are_cleared_for_a_kernel_that_would_leave_some() {
        let mut scratch = Scratch::new(&Device::simulator().default_stream());
        let fours = u64::from_ne_bytes([4; 8]);
        let own = |words| ScratchSize::new().own_tickets(words);
        assert_eq!(call(&mut scratch, own(100), 4).0, [0; 100]);
        assert_eq!(call(&mut scratch, own(100), 4).0, [fours; 100]);
        // Fewer of them: once.
        assert_eq!(call(&mut scratch, own(50), 4).0, [0; 100]);
        assert_eq!(call(&mut scratch, own(50), 4).0, [fours; 100]);
        assert_eq!(call(&mut scratch, own(70), 4).0, [fours; 100]);
        assert_eq!(call(&mut scratch, own(50), 4).0, [0; 100]);
        // All that there are, whatever the kernel uses of them.
        assert_eq!(call(&mut scratch, ScratchSize::new().tickets(1), 4).0, [fours; 100]);
        assert_eq!(call(&mut scratch, own(99), 4).0, [0; 100]);
    }

    #[test]
    fn memory_that_is_brought_does_not_grow_but_is_divided_anew() {
        for device in devices() {
            let (stream, other) = (device.stream().unwrap(), device.stream().unwrap());
            let (zeros, array) = (ScratchSize::new().zeros(32), ScratchSize::new().array::<u32>(65));
            let mut scratch = Scratch::from_buffer(&stream, device.alloc(array.words()).unwrap()).unwrap();
            assert_eq!(call(&mut scratch, zeros, 1).1, [0; 32]);
            scratch.lend("test", array, |mut parts| Ok(parts.array::<u32>(65).len())).unwrap();
            assert_eq!(call(&mut scratch, zeros, 1).1, [0; 32]);
            let both = zeros.max(array);
            let expected = |error: &Error| {
                matches!(error, Error::ScratchTooSmall { what: "test", expected: 768, actual: 512 })
            };
            let error = scratch.expect(&stream, "test", both).unwrap_err();
            assert!(expected(&error), "{error}");
            let error = scratch.lend("test", both, |_| Ok(())).unwrap_err();
            assert!(expected(&error), "{error}");
            let error = scratch.expect(&other, "test", zeros).unwrap_err();
            assert!(matches!(error, Error::ScratchOfOtherStream { what: "test" }), "{error}");
        }
        let elsewhere = Device::simulator().alloc(16).unwrap();
        let error = Scratch::from_buffer(&Device::cpu().default_stream(), elsewhere).unwrap_err();
        assert!(matches!(error, Error::WrongDevice { .. }), "{error}");
    }

    #[test]
    fn more_than_there_is_is_an_error() {
        let stream = Device::cpu().default_stream();
        let size = ScratchSize::new().array::<u64>(usize::MAX).array::<u64>(usize::MAX).zeros(usize::MAX);
        assert!(matches!(Scratch::with_size(&stream, size), Err(Error::OutOfMemory { .. })));
    }
}
