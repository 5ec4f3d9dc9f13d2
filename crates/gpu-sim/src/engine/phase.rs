//! Barriers in shared memory that count arrivals and bytes, and the copies of boxes whose bytes they count.
//!
//! A box is checked against everything when its copy starts, and recorded as read and written by the thread that
//! started it; its bytes arrive later, when the seed says so, and until then nobody may touch them. What orders
//! others after it is the barrier's phase alone.

use std::collections::{BTreeMap, HashSet};
use std::rc::Rc;

use super::access::Access;
use super::block::Status;
use super::counts::Event;
use super::{Caller, Engine};
use crate::clock::{View, join_into};
use crate::device::{Box3, Row};
use crate::fault::{Direction, FaultKind, Space};
use crate::geometry::WARP;
use crate::report::Operation;

/// A barrier.
struct Barrier {
    /// Arrivals of each phase.
    arrivals: u32,
    /// Those that the present phase still needs.
    missing: u32,
    /// Bytes announced less bytes copied in the present phase.
    bytes: i64,
    /// Phases completed.
    phases: u64,
    /// What was released in the present phase, and in all that are complete.
    present: Option<Rc<View>>,
    complete: Option<Rc<View>>,
    /// The same of arrivals from other blocks of the cluster.
    present_far: Option<Rc<View>>,
    complete_far: Option<Rc<View>>,
    /// Who made it, and when.
    made: (u32, u32),
}

/// A copy under way to the memory of a block.
struct Flight {
    gid: u32,
    barrier: u32,
    shared: usize,
    bytes: Vec<u8>,
    view: Option<Rc<View>>,
    caller: Caller,
}

/// Whom an arrival releases to what its thread did and knows.
#[derive(Clone, Copy)]
enum Releases {
    /// Whoever waits for the phase.
    Near,
    /// Who acquires at the scope of the cluster.
    Far,
    Nothing,
}

/// A thread that waits, and for what.
struct Waiting {
    tid: u32,
    barrier: u32,
    parity: u32,
    /// It acquires what other blocks released, too.
    far: bool,
}

/// The barriers of a block, and the copies that it has started.
#[derive(Default)]
pub(crate) struct Phases {
    barriers: BTreeMap<u32, Barrier>,
    flights: Vec<Flight>,
    waiting: Vec<Waiting>,
    /// Clocks of threads, by number in the launch, at which copies wrote, not they themselves.
    copied: HashSet<(u32, u32)>,
    /// By thread: what it wrote below this clock is known to copies and tensor cores.
    fenced: BTreeMap<u32, u32>,
}

impl Phases {
    pub(crate) fn in_flight(&self) -> bool {
        !self.flights.is_empty()
    }

    /// A copy under way: where to, and where it was started.
    pub(crate) fn started(&self) -> Option<(u64, Caller)> {
        self.flights.first().map(|flight| (flight.shared as u64, flight.caller))
    }
}

impl Engine {
    fn barrier_at(&mut self, address: u32, caller: Caller) -> u32 {
        let offset = self.shared_offset(address, 8, Direction::Write, caller);
        if !offset.is_multiple_of(8) {
            self.misaligned(Space::Shared, offset as u64, 8, Direction::Write, caller);
        }
        offset as u32
    }

    /// The barrier at an offset of the memory of the block in a slot, which somebody has made before.
    fn known_barrier(&mut self, slot: usize, address: u32, caller: Caller) -> u32 {
        let offset = self.barrier_at(address, caller);
        let who = Self::who(&self.blocks[self.current.slot], self.current, self.per_block);
        let block = &self.blocks[slot];
        let known = block.phases.barriers.get(&offset).is_some_and(|barrier| {
            let (tid, clock) = barrier.made;
            !self.watches_races() || who.knows(block.number * self.per_block + tid, clock)
        });
        if !known {
            self.raise(FaultKind::NoBarrier { address: offset.into() }, caller);
        }
        offset
    }

    pub(crate) fn phase_init(&mut self, address: u32, arrivals: u32, caller: Caller) {
        const MOST: u32 = (1 << 20) - 1;
        let offset = self.barrier_at(address, caller);
        if arrivals == 0 || arrivals > MOST {
            let (what, allowed) = ("arrivals", "1 to 2^20 - 1");
            let kind = FaultKind::InvalidOperand {
                operation: "mbarrier.init",
                what,
                value: arrivals.into(),
                allowed,
            };
            self.raise(kind, caller);
        }
        let tid = self.current.tid;
        let block = self.block();
        let made = (tid, block.clock(tid));
        block.tick(tid);
        let fresh = Barrier {
            arrivals,
            missing: arrivals,
            bytes: 0,
            phases: 0,
            present: None,
            complete: None,
            present_far: None,
            complete_far: None,
            made,
        };
        block.phases.barriers.insert(offset, fresh);
        self.progressed = true;
    }

