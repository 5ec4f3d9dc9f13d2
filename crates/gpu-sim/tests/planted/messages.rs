//! Messages between threads: flags, fences, scopes, hand-overs.

use gpu_sim::device::*;

use crate::*;

pub const CASES: &[Case] = &[
    Case {
        name: "flag_without_a_fence",
        shape: (2, 1, 4),
        results: 0,
        body: |m, mended| {
            if ticket(m) == 0 {
                set(m.b, 0, 7);
                if mended {
                    fence(Ordering::Release, Scope::Device);
                }
                global_store(at(m.zero, 0), 1u32, Store::Volatile);
            } else {
                while global_load::<u32>(at(m.zero, 0), Load::Volatile) == 0 {}
                fence(Ordering::Acquire, Scope::Device);
                assert_eq!(get(m.b, 0), 7);
            }
        },
    },
    Case {
        name: "fence_behind_the_flag",
        shape: (2, 1, 4),
        results: 0,
        body: |m, mended| {
            if ticket(m) == 0 {
                set(m.b, 0, 7);
                if mended {
                    fence(Ordering::AcqRel, Scope::Device);
                }
                atomic_store(Space::Global, m.zero, 1u32, Ordering::Relaxed, Scope::Device);
                fence(Ordering::AcqRel, Scope::Device);
            } else {
                wait_for(m.zero, 1, Ordering::Acquire, Scope::Device);
                set(m.b, 1, get(m.b, 0));
            }
        },
    },
    Case {
        name: "reader_that_does_not_acquire",
        shape: (2, 32, 4),
        results: 0,
        body: |m, mended| {
            if ticket(m) == 0 {
                set(m.b, t(), 7);
                barrier();
                if t() == 0 {
                    atomic_store(Space::Global, m.zero, 1u32, Ordering::Release, Scope::Device);
                }
            } else {
                let ordering = if mended { Ordering::Acquire } else { Ordering::Relaxed };
                wait_for(m.zero, 1, ordering, Scope::Device);
                set(m.b, 32 + t(), get(m.b, t()));
            }
        },
    },
    Case {
        name: "release_of_block_scope",
        shape: (2, 1, 4),
        results: 0,
        body: |m, mended| {
            let scope = if mended { Scope::Device } else { Scope::Block };
            if ticket(m) == 0 {
                set(m.b, 0, 7);
                atomic_store(Space::Global, m.zero, 1u32, Ordering::Release, scope);
            } else {
                wait_for(m.zero, 1, Ordering::Acquire, Scope::Device);
                set(m.b, 1, get(m.b, 0));
            }
        },
    },
    Case {
        name: "spin_on_a_plain_load",
        shape: (2, 1, 4),
        results: 0,
        body: |m, mended| {
            if ticket(m) == 0 {
                set(m.b, 0, 7);
                atomic_store(Space::Global, m.zero, 1u32, Ordering::Release, Scope::Device);
            } else {
                let load = |_| if mended { global_load(m.zero, Load::Volatile) } else { get(m.zero, 0) };
                while load(0) == 0 {}
                fence(Ordering::Acquire, Scope::Device);
                set(m.b, 1, get(m.b, 0));
            }
        },
    },
    Case {
        name: "one_thread_releases_what_others_wrote",
        shape: (2, 64, 4),
        results: 64,
        body: |m, mended| {
            if ticket(m) == 0 {
                set(m.b, t(), 7);
                if mended {
                    barrier();
                }
                if t() == 0 {
                    fence(Ordering::AcqRel, Scope::Device);
                    atomic_store(Space::Global, m.zero, 1u32, Ordering::Relaxed, Scope::Device);
                }
            } else {
                if t() == 0 {
                    wait_for(m.zero, 1, Ordering::Acquire, Scope::Device);
                }
                barrier();
                set(m.b, 64 + t(), get(m.b, t()));
            }
        },
    },
    Case {
        name: "one_thread_waits_and_the_others_go_on",
        shape: (2, 64, 4),
        results: 64,
        body: |m, mended| {
            if ticket(m) == 0 {
                set(m.b, t(), 7);
                barrier();
                if t() == 0 {
                    atomic_store(Space::Global, m.zero, 1u32, Ordering::Release, Scope::Device);
                }
            } else {
                if t() == 0 {
                    wait_for(m.zero, 1, Ordering::Acquire, Scope::Device);
                }
                if mended {
                    barrier();
                }
                set(m.b, 64 + t(), get(m.b, t()));
            }
        },
    },
    Case {
        name: "message_passed_on_by_a_shuffle",
        shape: (2, 32, 4),
        results: 32,
        body: |m, mended| {
            if ticket(m) == 0 {
                set(m.b, t(), 7);
                sync_warp(FULL);
                if t() == 0 {
                    atomic_store(Space::Global, m.zero, 1u32, Ordering::Release, Scope::Device);
                }
            } else {
                if t() == 0 {
                    wait_for(m.zero, 1, Ordering::Acquire, Scope::Device);
                }
                shuffle(FULL, Shuffle::Index, 1, 0, 32);
                if mended {
                    sync_warp(FULL);
                }
                set(m.b, 32 + t(), get(m.b, t()));
            }
        },
    },
    Case {
        name: "acquire_of_block_scope",
        shape: (2, 1, 4),
        results: 1,
        body: |m, mended| {
            if ticket(m) == 0 {
                set(m.b, 0, 7);
                fence(Ordering::Release, Scope::Device);
                global_store(m.zero, 1u32, Store::Volatile);
            } else {
                while global_load::<u32>(m.zero, Load::Volatile) == 0 {}
                fence(Ordering::Acquire, if mended { Scope::Device } else { Scope::Block });
                set(m.b, 1, get(m.b, 0));
            }
        },
    },
    Case {
        name: "acquire_of_another_flag",
        shape: (2, 1, 4),
        results: 1,
        body: |m, mended| {
            if ticket(m) == 0 {
                atomic_store(Space::Global, at(m.zero, 1), 1u32, Ordering::Release, Scope::Device);
                set(m.b, 0, 7);
                atomic_store(Space::Global, m.zero, 1u32, Ordering::Release, Scope::Device);
            } else {
                wait_for(at(m.zero, u32::from(!mended)), 1, Ordering::Acquire, Scope::Device);
                set(m.b, 1, get(m.b, 0));
            }
        },
    },
    Case {
        name: "hand_over_of_three_with_a_relaxed_middle",
        shape: (3, 1, 4),
        results: 1,
        body: |m, mended| match ticket(m) {
            0 => {
                set(m.b, 0, 7);
                atomic_store(Space::Global, m.zero, 1u32, Ordering::Release, Scope::Device);
            }
            1 => {
                let [get, put] =
                    if mended { [Ordering::Acquire, Ordering::Release] } else { [Ordering::Relaxed; 2] };
                wait_for(m.zero, 1, get, Scope::Device);
                atomic_store(Space::Global, at(m.zero, 1), 1u32, put, Scope::Device);
            }
            _ => {
                wait_for(at(m.zero, 1), 1, Ordering::Acquire, Scope::Device);
                set(m.b, 1, get(m.b, 0));
            }
        },
    },
    Case {
        name: "flags_of_a_look_back_before_the_sums",
        shape: (4, 32, 4),
        results: 4,
        body: |m, mended| {
            let me = ticket(m);
            let sum = redux(FULL, Redux::Add, get(m.a, 32 * me + t()));
            if t() == 0 {
                let before = if me > 0 {
                    wait_for(at(m.zero, me - 1), 1, Ordering::Acquire, Scope::Device);
                    get(m.b, me - 1)
                } else {
                    0
                };
                if mended {
                    set(m.b, me, before + sum);
                }
                atomic_store(Space::Global, at(m.zero, me), 1u32, Ordering::Release, Scope::Device);
                if !mended {
                    set(m.b, me, before + sum);
                }
            }
        },
    },
    Case {
        name: "wait_for_the_block_behind",
        shape: (6, 32, 0),
        results: 0,
        body: |m, mended| {
            if t() == 0 {
                update(Space::Global, at(m.zero, block()), Scope::Device, 1);
                let other = if mended { block() } else { (block() + 1) % 6 };
                wait_for(at(m.zero, other), 1, Ordering::Acquire, Scope::Device);
            }
        },
    },
    Case {
        name: "ring_whose_writer_does_not_wait_for_room",
        shape: (1, 64, 40),
        results: 0,
        body: |m, mended| {
            let (full, empty) = (8 * 4, 9 * 4);
            if t() == 0 {
                sset(8, 0);
                sset(9, 0);
            }
            barrier();
            let wait = |of: u64, least: u32| {
                while atomic_load::<u32>(Space::Shared, of, Ordering::Acquire, Scope::Block) < least {}
            };
            let say = |of: u64, value: u32| {
                atomic_store(Space::Shared, of, value, Ordering::Release, Scope::Block);
            };
            for round in 0..20 {
                if t() == 0 {
                    if mended && round >= 8 {
                        wait(empty, round - 7);
                    }
                    sset(round % 8, get(m.a, round));
                    say(full, round + 1);
                } else if t() == 32 {
                    wait(full, round + 1);
                    set(m.b, round, sget(round % 8));
                    say(empty, round + 1);
                }
            }
        },
    },
    Case {
        name: "ring_in_shared_memory_full_too_early",
        shape: (1, 64, 40),
        results: 8,
        body: |m, mended| {
            if t() == 0 {
                sset(8, 0);
            }
            barrier();
            if t() == 0 {
                for at in 0..8 {
                    if mended {
                        sset(at, get(m.a, at));
                        say_shared(8, at + 1, Ordering::Release);
                    } else {
                        say_shared(8, at + 1, Ordering::Release);
                        sset(at, get(m.a, at));
                    }
                }
            } else if t() == 32 {
                for at in 0..8 {
                    wait_shared(8, at + 1, Ordering::Acquire);
                    set(m.b, at, sget(at));
                }
            }
        },
    },
    Case {
        name: "fence_before_the_barrier",
        shape: (4, 64, 4),
        results: 64,
        body: |m, mended| {
            set(m.b, i(), i());
            if t() == 0 && !mended {
                fence(Ordering::AcqRel, Scope::Device);
            }
            barrier();
            if t() == 0 {
                // What the others wrote comes before the barrier, and not before a fence ahead of it.
                if mended {
                    fence(Ordering::AcqRel, Scope::Device);
                }
                let drawn = add(m.zero, Ordering::Relaxed);
                fence(Ordering::AcqRel, Scope::Device);
                sset(0, drawn);
            }
            barrier();
            if sget(0) == 3 {
                set(m.b, 256 + t(), (0..4).map(|of| get(m.b, 64 * of + t())).sum());
            }
        },
    },
    Case {
        name: "release_cut_off_by_a_store",
        shape: (3, 1, 4),
        results: 2,
        // An update carries on what the store that it read released; a store does not, and it is all that is seen by
        // who knows of it.
        body: |m, mended| match ticket(m) {
            0 => {
                set(m.b, 0, 7);
                atomic_store(Space::Global, m.zero, 1u32, Ordering::Release, Scope::Device);
            }
            1 => {
                wait_for(m.zero, 1, Ordering::Relaxed, Scope::Device);
                if mended {
                    update(Space::Global, m.zero, Scope::Device, 1);
                } else {
                    atomic_store(Space::Global, m.zero, 2u32, Ordering::Relaxed, Scope::Device);
                }
                atomic_store(Space::Global, at(m.zero, 1), 1u32, Ordering::Release, Scope::Device);
            }
            _ => {
                wait_for(at(m.zero, 1), 1, Ordering::Acquire, Scope::Device);
                wait_for(m.zero, 2, Ordering::Acquire, Scope::Device);
                set(m.b, 1, get(m.b, 0));
            }
        },
    },
    Case {
        name: "two_words_read_between_counts_without_fences",
        shape: (2, 32, 4),
        results: 0,
        // A sequence lock: odd while the words change.
        body: |m, mended| {
            let relaxed = |word: u32| {
                atomic_load::<u32>(Space::Global, at(m.zero, word), Ordering::Relaxed, Scope::Device)
            };
            let store = |word: u32, value: u32| {
                atomic_store(Space::Global, at(m.zero, word), value, Ordering::Relaxed, Scope::Device);
            };
            let order = |ordering| {
                if mended {
                    fence(ordering, Scope::Device);
                }
            };
            if ticket(m) == 0 {
                let rounds = if t() == 0 { 24 } else { 0 };
                for round in 1..=rounds {
                    store(0, 2 * round - 1);
                    order(Ordering::Release);
                    store(1, round);
                    store(2, round);
                    order(Ordering::Release);
                    store(0, 2 * round);
                }
            } else {
                loop {
                    let before = relaxed(0);
                    order(Ordering::Acquire);
                    let (x, y) = (relaxed(1), relaxed(2));
                    order(Ordering::Acquire);
                    if before.is_multiple_of(2) && relaxed(0) == before {
                        assert_eq!(x, y, "of one round");
                        if before == 48 {
                            break;
                        }
                    }
                }
            }
        },
    },
    Case {
        name: "value_of_a_key_that_is_claimed",
        shape: (1, 64, 0),
        results: 8,
        // A table of hashes: whoever claims the key writes the value.
        body: |m, mended| {
            let slot = t() % 8;
            let claimed = atomic_update(
                Space::Global,
                at(m.zero, slot),
                Ordering::Relaxed,
                Scope::Device,
                |old: u32| (old == 0).then_some(1),
            ) == 0;
            if claimed {
                set(m.b, slot, 7 + slot);
                atomic_store(Space::Global, at(m.zero, slot), 2u32, Ordering::Release, Scope::Device);
            } else if mended {
                wait_for(at(m.zero, slot), 2, Ordering::Acquire, Scope::Device);
            }
            set(m.b, 64 + t(), get(m.b, slot));
        },
    },
    Case {
        name: "node_linked_before_it_is_written",
        shape: (4, 1, 0),
        results: 0,
        body: |m, mended| {
            let me = block() + 1;
            if mended {
                set(m.b, me, 10 * me);
            }
            loop {
                let head = atomic_load::<u32>(Space::Global, m.zero, Ordering::Acquire, Scope::Device);
                set(m.b, 16 + me, head);
                let linked = |old: u32| (old == head).then_some(me);
                if atomic_update(Space::Global, m.zero, Ordering::AcqRel, Scope::Device, linked) == head {
                    break;
                }
            }
            if !mended {
                set(m.b, me, 10 * me);
            }
            let (mut node, mut sum) = (me, 0);
            while node > 0 {
                sum += get(m.b, node);
                node = get(m.b, 16 + node);
            }
            assert!(sum >= 10 * me);
        },
    },
    Case {
        name: "neighbours_by_relaxed_words_of_a_warp",
        shape: (1, 32, 128),
        results: 32,
        // Lanes in step were ordered once.
        body: |m, mended| {
            let mut sum = get(m.a, t());
            for step in [1, 2, 4, 8, 16] {
                say_shared(t(), sum, Ordering::Relaxed);
                if mended {
                    sync_warp(FULL);
                }
                let left = t().saturating_sub(step);
                let other: u32 =
                    atomic_load(Space::Shared, u64::from(4 * left), Ordering::Relaxed, Scope::Block);
                if mended {
                    sync_warp(FULL);
                }
                sum += if t() >= step { other } else { 0 };
            }
            set(m.b, t(), sum);
        },
    },
];
