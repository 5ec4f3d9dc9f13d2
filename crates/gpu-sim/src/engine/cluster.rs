//! Clusters: blocks that start together, wait for each other, and reach each other's shared memory.
//!
//! A block's shared memory is there from its first thread's start to its last one's end, and nothing but what threads
//! tell each other says when that is. So what a block does in another one's memory must come after something that this
//! one did, and before something that one of its threads still sees: both are looked at by what is known, not by the
//! order in which it happened to run.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::rc::Rc;

use super::access::Access;
use super::block::Status;
use super::sync::same_place;
use super::{Caller, Current, Engine};
use crate::clock::{View, join_into};
use crate::device::Bytes;
use crate::fault::{Direction, FaultKind, Space};
use crate::geometry::WARP;
use crate::memory::fold;

/// What the blocks of a cluster in flight have in common: their barrier.
#[derive(Default)]
pub(crate) struct Cluster {
    /// Phases of the barrier that are complete, and threads that have arrived in the present one.
    phases: u32,
    arrived: u32,
    /// By thread of the cluster: how often it has arrived, and waited.
    threads: Vec<(u32, u32)>,
    /// By warp: where its lanes arrived in the present phase.
    sites: Vec<Option<Caller>>,
    /// What was released in the present phase, and in all that are complete.
    present: Option<Rc<View>>,
    complete: Option<Rc<View>>,
    /// Threads that wait, by slot and number.
    waiting: Vec<(usize, u32)>,
    /// The first to have exited.
    exited: Option<u32>,
}

/// Uses of shared memory between a block and the others of its cluster.
#[derive(Default)]
pub(crate) struct Visits {
    /// By thread of another block: when it last used this one's, and where.
    here: BTreeMap<u32, (u32, Caller)>,
    /// Threads of this block that wrote to another one's and have not released it to the cluster since.
    written: BTreeSet<u32>,
}

impl Visits {
    /// A thread of the block releases what it wrote.
    pub(crate) fn released(&mut self, tid: u32) {
        self.written.remove(&tid);
    }

    /// Whether it has written what it has not released.
    pub(crate) fn has_written(&self, tid: u32) -> bool {
        self.written.contains(&tid)
    }
}

/// How blocks that cannot be reached are spoken of.
const NOT_BEGUN: &str = "has not begun, for all that the thread knows";
const GONE: &str = "is gone, for all that the thread knows";

impl Engine {
    /// The slots of the cluster in a place.
    pub(crate) fn slots_of(&self, group: usize) -> Range<usize> {
        let blocks = self.cluster as usize;
        group * blocks..(group + 1) * blocks
    }

    /// The place of the running thread's cluster.
    fn group(&self) -> usize {
        self.current.slot / self.cluster as usize
    }

    /// The running thread's block in its cluster.
    pub(crate) fn rank(&self) -> u32 {
        self.current.slot as u32 % self.cluster
    }

    /// The slot of a block of the running thread's cluster, by a thread's number.
    pub(crate) fn slot_of(&self, gid: u32) -> usize {
        self.group() * self.cluster as usize + (gid / self.per_block % self.cluster) as usize
    }

    /// A cluster starts in a place.
    pub(crate) fn start_cluster(&mut self, group: usize) {
        if self.cluster > 1 {
            let threads = (self.cluster * self.per_block) as usize;
            let warps = self.blocks[0].warps.len() * self.cluster as usize;
            self.clusters[group] =
                Cluster { threads: vec![(0, 0); threads], sites: vec![None; warps], ..Cluster::default() };
        }
    }

    /// The running thread's number in its cluster.
    fn in_cluster(&self) -> usize {
        (self.rank() * self.per_block + self.current.tid) as usize
    }

    fn cluster_divergence(&mut self, detail: String, caller: Caller) -> ! {
        let mut details =
            self.details(FaultKind::ClusterDivergence { detail }, Some(caller), self.current.gid);
        details.waiters = self.waiters(8, |status| status == Status::Cluster);
        self.raise_details(details)
    }

    fn in_words(&self, gid: u32) -> String {
        let (block, thread) = self.place(gid);
        format!("thread {thread:?} of block {block:?}")
    }

    /// What precedes either half of the cluster's barrier.
    fn come_to_cluster(&mut self, what: &'static str, caller: Caller) {
        self.progress_check(caller);
        self.goes_on();
        self.check_collectives_of(self.warp(), self.lane(), Some(caller), what);
    }

