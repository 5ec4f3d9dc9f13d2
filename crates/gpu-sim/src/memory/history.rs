//! Atomic locations: who accessed them atomically, and the stores that a relaxed load may still return.

use std::collections::VecDeque;
use std::rc::Rc;

use super::cell::Conflict;
use super::runs::Runs;
use crate::clock::{View, Who};
use crate::fault::Direction;

/// The writer of a value that was there before anyone looked: known to all.
const NOBODY: u32 = u32::MAX;
/// Most readers remembered for coherence; beyond it loads only become less stale.
const READERS: usize = 64;

/// A store: its value, its writer, and what a thread that reads it may acquire.
#[derive(Clone)]
pub(crate) struct Message {
    pub(crate) value: u64,
    pub(crate) gid: u32,
    pub(crate) clock: u32,
    /// It is a read-modify-write's: nothing comes between it and the store before it.
    pub(crate) update: bool,
    /// The chain of blocks behind it, the writer's being one; 0 where no thread of this launch wrote it.
    pub(crate) hops: u32,
    /// What readers in the writer's block acquire.
    pub(crate) to_block: Option<Rc<View>>,
    /// What readers in other blocks acquire.
    pub(crate) to_device: Option<Rc<View>>,
}

/// One atomic location.
pub(crate) struct Location {
    /// Offset and size in its region, to tell accesses of another width.
    pub(crate) offset: usize,
    pub(crate) size: usize,
    /// The newest stores, oldest first; never empty.
    messages: VecDeque<Message>,
    /// Number of `messages[0]` in the location's modification order.
    first: u32,
    /// (thread, clock, number of the store read).
    readers: Vec<(u32, u32, u32)>,
    /// Nobody reads anything older any more.
    floor: u32,
    writes: Runs,
    reads: Runs,
    /// Some access had block scope.
    block_scope: bool,
    /// The plain write already accounted for, as (thread, clock).
    plain: (u32, u32),
}

impl Message {
    /// A value that was there before.
    fn initial(value: u64) -> Self {
        Self { value, gid: NOBODY, clock: 0, update: false, hops: 0, to_block: None, to_device: None }
    }
}

impl Location {
    pub(crate) fn new(offset: usize, size: usize, value: u64, plain: (u32, u32)) -> Self {
        Self {
            offset,
            size,
            messages: VecDeque::from([Message::initial(value)]),
            first: 0,
            readers: Vec::new(),
            floor: 0,
            writes: Runs::default(),
            reads: Runs::default(),
            block_scope: false,
            plain,
        }
    }

    /// A plain write, ordered before the present access, started the location anew.
    pub(crate) fn restart(&mut self, value: u64, plain: (u32, u32)) {
        if self.plain == plain {
            return;
        }
        self.plain = plain;
        self.first += self.messages.len() as u32;
        self.floor = self.first;
        self.messages.clear();
        self.messages.push_back(Message::initial(value));
    }

    /// What an atomic access is not ordered after, where scopes do not include each other.
    pub(crate) fn before_atomic(&self, who: &Who<'_>, write: bool, block_scope: bool) -> Option<Conflict> {
        if !block_scope && !self.block_scope {
            return None;
        }
        let fine = |gid: u32, theirs: bool, clock| {
            who.same_block(gid) || !(block_scope || theirs) || who.knows(gid, clock)
        };
        let look =
            |runs: &Runs, direction| {
                runs.iter().find_map(|run| {
                    (run.low..=run.high).find(|&gid| !fine(gid, run.block_scope, run.clock)).map(|gid| {
                        Conflict { gid, site: run.site, direction, atomic: true, read_only: false }
                    })
                })
            };
        look(&self.writes, Direction::Write)
            .or_else(|| if write { look(&self.reads, Direction::Read) } else { None })
    }

    /// What a plain access is not ordered after.
    pub(crate) fn before_plain(&self, who: &Who<'_>, write: bool) -> Option<Conflict> {
        let look = |runs: &Runs, direction| {
            runs.first_unknown(who).map(|(gid, run)| Conflict {
                gid,
                site: run.site,
                direction,
                atomic: true,
                read_only: false,
            })
        };
        look(&self.writes, Direction::Write)
            .or_else(|| if write { look(&self.reads, Direction::Read) } else { None })
    }

    /// Some atomic write that happened, ordered or not.
    pub(crate) fn any_write(&self) -> Option<(u32, u16)> {
        self.writes.iter().next().map(|run| (run.low, run.site))
    }

    /// Records an atomic access.
    pub(crate) fn note(&mut self, who: &Who<'_>, site: u16, write: bool, block_scope: bool) {
        self.block_scope |= block_scope;
        let runs = if write { &mut self.writes } else { &mut self.reads };
        runs.insert(who.gid, who.clock, site, block_scope, who);
    }

    /// Whether more stores than the newest are remembered.
    pub(crate) fn has_past(&self) -> bool {
        self.messages.len() > 1
    }

    /// Whether the values are those of the last plain write: none has come since that was accounted for.
    pub(crate) fn is_current(&self, plain: (u32, u32)) -> bool {
        plain == (0, 0) || self.plain == plain
    }

