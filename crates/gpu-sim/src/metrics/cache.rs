//! A model of the caches: what of a launch's traffic reaches L2 and memory.
//!
//! Set-associative, lines of 128 bytes in four sectors, least recently used out first, an L1 for each multiprocessor
//! and one L2:
//!
//! | | L1 | L2 |
//! |---|---|---|
//! | size | [`Architecture::l1_bytes`], less the shared memory of the resident blocks | [`Architecture::l2_bytes`] |
//! | associativity | 4 sets | 16 ways |
//! | a load that misses | brings the sectors asked for | the pairs of sectors that they are in, 64 bytes |
//! | a store | goes through; a line that is there is updated, none is brought | is written when its line leaves |
//! | an atomic | passes by | is done there, like a store |
//!
//! Lines are spread over the sets by a hash, as strides of powers of two would meet in one set otherwise. NVIDIA
//! publishes sizes, lines and sectors; associativity, hash and replacement are assumptions.
//!
//! Blocks go to multiprocessors in turn, by their number. Requests come in the order in which the simulator groups
//! them: all of a warp between two barriers, then those of the next warp. A GPU mixes them more finely and keeps more
//! blocks in flight. So these rates tell what locality the kernel offers, not what a device makes of it; the sectors
//! on the L1's side are exact. Every launch starts with empty caches.

use super::Architecture;
use super::occupancy::resident_blocks;
use crate::engine::counts::Event;
use crate::engine::path::Reach;
use crate::geometry::Geometry;
use crate::report::Operation;

const LINE: u64 = 128;
const SECTOR: u64 = 32;
const L1_SETS: usize = 4;
const L2_WAYS: usize = 16;

/// Sectors of 32 bytes that went through the modelled caches in a launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Loaded through L1.
    pub l1_loads: u64,
    /// Of those, found there.
    pub l1_load_hits: u64,
    /// Read from L2: what L1 did not have.
    pub l2_reads: u64,
    /// Of those, found there.
    pub l2_read_hits: u64,
    /// Written to L2.
    pub l2_writes: u64,
    /// Of those, found there.
    pub l2_write_hits: u64,
    /// Atomic operations in L2.
    pub l2_atomics: u64,
    /// Of those, found there.
    pub l2_atomic_hits: u64,
    /// Read from memory.
    pub dram_reads: u64,
    /// Written to memory while the launch ran.
    pub dram_writes: u64,
    /// Still to be written to memory at its end.
    pub dirty: u64,
}

impl Traffic {
    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            l1_loads: self.l1_loads + other.l1_loads,
            l1_load_hits: self.l1_load_hits + other.l1_load_hits,
            l2_reads: self.l2_reads + other.l2_reads,
            l2_read_hits: self.l2_read_hits + other.l2_read_hits,
            l2_writes: self.l2_writes + other.l2_writes,
            l2_write_hits: self.l2_write_hits + other.l2_write_hits,
            l2_atomics: self.l2_atomics + other.l2_atomics,
            l2_atomic_hits: self.l2_atomic_hits + other.l2_atomic_hits,
            dram_reads: self.dram_reads + other.dram_reads,
            dram_writes: self.dram_writes + other.dram_writes,
            dirty: self.dirty + other.dirty,
        }
    }
}

#[derive(Clone, Copy, Default)]
struct Line {
    /// The line's number plus one; zero: empty.
    tag: u64,
    used: u64,
    /// A bit for each sector that is there...
    valid: u8,
    /// ...and that memory does not have yet.
    dirty: u8,
}

struct Cache {
    lines: Vec<Line>,
    ways: usize,
    time: u64,
}

/// What an access to a cache did, as bits of sectors.
struct Outcome {
    hits: u8,
    /// Dirty sectors of the line that had to leave.
    written_back: u8,
}

impl Cache {
    fn new(sets: usize, ways: usize) -> Self {
        Self { lines: vec![Line::default(); sets.max(1) * ways.max(1)], ways: ways.max(1), time: 0 }
    }

    fn set(&mut self, number: u64) -> &mut [Line] {
        let sets = (self.lines.len() / self.ways) as u64;
        let hash = (number ^ number >> 17).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let first = (hash % sets) as usize * self.ways;
        &mut self.lines[first..first + self.ways]
    }

    /// Accesses sectors of a line, and brings it in where it is not there.
    fn access(&mut self, number: u64, sectors: u8, write: bool) -> Outcome {
        self.time += 1;
        let time = self.time;
        let set = self.set(number);
        let (mut oldest, mut found) = (0, None);
        for (way, line) in set.iter().enumerate() {
            if line.tag == number + 1 {
                found = Some(way);
                break;
            }
            if line.used < set[oldest].used {
                oldest = way;
            }
        }
        let mut written_back = 0;
        let line = &mut set[found.unwrap_or(oldest)];
        if found.is_none() {
            written_back = line.dirty;
            *line = Line { tag: number + 1, ..Line::default() };
        }
        let hits = line.valid & sectors;
        line.valid |= sectors;
        line.used = time;
        if write {
            line.dirty |= sectors;
        }
        Outcome { hits, written_back }
    }
}

