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
fn context(backend: &Arc<dyn Backend>) -> &Context {
    let backend: &dyn core::any::Any = &**backend;
    backend.downcast_ref().expect("devices of one kind are of one type")
}

impl Queue {
    /// # Safety
    /// Each place has that many bytes of live memory, and one of the devices is this stream's.
    pub(super) unsafe fn copy_between(
        &self,
        (to, target): Place<'_>,
        (from, source): Place<'_>,
        bytes: usize,
    ) -> Result<()> {
        let (to, from) = (context(to), context(from));
        let fetches = to.ordinal == self.context.ordinal;
        let peer = if fetches { from.itself() } else { to.itself() };
        self.context.connect(&peer)?;
        let work = || {
            self.context.enter()?;
            // SAFETY: the caller's promise; the contexts are those of the addresses and stay until the process ends.
            let outcome =
                unsafe { sys::cuMemcpyPeerAsync(target, to.raw(), source, from.raw(), bytes, self.raw()) };
            self.context.check("cuMemcpyPeerAsync", outcome)
        };
        let Some(id) = self.id else { return work() };
        let (own, others) = if fetches { (target, source) } else { (source, target) };
        let own = |to: &mut dyn FnMut(u64, bool)| to(own, fetches);
        let others = |to: &mut dyn FnMut(u64, bool)| to(others, !fetches);
        let guest = self.guests.id(self, &peer);
        let there = || peer.order.run(&peer, guest, &others, work);
        self.context.order.run(&self.context, id, &own, there)
    }
}
