//! Sets of accesses, run-length encoded over neighbouring threads.
//!
//! A granule that a whole grid reads would need an entry per thread. Threads that reached the same line with the
//! same clock differ in their number only, so a run of numbers stands for all of them, exactly.

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
}

impl Runs {
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Run> {
        self.runs.iter()
    }

    /// Records an access; it replaces an earlier one of the same thread. `known` tells which accesses happen before
    /// this one: whoever is ordered after this one is ordered after those, so they may go.
    pub(crate) fn insert(
        &mut self,
        gid: u32,
        clock: u32,
        site: u16,
        block_scope: bool,
        known: impl Fn(u32, u32) -> bool,
    ) {
        if self.runs.len() >= self.prune_at {
            if !block_scope {
                // An atomic of device scope stands for what it knows, one of block scope only for its own block.
                self.runs.retain(|run| (run.low..=run.high).any(|gid| !known(gid, run.clock)));
            }
            self.prune_at = 2 * self.runs.len() + 8;
        }
        let new = Run { low: gid, high: gid, clock, site, block_scope };
        // First run that ends at or after gid - 1: the only one that gid can lie in or extend from below.
        let mut at = self.runs.partition_point(|run| run.high < gid);
        if let Some(&run) = self.runs.get(at)
            && run.low <= gid
        {
            if (Run { low: gid, high: gid, ..run }) == new {
                return;
            }
            self.runs.remove(at);
            if run.high > gid {
                self.runs.insert(at, Run { low: gid + 1, ..run });
            }
            if run.low < gid {
                self.runs.insert(at, Run { high: gid - 1, ..run });
                at += 1;
            }
        }
        let alike = |run: &Run| run.clock == clock && run.site == site && run.block_scope == block_scope;
        let joins_left = at > 0 && self.runs[at - 1].high + 1 == gid && alike(&self.runs[at - 1]);
        let joins_right = self.runs.get(at).is_some_and(|run| run.low == gid + 1 && alike(run));
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

    /// The first access that `known` does not cover.
    pub(crate) fn first_unknown(&self, known: impl Fn(u32, u32) -> bool) -> Option<(u32, Run)> {
        for run in &self.runs {
            for gid in run.low..=run.high {
                if !known(gid, run.clock) {
                    return Some((gid, *run));
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_merge_whatever_their_order() {
        let mut runs = Runs::default();
        for gid in [7, 3, 5, 4, 6, 9, 8] {
            runs.insert(gid, 1, 2, false, |_, _| false);
        }
        assert_eq!(runs.runs, [Run { low: 3, high: 9, clock: 1, site: 2, block_scope: false }]);
    }

    #[test]
    fn a_later_access_of_a_thread_replaces_its_earlier_one() {
        let mut runs = Runs::default();
        for gid in 0..5 {
            runs.insert(gid, 1, 2, false, |_, _| false);
        }
        runs.insert(2, 4, 2, false, |_, _| false);
        let spans: Vec<_> = runs.iter().map(|r| (r.low, r.high, r.clock)).collect();
        assert_eq!(spans, [(0, 1, 1), (2, 2, 4), (3, 4, 1)]);
        assert_eq!(runs.first_unknown(|gid, _| gid < 3).map(|f| f.0), Some(3));
    }
}
