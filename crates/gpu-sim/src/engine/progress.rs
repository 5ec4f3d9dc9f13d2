//! Whether anything still moves: steps, budgets, and threads that wait for what never comes.

use std::collections::HashSet;

use super::block::{POLLS, Status};
use super::{Caller, Engine};
use crate::config::Config;
use crate::fault::{FaultKind, Waiter};
use crate::rng::Rng;

/// Reads remembered while a livelock is suspected.
const SEEN: usize = 1 << 20;

impl Engine {
    /// The running thread has loaded a value atomically.
    #[inline]
    pub(crate) fn polls(&mut self, caller: Caller, address: u64, value: u64) {
        let key = (std::ptr::from_ref(caller).addr() as u64)
            .wrapping_add(address.rotate_left(24))
            .wrapping_add(value.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let tid = self.current.tid as usize;
        let (last, times) = self.block().threads[tid].polled;
        if last != key {
            self.goes_on();
            self.block().threads[tid].polled = (key, 0);
        } else if times < POLLS {
            self.block().threads[tid].polled.1 = times + 1;
            self.scheduler.polling += u32::from(times + 1 == POLLS);
        }
    }

    /// The running thread does something else than to wait for a value.
    #[inline]
    pub(crate) fn goes_on(&mut self) {
        let tid = self.current.tid as usize;
        let polled = std::mem::take(&mut self.block().threads[tid].polled);
        self.scheduler.polling -= u32::from(polled.1 == POLLS);
    }

    /// Counts a step, and looks at progress and budgets when it is time.
    #[inline]
    pub(crate) fn progress_check(&mut self, caller: Caller) {
        self.scheduler.steps += 1;
        if self.scheduler.steps >= self.scheduler.look_at {
            self.look_at_progress(caller);
        }
    }

    /// Whether nobody will come any more to write what the parked thread has read.
    #[inline]
    pub(super) fn waited_enough(&self) -> bool {
        self.parked.as_ref().is_some_and(|parked| self.scheduler.steps >= parked.until)
    }

    #[cold]
    #[inline(never)]
    fn look_at_progress(&mut self, caller: Caller) {
        let steps = self.scheduler.steps;
        if steps >= self.scheduler.step_budget {
            if let Some(details) = self.take_parked() {
                self.raise_details(details);
            }
            let budget = self.scheduler.step_budget;
            self.raise(FaultKind::StepBudget { budget }, caller);
        }
        let warps = self.blocks.iter().filter(|block| block.live).flat_map(|block| &block.warps);
        let runnable: u32 = warps.map(|warp| warp.runnable.count_ones()).sum();
        let budget = self.scheduler.spin_budget + Config::SPIN_STEPS_PER_THREAD * u64::from(runnable);
        if std::mem::take(&mut self.progressed) {
            self.scheduler.progress_at = steps;
            self.scheduler.seen = None;
            self.scheduler.news = false;
            self.scheduler.look_at = steps + self.scheduler.spin_budget;
        } else if std::mem::take(&mut self.scheduler.news) {
            // What was read stays remembered: only what is new beyond it will count again.
            self.scheduler.progress_at = steps;
            self.scheduler.look_at = steps + budget / 8 + 1;
        } else if self.scheduler.seen.is_none() {
            // From half-way on, reads of anything new count as progress too.
            if steps - self.scheduler.progress_at >= budget / 2 {
                self.scheduler.seen = Some(HashSet::new());
                self.scheduler.progress_at = steps - budget / 2;
            }
            self.scheduler.look_at = steps + budget / 8 + 1;
        } else if steps - self.scheduler.progress_at < budget {
            self.scheduler.look_at = steps + budget / 8 + 1;
        } else {
            // Whoever waits for a parked thread waits in vain.
            if let Some(details) = self.take_parked() {
                self.raise_details(details);
            }
            let steps = steps - self.scheduler.progress_at;
            let not_started = self.scheduler.waiting.left();
            let mut details =
                self.details(FaultKind::Livelock { steps, not_started }, Some(caller), self.current.gid);
            details.waiters = self.waiters(8, |status| status != Status::Finished);
            self.raise_details(details);
        }
        self.scheduler.look_at = self.scheduler.look_at.min(self.scheduler.step_budget);
        self.observe = self.watches_races() || self.scheduler.seen.is_some();
    }

    /// Steps so far, each value given once.
    pub(crate) fn clock(&mut self) -> u64 {
        self.scheduler.steps += 1;
        self.scheduler.steps + u64::from(self.config.quantum - self.quantum)
    }

    /// In suspicion: a read of something that its thread has not read since the last progress is progress.
    #[cold]
    #[inline(never)]
    pub(crate) fn note_read(&mut self, address: u64, value: u64) {
        let gid = u64::from(self.current.gid);
        if let Some(seen) = &mut self.scheduler.seen {
            let mut hash = Rng::new(address ^ gid.rotate_left(32)).next();
            hash = Rng::new(hash ^ value).next();
            self.scheduler.news |= seen.insert(hash);
            // A thread that reads through a large array is not spinning; forget, to stay small.
            if seen.len() > SEEN {
                seen.clear();
            }
        }
    }

    /// Blocks are left, and none of their threads can run. At a barrier alone threads do not stay: the last to come
    /// releases them, and one that exits is reported. So they wait for a parked thread, or lanes for each other in
    /// collectives.
    pub(super) fn nobody_can_run(&mut self) {
        if let Some(details) = self.take_parked() {
            return self.set_fault(details);
        }
        let stuck = self.stuck_collective().or_else(|| self.stuck_warpgroup()).or_else(|| self.stuck_phase());
        let stuck = stuck.or_else(|| self.stuck_cluster());
        let (slot, tid, kind) = stuck.unwrap_or_else(|| self.stuck_barrier());
        let block = &self.blocks[slot];
        let (gid, site) = (block.number * self.per_block + tid, block.threads[tid as usize].site);
        let mut details = self.details(kind, site, gid);
        details.waiters = self.waiters(8, |status| status != Status::Finished);
        self.set_fault(details);
    }

    /// The first `most` resident threads in a state of interest.
    pub(crate) fn waiters(&self, most: usize, wanted: impl Fn(Status) -> bool) -> Vec<Waiter> {
        let mut waiters = Vec::new();
        for (slot, block) in self.blocks.iter().enumerate().filter(|(_, block)| block.live) {
            for (tid, thread) in block.threads.iter().enumerate() {
                if waiters.len() < most && wanted(thread.status) {
                    waiters.push(self.waiter(slot, tid as u32));
                }
            }
        }
        waiters
    }
}
