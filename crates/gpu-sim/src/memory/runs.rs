//! Sets of accesses, run-length encoded over neighbouring threads.
//!
//! A granule that a whole grid reads would need an entry per thread. Threads that reached the same line with the
//! same clock differ in their number only, so a run of numbers stands for all of them, exactly.

use crate::clock::Who;

/// Accesses by threads `low..=high`, alike in all else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) low: u32,
    pub(crate) high: u32,
    pub(crate) clock: u32,
    pub(crate) site: u16,
    /// An atomic of block scope.
    pub(crate) block_scope: bool,
}

/// The latest access of every thread, as far as nobody has superseded it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Runs {
    /// Sorted, disjoint.
    runs: Vec<Run>,
    /// Length at which to look for superseded entries again.
    prune_at: usize,
    /// No access has a later clock.
    latest: u32,
    /// Where the last access was put: lanes come by in the order of their numbers, so the next is near.
    near: usize,
}

impl Runs {
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Run> {
        self.runs.iter()
    }

    /// Forgets all, and keeps the memory for what comes next.
    pub(crate) fn clear(&mut self) {
        self.runs.clear();
        (self.prune_at, self.latest, self.near) = (0, 0, 0);
    }

    /// Records the reads of neighbours, alike in all else, of which there have been no others but by threads before
    /// them, alike too.
    pub(crate) fn begin(&mut self, low: u32, high: u32, clock: u32, site: u16) {
        self.runs.push(Run { low, high, clock, site, block_scope: false });
        (self.latest, self.prune_at) = (clock, 8);
    }

    /// Records an access; it replaces an earlier one of the same thread. `who` makes it: whoever is ordered after that
    /// is ordered after what `who` knows, so that may go.
    pub(crate) fn insert(&mut self, gid: u32, clock: u32, site: u16, block_scope: bool, who: &Who<'_>) {
        let alike = |run: &Run| run.clock == clock && run.site == site && run.block_scope == block_scope;
        self.latest = self.latest.max(clock);
        // Most often the neighbours before it have come by just now.
        if let Some(last) = self.runs.last_mut()
            && last.high + 1 == gid
            && alike(last)
        {
            last.high = gid;
            return;
        }
        if self.runs.len() >= self.prune_at {
            if !block_scope {
                // An atomic of device scope stands for what it knows, one of block scope only for its own block.
                self.runs.retain(|run| who.first_unknown(run.low, run.high, run.clock).is_some());
            }
            self.prune_at = 2 * self.runs.len() + 8;
        }
        let new = Run { low: gid, high: gid, clock, site, block_scope };
        // First run that ends at or after gid - 1: the only one that gid can lie in or extend from below.
        let mut at = self.first_from(gid);
        self.near = at;
        if let Some(&run) = self.runs.get(at)
            && run.low <= gid
        {
            if alike(&run) {
                return;
            }
            if run.low == gid && run.high > gid {
                // The first of those that were alike, as they come by again, one after the other.
                self.runs[at].low = gid + 1;
                match at.checked_sub(1).map(|left| &mut self.runs[left]) {
                    Some(left) if left.high + 1 == gid && alike(left) => left.high = gid,
                    _ => self.runs.insert(at, new),
                }
                return;
            }
            if run.low < gid {
                self.runs[at].high = gid - 1;
                at += 1;
                if run.high > gid {
                    self.runs.insert(at, Run { low: gid + 1, ..run });
                }
            } else if self.joins_left(at, gid, alike) || self.joins_right(at + 1, gid, alike) {
                self.runs.remove(at);
            } else {
                // As most often where threads come by again that are no neighbours.
                self.runs[at] = new;
                return;
            }
        }
        let (joins_left, joins_right) = (self.joins_left(at, gid, alike), self.joins_right(at, gid, alike));
        match (joins_left, joins_right) {
            (true, true) => {
                self.runs[at - 1].high = self.runs[at].high;
                self.runs.remove(at);
            }
            (true, false) => self.runs[at - 1].high = gid,
            (false, true) => self.runs[at].low = gid,
            (false, false) => self.runs.insert(at, new),
        }
    }

    /// Whether the run before one is alike and ends at the thread before this.
    #[inline]
    fn joins_left(&self, at: usize, gid: u32, alike: impl Fn(&Run) -> bool) -> bool {
        at > 0 && self.runs[at - 1].high + 1 == gid && alike(&self.runs[at - 1])
    }

