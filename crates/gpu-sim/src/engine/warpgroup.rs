//! What the 128 threads of a warpgroup do together.

use std::rc::Rc;

use super::access::Access;
use super::block::Status;
use super::counts::Event;
use super::sync::same_place;
use super::{Caller, Engine};
use crate::clock::join_into;
use crate::config::Record;
use crate::fault::{Direction, FaultKind, Space};
use crate::geometry::WARP;
use crate::report::Operation;

/// Threads of a warpgroup.
pub(crate) const WARPGROUP: u32 = 128;

/// Threads of a warpgroup that wait for the others.
pub(crate) struct Meeting {
    operation: &'static str,
    operand: u32,
    site: Caller,
    /// The first to come.
    first: u32,
    arrived: u32,
    /// What each thread brings, equally many words, in the order of their numbers.
    words: Vec<u32>,
}

/// The warpgroups of a block: who waits, and what the last operation read.
#[derive(Default)]
pub(crate) struct Warpgroups {
    meetings: Vec<Option<Meeting>>,
    read: Vec<Rc<Vec<f32>>>,
}

impl Warpgroups {
    /// Whether threads of the warpgroup of this thread wait.
    pub(crate) fn waits(&self, tid: u32) -> bool {
        self.meetings.get((tid / WARPGROUP) as usize).is_some_and(Option::is_some)
    }
}

