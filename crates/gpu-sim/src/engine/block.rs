//! Blocks, warps and threads in flight. Slots are used again by later blocks: nothing is allocated per thread.

use std::panic::Location;
use std::rc::Rc;

use super::asynchronous::AsyncCopies;
use super::cluster::Visits;
use super::collective::{Collective, Operands};
use super::counts::Event;
use super::phase::Phases;
use super::warpgroup::Warpgroups;
use crate::clock::{View, join_into};
use crate::geometry::WARP;
use crate::memory::Region;

/// No fiber: the thread has not started, runs at this moment, or has finished.
pub(crate) const NO_FIBER: u32 = u32::MAX;

/// What a thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// It may run.
    Runnable,
    /// A block barrier.
    Barrier,
    /// A warp collective.
    Collective,
    /// `active_mask`: who else comes.
    Gather,
    /// A phase of a barrier in shared memory.
    Phase,
    /// The other threads of its warpgroup.
    Warpgroup,
    /// The barrier of its cluster.
    Cluster,
    /// Nothing: it has read bytes that nobody had written, and goes no further.
    Parked,
    /// Nothing more.
    Finished,
}

/// A simulated thread.
pub(crate) struct Thread {
    /// The fiber it is suspended on.
    pub(crate) fiber: u32,
    pub(crate) status: Status,
    /// Where it last waited or could have been switched.
    pub(crate) site: Option<&'static Location<'static>>,
    /// What the barrier or collective gave it.
    pub(crate) result: u64,
    /// Its last atomic load, as a hash of place, address and value, and how often in a row it made that.
    pub(crate) polled: (u64, u8),
}

/// As many loads in a row, alike in place, address and value, as make a thread one that waits.
pub(crate) const POLLS: u8 = 2;

/// What a thread knows of others, and what its fences promise.
#[derive(Default)]
pub(crate) struct SyncState {
    /// Its clock where that is above the block's floor.
    pub(crate) clock: u32,
    /// What it knows beyond the block's common view; that view when `None`.
    pub(crate) view: Option<Rc<View>>,
    /// Views at its last release fence: of block scope or wider, of device scope or wider.
    pub(crate) released: [Option<Rc<View>>; 2],
    /// Views that relaxed loads brought, waiting for an acquire fence: of its own block, of other blocks.
    pub(crate) pending: [Option<Rc<View>>; 2],
    /// What it released at single locations, for its later stores there.
    pub(crate) released_at: Recent,
    /// What relaxed loads of single locations brought, for its later acquiring loads there.
    pub(crate) read_at: Recent,
    /// Stale reads in a row.
    pub(crate) stale: u8,
    /// The last location of which there were several values to read, and whether it read an old one.
    pub(crate) chosen: Option<(u32, bool)>,
    dirty: bool,
}

/// Views that came with accesses of single locations: of the last few.
#[derive(Default)]
pub(crate) struct Recent(Vec<(u32, [Option<Rc<View>>; 2])>);

impl Recent {
    /// The most locations that a thread remembers. Beyond it, less is ordered than PTX promises.
    const MOST: usize = 16;

    /// The views of a location: of, or for, its own block and others.
    pub(crate) fn get(&self, location: u32) -> [Option<Rc<View>>; 2] {
        self.0.iter().find(|entry| entry.0 == location).map_or([None, None], |entry| entry.1.clone())
    }

    fn entry(&mut self, location: u32) -> &mut [Option<Rc<View>>; 2] {
        let at = self.0.iter().position(|entry| entry.0 == location).unwrap_or_else(|| {
            if self.0.len() == Self::MOST {
                self.0.remove(0);
            }
            self.0.push((location, [None, None]));
            self.0.len() - 1
        });
        &mut self.0[at].1
    }

    /// Adds to one of them.
    pub(crate) fn add(&mut self, location: u32, which: usize, view: &Rc<View>) {
        join_into(&mut self.entry(location)[which], view);
    }

