//! What a block does one after the other: the critical path through its warps.
//!
//! Between two barriers the warps of a block run side by side, and the barrier waits for the slowest. So of each kind
//! of step, what the warp with the most of it does between two barriers counts, and a block's path is the sum over its
//! barriers. A ticket that one thread draws while the others wait is a step of the whole block.
//!
//! Loads of one place in the source are taken to be in flight together, also those of a loop's iterations, so a place
//! counts when the block first comes by; an atomic or a fence counts once between two barriers. How far a load goes is
//! what the modelled caches say of the block's first request there. Which iterations wait for what they load only the
//! compiled kernel tells: for whoever has that, all loads that go far are counted too.

use super::counts::Event;
use crate::report::{Operation, Path, Paths};

/// How far a request had to go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reach {
    /// Not beyond its multiprocessor.
    #[default]
    Near,
    /// To the second-level cache.
    L2,
    /// To memory.
    Memory,
}

/// A block on its way.
#[derive(Clone, Default)]
struct Walk {
    /// Up to the last barrier.
    done: Path,
    /// Since then, of each warp: its steps, and the places where it did an atomic or a fence.
    warps: Vec<(Path, Vec<u16>)>,
    /// Places of loads that the block came by before the last barrier, and since then.
    known: Vec<u16>,
    fresh: Vec<u16>,
}

/// The paths of all blocks of a launch.
#[derive(Default)]
pub(crate) struct Walks {
    /// By slot.
    walks: Vec<Walk>,
    at: (usize, usize),
    paths: Paths,
}

/// Whether an atomic returns what somebody may wait for: in `Event::extra`.
pub(crate) const STORES: u32 = 1;

impl Walks {
    /// From here on, requests are those of a warp of the block in a slot.
    pub(crate) fn warp(&mut self, slot: usize, number: usize) {
        self.at = (slot, number);
        if self.walks.len() <= slot {
            self.walks.resize_with(slot + 1, Walk::default);
        }
        let warps = &mut self.walks[slot].warps;
        if warps.len() <= number {
            warps.resize_with(number + 1, Default::default);
        }
    }

    /// One request, of the warp that was named last.
    pub(crate) fn step(&mut self, event: &Event, reach: Reach) {
        let Some(walk) = self.walks.get_mut(self.at.0) else { return };
        let Walk { warps, known, fresh, .. } = walk;
        let (path, places) = &mut warps[self.at.1];
        path.requests += 1;
        let once = |places: &mut Vec<u16>| {
            let is_new = !places.contains(&event.site);
            if is_new {
                places.push(event.site);
            }
            is_new
        };
        match event.operation {
            Operation::GlobalLoad | Operation::ReadOnlyLoad | Operation::AsyncCopy | Operation::BoxCopy => {
                let is_new = !known.contains(&event.site) && once(places);
                path.loads += u64::from(is_new && reach >= Reach::L2);
                path.memory += u64::from(is_new && reach == Reach::Memory);
                // Asynchronous copies are waited for where the kernel says so, not where a register is read.
                if !matches!(event.operation, Operation::AsyncCopy | Operation::BoxCopy) {
                    path.all_loads += 1;
                    path.misses += u64::from(reach >= Reach::L2);
                    path.memory_misses += u64::from(reach == Reach::Memory);
                }
                fresh.extend(is_new.then_some(event.site));
            }
            Operation::GlobalAtomic if event.extra == STORES => {}
            Operation::GlobalAtomic | Operation::Fence => path.atomics += u64::from(once(places)),
            Operation::Barrier => path.barriers += 1,
            _ => {}
        }
    }

    /// The block in a slot has met a barrier.
    pub(crate) fn barrier(&mut self, slot: usize) {
        let Some(walk) = self.walks.get_mut(slot) else { return };
        let mut slowest = Path::default();
        for (path, places) in &mut walk.warps {
            slowest = slowest.largest(path);
            *path = Path::default();
            places.clear();
        }
        walk.done = walk.done.plus(&slowest);
        walk.known.append(&mut walk.fresh);
        walk.known.sort_unstable();
        walk.known.dedup();
    }

    /// The block in a slot has ended, `hops` blocks behind the first of those that it waited for.
    pub(crate) fn end(&mut self, slot: usize, hops: u32) {
        self.barrier(slot);
        let Some(walk) = self.walks.get_mut(slot) else { return };
        self.paths.all = self.paths.all.plus(&walk.done);
        self.paths.longest = self.paths.longest.largest(&walk.done);
        self.paths.hops = self.paths.hops.max(hops);
        walk.done = Path::default();
        walk.known.clear();
    }

    /// Of all blocks that have ended.
    pub(crate) fn paths(&self) -> Paths {
        self.paths
    }
}
