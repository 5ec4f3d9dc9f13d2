//! The order of work between streams: which of them used which memory, and who waits for whom.
//!
//! An allocation remembers its last writer and the readers since, each as a stream and a number in it. Work on another
//! stream waits for them first: an event is recorded on the old stream at that moment, on its tail, and none where the
//! stream has already waited for that point or a later one (a number for each pair of streams, a vector clock). As long
//! as one stream does all the work nothing is remembered and nothing recorded: two loads and a fence are all.
//!
//! The default stream is ordered with all blocking streams by the driver, so it takes part only once a stream that is not
//! blocking is there.
//!
//! Work is noted after it was enqueued, without a lock in between: so a point never claims work that is not before it, and
//! what the work uses is borrowed by the call meanwhile, exclusively where it is written.

use core::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::Result;

/// The number of a stream; none is used twice.
pub(crate) type Id = u64;

/// The default stream's.
pub(crate) const DEFAULT: Id = 0;

/// Names the addresses that work uses, each with whether it is written.
pub(crate) type Uses<'a> = &'a dyn Fn(&mut dyn FnMut(u64, bool));

/// What a device does to its streams.
pub(crate) trait Streams {
    type Handle: Clone;
    type Event;
    /// An event at the tail of a stream.
    fn record_order(&self, stream: Self::Handle) -> Result<Self::Event>;
    /// Lets later work of a stream wait for it.
    fn wait_order(&self, stream: Self::Handle, event: &Self::Event) -> Result<()>;
    /// Whether what comes before it has ended; `false` where that is not known.
    fn has_ended(&self, event: &Self::Event) -> bool;
}

/// How far one stream knows the others: everything up to and including that number of theirs.
type Clock = HashMap<Id, u64>;

/// A point in a stream.
#[derive(Clone, Debug)]
pub(crate) struct Point {
    stream: Id,
    number: u64,
    knows: Clock,
}

/// One stream.
struct Line<S: Streams> {
    /// `None` once it is dropped.
    handle: Option<S::Handle>,
    /// Whether the default stream is ordered with it without us.
    blocking: bool,
    /// The number of its last work.
    number: u64,
    knows: Clock,
    /// The last event that was recorded here for others.
    last: Option<(Point, Arc<S::Event>)>,
}

/// One allocation.
struct Memory {
    bytes: u64,
    /// Whether it came from a pool, on the default stream.
    pooled: bool,
    /// The last writer; several where it is not known which of them.
    writers: Vec<(Id, u64)>,
    /// Since the last write.
    readers: Vec<(Id, u64)>,
}

struct State<S: Streams> {
    /// More than one stream has work, or had.
    several: bool,
    /// Until then the one that has.
    sole: Option<Id>,
    /// Some stream is not blocking, so that the default stream has to be ordered too.
    explicit: bool,
    made: Id,
    lines: HashMap<Id, Line<S>>,
    /// By first address.
    memory: BTreeMap<u64, Memory>,
}

/// The order of a device's streams.
pub(crate) struct Order<S: Streams> {
    state: Mutex<State<S>>,
    /// `sole` of the state, or `DEFAULT`: for the fast path.
    sole: AtomicU64,
    /// `explicit` of the state.
    explicit: AtomicBool,
}

impl<S: Streams> Order<S> {
    /// With the default stream alone.
    pub(crate) fn new(default: S::Handle) -> Self {
        let line = Line { handle: Some(default), blocking: true, number: 0, knows: Clock::new(), last: None };
        let state = State {
            several: false,
            sole: None,
            explicit: false,
            made: DEFAULT,
            lines: HashMap::from([(DEFAULT, line)]),
            memory: BTreeMap::new(),
        };
        Self { state: Mutex::new(state), sole: AtomicU64::new(DEFAULT), explicit: AtomicBool::new(false) }
    }

    fn lock(&self) -> MutexGuard<'_, State<S>> {
        // No panic leaves it half changed: nothing but the driver is called while it is held.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether what a stream does needs no note. Asked before the work, and again behind it.
    #[inline]
    fn needs_none(&self, id: Id) -> bool {
        if id == DEFAULT {
            !self.explicit.load(Ordering::Relaxed)
        } else {
            self.sole.load(Ordering::Relaxed) == id
        }
    }

    /// Memory whose uses are noted from now on.
    /// `pooled`: it is there once the default stream has come so far.
    pub(crate) fn add_memory(&self, address: u64, bytes: usize, pooled: bool) {
        let mut memory = Memory { bytes: bytes as u64, pooled, writers: Vec::new(), readers: Vec::new() };
        let mut state = self.lock();
        let noted = pooled && state.explicit;
        if let (true, Some(line)) = (noted, state.lines.get_mut(&DEFAULT)) {
            line.number += 1;
            memory.writers.push((DEFAULT, line.number));
        }
        state.memory.insert(address, memory);
    }

    /// Memory that is given back; whether it came from a pool.
    pub(crate) fn remove_memory(&self, address: u64) -> bool {
        self.lock().memory.remove(&address).is_some_and(|memory| memory.pooled)
    }

