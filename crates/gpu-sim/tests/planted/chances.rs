//! What goes wrong only when threads meet at the wrong moment: nothing in them races, or only on one of their ways.

use gpu_sim::device::*;

use crate::*;

fn load(address: u64, ordering: Ordering) -> u32 {
    atomic_load(Space::Global, address, ordering, Scope::Device)
}

fn store(address: u64, value: u32, ordering: Ordering) {
    atomic_store(Space::Global, address, value, ordering, Scope::Device);
}

/// Puts `new` where `old` is; what was there.
fn swap_if(address: u64, old: u32, new: u32, ordering: Ordering) -> u32 {
    let next = |now: u32| (now == old).then_some(new);
    atomic_update(Space::Global, address, ordering, Scope::Device, next)
}

fn exchange(address: u64, new: u32, ordering: Ordering) -> u32 {
    atomic_update(Space::Global, address, ordering, Scope::Device, |_: u32| Some(new))
}

pub const CASES: &[Case] = &[
    Case {
        name: "halves_that_are_read_one_after_the_other",
        shape: (2, 1, 4),
        results: 1,
        // A writer counts both words up; a reader wants the same in both.
        body: |m, mended| {
            if ticket(m) == 0 {
                for round in 1..9 {
                    if mended {
                        let both = u64::from(round) << 32 | u64::from(round);
                        atomic_store(Space::Global, m.zero, both, Ordering::Relaxed, Scope::Device);
                    } else {
                        store(m.zero, round, Ordering::Relaxed);
                        store(at(m.zero, 1), round, Ordering::Relaxed);
                    }
                }
            } else {
                let mut equal = true;
                for _ in 0..8 {
                    let (low, high) = if mended {
                        let both: u64 = atomic_load(Space::Global, m.zero, Ordering::Relaxed, Scope::Device);
                        (both as u32, (both >> 32) as u32)
                    } else {
                        (load(m.zero, Ordering::Relaxed), load(at(m.zero, 1), Ordering::Relaxed))
                    };
                    equal &= low == high;
                }
                set(m.b, 0, u32::from(equal));
            }
        },
    },
    Case {
        name: "table_found_made_without_an_acquire",
        shape: (6, 32, 0),
        results: 0,
        // Who comes first makes a table; who finds it made reads it at once.
        body: |m, mended| {
            let seen = load(m.zero, if mended { Ordering::Acquire } else { Ordering::Relaxed });
            if seen != 2 {
                if swap_if(m.zero, 0, 1, Ordering::Relaxed) == 0 {
                    set(m.b, 0, 7);
                    store(m.zero, 2, Ordering::Release);
                }
                wait_for(m.zero, 2, Ordering::Acquire, Scope::Device);
            }
            set(m.b, 1 + i(), get(m.b, 0));
        },
    },
    Case {
        name: "slot_looked_at_and_then_taken",
        shape: (4, 1, 0),
        results: 0,
        body: |m, mended| {
            for slot in 0..4 {
                let free = if mended {
                    swap_if(at(m.zero, slot), 0, 1 + block(), Ordering::Relaxed) == 0
                } else {
                    let free = load(at(m.zero, slot), Ordering::Relaxed) == 0;
                    if free {
                        store(at(m.zero, slot), 1 + block(), Ordering::Relaxed);
                    }
                    free
                };
                if free {
                    set(m.b, slot, block());
                    break;
                }
            }
        },
    },
    Case {
        name: "waiter_that_goes_to_sleep_when_it_has_been_woken",
        shape: (2, 1, 4),
        results: 1,
        // Word 0: the work there is; word 1: whether somebody sleeps; word 2: what wakes.
        body: |m, mended| {
            if ticket(m) == 0 {
                store(m.zero, 1, Ordering::Release);
                if load(at(m.zero, 1), Ordering::Acquire) == 1 || mended {
                    store(at(m.zero, 2), 1, Ordering::Release);
                }
            } else {
                if load(m.zero, Ordering::Acquire) == 0 {
                    store(at(m.zero, 1), 1, Ordering::Release);
                    wait_for(at(m.zero, 2), 1, Ordering::Acquire, Scope::Device);
                }
                set(m.b, 0, load(m.zero, Ordering::Relaxed));
            }
        },
    },
    Case {
        name: "readers_counted_and_not_waited_for",
        shape: (4, 1, 4),
        results: 0,
        // Word 0: how many read; word 1: whether one writes, or is to; word 8: what is read and written.
        body: |m, mended| {
            let enters = || while exchange(at(m.zero, 1), 1, Ordering::AcqRel) == 1 {};
            let me = ticket(m);
            if me == 3 {
                enters();
                while mended && load(m.zero, Ordering::Acquire) > 0 {}
                set(m.zero, 8, 1);
            } else {
                enters();
                add(m.zero, Ordering::Relaxed);
            }
            store(at(m.zero, 1), 0, Ordering::Release);
            if me < 3 {
                set(m.b, me, get(m.zero, 8));
                let leaves = |readers: u32| Some(readers - 1);
                atomic_update(Space::Global, m.zero, Ordering::Release, Scope::Device, leaves);
            }
        },
    },
];
