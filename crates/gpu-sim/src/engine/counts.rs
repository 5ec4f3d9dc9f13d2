//! Counting what warps do, grouped by (call site, occurrence).
//!
//! Lanes run one after another, so what a warp does "at once" is known only afterwards: every lane writes a log, and
//! at block barriers, and when the warp ends, the n-th event of each lane at a call site is one request.

use super::path::{Reach, Walks};
use super::{Caller, Engine};
use crate::fault::Site;
use crate::geometry::WARP;
use crate::metrics::Traffic;
use crate::metrics::cache::Hierarchy;
use crate::report::{Count, Counts, Operation, SiteCounts};

/// Events of a lane after which its warp's logs are grouped where all its lanes have come as far...
const SOON: usize = 1 << 12;
/// ...and after which they are grouped anyway: lanes that lag then count as requests of their own.
const LATE: usize = 1 << 15;

/// One operation of one thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event {
    pub(crate) site: u16,
    pub(crate) operation: Operation,
    pub(crate) size: u8,
    /// Asynchronous copies: the offset in shared memory. Branches: the arm. Operations of warpgroups: bytes.
    pub(crate) extra: u32,
    pub(crate) address: u64,
}

impl Event {
    fn alike(&self, other: &Self) -> bool {
        (self.site, self.operation, self.size) == (other.site, other.operation, other.size)
    }
}

/// One request: the events of the lanes that took part.
struct Group {
    lanes: usize,
    events: [Event; WARP as usize],
}

/// What has been counted, and scratch space to count more.
#[derive(Default)]
pub(crate) struct Tally {
    /// By site * operations + operation.
    counts: Vec<Count>,
    groups: Vec<Group>,
    /// By the same key: the groups of its first, second... occurrence.
    occurrences: Vec<Vec<u32>>,
    touched: Vec<usize>,
    seen: Vec<u32>,
    /// The modelled caches.
    caches: Option<Box<Hierarchy>>,
    /// What blocks do one after the other.
    pub(crate) walks: Walks,
}

/// Distinct sectors of 32 bytes and lines of 128; an access never spans two.
fn sectors_and_lines(events: &[Event]) -> [u64; 2] {
    let sector = |event: &Event| event.address / 32;
    let [mut sectors, mut lines] = [1, 1];
    for pair in events.windows(2) {
        let (a, b) = (sector(&pair[0]), sector(&pair[1]));
        if b < a {
            let mut all: Vec<u64> = events.iter().map(sector).collect();
            all.sort_unstable();
            all.dedup();
            let sectors = all.len() as u64;
            all.dedup_by_key(|sector| *sector / 4);
            return [sectors, all.len() as u64];
        }
        sectors += u64::from(b > a);
        lines += u64::from(b / 4 > a / 4);
    }
    [sectors, lines]
}

/// Passes through the banks: 32 banks of 4 bytes; 8- and 16-byte accesses are served by half and quarter warps;
/// lanes that want the same word share it.
fn wavefronts(events: &[Event], offset: impl Fn(&Event) -> u64) -> u64 {
    let words_each = usize::from(events[0].size).div_ceil(4).max(1);
    let mut total = 0;
    for part in events.chunks(WARP as usize / words_each) {
        let mut words = [0u32; WARP as usize];
        let mut len = 0;
        for event in part {
            for word in 0..words_each {
                words[len] = (offset(event) / 4) as u32 + word as u32;
                len += 1;
            }
        }
        let mut held = [u32::MAX; WARP as usize];
        let conflict = words[..len].iter().any(|&word| {
            let bank = &mut held[(word % WARP) as usize];
            let clash = *bank != u32::MAX && *bank != word;
            *bank = word;
            clash
        });
        if !conflict {
            total += 1;
            continue;
        }
        words[..len].sort_unstable();
        let mut in_bank = [0u64; WARP as usize];
        for at in 0..len {
            if at == 0 || words[at] != words[at - 1] {
                in_bank[(words[at] % WARP) as usize] += 1;
            }
        }
        total += in_bank.into_iter().max().unwrap_or(0);
    }
    total
}

impl Tally {
    pub(crate) fn new(caches: Option<Hierarchy>) -> Self {
        Self { caches: caches.map(Box::new), ..Self::default() }
    }

    /// What went through the caches.
    pub(crate) fn traffic(&self) -> Option<Traffic> {
        Some(self.caches.as_ref()?.traffic())
    }

    /// From here on, requests are those of warp `warp` of block `number`, in slot `slot`.
    fn warp(&mut self, number: u32, slot: usize, warp: usize) {
        self.walks.warp(slot, warp);
        if let Some(caches) = &mut self.caches {
            caches.block(number);
        }
    }

