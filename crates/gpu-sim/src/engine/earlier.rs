//! Programmatic kernels: their threads may run while the kernel before is still at work, until they have waited for it.
//!
//! The simulator runs kernels one after the other. What the one before accessed is kept for the length of a
//! programmatic launch, as the accesses of one more thread, which nobody knows of before he has waited, or is ordered
//! behind somebody who has.

use std::rc::Rc;

use super::access::Access;
use super::{Caller, Engine};
use crate::clock::View;
use crate::fault::{Direction, FaultKind, OtherAccess, Space};
use crate::geometry::{Geometry, unflatten};
use crate::memory::cell::Conflict;
use crate::memory::history::Accesses;
use crate::memory::shadow::ReadSets;

/// The number of that thread: no other has it.
const EARLIER: u32 = u32::MAX - 1;

/// A launch that is over: what the cells of its shadows refer to.
pub(crate) struct Earlier {
    /// Its name and where it is written.
    pub(crate) kernel: String,
    pub(crate) geometry: Geometry,
    pub(crate) sites: Vec<Option<Caller>>,
    pub(crate) sets: ReadSets,
    pub(crate) locations: Vec<Option<Accesses>>,
}

/// The launch before, for one whose threads have to wait for it.
pub(crate) struct Waited {
    earlier: Earlier,
    /// What those know who have waited.
    view: Rc<View>,
    /// Somebody has.
    anybody: bool,
}

impl Waited {
    pub(crate) fn new(earlier: Earlier) -> Self {
        let mut view = View::default();
        view.threads.raise(EARLIER, 1);
        Self { earlier, view: Rc::new(view), anybody: false }
    }
}

impl Engine {
    /// The running thread waits for the kernel before.
    pub(crate) fn wait_for_earlier(&mut self) {
        let Some(waited) = &mut self.waited else { return };
        waited.anybody = true;
        let view = waited.view.clone();
        let tid = self.current.tid;
        let block = self.block();
        if block.view(tid).is_empty() {
            block.sync_mut(tid).view = Some(view);
        } else {
            block.learn(tid, &view);
        }
    }

    /// Ends the launch when a thread touches what a copy of a box is about to write, or what the kernel before touches
    /// and has not been waited for.
    #[inline]
    pub(crate) fn check_earlier(
        &mut self,
        address: u64,
        size: usize,
        access: Access,
        atomic: bool,
        caller: Caller,
    ) {
        self.check_targets(address, size, access, caller);
        if self.waited.is_some() {
            self.look_at_earlier(address, size, access == Access::Write, atomic, caller);
        }
    }

    #[inline(never)]
    fn look_at_earlier(&mut self, address: u64, size: usize, write: bool, atomic: bool, caller: Caller) {
        let block = &self.blocks[self.current.slot];
        let Some(Waited { earlier, .. }) = &mut self.waited else { return };
        if block.view(self.current.tid).threads.get(EARLIER) > 0 {
            return;
        }
        let Some((region, offset)) = self.heap.locate(address, size) else { return };
        let found = region.earlier.accesses(offset, size).find_map(|cell| {
            let plain =
                |(gid, site), direction| Conflict { gid, site, direction, atomic: false, read_only: false };
            let wrote = cell.last_write().map(|(gid, _, site)| plain((gid, site), Direction::Write));
            let read = || cell.some_read(&earlier.sets).map(|read| plain(read, Direction::Read));
            let by_atomic =
                || earlier.locations.get(cell.atomic.checked_sub(1)? as usize)?.as_ref()?.any(write);
            wrote.or_else(|| read().filter(|_| write)).or_else(|| by_atomic().filter(|_| !atomic))
        });
        let Some(Conflict { gid, site, direction, atomic, .. }) = found else { return };
        let per_block = earlier.geometry.threads_per_block();
        let other = OtherAccess {
            site: earlier.sites.get(usize::from(site)).copied().flatten().map(Into::into),
            block: unflatten(gid / per_block, earlier.geometry.grid),
            thread: unflatten(gid % per_block, earlier.geometry.block),
            direction,
            atomic,
            kernel: Some(earlier.kernel.clone()),
            stream: None,
            threads: true,
        };
        let direction = if write { Direction::Write } else { Direction::Read };
        let kind = FaultKind::Race { space: Space::Global, direction, address };
        let mut details = self.details(kind, Some(caller), self.current.gid);
        details.other = Some(other);
        self.raise_details(details);
    }

    /// The launch is over: a programmatic kernel must have waited, or the next one that waits for this one has not
    /// waited for the one before.
    pub(crate) fn check_waited(&mut self) {
        if let Some(Waited { earlier, anybody: false, .. }) = &self.waited
            && self.fault.is_none()
        {
            let kind = FaultKind::NeverWaits { before: earlier.kernel.clone() };
            self.fault = Some(crate::fault::Fault::new(self.details(kind, None, 0)));
        }
    }
}
