//! Work on several streams: what nothing orders is a race, with both places named.

mod common;

use std::collections::BTreeSet;

use common::*;
use gpu_sim::device::*;
use gpu_sim::{Direction, Fault, FaultKind, Geometry, Kernel, Mark, Simulator, Space};

const FIRST: Kernel<'static> = Kernel { name: "first", file: file!(), line: 1 };
const SECOND: Kernel<'static> = Kernel { name: "second", file: file!(), line: 2 };
const BLOCKS: u32 = 3;
const THREADS: u32 = 40;
const N: u32 = BLOCKS * THREADS;

fn i() -> u64 {
    u64::from(block_idx()[0] * THREADS + thread_idx()[0])
}

fn write(on: &Simulator, kernel: Kernel<'_>, to: u64) -> Result<(), Fault> {
    on.launch(kernel, Geometry::linear(BLOCKS, THREADS, 0), &|| {
        global_store(to + 4 * i(), i() as u32, Store::Weak);
    })
    .map(drop)
}

fn read(on: &Simulator, kernel: Kernel<'_>, from: u64) -> Result<(), Fault> {
    on.launch(kernel, Geometry::linear(BLOCKS, THREADS, 0), &|| {
        let _: u32 = at!(global_load(from + 4 * i(), Load::Weak));
    })
    .map(drop)
}

fn race(fault: &Fault) -> (Direction, Direction) {
    let FaultKind::Race { space: Space::Global, direction, .. } = fault.kind else { panic!("{fault}") };
    (direction, fault.other.as_ref().expect("two sides").direction)
}

#[test]
fn a_missing_wait_names_both_kernels_threads_lines_and_streams() {
    for seed in 0..20 {
        let simulator = Simulator::new(varied(seed));
        let (a, b) = (simulator.stream(), simulator.stream());
        let memory = simulator.alloc(4 * N as usize).unwrap();
        write(&a, FIRST, memory).unwrap();
        let fault = read(&b, SECOND, memory).unwrap_err();
        assert_eq!(race(&fault), (Direction::Read, Direction::Write));
        assert_eq!((fault.kernel.as_str(), fault.stream, fault.seed), ("second", 2, seed), "{fault}");
        assert_eq!(fault.site.as_ref().unwrap().line, LINE.get(), "{fault}");
        let other = fault.other.as_ref().unwrap();
        assert_eq!((fault.block, fault.thread), (other.block, other.thread), "the writer of that word");
        assert_eq!((other.stream, other.site.as_ref().unwrap().file.as_str()), (Some(1), file!()));
        let text = fault.to_string();
        assert!(text.contains("of kernel `first`"), "{text}");
        assert!(text.contains("on stream 1, which stream 2 has not waited for"), "{text}");
    }
}

