//! Several launches, on one stream or on two: scratch that the one leaves to the other, waits that are missing.

use gpu_sim::device::*;
use gpu_sim::{Fault, Geometry, Kernel, Simulator};

use crate::common::words;
use crate::*;

/// Words of each array: a launch has a thread for each.
const WORDS: u32 = 64;

pub struct Program {
    pub name: &'static str,
    /// What the host does, mended or not: the array that is its result, and the stream that reads it.
    pub host: fn(&Host, bool) -> Result<Vec<u8>, Fault>,
}

/// A device with two streams besides the default one, and arrays: words that count, words never written, zeros.
pub struct Host {
    default: Simulator,
    first: Simulator,
    second: Simulator,
    a: u64,
    b: u64,
    scratch: u64,
}

impl Host {
    pub fn new(default: Simulator) -> Result<Self, Fault> {
        let (first, second) = (default.stream(), default.stream());
        let a = words(&default, &(0..WORDS).collect::<Vec<_>>());
        let [b, scratch] = [default.alloc(4 * WORDS as usize)?, default.alloc_zeroed(4 * WORDS as usize)?];
        Ok(Self { default, first, second, a, b, scratch })
    }

    fn read(&self, array: u64) -> Result<Vec<u8>, Fault> {
        let mut bytes = vec![0; 4 * WORDS as usize];
        self.default.read(array, &mut bytes)?;
        Ok(bytes)
    }

    fn unwritten(&self) -> Result<u64, Fault> {
        self.default.alloc(4 * WORDS as usize)
    }
}

/// Two blocks of 32.
fn launch(on: &Simulator, name: &str, body: &(dyn Fn() + Sync)) -> Result<(), Fault> {
    let kernel = Kernel { name, file: file!(), line: line!() };
    on.launch(kernel, Geometry::linear(2, 32, 16), &|| body()).map(drop)
}

fn add_one(on: &Simulator, from: u64, to: u64) -> Result<(), Fault> {
    launch(on, "add_one", &|| set(to, i(), get(from, i()) + 1))
}

/// The last block to draw a ticket adds what all have stored, and may leave the counter as it was.
fn total(on: &Simulator, h: &Host, (from, to): (u64, u64), leaves_zero: bool) -> Result<(), Fault> {
    launch(on, "total", &|| {
        let sum = redux(FULL, Redux::Add, get(from, i()));
        if t() == 0 {
            set(h.scratch, 32 + block(), sum);
            if add(h.scratch, Ordering::AcqRel) == 1 {
                set(to, 0, get(h.scratch, 32) + get(h.scratch, 33));
                if leaves_zero {
                    atomic_store(Space::Global, h.scratch, 0u32, Ordering::Relaxed, Scope::Device);
                }
            }
        }
    })
}

