//! Hand-overs by the wrong thread, stale masks, scopes that do not reach, updates in two halves, phases and copies.

use gpu_sim::device::*;

use crate::*;

fn update(space: Space, address: u64, scope: Scope, by: u32) -> u32 {
    atomic_update(space, address, Ordering::Relaxed, scope, |old: u32| Some(old + by))
}

/// Loads a word of shared memory until it is at least that.
fn wait_shared(word: u32, least: u32, ordering: Ordering) {
    while atomic_load::<u32>(Space::Shared, u64::from(4 * word), ordering, Scope::Block) < least {}
}

fn say_shared(word: u32, value: u32, ordering: Ordering) {
    atomic_store(Space::Shared, u64::from(4 * word), value, ordering, Scope::Block);
}

pub const CASES: &[Case] = &[
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
        name: "mask_of_before_the_loop",
        shape: (1, 32, 0),
        results: 32,
        body: |m, mended| {
            let length = 1 + get(m.a, t()) % 4;
            let mut sum = 0;
            for step in 0..4 {
                if step < length {
                    // Lanes drop out: the mask of the first step names them still.
                    let mask = if mended { 0x1111_1111 * ((0xF << step) & 0xF) } else { FULL };
                    sum += redux(mask, Redux::Add, 1);
                }
            }
            set(m.b, t(), sum);
        },
    },
    Case {
        name: "masks_that_differ",
        shape: (1, 32, 128),
        results: 32,
        body: |m, mended| {
            sset(t(), t());
            sync_warp(if mended || t() < 16 { FULL } else { 0xFFFF_0000 });
            set(m.b, t(), sget(31 - t()));
        },
    },
    Case {
        name: "lanes_beyond_the_last_of_the_block",
        shape: (1, 20, 0),
        results: 20,
        body: |m, mended| {
            let mut sum = get(m.a, t());
            for down in [16, 8, 4, 2, 1] {
                let (other, _) = shuffle(0x000F_FFFF, Shuffle::Down, sum, if mended { 0 } else { down }, 32);
                sum += other;
            }
            set(m.b, t(), sum);
        },
    },
    Case {
        name: "vote_in_a_branch_of_the_vote",
        shape: (1, 32, 0),
        results: 16,
        body: |m, mended| {
            if vote(FULL, Vote::Any, t() == 3) != 0 && t() < 16 {
                let mask = if mended { 0xFFFF } else { FULL };
                set(m.b, t(), vote(mask, Vote::Ballot, t() > 3));
            }
        },
    },
    Case {
        name: "leader_writes_and_the_warp_reads",
        shape: (1, 64, 8),
        results: 64,
        body: |m, mended| {
            let warp = t() / 32;
            if t().is_multiple_of(32) {
                sset(warp, get(m.a, warp));
            }
            if mended {
                sync_warp(FULL);
            } else {
                vote(FULL, Vote::All, true);
            }
            set(m.b, t(), sget(warp));
        },
    },
    Case {
        name: "sums_of_warps_read_by_the_first",
        shape: (1, 128, 16),
        results: 1,
        body: |m, mended| {
            let sum = redux(FULL, Redux::Add, get(m.a, t()));
            if t().is_multiple_of(32) {
                sset(t() / 32, sum);
            }
            if mended {
                barrier();
            } else {
                fence(Ordering::AcqRel, Scope::Block);
                sync_warp(FULL);
            }
            if t() == 0 {
                set(m.b, 0, (0..4).map(sget).sum());
            }
        },
    },
    Case {
        name: "result_of_a_block_used_again_at_once",
        shape: (1, 64, 4),
        results: 64,
        body: |m, mended| {
            let total = |value: u32| {
                if t() == 0 {
                    sset(0, value);
                }
                barrier();
                let total = sget(0);
                if mended {
                    barrier();
                }
                total
            };
            set(m.b, t(), total(3) + total(5));
        },
    },
    Case {
        name: "last_barrier_left_out_of_the_loop",
        shape: (1, 64, 256),
        results: 64,
        body: |m, mended| {
            sset(t(), get(m.a, t()));
            barrier();
            for step in 0..3 {
                let next = sget((t() + 1) % 64);
                barrier();
                sset(t(), next + step);
                if mended || step < 2 {
                    barrier();
                }
            }
            set(m.b, t(), sget((t() + 32) % 64));
        },
    },
    Case {
        name: "columns_taken_for_rows",
        shape: (1, 128, 0),
        results: 128,
        body: |m, mended| {
            let (x, y) = (t() % 16, t() / 16);
            let to = if mended { 8 * x + y } else { 16 * x + y };
            set(m.b, to, get(m.a, t()));
        },
    },
    Case {
        name: "index_before_a_shared_array",
        shape: (1, 64, 512),
        results: 64,
        body: |m, mended| {
            let (other, tile) = (shared_array(0, 256), shared_array(256, 256));
            shared_store(tile + 4 * t(), get(m.a, t()));
            shared_store(other + 4 * t(), 1u32);
            barrier();
            let left = if mended { t().saturating_sub(1) } else { t().wrapping_sub(1) };
            set(m.b, t(), shared_load::<u32>(tile.wrapping_add(left.wrapping_mul(4))));
        },
    },
    Case {
        name: "double_word_at_an_odd_word",
        shape: (1, 32, 0),
        results: 32,
        body: |m, mended| {
            let word = at(m.zero, if mended { 2 } else { 1 });
            atomic_update(Space::Global, word, Ordering::Relaxed, Scope::Device, |old: u64| Some(old + 1));
            set(m.b, t(), 0);
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
        name: "stage_filled_while_it_is_read",
        shape: (1, 64, 512),
        results: 320,
        body: |m, mended| {
            // Two stages of copies; the next copy goes to the stage that is still read.
            let stage = |round: u32| 256 * (round % 2);
            let fill = |round: u32| {
                cp_async(stage(round) + 4 * t(), at(m.a, 64 * round + t()), 4, 4);
                cp_async_commit();
            };
            fill(0);
            fill(1);
            for round in 0..5 {
                cp_async_wait(if round < 4 { 1 } else { 0 });
                barrier();
                let value: u32 = shared_load(stage(round) + 4 * (63 - t()));
                if mended {
                    barrier();
                }
                if round + 2 < 5 {
                    fill(round + 2);
                } else if round < 4 {
                    cp_async_commit();
                }
                set(m.b, 64 * round + t(), value);
            }
        },
    },
    Case {
        name: "copy_into_what_a_thread_writes",
        shape: (1, 32, 128),
        results: 32,
        body: |m, mended| {
            cp_async(4 * t(), at(m.a, t()), 4, 4);
            cp_async_commit();
            if mended {
                cp_async_wait(0);
            }
            if t() == 5 {
                sset(t(), 0);
            }
            cp_async_wait(0);
            barrier();
            set(m.b, t(), sget(31 - t()));
        },
    },
    Case {
        name: "copy_from_what_was_just_written",
        shape: (1, 64, 256),
        results: 64,
        body: |m, mended| {
            set(m.b, t(), t());
            if mended {
                barrier();
            }
            cp_async(4 * t(), at(m.b, 63 - t()), 4, 4);
            cp_async_commit();
            cp_async_wait(0);
            barrier();
            set(m.b, 64 + t(), sget(t()));
        },
    },
    Case {
        name: "barrier_behind_a_test_of_data",
        shape: (1, 64, 0),
        results: 64,
        body: |m, mended| {
            set(m.b, t(), 1);
            let value = get(m.a, t());
            let all = if mended { barrier_reduce(BarrierOp::Or, value > 40) != 0 } else { value > 40 };
            if all {
                barrier();
            }
        },
    },
    Case {
        name: "barriers_of_producers_and_consumers_out_of_step",
        shape: (1, 64, 256),
        results: 0,
        body: |m, mended| {
            for round in 0..3 {
                if t() < 32 {
                    sset(t(), get(m.a, round));
                }
                barrier();
                if t() >= 32 {
                    set(m.b, t(), sget(t() - 32));
                }
                // The consumers lack the second.
                if mended || t() < 32 {
                    barrier();
                }
            }
        },
    },
    Case {
        name: "sum_of_bytes_packed_by_threads",
        shape: (1, 32, 0),
        results: 8,
        body: |m, mended| {
            // Four threads share a word.
            let shift = 8 * (t() % 4);
            if mended {
                global_store(m.b + u64::from(t()), t() as u8, Store::Weak);
            } else {
                let old = get(m.zero, t() / 4);
                set(m.zero, t() / 4, old & !(0xFF << shift) | t() << shift);
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
];
