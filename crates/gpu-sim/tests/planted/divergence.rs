//! Barriers that some threads do not come to, masks that name the wrong lanes.

use gpu_sim::device::*;

use crate::*;

pub const CASES: &[Case] = &[
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
        name: "leader_taken_to_be_lane_zero",
        shape: (1, 32, 0),
        results: 0,
        body: |m, mended| {
            let odd = t() % 2 == 1;
            let mask = vote(FULL, Vote::Ballot, odd);
            if odd {
                let leader = if mended { mask.trailing_zeros() } else { 0 };
                let base = if t() == leader { update(Space::Global, m.zero, Scope::Device, 16) } else { 0 };
                set(m.b, t(), shuffle(mask, Shuffle::Index, base, leader, 32).0);
            }
        },
    },
    Case {
        name: "barrier_in_the_tail_of_a_grid_stride",
        shape: (2, 64, 256),
        results: 200,
        body: |m, mended| {
            let mut at = i();
            while if mended { at - t() < 200 } else { at < 200 } {
                sset(t(), if at < 200 { get(m.a, at) } else { 0 });
                barrier();
                if at < 200 {
                    set(m.b, at, sget(t() ^ 1));
                }
                barrier();
                at += 128;
            }
        },
    },
    Case {
        name: "shuffle_in_a_loop_that_lanes_leave",
        shape: (1, 32, 0),
        results: 32,
        body: |m, mended| {
            let (length, mut value) = (1 + get(m.a, t()) % 3, t());
            for step in 0..if mended { 3 } else { length } {
                let (other, _) = shuffle(FULL, Shuffle::Xor, value, 1, 32);
                value += if step < length { other } else { 0 };
            }
            set(m.b, t(), value);
        },
    },
    Case {
        name: "barrier_for_the_leaders_only",
        shape: (1, 64, 8),
        results: 64,
        body: |m, mended| {
            if t().is_multiple_of(32) {
                sset(t() / 32, get(m.a, t()));
                if !mended {
                    barrier();
                }
            }
            if mended {
                barrier();
            }
            set(m.b, t(), sget(0) + sget(1));
        },
    },
];
