//! Waiting without a thread: futures of events, streams and transfers.
//!
//! A future asks whether the stream has come to its point, as [`Event::is_done`] does, and where it has not leaves a
//! bell there that wakes its task. Nothing here knows an executor.

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use std::sync::{Arc, Mutex, PoisonError};

use crate::backend::Mark;
use crate::buffer::Buffer;
use crate::device::Device;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::graph::capture;
use crate::pinned::Pinned;
use crate::stream::Stream;
use crate::transfer::Transfer;

/// Wakes the task that waits for a point of a stream.
pub(crate) struct Bell(Mutex<State>);

struct State {
    waker: Option<Waker>,
    rung: bool,
}

impl Bell {
    fn new(waker: &Waker) -> Arc<Self> {
        Arc::new(Self(Mutex::new(State { waker: Some(waker.clone()), rung: false })))
    }

    /// Wakes the task, if there still is one. What a waker does is not known, so no lock is held meanwhile.
    pub(crate) fn ring(&self) {
        let waker = {
            let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            state.rung = true;
            state.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// From now on it wakes this task; whether it has yet to ring.
    fn wakes(&self, waker: &Waker) -> bool {
        // Dropped when the lock is not held any more.
        let _before;
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if state.rung {
            return false;
        }
        if state.waker.as_ref().is_none_or(|known| !known.will_wake(waker)) {
            _before = state.waker.replace(waker.clone());
        }
        true
    }

    /// From now on it wakes nobody.
    fn silence(&self) {
        let waker = self.0.lock().unwrap_or_else(PoisonError::into_inner).waker.take();
        drop(waker);
    }
}

/// The future of [`Stream::synchronize_async`] and [`Event::synchronize_async`].
///
/// Dropping it ends the wait and nothing else: the work goes on.
#[must_use = "a future does nothing before it is awaited"]
pub struct Synchronized {
    device: Device,
    point: core::result::Result<Arc<dyn Mark>, Option<Error>>,
    bell: Option<Arc<Bell>>,
}

impl Synchronized {
    fn new(device: &Device, point: Result<Arc<dyn Mark>>) -> Self {
        Self { device: device.clone(), point: point.map_err(Some), bell: None }
    }
}

impl Future for Synchronized {
    type Output = Result<()>;

    /// # Panics
    /// When it is asked again after it gave the error of its beginning.
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        let this = &mut *self;
        let mark = match &mut this.point {
            Ok(mark) => mark,
            Err(error) => return Poll::Ready(Err(error.take().expect("a future is done once"))),
        };
        capture::refuse(&this.device, "a wait for an event")?;
        // Before the question: where the work ends behind it, the bell wakes this task.
        let waits = this.bell.as_ref().is_some_and(|bell| bell.wakes(context.waker()));
        if mark.is_done()? {
            this.bell = None;
            return Poll::Ready(Ok(()));
        }
        if !waits {
            let bell = Bell::new(context.waker());
            this.bell = Some(Arc::clone(&bell));
            mark.ring(bell)?;
        }
        Poll::Pending
    }
}

impl Drop for Synchronized {
    fn drop(&mut self) {
        if let Some(bell) = &self.bell {
            bell.silence();
        }
    }
}

impl fmt::Debug for Synchronized {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Synchronized({})", self.device)
    }
}

impl Event {
    /// [`synchronize`](Event::synchronize) as a future, which is done when the stream has come here. It holds no borrow
    /// and needs no particular executor. With the feature `async`.
    ///
    /// On CUDA the driver calls back when the event has come, on a stream of its own: other work does not wait for it.
    /// A thread that waits for those calls wakes the tasks. On the CPU and in the simulator the future is done when it
    /// is first asked.
    ///
    /// # Errors
    /// The future gives a fault in a kernel that ran meanwhile, and
    /// [`Error::NotCapturable`](crate::Error::NotCapturable) where it is made or asked by a thread that captures a
    /// stream of the device, whose capture it fails.
    pub fn synchronize_async(&self) -> Synchronized {
        let refused = capture::refuse(self.device(), "a wait for an event");
        Synchronized::new(self.device(), refused.map(|()| self.shared()))
    }
}

impl Stream {
    /// [`synchronize`](Stream::synchronize) as a future: done when everything enqueued before this call has ended. What
    /// is enqueued later is not waited for. With the feature `async`.
    ///
    /// ```
    /// # use std::{future::Future, pin::pin, sync::Arc, task::{Context, Poll, Wake, Waker}, thread};
    /// # struct Unpark(thread::Thread);
    /// # impl Wake for Unpark {
    /// #     fn wake(self: Arc<Self>) { self.0.unpark(); }
    /// # }
    /// # // As every executor has it.
    /// # fn block_on<F: Future>(future: F) -> F::Output {
    /// #     let waker = Waker::from(Arc::new(Unpark(thread::current())));
    /// #     let mut future = pin!(future);
    /// #     loop {
    /// #         match future.as_mut().poll(&mut Context::from_waker(&waker)) {
    /// #             Poll::Ready(output) => return output,
    /// #             Poll::Pending => thread::park(),
    /// #         }
    /// #     }
    /// # }
    /// async fn ones(stream: &gpu_core::Stream) -> gpu_core::Result<Vec<u32>> {
    ///     let mut numbers = stream.device().alloc(3)?;
    ///     stream.memset(&mut numbers, 0xff)?;
    ///     // The executor does something else ...
    ///     stream.synchronize_async().await?;
    ///     // ... and nothing is left to wait for.
    ///     numbers.to_vec()
    /// }
    ///
    /// # let device = gpu_core::Device::best();
    /// let stream = device.stream()?;
    /// assert_eq!(block_on(ones(&stream))?, [u32::MAX; 3]);
    /// # Ok::<(), gpu_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Stream::record`] and of [`Event::synchronize_async`], from the future.
    pub fn synchronize_async(&self) -> Synchronized {
        let refused = capture::refuse(self.device(), "a wait for a stream");
        Synchronized::new(self.device(), refused.and_then(|()| self.record()).map(|event| event.shared()))
    }
}

/// The future of [`Transfer::wait_async`].
///
/// Dropping it before it is done waits, as dropping the transfer does.
#[must_use = "dropping it waits at once"]
pub struct Transferred<T: Element> {
    end: Synchronized,
    transfer: Option<Transfer<T>>,
}

impl<T: Element> Transfer<T> {
    /// [`wait`](Transfer::wait) as a future, which gives back what the transfer used. With the feature `async`.
    ///
    /// # Errors
    /// As [`Transfer::wait`] and [`Event::synchronize_async`], from the future: then both are freed.
    pub fn wait_async(self) -> Transferred<T> {
        Transferred { end: self.end().synchronize_async(), transfer: Some(self) }
    }
}

// Nothing of it is pinned.
impl<T: Element> Unpin for Transferred<T> {}

impl<T: Element> Future for Transferred<T> {
    type Output = Result<(Pinned<T>, Buffer<T>)>;

    /// # Panics
    /// When it is asked again after it was done.
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Poll::Ready(ended) = Pin::new(&mut self.end).poll(context) else { return Poll::Pending };
        let transfer = self.transfer.take().expect("a future is done once");
        Poll::Ready(ended.and_then(|()| transfer.wait()))
    }
}

impl<T: Element> fmt::Debug for Transferred<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Transferred").field(&self.transfer).finish()
    }
}
