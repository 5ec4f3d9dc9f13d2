//! Counters, tickets, locks: what several threads update.

use gpu_sim::device::*;

use crate::*;

pub const CASES: &[Case] = &[
    Case {
        name: "lock_given_back_relaxed",
        shape: (4, 1, 4),
        results: 0,
        body: |m, mended| {
            let me = add(m.zero, Ordering::Relaxed);
            wait_for(at(m.zero, 1), me, Ordering::Acquire, Scope::Device);
            set(m.zero, 2, get(m.zero, 2) + 1);
            let ordering = if mended { Ordering::Release } else { Ordering::Relaxed };
            atomic_store(Space::Global, at(m.zero, 1), me + 1, ordering, Scope::Device);
        },
    },
    Case {
        name: "lock_taken_relaxed",
        shape: (4, 1, 0),
        results: 0,
        body: |m, mended| {
            let ordering = if mended { Ordering::Acquire } else { Ordering::Relaxed };
            let take = || {
                atomic_update(Space::Global, m.zero, ordering, Scope::Device, |old: u32| {
                    (old == 0).then_some(1)
                })
            };
            while take() != 0 {}
            set(m.zero, 2, get(m.zero, 2) + 1);
            atomic_store(Space::Global, m.zero, 0u32, Ordering::Release, Scope::Device);
        },
    },
    Case {
        name: "lock_between_lanes_of_a_warp_without_release",
        shape: (1, 32, 8),
        results: 1,
        body: |m, mended| {
            if t() < 2 {
                sset(t(), 0);
            }
            barrier();
            let take = || {
                atomic_update(Space::Shared, 0, Ordering::Acquire, Scope::Block, |old: u32| {
                    (old == 0).then_some(1)
                })
            };
            while take() != 0 {}
            sset(1, sget(1) + 1);
            let ordering = if mended { Ordering::Release } else { Ordering::Relaxed };
            say_shared(0, 0, ordering);
            barrier();
            if t() == 0 {
                set(m.b, 0, sget(1));
            }
        },
    },
    Case {
        name: "both_flags_up_and_both_inside",
        shape: (2, 1, 4),
        results: 0,
        // Of the two that raise a flag and look for the other's, both can miss it: only one order of all fences, which
        // these have not, would keep one of them out. An exchange does.
        body: |m, mended| {
            let me = ticket(m);
            for _ in 0..64 {
                let inside = if mended {
                    atomic_update(Space::Global, m.zero, Ordering::AcqRel, Scope::Device, |old: u32| {
                        (old == 0).then_some(1)
                    }) == 0
                } else {
                    atomic_store(Space::Global, at(m.zero, me), 1u32, Ordering::Release, Scope::Device);
                    atomic_load::<u32>(Space::Global, at(m.zero, 1 - me), Ordering::Acquire, Scope::Device)
                        == 0
                };
                if inside {
                    set(m.zero, 5, get(m.zero, 5) + 1);
                }
                if inside || !mended {
                    let flag = at(m.zero, if mended { 0 } else { me });
                    atomic_store(Space::Global, flag, 0u32, Ordering::Release, Scope::Device);
                }
            }
        },
    },
    Case {
        name: "tickets_of_the_round_before",
        shape: (4, 1, 0),
        results: 0,
        // Tickets are taken modulo the blocks, and nobody keeps a block from drawing its second before all have one.
        body: |m, mended| {
            for round in 0..2 {
                set(m.b, 8 * round + block(), block());
                let drawn = add(m.zero, Ordering::AcqRel);
                let last = drawn % 4 == 3;
                if last {
                    let sum: u32 = (0..4).map(|of| get(m.b, 8 * round + of)).sum();
                    set(m.b, 8 * round + 7, sum);
                }
                if mended {
                    wait_for_all(m, round);
                }
            }
        },
    },
    Case {
        name: "last_block_of_relaxed_tickets",
        shape: (4, 32, 4),
        results: 0,
        body: |m, mended| {
            set(m.b, i(), i());
            barrier();
            if t() == 0 {
                let ordering = if mended { Ordering::AcqRel } else { Ordering::Relaxed };
                sset(0, add(m.zero, ordering));
            }
            barrier();
            if sget(0) == 3 {
                let sum: u32 = (0..4).map(|of| get(m.b, 32 * of + t())).sum();
                set(m.b, 128 + t(), sum);
            }
        },
    },
    Case {
        name: "phases_of_a_grid_barrier_by_one_counter",
        shape: (3, 32, 4),
        results: 0,
        body: |m, mended| {
            // Broken: the second phase waits for as many as the first.
            for phase in 1..=2 {
                set(m.b, 96 * (phase - 1) + i(), phase);
                barrier();
                if t() == 0 {
                    add(m.zero, Ordering::AcqRel);
                    wait_for(m.zero, if mended { 3 * phase } else { 3 }, Ordering::Acquire, Scope::Device);
                }
                barrier();
                set(m.b, 192 + 96 * (phase - 1) + i(), get(m.b, 96 * (phase - 1) + (i() + 32) % 96));
            }
        },
    },
    Case {
        name: "plain_look_at_a_counter",
        shape: (2, 32, 0),
        results: 0,
        body: |m, mended| {
            add(m.zero, Ordering::Relaxed);
            let seen = if mended {
                atomic_load::<u32>(Space::Global, m.zero, Ordering::Relaxed, Scope::Device)
            } else {
                get(m.zero, 0)
            };
            set(m.b, i(), seen);
        },
    },
    Case {
        name: "bins_counted_without_atomics",
        shape: (1, 64, 64),
        results: 0,
        body: |m, mended| {
            if t() < 16 {
                sset(t(), 0);
            }
            barrier();
            let bin = get(m.a, t()) % 16;
            if mended {
                let address = u64::from(4 * bin);
                atomic_update(Space::Shared, address, Ordering::Relaxed, Scope::Block, |old: u32| {
                    Some(old + 1)
                });
            } else {
                sset(bin, sget(bin) + 1);
            }
        },
    },
    Case {
        name: "bits_set_and_cleared_by_plain_stores",
        shape: (1, 64, 0),
        results: 0,
        body: |m, mended| {
            let (word, bit) = (t() / 32, 1 << (t() % 32));
            if mended {
                atomic_update(
                    Space::Global,
                    at(m.zero, word),
                    Ordering::Relaxed,
                    Scope::Device,
                    |old: u32| Some(old | bit),
                );
            } else {
                set(m.zero, word, get(m.zero, word) | bit);
            }
        },
    },
    Case {
        name: "update_in_two_halves",
        shape: (1, 64, 0),
        results: 1,
        body: |m, mended| {
            if mended {
                update(Space::Global, m.zero, Scope::Device, 1);
            } else {
                let old: u32 = atomic_load(Space::Global, m.zero, Ordering::Relaxed, Scope::Device);
                atomic_store(Space::Global, m.zero, old + 1, Ordering::Relaxed, Scope::Device);
            }
            barrier();
            if t() == 0 {
                set(m.b, 0, atomic_load(Space::Global, m.zero, Ordering::Relaxed, Scope::Device));
            }
        },
    },
    Case {
        name: "counters_of_block_scope_between_blocks",
        shape: (4, 32, 0),
        results: 0,
        body: |m, mended| {
            update(Space::Global, m.zero, if mended { Scope::Device } else { Scope::Block }, 1);
        },
    },
    Case {
        name: "counter_cleared_without_a_barrier",
        shape: (1, 64, 4),
        results: 1,
        body: |m, mended| {
            if t() == 0 {
                sset(0, 0);
            }
            if mended {
                barrier();
            }
            update(Space::Shared, 0, Scope::Block, 1);
            barrier();
            if t() == 0 {
                set(m.b, 0, sget(0));
            }
        },
    },
    Case {
        name: "counter_cleared_for_the_next_round_too_early",
        shape: (1, 64, 4),
        results: 64,
        body: |m, mended| {
            if t() == 0 {
                sset(0, 0);
            }
            for round in 0..3 {
                barrier();
                update(Space::Shared, 0, Scope::Block, 1);
                barrier();
                let sum = sget(0);
                if mended {
                    barrier();
                }
                if t() == 0 {
                    sset(0, 0);
                }
                set(m.b, 64 * round + t(), sum);
            }
        },
    },
    Case {
        name: "halves_of_a_double_word",
        shape: (1, 64, 0),
        results: 0,
        body: |m, mended| {
            if t() < 32 {
                atomic_update(Space::Global, m.zero, Ordering::Relaxed, Scope::Device, |old: u64| {
                    Some(old + 1)
                });
            } else {
                update(Space::Global, at(m.zero, if mended { 2 } else { 1 }), Scope::Device, 1);
            }
        },
    },
    Case {
        name: "last_block_that_does_not_acquire",
        shape: (4, 32, 4),
        results: 128,
        body: |m, mended| {
            set(m.b, i(), i());
            barrier();
            if t() == 0 {
                sset(0, add(m.zero, if mended { Ordering::AcqRel } else { Ordering::Release }));
            }
            barrier();
            if sget(0) == 3 {
                set(m.b, 128 + t(), (0..4).map(|of| get(m.b, 32 * of + t())).sum());
            }
        },
    },
    Case {
        name: "lock_given_back_to_its_block_only",
        shape: (4, 1, 0),
        results: 0,
        body: |m, mended| {
            let take = || {
                atomic_update(Space::Global, m.zero, Ordering::Acquire, Scope::Device, |old: u32| {
                    (old == 0).then_some(1)
                })
            };
            while take() != 0 {}
            set(m.zero, 2, get(m.zero, 2) + 1);
            let scope = if mended { Scope::Device } else { Scope::Block };
            atomic_store(Space::Global, m.zero, 0u32, Ordering::Release, scope);
        },
    },
    Case {
        name: "compare_and_swap_tried_once",
        shape: (2, 64, 0),
        results: 0,
        body: |m, mended| {
            loop {
                let seen: u32 = atomic_load(Space::Global, m.zero, Ordering::Relaxed, Scope::Device);
                let next = |old: u32| (old == seen).then_some(old + 1);
                let old = atomic_update(Space::Global, m.zero, Ordering::Relaxed, Scope::Device, next);
                if old == seen || !mended {
                    break;
                }
            }
            barrier();
            if t() == 0 && add(at(m.zero, 1), Ordering::AcqRel) == 1 {
                let count: u32 = atomic_load(Space::Global, m.zero, Ordering::Relaxed, Scope::Device);
                assert_eq!(count, 128, "each has counted");
            }
        },
    },
];

/// All blocks have come to the end of a round.
fn wait_for_all(m: Memory, round: u32) {
    wait_for(m.zero, 4 * (round + 1), Ordering::Acquire, Scope::Device);
}