    /// Arrives at the cluster's barrier, and releases what the thread did and knows.
    pub(crate) fn cluster_arrive(&mut self, caller: Caller) {
        self.come_to_cluster("arrives at a barrier of the cluster", caller);
        if self.cluster == 1 {
            return;
        }
        let (group, thread) = (self.group(), self.in_cluster());
        let warp = self.rank() as usize * self.block().warps.len() + self.warp();
        let cluster = &mut self.clusters[group];
        if cluster.threads[thread].0 != cluster.threads[thread].1 {
            self.cluster_divergence("it arrives once more before it has waited".into(), caller);
        }
        if let Some(gone) = cluster.exited {
            let detail = format!("{} has exited", self.in_words(gone));
            self.cluster_divergence(detail, caller);
        }
        let site = *cluster.sites[warp].get_or_insert(caller);
        if !same_place(site, caller) {
            let detail = format!("lanes of its warp are at {}:{}", site.file(), site.line());
            self.cluster_divergence(detail, caller);
        }
        cluster.threads[thread].0 += 1;
        cluster.arrived += 1;
        if self.watches_races() {
            let (view, tid) = (self.snapshot(), self.current.tid);
            self.block().visits.released(tid);
            join_into(&mut self.clusters[group].present, &view);
        }
        self.progressed = true;
        if self.clusters[group].arrived == self.cluster * self.per_block {
            self.complete_cluster(group);
        }
    }

    fn complete_cluster(&mut self, group: usize) {
        let cluster = &mut self.clusters[group];
        cluster.arrived = 0;
        cluster.phases += 1;
        cluster.sites.fill(None);
        if let Some(view) = cluster.present.take() {
            join_into(&mut cluster.complete, &view);
        }
        let (view, woken) = (cluster.complete.clone(), std::mem::take(&mut cluster.waiting));
        for (slot, tid) in woken {
            let rank = slot as u32 % self.cluster;
            self.clusters[group].threads[(rank * self.per_block + tid) as usize].1 += 1;
            let block = &mut self.blocks[slot];
            if let Some(view) = &view {
                block.learn(tid, view);
            }
            block.threads[tid as usize].status = Status::Runnable;
            let number = (tid / WARP) as usize;
            block.warps[number].runnable |= 1 << (tid % WARP);
            self.enqueue(slot, number);
        }
    }

    /// Waits for the phase that the thread has arrived in; true when it is complete already, false when the thread must
    /// wait.
    pub(crate) fn cluster_wait(&mut self, caller: Caller) -> bool {
        self.come_to_cluster("waits at a barrier of the cluster", caller);
        if self.cluster == 1 {
            return true;
        }
        let (group, thread, slot, tid) =
            (self.group(), self.in_cluster(), self.current.slot, self.current.tid);
        let cluster = &mut self.clusters[group];
        let (arrivals, waits) = cluster.threads[thread];
        if arrivals == waits {
            self.cluster_divergence("it waits without having arrived".into(), caller);
        }
        if cluster.phases >= arrivals {
            cluster.threads[thread].1 += 1;
            if let Some(view) = cluster.complete.clone() {
                self.block().learn(tid, &view);
            }
            return true;
        }
        cluster.waiting.push((slot, tid));
        let thread = &mut self.block().threads[tid as usize];
        (thread.status, thread.site) = (Status::Cluster, Some(caller));
        false
    }

    /// Nobody can run, and some threads wait for their cluster.
    pub(crate) fn stuck_cluster(&self) -> Option<(usize, u32, FaultKind)> {
        let &(slot, tid) = self.clusters.iter().find_map(|cluster| cluster.waiting.first())?;
        Some((slot, tid, FaultKind::ClusterDivergence { detail: "the others wait elsewhere".into() }))
    }

    /// The running thread is about to leave the kernel: others must not wait for it, and with the last one goes its
    /// block's shared memory.
    pub(crate) fn leave_cluster(&mut self, last: bool) {
        if self.cluster == 1 {
            return;
        }
        let (group, thread, gid) = (self.group(), self.in_cluster(), self.current.gid);
        let cluster = &mut self.clusters[group];
        cluster.exited.get_or_insert(gid);
        // Of those that have arrived where this one has not, one is reported, at its place.
        let phases = cluster.phases;
        let waits = |&(at, &(arrivals, _)): &(usize, &(u32, u32))| (arrivals > phases).then_some(at);
        if cluster.threads[thread].0 == phases
            && let Some(at) = cluster.threads.iter().enumerate().find_map(|entry| waits(&entry))
        {
            let (rank, tid) = (at as u32 / self.per_block, at as u32 % self.per_block);
            let warp = rank as usize * self.block().warps.len() + (tid / WARP) as usize;
            let site = self.clusters[group].sites[warp].expect("its warp has arrived");
            let detail = format!("{} has exited", self.in_words(gid));
            let slot = self.slots_of(group).start + rank as usize;
            self.current.gid = self.blocks[slot].number * self.per_block + tid;
            self.cluster_divergence(detail, site);
        }
        if last && self.watches_races() {
            self.check_visits();
        }
    }