    /// What the running thread wrote is known to copies and tensor cores.
    pub(crate) fn fence_proxy(&mut self) {
        let tid = self.current.tid;
        let block = self.block();
        block.tick(tid);
        let clock = block.clock(tid);
        block.phases.fenced.insert(tid, clock);
    }

    fn is_fenced(&self, slot: usize, tid: u32, clock: u32) -> bool {
        self.blocks[slot].phases.fenced.get(&tid).is_some_and(|fenced| clock < *fenced)
    }

    pub(crate) fn phase_arrive(&mut self, address: u32, bytes: u32, caller: Caller) {
        self.arrive_in(self.current.slot, address, bytes, Releases::Near, caller);
    }

    /// Arrives at a barrier of the block of this rank.
    pub(crate) fn phase_arrive_at(&mut self, rank: u32, address: u32, caller: Caller) {
        let slot = self.visit(rank, "mbarrier.arrive.shared::cluster", caller);
        let tid = self.current.tid;
        self.block().visits.released(tid);
        let releases = if slot == self.current.slot { Releases::Near } else { Releases::Far };
        self.arrive_in(slot, address, 0, releases, caller);
    }

    /// The same for those who overwrite what the running thread has read.
    pub(crate) fn phase_free_at(&mut self, rank: u32, address: u32, caller: Caller) {
        let slot = self.visit(rank, "mbarrier.arrive.shared::cluster", caller);
        let has_written = self.blocks[self.current.slot].visits.has_written(self.current.tid);
        let releases = if has_written { Releases::Nothing } else { Releases::Near };
        self.arrive_in(slot, address, 0, releases, caller);
    }

    fn arrive_in(&mut self, slot: usize, address: u32, bytes: u32, releases: Releases, caller: Caller) {
        self.progress_check(caller);
        self.goes_on();
        let offset = self.known_barrier(slot, address, caller);
        let view = self.watches_races().then(|| self.snapshot());
        let barrier = self.blocks[slot].phases.barriers.get_mut(&offset).expect("it was just found");
        if barrier.missing == 0 {
            let arrivals = barrier.arrivals;
            self.raise(FaultKind::TooManyArrivals { address: offset.into(), arrivals }, caller);
        }
        barrier.missing -= 1;
        barrier.bytes += i64::from(bytes);
        if let Some(view) = view {
            match releases {
                Releases::Near => join_into(&mut barrier.present, &view),
                Releases::Far => join_into(&mut barrier.present_far, &view),
                Releases::Nothing => {}
            }
        }
        self.progressed = true;
        self.phase_advance(slot, offset);
    }

    /// Completes the present phase if all is there.
    fn phase_advance(&mut self, slot: usize, offset: u32) {
        let phases = &mut self.blocks[slot].phases;
        let barrier = phases.barriers.get_mut(&offset).expect("a barrier that was used before");
        if barrier.missing > 0 || barrier.bytes != 0 {
            return;
        }
        barrier.missing = barrier.arrivals;
        barrier.phases += 1;
        if let Some(view) = barrier.present.take() {
            join_into(&mut barrier.complete, &view);
        }
        if let Some(view) = barrier.present_far.take() {
            join_into(&mut barrier.complete_far, &view);
        }
        let (parity, views) = ((barrier.phases - 1) % 2, barrier.complete.clone());
        let far = barrier.complete_far.clone();
        if let Some(flight) = phases.flights.iter().find(|flight| flight.barrier == offset) {
            // The phase did not wait for all that belongs to it.
            let kind =
                FaultKind::TransactionBytes { address: offset.into(), bytes: flight.bytes.len() as u64 };
            let (site, gid) = (flight.caller, flight.gid);
            let details = self.details(kind, Some(site), gid);
            self.set_fault(details);
            return;
        }
        let woken = |waiter: &mut Waiting| waiter.barrier == offset && u64::from(waiter.parity) == parity;
        let woken: Vec<_> = phases.waiting.extract_if(.., woken).collect();
        for Waiting { tid, far: wide, .. } in woken {
            let block = &mut self.blocks[slot];
            for view in views.iter().chain(far.iter().filter(|_| wide)) {
                block.learn(tid, view);
            }
            block.threads[tid as usize].status = Status::Runnable;
            let number = (tid / WARP) as usize;
            block.warps[number].runnable |= 1 << (tid % WARP);
            self.enqueue(slot, number);
        }
    }

