//! Phases: of barriers in memory, of clusters, of levels and rounds that a kernel goes through.

use gpu_sim::device::*;

use crate::boxes::{EMPTY_STAGE, FULL_STAGE, make, row};
use crate::*;

fn other() -> u32 {
    cluster_rank() ^ 1
}

fn meet() {
    cluster_arrive();
    cluster_wait();
}

pub const CASES: &[Case] = &[
    Case {
        name: "arrival_before_the_word_is_written",
        shape: (1, 64, 544),
        results: 64,
        body: |m, mended| {
            make(FULL_STAGE, 64);
            barrier();
            let value = get(m.a, t());
            if mended {
                sset(t(), value);
            }
            phase_arrive(FULL_STAGE, 0);
            if !mended {
                sset(t(), value);
            }
            phase_wait(FULL_STAGE, 0);
            set(m.b, t(), sget(63 - t()));
        },
    },
    Case {
        name: "arrivals_of_one_warp_where_two_are_counted",
        shape: (1, 64, 544),
        results: 64,
        body: |m, mended| {
            make(FULL_STAGE, 64);
            barrier();
            sset(t(), get(m.a, t()));
            if mended || t() < 32 {
                phase_arrive(FULL_STAGE, 0);
            }
            phase_wait(FULL_STAGE, 0);
            set(m.b, t(), sget(63 - t()));
        },
    },
    Case {
        name: "barrier_made_again_for_the_next_tile",
        shape: (1, 64, 544),
        results: 128,
        body: |m, mended| {
            make(FULL_STAGE, 64);
            barrier();
            for round in 0..2 {
                sset(t(), get(m.a, 64 * round + t()));
                phase_arrive(FULL_STAGE, 0);
                phase_wait(FULL_STAGE, if mended { round } else { 0 });
                set(m.b, 64 * round + t(), sget(63 - t()));
                if mended {
                    barrier();
                } else {
                    make(FULL_STAGE, 64);
                }
            }
        },
    },
    Case {
        name: "bytes_announced_by_every_lane",
        shape: (1, 32, 544),
        results: 32,
        body: |m, mended| {
            make(FULL_STAGE, 1);
            barrier();
            if !mended || t() == 0 {
                phase_arrive(FULL_STAGE, 128);
            }
            if t() == 0 {
                tensor_load(0, FULL_STAGE, &row(m.a), [0; 3]);
            }
            phase_wait(FULL_STAGE, 0);
            set(m.b, t(), sget(t()));
        },
    },
    Case {
        name: "one_phase_waited_for_in_place_of_two",
        shape: (1, 64, 544),
        results: 32,
        // The reader looks when the writer has written once, and the writer is at its second word.
        body: |m, mended| {
            make(FULL_STAGE, 32);
            make(EMPTY_STAGE, 32);
            barrier();
            for round in 0..2 {
                if t() < 32 {
                    sset(t(), get(m.a, 32 * round + t()));
                    phase_arrive(FULL_STAGE, 0);
                    if mended {
                        phase_wait(EMPTY_STAGE, round);
                    }
                } else {
                    phase_wait(FULL_STAGE, round);
                    set(m.b, 32 * round + t() - 32, sget(63 - t()));
                    phase_arrive(EMPTY_STAGE, 0);
                }
            }
        },
    },
    Case {
        name: "word_written_between_arriving_and_waiting",
        shape: (4, 32, 128),
        results: 128,
        body: |m, mended| {
            sset(t(), 0);
            if mended {
                sset(t(), get(m.a, i()));
            }
            cluster_arrive();
            if !mended {
                sset(t(), get(m.a, i()));
            }
            cluster_wait();
            set(m.b, i(), cluster_load(other(), 4 * (31 - t())));
            meet();
        },
    },
    Case {
        name: "thread_that_has_left_before_its_cluster_meets",
        shape: (4, 32, 128),
        results: 128,
        body: |m, mended| {
            sset(t(), get(m.a, i()));
            set(m.b, i(), sget(t()));
            if !mended && i() == 37 {
                return;
            }
            meet();
            set(m.b, i(), cluster_load(other(), 4 * (t() & !5)));
            meet();
        },
    },
    Case {
        name: "inbox_cleared_when_the_first_message_may_be_there",
        shape: (2, 32, 128),
        results: 64,
        body: |m, mended| {
            if !mended {
                meet();
            }
            sset(t(), 0);
            if mended {
                meet();
            }
            if t() < 16 {
                cluster_store(other(), 4 * t(), get(m.a, i()) + 1);
            }
            meet();
            set(m.b, i(), sget(t()));
        },
    },
    Case {
        name: "sums_of_a_cluster_gathered_by_a_block_that_has_not_met_it",
        shape: (4, 64, 16),
        results: 2,
        body: |m, mended| {
            if t() == 0 {
                sset(0, (0..64).map(|k| get(m.a, 64 * block() + k)).sum());
            }
            barrier();
            if mended {
                meet();
            }
            if cluster_rank() == 0 && t() == 0 {
                set(m.b, block() / 2, sget(0) + cluster_load::<u32>(1, 0));
            }
            meet();
        },
    },
    Case {
        name: "three_stages_filled_before_the_slowest_has_read",
        shape: (1, 64, 768),
        results: 384,
        // Stage k + 2 is that of k - 1: free once all are behind the barrier of k.
        body: |m, mended| {
            let fill = |round: u32| {
                if round < 6 {
                    cp_async(256 * (round % 3) + 4 * t(), at(m.a, 64 * round + t()), 4, 4);
                }
                cp_async_commit();
            };
            fill(0);
            fill(1);
            for round in 0..6 {
                cp_async_wait(1);
                if !mended {
                    fill(round + 2);
                }
                barrier();
                if mended {
                    fill(round + 2);
                }
                set(m.b, 64 * round + t(), sget(64 * (round % 3) + 63 - t()));
            }
        },
    },
    Case {
        name: "no_empty_group_behind_the_last_stage",
        shape: (1, 32, 256),
        results: 160,
        // All but one group are waited for: at the end that one is the tile itself.
        body: |m, mended| {
            let fill = |round: u32| {
                if round < 5 {
                    cp_async(128 * (round % 2) + 4 * t(), at(m.a, 32 * round + t()), 4, 4);
                }
                if mended || round < 5 {
                    cp_async_commit();
                }
            };
            fill(0);
            for round in 0..5 {
                fill(round + 1);
                cp_async_wait(1);
                barrier();
                set(m.b, 32 * round + t(), sget(32 * (round % 2) + 31 - t()));
                barrier();
            }
        },
    },
    Case {
        name: "level_of_a_search_begun_while_the_last_is_counted",
        shape: (1, 64, 1040),
        results: 64,
        // A search of a binary tree by levels, in two queues whose lengths are words 256 and 257.
        body: |m, mended| {
            let (queue, length) = (|level: u32| 64 * (level % 2), |level: u32| 256 + level % 2);
            if t() == 0 {
                sset(0, 1);
                sset(256, 1);
                sset(257, 0);
            }
            barrier();
            for level in 0..6 {
                let count = sget(length(level));
                if t() < count {
                    let node = sget(queue(level) + t());
                    set(m.b, node, level);
                    if level < 5 {
                        let to = update(Space::Shared, u64::from(4 * length(level + 1)), Scope::Block, 2);
                        sset(queue(level + 1) + to, 2 * node);
                        sset(queue(level + 1) + to + 1, 2 * node + 1);
                    }
                }
                barrier();
                if t() == 0 {
                    sset(length(level), 0);
                }
                if mended {
                    barrier();
                }
            }
            if t() == 0 {
                set(m.b, 0, 0);
            }
        },
    },
    Case {
        name: "odd_pairs_sorted_while_even_ones_are",
        shape: (1, 32, 256),
        results: 64,
        body: |m, mended| {
            for k in [t(), t() + 32] {
                sset(k, (get(m.a, k) * 37 + 5) % 64);
            }
            barrier();
            for round in 0..64 {
                let left = 2 * t() + round % 2;
                if left + 1 < 64 {
                    let (x, y) = (sget(left), sget(left + 1));
                    sset(left, x.min(y));
                    sset(left + 1, x.max(y));
                }
                if mended || round % 2 == 1 {
                    barrier();
                }
            }
            for k in [t(), t() + 32] {
                set(m.b, k, sget(k));
            }
        },
    },
    Case {
        name: "rows_exchanged_while_the_pivot_is_looked_for",
        shape: (1, 32, 4 * 72),
        results: 64,
        // A matrix of 8 × 8; each thread of the first warp's first 8 has a column, thread 0 finds the pivot's row.
        body: |m, mended| {
            for k in [t(), t() + 32] {
                sset(k, (get(m.a, k) * 29 + 7) % 61);
            }
            barrier();
            for k in 0..3 {
                if t() == 0 {
                    let best = (k..8).max_by_key(|row| sget(8 * row + k)).expect("rows are left");
                    sset(64, best);
                }
                barrier();
                let row = sget(64);
                if t() < 8 {
                    let (x, y) = (sget(8 * k + t()), sget(8 * row + t()));
                    sset(8 * k + t(), y);
                    sset(8 * row + t(), x);
                }
                if mended {
                    barrier();
                }
            }
            barrier();
            for k in [t(), t() + 32] {
                set(m.b, k, sget(k));
            }
        },
    },
];