/// The caches of a device while a launch runs.
pub(crate) struct Hierarchy {
    /// One for each multiprocessor, made when its first block runs.
    l1: Vec<Option<Cache>>,
    l1_ways: usize,
    /// The multiprocessor whose requests come.
    at: usize,
    l2: Cache,
    traffic: Traffic,
    /// Scratch: line and sectors of a request.
    parts: Vec<(u64, u8)>,
}

impl Hierarchy {
    pub(crate) fn new(architecture: &Architecture, geometry: &Geometry) -> Self {
        let mut l1 = architecture.l1_bytes;
        if architecture.unified {
            let block = geometry.shared_bytes + architecture.shared_reserved;
            let carved = resident_blocks(architecture, geometry, None) * block;
            // Some is always left: at the largest carve-out too.
            l1 = l1.saturating_sub(carved).max(architecture.l1_bytes - architecture.shared_bytes);
        }
        let l2_sets = architecture.l2_bytes as usize / LINE as usize / L2_WAYS;
        Self {
            l1: (0..architecture.multiprocessors.max(1)).map(|_| None).collect(),
            l1_ways: l1 as usize / LINE as usize / L1_SETS,
            at: 0,
            l2: Cache::new(l2_sets, L2_WAYS),
            traffic: Traffic::default(),
            parts: Vec::new(),
        }
    }

    /// From here on requests are those of block `number`.
    pub(crate) fn block(&mut self, number: u32) {
        self.at = number as usize % self.l1.len();
    }

    /// One request of a warp to global memory, and how far it had to go.
    pub(crate) fn request(&mut self, operation: Operation, events: &[Event]) -> Reach {
        let before = self.traffic;
        let mut parts = std::mem::take(&mut self.parts);
        parts.clear();
        let mut add = |address: u64| {
            let (line, bit) = (address / LINE, 1 << (address % LINE / SECTOR));
            match parts.last_mut() {
                Some((last, sectors)) if *last == line => *sectors |= bit,
                _ => parts.push((line, bit)),
            }
        };
        for event in events {
            add(event.address);
            // Only rows of boxes are longer than what a lane accesses, which lies in a sector.
            if matches!(operation, Operation::BoxCopy | Operation::BoxStore) {
                let next = (event.address / SECTOR + 1) * SECTOR;
                (next..event.address + u64::from(event.size)).step_by(SECTOR as usize).for_each(&mut add);
            }
        }
        parts.sort_unstable();
        parts.dedup_by(|from, into| {
            let same = from.0 == into.0;
            if same {
                into.1 |= from.1;
            }
            same
        });
        // Copies of 16 bytes bypass L1 (`cp.async.cg`), and so does the copy engine.
        let bypass =
            operation == Operation::BoxCopy || operation == Operation::AsyncCopy && events[0].size == 16;
        for &(line, sectors) in &parts {
            match operation {
                Operation::GlobalStore | Operation::BoxStore => self.store(line, sectors),
                Operation::GlobalAtomic => self.atomic(line, sectors),
                _ if bypass => self.read_l2(line, sectors),
                _ => self.load(line, sectors),
            }
        }
        self.parts = parts;
        if self.traffic.dram_reads > before.dram_reads {
            Reach::Memory
        } else if self.traffic.l2_reads > before.l2_reads {
            Reach::L2
        } else {
            Reach::Near
        }
    }

    fn load(&mut self, line: u64, sectors: u8) {
        let ways = self.l1_ways;
        let l1 = self.l1[self.at].get_or_insert_with(|| Cache::new(L1_SETS, ways));
        let hits = l1.access(line, sectors, false).hits;
        self.traffic.l1_loads += count(sectors);
        self.traffic.l1_load_hits += count(hits);
        if hits != sectors {
            self.read_l2(line, sectors & !hits);
        }
    }

    fn read_l2(&mut self, line: u64, sectors: u8) {
        let outcome = self.l2.access(line, sectors, false);
        self.traffic.l2_reads += count(sectors);
        self.traffic.l2_read_hits += count(outcome.hits);
        self.traffic.dram_writes += count(outcome.written_back);
        let missed = sectors & !outcome.hits;
        if missed != 0 {
            let beside = pairs(missed) & !missed;
            let there = self.l2.access(line, beside, false).hits;
            self.traffic.dram_reads += count(missed) + count(beside & !there);
        }
    }

    // L1 has nothing to do: it holds no data here, so updating a line changes nothing that is counted.
    fn store(&mut self, line: u64, sectors: u8) {
        let outcome = self.l2.access(line, sectors, true);
        self.traffic.l2_writes += count(sectors);
        self.traffic.l2_write_hits += count(outcome.hits);
        self.traffic.dram_writes += count(outcome.written_back);
    }

    fn atomic(&mut self, line: u64, sectors: u8) {
        let outcome = self.l2.access(line, sectors, true);
        self.traffic.l2_atomics += count(sectors);
        self.traffic.l2_atomic_hits += count(outcome.hits);
        self.traffic.dram_reads += count(sectors & !outcome.hits);
        self.traffic.dram_writes += count(outcome.written_back);
    }