    /// Waits for a phase; true when it is complete already, false when the thread must wait. With `far` it acquires
    /// what other blocks of the cluster released, too.
    pub(crate) fn phase_wait(&mut self, address: u32, parity: u32, far: bool, caller: Caller) -> bool {
        self.progress_check(caller);
        self.goes_on();
        let offset = self.known_barrier(self.current.slot, address, caller);
        if parity > 1 {
            let (what, allowed) = ("parity", "0 or 1");
            let kind = FaultKind::InvalidOperand {
                operation: "mbarrier.try_wait",
                what,
                value: parity.into(),
                allowed,
            };
            self.raise(kind, caller);
        }
        let tid = self.current.tid;
        let block = self.block();
        let barrier = &block.phases.barriers[&offset];
        if barrier.phases % 2 != u64::from(parity) {
            let (near, wide) = (barrier.complete.clone(), barrier.complete_far.clone().filter(|_| far));
            for view in near.into_iter().chain(wide) {
                block.learn(tid, &view);
            }
            return true;
        }
        block.phases.waiting.push(Waiting { tid, barrier: offset, parity, far });
        let thread = &mut block.threads[tid as usize];
        (thread.status, thread.site) = (Status::Phase, Some(caller));
        false
    }

    /// The blocks that a copy goes to: the running thread's, or those of its cluster whose bits are set.
    fn destinations(&mut self, mask: Option<u16>, caller: Caller) -> Vec<usize> {
        let Some(mask) = mask else { return vec![self.current.slot] };
        if mask == 0 || u32::from(mask) >> self.cluster != 0 {
            let (operation, what) = ("cp.async.bulk.tensor", "mask of blocks");
            let (value, allowed) = (mask.into(), "blocks of the cluster, one or more");
            self.raise(FaultKind::InvalidOperand { operation, what, value, allowed }, caller);
        }
        let ranks = (0..self.cluster).filter(|rank| mask >> rank & 1 == 1);
        ranks.map(|rank| self.visit(rank, "cp.async.bulk.tensor", caller)).collect()
    }

    /// Where a box lies in shared memory.
    pub(crate) fn box_offset(
        &mut self,
        shared: u32,
        tensor: &Box3,
        direction: Direction,
        place: [i32; 3],
        caller: Caller,
    ) -> usize {
        let first = i64::from(place[0]) * i64::from(tensor.element);
        if first % 16 != 0 {
            let (operation, what) = ("cp.async.bulk.tensor", "bytes from a row to the box");
            let (value, allowed) = (first.unsigned_abs(), "a multiple of 16");
            self.raise(FaultKind::InvalidOperand { operation, what, value, allowed }, caller);
        }
        let offset = self.shared_offset(shared, tensor.bytes(), direction, caller);
        if !offset.is_multiple_of(if tensor.swizzled { 1024 } else { 128 }) {
            self.misaligned(Space::Shared, offset as u64, 128, direction, caller);
        }
        offset
    }

    /// Starts the copy of a box, to the same place of the shared memory of each block of the `mask`, or of this one.
    pub(crate) fn tensor_load(
        &mut self,
        (shared, barrier): (u32, u32),
        mask: Option<u16>,
        tensor: &Box3,
        place: [i32; 3],
        caller: Caller,
    ) {
        self.progress_check(caller);
        let slots = self.destinations(mask, caller);
        let (tid, gid, watches) = (self.current.tid, self.current.gid, self.watches_races());
        let (address, mut barrier) = (barrier, 0);
        for &slot in &slots {
            barrier = self.known_barrier(slot, address, caller);
            let (maker, made) = self.blocks[slot].phases.barriers[&barrier].made;
            if watches && !self.is_fenced(slot, maker, made) {
                self.raise(FaultKind::NoProxyFence { address: barrier.into() }, caller);
            }
        }
        let size = tensor.bytes();
        let offset = self.box_offset(shared, tensor, Direction::Write, place, caller);
        for &slot in &slots {
            self.check_async(slot, offset, size, Direction::Write, caller);
        }
        // The copy is at a clock of its own, of the thread that starts it.
        self.block().tick(tid);
        let site = self.site(caller);
        let mut bytes = vec![0; size];
        for Row { address, len, at: into } in tensor.rows(place) {
            let target = &mut bytes[into..into + len];
            let Some((region, at)) = self.heap.reach(address, len) else {
                self.bad_address(address, len, Direction::Read, caller)
            };
            let unwritten = region.first_unwritten(at, len).is_some();
            target.copy_from_slice(&region.bytes()[at..at + len]);
            if unwritten {
                self.unwritten(Space::Global, address, len, Access::Read, caller);
            }
            self.log_row(Operation::BoxCopy, site, address, len);
            if watches {
                self.check_earlier(address, len, Access::Read, false, caller);
                if let Some(conflict) = self.check_global(address, len, Access::Read, site) {
                    self.raise_conflict(conflict, Space::Global, address, Direction::Read, caller);
                }
            }
        }
        if watches {
            let clock = self.block().clock(tid);
            for &slot in &slots {
                if let Some(conflict) = self.check_shared(slot, offset, size, Access::Write, site) {
                    self.raise_conflict(conflict, Space::Shared, offset as u64, Direction::Write, caller);
                }
                self.note_visit(slot, caller);
                self.blocks[slot].phases.copied.insert((gid, clock));
            }
        }
        let view = watches.then(|| self.snapshot());
        if tensor.swizzled {
            let mut swizzled = vec![0; size];
            for (piece, from) in bytes.chunks_exact(16).enumerate() {
                let to = crate::device::swizzled((offset + piece * 16) as u32) as usize - offset;
                swizzled[to..to + 16].copy_from_slice(from);
            }
            bytes = swizzled;
        }
        self.flights += slots.len();
        for slot in slots {
            self.copy_marks(slot, offset, size);
            let (bytes, view) = (bytes.clone(), view.clone());
            let flight = Flight { gid, barrier, shared: offset, bytes, view, caller };
            self.blocks[slot].phases.flights.push(flight);
        }
    }

