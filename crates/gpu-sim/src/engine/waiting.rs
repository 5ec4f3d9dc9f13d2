//! Blocks that have not started, and the order in which they will.

use crate::config::BlockOrder;
use crate::rng::Rng;

/// How the seed disturbs the order in which blocks start.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Disorder {
    None,
    /// Now and then one of the next few comes first, once in so many times: nearly what hardware does, so that a
    /// block which waits for a later one does so in vain, and one that waits for the one before at times.
    Few(u32),
    All,
}

/// Blocks that have not started, in the order in which they will.
pub(super) struct Waiting {
    /// Handed out in seeded order from here...
    window: Vec<u32>,
    /// ...refilled from `next..end`, downwards when `descending`.
    next: u32,
    end: u32,
    descending: bool,
    disorder: Disorder,
}

impl Waiting {
    /// Of how many the next one is drawn, with much disorder and with little.
    const WINDOW: usize = 1024;
    const FEW: usize = 4;

    pub(super) fn new(blocks: u32, order: BlockOrder, rng: &mut Rng) -> Self {
        let (descending, disorder) = match order {
            BlockOrder::Ascending => (false, Disorder::None),
            BlockOrder::Any => match rng.below(128) {
                0 => (false, Disorder::None),
                1 => (true, Disorder::None),
                2 | 3 => (rng.one_in(2), Disorder::All),
                // With few blocks, a single one that comes too early can be all it takes for a wait to end.
                _ => (false, Disorder::Few(if blocks as usize <= Self::FEW { 32 } else { 4 })),
            },
        };
        Self { window: Vec::new(), next: 0, end: blocks, descending, disorder }
    }

    fn refill(&mut self, most: usize) {
        while self.window.len() < most && self.next < self.end {
            if self.descending {
                self.end -= 1;
                self.window.push(self.end);
            } else {
                self.window.push(self.next);
                self.next += 1;
            }
        }
    }

    pub(super) fn take(&mut self, rng: &mut Rng) -> Option<u32> {
        self.refill(match self.disorder {
            Disorder::None => 1,
            Disorder::Few(_) => Self::FEW,
            Disorder::All => Self::WINDOW,
        });
        let waiting = self.window.len() as u32;
        match self.disorder {
            _ if waiting == 0 => None,
            Disorder::None => self.window.pop(),
            Disorder::Few(often) => {
                let ahead = if waiting > 1 && rng.one_in(often) { 1 + rng.below(waiting - 1) } else { 0 };
                Some(self.window.remove(ahead as usize))
            }
            Disorder::All => Some(self.window.swap_remove(rng.below(waiting) as usize)),
        }
    }

    pub(super) fn left(&self) -> u64 {
        self.window.len() as u64 + u64::from(self.end - self.next)
    }
}