#[test]
fn events_waits_of_the_host_and_the_default_stream_order() {
    type Order = fn(&Simulator, &Simulator, &Simulator);
    let orders: [(&str, Order, bool); 9] = [
        ("nothing", |_, _, _| {}, false),
        ("an event", |a, b, _| b.wait(&a.record()), true),
        ("an event of the other", |a, b, _| a.wait(&b.record()), false),
        ("the host waits for the stream", |a, _, _| a.synchronize(), true),
        ("the host waits for the other", |_, b, _| b.synchronize(), false),
        ("the host waits for an event", |a, _, default| default.wait_on_host(&a.record()), true),
        ("the host waits for all", |_, _, default| default.synchronize(), true),
        ("an event of the default stream", |_, b, default| b.wait(&default.record()), true),
        (
            "work of the default stream",
            |_, _, default| default.fill(default.alloc(4).unwrap(), 4, 0).unwrap(),
            true,
        ),
    ];
    // All of them use byte 5, and what else they use is away from what the others do.
    type Work = fn(&Simulator, u64, u64) -> Result<(), Fault>;
    let writes: [Work; 4] = [
        |on, at, _| write(on, SECOND, at),
        |on, at, _| on.fill(at, 8, 1),
        |on, at, _| on.write(at + 5, &[1, 2]),
        |on, at, away| on.copy(at + 1, away, 9),
    ];
    let reads: [Work; 3] = [
        |on, at, _| read(on, SECOND, at),
        |on, at, _| on.read(at + 4, &mut [0; 2]),
        |on, at, away| on.copy(away, at, 10),
    ];
    let works = || writes.iter().map(|work| (work, true)).chain(reads.iter().map(|work| (work, false)));
    for (what, order, ordered) in orders {
        for ((first, first_writes), (second, second_writes)) in
            works().flat_map(|first| works().map(move |second| (first, second)))
        {
            let simulator = Simulator::new(varied(1));
            let (a, b) = (simulator.stream(), simulator.stream());
            let [memory, c, d] = [4 * N as usize, 16, 16].map(|bytes| simulator.alloc_zeroed(bytes).unwrap());
            first(&a, memory, c).unwrap();
            order(&a, &b, &simulator);
            match second(&b, memory, d) {
                Ok(()) => assert!(ordered || !first_writes && !second_writes, "{what}"),
                Err(fault) => {
                    assert!(!ordered, "{what}: {fault}");
                    let of = |writes| if writes { Direction::Write } else { Direction::Read };
                    assert_eq!(race(&fault), (of(second_writes), of(first_writes)), "{what}: {fault}");
                }
            }
        }
    }
}

#[test]
fn both_sides_of_host_calls_are_named() {
    let simulator = Simulator::default();
    let (a, b) = (simulator.stream(), simulator.stream());
    let memory = simulator.alloc(64).unwrap();
    let line = line!() + 1;
    a.fill(memory + 8, 8, 1).unwrap();
    let here = std::panic::Location::caller();
    let fault = b.called_from(here).copy(memory + 32, memory + 12, 8).unwrap_err();
    let FaultKind::Race { address, .. } = fault.kind else { panic!("{fault}") };
    assert_eq!((address, race(&fault)), (memory + 12, (Direction::Read, Direction::Write)));
    assert_eq!(fault.site.as_ref().unwrap().line, here.line());
    let other = fault.other.as_ref().unwrap();
    assert_eq!((other.kernel.as_deref(), other.threads), (Some("a fill of 8 bytes"), false));
    assert_eq!(other.site.as_ref().unwrap().line, line);
    assert!(
        fault
            .to_string()
            .contains("in a host call\n  other access: write\n  of a fill of 8 bytes on stream 1"),
        "{fault}"
    );
    // Nothing was copied.
    a.synchronize();
    assert!(
        b.read(memory + 32, &mut [0; 8])
            .is_err_and(|fault| matches!(fault.kind, FaultKind::Unwritten { .. }))
    );
}

#[test]
fn parts_of_words_that_are_not_the_same_do_not_race() {
    for (offset, races) in [(0, true), (1, true), (2, false), (3, false)] {
        let simulator = Simulator::default();
        let (a, b) = (simulator.stream(), simulator.stream());
        let memory = simulator.alloc(7).unwrap();
        a.launch(FIRST, Geometry::linear(1, 1, 0), &|| global_store(memory, 7u16, Store::Weak)).unwrap();
        let second = b.launch(SECOND, Geometry::linear(1, 1, 0), &|| {
            global_store(memory + offset, 7u8, Store::Weak);
        });
        assert_eq!(second.is_err(), races, "{offset}");
        assert_eq!(simulator.stream().fill(memory + 4, 3, 0), Ok(()), "nor the rest");
    }
}

#[test]
fn atomics_do_not_race_but_with_plain_accesses() {
    let count = |on: &Simulator, at: u64| {
        on.launch(KERNEL, Geometry::linear(2, 40, 0), &|| {
            atomic_update(Space::Global, at, Ordering::Relaxed, Scope::Device, |old: u32| Some(old + 1));
        })
        .map(drop)
    };
    for first in [0, 1] {
        let simulator = Simulator::default();
        let streams = [simulator.stream(), simulator.stream(), simulator.stream()];
        let memory = words(&simulator, &[0]);
        count(&streams[0], memory).unwrap();
        count(&streams[1], memory).unwrap();
        // Whichever of the two is waited for, the other is not.
        streams[2].wait(&streams[first].record());
        let plain = streams[2].launch(SECOND, Geometry::linear(1, 1, 0), &|| {
            let _: u32 = global_load(memory, Load::Weak);
        });
        let fault = plain.unwrap_err();
        let other = fault.other.as_ref().unwrap();
        assert_eq!((other.atomic, other.stream), (true, Some(2 - first as u32)), "{fault}");
    }
}

