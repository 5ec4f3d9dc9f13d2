//! The last accesses of one granule, and what is not ordered after them.

use super::shadow::ReadSets;
use crate::clock::Who;
use crate::fault::Direction;

/// In `Cell::read_clock`: `read_gid` is the number of a set.
pub(super) const SHARED: u32 = u32::MAX;
/// Threads as far apart that a cell stands for. With one more a set begins to look for entries that are superseded, and
/// a cell stands for nothing but what a set of as many would hold.
const MOST_APART: u32 = 8;
/// In `Cell::write_site`: somebody read the granule through a read-only load.
pub(super) const READ_ONLY: u16 = 1 << 15;

/// An access that the present one is not ordered after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Conflict {
    pub(crate) gid: u32,
    pub(crate) site: u16,
    pub(crate) direction: Direction,
    pub(crate) atomic: bool,
    /// It is about a read-only load, whatever the order.
    pub(crate) read_only: bool,
}

impl Conflict {
    pub(super) fn plain(gid: u32, site: u16, direction: Direction) -> Self {
        Self { gid, site, direction, atomic: false, read_only: false }
    }
}

/// What is known of one granule. Clock zero: nobody.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Cell {
    pub(super) write_gid: u32,
    pub(super) write_clock: u32,
    /// The first of the threads that have read.
    pub(super) read_gid: u32,
    /// The last of them.
    pub(super) read_last: u32,
    /// How far they are apart where they are no neighbours; else zero.
    pub(super) read_step: u32,
    pub(super) read_clock: u32,
    pub(super) write_site: u16,
    pub(super) read_site: u16,
    /// Number of the atomic location, plus one.
    pub(crate) atomic: u32,
}

impl Cell {
    /// The last plain write, as (thread, clock, site).
    pub(crate) fn last_write(&self) -> Option<(u32, u32, u16)> {
        (self.write_clock != 0).then_some((self.write_gid, self.write_clock, self.write_site & !READ_ONLY))
    }

    /// What a write, plain or atomic, is not ordered after.
    #[inline]
    pub(super) fn before_write(&self, who: &Who<'_>, sets: &ReadSets) -> Option<Conflict> {
        if self.write_clock != 0 && !who.knows(self.write_gid, self.write_clock) {
            return Some(Conflict::plain(self.write_gid, self.write_site & !READ_ONLY, Direction::Write));
        }
        let unordered = match self.read_clock {
            0 => None,
            SHARED => sets.sets[self.read_gid as usize].first_unknown(who).map(|(gid, run)| (gid, run.site)),
            clock if self.read_step == 0 => {
                let unknown = who.first_unknown(self.read_gid, self.read_last, clock);
                unknown.map(|gid| (gid, self.read_site))
            }
            // Most often a barrier came after all of them.
            clock if who.knows_block(self.read_gid, self.read_last, clock) => None,
            clock => {
                let unknown = self.apart().find(|&gid| !who.knows(gid, clock));
                unknown.map(|gid| (gid, self.read_site))
            }
        };
        let read_only = self.write_site & READ_ONLY != 0;
        if let Some((gid, site)) = unordered {
            return Some(Conflict { read_only, ..Conflict::plain(gid, site, Direction::Read) });
        }
        if read_only {
            let last = match self.read_clock {
                SHARED => sets.sets[self.read_gid as usize].iter().next().map(|run| (run.low, run.site)),
                _ => Some((self.read_gid, self.read_site)),
            };
            let (gid, site) = last.unwrap_or((who.gid, 0));
            return Some(Conflict { read_only, ..Conflict::plain(gid, site, Direction::Read) });
        }
        None
    }

    /// Whether it refers to nothing, so that whatever an access makes of it, it makes of all alike.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        self.read_clock != SHARED && self.atomic == 0
    }

    /// The threads that have read, where they are no neighbours.
    pub(super) fn apart(&self) -> impl Iterator<Item = u32> + use<> {
        (self.read_gid..=self.read_last).step_by(self.read_step as usize)
    }

    /// Takes a plain read, of which there has been none or one of neighbours, or of threads as far apart; false if it
    /// needs a set.
    #[inline]
    pub(super) fn take_read(&mut self, who: &Who<'_>, site: u16) -> bool {
        let Who { gid, clock, .. } = *who;
        let is_alike = self.read_clock == clock && self.read_site == site;
        if self.read_step != 0 {
            return is_alike && self.take_apart(gid);
        }
        if is_alike {
            // Lanes come by upwards, downwards, or again.
            if gid == self.read_last.wrapping_add(1) {
                self.read_last = gid;
                return true;
            }
            if gid.wrapping_add(1) == self.read_gid {
                self.read_gid = gid;
                return true;
            }
            if (self.read_gid..=self.read_last).contains(&gid) {
                return true;
            }
        }
        let is_ordered = self.read_clock == 0
            || who.first_unknown(self.read_gid, self.read_last, self.read_clock).is_none();
        if is_ordered {
            (self.read_gid, self.read_last, self.read_clock, self.read_site) = (gid, gid, clock, site);
            return true;
        }
        let is_second = is_alike && self.read_gid == self.read_last;
        if is_second {
            self.read_step = gid.abs_diff(self.read_gid);
            (self.read_gid, self.read_last) = (self.read_gid.min(gid), self.read_last.max(gid));
        }
        is_second
    }

    /// Takes a read like those of some threads as far apart; false if it needs a set.
    #[inline]
    fn take_apart(&mut self, gid: u32) -> bool {
        let (low, high, step) = (self.read_gid, self.read_last, self.read_step);
        if (high - low) / step + 1 == MOST_APART {
            return false;
        }
        if gid > high && gid - high == step {
            self.read_last = gid;
        } else if gid < low && low - gid == step {
            self.read_gid = gid;
        } else {
            return (low..=high).contains(&gid) && (gid - low).is_multiple_of(step);
        }
        true
    }

    /// Some plain read since that, as (thread, site).
    pub(crate) fn some_read(&self, sets: &ReadSets) -> Option<(u32, u16)> {
        match self.read_clock {
            0 => None,
            SHARED => sets.sets[self.read_gid as usize].iter().next().map(|run| (run.low, run.site)),
            _ => Some((self.read_gid, self.read_site)),
        }
    }
}