    /// What others did in the block's shared memory must have come to the knowledge of one of its threads, or it might
    /// come when that is gone.
    fn check_visits(&mut self) {
        let visits = std::mem::take(&mut self.block().visits).here;
        for (gid, (clock, caller)) in visits {
            let block = &self.blocks[self.current.slot];
            let first = block.number * self.per_block;
            let knows = |tid: u32| {
                let current = Current { slot: self.current.slot, tid, gid: first + tid };
                Self::who(block, current, self.per_block).knows(gid, clock)
            };
            if !(0..self.per_block).any(knows) {
                let rank = self.rank();
                self.current.gid = gid;
                self.raise(FaultKind::BlockOfCluster { rank, what: GONE }, caller);
            }
        }
    }

    /// The slot of the block of this rank, whose shared memory the running thread uses.
    pub(crate) fn visit(&mut self, rank: u32, operation: &'static str, caller: Caller) -> usize {
        if rank >= self.cluster {
            let (what, allowed) = ("rank", "below the blocks of the cluster");
            self.raise(FaultKind::InvalidOperand { operation, what, value: rank.into(), allowed }, caller);
        }
        let slot = self.slots_of(self.group()).start + rank as usize;
        if slot == self.current.slot {
            return slot;
        }
        if !self.blocks[slot].live {
            self.raise(FaultKind::BlockOfCluster { rank, what: GONE }, caller);
        }
        if self.watches_races() {
            let (tid, number) = (self.current.tid, self.blocks[slot].number);
            if self.block().view(tid).blocks.get(number) == 0 {
                self.raise(FaultKind::BlockOfCluster { rank, what: NOT_BEGUN }, caller);
            }
            self.note_visit(slot, caller);
        }
        slot
    }

    /// The running thread does something in the shared memory of the block in a slot now.
    pub(crate) fn note_visit(&mut self, slot: usize, caller: Caller) {
        if slot != self.current.slot && self.watches_races() {
            let (tid, gid) = (self.current.tid, self.current.gid);
            let clock = self.block().clock(tid);
            self.blocks[slot].visits.here.insert(gid, (clock, caller));
        }
    }

    /// Loads from the shared memory of the block of this rank.
    pub(crate) fn cluster_load(&mut self, rank: u32, offset: u32, size: usize, caller: Caller) -> Bytes {
        let slot = self.visit(rank, "ld.shared::cluster", caller);
        let at = self.shared_offset(offset, size, Direction::Read, caller);
        if !at.is_multiple_of(size) {
            self.misaligned(Space::Shared, at as u64, size, Direction::Read, caller);
        }
        self.check_async(slot, at, size, Direction::Read, caller);
        if !self.blocks[slot].shared.is_written(at, size) {
            if self.watches_races() {
                let site = self.site(caller);
                if let Some(conflict) = self.check_shared(slot, at, size, Access::Read, site) {
                    self.raise_conflict(conflict, Space::Shared, at as u64, Direction::Read, caller);
                }
            }
            self.park(Space::Shared, at as u64, size, caller);
        }
        let bytes = self.blocks[slot].shared.read(at, size);
        if self.observe {
            self.observe_shared(slot, at, size, Access::Read, fold(bytes), caller);
        }
        bytes
    }

    /// Stores to the shared memory of the block of this rank.
    pub(crate) fn cluster_store(
        &mut self,
        rank: u32,
        offset: u32,
        size: usize,
        bytes: Bytes,
        caller: Caller,
    ) {
        let slot = self.visit(rank, "st.shared::cluster", caller);
        let at = self.shared_offset(offset, size, Direction::Write, caller);
        if !at.is_multiple_of(size) {
            self.misaligned(Space::Shared, at as u64, size, Direction::Write, caller);
        }
        self.check_async(slot, at, size, Direction::Write, caller);
        if self.observe {
            self.observe_shared(slot, at, size, Access::Write, 0, caller);
        }
        if slot != self.current.slot {
            let tid = self.current.tid;
            self.block().visits.written.insert(tid);
        }
        let shared = &mut self.blocks[slot].shared;
        shared.mark_written(at, size);
        let changed = shared.write(at, size, bytes);
        self.progressed |= changed;
    }
}