#[test]
fn what_a_kernel_releases_another_may_acquire() {
    let message = |ordering: Ordering| {
        let simulator = Simulator::default();
        let (a, b) = (simulator.stream(), simulator.stream());
        let (data, flag) = (simulator.alloc(4).unwrap(), words(&simulator, &[0]));
        a.launch(FIRST, Geometry::linear(1, 1, 0), &|| {
            global_store(data, 7u32, Store::Weak);
            atomic_store(Space::Global, flag, 1u32, ordering, Scope::Device);
        })
        .unwrap();
        b.launch(SECOND, Geometry::linear(1, 1, 0), &|| {
            while atomic_load::<u32>(Space::Global, flag, Ordering::Acquire, Scope::Device) == 0 {}
            assert_eq!(global_load::<u32>(data, Load::Weak), 7);
        })
    };
    message(Ordering::Release).unwrap();
    race(&message(Ordering::Relaxed).unwrap_err());
}

#[test]
fn a_programmatic_kernel_waits_for_none_of_another_stream() {
    let simulator = Simulator::default();
    let (a, b) = (simulator.stream(), simulator.stream());
    let (x, y) = (simulator.alloc(4).unwrap(), simulator.alloc(4).unwrap());
    let store = |to: u64| move || global_store(to, 1u32, Store::Weak);
    a.launch(FIRST, Geometry::linear(1, 1, 0), &store(x)).unwrap();
    // Had it come after the first, it would have to wait.
    b.launch_programmatic(SECOND, (32, 1), Geometry::linear(1, 1, 0), &store(y)).unwrap();
}

/// A generator for programs: xorshift.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound
    }
}

/// Bytes read and written.
type Bytes = (BTreeSet<usize>, BTreeSet<usize>);

/// What the order of work is by definition: who is before whom, and which bytes each used.
#[derive(Default)]
struct Oracle {
    done: Vec<Bytes>,
    /// Of each stream and, at the end, of the host: all work before what comes next.
    before: Vec<BTreeSet<usize>>,
}

impl Oracle {
    fn run(&mut self, stream: usize, bytes: Bytes) -> bool {
        let host = self.before.last().expect("the host's").clone();
        self.before[stream].extend(host);
        let meet = |a: &BTreeSet<usize>, b: &BTreeSet<usize>| a.intersection(b).next().is_some();
        let races = |(reads, writes): &Bytes| {
            meet(writes, &bytes.0) || meet(writes, &bytes.1) || meet(reads, &bytes.1)
        };
        let race =
            (0..self.done.len()).any(|work| !self.before[stream].contains(&work) && races(&self.done[work]));
        self.before[stream].insert(self.done.len());
        self.done.push(bytes);
        race
    }
}

