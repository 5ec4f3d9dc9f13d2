//! What a thread captures: work that is recorded in place of being enqueued.
//!
//! Nothing reaches the device meanwhile, whatever the backend. So there is nothing to undo where a capture fails or
//! panics, and what other threads do at the same time is as always.

use core::cell::{Cell, RefCell};
use core::sync::atomic::{AtomicU64, Ordering};

use gpu_std::launch::Invocation;

use super::work::{Launch, Work};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::stream::Stream;

thread_local! {
    /// Whether this thread captures: what every call asks first.
    static ACTIVE: Cell<bool> = const { Cell::new(false) };
    static RECORDING: RefCell<Option<Recording>> = const { RefCell::new(None) };
}

/// The number of the next buffer or capture: which of them was there first.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// A number that is larger than all before.
pub(crate) fn next_number() -> u64 {
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// An allocation that work uses.
#[derive(Clone, Debug)]
pub(crate) struct Use {
    pub(crate) device: Device,
    /// Where the allocation begins.
    pub(crate) start: u64,
    pub(crate) write: bool,
    /// The first work that does.
    pub(crate) by: &'static str,
}

/// What was captured so far.
struct Recording {
    stream: Stream,
    number: u64,
    work: Vec<Work>,
    uses: Vec<Use>,
    /// The first that could not be captured: it fails the capture also where its caller took no notice.
    refused: Option<&'static str>,
}

/// What was captured, by the capture of this number.
pub(crate) struct Captured {
    pub(crate) number: u64,
    pub(crate) work: Vec<Work>,
    pub(crate) uses: Vec<Use>,
}

/// Ends the capture whatever happens.
struct End;

impl Drop for End {
    fn drop(&mut self) {
        ACTIVE.set(false);
        drop(take());
    }
}

fn take() -> Option<Recording> {
    RECORDING.with_borrow_mut(Option::take)
}

/// Records what `enqueue` enqueues on the stream.
pub(crate) fn capture(stream: &Stream, enqueue: &mut dyn FnMut() -> Result<()>) -> Result<Captured> {
    if ACTIVE.get() {
        return Err(refused("a capture within a capture"));
    }
    let number = next_number();
    let recording =
        Recording { stream: stream.clone(), number, work: Vec::new(), uses: Vec::new(), refused: None };
    RECORDING.set(Some(recording));
    ACTIVE.set(true);
    let end = End;
    let enqueued = enqueue();
    let recording = take();
    drop(end);
    enqueued?;
    let Some(Recording { work, uses, refused, .. }) = recording else {
        unreachable!("nothing else ends this thread's capture")
    };
    match refused {
        Some(what) => Err(Error::NotCapturable { what }),
        None => Ok(Captured { number, work, uses }),
    }
}

/// The error for what cannot be captured, which fails the capture of this thread.
#[cold]
fn refused(what: &'static str) -> Error {
    RECORDING.with_borrow_mut(|recording| {
        if let Some(recording) = recording {
            recording.refused.get_or_insert(what);
        }
    });
    Error::NotCapturable { what }
}

/// Whether this thread captures a stream of the device.
fn captures(device: &Device) -> bool {
    RECORDING.with_borrow(|recording| {
        recording.as_ref().is_some_and(|recording| recording.stream.device() == device)
    })
}

/// Refuses `what` where this thread captures a stream of the device.
///
/// # Errors
/// [`Error::NotCapturable`].
#[inline]
pub(crate) fn refuse(device: &Device, what: &'static str) -> Result<()> {
    if ACTIVE.get() && captures(device) { Err(refused(what)) } else { Ok(()) }
}

/// The number of the capture of this stream, if this thread makes one.
#[inline]
pub(crate) fn number(stream: &Stream) -> Option<u64> {
    if !ACTIVE.get() {
        return None;
    }
    RECORDING.with_borrow(|recording| {
        recording.as_ref().filter(|recording| recording.stream == *stream).map(|recording| recording.number)
    })
}

/// Records what is made by `work` if this thread captures the stream; whether it does. `uses` names the addresses that
/// it uses, each with its device and whether it is written.
#[cold]
fn record(
    stream: &Stream,
    make: impl FnOnce() -> Result<Work>,
    uses: impl FnOnce(&mut dyn FnMut(&Device, u64, bool)),
) -> Result<bool> {
    if !captures(stream.device()) {
        return Ok(false);
    }
    if number(stream).is_none() {
        return Err(refused("work on another stream"));
    }
    let work = make()?;
    let by = work.name();
    RECORDING.with_borrow_mut(|recording| {
        let Some(recording) = recording else { return };
        uses(&mut |device, address, write| {
            let Some(start) = device.backend.allocation(address) else { return };
            match recording.uses.iter_mut().find(|used| used.start == start && used.device == *device) {
                Some(used) if write && !used.write => (used.write, used.by) = (true, by),
                Some(_) => {}
                None => recording.uses.push(Use { device: device.clone(), start, write, by }),
            }
        });
        recording.work.push(work);
    });
    Ok(true)
}

/// Records a fill; whether it did.
#[inline]
pub(crate) fn fill(stream: &Stream, address: u64, bytes: usize, value: u8) -> Result<bool> {
    let make = || Ok(Work::Fill { address, bytes, value });
    Ok(ACTIVE.get() && record(stream, make, |to| to(stream.device(), address, true))?)
}

/// Records a copy within the device; whether it did.
#[inline]
pub(crate) fn copy(stream: &Stream, target: u64, source: u64, bytes: usize) -> Result<bool> {
    let make = || Ok(Work::Copy { target, source, bytes });
    let uses = |to: &mut dyn FnMut(&Device, u64, bool)| {
        to(stream.device(), target, true);
        to(stream.device(), source, false);
    };
    Ok(ACTIVE.get() && record(stream, make, uses)?)
}

/// Records a copy between the stream's device and another; whether it did.
#[inline]
pub(crate) fn copy_peer(
    stream: &Stream,
    (to, target): (&Device, u64),
    (from, source): (&Device, u64),
    bytes: usize,
) -> Result<bool> {
    let peer = if stream.device() == to { from } else { to };
    let make = || {
        // A driver connects devices before it captures.
        stream.queue.prepare_copy_peer(&peer.backend)?;
        Ok(Work::CopyPeer { target: (to.clone(), target), source: (from.clone(), source), bytes })
    };
    let uses = |name: &mut dyn FnMut(&Device, u64, bool)| {
        name(to, target, true);
        name(from, source, false);
    };
    // It is work on the peer too, of another stream than one that is captured there.
    refuse(peer, "work on another stream")?;
    Ok(ACTIVE.get() && record(stream, make, uses)?)
}

/// Records a launch; whether it did.
#[inline]
pub(crate) fn launch(stream: &Stream, invocation: &Invocation<'_>) -> Result<bool> {
    let make = || {
        // What is wrong with a launch is said where it is made, and its kernel is loaded now: a driver does not while
        // it captures.
        stream.queue.prepare(invocation)?;
        Ok(Work::Launch(Launch::new(invocation)))
    };
    let uses = |to: &mut dyn FnMut(&Device, u64, bool)| {
        invocation.addresses().for_each(|(address, write)| to(stream.device(), address, write));
    };
    Ok(ACTIVE.get() && record(stream, make, uses)?)
}
