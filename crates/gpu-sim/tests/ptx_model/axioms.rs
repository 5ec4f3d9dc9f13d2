//! PTX's memory consistency model, by brute force: which outcomes of a small program its axioms allow.
//!
//! After the PTX ISA, chapter "Memory Consistency Model", and its formal statement: Lustig, Sahasrabuddhe, Giroux, "A
//! Formal Analysis of the NVIDIA PTX Memory Consistency Model" (ASPLOS 2019), sections 3 and 4. Every candidate of
//! reads-from and coherence order is tried; nothing here knows how the simulator decides. Left out, because kernels
//! cannot say it: `fence.sc`. Programs have strong accesses only, and each includes the other's thread in its scope,
//! so that the coherence order of a location is total and no program has a data race.

use std::collections::BTreeMap;

use gpu_sim::device::{Ordering, Scope};

/// What a thread does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// A load into a register of the outcome.
    Load {
        at: usize,
        to: usize,
        ordering: Ordering,
        scope: Scope,
    },
    Store {
        at: usize,
        value: Value,
        ordering: Ordering,
        scope: Scope,
    },
    /// Fetch and add.
    Add {
        at: usize,
        value: u32,
        to: usize,
        ordering: Ordering,
        scope: Scope,
    },
    Fence {
        ordering: Ordering,
        scope: Scope,
    },
    /// The barrier of the thread's block.
    Barrier,
}

/// What a store stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    Constant(u32),
    /// What an earlier load of the thread brought.
    Register(usize),
}

#[derive(Clone, Debug)]
pub struct Thread {
    pub block: u32,
    pub ops: Vec<Op>,
}

#[derive(Clone, Debug)]
pub struct Program {
    pub threads: Vec<Thread>,
    pub locations: usize,
    pub registers: usize,
}

/// The registers, and behind them the last value of each location.
pub type Outcome = Vec<u32>;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Read,
    Write,
    Fence,
    Arrive,
    Wait,
}

#[derive(Clone, Copy)]
struct Event {
    thread: usize,
    kind: Kind,
    at: usize,
    ordering: Ordering,
    scope: Scope,
    op: Op,
    /// Of a barrier: which one of its thread.
    ordinal: usize,
}

/// A relation of events: for each, whom it is related to.
#[derive(Clone, PartialEq, Eq)]
struct Relation(Vec<u64>);

impl Relation {
    fn of(events: usize, related: impl Fn(usize, usize) -> bool) -> Self {
        let row = |a| (0..events).filter(|&b| related(a, b)).fold(0, |row, b| row | 1 << b);
        Self((0..events).map(row).collect())
    }

    fn has(&self, a: usize, b: usize) -> bool {
        self.0[a] >> b & 1 == 1
    }

    fn or(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(a, b)| a | b).collect())
    }

    fn and(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(a, b)| a & b).collect())
    }

    fn then(&self, next: &Self) -> Self {
        let row =
            |row: &u64| (0..self.0.len()).filter(|b| row >> b & 1 == 1).fold(0, |all, b| all | next.0[b]);
        Self(self.0.iter().map(row).collect())
    }

    fn or_same(&self) -> Self {
        Self(self.0.iter().enumerate().map(|(a, row)| row | 1 << a).collect())
    }

    /// Its transitive closure.
    fn closed(&self) -> Self {
        let mut all = self.clone();
        loop {
            let next = all.or(&all.then(self));
            if next == all {
                return all;
            }
            all = next;
        }
    }

    fn irreflexive(&self) -> bool {
        self.0.iter().enumerate().all(|(a, row)| row >> a & 1 == 0)
    }

    fn acyclic(&self) -> bool {
        self.closed().irreflexive()
    }
}

/// A program, its events, and what does not depend on the execution.
struct Fixed<'a> {
    program: &'a Program,
    events: Vec<Event>,
    program_order: Relation,
    same_location: Relation,
    strong: Relation,
    rmw: Relation,
    dependency: Relation,
    barriers: Relation,
}

