//! Tiles, barriers, masks, messages, locks, tickets, vectors.

use gpu_sim::device::*;

use crate::*;

pub const CASES: &[Case] = &[
    Case {
        name: "no_barrier_before_the_tile_is_used_again",
        shape: (2, 64, 256),
        results: 0,
        body: |m, mended| {
            for round in 0..3 {
                sset(t(), get(m.a, 64 * round + t()));
                barrier();
                set(m.b, 192 * block() + 64 * round + t(), sget(63 - t()));
                if mended {
                    barrier();
                }
            }
        },
    },
    Case {
        name: "double_buffer_that_does_not_swap",
        shape: (1, 64, 512),
        results: 0,
        body: |m, mended| {
            let mut from = 0;
            sset(t(), get(m.a, t()));
            barrier();
            for step in [1, 2, 4, 8, 16, 32] {
                let left = if t() >= step { sget(64 * from + t() - step) } else { 0 };
                let to = if mended { 1 - from } else { from };
                sset(64 * to + t(), sget(64 * from + t()) + left);
                from = to;
                barrier();
            }
            set(m.b, t(), sget(64 * from + t()));
        },
    },
    Case {
        name: "double_buffer_one_phase_ahead",
        shape: (1, 64, 512),
        results: 0,
        body: |m, mended| {
            for round in 0..5 {
                let half = 64 * (round % 2);
                sset(half + t(), get(m.a, 64 * round + t()));
                barrier();
                // Without the barrier a warp that is ahead writes the half that is read: two rounds share a half.
                let read = if mended { half } else { 64 - half };
                if round > 0 || mended {
                    set(m.b, 64 * round + t(), sget(read + 63 - t()));
                }
            }
        },
    },
    Case {
        name: "neighbour_beyond_the_tile",
        shape: (1, 64, 512),
        results: 0,
        body: |m, mended| {
            let (tile, other) = (shared_array(0, 256), shared_array(256, 256));
            shared_store(tile + 4 * t(), get(m.a, t()));
            shared_store(other + 4 * t(), 1u32);
            barrier();
            let inside = if mended { t() + 1 < 64 } else { t() < 64 };
            if inside {
                set(m.b, t(), shared_load::<u32>(tile + 4 * (t() + 1)));
            }
        },
    },
    Case {
        name: "bins_not_all_cleared",
        shape: (1, 64, 64),
        results: 0,
        body: |m, mended| {
            if t() < if mended { 16 } else { 15 } {
                sset(t(), 0);
            }
            barrier();
            let bin = u64::from(4 * (get(m.a, t()) % 16));
            atomic_update(Space::Shared, bin, Ordering::Relaxed, Scope::Block, |old: u32| Some(old + 1));
            barrier();
            if t() < 16 {
                set(m.b, t(), sget(t()));
            }
        },
    },
    Case {
        name: "halo_that_the_first_block_does_not_load",
        shape: (2, 64, 260),
        results: 0,
        body: |m, mended| {
            sset(t() + 1, get(m.a, i()));
            if t() == 0 {
                if block() > 0 {
                    sset(0, get(m.a, i() - 1));
                } else if mended {
                    sset(0, 0);
                }
            }
            barrier();
            set(m.b, i(), sget(t()) + sget(t() + 1));
        },
    },
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
        name: "return_before_the_barrier",
        shape: (2, 96, 384),
        results: 0,
        body: |m, mended| {
            let inside = i() < 150;
            if !inside && !mended {
                return;
            }
            sset(t(), if inside { get(m.a, i()) } else { 0 });
            barrier();
            if inside {
                set(m.b, i(), sget(t() / 2));
            }
        },
    },
    Case {
        name: "barrier_in_a_loop_of_different_lengths",
        shape: (1, 96, 0),
        results: 0,
        body: |m, mended| {
            let rounds = if mended { 3 } else { 1 + t() / 32 };
            for round in 0..rounds {
                if t() == 0 {
                    set(m.b, round, round);
                }
                barrier();
            }
        },
    },
    Case {
        name: "one_warp_skips_the_counting_barrier",
        shape: (1, 64, 0),
        results: 0,
        body: |m, mended| {
            let even = get(m.a, t()).is_multiple_of(2);
            let count = if mended || t() < 32 { barrier_reduce(BarrierOp::Count, even) } else { 0 };
            set(m.b, t(), count);
            barrier();
        },
    },
    Case {
        name: "mask_of_half_a_warp_in_a_branch_of_more",
        shape: (1, 32, 0),
        results: 0,
        body: |m, mended| {
            if t() < 20 {
                let mask = if mended { 0x000F_FFFF } else { 0x0000_FFFF };
                set(m.b, t(), shuffle(mask, Shuffle::Up, t(), 1, 32).0);
            }
        },
    },
    Case {
        name: "full_mask_after_lanes_have_left",
        shape: (1, 64, 0),
        results: 0,
        body: |m, mended| {
            if t() >= 56 {
                return;
            }
            let mask = if mended && t() >= 32 { 0x00FF_FFFF } else { FULL };
            set(m.b, t(), redux(mask, Redux::Add, t()));
        },
    },
    Case {
        name: "partner_that_takes_no_part",
        shape: (1, 32, 0),
        results: 0,
        body: |m, mended| {
            let odd = t() % 2 == 1;
            let mask = vote(FULL, Vote::Ballot, odd);
            if odd {
                let distance = if mended { 2 } else { 1 };
                set(m.b, t(), shuffle(mask, Shuffle::Xor, t(), distance, 32).0);
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
        name: "vector_stores_that_overlap",
        shape: (1, 32, 0),
        results: 0,
        body: |m, mended| {
            let word = if mended { 4 * t() } else { 2 * t() / 4 * 4 };
            global_store(at(m.b, word), [t(); 4], Store::Weak);
        },
    },
    Case {
        name: "vector_load_off_by_a_word",
        shape: (1, 32, 0),
        results: 0,
        body: |m, mended| {
            let word = 4 * t() + u32::from(!mended);
            let [x, y, z, w]: [u32; 4] = global_load(at(m.a, word), Load::Weak);
            set(m.b, t(), x + y + z + w);
        },
    },
    Case {
        name: "shared_vectors_of_rows_of_odd_length",
        shape: (1, 16, 16 * 24),
        results: 0,
        body: |m, mended| {
            let row = if mended { 24 } else { 20 };
            let offset = t() * row;
            shared_store(offset, [t(); 2]);
            barrier();
            set(m.b, t(), shared_load::<[u32; 2]>(offset)[1]);
        },
    },
    Case {
        name: "copy_of_the_last_stage_not_waited_for",
        shape: (1, 32, 256),
        results: 0,
        body: |m, mended| {
            for round in 0..4 {
                cp_async(128 * (round % 2) + 4 * t(), at(m.a, 32 * round + t()), 4, 4);
                cp_async_commit();
                if round > 0 {
                    cp_async_wait(1);
                    barrier();
                    set(m.b, 32 * round + t(), shared_load::<u32>(128 * ((round - 1) % 2) + 4 * (31 - t())));
                    barrier();
                }
            }
            cp_async_wait(if mended { 0 } else { 1 });
            barrier();
            set(m.b, t(), shared_load::<u32>(128 + 4 * (31 - t())));
        },
    },
    Case {
        name: "copies_of_others_not_waited_for",
        shape: (1, 64, 256),
        results: 0,
        body: |m, mended| {
            cp_async(4 * t(), at(m.a, t()), 4, 4);
            cp_async_commit();
            cp_async_wait(0);
            if mended {
                barrier();
            }
            set(m.b, t(), sget(63 - t()));
        },
    },
    Case {
        name: "stencil_in_place",
        shape: (2, 64, 0),
        results: 0,
        body: |m, mended| {
            if i() > 0 && i() < 127 {
                let sum = get(m.a, i() - 1) + get(m.a, i() + 1);
                set(if mended { m.b } else { m.a }, i(), sum);
            }
        },
    },
    Case {
        name: "barrier_taken_for_one_of_the_grid",
        shape: (4, 32, 4),
        results: 0,
        body: |m, mended| {
            let me = ticket(m);
            set(m.b, 32 * me + t(), t());
            barrier();
            if mended {
                if t() == 0 {
                    add(m.zero, Ordering::AcqRel);
                }
                if me == 3 {
                    wait_for(m.zero, 4, Ordering::Acquire, Scope::Device);
                }
            }
            if me == 3 {
                set(m.b, 128 + t(), (0..4).map(|of| get(m.b, 32 * of + t())).sum());
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
        name: "last_warp_without_sync",
        shape: (1, 64, 256),
        results: 0,
        body: |m, mended| {
            sset(t(), get(m.a, t()));
            barrier();
            for half in [32, 16, 8, 4, 2, 1] {
                let value = if t() < half { sget(t()) + sget(t() + half) } else { 0 };
                if mended && t() < 32 {
                    sync_warp(FULL);
                }
                if t() < half {
                    sset(t(), value);
                }
                if half == 32 {
                    barrier();
                } else if mended && t() < 32 {
                    sync_warp(FULL);
                }
            }
            if t() == 0 {
                set(m.b, 0, sget(0));
            }
        },
    },
    Case {
        name: "rows_padded_on_one_side_only",
        shape: (1, 64, 8 * 9 * 4),
        results: 0,
        body: |m, mended| {
            let (x, y) = (t() % 8, t() / 8);
            sset(9 * y + x, get(m.a, t()));
            barrier();
            let row = if mended { 9 } else { 8 };
            set(m.b, t(), sget(row * x + y));
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
        name: "word_over_bytes",
        shape: (1, 64, 64),
        results: 0,
        body: |m, mended| {
            shared_store(t(), t() as u8);
            if mended {
                barrier();
            }
            if t() < 16 {
                set(m.b, t(), sget(15 - t()));
            }
        },
    },
    Case {
        name: "index_that_wraps",
        shape: (2, 64, 0),
        results: 0,
        body: |m, mended| {
            let distance = if mended { i() } else { i().wrapping_sub(1) };
            set(m.b, i(), get(m.a, distance));
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
        name: "pairs_of_an_odd_number",
        shape: (1, 32, 4 * 63),
        results: 0,
        body: |m, mended| {
            if 2 * t() + 1 < 63 {
                shared_store(8 * t(), [t(), t()]);
            } else if mended {
                sset(2 * t(), t());
            }
            barrier();
            for at in [t(), t() + 32] {
                if at < 63 {
                    set(m.b, at, sget(at));
                }
            }
        },
    },
    Case {
        name: "sync_of_halves_where_data_crosses",
        shape: (1, 32, 128),
        results: 0,
        body: |m, mended| {
            sset(t(), get(m.a, t()));
            sync_warp(if mended { FULL } else { 0xFFFF << (t() / 16 * 16) });
            set(m.b, t(), sget(31 - t()));
        },
    },
    Case {
        name: "one_thread_says_all_read",
        shape: (1, 64, 8),
        results: 0,
        body: |m, mended| {
            if t() == 40 {
                sset(1, get(m.a, 5));
            }
            if mended {
                barrier();
            } else {
                sync_warp(FULL);
            }
            set(m.b, t(), sget(1));
        },
    },
    Case {
        name: "loop_to_the_end_and_one_more",
        shape: (2, 32, 0),
        results: 0,
        body: |m, mended| {
            let mut at = i();
            while at < N + u32::from(!mended) {
                set(m.b, at, get(m.a, at.min(N - 1)));
                at += 64;
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
        name: "active_lanes_taken_for_all_that_came",
        shape: (1, 32, 0),
        results: 0,
        body: |m, mended| {
            let value = get(m.a, t());
            if value.is_multiple_of(2) {
                let mask = if mended { 0x5555_5555 } else { active_mask() };
                // The leader adds for those it sees; it holds all lanes only if it saw them.
                let count = redux(mask, Redux::Add, 1);
                assert_eq!(count, 16, "lanes that came together");
                set(m.b, t(), count);
            }
        },
    },
];

/// All blocks have come to the end of a round.
fn wait_for_all(m: Memory, round: u32) {
    wait_for(m.zero, 4 * (round + 1), Ordering::Acquire, Scope::Device);
}