    /// Where the allocation begins that an address is in, if it is in one.
    #[cfg(feature = "cuda")]
    pub(crate) fn allocation(&self, address: u64) -> Option<u64> {
        self.lock().find(address)
    }

    /// A new stream. `blocking`: the default stream is ordered with it as it is.
    pub(crate) fn add_stream(&self, streams: &S, handle: S::Handle, blocking: bool) -> Id {
        let mut state = self.lock();
        state.sweep(streams);
        state.made += 1;
        let id = state.made;
        let line = Line { handle: Some(handle), blocking, number: 0, knows: Clock::new(), last: None };
        state.lines.insert(id, line);
        self.publish(&state);
        id
    }

    /// A stream is about to be destroyed: its end is marked for those who still have to wait for it.
    pub(crate) fn remove_stream(&self, streams: &S, id: Id) {
        let mut state = self.lock();
        if state.sole == Some(id) {
            state.become_several();
        }
        // Where no work is noted nobody waits for it. A failure leaves the device unusable, and its next call says so.
        let used = state.lines.get(&id).is_some_and(|line| line.number > 0);
        if !used || state.tail(streams, id).is_err() {
            state.lines.remove(&id);
        } else if let Some(line) = state.lines.get_mut(&id) {
            line.handle = None;
        }
        state.sweep(streams);
        self.publish(&state);
    }

    /// Enqueues work on a stream, behind everything on other streams that used the same memory. `uses` names addresses
    /// and whether they are written; those of no allocation are left out.
    pub(crate) fn run<R>(
        &self,
        streams: &S,
        id: Id,
        uses: Uses<'_>,
        work: impl FnOnce() -> Result<R>,
    ) -> Result<R> {
        if !self.needs_none(id) {
            self.wait_for_users(streams, id, uses)?;
        }
        let done = work();
        // Either this sees that another stream has come meanwhile, or that one's events are recorded behind the work.
        fence(Ordering::SeqCst);
        if !self.needs_none(id) {
            let mut state = self.lock();
            let used = state.used(uses);
            state.note(id, &used);
        }
        done
    }

    #[cold]
    fn wait_for_users(&self, streams: &S, id: Id, uses: Uses<'_>) -> Result<()> {
        let mut state = self.lock();
        state.meet(id);
        self.publish(&state);
        if !state.explicit && state.lines.get(&id).is_some_and(|line| !line.blocking) {
            // What the default stream did was not noted. Behind its tail is all work of the blocking streams too.
            state.explicit = true;
            self.publish(&state);
            state.used_by(DEFAULT);
        }
        let used = state.used(uses);
        state.wait_for_users(streams, id, &used)
    }

    /// What the fast path looks at. Behind the fence all that it enqueued unseen is before any event recorded from now on.
    fn publish(&self, state: &State<S>) {
        self.sole.store(state.sole.unwrap_or(DEFAULT), Ordering::Relaxed);
        self.explicit.store(state.explicit, Ordering::Relaxed);
        fence(Ordering::SeqCst);
    }

    /// The ends of all work that was enqueued so far, on whichever stream, for what no stream frees behind its users.
    /// The default stream's tail is that of all that are blocking.
    #[cfg(feature = "cuda")]
    pub(crate) fn ends(&self, streams: &S) -> Result<Vec<Arc<S::Event>>> {
        let mut state = self.lock();
        let apart = |(&id, line): (&Id, &Line<S>)| {
            (id == DEFAULT || !line.blocking || line.handle.is_none()).then_some(id)
        };
        let ids: Vec<Id> = state.lines.iter().filter_map(apart).collect();
        for &id in &ids {
            state.tail(streams, id)?;
        }
        let last = |id| state.lines.get(id).and_then(|line| line.last.as_ref());
        Ok(ids.iter().filter_map(last).map(|(_, event)| Arc::clone(event)).collect())
    }

    /// Marks the tail of a stream, for the program; with the point that whoever waits for it will know.
    pub(crate) fn record<R>(
        &self,
        id: Id,
        work: impl FnOnce() -> Result<R>,
    ) -> Result<(Option<Box<Point>>, R)> {
        // Read before: what is noted by now comes before the mark.
        let point = {
            let state = self.lock();
            let line = state.lines.get(&id).filter(|_| state.several);
            line.map(|line| Box::new(line.point(id)))
        };
        Ok((point, work()?))
    }

    /// A stream waits for a point of another, by the program.
    pub(crate) fn joined(&self, id: Id, point: Option<&Point>) {
        let Some(point) = point else { return };
        if let Some(line) = self.lock().lines.get_mut(&id) {
            line.learn(point);
        }
    }
}

impl<S: Streams> Line<S> {
    fn point(&self, id: Id) -> Point {
        Point { stream: id, number: self.number, knows: self.knows.clone() }
    }

    fn learn(&mut self, point: &Point) {
        for (&stream, &number) in point.knows.iter().chain([(&point.stream, &point.number)]) {
            let known = self.knows.entry(stream).or_default();
            *known = number.max(*known);
        }
    }
}

