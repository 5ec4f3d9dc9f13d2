//! Copies of boxes from shared to global memory.
//!
//! Between start and wait the hardware may read the source and write the target at any time. So nobody may write the
//! source before the thread that started the copy has waited for its reading, or touch the target before it has waited
//! for its writing; both are recorded twice, at the start and at the wait, and looked at in between. Who does not wait
//! for the writing leaves it to the end of the kernel.

use std::collections::HashMap;

use super::access::Access;
use super::{Caller, Engine};
use crate::device::{Box3, swizzled};
use crate::fault::{Direction, FaultKind, Space};
use crate::memory::cell::Conflict;
use crate::report::Operation;

/// Targets are looked up by pieces of this many bytes.
const PIECE: u64 = 16;

/// A copy that its thread has not waited for.
struct Store {
    gid: u32,
    /// How many groups its thread had committed before it.
    group: u32,
    slot: usize,
    shared: usize,
    bytes: usize,
    /// It may still read shared memory.
    reads: bool,
    /// What it writes: addresses and bytes.
    rows: Vec<(u64, usize)>,
    caller: Caller,
}

impl Store {
    fn writes(&self, address: u64, size: usize) -> bool {
        let end = address + size as u64;
        self.rows.iter().any(|&(row, len)| row < end && address < row + len as u64)
    }
}

/// The copies of a launch that nobody has waited for.
#[derive(Default)]
pub(crate) struct Stores {
    stores: Vec<Store>,
    /// How many of them may read shared memory.
    reading: usize,
    /// Groups committed, by thread.
    committed: HashMap<u32, u32>,
    /// Pieces of global memory that are written: by how many.
    targets: HashMap<u64, u32>,
}

impl Stores {
    /// Whether some may read shared memory.
    #[inline]
    pub(crate) fn reads_shared(&self) -> bool {
        self.reading > 0
    }
}

/// The pieces that some bytes lie in.
fn pieces((address, len): (u64, usize)) -> impl Iterator<Item = u64> {
    address / PIECE..(address + len as u64).div_ceil(PIECE)
}

impl Engine {
    /// Starts a copy.
    pub(crate) fn tensor_store(&mut self, shared: u32, tensor: &Box3, place: [i32; 3], caller: Caller) {
        self.progress_check(caller);
        let (slot, tid, gid) = (self.current.slot, self.current.tid, self.current.gid);
        let size = tensor.bytes();
        let offset = self.box_offset(shared, tensor, Direction::Read, place, caller);
        self.check_async(slot, offset, size, Direction::Read, caller);
        if self.block().shared.first_unwritten(offset, size).is_some() {
            self.unwritten(Space::Shared, offset as u64, size, Access::Read, caller);
        }
        // The copy is at a clock of its own, of the thread that starts it.
        self.block().tick(tid);
        let (site, watches) = (self.site(caller), self.watches_races());
        if watches {
            if let Some(conflict) = self.check_shared(slot, offset, size, Access::Read, site) {
                self.raise_conflict(conflict, Space::Shared, offset as u64, Direction::Read, caller);
            }
            self.check_proxy(offset, size, caller);
        }
        let mut rows = Vec::new();
        for row in tensor.rows(place) {
            let (address, len) = (row.address, row.len);
            let Some((region, at)) = self.heap.reach(address, len) else {
                self.bad_address(address, len, Direction::Write, caller)
            };
            region.mark_range(at, len);
            let source = &self.blocks[slot].shared.bytes()[offset..offset + size];
            let target = &mut region.bytes_mut()[at..at + len];
            for (byte, target) in target.iter_mut().enumerate() {
                let from = row.at + byte;
                let from =
                    if tensor.swizzled { swizzled((offset + from) as u32) as usize - offset } else { from };
                *target = source[from];
            }
            self.log_row(Operation::BoxStore, site, address, len);
            if watches {
                self.check_sources(address, len, caller);
                self.write_row((address, len), site, caller);
                rows.push((address, len));
            }
        }
        self.progressed = true;
        if watches {
            // Once all its rows are looked at: they do not meet each other.
            rows.iter().copied().flat_map(pieces).for_each(|piece| {
                *self.stores.targets.entry(piece).or_default() += 1;
            });
            let group = self.stores.committed.get(&gid).copied().unwrap_or(0);
            self.stores.reading += 1;
            let store = Store { gid, group, slot, shared: offset, bytes: size, reads: true, rows, caller };
            self.stores.stores.push(store);
        }
    }

