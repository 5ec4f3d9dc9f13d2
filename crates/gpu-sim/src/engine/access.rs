//! Plain accesses: checked against bounds, writes and races.

use super::{Caller, Engine};
use crate::clock::Who;
use crate::config::Record;
use crate::fault::{Direction, FaultKind, Space};
use crate::memory::cell::{Cell, Conflict};
use crate::memory::history::Locations;
use crate::memory::shadow::{ReadSets, Shadow};
use crate::report::Operation;

/// How a plain access reaches memory.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    ReadOnly,
    Write,
}

impl Access {
    pub(crate) fn direction(self) -> Direction {
        if self == Self::Write { Direction::Write } else { Direction::Read }
    }
}

/// Whether a plain access is none to record where only counts are asked for: what is written beside atomics is what
/// they read from then on.
#[inline]
fn is_left_out(record: Record, access: Access, shadow: &Shadow, (offset, size): (usize, usize)) -> bool {
    record == Record::Counts && (access != Access::Write || !shadow.refers(offset, size))
}

/// Checks an access against all earlier ones of its granules, and records it.
#[inline]
fn check(
    shadow: &mut Shadow,
    sets: &mut ReadSets,
    locations: &mut Locations,
    who: &Who<'_>,
    at: (usize, usize),
    access: Access,
    site: u16,
) -> Option<Conflict> {
    let granules = shadow.granules(at.0, at.1, sets);
    let several = granules.len() > 1;
    // Of an access of several granules most are alike: what the last one was before, and after.
    let mut last = None;
    for granule in granules {
        let before = if several { *shadow.cell(granule) } else { Cell::default() };
        if let Some((same, after)) = last
            && same == before
        {
            *shadow.cell(granule) = after;
            continue;
        }
        let recorded = match access {
            Access::Write => shadow.write(granule, who, site, sets),
            _ => shadow.read(granule, who, site, access == Access::ReadOnly, sets),
        };
        let atomic = match recorded {
            Ok(atomic) => atomic,
            Err(conflict) => return Some(conflict),
        };
        if atomic != 0 {
            let location = locations.get(atomic - 1);
            if let Some(conflict) = location.before_plain(who, access == Access::Write) {
                return Some(conflict);
            }
            if access == Access::ReadOnly
                && let Some((gid, site)) = location.any_write()
            {
                return Some(Conflict {
                    gid,
                    site,
                    direction: Direction::Write,
                    atomic: true,
                    read_only: true,
                });
            }
        }
        if several && before.is_plain() {
            let after = *shadow.cell(granule);
            last = after.is_plain().then_some((before, after));
        }
    }
    None
}

impl Engine {
    /// Observes a plain access to global memory that is in bounds.
    #[inline(never)]
    pub(crate) fn observe_global(
        &mut self,
        address: u64,
        size: usize,
        access: Access,
        folded: u64,
        caller: Caller,
    ) {
        if access != Access::Write && self.scheduler.suspicious() {
            self.note_read(address, folded);
        }
        if self.record == Record::Off {
            return;
        }
        let site = self.site(caller);
        if access == Access::Write {
            self.check_sources(address, size, caller);
        }
        self.check_earlier(address, size, access, false, caller);
        let conflict = self.check_global(address, size, access, site);
        if let Some(conflict) = conflict {
            self.raise_conflict(conflict, Space::Global, address, access.direction(), caller);
        }
        if self.record.is_counted() {
            let operation = match access {
                Access::Read => Operation::GlobalLoad,
                Access::ReadOnly => Operation::ReadOnlyLoad,
                Access::Write => Operation::GlobalStore,
            };
            self.log(operation, site, address, size as u32, caller);
        }
    }

    /// Observes a plain access to the shared memory of the block in a slot that is in bounds.
    #[inline(never)]
    pub(crate) fn observe_shared(
        &mut self,
        slot: usize,
        offset: usize,
        size: usize,
        access: Access,
        folded: u64,
        caller: Caller,
    ) {
        if access != Access::Write && self.scheduler.suspicious() {
            self.note_read(offset as u64, folded);
        }
        if self.record == Record::Off {
            return;
        }
        let site = self.site(caller);
        if let Some(conflict) = self.check_shared(slot, offset, size, access, site) {
            self.raise_conflict(conflict, Space::Shared, offset as u64, access.direction(), caller);
        }
        if self.record.is_counted() {
            let operation =
                if access == Access::Write { Operation::SharedStore } else { Operation::SharedLoad };
            self.log(operation, site, offset as u64, size as u32, caller);
        }
    }

    /// Checks and records a plain access to global memory.
    #[inline]
    pub(crate) fn check_global(
        &mut self,
        address: u64,
        size: usize,
        access: Access,
        site: u16,
    ) -> Option<Conflict> {
        let block = &self.blocks[self.current.slot];
        let who = Self::who(block, self.current, self.per_block);
        let (region, offset) = self.heap.locate(address, size).expect("the caller checked the bounds");
        if is_left_out(self.record, access, &region.shadow, (offset, size)) {
            return None;
        }
        check(&mut region.shadow, &mut self.sets, &mut self.locations, &who, (offset, size), access, site)
    }

    /// Checks and records a plain access to the shared memory of the block in a slot.
    pub(crate) fn check_shared(
        &mut self,
        slot: usize,
        offset: usize,
        size: usize,
        access: Access,
        site: u16,
    ) -> Option<Conflict> {
        if is_left_out(self.record, access, &self.blocks[slot].shared.shadow, (offset, size)) {
            return None;
        }
        let mut shadow = std::mem::take(&mut self.blocks[slot].shared.shadow);
        let block = &self.blocks[self.current.slot];
        let who = Self::who(block, self.current, self.per_block);
        let conflict =
            check(&mut shadow, &mut self.sets, &mut self.locations, &who, (offset, size), access, site);
        self.blocks[slot].shared.shadow.put_back(shadow);
        conflict
    }

    /// Ends the launch: a global access outside its allocation.
    #[cold]
    #[inline(never)]
    pub(crate) fn bad_address(
        &mut self,
        address: u64,
        size: usize,
        direction: Direction,
        caller: Caller,
    ) -> ! {
        let kind = self.heap.explain(address, size, direction);
        self.raise(kind, caller)
    }

    /// Ends the launch: a shared access outside the block's shared memory.
    #[cold]
    #[inline(never)]
    pub(crate) fn bad_offset(&mut self, offset: u32, size: usize, direction: Direction, caller: Caller) -> ! {
        let len = self.block().shared.len() as u64;
        let kind = FaultKind::OutOfBounds {
            space: Space::Shared,
            direction,
            address: offset.into(),
            offset: offset.into(),
            bytes: size as u64,
            size: len,
        };
        self.raise(kind, caller)
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn misaligned(
        &mut self,
        space: Space,
        address: u64,
        size: usize,
        direction: Direction,
        caller: Caller,
    ) -> ! {
        self.raise(FaultKind::Misaligned { space, direction, address, bytes: size as u64 }, caller)
    }
}
