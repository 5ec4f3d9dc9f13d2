//! Streams: what of the work that was enqueued comes before what.
//!
//! Work runs when it is enqueued, one after the other. What the streams promise is kept beside it, as vector clocks: of
//! each stream, and of the host, how far it knows the others. Work is numbered as it comes, so that a clock is the number
//! of the last work of a stream that is known. The default stream's work comes after all there is, and all that follows
//! comes after it: where it does all the work nothing is kept.

use std::collections::{HashMap, VecDeque};

use crate::engine::Caller;
use crate::geometry::Geometry;

/// The default stream's number.
pub(crate) const DEFAULT: u32 = 0;

/// Work that is kept: of what lies further back nothing is known, and no race with it is found.
const KEPT: usize = 1 << 14;

/// How far the streams are known: up to and including that work of theirs.
#[derive(Clone, Debug, Default)]
struct Clock(HashMap<u32, u32>);

impl Clock {
    fn get(&self, stream: u32) -> u32 {
        self.0.get(&stream).copied().unwrap_or(0)
    }

    fn raise(&mut self, stream: u32, work: u32) {
        let known = self.0.entry(stream).or_default();
        *known = work.max(*known);
    }

    fn join(&mut self, other: &Self) {
        other.0.iter().for_each(|(&stream, &work)| self.raise(stream, work));
    }
}

/// A point in a stream: everything that was enqueued there before, and what that came after. What
/// [`Simulator::record`](crate::Simulator::record) gives.
#[derive(Clone, Debug)]
pub struct Mark {
    knows: Clock,
    pub(crate) simulator: u64,
}

/// Work that is over.
pub(crate) struct Work {
    pub(crate) stream: u32,
    /// The kernel and where it is written, or what else it was.
    pub(crate) name: String,
    /// `None` where no threads did it.
    pub(crate) geometry: Option<Geometry>,
    /// By the numbers that accesses have.
    pub(crate) sites: Vec<Option<Caller>>,
}

/// The streams of a simulator.
#[derive(Default)]
pub(crate) struct Streams {
    made: u32,
    /// What the work that a stream gets next comes after.
    clocks: HashMap<u32, Clock>,
    /// What the host has waited for.
    host: Clock,
    /// The last work of each stream.
    last: HashMap<u32, u32>,
    /// The work since all of it was ordered.
    works: VecDeque<Work>,
    /// The number of the first of it, less one.
    before: u32,
}

impl Streams {
    /// A new stream. It knows what the host knows, once it has work.
    pub(crate) fn add(&mut self) -> u32 {
        self.made += 1;
        self.made
    }

    /// The work with a number, if it is kept.
    pub(crate) fn work(&self, number: u32) -> Option<&Work> {
        self.works.get(number.checked_sub(self.before + 1)? as usize)
    }

    /// Whether any work is kept.
    pub(crate) fn is_empty(&self) -> bool {
        self.works.is_empty()
    }

    /// Work is enqueued: it comes after what the host knows. Its number, if it turns out to be work.
    pub(crate) fn enqueue(&mut self, stream: u32) -> u32 {
        self.clocks.entry(stream).or_default().join(&self.host);
        self.before + self.works.len() as u32 + 1
    }

    /// It was.
    pub(crate) fn done(&mut self, work: Work) {
        let number = self.before + self.works.len() as u32 + 1;
        self.clocks.entry(work.stream).or_default().raise(work.stream, number);
        self.last.insert(work.stream, number);
        if self.works.len() == KEPT {
            self.works.pop_front();
            self.before += 1;
        }
        self.works.push_back(work);
    }

    /// Whether what a stream does now comes after that work.
    pub(crate) fn knows(&self, stream: u32, number: u32) -> bool {
        let Some(work) = self.work(number) else { return true };
        work.stream == stream
            || self.clocks.get(&stream).is_some_and(|clock| clock.get(work.stream) >= number)
    }

    /// Whether what a stream does now comes after all work.
    pub(crate) fn knows_all(&self, stream: u32) -> bool {
        self.last.values().all(|&number| self.knows(stream, number))
    }

    /// A stream has heard of some work of another.
    pub(crate) fn learn(&mut self, stream: u32, number: u32) {
        if let Some(of) = self.work(number).map(|work| work.stream) {
            self.clocks.entry(stream).or_default().raise(of, number);
        }
    }

    /// The point where a stream is.
    pub(crate) fn record(&self, stream: u32, simulator: u64) -> Mark {
        let mut knows = self.clocks.get(&stream).cloned().unwrap_or_default();
        if stream == DEFAULT {
            // Behind all that is there.
            self.last.iter().for_each(|(&stream, &number)| knows.raise(stream, number));
        }
        Mark { knows, simulator }
    }

    /// Later work of a stream comes after a point.
    pub(crate) fn wait(&mut self, stream: u32, mark: &Mark) {
        if stream != DEFAULT {
            self.clocks.entry(stream).or_default().join(&mark.knows);
        }
    }

    /// The host has waited for a point.
    pub(crate) fn reached(&mut self, mark: &Mark) {
        self.host.join(&mark.knows);
    }

    /// Whether the host has.
    pub(crate) fn has_reached(&self, mark: &Mark) -> bool {
        mark.knows.0.iter().all(|(&stream, &work)| work <= self.before || self.host.get(stream) >= work)
    }

    /// All later work comes after all there was.
    pub(crate) fn forget(&mut self) {
        self.before += self.works.len() as u32;
        self.works.clear();
        self.last.clear();
        self.clocks.clear();
        self.host = Clock::default();
    }
}