impl<'a> Fixed<'a> {
    fn new(program: &'a Program) -> Self {
        let mut events = Vec::new();
        for (thread, Thread { ops, .. }) in program.threads.iter().enumerate() {
            let mut ordinal = 0;
            for &op in ops {
                let mut event = |kind, at, ordering, scope| {
                    events.push(Event { thread, kind, at, ordering, scope, op, ordinal });
                };
                match op {
                    Op::Load { at, ordering, scope, .. } => event(Kind::Read, at, ordering, scope),
                    Op::Store { at, ordering, scope, .. } => event(Kind::Write, at, ordering, scope),
                    Op::Add { at, ordering, scope, .. } => {
                        event(Kind::Read, at, ordering, scope);
                        event(Kind::Write, at, ordering, scope);
                    }
                    Op::Fence { ordering, scope } => event(Kind::Fence, usize::MAX, ordering, scope),
                    Op::Barrier => {
                        event(Kind::Arrive, usize::MAX, Ordering::AcqRel, Scope::Block);
                        event(Kind::Wait, usize::MAX, Ordering::AcqRel, Scope::Block);
                        ordinal += 1;
                    }
                }
            }
        }
        let n = events.len();
        assert!(n <= 64, "rows are words");
        let block = |e: &Event| program.threads[e.thread].block;
        let includes =
            |a: &Event, b: &Event| a.thread == b.thread || a.scope != Scope::Block || block(a) == block(b);
        let accesses = |e: &Event| matches!(e.kind, Kind::Read | Kind::Write);
        let program_order = Relation::of(n, |a, b| events[a].thread == events[b].thread && a < b);
        let same_location = Relation::of(n, |a, b| accesses(&events[a]) && events[a].at == events[b].at);
        let strong =
            Relation::of(n, |a, b| includes(&events[a], &events[b]) && includes(&events[b], &events[a]));
        for (a, event) in events.iter().enumerate().filter(|(_, event)| accesses(event)) {
            let related = (0..n).filter(|&b| accesses(&events[b]) && events[b].at == event.at);
            for b in related {
                assert!(strong.has(a, b), "a program without data races: {program:?}");
            }
        }
        let add = |a: usize| matches!(events[a].op, Op::Add { .. }) && events[a].kind == Kind::Read;
        let rmw = Relation::of(n, |a, b| add(a) && b == a + 1);
        let dependency = Relation::of(n, |a, b| match (events[a].op, events[b].op) {
            (Op::Load { to, .. } | Op::Add { to, .. }, Op::Store { value: Value::Register(from), .. }) => {
                to == from && events[a].kind == Kind::Read
            }
            _ => false,
        });
        let barriers = Relation::of(n, |a, b| {
            let (a, b) = (&events[a], &events[b]);
            (a.kind, b.kind) == (Kind::Arrive, Kind::Wait) && (block(a), a.ordinal) == (block(b), b.ordinal)
        });
        let dependency = dependency.or(&rmw);
        Self { program, events, program_order, same_location, strong, rmw, dependency, barriers }
    }

    fn select(&self, wanted: impl Fn(&Event) -> bool) -> Relation {
        Relation::of(self.events.len(), |a, b| a == b && wanted(&self.events[a]))
    }

    /// Base causality with synchronisation through observation, and causality itself.
    fn causality(&self, reads_from: &Relation) -> Relation {
        let releases = |e: &Event| matches!(e.ordering, Ordering::Release | Ordering::AcqRel);
        let acquires = |e: &Event| matches!(e.ordering, Ordering::Acquire | Ordering::AcqRel);
        let release = self.select(|e| e.kind == Kind::Write && releases(e));
        let acquire = self.select(|e| e.kind == Kind::Read && acquires(e));
        let (writes, reads) = (self.select(|e| e.kind == Kind::Write), self.select(|e| e.kind == Kind::Read));
        let fence = |e: &Event| matches!(e.kind, Kind::Fence | Kind::Wait);
        let release_fence = self.select(|e| fence(e) && releases(e));
        let acquire_fence = self.select(|e| fence(e) && acquires(e));
        let before_here = self.program_order.and(&self.same_location).or_same();

        let observation = reads_from.and(&self.strong).or(&self.rmw).closed();
        // A release pattern begins at a releasing write or fence and ends at a write, an acquire pattern the other way.
        let prefix = release
            .then(&before_here)
            .then(&writes)
            .or(&release_fence.then(&self.program_order).then(&writes));
        let suffix =
            reads.then(&before_here).then(&acquire).or(&reads.then(&self.program_order).then(&acquire_fence));
        let synchronises = prefix.then(&observation).then(&suffix).and(&self.strong).or(&self.barriers);
        let order = self.program_order.or_same();
        let base = order.then(&synchronises).then(&order).closed();
        let on = self.program_order.and(&self.same_location).or(&base);
        base.or(&observation.then(&on))
    }

