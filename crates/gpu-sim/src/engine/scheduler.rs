//! Who runs next.
//!
//! The unit of choice is the warp: its lanes run one after another until none can, and then, or when a switch point
//! says so, another warp is drawn. That keeps a block's memory warm and still lets every order of synchronising
//! operations happen.

use std::collections::HashSet;

use super::block::{NO_FIBER, Status};
use super::waiting::Waiting;
use super::{Caller, Current, Engine};
use crate::config::Config;
use crate::geometry::{WARP, unflatten};
use crate::rng::Rng;

/// What the main loop does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Run the current thread, which has not started, on any fiber.
    Fresh,
    /// Resume the current thread on the fiber it is suspended on.
    Resume(u32),
    /// The launch is over, by completion or fault.
    Over,
}

/// The scheduler's own state.
pub(crate) struct Scheduler {
    /// Warps that have runnable lanes, by slot * warps + warp.
    ready: Vec<u32>,
    warps: u32,
    pub(super) waiting: Waiting,
    /// While others can run, a block starts once in this many times that a warp is drawn; 0: as soon as there is place.
    start_one_in: u32,
    /// Threads that wait for a value to change.
    pub(super) polling: u32,
    /// Places without a cluster.
    vacant: Vec<usize>,
    /// Stay with the current warp as long as it has runnable lanes.
    sticky: bool,
    /// Run lanes downwards.
    lanes_down: bool,
    /// At a switch point another warp is drawn once in this many times.
    switch_one_in: u32,
    pub(crate) next: Next,
    /// The fiber that runs.
    pub(crate) fiber: u32,
    pub(crate) switches: u64,
    pub(crate) steps: u64,
    pub(super) progress_at: u64,
    /// Steps at which to look at progress again.
    pub(super) look_at: u64,
    pub(super) step_budget: u64,
    pub(super) spin_budget: u64,
    /// In suspicion: what was read since the last other progress, as hashes of (thread, address, value).
    pub(super) seen: Option<HashSet<u64>>,
    /// In suspicion: something was read that had not been.
    pub(super) news: bool,
    pub(crate) resident: u64,
    pub(crate) finished_blocks: u64,
}

impl Scheduler {
    pub(crate) fn new(
        config: &Config,
        clusters: u32,
        groups: usize,
        warps: u32,
        threads: u64,
        rng: &mut Rng,
    ) -> Self {
        let waiting = Waiting::new(clusters, config.block_order, rng);
        // Room for the sums that it is part of.
        let spin_budget = config.spin_budget.min(u64::MAX / 4);
        let step_budget = config.steps_per_thread.saturating_mul(threads).saturating_add(config.step_base);
        Self {
            ready: Vec::new(),
            warps,
            waiting,
            start_one_in: if !config.vary_residency || rng.one_in(32) { 0 } else { 16 },
            polling: 0,
            vacant: (0..groups).rev().collect(),
            sticky: false,
            lanes_down: rng.one_in(2) && !config.in_order,
            switch_one_in: [1, 2, 2, 4][rng.below(4) as usize],
            next: Next::Over,
            fiber: NO_FIBER,
            switches: 0,
            steps: 0,
            progress_at: 0,
            look_at: spin_budget.min(step_budget),
            step_budget,
            spin_budget,
            seen: None,
            news: false,
            resident: 0,
            finished_blocks: 0,
        }
    }

    /// Whether reads must be noted, because nothing else has changed for long.
    #[inline]
    pub(crate) fn suspicious(&self) -> bool {
        self.seen.is_some()
    }

    /// How long to wait for somebody to write what a thread has read: until this many steps.
    pub(crate) fn wait_for_writers(&self) -> u64 {
        self.steps + self.spin_budget
    }

    /// Whether the launch makes progress: stale reads are for those that do.
    pub(crate) fn lively(&self) -> bool {
        self.steps - self.progress_at < self.spin_budget / 4
    }
}

impl Engine {
    /// Puts a warp with runnable lanes into the list.
    #[inline]
    pub(crate) fn enqueue(&mut self, slot: usize, number: usize) {
        let warp = &mut self.blocks[slot].warps[number];
        if warp.runnable != 0 && !warp.queued {
            warp.queued = true;
            self.scheduler.ready.push(slot as u32 * self.scheduler.warps + number as u32);
        }
    }