impl Engine {
    /// Arrives; true when that completed it, false when the thread must wait. The last to come reads for all.
    pub(crate) fn arrive_warpgroup(
        &mut self,
        (operation, operand): (&'static str, u32),
        tiles: &[(u32, u32)],
        words: &[u32],
        read: impl FnOnce(&[u8], &[u32]) -> Vec<f32>,
        caller: Caller,
    ) -> bool {
        self.progress_check(caller);
        self.goes_on();
        let (tid, slot, number, lane) = (self.current.tid, self.current.slot, self.warp(), self.lane());
        self.check_collectives_of(number, lane, Some(caller), "is in an operation of a warpgroup");
        let group = (tid / WARPGROUP) as usize;
        let first = group as u32 * WARPGROUP;
        if first + WARPGROUP > self.per_block {
            let value = (self.per_block - first).into();
            let what = "threads of the warpgroup";
            self.raise(FaultKind::InvalidOperand { operation, what, value, allowed: "128" }, caller);
        }
        let block = &mut self.blocks[slot];
        if block.groups.meetings.len() <= group {
            block.groups.meetings.resize_with(group + 1, || None);
            block.groups.read.resize_with(group + 1, Rc::default);
        }
        let gone = (first..first + WARPGROUP)
            .find(|&tid| block.threads[tid as usize].status == Status::Finished)
            .map(|tid| format!("thread {:?} has exited", self.coordinates[tid as usize]));
        if let Some(detail) = gone {
            self.raise(FaultKind::WarpgroupDivergence { operation, detail }, caller);
        }
        let fresh = || {
            let words = vec![0; words.len() * WARPGROUP as usize];
            Meeting { operation, operand, site: caller, first: tid, arrived: 0, words }
        };
        let meeting = self.blocks[slot].groups.meetings[group].get_or_insert_with(fresh);
        if (meeting.operation, meeting.operand) != (operation, operand) || !same_place(meeting.site, caller) {
            let (other, site) = (meeting.operation, meeting.site);
            let who = self.coordinates[meeting.first as usize];
            let detail = format!("thread {who:?} is at {other}, {}:{}", site.file(), site.line());
            self.raise(FaultKind::WarpgroupDivergence { operation, detail }, caller);
        }
        let place = (tid - first) as usize * words.len();
        meeting.words[place..][..words.len()].copy_from_slice(words);
        meeting.arrived += 1;
        if meeting.arrived < WARPGROUP {
            let thread = &mut self.blocks[slot].threads[tid as usize];
            (thread.status, thread.site) = (Status::Warpgroup, Some(caller));
            return false;
        }
        let met = self.blocks[slot].groups.meetings[group].take();
        if !tiles.is_empty() {
            self.read_tiles(first, tiles, caller);
            if self.record.is_counted() {
                let (operation, size) = (Operation::WarpgroupMatrix, tiles.last().map_or(0, |tile| tile.1));
                let site = self.site(caller);
                self.log_event(Event { site, operation, size: 0, extra: size, address: 0 });
            }
            let words = met.map_or_else(Vec::new, |meeting| meeting.words);
            let numbers = read(self.blocks[slot].shared.bytes(), &words);
            self.blocks[slot].groups.read[group] = Rc::new(numbers);
        }
        self.progressed = true;
        for other in (first..first + WARPGROUP).filter(|&other| other != tid) {
            let block = &mut self.blocks[slot];
            block.threads[other as usize].status = Status::Runnable;
            block.warps[(other / WARP) as usize].runnable |= 1 << (other % WARP);
        }
        for warp in first / WARP..(first + WARPGROUP) / WARP {
            self.enqueue(slot, warp as usize);
        }
        true
    }

    /// The tensor cores read tiles for the warpgroup: recorded for the running thread, and each of the others knows of
    /// it, because each has waited for it.
    fn read_tiles(&mut self, first: u32, tiles: &[(u32, u32)], caller: Caller) {
        let tid = self.current.tid;
        self.block().tick(tid);
        for &(address, size) in tiles {
            let size = size as usize;
            let offset = self.shared_offset(address, size, Direction::Read, caller);
            if !offset.is_multiple_of(1024) {
                let (what, allowed) = ("offset of a tile", "a multiple of 1024");
                let value = offset as u64;
                self.raise(FaultKind::InvalidOperand { operation: "wgmma", what, value, allowed }, caller);
            }
            self.check_async(self.current.slot, offset, size, Direction::Read, caller);
            if self.block().shared.first_unwritten(offset, size).is_some() {
                self.unwritten(Space::Shared, offset as u64, size, Access::Read, caller);
            }
            if self.record != Record::Off {
                let site = self.site(caller);
                // Who waits knows what the others of the warpgroup know: all have come here.
                if let Some(conflict) = self.check_shared(self.current.slot, offset, size, Access::Read, site)
                {
                    self.raise_conflict(conflict, Space::Shared, offset as u64, Direction::Read, caller);
                }
                self.check_proxy(offset, size, caller);
            }
        }
        if self.watches_races() {
            let view = self.snapshot();
            let mut joint = None;
            join_into(&mut joint, &view);
            let block = self.block();
            for other in first..first + WARPGROUP {
                block.learn(other, &view);
            }
        }
    }

    /// What the last operation of the running thread's warpgroup read.
    pub(crate) fn warpgroup_read(&mut self) -> Rc<Vec<f32>> {
        let group = (self.current.tid / WARPGROUP) as usize;
        self.block().groups.read[group].clone()
    }

    /// A thread goes elsewhere while others of its warpgroup wait for it.
    pub(crate) fn check_warpgroup(&mut self, doing: &str) {
        let tid = self.current.tid;
        let group = (tid / WARPGROUP) as usize;
        let meeting = self.block().groups.meetings.get(group).and_then(Option::as_ref);
        let Some((operation, first, site)) = meeting.map(|m| (m.operation, m.first, m.site)) else { return };
        let detail = format!("thread {:?} {doing}", self.coordinates[tid as usize]);
        self.current.gid = self.current.gid - tid + first;
        self.raise(FaultKind::WarpgroupDivergence { operation, detail }, site);
    }

    /// Nobody can run, and some threads of a warpgroup wait for others.
    pub(crate) fn stuck_warpgroup(&self) -> Option<(usize, u32, FaultKind)> {
        self.blocks.iter().enumerate().filter(|(_, block)| block.live).find_map(|(slot, block)| {
            let meeting = block.groups.meetings.iter().flatten().next()?;
            let detail = "the others wait elsewhere".into();
            let kind = FaultKind::WarpgroupDivergence { operation: meeting.operation, detail };
            Some((slot, meeting.first, kind))
        })
    }
}
