//! `cp.async`: copies that land when their thread waits for them.
//!
//! Between start and landing the hardware may read the source and write the target at any time, so nobody may touch the
//! target or write the source. The read is recorded twice, at the start and at the landing: who writes the source after
//! the one but not after the other races with it, in whatever order the two happen to run.

use std::collections::hash_map::Entry;

use super::access::Access;
use super::counts::Event;
use super::{Caller, Engine};
use crate::config::Record;
use crate::fault::{Direction, FaultKind, Space};
use crate::memory::cell::Conflict;
use crate::report::Operation;

/// Sources are looked up by pieces of this many bytes; none crosses a boundary between two.
const SOURCE: u64 = 16;

/// A copy under way.
struct Copy {
    /// The group it belongs to: how many its thread had committed before it.
    group: u32,
    shared: usize,
    bytes: usize,
    /// The source: its address, and how much of it is read.
    global: u64,
    source: usize,
    data: [u8; 16],
    caller: Caller,
}

/// The copies of a block that nobody has waited for.
#[derive(Default)]
pub(crate) struct AsyncCopies {
    /// Per thread.
    copies: Vec<Vec<Copy>>,
    under_way: usize,
    /// Per word of shared memory: how many copies into it are under way. Empty while there never were any.
    words: Vec<u16>,
    /// Per thread: groups committed.
    committed: Vec<u32>,
}

impl AsyncCopies {
    /// Whether a thread has copies under way.
    pub(crate) fn pending(&self, tid: u32) -> bool {
        self.copies.get(tid as usize).is_some_and(|copies| !copies.is_empty())
    }

    /// Makes room for a block's shared memory and threads.
    pub(crate) fn prepare(&mut self, words: usize, threads: usize) {
        if self.words.len() != words {
            self.words = vec![0; words];
            self.committed = vec![0; threads];
            self.copies.resize_with(threads, Vec::new);
        }
    }

    /// Bytes into which a copy is under way, or is not any longer.
    pub(crate) fn mark(&mut self, offset: usize, size: usize, under_way: bool) {
        for word in &mut self.words[offset / 4..(offset + size) / 4] {
            *word = if under_way { *word + 1 } else { *word - 1 };
        }
    }

    /// A copy under way that reads some of these bytes of global memory, and its thread.
    fn reading(&self, address: u64, size: usize) -> Option<(u32, &Copy)> {
        let end = address + size as u64;
        let reads = |copy: &&Copy| copy.global < end && address < copy.global + copy.source as u64;
        (0..).zip(&self.copies).find_map(|(tid, copies)| Some((tid, copies.iter().find(reads)?)))
    }
}

impl Engine {
    /// Ends the launch when shared memory of the block in a slot is touched that a copy will land in, or written that
    /// one may still read.
    #[inline]
    pub(crate) fn check_async(
        &mut self,
        slot: usize,
        offset: usize,
        size: usize,
        direction: Direction,
        caller: Caller,
    ) {
        if direction == Direction::Write && self.stores.reads_shared() {
            self.check_stored(slot, offset, size, caller);
        }
        let copies = &self.blocks[slot].copies;
        if (copies.under_way > 0 || self.flights > 0)
            && !copies.words.is_empty()
            && copies.words[offset / 4..(offset + size).div_ceil(4)].iter().any(|&n| n > 0)
        {
            self.raise(FaultKind::AsyncNotWaited { direction, address: offset as u64 }, caller);
        }
    }

    /// Ends the launch when global memory is written that a copy under way may still read.
    #[inline]
    pub(crate) fn check_sources(&mut self, address: u64, size: usize, caller: Caller) {
        if !self.sources.is_empty() && self.sources.contains_key(&(address / SOURCE)) {
            self.check_copies(address, size, caller);
        }
    }

    #[cold]
    fn check_copies(&mut self, address: u64, size: usize, caller: Caller) {
        let reader = self.blocks.iter().filter(|block| block.live).find_map(|block| {
            let (tid, copy) = block.copies.reading(address, size)?;
            Some((block.number * self.per_block + tid, copy.caller))
        });
        let Some((gid, started)) = reader else { return };
        let site = self.site(started);
        let conflict = Conflict { gid, site, direction: Direction::Read, atomic: false, read_only: false };
        self.raise_conflict(conflict, Space::Global, address, Direction::Write, caller);
    }