    /// Behind how many of the newest stores one by `who` may come in the modification order, none of which it knows:
    /// drawn from all such places, counted from the newest.
    pub(crate) fn place(&self, who: &Who<'_>, draw: impl FnOnce(u32) -> u32) -> usize {
        let newest = self.messages.len() - 1;
        let open = |age: &usize| *age == 0 || !self.messages[newest - age + 1].update;
        let places = || (0..self.choices(who)).filter(open);
        match places().count() {
            0 | 1 => 0,
            several => places().nth(1 + draw(several as u32 - 1) as usize).unwrap_or(0),
        }
    }

    /// The value of the store before so many.
    pub(crate) fn value(&self, age: usize) -> u64 {
        self.messages[self.messages.len() - 1 - age].value
    }

    /// How many stores a load by `who` may choose from: one means the newest only.
    pub(crate) fn choices(&self, who: &Who<'_>) -> usize {
        let mut oldest = self.floor.max(self.first);
        for (at, message) in self.messages.iter().enumerate().rev() {
            let number = self.first + at as u32;
            if number <= oldest {
                break;
            }
            if message.gid == NOBODY || who.knows(message.gid, message.clock) {
                oldest = number;
                break;
            }
        }
        for &(gid, clock, number) in &self.readers {
            if number > oldest && who.knows(gid, clock) {
                oldest = number;
            }
        }
        self.messages.len() - (oldest - self.first) as usize
    }

    /// A load returns the store `age` before the newest; later loads ordered after it return nothing older.
    pub(crate) fn load(&mut self, who: &Who<'_>, age: usize) -> Message {
        let at = self.messages.len() - 1 - age;
        let number = self.first + at as u32;
        // A thread's first read of a store tells most: whoever knows of any later one knows of it too.
        let known = self.readers.iter().any(|reader| (reader.0, reader.2) == (who.gid, number));
        if !known && number > self.floor.max(self.first) {
            if self.readers.len() >= READERS {
                let oldest = self.floor.max(self.first);
                self.readers.retain(|reader| reader.2 > oldest);
            }
            if self.readers.len() >= READERS {
                let (_, _, forgotten) = self.readers.swap_remove(0);
                self.floor = self.floor.max(forgotten);
            }
            self.readers.push((who.gid, who.clock, number));
        }
        self.messages[at].clone()
    }

    /// Adds a store to the modification order, before the `age` newest.
    pub(crate) fn store(&mut self, message: Message, age: usize, history: usize) {
        let at = self.messages.len() - age;
        if age > 0 {
            let number = self.first + at as u32;
            for reader in self.readers.iter_mut().filter(|reader| reader.2 >= number) {
                reader.2 += 1;
            }
        }
        self.messages.insert(at, message);
        while self.messages.len() > history.max(1) {
            self.messages.pop_front();
            self.first += 1;
        }
    }

    /// Carries over who accessed the bytes under another width.
    pub(crate) fn inherit(&mut self, other: &Self) {
        self.writes = other.writes.clone();
        self.reads = other.reads.clone();
        self.block_scope = other.block_scope;
    }
}

/// Who accessed a location atomically, once its launch is over.
pub(crate) struct Accesses {
    writes: Runs,
    reads: Runs,
    /// What reads it may acquire something.
    pub(crate) released: bool,
}

impl Accesses {
    /// Whether somebody read it: an update does.
    pub(crate) fn is_read(&self) -> bool {
        self.reads.iter().next().is_some() || self.writes.iter().next().is_some()
    }

    /// Some write, or some access.
    pub(crate) fn any(&self, or_read: bool) -> Option<Conflict> {
        let conflict = |runs: &Runs, direction| {
            let run = runs.iter().next()?;
            Some(Conflict { gid: run.low, site: run.site, direction, atomic: true, read_only: false })
        };
        conflict(&self.writes, Direction::Write)
            .or_else(|| conflict(&self.reads, Direction::Read).filter(|_| or_read))
    }
}

/// All atomic locations of a launch. Freed ones are used again.
#[derive(Default)]
pub(crate) struct Locations {
    slots: Vec<Option<Location>>,
    free: Vec<u32>,
}

impl Locations {
    pub(crate) fn add(&mut self, location: Location) -> u32 {
        if let Some(index) = self.free.pop() {
            self.slots[index as usize] = Some(location);
            return index;
        }
        self.slots.push(Some(location));
        self.slots.len() as u32 - 1
    }

    pub(crate) fn free(&mut self, index: u32) {
        if self.slots[index as usize].take().is_some() {
            self.free.push(index);
        }
    }

    /// Who accessed each, by the number that cells refer to it with.
    pub(crate) fn finish(self) -> Vec<Option<Accesses>> {
        let accesses = |Location { writes, reads, messages, .. }| {
            let released = messages.iter().any(|message| message.to_device.is_some());
            Accesses { writes, reads, released }
        };
        self.slots.into_iter().map(|slot| slot.map(accesses)).collect()
    }

    pub(crate) fn get(&mut self, index: u32) -> &mut Location {
        self.slots[index as usize].as_mut().expect("cells refer to live locations")
    }
}