pub const PROGRAMS: &[Program] = &[
    Program {
        name: "counter_that_the_launch_before_has_left",
        host: |h, mended| {
            let result = h.default.alloc_zeroed(4 * WORDS as usize)?;
            total(&h.first, h, (h.a, result), mended)?;
            total(&h.first, h, (h.a, result + 4), mended)?;
            h.read(result)
        },
    },
    Program {
        name: "sums_of_a_replay_added_to_those_of_the_last",
        host: |h, mended| {
            for _ in 0..3 {
                if mended {
                    h.first.fill(h.scratch, 4 * WORDS as usize, 0)?;
                }
                launch(&h.first, "count", &|| {
                    update(Space::Global, at(h.scratch, get(h.a, i()) % 16), Scope::Device, 1);
                })?;
            }
            h.first.copy(h.b, h.scratch, 4 * WORDS as usize)?;
            h.read(h.b)
        },
    },
    Program {
        name: "scratch_read_further_than_it_was_written",
        host: |h, mended| {
            let scratch = h.unwritten()?;
            let written = if mended { 64 } else { 60 };
            launch(&h.first, "tiles", &|| {
                if i() < written {
                    set(scratch, i(), get(h.a, i()));
                }
            })?;
            launch(&h.first, "sum", &|| {
                let sum = redux(FULL, Redux::Add, get(scratch, i()));
                set(h.b, i(), sum);
            })?;
            h.read(h.b)
        },
    },
    Program {
        name: "event_recorded_before_the_work_it_stands_for",
        host: |h, mended| {
            let early = h.first.record();
            add_one(&h.first, h.a, h.scratch)?;
            let late = h.first.record();
            h.second.wait(if mended { &late } else { &early });
            add_one(&h.second, h.scratch, h.b)?;
            h.read(h.b)
        },
    },
    Program {
        name: "wait_passed_on_by_a_stream_that_had_not_waited_yet",
        host: |h, mended| {
            let third = h.default.stream();
            add_one(&h.first, h.a, h.scratch)?;
            let before = h.second.record();
            h.second.wait(&h.first.record());
            let after = h.second.record();
            third.wait(if mended { &after } else { &before });
            add_one(&third, h.scratch, h.b)?;
            h.read(h.b)
        },
    },
    Program {
        name: "input_overwritten_while_another_stream_computes",
        host: |h, mended| {
            let result = h.unwritten()?;
            for (round, to) in [h.b, result].into_iter().enumerate() {
                h.first.fill(h.scratch, 4 * WORDS as usize, 1 + round as u8)?;
                h.second.wait(&h.first.record());
                add_one(&h.second, h.scratch, to)?;
                if mended {
                    h.first.wait(&h.second.record());
                }
            }
            Ok([h.read(h.b)?, h.read(result)?].concat())
        },
    },
    Program {
        name: "bins_cleared_on_a_stream_of_their_own",
        host: |h, mended| {
            h.second.fill(h.scratch, 4 * WORDS as usize, 0)?;
            if mended {
                h.first.wait(&h.second.record());
            }
            launch(&h.first, "count", &|| {
                update(Space::Global, at(h.scratch, get(h.a, i()) % 16), Scope::Device, 1);
            })?;
            h.read(h.scratch)
        },
    },
    Program {
        name: "halves_of_an_array_by_two_streams_that_overlap_by_one",
        host: |h, mended| {
            let (end, begin) = if mended { (32, 32) } else { (33, 32) };
            launch(&h.first, "left", &|| {
                if i() < end {
                    set(h.b, i(), get(h.a, i()));
                }
            })?;
            launch(&h.second, "right", &|| {
                if i() >= begin {
                    set(h.b, i(), get(h.a, i()));
                }
            })?;
            h.read(h.b)
        },
    },
    Program {
        name: "counter_of_two_streams_without_atomics",
        host: |h, mended| {
            for stream in [&h.first, &h.second] {
                launch(stream, "count", &|| {
                    if mended {
                        update(Space::Global, h.scratch, Scope::Device, 1);
                    } else if i() == 0 {
                        set(h.scratch, 0, get(h.scratch, 0) + WORDS);
                    }
                })?;
            }
            h.read(h.scratch)
        },
    },
    Program {
        name: "copy_to_another_device_of_what_is_still_computed",
        host: |h, mended| {
            let far = Simulator::new(h.default.config());
            let target = far.alloc(4 * WORDS as usize)?;
            add_one(&h.first, h.a, h.b)?;
            if mended {
                h.second.wait(&h.first.record());
            }
            far.copy_peer(target, &h.second, h.b, 4 * WORDS as usize)?;
            let mut bytes = vec![0; 4 * WORDS as usize];
            far.read(target, &mut bytes)?;
            Ok(bytes)
        },
    },
    Program {
        name: "index_past_the_view_that_was_lent",
        host: |h, mended| {
            let halves = [(h.a, 4 * 32), (h.b, 4 * WORDS as usize)];
            let lent = h.first.lending(&halves);
            let most = if mended { 32 } else { 33 };
            launch(&lent, "repeat", &|| set(h.b, i(), get(h.a, i() % most)))?;
            h.read(h.b)
        },
    },
    Program {
        name: "memory_given_back_between_two_launches",
        host: |h, mended| {
            let scratch = h.unwritten()?;
            add_one(&h.first, h.a, scratch)?;
            if !mended {
                h.default.free(scratch)?;
            }
            add_one(&h.first, scratch, h.b)?;
            h.read(h.b)
        },
    },
    Program {
        name: "flag_of_a_stream_polled_by_another_and_relaxed",
        host: |h, mended| {
            launch(&h.first, "say", &|| {
                set(h.b, i(), get(h.a, i()));
                barrier();
                if t() == 0 {
                    let order = if mended { Ordering::Release } else { Ordering::Relaxed };
                    atomic_update(Space::Global, h.scratch, order, Scope::Device, |old: u32| Some(old + 1));
                }
            })?;
            let result = h.unwritten()?;
            launch(&h.second, "hear", &|| {
                wait_for(h.scratch, 2, Ordering::Acquire, Scope::Device);
                set(result, i(), get(h.b, i()));
            })?;
            h.read(result)
        },
    },
    Program {
        name: "output_of_the_kernel_before_used_ahead_of_the_wait_for_it",
        host: |h, mended| {
            add_one(&h.first, h.a, h.scratch)?;
            let kernel = Kernel { name: "early", file: file!(), line: line!() };
            h.first.launch_programmatic(kernel, (32, 1), Geometry::linear(2, 32, 0), &|| {
                let own = if mended { 0 } else { get(h.scratch, 63 - i()) };
                grid_dependency_synchronize();
                let own = if mended { get(h.scratch, 63 - i()) } else { own };
                set(h.b, i(), own);
            })?;
            h.read(h.b)
        },
    },
];