    /// Starts a copy of `source` bytes from global memory, followed by zeros up to `bytes`.
    pub(crate) fn copy_start(&mut self, shared: u32, global: u64, bytes: u32, source: u32, caller: Caller) {
        let refuse = |what, value: u32, allowed| FaultKind::InvalidOperand {
            operation: "cp.async",
            what,
            value: value.into(),
            allowed,
        };
        if !matches!(bytes, 4 | 8 | 16) {
            self.raise(refuse("size", bytes, "4, 8 or 16"), caller);
        }
        if source > bytes {
            self.raise(refuse("source size", source, "at most the size"), caller);
        }
        let (size, source) = (bytes as usize, source as usize);
        let offset = self.shared_offset(shared, size, Direction::Write, caller);
        if !offset.is_multiple_of(size) {
            self.misaligned(Space::Shared, offset as u64, size, Direction::Write, caller);
        }
        self.check_async(self.current.slot, offset, size, Direction::Write, caller);
        let mut data = [0; 16];
        // With nothing to read, the address is not looked at: that is how edges are filled with zeros.
        if source > 0 {
            if !global.is_multiple_of(u64::from(bytes)) {
                self.misaligned(Space::Global, global, size, Direction::Read, caller);
            }
            let Some((region, at)) = self.heap.reach(global, source) else {
                self.bad_address(global, source, Direction::Read, caller)
            };
            let unwritten = region.first_unwritten(at, source).is_some();
            data[..source].copy_from_slice(&region.bytes()[at..at + source]);
            self.read_source(global, source, caller);
            if unwritten {
                self.unwritten(Space::Global, global, source, Access::Read, caller);
            }
            *self.sources.entry(global / SOURCE).or_default() += 1;
        }
        let site = self.site(caller);
        if self.record.is_counted() {
            let size = bytes as u8;
            self.log_event(Event {
                site,
                operation: Operation::AsyncCopy,
                size,
                extra: offset as u32,
                address: global,
            });
        }
        let tid = self.current.tid;
        let block = self.block();
        let (words, threads) = (block.shared.len().div_ceil(4), block.threads.len());
        let copies = &mut block.copies;
        copies.prepare(words, threads);
        copies.mark(offset, size, true);
        let group = copies.committed[tid as usize];
        copies.under_way += 1;
        let copy = Copy { group, shared: offset, bytes: size, global, source, data, caller };
        copies.copies[tid as usize].push(copy);
    }

    /// The source of a copy is read like any other data: in naturally aligned pieces.
    fn read_source(&mut self, global: u64, source: usize, caller: Caller) {
        if self.record == Record::Off {
            return;
        }
        let site = self.site(caller);
        let mut done = 0;
        while done < source {
            let piece = if source - done >= 4 { 4 } else { 1 };
            let address = global + done as u64;
            self.check_earlier(address, piece, Access::Read, false, caller);
            if let Some(conflict) = self.check_global(address, piece, Access::Read, site) {
                self.raise_conflict(conflict, Space::Global, address, Direction::Read, caller);
            }
            done += piece;
        }
    }

    /// A copy no longer reads its source.
    fn source_is_free(&mut self, global: u64) {
        if let Entry::Occupied(mut readers) = self.sources.entry(global / SOURCE) {
            *readers.get_mut() -= 1;
            if *readers.get() == 0 {
                readers.remove();
            }
        }
    }

    /// Ends a group: the copies started since the last commit.
    pub(crate) fn copy_commit(&mut self) {
        let tid = self.current.tid as usize;
        let block = self.block();
        let threads = block.threads.len();
        block.copies.committed.resize(threads, 0);
        block.copies.committed[tid] += 1;
    }

    /// Waits until at most `pending` of the thread's latest groups are under way: all older copies land.
    pub(crate) fn copy_wait(&mut self, pending: u32) {
        let tid = self.current.tid as usize;
        let AsyncCopies { copies, under_way, committed, .. } = &mut self.block().copies;
        let Some(copies) = copies.get_mut(tid) else { return };
        let landed_below = committed[tid].saturating_sub(pending);
        // In the order of their groups.
        let count = copies.partition_point(|copy| copy.group < landed_below);
        *under_way -= count;
        let landed: Vec<Copy> = copies.drain(..count).collect();
        for Copy { shared: offset, bytes, global, source, data, caller: started, .. } in landed {
            if source > 0 {
                self.source_is_free(global);
                self.read_source(global, source, started);
            }
            let block = self.block();
            for word in &mut block.copies.words[offset / 4..(offset + bytes) / 4] {
                *word -= 1;
            }
            block.shared.bytes_mut()[offset..offset + bytes].copy_from_slice(&data[..bytes]);
            block.shared.mark_written(offset, bytes);
            self.progressed = true;
            if self.record != Record::Off {
                // The copy is a write by this thread, at the line that started it.
                let site = self.site(started);
                if let Some(conflict) =
                    self.check_shared(self.current.slot, offset, bytes, Access::Write, site)
                {
                    self.raise_conflict(conflict, Space::Shared, offset as u64, Direction::Write, started);
                }
            }
        }
    }

    /// A thread exits: its copies land, unseen by it. Whoever reads them later is not ordered after them.
    pub(crate) fn abandon_copies(&mut self) {
        let tid = self.current.tid;
        let block = self.block();
        if block.copies.pending(tid) {
            block.copies.committed[tid as usize] += 1;
            self.copy_wait(0);
        }
    }
}