    /// Whether the axioms allow an execution: reads-from (of reads that do not read the initial value) and, as a
    /// number per write, coherence.
    fn allows(&self, from: &[Option<usize>], coherence: &[usize]) -> bool {
        let n = self.events.len();
        let write = |e: usize| self.events[e].kind == Kind::Write;
        let reads_from = Relation::of(n, |w, r| from[r] == Some(w));
        if !reads_from.or(&self.dependency).acyclic() {
            return false;
        }
        let order = Relation::of(n, |a, b| {
            write(a) && write(b) && self.same_location.has(a, b) && coherence[a] < coherence[b]
        });
        let overtaken = Relation::of(n, |r, w| {
            let read = self.events[r].kind == Kind::Read;
            read && write(w)
                && self.same_location.has(r, w)
                && from[r].is_none_or(|read| coherence[read] < coherence[w])
        });
        let communication = reads_from.or(&order).or(&overtaken);
        let here = self.program_order.and(&self.same_location);
        if !communication.and(&self.strong).or(&here).acyclic() {
            return false;
        }
        let between = overtaken.and(&self.strong).then(&order.and(&self.strong)).and(&self.rmw);
        if between.0.iter().any(|&row| row != 0) {
            return false;
        }
        let cause = self.causality(&reads_from);
        let against = cause.and(&self.same_location);
        let orders =
            (0..n).all(|a| (0..n).all(|b| !(write(a) && write(b) && against.has(a, b)) || order.has(a, b)));
        orders && overtaken.or(&reads_from).or_same().then(&cause).irreflexive()
    }

    fn outcome(&self, from: &[Option<usize>], coherence: &[usize]) -> Outcome {
        let mut registers = vec![0; self.program.registers];
        let mut values = vec![0; self.events.len()];
        // As many rounds as a value can have links.
        for _ in 0..self.events.len() {
            for (e, event) in self.events.iter().enumerate() {
                match (event.op, event.kind) {
                    (Op::Load { to, .. } | Op::Add { to, .. }, Kind::Read) => {
                        values[e] = from[e].map_or(0, |write| values[write]);
                        registers[to] = values[e];
                    }
                    (Op::Add { value, .. }, Kind::Write) => values[e] = values[e - 1] + value,
                    (Op::Store { value: Value::Constant(value), .. }, _) => values[e] = value,
                    (Op::Store { value: Value::Register(from), .. }, _) => values[e] = registers[from],
                    _ => {}
                }
            }
        }
        for at in 0..self.program.locations {
            let writes = (0..self.events.len()).filter(|&e| self.events[e].kind == Kind::Write);
            let last = writes.filter(|&e| self.events[e].at == at).max_by_key(|&e| coherence[e]);
            registers.push(last.map_or(0, |last| values[last]));
        }
        registers
    }
}

/// All orders of some things.
fn permutations(of: &[usize]) -> Vec<Vec<usize>> {
    if of.is_empty() {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for (at, &first) in of.iter().enumerate() {
        let mut rest = of.to_vec();
        rest.remove(at);
        all.extend(permutations(&rest).into_iter().map(|mut rest| {
            rest.insert(0, first);
            rest
        }));
    }
    all
}

/// The outcomes that the axioms allow. Of each, whether some execution has it in which no load returns a store that
/// comes after it in an order of time (program order and reads-from have no cycle).
pub fn allowed(program: &Program) -> BTreeMap<Outcome, bool> {
    let fixed = Fixed::new(program);
    let n = fixed.events.len();
    let of_kind = |kind, at| {
        let events = &fixed.events;
        (0..n).filter(move |&e| events[e].kind == kind && events[e].at == at).collect::<Vec<_>>()
    };
    let mut coherences = vec![vec![0; n]];
    for at in 0..program.locations {
        let orders = permutations(&of_kind(Kind::Write, at));
        let extended = |so_far: &Vec<usize>| {
            let with = |order: &Vec<usize>| {
                let mut numbers = so_far.clone();
                order.iter().enumerate().for_each(|(number, &e)| numbers[e] = number + 1);
                numbers
            };
            orders.iter().map(with).collect::<Vec<_>>()
        };
        coherences = coherences.iter().flat_map(extended).collect();
    }
    let mut outcomes = BTreeMap::new();
    for coherence in &coherences {
        let mut candidates = vec![vec![None; n]];
        for read in (0..n).filter(|&e| fixed.events[e].kind == Kind::Read) {
            let writes = of_kind(Kind::Write, fixed.events[read].at);
            let mut sources: Vec<Option<usize>> = writes.iter().copied().map(Some).collect();
            sources.push(None);
            if fixed.rmw.0[read] != 0 {
                // Atomicity: what is right before its own write. (Checked again with the axioms.)
                let before = |e: Option<usize>| e.map_or(0, |e| coherence[e]);
                sources.retain(|&source| before(source) + 1 == coherence[read + 1]);
            }
            let extended = |so_far: &Vec<Option<usize>>| {
                let with = |&source: &Option<usize>| {
                    let mut from = so_far.clone();
                    from[read] = source;
                    from
                };
                sources.iter().map(with).collect::<Vec<_>>()
            };
            candidates = candidates.iter().flat_map(extended).collect();
        }
        for from in &candidates {
            if fixed.allows(from, coherence) {
                let reads_from = Relation::of(n, |w, r| from[r] == Some(w));
                let in_order = reads_from.or(&fixed.program_order).acyclic();
                *outcomes.entry(fixed.outcome(from, coherence)).or_default() |= in_order;
            }
        }
    }
    outcomes
}