    fn write_row(&mut self, (address, len): (u64, usize), site: u16, caller: Caller) {
        self.check_earlier(address, len, Access::Write, false, caller);
        if let Some(conflict) = self.check_global(address, len, Access::Write, site) {
            self.raise_conflict(conflict, Space::Global, address, Direction::Write, caller);
        }
    }

    /// Ends a group of the running thread.
    pub(crate) fn store_commit(&mut self) {
        *self.stores.committed.entry(self.current.gid).or_default() += 1;
    }

    /// Waits for the reading of all groups but the latest few, or for their writing, too.
    pub(crate) fn store_wait(&mut self, pending: u32, written: bool) {
        let gid = self.current.gid;
        let below = self.stores.committed.get(&gid).copied().unwrap_or(0).saturating_sub(pending);
        let is_waited = |store: &Store| store.gid == gid && store.group < below;
        let mut waited: Vec<Store> = Vec::new();
        if written {
            waited.extend(self.stores.stores.extract_if(.., |store| is_waited(store)));
        }
        let mut read: Vec<(usize, usize, Caller)> = Vec::new();
        let kept = self.stores.stores.iter_mut().filter(|store| is_waited(store));
        for store in kept.chain(&mut waited).filter(|store| store.reads) {
            store.reads = false;
            self.stores.reading -= 1;
            read.push((store.shared, store.bytes, store.caller));
        }
        if read.is_empty() && waited.is_empty() {
            return;
        }
        // What comes now is not part of what the thread has released.
        let tid = self.current.tid;
        self.block().tick(tid);
        for (offset, size, started) in read {
            let site = self.site(started);
            if let Some(conflict) = self.check_shared(self.current.slot, offset, size, Access::Read, site) {
                self.raise_conflict(conflict, Space::Shared, offset as u64, Direction::Read, started);
            }
        }
        for store in waited {
            for piece in store.rows.iter().copied().flat_map(pieces) {
                if let Some(count) = self.stores.targets.get_mut(&piece) {
                    *count -= 1;
                    if *count == 0 {
                        self.stores.targets.remove(&piece);
                    }
                }
            }
            let site = self.site(store.caller);
            for row in store.rows {
                self.write_row(row, site, store.caller);
            }
        }
    }

    /// Ends the launch where shared memory is written that a copy may still read.
    #[cold]
    pub(crate) fn check_stored(&mut self, slot: usize, offset: usize, size: usize, caller: Caller) {
        let reads = |store: &&Store| {
            let overlaps = store.shared < offset + size && offset < store.shared + store.bytes;
            store.reads && store.slot == slot && overlaps
        };
        let Some((gid, started)) = self.stores.stores.iter().find(reads).map(|one| (one.gid, one.caller))
        else {
            return;
        };
        self.raise_store(
            (gid, started),
            Space::Shared,
            Direction::Read,
            (offset as u64, Direction::Write),
            caller,
        );
    }

    /// Ends the launch where global memory is touched that a copy may still write.
    #[inline]
    pub(crate) fn check_targets(&mut self, address: u64, size: usize, access: Access, caller: Caller) {
        if !self.stores.targets.is_empty()
            && pieces((address, size)).any(|piece| self.stores.targets.contains_key(&piece))
        {
            self.look_at_targets(address, size, access.direction(), caller);
        }
    }

    #[cold]
    #[inline(never)]
    fn look_at_targets(&mut self, address: u64, size: usize, direction: Direction, caller: Caller) {
        let found = self.stores.stores.iter().find(|store| store.writes(address, size));
        let Some(other) = found.map(|store| (store.gid, store.caller)) else { return };
        self.raise_store(other, Space::Global, Direction::Write, (address, direction), caller);
    }

    /// A race with a copy that a thread has started.
    fn raise_store(
        &mut self,
        (gid, started): (u32, Caller),
        space: Space,
        other: Direction,
        (address, direction): (u64, Direction),
        caller: Caller,
    ) -> ! {
        let site = self.site(started);
        let conflict = Conflict { gid, site, direction: other, atomic: false, read_only: false };
        self.raise_conflict(conflict, space, address, direction, caller)
    }

    /// The running thread is about to end: none of its copies may read shared memory any more.
    pub(crate) fn check_stores(&mut self) {
        let gid = self.current.gid;
        let reads = |store: &&Store| store.reads && store.gid == gid;
        let Some((address, caller)) =
            self.stores.stores.iter().find(reads).map(|one| (one.shared, one.caller))
        else {
            return;
        };
        self.raise(FaultKind::StoreNotWaited { address: address as u64 }, caller);
    }
}