    /// Whether a run is alike and begins at the thread behind this.
    #[inline]
    fn joins_right(&self, at: usize, gid: u32, alike: impl Fn(&Run) -> bool) -> bool {
        self.runs.get(at).is_some_and(|run| run.low == gid + 1 && alike(run))
    }

    /// The first run that ends at a thread or after it.
    #[inline]
    fn first_from(&self, gid: u32) -> usize {
        let ends_before = |at: usize| self.runs.get(at).is_some_and(|run| run.high < gid);
        let near = self.near;
        if near < self.runs.len() && (near == 0 || ends_before(near - 1)) {
            if !ends_before(near) {
                return near;
            }
            if near + 1 == self.runs.len() || !ends_before(near + 1) {
                return near + 1;
            }
        }
        self.runs.partition_point(|run| run.high < gid)
    }

    /// The first access that `who` does not know of.
    pub(crate) fn first_unknown(&self, who: &Who<'_>) -> Option<(u32, Run)> {
        // Most often a barrier came after all of them.
        if let (Some(first), Some(last)) = (self.runs.first(), self.runs.last())
            && who.knows_block(first.low, last.high, self.latest)
        {
            return None;
        }
        self.runs.iter().find_map(|run| Some((who.first_unknown(run.low, run.high, run.clock)?, *run)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::View;
    use crate::rng::Rng;

    /// Thread `gid` at `clock`, which knows what its block did before clock `floor`.
    fn who(view: &View, gid: u32, clock: u32, floor: u32) -> Who<'_> {
        Who { gid, clock, first: 0, per_block: 64, floor, view }
    }

    #[test]
    fn neighbours_merge_whatever_their_order() {
        let (mut runs, view) = (Runs::default(), View::default());
        for gid in [7, 3, 5, 4, 6, 9, 8] {
            runs.insert(gid, 1, 2, false, &who(&view, gid, 1, 0));
        }
        assert_eq!(runs.runs, [Run { low: 3, high: 9, clock: 1, site: 2, block_scope: false }]);
    }

    #[test]
    fn a_later_access_of_a_thread_replaces_its_earlier_one() {
        let (mut runs, view) = (Runs::default(), View::default());
        for gid in 0..5 {
            runs.insert(gid, 1, 2, false, &who(&view, gid, 1, 0));
        }
        runs.insert(2, 4, 2, false, &who(&view, 2, 4, 0));
        let spans: Vec<_> = runs.iter().map(|r| (r.low, r.high, r.clock)).collect();
        assert_eq!(spans, [(0, 1, 1), (2, 2, 4), (3, 4, 1)]);
        assert_eq!(runs.first_unknown(&who(&view, 2, 5, 0)).map(|f| f.0), Some(0));
        assert_eq!(runs.first_unknown(&who(&view, 2, 5, 2)), None, "a barrier, and its own");
        assert_eq!(runs.first_unknown(&who(&view, 1, 5, 2)).map(|f| f.0), Some(2));
    }

    /// Against a list with an entry for each thread: where nothing is known nothing may be forgotten.
    #[test]
    fn each_thread_s_latest_access_is_there_in_whatever_order_they_come() {
        let view = View::default();
        for seed in 0..200 {
            let (mut rng, mut runs) = (Rng::new(seed), Runs::default());
            let mut latest = [None; 40];
            for clock in 1..6 {
                for step in 0..40 {
                    let gid = if seed % 2 == 0 { step } else { rng.below(40) };
                    let (site, block_scope) = (rng.below(2) as u16, rng.one_in(8));
                    if rng.one_in(5) {
                        continue;
                    }
                    runs.insert(gid, clock, site, block_scope, &who(&view, 50, clock, 0));
                    latest[gid as usize] = Some((clock, site, block_scope));
                }
            }
            let mut found = [None; 40];
            for run in runs.iter() {
                for gid in run.low..=run.high {
                    let before = found[gid as usize].replace((run.clock, run.site, run.block_scope));
                    assert_eq!(before, None, "seed {seed}");
                }
            }
            assert_eq!(found, latest, "seed {seed}");
            assert!(runs.runs.is_sorted_by(|a, b| a.high < b.low), "seed {seed}");
        }
    }
}