    /// Logs a row of a box, in pieces of a line at most.
    pub(crate) fn log_row(&mut self, operation: Operation, site: u16, address: u64, len: usize) {
        const LINE: usize = 128;
        if self.record.is_counted() {
            for done in (0..len).step_by(LINE) {
                let size = (len - done).min(LINE) as u8;
                let address = address + done as u64;
                self.log_event(Event { site, operation, size, extra: 0, address });
            }
        }
    }

    /// A drawn copy of a drawn block arrives.
    pub(crate) fn land(&mut self) {
        let slots: Vec<usize> = (0..self.blocks.len())
            .filter(|&slot| self.blocks[slot].live && self.blocks[slot].phases.in_flight())
            .collect();
        if slots.is_empty() {
            return;
        }
        let slot = slots[self.rng.below(slots.len() as u32) as usize];
        let at = self.rng.below(self.blocks[slot].phases.flights.len() as u32) as usize;
        let Flight { barrier, shared, bytes, view, .. } = self.blocks[slot].phases.flights.swap_remove(at);
        self.flights -= 1;
        let block = &mut self.blocks[slot];
        block.shared.bytes_mut()[shared..shared + bytes.len()].copy_from_slice(&bytes);
        block.shared.mark_range(shared, bytes.len());
        block.copies.mark(shared, bytes.len(), false);
        let state = block.phases.barriers.get_mut(&barrier).expect("checked when the copy started");
        state.bytes -= bytes.len() as i64;
        if let Some(view) = view {
            join_into(&mut state.present, &view);
        }
        self.progressed = true;
        self.phase_advance(slot, barrier);
    }

    fn copy_marks(&mut self, slot: usize, offset: usize, size: usize) {
        let block = &mut self.blocks[slot];
        let (words, threads) = (block.shared.len().div_ceil(4), block.threads.len());
        block.copies.prepare(words, threads);
        block.copies.mark(offset, size, true);
    }

    /// Ends the launch where tensor cores or copies would read what its writer has not fenced.
    pub(crate) fn check_proxy(&mut self, offset: usize, size: usize, caller: Caller) {
        let block = &self.blocks[self.current.slot];
        let unfenced = block.shared.shadow.accesses(offset, size).find_map(|cell| {
            let (gid, clock, _) = cell.last_write()?;
            let is_fenced = || self.is_fenced(self.slot_of(gid), gid % self.per_block, clock);
            (!block.phases.copied.contains(&(gid, clock)) && !is_fenced()).then_some(())
        });
        if unfenced.is_some() {
            self.raise(FaultKind::NoProxyFence { address: offset as u64 }, caller);
        }
    }

    /// Nobody can run, and some threads wait for a phase.
    pub(crate) fn stuck_phase(&self) -> Option<(usize, u32, FaultKind)> {
        self.blocks.iter().enumerate().filter(|(_, block)| block.live).find_map(|(slot, block)| {
            let &Waiting { tid, barrier: offset, parity, .. } = block.phases.waiting.first()?;
            let barrier = &block.phases.barriers[&offset];
            let kind = FaultKind::NoSuchPhase {
                address: offset.into(),
                parity,
                arrivals: barrier.missing,
                bytes: barrier.bytes,
            };
            Some((slot, tid, kind))
        })
    }
}