    pub(crate) fn traffic(&self) -> Traffic {
        let dirty = self.l2.lines.iter().map(|line| count(line.dirty)).sum();
        Traffic { dirty, ..self.traffic }
    }
}

/// The pairs that sectors are in.
fn pairs(sectors: u8) -> u8 {
    let first = (sectors | sectors >> 1) & 0b0101;
    first | first << 1
}

fn count(sectors: u8) -> u64 {
    sectors.count_ones().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: Architecture = Architecture {
        multiprocessors: 2,
        l1_bytes: 4096,
        unified: false,
        l2_bytes: 65_536,
        ..Architecture::P100
    };

    fn run(requests: &[(Operation, u32, u64)]) -> Traffic {
        let mut caches = Hierarchy::new(&SMALL, &Geometry::linear(2, 32, 0));
        for &(operation, block, first) in requests {
            let events: Vec<Event> = (0..32)
                .map(|lane| Event {
                    site: 1,
                    operation,
                    size: 4,
                    extra: 0,
                    address: (1 << 40) + first + lane * 4,
                })
                .collect();
            caches.block(block);
            caches.request(operation, &events);
        }
        caches.traffic()
    }

    #[test]
    fn a_line_is_found_by_its_own_multiprocessor_and_in_l2_by_the_other() {
        use Operation::GlobalLoad;
        let traffic = run(&[(GlobalLoad, 0, 0), (GlobalLoad, 0, 0), (GlobalLoad, 1, 0), (GlobalLoad, 2, 0)]);
        let expected = Traffic {
            l1_loads: 16,
            l1_load_hits: 8,
            l2_reads: 8,
            l2_read_hits: 4,
            dram_reads: 4,
            ..Traffic::default()
        };
        assert_eq!(traffic, expected);
    }

    #[test]
    fn only_the_sectors_asked_for_come() {
        // 32 words from byte 64 on: the second half of one line, the first of the next; then the whole first line.
        let traffic = run(&[(Operation::GlobalLoad, 0, 64), (Operation::GlobalLoad, 0, 0)]);
        assert_eq!((traffic.l1_loads, traffic.l1_load_hits, traffic.dram_reads), (8, 2, 6));
    }

    /// A sector of each of 32 lines comes with its neighbour, which is there then.
    #[test]
    fn memory_brings_pairs_of_sectors() {
        assert_eq!([0b0001, 0b0110, 0b1000, 0b1111].map(pairs), [0b0011, 0b1111, 0b1100, 0b1111]);
        let mut caches = Hierarchy::new(&SMALL, &Geometry::linear(2, 32, 0));
        let events = |first: u64| -> Vec<Event> {
            let event =
                |lane| Event { site: 1, operation: Operation::GlobalLoad, size: 4, extra: 0, address: lane };
            (0..32).map(|lane| event((1 << 40) + first + lane * 128)).collect()
        };
        caches.block(0);
        caches.request(Operation::GlobalLoad, &events(0));
        assert_eq!((caches.traffic().l2_reads, caches.traffic().dram_reads), (32, 64));
        caches.request(Operation::GlobalLoad, &events(32));
        assert_eq!((caches.traffic().l2_reads, caches.traffic().dram_reads), (64, 64));
    }

    #[test]
    fn stores_bring_nothing_into_l1_and_leave_l2_when_its_line_does() {
        let mut requests = vec![(Operation::GlobalStore, 0, 0), (Operation::GlobalLoad, 0, 0)];
        let traffic = run(&requests);
        assert_eq!((traffic.l2_writes, traffic.l2_write_hits, traffic.l1_load_hits), (4, 0, 0));
        assert_eq!((traffic.l2_reads, traffic.l2_read_hits, traffic.dram_reads), (4, 4, 0));
        assert_eq!((traffic.dirty, traffic.dram_writes), (4, 0));
        // Sixteen times what L2 holds.
        requests.extend((0..8192).map(|line| (Operation::GlobalLoad, 0, line * 128 + 128)));
        let traffic = run(&requests);
        assert_eq!((traffic.dirty, traffic.dram_writes), (0, 4));
    }

    #[test]
    fn more_than_the_cache_holds_is_not_found_again() {
        let lines = |count: u64| (0..count).map(|line| (Operation::GlobalLoad, 0, line * 128));
        let twice = |count| run(&lines(count).chain(lines(count)).collect::<Vec<_>>());
        // L1 holds 32 lines, L2 512; the hash spreads an eighth of that without overflowing a set.
        assert_eq!(twice(4).l1_load_hits, 16);
        assert_eq!(twice(64).l2_read_hits, 4 * 64);
        assert_eq!(twice(4096).l2_read_hits, 0);
    }

    #[test]
    fn atomics_are_done_in_l2() {
        let traffic = run(&[(Operation::GlobalAtomic, 0, 0), (Operation::GlobalAtomic, 1, 0)]);
        assert_eq!(
            (traffic.l2_atomics, traffic.l2_atomic_hits, traffic.l1_loads, traffic.dram_reads),
            (8, 4, 0, 4)
        );
    }
}