    /// Starts blocks where there is place. No block may need one that has not started: as long as a thread waits for
    /// something, and others can run, none starts, so that it waits in vain if it waits for that.
    fn start_blocks(&mut self) {
        while let Some(&group) = self.scheduler.vacant.last() {
            if self.config.vary_residency && !self.scheduler.ready.is_empty() {
                let soon = |engine: &mut Self| {
                    let one_in = engine.scheduler.start_one_in;
                    one_in == 0 || engine.rng.one_in(one_in)
                };
                if self.scheduler.polling > 0 || !soon(self) {
                    return;
                }
            }
            let Some(number) = self.scheduler.waiting.take(&mut self.rng) else {
                return;
            };
            let number = self.of_sample(number);
            self.scheduler.vacant.pop();
            let blocks = self.cluster;
            for rank in 0..blocks {
                let (slot, number) = (group * blocks as usize + rank as usize, number * blocks + rank);
                self.recycle_shared(slot);
                self.blocks[slot].start(number, unflatten(number, self.geometry.grid));
                for warp in 0..self.blocks[slot].warps.len() {
                    self.enqueue(slot, warp);
                }
                self.scheduler.resident += 1;
            }
            self.start_cluster(group);
            self.progressed = true;
        }
    }

    /// The cluster of the grid that is this one of the sample: one of each of as many parts of the grid, at another
    /// place in each, so that they are not all at the same edge of it.
    fn of_sample(&self, number: u32) -> u32 {
        let all = u64::from(self.geometry.blocks() / self.cluster);
        let taken =
            self.config.sample.map_or(all, |sample| u64::from(sample.max(1).div_ceil(self.cluster)).min(all));
        let start = |part: u64| part * all / taken;
        let (first, next) = (start(number.into()), start(u64::from(number) + 1));
        // Multiples of the golden ratio, without their whole parts, lie nowhere close together.
        let place = (0.5 + 0.618_033_988_75 * f64::from(number)).fract();
        (first + (place * (next - first) as f64) as u64) as u32
    }

    /// Makes another thread the current one. The present one is already filed: runnable, waiting or finished.
    pub(crate) fn pick(&mut self) -> Next {
        if self.aborting || self.fault().is_some() {
            return Next::Over;
        }
        let (mut slot, mut number) = (self.current.slot, self.warp());
        let mut lane_from = self.lane() + 1;
        let again = self.scheduler.sticky && self.blocks[slot].warps[number].runnable != 0;
        if !again {
            (slot, number) = match self.draw() {
                Some(warp) => warp,
                None => return Next::Over,
            };
            lane_from = if self.config.in_order { 0 } else { self.rng.below(WARP) };
        }
        self.scheduler.sticky = true;
        let warp = &mut self.blocks[slot].warps[number];
        // Round robin from the last lane, or a drawn one: no lane that spins keeps the others from running.
        let lane = if self.scheduler.lanes_down {
            // Downwards from the one below the last lane, or from the drawn one.
            let end = if again { self.current.tid % WARP } else { lane_from + 1 };
            let below = warp.runnable & ((1u64 << end) - 1) as u32;
            31 - (if below != 0 { below } else { warp.runnable }).leading_zeros()
        } else {
            let above = if lane_from < WARP { warp.runnable >> lane_from << lane_from } else { 0 };
            (if above != 0 { above } else { warp.runnable }).trailing_zeros()
        };
        warp.runnable &= !(1 << lane);
        let tid = number as u32 * WARP + lane;
        let block = &mut self.blocks[slot];
        self.current = Current { slot, tid, gid: block.number * self.per_block + tid };
        self.scheduler.steps += u64::from(self.config.quantum - self.quantum);
        self.quantum = self.config.quantum;
        let fiber = std::mem::replace(&mut block.threads[tid as usize].fiber, NO_FIBER);
        if fiber == NO_FIBER { Next::Fresh } else { Next::Resume(fiber) }
    }

    /// Draws a warp that has a runnable lane; `None` when all is done, or after a fault.
    fn draw(&mut self) -> Option<(usize, usize)> {
        if self.waited_enough() {
            let details = self.take_parked()?;
            self.set_fault(details);
            return None;
        }
        if self.scheduler.waiting.left() > 0 {
            self.start_blocks();
        }
        loop {
            if self.flights > 0 && (self.scheduler.ready.is_empty() || self.rng.one_in(4)) {
                self.land();
                if self.fault().is_some() {
                    return None;
                }
                continue;
            }
            if self.scheduler.ready.is_empty() {
                self.start_blocks();
                if !self.scheduler.ready.is_empty() || self.resolve_gathers() {
                    continue;
                }
                if self.scheduler.resident > 0 {
                    self.nobody_can_run();
                }
                return None;
            }
            let at = if self.config.in_order {
                self.next_in_order()
            } else {
                self.rng.below(self.scheduler.ready.len() as u32) as usize
            };
            let warp = self.scheduler.ready[at];
            let (slot, number) =
                ((warp / self.scheduler.warps) as usize, (warp % self.scheduler.warps) as usize);
            let state = &mut self.blocks[slot].warps[number];
            if state.runnable == 0 {
                state.queued = false;
                let gathering = state.gathering != 0;
                self.scheduler.ready.swap_remove(at);
                if gathering {
                    self.resolve_gather(slot, number);
                }
                continue;
            }
            // Lanes in `active_mask` do not wait forever for one that spins.
            if state.gathering != 0 && self.rng.one_in(8) {
                self.resolve_gather(slot, number);
            }
            return Some((slot, number));
        }
    }

