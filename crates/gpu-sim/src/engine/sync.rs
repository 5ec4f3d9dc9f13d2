//! What orders memory: block barriers, `sync_warp`, fences. (Acquire and release: see `atomic`.)

use std::rc::Rc;

use super::block::Status;
use super::{Caller, Engine};
use crate::clock::{View, join_into};
use crate::device::{Ordering, Scope};
use crate::fault::FaultKind;
use crate::geometry::WARP;
use crate::report::Operation;

impl Engine {
    /// Everything the running thread did and knows, for others to acquire. Its later accesses are not part of it.
    pub(crate) fn snapshot(&mut self) -> Rc<View> {
        let (tid, gid) = (self.current.tid, self.current.gid);
        let block = self.block();
        let mut view = View::clone(block.view(tid));
        view.threads.raise(gid, block.clock(tid));
        view.blocks.raise(block.number, block.floor);
        block.tick(tid);
        Rc::new(view)
    }

    /// A fence: a release fence lets later atomic stores carry what is known now; an acquire fence takes in what
    /// earlier atomic loads brought.
    pub(crate) fn fence(&mut self, ordering: Ordering, scope: Scope, caller: Caller) {
        let site = self.site(caller);
        self.log_if_full(Operation::Fence, site, 0, 0, caller);
        if !self.watches_races() {
            return;
        }
        let tid = self.current.tid;
        let wide = scope != Scope::Block;
        if ordering.acquires() {
            let state = self.block().sync_mut(tid);
            let own = state.pending[0].take();
            let foreign = if wide { state.pending[1].take() } else { None };
            if wide {
                // All of it is taken in here.
                state.read_at.clear();
            }
            for view in own.into_iter().chain(foreign) {
                self.block().learn(tid, &view);
            }
        }
        if ordering.releases() {
            let view = self.snapshot();
            let released = &mut self.block().sync_mut(tid).released;
            if wide {
                released[1] = Some(view.clone());
            }
            released[0] = Some(view);
        }
    }

    /// `sync_warp` is complete: the lanes in `mask` know what each of them did and knew.
    pub(crate) fn join_lanes(&mut self, mask: u32) {
        if !self.watches_races() {
            return;
        }
        let first = self.warp() as u32 * WARP;
        let per_block = self.per_block;
        let block = self.block();
        let lanes = || (0..WARP).filter(|lane| mask >> lane & 1 == 1).map(|lane| first + lane);
        let mut joint: Option<Rc<View>> = None;
        for tid in lanes() {
            join_into(&mut joint, block.view(tid));
        }
        let mut joint = joint.unwrap_or_default();
        let view = Rc::make_mut(&mut joint);
        for tid in lanes() {
            view.threads.raise(block.number * per_block + tid, block.clock(tid));
        }
        for tid in lanes() {
            block.tick(tid);
            block.sync_mut(tid).view = Some(joint.clone());
        }
    }

    /// Arrives at the block barrier; true when that completed it, false when the thread must wait.
    pub(crate) fn arrive_barrier(&mut self, operation: u32, predicate: bool, caller: Caller) -> bool {
        let site = self.site(caller);
        self.log_if_full(Operation::Barrier, site, 0, 0, caller);
        let (tid, warp, lane) = (self.current.tid, self.warp(), self.lane());
        self.progress_check(caller);
        self.goes_on();
        self.check_collectives_of(warp, lane, Some(caller), "waits at a block barrier");
        let per_block = self.per_block;
        let block = self.block();
        if block.exited > 0 {
            let gone = block.last_exited;
            self.barrier_divergence(
                format!("thread {:?} has exited", self.coordinates[gone as usize]),
                caller,
            );
        }
        let barrier = &mut block.barrier;
        if barrier.arrived == 0 {
            (barrier.first, barrier.site, barrier.operation, barrier.count) =
                (tid, Some(caller), operation, 0);
        } else if barrier.operation != operation || barrier.site.is_some_and(|site| !same_place(site, caller))
        {
            let (first, site) = (barrier.first, barrier.site);
            let place = site.map(|site| format!("{}:{}", site.file(), site.line())).unwrap_or_default();
            let who = self.coordinates[first as usize];
            self.barrier_divergence(format!("thread {who:?} waits at another barrier, {place}"), caller);
        }
        barrier.arrived += 1;
        barrier.count += u32::from(predicate);
        if barrier.arrived < per_block {
            block.threads[tid as usize].status = Status::Barrier;
            block.threads[tid as usize].site = Some(caller);
            block.warps[warp].at_barrier |= 1 << lane;
            return false;
        }
        self.complete_barrier();
        true
    }

    fn complete_barrier(&mut self) {
        let (slot, running) = (self.current.slot, self.current.tid);
        if self.watches_races() {
            self.block().join_all();
        }
        self.flush_block(slot);
        self.progressed = true;
        let per_block = self.per_block;
        let block = &mut self.blocks[slot];
        let hops = block.hops();
        block.warps.iter_mut().for_each(|warp| warp.hops = hops);
        let count = block.barrier.count;
        let result = match block.barrier.operation {
            1 => u32::from(count == per_block),
            2 => u32::from(count > 0),
            _ => count,
        };
        block.barrier.arrived = 0;
        for (tid, thread) in block.threads.iter_mut().enumerate() {
            thread.result = result.into();
            if tid as u32 != running {
                thread.status = Status::Runnable;
            }
        }
        for number in 0..self.blocks[slot].warps.len() {
            let warp = &mut self.blocks[slot].warps[number];
            warp.runnable |= std::mem::take(&mut warp.at_barrier);
            self.enqueue(slot, number);
        }
    }

    /// Nobody can run, and some threads are at the block barrier, which others never reach: they wait elsewhere.
    pub(crate) fn stuck_barrier(&self) -> (usize, u32, FaultKind) {
        let waits = |(slot, block): (usize, &super::block::Block)| {
            (block.live && block.barrier.arrived > 0).then_some((slot, block.barrier.first))
        };
        let found = self.blocks.iter().enumerate().find_map(waits);
        let (slot, tid) = found.expect("threads that cannot run wait for each other");
        (slot, tid, FaultKind::BarrierDivergence { detail: "the others wait elsewhere".into() })
    }

    /// A thread of the block exits or takes another way while others wait at the barrier.
    pub(crate) fn barrier_divergence(&mut self, detail: String, caller: Caller) -> ! {
        let kind = FaultKind::BarrierDivergence { detail };
        let mut details = self.details(kind, Some(caller), self.current.gid);
        details.waiters = self.waiters(8, |status| status == Status::Barrier);
        self.raise_details(details)
    }
}

/// Whether two call sites are the same line and column. Generic code and inlining may name one place twice.
pub(crate) fn same_place(a: Caller, b: Caller) -> bool {
    std::ptr::eq(a, b) || (a.line(), a.column(), a.file()) == (b.line(), b.column(), b.file())
}