/// Random programs of three streams: exactly what is a race by definition is found, at the first such call.
#[test]
fn races_are_found_where_the_definition_says_and_nowhere_else() {
    const LEN: usize = 48;
    let (mut races, mut clean) = (0, 0);
    for seed in 1..=3000 {
        let mut draw = Draw(0x9E37_79B9_7F4A_7C15 ^ (seed << 20));
        let simulator = Simulator::default();
        let memory = simulator.alloc_zeroed(LEN).unwrap();
        let streams = [simulator.stream(), simulator.stream(), simulator.stream()];
        let mut marks: Vec<(Mark, BTreeSet<usize>)> = Vec::new();
        let mut oracle = Oracle { done: Vec::new(), before: vec![BTreeSet::new(); 4] };
        let mut raced = false;
        for step in 0..24 {
            let s = draw.below(3);
            let on = &streams[s];
            let (word, offset, size) = (4 * draw.below(LEN / 4), draw.below(LEN - 8), 1 + draw.below(8));
            let range = |at: usize, size: usize| (at..at + size).collect::<BTreeSet<_>>();
            let none = BTreeSet::new;
            let at = |offset: usize| memory + offset as u64;
            let (bytes, done) = match draw.below(12) {
                0 => {
                    on.synchronize();
                    let known = oracle.before[s].clone();
                    oracle.before[3].extend(known);
                    continue;
                }
                1 | 2 => {
                    marks.push((on.record(), oracle.before[s].clone()));
                    continue;
                }
                3 | 4 => {
                    if let Some((mark, known)) = marks.get(draw.below(marks.len() + 1)) {
                        on.wait(mark);
                        oracle.before[s].extend(known);
                    }
                    continue;
                }
                5 if draw.below(4) == 0 => {
                    simulator.fill(at(word), 4, 1).unwrap();
                    let all: BTreeSet<usize> = (0..oracle.done.len()).collect();
                    oracle.before.iter_mut().for_each(|before| before.extend(&all));
                    continue;
                }
                5 | 6 => ((none(), range(offset, size)), on.fill(at(offset), size, step)),
                7 => ((range(offset, size), none()), on.read(at(offset), &mut vec![0; size])),
                8 => {
                    let (from, to) = (offset / 8 * 8, (offset / 8 * 8 + 16) % (LEN - 8));
                    let size = size.min(8);
                    ((range(from, size), range(to, size)), on.copy(at(to), at(from), size))
                }
                9 => (
                    (none(), range(word, 4)),
                    on.launch(FIRST, Geometry::linear(1, 1, 0), &|| {
                        global_store(at(word), 1u32, Store::Weak)
                    })
                    .map(drop),
                ),
                10 => (
                    (range(offset, 1), none()),
                    on.launch(SECOND, Geometry::linear(1, 2, 0), &|| {
                        let _: u8 = global_load(at(offset), Load::Weak);
                    })
                    .map(drop),
                ),
                _ => {
                    let to = (word + 12) % LEN;
                    let body = || {
                        let value: u32 = global_load(at(word), Load::Weak);
                        global_store(at(to), value, Store::Weak);
                    };
                    let done = on.launch(KERNEL, Geometry::linear(1, 1, 0), &body).map(drop);
                    ((range(word, 4), range(to, 4)), done)
                }
            };
            let expected = oracle.run(s, bytes);
            match done {
                Ok(()) => assert!(!expected, "seed {seed}, step {step}: a race was not found"),
                Err(fault) => {
                    assert!(expected, "seed {seed}, step {step}: {fault}");
                    race(&fault);
                }
            }
            raced |= expected;
            if raced {
                break;
            }
        }
        races += u32::from(raced);
        clean += u32::from(!raced);
    }
    assert!(races > 300 && clean > 20, "{races} with a race, {clean} without");
}

#[test]
fn what_took_too_much_memory_is_forgotten_and_the_default_stream_costs_none() {
    // More work than is kept: the last of it counts.
    let simulator = Simulator::default();
    let (a, b) = (simulator.stream(), simulator.stream());
    let (x, y) = (simulator.alloc_zeroed(4).unwrap(), simulator.alloc_zeroed(4).unwrap());
    a.fill(x, 4, 0).unwrap();
    for _ in 0..1 << 14 {
        a.fill(y, 4, 0).unwrap();
    }
    b.fill(x, 4, 1).unwrap();
    race(&b.fill(y, 4, 1).unwrap_err());
    // A gigabyte is alike throughout.
    let large = simulator.alloc_zeroed(1 << 30).unwrap();
    a.read(large, &mut [0; 4]).unwrap();
    a.synchronize();
    b.fill(large + 4, 1 << 20, 0).unwrap();
    race(&a.fill(large + (1 << 20), 4, 1).unwrap_err());
    a.fill(large + (1 << 20) + 4, 4, 1).unwrap();
}
