//! Words that are something else than a kernel takes them for: older, shorter, another group's, nobody's.

use gpu_sim::device::*;

use crate::*;

pub const CASES: &[Case] = &[
    Case {
        name: "value_of_a_look_back_read_before_its_flag",
        shape: (8, 1, 4),
        results: 8,
        // The words are atomic: nothing races, the value is of before the flag.
        body: |m, mended| {
            let me = ticket(m);
            let own = get(m.a, me);
            let (flag, sum) = (at(m.zero, me), at(m.zero, 16 + me));
            let read = |address| atomic_load::<u32>(Space::Global, address, Ordering::Relaxed, Scope::Device);
            let mut before = 0;
            if me > 0 {
                loop {
                    let early = read(sum - 4);
                    if atomic_load::<u32>(Space::Global, flag - 4, Ordering::Acquire, Scope::Device) == 1 {
                        before = if mended { read(sum - 4) } else { early };
                        break;
                    }
                }
            }
            atomic_store(Space::Global, sum, before + own, Ordering::Relaxed, Scope::Device);
            atomic_store(Space::Global, flag, 1u32, Ordering::Release, Scope::Device);
            set(m.b, me, before + own);
        },
    },
    Case {
        name: "high_half_of_a_double_word_polled",
        shape: (2, 1, 4),
        results: 1,
        body: |m, mended| {
            if ticket(m) == 0 {
                let both = 1u64 << 32 | u64::from(get(m.a, 7));
                atomic_store(Space::Global, m.zero, both, Ordering::Release, Scope::Device);
            } else if mended {
                let read = || atomic_load::<u64>(Space::Global, m.zero, Ordering::Acquire, Scope::Device);
                while read() >> 32 == 0 {}
                set(m.b, 0, read() as u32);
            } else {
                wait_for(at(m.zero, 1), 1, Ordering::Acquire, Scope::Device);
                set(m.b, 0, get(m.zero, 0));
            }
        },
    },
    Case {
        name: "index_kept_in_a_byte",
        shape: (1, 64, 0),
        results: 320,
        body: |m, mended| {
            for round in 0..5 {
                let word = 64 * round + t();
                set(m.b, if mended { word } else { word & 0xff }, get(m.a, word));
            }
        },
    },
    Case {
        name: "difference_of_indices_below_zero",
        shape: (1, 64, 256),
        results: 64,
        body: |m, mended| {
            sset(t(), get(m.a, t()));
            barrier();
            let from = if mended { (t() + 64 - 3) % 64 } else { t().wrapping_sub(3) % 61 };
            set(m.b, t(), shared_load::<u32>(4 * from) + t());
        },
    },
    Case {
        name: "pad_of_a_row_summed_with_it",
        shape: (1, 32, 4 * 32 * 9),
        results: 32,
        body: |m, mended| {
            for k in 0..8 {
                sset(9 * (t() / 8 + 4 * k) + t() % 8, get(m.a, 32 * k + t()));
            }
            barrier();
            let width = if mended { 8 } else { 9 };
            set(m.b, t(), (0..width).map(|column| sget(9 * t() + column)).sum());
        },
    },
    Case {
        name: "rows_of_a_view_read_up_to_their_pitch",
        shape: (1, 40, 0),
        results: 200,
        // Rows of 30 in a pitch of 40; the other 10 words are nobody's.
        body: |m, mended| {
            for row in 0..4 {
                if t() < 30 {
                    set(m.b, 40 * row + t(), get(m.a, 30 * row + t()));
                } else if mended {
                    set(m.b, 40 * row + t(), 0);
                }
            }
            barrier();
            set(m.b, 160 + t(), (0..4).map(|row| get(m.b, 40 * row + (t() + 1) % 40)).sum());
        },
    },
    Case {
        name: "leader_of_another_group",
        shape: (1, 32, 0),
        results: 32,
        body: |m, mended| {
            let key = get(m.a, t()) / 3 % 4;
            let group = match_any(FULL, u64::from(key));
            let leader = if mended { group.trailing_zeros() } else { (!group).trailing_zeros() };
            set(m.b, t(), shuffle(group, Shuffle::Index, t(), leader, 32).0);
        },
    },
    Case {
        name: "reductions_on_both_ways_of_a_branch",
        shape: (1, 64, 0),
        results: 64,
        body: |m, mended| {
            let value = get(m.a, t());
            let low = t().is_multiple_of(3);
            let of_lanes = if mended {
                let (sum, most) = (redux(FULL, Redux::Add, value), redux(FULL, Redux::MaxU, value));
                if low { sum } else { most }
            } else if low {
                redux(FULL, Redux::Add, value)
            } else {
                redux(FULL, Redux::MaxU, value)
            };
            set(m.b, t(), of_lanes);
        },
    },
    Case {
        name: "group_synced_by_the_mask_of_its_first_round",
        shape: (1, 32, 128),
        results: 32,
        // Groups change with the round; words go from lane to lane of one.
        body: |m, mended| {
            let first = match_any(FULL, u64::from(t() / 16));
            let mut group = first;
            let mut value = get(m.a, t());
            for round in 0..2 {
                if mended {
                    group = match_any(FULL, u64::from(if round == 0 { t() / 16 } else { t() % 2 }));
                }
                sset(t(), value);
                sync_warp(group);
                value += sget(if round == 0 { t() ^ 8 } else { t() ^ 16 });
                sync_warp(FULL);
            }
            set(m.b, t(), value);
        },
    },
    Case {
        name: "roots_walked_plainly_while_others_are_joined",
        shape: (2, 32, 0),
        results: 0,
        // Union-find: every thread joins a node to that of half its number.
        body: |m, mended| {
            let parent = |node: u32| at(m.zero, node);
            let up = |node: u32| {
                let above = if mended {
                    atomic_load(Space::Global, parent(node), Ordering::Relaxed, Scope::Device)
                } else {
                    get(m.zero, node)
                };
                // Zero is a root: what is stored is the parent's number and one.
                if above == 0 { node } else { above - 1 }
            };
            let find = |mut node: u32| {
                while up(node) != node {
                    node = up(node);
                }
                node
            };
            let (mut x, mut y) = (find(i()), find(i() / 2));
            while x != y {
                let (low, high) = (x.min(y), x.max(y));
                let join = |old: u32| (old == 0).then_some(low + 1);
                if atomic_update(Space::Global, parent(high), Ordering::Relaxed, Scope::Device, join) == 0 {
                    break;
                }
                (x, y) = (find(low), find(high));
            }
        },
    },
    Case {
        name: "distances_shortened_and_read_in_one_round",
        shape: (1, 64, 256),
        results: 64,
        body: |m, mended| {
            sset(t(), if t() == 0 { 0 } else { 1 << 20 });
            barrier();
            for _ in 0..64 {
                let near = sget((t() + 63) % 64) + get(m.a, t());
                if mended {
                    barrier();
                }
                if near < sget(t()) {
                    sset(t(), near);
                }
                barrier();
            }
            set(m.b, t(), sget(t()));
        },
    },
    Case {
        name: "lanes_that_a_reverse_shuffle_asks_beyond_the_last",
        shape: (1, 40, 0),
        results: 40,
        // The second warp has 8 lanes.
        body: |m, mended| {
            let lanes = if mended && t() >= 32 { 8 } else { 32 };
            let lane = t() % 32;
            let (value, _) = shuffle(FULL, Shuffle::Index, get(m.a, t()), lanes - 1 - lane, 32);
            set(m.b, t(), value);
        },
    },
];
