//! CUDA events.

use core::any::Any;
use core::ptr;
use std::sync::{Arc, Mutex, PoisonError};

use cuda_shim::{self as sys, CUevent, CUstream};

use super::context::Context;
use super::stream::done;
use crate::backend::Mark;
use crate::error::Result;
use crate::order::Point;

/// Events of a context that are not in use: making one takes the driver about a microsecond, which would be between a
/// launch and the mark behind it. Recording an event anew does not change what streams already wait for.
#[derive(Default)]
pub(super) struct Spares(Mutex<Vec<Raw>>);

/// An event of the driver.
#[derive(Clone, Copy)]
struct Raw(CUevent);

// SAFETY: the driver's events may be used from any thread.
unsafe impl Send for Raw {}

impl Spares {
    fn take(&self) -> Option<CUevent> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop().map(|Raw(event)| event)
    }

    fn give_back(&self, event: CUevent) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(Raw(event));
    }
}

/// An event with timing, recorded once.
pub(crate) struct Event {
    raw: CUevent,
    context: Arc<Context>,
    /// What a stream that waits for it comes after, where there is more than one.
    pub(super) point: Option<Box<Point>>,
}

// SAFETY: the driver's events may be used from any thread.
unsafe impl Send for Event {}
// SAFETY: as above; the driver locks for itself.
unsafe impl Sync for Event {}

impl Event {
    /// A new event at this point of a stream of the context.
    pub(super) fn record(context: &Arc<Context>, stream: CUstream) -> Result<Self> {
        context.enter()?;
        let raw = match context.events.take() {
            Some(spare) => spare,
            None => {
                let mut raw = ptr::null_mut();
                context.check("cuEventCreate", sys::cuEventCreate(&mut raw, sys::CU_EVENT_DEFAULT))?;
                raw
            }
        };
        let event = Self { raw, context: Arc::clone(context), point: None };
        // SAFETY: event and stream are alive and of one context.
        context.check("cuEventRecord", unsafe { sys::cuEventRecord(raw, stream) })?;
        Ok(event)
    }

    pub(super) fn raw(&self) -> CUevent {
        self.raw
    }

    /// Where its stream runs.
    pub(super) fn context(&self) -> &Arc<Context> {
        &self.context
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // Contexts stay until the process ends, and their events with them.
        self.context.events.give_back(self.raw);
    }
}

impl Mark for Event {
    fn synchronize(&self) -> Result<()> {
        self.context.enter()?;
        // SAFETY: the event is alive.
        self.context.check("cuEventSynchronize", unsafe { sys::cuEventSynchronize(self.raw) })
    }

    fn is_done(&self) -> Result<bool> {
        self.context.enter()?;
        // SAFETY: the event is alive.
        done(&self.context, "cuEventQuery", unsafe { sys::cuEventQuery(self.raw) })
    }

    #[cfg(feature = "async")]
    fn ring(&self, bell: Arc<crate::wait::Bell>) -> Result<()> {
        super::waits::ring(&self.context, self.raw, bell)
    }

    fn elapsed_ms(&self, earlier: &dyn Mark) -> Result<f32> {
        let mark: &dyn Any = earlier;
        let Some(first) = mark.downcast_ref::<Self>() else {
            unreachable!("marks of one device are of one type")
        };
        first.synchronize()?;
        self.synchronize()?;
        let mut milliseconds = 0.0_f32;
        // SAFETY: both events are alive, recorded and of one context.
        let outcome = unsafe { sys::cuEventElapsedTime(&mut milliseconds, first.raw, self.raw) };
        self.context.check("cuEventElapsedTime", outcome)?;
        Ok(milliseconds)
    }
}