    /// Replaces one of them.
    pub(crate) fn set(&mut self, location: u32, which: usize, view: &Rc<View>) {
        self.entry(location)[which] = Some(view.clone());
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

/// A warp.
#[derive(Default)]
pub(crate) struct Warp {
    /// Lanes that exist.
    pub(crate) lanes: u32,
    /// Lanes that may run, other than the running one.
    pub(crate) runnable: u32,
    pub(crate) exited: u32,
    /// Lanes waiting at the block barrier.
    pub(crate) at_barrier: u32,
    /// Lanes waiting in `active_mask`.
    pub(crate) gathering: u32,
    /// The longest chain of blocks behind it, of which each has read what the one before stored.
    pub(crate) hops: u32,
    /// Whether it is in the scheduler's list.
    pub(crate) queued: bool,
    pub(crate) collectives: Vec<Collective>,
    /// Of matrix operations: what lanes are bringing, and what they brought to the last one.
    pub(crate) bringing: Option<Rc<[Operands; WARP as usize]>>,
    pub(crate) brought: Option<Rc<[Operands; WARP as usize]>>,
}

/// The barrier of a block.
#[derive(Default)]
pub(crate) struct BarrierState {
    pub(crate) arrived: u32,
    pub(crate) count: u32,
    /// The first to arrive, by thread.
    pub(crate) first: u32,
    pub(crate) site: Option<&'static Location<'static>>,
    pub(crate) operation: u32,
}

/// A place for a block in flight.
pub(crate) struct Block {
    /// A block occupies it.
    pub(crate) live: bool,
    /// Linear number and coordinates of that block.
    pub(crate) number: u32,
    pub(crate) index: [u32; 3],
    pub(crate) threads: Vec<Thread>,
    pub(crate) warps: Vec<Warp>,
    pub(crate) exited: u32,
    /// The lowest thread that has exited, for reports.
    pub(crate) last_exited: u32,
    pub(crate) barrier: BarrierState,
    pub(crate) shared: Region,
    pub(crate) copies: AsyncCopies,
    pub(crate) phases: Phases,
    pub(crate) groups: Warpgroups,
    /// What other blocks of the cluster did here.
    pub(crate) visits: Visits,
    /// Clocks below it are known to all threads of the block.
    pub(crate) floor: u32,
    /// The highest clock of a thread since the last barrier.
    pub(crate) top: u32,
    /// What all threads of the block know of other blocks.
    pub(crate) common: Rc<View>,
    pub(crate) sync: Vec<SyncState>,
    dirty: Vec<u32>,
    /// Events per thread, waiting to be grouped.
    pub(crate) logs: Vec<Vec<Event>>,
}

impl Block {
    pub(crate) fn new(threads: u32, shared: Region, logs: bool) -> Self {
        let thread =
            || Thread { fiber: NO_FIBER, status: Status::Finished, site: None, result: 0, polled: (0, 0) };
        Self {
            live: false,
            number: 0,
            index: [0; 3],
            threads: (0..threads).map(|_| thread()).collect(),
            warps: (0..threads.div_ceil(WARP)).map(|_| Warp::default()).collect(),
            exited: 0,
            last_exited: 0,
            barrier: BarrierState::default(),
            shared,
            copies: AsyncCopies::default(),
            phases: Phases::default(),
            groups: Warpgroups::default(),
            visits: Visits::default(),
            floor: 1,
            top: 1,
            common: Rc::default(),
            sync: (0..threads).map(|_| SyncState::default()).collect(),
            dirty: Vec::new(),
            logs: (0..if logs { threads } else { 0 }).map(|_| Vec::new()).collect(),
        }
    }

    /// Puts a new block here.
    pub(crate) fn start(&mut self, number: u32, index: [u32; 3]) {
        self.live = true;
        (self.number, self.index) = (number, index);
        self.exited = 0;
        for thread in &mut self.threads {
            thread.status = Status::Runnable;
            thread.polled = (0, 0);
        }
        let threads = self.threads.len() as u32;
        for (number, warp) in self.warps.iter_mut().enumerate() {
            let lanes = (threads - number as u32 * WARP).min(WARP);
            warp.lanes = u32::MAX >> (WARP - lanes);
            warp.runnable = warp.lanes;
            (warp.exited, warp.hops) = (0, 0);
        }
        (self.floor, self.top) = (1, 1);
        if !self.dirty.is_empty() {
            self.clean(|_| {});
        }
        self.common = Rc::default();
        self.phases = Phases::default();
        self.groups = Warpgroups::default();
        self.visits = Visits::default();
        if self.shared.len() > 0 {
            self.shared.unwrite();
        }
    }

    /// The clock of a thread.
    #[inline]
    pub(crate) fn clock(&self, tid: u32) -> u32 {
        self.sync[tid as usize].clock.max(self.floor)
    }

    /// What a thread knows of other blocks and, since the last barrier, of single threads.
    #[inline]
    pub(crate) fn view(&self, tid: u32) -> &Rc<View> {
        self.sync[tid as usize].view.as_ref().unwrap_or(&self.common)
    }

    /// A thread's state, to change.
    pub(crate) fn sync_mut(&mut self, tid: u32) -> &mut SyncState {
        let state = &mut self.sync[tid as usize];
        if !state.dirty {
            state.dirty = true;
            self.dirty.push(tid);
        }
        state
    }

    /// The longest chain behind one of its warps.
    pub(crate) fn hops(&self) -> u32 {
        self.warps.iter().map(|warp| warp.hops).max().unwrap_or(0)
    }

    /// Moves a thread to its next clock.
    pub(crate) fn tick(&mut self, tid: u32) {
        let clock = self.clock(tid) + 1;
        self.sync_mut(tid).clock = clock;
        self.top = self.top.max(clock);
    }

    /// Adds to what a thread knows.
    pub(crate) fn learn(&mut self, tid: u32, news: &Rc<View>) {
        if Rc::ptr_eq(self.view(tid), news) {
            return;
        }
        let mut view = self.view(tid).clone();
        Rc::make_mut(&mut view).join(news);
        self.sync_mut(tid).view = Some(view);
    }

    /// A block barrier: everyone knows what everyone did and knew.
    pub(crate) fn join_all(&mut self) {
        self.floor = self.top + 1;
        self.top = self.floor;
        if self.dirty.is_empty() {
            return;
        }
        let mut common = self.common.clone();
        let mut last: Option<Rc<View>> = None;
        // Views that relaxed loads brought stay pending, and release fences stay in force, across a barrier.
        for &tid in &self.dirty {
            let Some(view) = self.sync[tid as usize].view.take() else { continue };
            if last.as_ref().is_none_or(|last| !Rc::ptr_eq(last, &view)) && !Rc::ptr_eq(&common, &view) {
                Rc::make_mut(&mut common).join(&view);
            }
            last = Some(view);
        }
        self.common = common;
    }

    fn clean(&mut self, mut each: impl FnMut(u32)) {
        for tid in self.dirty.drain(..) {
            self.sync[tid as usize] = SyncState::default();
            each(tid);
        }
    }
}
