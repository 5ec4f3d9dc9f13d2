//! Streams and other simulators. One that copies from or to another, or waits for an event of another, is a guest there:
//! a stream of that one, that comes as far as this one does. What waits for the one waits for the other.

use core::any::Any;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use gpu_sim::{Mark, Simulator};

use super::{Device, Immediate};
use crate::backend::{Backend, Place};
use crate::error::Result;
use crate::order::Id;

/// What a stream of one simulator is on another.
pub(super) struct Guest {
    /// That stream of the other. It keeps the other's memory, as all handles do, and no device.
    pub(super) simulator: Simulator,
    device: Weak<Device>,
    /// Its number in the order there.
    pub(super) id: Id,
}

/// What a stream is on all others.
#[derive(Default)]
pub(super) struct Guests(Mutex<Vec<Arc<Guest>>>);

/// What the streams of a device are elsewhere.
#[derive(Default)]
pub(super) struct Visitors(Mutex<Vec<Arc<Guest>>>);

/// A point in a stream, on the simulators where it is a guest.
pub(super) struct Marks(Vec<(Arc<Guest>, Mark)>);

impl Guest {
    fn is_on(&self, device: &Device) -> bool {
        self.simulator.id() == device.simulator.id()
    }
}

impl Guests {
    fn with<R>(&self, look: impl FnOnce(&mut Vec<Arc<Guest>>) -> R) -> R {
        look(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Its guest there, who comes with the first copy or wait.
    fn on(&self, peer: &Arc<Device>, home: &Device) -> Arc<Guest> {
        self.with(|guests| {
            if let Some(guest) = guests.iter().find(|guest| guest.is_on(peer)) {
                return Arc::clone(guest);
            }
            let simulator = peer.simulator.stream();
            // The default stream there is not ordered with it on a device.
            let id = peer.order.add_stream(&peer.simulator, simulator.clone(), false);
            let guest = Arc::new(Guest { simulator, device: Arc::downgrade(peer), id });
            guests.push(Arc::clone(&guest));
            home.visitors.add(&guest);
            guest
        })
    }

    /// All of them.
    fn all(&self) -> Vec<Arc<Guest>> {
        self.with(|guests| guests.clone())
    }

    /// The stream is no more; its work goes on.
    pub(super) fn leave(&self) {
        for guest in self.with(core::mem::take) {
            if let Some(device) = guest.device.upgrade() {
                device.order.remove_stream(&device.simulator, guest.id);
            }
        }
    }
}

impl Visitors {
    fn add(&self, guest: &Arc<Guest>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(guest));
    }

    fn all(&self) -> Vec<Arc<Guest>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The host has waited for all of them. Those whose streams are gone have no more work.
    pub(super) fn reached(&self) {
        let mut visitors = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        visitors.iter().for_each(|guest| guest.simulator.synchronize());
        visitors.retain(|guest| Arc::strong_count(guest) > 1);
    }
}

impl Marks {
    /// The host has waited for it.
    pub(super) fn reached(&self) {
        self.0.iter().for_each(|(guest, mark)| guest.simulator.wait_on_host(mark));
    }
}

impl Immediate {
    /// What its work comes after elsewhere: its guests, and those of the streams of its device that are ordered with it
    /// anyway. The default stream is, with all.
    fn before(&self) -> Vec<Arc<Guest>> {
        let default = &self.device.guests;
        if Arc::ptr_eq(&self.guests, default) {
            return self.device.visitors.all();
        }
        let mut all = self.guests.all();
        all.extend(default.all());
        all
    }

    /// Where it is on other simulators.
    pub(super) fn elsewhere(&self) -> Marks {
        let mark = |guest: Arc<Guest>| {
            let mark = guest.simulator.record();
            (guest, mark)
        };
        Marks(self.before().into_iter().map(mark).collect())
    }

    /// Its guest there, for what it does next.
    pub(super) fn guest_on(&self, peer: &Arc<Device>) -> Arc<Guest> {
        let guest = self.guests.on(peer, &self.device);
        for other in self.before().iter().filter(|other| other.is_on(peer) && other.id != guest.id) {
            guest.simulator.wait(&other.simulator.record());
        }
        guest
    }

    /// Its later work, here and elsewhere, comes after that point of another stream.
    pub(super) fn wait_elsewhere(&self, marks: &Marks) {
        for (guest, mark) in &marks.0 {
            if guest.is_on(&self.device) {
                self.simulator.wait(mark);
            } else if let Some(peer) = guest.device.upgrade() {
                self.guest_on(&peer).simulator.wait(mark);
            }
        }
    }

    pub(super) fn copy_between(
        &self,
        (to, target): Place<'_>,
        (from, source): Place<'_>,
        bytes: usize,
    ) -> Result<()> {
        let (to, from) = (device(to), device(from));
        let fetches = Arc::ptr_eq(&to, &self.device);
        let peer = if fetches { &from } else { &to };
        let guest = self.guest_on(peer);
        let work = || {
            let (here, there) = (self.called(), &guest.simulator);
            if fetches {
                here.copy_peer(target, there, source, bytes)?;
            } else {
                let caller = super::place::place();
                let there = caller.map_or_else(|| there.clone(), |place| there.called_from(place));
                there.copy_peer(target, &here, source, bytes)?;
            }
            Ok(())
        };
        if self.id.is_none() {
            return work();
        }
        let (own, others) = if fetches { (target, source) } else { (source, target) };
        let others = |to: &mut dyn FnMut(u64, bool)| to(others, !fetches);
        self.ordered_uses(&[(own, fetches)], || peer.order.run(&peer.simulator, guest.id, &others, work))
    }
}

/// The simulator behind a device.
fn device(backend: &Arc<dyn Backend>) -> Arc<Device> {
    let backend: Arc<dyn Any + Send + Sync> = Arc::<dyn Backend>::clone(backend);
    backend.downcast().expect("devices of one kind are of one type")
}
