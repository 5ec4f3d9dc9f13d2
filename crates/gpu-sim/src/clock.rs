//! Vector clocks, kept small.
//!
//! A thread's clock is one number that grows when the thread releases or synchronises. What a thread knows of the
//! others is a [`View`]: for a whole block a *floor* (everything its threads did at clocks below it is known) and,
//! where a single thread was heard of, that thread's clock (known up to and including it). The block a thread
//! belongs to has its floor beside it, raised at every block barrier, so a view stays empty until a foreign block
//! or a single thread has been heard of.

use std::rc::Rc;

const CHUNK: u32 = 64;

/// A sparse map from number to clock, zero where nothing is known. Chunks are shared between views: a chain of
/// blocks that each hear from the one before then costs a pointer per 64 entries, not a copy of all of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clocks {
    chunks: Vec<(u32, Rc<[u32; CHUNK as usize]>)>,
}

impl Clocks {
    #[inline]
    pub(crate) fn get(&self, key: u32) -> u32 {
        match self.chunks.binary_search_by_key(&(key / CHUNK), |c| c.0) {
            Ok(i) => self.chunks[i].1[(key % CHUNK) as usize],
            Err(_) => 0,
        }
    }

    /// Raises an entry to at least `clock`.
    pub(crate) fn raise(&mut self, key: u32, clock: u32) {
        let slot = (key % CHUNK) as usize;
        match self.chunks.binary_search_by_key(&(key / CHUNK), |c| c.0) {
            Ok(i) => {
                let chunk = &mut self.chunks[i].1;
                if chunk[slot] < clock {
                    Rc::make_mut(chunk)[slot] = clock;
                }
            }
            Err(i) => {
                let mut chunk = [0; CHUNK as usize];
                chunk[slot] = clock;
                self.chunks.insert(i, (key / CHUNK, Rc::new(chunk)));
            }
        }
    }

    /// Takes the larger of both, entry by entry.
    pub(crate) fn join(&mut self, other: &Self) {
        if self.chunks.is_empty() {
            self.chunks.clone_from(&other.chunks);
            return;
        }
        let mut at = 0;
        for (index, theirs) in &other.chunks {
            while at < self.chunks.len() && self.chunks[at].0 < *index {
                at += 1;
            }
            if at == self.chunks.len() || self.chunks[at].0 != *index {
                self.chunks.insert(at, (*index, theirs.clone()));
                continue;
            }
            let ours = &mut self.chunks[at].1;
            if Rc::ptr_eq(ours, theirs) || ours.iter().zip(theirs.iter()).all(|(a, b)| a >= b) {
                continue;
            }
            if ours.iter().zip(theirs.iter()).all(|(a, b)| a <= b) {
                // Share theirs: the next join of the same chain is then a comparison of pointers.
                *ours = theirs.clone();
                continue;
            }
            for (a, b) in Rc::make_mut(ours).iter_mut().zip(theirs.iter()) {
                *a = (*a).max(*b);
            }
        }
    }
}

/// What is known of other blocks and of single threads.
#[derive(Clone, Debug, Default)]
pub(crate) struct View {
    /// Block to floor: clocks below it are known.
    pub(crate) blocks: Clocks,
    /// Thread to clock: known up to and including it.
    pub(crate) threads: Clocks,
}

impl View {
    pub(crate) fn is_empty(&self) -> bool {
        self.blocks.chunks.is_empty() && self.threads.chunks.is_empty()
    }

    pub(crate) fn join(&mut self, other: &Self) {
        self.blocks.join(&other.blocks);
        self.threads.join(&other.threads);
    }
}

/// Joins `other` into an optional shared view without copying where one of them is empty or the same.
pub(crate) fn join_into(target: &mut Option<Rc<View>>, other: &Rc<View>) {
    match target {
        None => *target = Some(other.clone()),
        Some(view) if Rc::ptr_eq(view, other) => {}
        Some(view) => Rc::make_mut(view).join(other),
    }
}

/// A thread at one moment, with what it knows.
pub(crate) struct Who<'a> {
    /// The thread's number in the launch.
    pub(crate) gid: u32,
    /// Its clock.
    pub(crate) clock: u32,
    /// First thread of its block.
    pub(crate) first: u32,
    /// Threads of a block.
    pub(crate) per_block: u32,
    /// Its block's floor.
    pub(crate) floor: u32,
    /// The rest of what it knows.
    pub(crate) view: &'a View,
}

impl Who<'_> {
    /// Whether `gid` is in this thread's block.
    #[inline]
    pub(crate) fn same_block(&self, gid: u32) -> bool {
        gid.wrapping_sub(self.first) < self.per_block
    }

    /// Whether what `gid` did at `clock` happens before now.
    #[inline]
    pub(crate) fn knows(&self, gid: u32, clock: u32) -> bool {
        if gid == self.gid {
            return true;
        }
        if self.same_block(gid) {
            if clock < self.floor {
                return true;
            }
        } else if self.view.blocks.get(gid / self.per_block) > clock {
            return true;
        }
        self.view.threads.get(gid) >= clock
    }

    /// The first of some neighbouring threads whose access at `clock` does not happen before now.
    pub(crate) fn first_unknown(&self, low: u32, high: u32, clock: u32) -> Option<u32> {
        // Most often all are of one block, of which a barrier tells everything.
        if self.knows_block(low, high, clock) {
            return None;
        }
        (low..=high).find(|&gid| !self.knows(gid, clock))
    }

    /// Whether some threads are of one block and what all of it did at `clock` happens before now.
    #[inline]
    pub(crate) fn knows_block(&self, low: u32, high: u32, clock: u32) -> bool {
        if self.same_block(low) {
            return self.same_block(high) && clock < self.floor;
        }
        let block = low / self.per_block;
        high / self.per_block == block && clock < self.view.blocks.get(block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn join_takes_the_larger_of_every_entry() {
        let (mut a, mut b) = (Clocks::default(), Clocks::default());
        for (key, clock) in [(3, 5), (70, 1), (1000, 9)] {
            a.raise(key, clock);
        }
        for (key, clock) in [(3, 2), (71, 4), (70, 6), (200, 7)] {
            b.raise(key, clock);
        }
        a.join(&b);
        for (key, clock) in [(3, 5), (70, 6), (71, 4), (200, 7), (1000, 9), (4, 0), (65, 0)] {
            assert_eq!(a.get(key), clock, "entry {key}");
        }
    }

    #[test]
    fn floors_cover_clocks_below_them_and_thread_entries_their_own() {
        let mut view = View::default();
        view.blocks.raise(2, 4);
        view.threads.raise(33, 7);
        let who = Who { gid: 1, clock: 3, first: 0, per_block: 16, floor: 3, view: &view };
        assert!(who.knows(1, 100), "its own past");
        assert!(who.knows(5, 2) && !who.knows(5, 3), "own block: below the floor");
        assert!(who.knows(40, 3) && !who.knows(40, 4), "foreign block: below its floor");
        assert!(who.knows(33, 7) && !who.knows(33, 8), "a single thread: up to its clock");
        assert!(!who.knows(20, 1), "never heard of");
        for (low, high) in [(0, 15), (2, 9), (16, 31), (32, 47), (30, 40), (10, 20)] {
            for clock in 0..9 {
                let first = (low..=high).find(|&gid| !who.knows(gid, clock));
                assert_eq!(who.first_unknown(low, high, clock), first, "{low} to {high} at {clock}");
            }
        }
    }
}