    fn count(&mut self, events: &[Event]) {
        let first = events[0];
        let key = usize::from(first.site) * Operation::COUNT + first.operation as usize;
        if key >= self.counts.len() {
            self.counts.resize(key + 1, Count::default());
        }
        let count = &mut self.counts[key];
        count.requests += 1;
        count.lanes += events.len() as u64;
        count.bytes += events.iter().map(|event| u64::from(event.size)).sum::<u64>();
        let mut reach = Reach::Near;
        if let Some(caches) = &mut self.caches
            && first.operation.is_global()
        {
            reach = caches.request(first.operation, events);
        }
        self.walks.step(&first, reach);
        match first.operation {
            Operation::GlobalLoad
            | Operation::ReadOnlyLoad
            | Operation::GlobalStore
            | Operation::GlobalAtomic => {
                let [sectors, lines] = sectors_and_lines(events);
                (count.sectors, count.lines) = (count.sectors + sectors, count.lines + lines);
            }
            Operation::SharedLoad | Operation::SharedStore | Operation::SharedAtomic => {
                count.wavefronts += wavefronts(events, |event| event.address);
            }
            Operation::AsyncCopy => {
                let [sectors, lines] = sectors_and_lines(events);
                (count.sectors, count.lines) = (count.sectors + sectors, count.lines + lines);
                count.wavefronts += wavefronts(events, |event| event.extra.into());
            }
            // A row of 128 bytes is a pass.
            Operation::BoxCopy | Operation::BoxStore => {
                let row = |event: &Event| (event.address, u64::from(event.size));
                let touched = |(address, size): (u64, u64)| (address + size).div_ceil(32) - address / 32;
                count.sectors += events.iter().map(row).map(touched).sum::<u64>();
                count.wavefronts += events.len() as u64;
            }
            Operation::WarpgroupMatrix => {
                count.bytes += events.iter().map(|one| u64::from(one.extra)).sum::<u64>()
            }
            Operation::Branch => {
                count.divergent += u64::from(events.iter().any(|event| event.extra != first.extra));
            }
            _ => {}
        }
    }

    /// All lanes did the same: the i-th events of all are one request.
    fn count_uniform(&mut self, logs: &[Vec<Event>], len: usize) -> bool {
        let (first, rest) = logs.split_first().expect("a warp has lanes");
        if rest.iter().any(|log| log[..len].iter().zip(&first[..len]).any(|(a, b)| !a.alike(b))) {
            return false;
        }
        let mut events =
            [Event { site: 0, operation: Operation::Loop, size: 0, extra: 0, address: 0 }; WARP as usize];
        for at in 0..len {
            for (event, log) in events.iter_mut().zip(logs) {
                *event = log[at];
            }
            self.count(&events[..logs.len()]);
        }
        true
    }

    /// Lanes went different ways: the n-th event of each lane at a site is one request.
    fn count_divergent<'a>(&mut self, logs: impl Iterator<Item = &'a [Event]>) {
        for log in logs {
            for event in log {
                let key = usize::from(event.site) * Operation::COUNT + event.operation as usize;
                if key >= self.occurrences.len() {
                    self.occurrences.resize_with(key + 1, Vec::new);
                    self.seen.resize(key + 1, 0);
                }
                let nth = self.seen[key] as usize;
                self.seen[key] += 1;
                if nth == 0 && self.occurrences[key].is_empty() {
                    self.touched.push(key);
                }
                if let Some(&group) = self.occurrences[key].get(nth) {
                    let group = &mut self.groups[group as usize];
                    group.events[group.lanes] = *event;
                    group.lanes += 1;
                } else {
                    self.occurrences[key].push(self.groups.len() as u32);
                    self.groups.push(Group { lanes: 1, events: [*event; WARP as usize] });
                }
            }
            for &key in &self.touched {
                self.seen[key] = 0;
            }
        }
        let groups = std::mem::take(&mut self.groups);
        for group in &groups {
            self.count(&group.events[..group.lanes]);
        }
        self.groups = groups;
        self.groups.clear();
        for key in self.touched.drain(..) {
            self.occurrences[key].clear();
        }
    }

    /// The totals, and the counts per site, merged where the compiler named one place several times.
    pub(crate) fn report(&self, sites: &[Option<Caller>]) -> (Counts, Vec<SiteCounts>) {
        let mut counts = Counts::default();
        let mut list: Vec<SiteCounts> = Vec::new();
        for (key, count) in self.counts.iter().enumerate().filter(|(_, count)| count.requests > 0) {
            let operation = Operation::ALL[key % Operation::COUNT];
            counts.get_mut(operation).add(count);
            if let Some(Some(caller)) = sites.get(key / Operation::COUNT) {
                list.push(SiteCounts { site: Site::from(*caller), operation, count: *count });
            }
        }
        list.sort_by(|a, b| (&a.site, a.operation).cmp(&(&b.site, b.operation)));
        list.dedup_by(|from, into| {
            let same = (&from.site, from.operation) == (&into.site, into.operation);
            if same {
                into.count.add(&from.count);
            }
            same
        });
        (counts, list)
    }
}

