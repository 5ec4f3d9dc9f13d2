//! Reads of bytes that nobody has written.
//!
//! Such a read is a fault by itself. But where somebody is about to write the bytes, unordered, what is wrong is the
//! race, and its other side is what the user has to see. So the thread stays where it is, its read on record, and the
//! others go on: a write makes it a race, the end of everything else a read of never-written memory.

use std::panic::resume_unwind;

use super::access::Access;
use super::atomic::{Effect, Target};
use super::block::Status;
use super::{Caller, Engine};
use crate::fault::{Direction, FaultDetails, FaultKind, Space};

/// The payload that unwinds a thread which goes no further, while its launch goes on.
pub(crate) struct Park;

/// A fault that waits for a better explanation.
pub(crate) struct Parked {
    details: FaultDetails,
    /// Steps of the launch at which the wait ends.
    pub(crate) until: u64,
}

impl Engine {
    /// A plain read of bytes that nobody has written.
    #[cold]
    #[inline(never)]
    pub(crate) fn unwritten(
        &mut self,
        space: Space,
        address: u64,
        size: usize,
        access: Access,
        caller: Caller,
    ) -> ! {
        if self.watches_races() {
            // Some of the bytes may have been written, by somebody unordered.
            let site = self.site(caller);
            let conflict = match space {
                Space::Global => self.check_global(address, size, access, site),
                Space::Shared => self.check_shared(self.current.slot, address as usize, size, access, site),
            };
            if let Some(conflict) = conflict {
                self.raise_conflict(conflict, space, address, Direction::Read, caller);
            }
        }
        self.park(space, address, size, caller)
    }

    /// An atomic load, or read-modify-write, of bytes that nobody has written.
    #[cold]
    #[inline(never)]
    pub(crate) fn unwritten_atomic(&mut self, target: &Target, effect: Effect) -> ! {
        if self.watches_races() {
            let site = self.site(target.caller);
            self.observe_atomic(target, effect, 0, site);
        }
        self.park(target.space, target.address, target.size, target.caller)
    }

    pub(crate) fn park(&mut self, space: Space, address: u64, size: usize, caller: Caller) -> ! {
        let kind = FaultKind::Unwritten { space, address, bytes: size as u64 };
        if !self.watches_races() {
            self.raise(kind, caller);
        }
        if self.parked.is_none() {
            let details = self.details(kind, Some(caller), self.current.gid);
            self.parked = Some(Parked { details, until: self.scheduler.wait_for_writers() });
        }
        let tid = self.current.tid as usize;
        let thread = &mut self.block().threads[tid];
        (thread.status, thread.site) = (Status::Parked, Some(caller));
        self.end_thread();
        resume_unwind(Box::new(Park))
    }

    /// Nobody came to write what the parked thread has read: that is the launch's fault, if there is such a thread.
    pub(crate) fn take_parked(&mut self) -> Option<FaultDetails> {
        self.parked.take().map(|parked| parked.details)
    }
}