    /// The warp after the current one among those in the list, the first after the last: by block, then by warp.
    fn next_in_order(&self) -> usize {
        let key = |warp: u32| {
            (self.blocks[(warp / self.scheduler.warps) as usize].number, warp % self.scheduler.warps)
        };
        let now = (self.blocks[self.current.slot].number, self.warp() as u32);
        let warps = self.scheduler.ready.iter().map(|&warp| key(warp)).enumerate();
        let begun = self.scheduler.switches > 0;
        let order = |&(_, key): &(usize, (u32, u32))| (begun && key <= now, key);
        warps.min_by_key(order).map_or(0, |(at, _)| at)
    }

    fn resolve_gathers(&mut self) -> bool {
        for slot in 0..self.blocks.len() {
            for number in 0..self.blocks[slot].warps.len() {
                if self.blocks[slot].live && self.blocks[slot].warps[number].gathering != 0 {
                    self.resolve_gather(slot, number);
                    return true;
                }
            }
        }
        false
    }

    /// A point at which another thread may run. True when the caller must suspend.
    #[inline]
    pub(crate) fn switch_point(&mut self, caller: Caller) -> bool {
        self.scheduler.steps += 1;
        self.progress_check(caller);
        if self.config.in_order {
            self.quantum -= 1;
            if self.quantum > 0 {
                return false;
            }
        } else if !self.rng.one_in(self.scheduler.switch_one_in) {
            return false;
        }
        self.give_way(caller, false);
        true
    }

    /// The quantum of plain accesses is used up. The caller must suspend.
    #[cold]
    #[inline(never)]
    pub(crate) fn expire(&mut self, caller: Caller) {
        self.progress_check(caller);
        let stay = !self.config.in_order && !self.rng.one_in(4);
        self.give_way(caller, stay);
    }

    /// Files the current thread as runnable; `stay` keeps to its warp, so that its lanes advance together.
    fn give_way(&mut self, caller: Caller, stay: bool) {
        let (slot, tid, number, lane) = (self.current.slot, self.current.tid, self.warp(), self.lane());
        let block = self.block();
        block.threads[tid as usize].site = Some(caller);
        block.warps[number].runnable |= 1 << lane;
        self.enqueue(slot, number);
        self.scheduler.sticky = stay;
    }

    /// The current thread has returned from the kernel.
    pub(crate) fn finish_thread(&mut self) {
        self.goes_on();
        let (slot, tid, number, lane) = (self.current.slot, self.current.tid, self.warp(), self.lane());
        let per_block = self.per_block;
        let block = &mut self.blocks[slot];
        block.threads[tid as usize].status = Status::Finished;
        if block.exited == 0 {
            block.last_exited = tid;
        }
        block.exited += 1;
        self.progressed = true;
        let warp = &mut block.warps[number];
        warp.exited |= 1 << lane;
        let warp_done = warp.exited == warp.lanes;
        let block_done = block.exited == per_block;
        if warp_done {
            self.flush_warp(slot, number);
        }
        if block_done {
            self.blocks[slot].live = false;
            self.tally.walks.end(slot, self.blocks[slot].hops());
            let group = slot / self.cluster as usize;
            if self.slots_of(group).all(|slot| !self.blocks[slot].live) {
                self.scheduler.vacant.push(group);
            }
            self.scheduler.resident -= 1;
            self.scheduler.finished_blocks += 1;
        }
    }

    /// Whether the running thread, about to finish, leaves others waiting in vain.
    #[inline]
    pub(crate) fn exit_matters(&self) -> bool {
        let block = &self.blocks[self.current.slot];
        block.barrier.arrived > 0
            || !block.warps[self.warp()].collectives.is_empty()
            || block.copies.pending(self.current.tid)
            || block.groups.waits(self.current.tid)
            || block.phases.in_flight()
            || self.cluster > 1
            || self.stores.reads_shared()
    }
}