impl Engine {
    /// Logs an event of the running thread.
    #[inline]
    pub(crate) fn log(&mut self, operation: Operation, site: u16, address: u64, size: u32, _caller: Caller) {
        self.log_event(Event { site, operation, size: size as u8, extra: 0, address });
    }

    /// Logs an event if events are recorded at all.
    #[inline]
    pub(crate) fn log_if_full(
        &mut self,
        operation: Operation,
        site: u16,
        address: u64,
        size: u32,
        caller: Caller,
    ) {
        if self.record.is_counted() {
            self.log(operation, site, address, size, caller);
        }
    }

    #[inline]
    pub(crate) fn log_event(&mut self, event: Event) {
        let tid = self.current.tid as usize;
        let log = &mut self.blocks[self.current.slot].logs[tid];
        log.push(event);
        if log.len().is_multiple_of(SOON) {
            self.flush_early();
        }
    }

    /// A long log: group what all lanes of the warp that still run have reached.
    #[cold]
    #[inline(never)]
    fn flush_early(&mut self) {
        let (slot, number) = (self.current.slot, self.warp());
        let block = &mut self.blocks[slot];
        let first = number * WARP as usize;
        let last = (first + WARP as usize).min(block.logs.len());
        let exited = block.warps[number].exited;
        let logs = &mut block.logs[first..last];
        let running =
            logs.iter().enumerate().filter(|(lane, _)| exited >> lane & 1 == 0).map(|(_, log)| log.len());
        let common = running.min().unwrap_or(0);
        let longest = logs.iter().map(Vec::len).max().unwrap_or(0);
        let len = if common >= SOON / 2 {
            common
        } else if longest >= LATE {
            longest
        } else {
            return;
        };
        self.tally.warp(block.number, slot, number);
        self.tally.count_divergent(logs.iter().map(|log| &log[..len.min(log.len())]));
        for log in logs {
            log.drain(..len.min(log.len()));
        }
    }

    /// Groups all that a warp has logged.
    pub(crate) fn flush_warp(&mut self, slot: usize, number: usize) {
        if !self.record.is_counted() {
            return;
        }
        let first = number * WARP as usize;
        self.tally.warp(self.blocks[slot].number, slot, number);
        let logs = &mut self.blocks[slot].logs;
        let last = (first + WARP as usize).min(logs.len());
        let logs = &mut logs[first..last];
        let len = logs[0].len();
        if !logs.iter().all(|log| log.len() == len) || !self.tally.count_uniform(logs, len) {
            self.tally.count_divergent(logs.iter().map(Vec::as_slice));
        }
        for log in logs {
            log.clear();
        }
    }

    /// Groups all that the warps of a block have logged.
    pub(crate) fn flush_block(&mut self, slot: usize) {
        if self.record.is_counted() {
            for number in 0..self.blocks[slot].warps.len() {
                self.flush_warp(slot, number);
            }
            self.tally.walks.barrier(slot);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(size: u8, offsets: impl Iterator<Item = u64>) -> Vec<Event> {
        offsets
            .map(|address| Event { site: 1, operation: Operation::SharedLoad, size, extra: 0, address })
            .collect()
    }

    #[test]
    fn wavefronts_are_those_of_the_textbook() {
        let count = |size, offset: &dyn Fn(u64) -> u64| {
            wavefronts(&events(size, (0..32).map(offset)), |event| event.address)
        };
        assert_eq!(count(4, &|lane| lane * 4), 1, "consecutive words");
        assert_eq!(count(4, &|_| 64), 1, "one word for all");
        assert_eq!(count(4, &|lane| lane * 8), 2, "stride two");
        assert_eq!(count(4, &|lane| lane * 128), 32, "a column of a 32-wide tile");
        assert_eq!(count(4, &|lane| lane * 132), 1, "the same, padded");
        assert_eq!(count(1, &|lane| lane), 1, "bytes share words");
        assert_eq!(count(8, &|lane| lane * 8), 2, "half warps");
        assert_eq!(count(16, &|lane| lane * 16), 4, "quarter warps");
        assert_eq!(count(8, &|lane| lane * 16), 4, "stride two of double words");
    }

    #[test]
    fn sectors_and_lines_are_distinct_whatever_the_order() {
        assert_eq!(sectors_and_lines(&events(4, (0..32).map(|lane| lane * 4))), [4, 1]);
        assert_eq!(sectors_and_lines(&events(4, (0..32).rev().map(|lane| lane * 4))), [4, 1]);
        assert_eq!(sectors_and_lines(&events(4, (0..32).map(|lane| lane * 4096))), [32, 32]);
        assert_eq!(sectors_and_lines(&events(4, (0..32).map(|lane| lane % 2 * 64))), [2, 1]);
        assert_eq!(sectors_and_lines(&events(16, (0..32).map(|lane| lane * 16))), [16, 4]);
        // Rows of 64 bytes lie two in a line.
        assert_eq!(sectors_and_lines(&events(8, (0..32).map(|lane| lane * 64))), [32, 16]);
    }
}
