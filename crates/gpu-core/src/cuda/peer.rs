//! Copies between devices. A stream that makes one is a guest in the order of the other device's streams: work there
//! waits for it, and it for them, as among streams of one device. The driver lets a stream wait for any device's
//! events.

use std::sync::{Arc, Mutex, PoisonError};

use cuda_shim as sys;

use super::attributes::reaches;
use super::context::Context;
use super::stream::{Line, Queue};
use crate::backend::{Backend, Place};
use crate::error::Result;
use crate::order::Id;

/// The devices with which a device was connected, by their numbers.
#[derive(Default)]
pub(super) struct Peers(Mutex<Vec<usize>>);

/// The devices where a stream is a guest, with its number in their orders.
#[derive(Default)]
pub(super) struct Guests(Mutex<Vec<(Arc<Context>, Id)>>);

impl Guests {
    /// The number in the order of a device, where a stream of `home` becomes a guest with its first copy.
    fn id(&self, queue: &Queue, peer: &Arc<Context>) -> Id {
        let mut guests = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&(_, id)) = guests.iter().find(|(context, _)| Arc::ptr_eq(context, peer)) {
            return id;
        }
        // The default stream there is not ordered with it.
        let line = Line::guest(queue.raw(), &queue.context);
        let id = peer.order.add_stream(peer, line, false);
        guests.push((Arc::clone(peer), id));
        id
    }

    /// The number in the order of a device, where the stream is a guest there.
    pub(super) fn known(&self, peer: &Arc<Context>) -> Option<Id> {
        let guests = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        guests.iter().find(|(context, _)| Arc::ptr_eq(context, peer)).map(|&(_, id)| id)
    }

    /// The stream is about to be destroyed.
    pub(super) fn leave(&mut self) {
        let guests = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        for (context, id) in guests.drain(..) {
            context.order.remove_stream(&context, id);
        }
    }
}

impl Context {
    /// Lets two devices reach each other's memory, as far as the hardware can. Copies work without: the driver then
    /// takes them through the host's memory. Asked once.
    fn connect(&self, other: &Self) -> Result<()> {
        let mut peers = self.peers.0.lock().unwrap_or_else(PoisonError::into_inner);
        if peers.contains(&other.ordinal) {
            return Ok(());
        }
        for (from, to) in [(self, other), (other, self)] {
            if !reaches(from.device, to.device) {
                continue;
            }
            from.enter()?;
            // Somebody else may have done so before. Where there is no room for one more, the host is the way.
            // SAFETY: the context is retained.
            let _ = unsafe { sys::cuCtxEnablePeerAccess(to.raw(), 0) };
            if let Some(pool) = to.pool {
                let _ = pool.open_to(from.device);
            }
        }
        peers.push(other.ordinal);
        Ok(())
    }
}

/// The context of a CUDA device.
pub(super) fn context(backend: &Arc<dyn Backend>) -> &Context {
    let backend: &dyn core::any::Any = &**backend;
    backend.downcast_ref().expect("devices of one kind are of one type")
}

/// A device and the addresses there that work uses, each with whether it is written.
pub(super) type Used<'a> = (&'a Context, &'a [(u64, bool)]);

impl Queue {
    /// Lets copies between its device and another go straight where they can.
    pub(super) fn connect(&self, peer: &Arc<dyn Backend>) -> Result<()> {
        self.context.connect(context(peer))
    }

    /// Enqueues work that uses memory of several devices, in the order of the streams of each.
    pub(super) fn ordered_on_each(
        &self,
        uses: &[Used<'_>],
        work: &mut dyn FnMut() -> Result<()>,
    ) -> Result<()> {
        let (Some(id), Some((&(device, used), rest))) = (self.id, uses.split_first()) else {
            // Waiting for other devices' streams has left their contexts current.
            self.context.enter()?;
            return work();
        };
        let device = device.itself();
        let id = if Arc::ptr_eq(&device, &self.context) { id } else { self.guests.id(self, &device) };
        let uses = |to: &mut dyn FnMut(u64, bool)| used.iter().for_each(|&(at, write)| to(at, write));
        device.order.run(&device, id, &uses, || self.ordered_on_each(rest, work))
    }

    /// # Safety
    /// Each place has that many bytes of live memory, and one of the devices is this stream's.
    pub(super) unsafe fn copy_between(
        &self,
        (to, target): Place<'_>,
        (from, source): Place<'_>,
        bytes: usize,
    ) -> Result<()> {
        let (to, from) = (context(to), context(from));
        to.connect(from)?;
        self.ordered_on_each(&[(to, &[(target, true)]), (from, &[(source, false)])], &mut || {
            // SAFETY: the caller's promise; the contexts are those of the addresses and stay until the process ends.
            let outcome =
                unsafe { sys::cuMemcpyPeerAsync(target, to.raw(), source, from.raw(), bytes, self.raw()) };
            self.context.check("cuMemcpyPeerAsync", outcome)
        })
    }
}