impl<S: Streams> State<S> {
    /// A stream has work, for which the fast path is closed: it is the only one, or there are several now.
    fn meet(&mut self, id: Id) {
        let blocking = self.lines.get(&id).is_some_and(|line| line.blocking);
        if id == DEFAULT || self.several || self.sole == Some(id) {
            return;
        }
        if self.sole.is_none() && blocking {
            self.sole = Some(id);
        } else {
            self.become_several();
        }
    }

    /// From now on uses are noted; until here the only stream may have used, and written, all there is.
    fn become_several(&mut self) {
        if self.several {
            return;
        }
        self.several = true;
        if let Some(sole) = self.sole.take() {
            self.used_by(sole);
        }
    }

    /// A stream may have used, and written, all there is.
    fn used_by(&mut self, id: Id) {
        let Some(line) = self.lines.get_mut(&id) else { return };
        line.number += 1;
        for memory in self.memory.values_mut() {
            memory.writers.push((id, line.number));
        }
    }

    /// Forgets streams that are dropped and done; where one is left it is alone again.
    fn sweep(&mut self, streams: &S) {
        self.lines.retain(|_, line| {
            line.handle.is_some() || line.last.as_ref().is_some_and(|(_, event)| !streams.has_ended(event))
        });
        let mut others = self.lines.iter().filter(|&(&id, _)| id != DEFAULT);
        let alone = match (others.next(), others.next()) {
            (None, _) => Some(None),
            // One that is dropped has still to be waited for.
            (Some((&id, line)), None) => line.handle.as_ref().map(|_| Some(id)),
            _ => None,
        };
        if let (true, false, Some(sole)) = (self.several, self.explicit, alone) {
            self.sole = sole;
            self.several = false;
        }
    }

    /// The allocation that an address is in.
    fn find(&self, address: u64) -> Option<u64> {
        let (&start, memory) = self.memory.range(..=address).next_back()?;
        (address - start < memory.bytes).then_some(start)
    }

    /// The allocations that work uses.
    fn used(&self, uses: Uses<'_>) -> Vec<(u64, bool)> {
        let mut used = Vec::new();
        uses(&mut |address, write| used.extend(self.find(address).map(|start| (start, write))));
        used
    }

    fn wait_for_users(&mut self, streams: &S, id: Id, used: &[(u64, bool)]) -> Result<()> {
        for &(start, write) in used {
            let Some(memory) = self.memory.get(&start) else { continue };
            let readers = if write { memory.readers.as_slice() } else { &[] };
            let users: Vec<(Id, u64)> = memory.writers.iter().chain(readers).copied().collect();
            for (other, number) in users {
                if !self.knows(id, other, number) {
                    self.wait_for_at_least(streams, id, other, number)?;
                }
            }
        }
        Ok(())
    }

    /// Whether what a stream enqueues now comes after that work of another.
    fn knows(&self, id: Id, other: Id, number: u64) -> bool {
        // Streams that are no longer here are done.
        let (Some(line), Some(their)) = (self.lines.get(&id), self.lines.get(&other)) else { return true };
        let by_driver = (id == DEFAULT && their.blocking) || (other == DEFAULT && line.blocking);
        id == other || by_driver || line.knows.get(&other).is_some_and(|&known| known >= number)
    }

    fn wait_for_at_least(&mut self, streams: &S, id: Id, other: Id, number: u64) -> Result<()> {
        let last = self.lines.get(&other).and_then(|line| line.last.as_ref());
        if last.is_none_or(|(point, _)| point.number < number) {
            self.tail(streams, other)?;
        }
        self.wait_for_last(streams, id, other)
    }

    /// Marks the tail of a stream.
    fn tail(&mut self, streams: &S, id: Id) -> Result<()> {
        if let Some(line) = self.lines.get_mut(&id)
            && let Some(handle) = line.handle.clone()
        {
            line.last = Some((line.point(id), Arc::new(streams.record_order(handle)?)));
        }
        Ok(())
    }

    fn wait_for_last(&mut self, streams: &S, id: Id, other: Id) -> Result<()> {
        let Some((point, event)) = self.lines.get(&other).and_then(|line| line.last.as_ref()) else {
            return Ok(());
        };
        if let Some(handle) = self.lines.get(&id).and_then(|line| line.handle.clone()) {
            streams.wait_order(handle, event)?;
        }
        let point = point.clone();
        if let Some(line) = self.lines.get_mut(&id) {
            line.learn(&point);
        }
        Ok(())
    }

    fn note(&mut self, id: Id, used: &[(u64, bool)]) {
        let Some(line) = self.lines.get_mut(&id) else { return };
        line.number += 1;
        let now = (id, line.number);
        for &(start, write) in used {
            let Some(memory) = self.memory.get_mut(&start) else { continue };
            if write {
                memory.writers = vec![now];
                memory.readers.clear();
            } else if memory.writers != [now] {
                match memory.readers.iter_mut().find(|(reader, _)| *reader == id) {
                    Some(reader) => *reader = now,
                    None => memory.readers.push(now),
                }
            }
        }
    }
}
