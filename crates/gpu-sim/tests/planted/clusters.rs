//! Clusters of two blocks, and copies out of shared memory.

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

/// A row of `b` from a stage.
fn store(m: Memory, stage: u32, number: u32) {
    tensor_store(128 * stage, &row(m.b), [32 * number as i32, 0, 0]);
    store_commit();
}

pub const CASES: &[Case] = &[
    Case {
        name: "block_that_ends_while_it_is_read",
        shape: (4, 32, 128),
        results: 128,
        body: |m, mended| {
            sset(t(), get(m.a, i()));
            meet();
            let word = cluster_load(other(), 4 * (31 - t()));
            if mended {
                meet();
            }
            set(m.b, i(), word);
        },
    },
    Case {
        name: "words_written_to_a_block_that_reads_them_at_once",
        shape: (4, 32, 128),
        results: 128,
        body: |m, mended| {
            meet();
            cluster_store(other(), 4 * (31 - t()), get(m.a, i()));
            if mended {
                meet();
            } else {
                barrier();
            }
            set(m.b, i(), sget(t()));
            meet();
        },
    },
    Case {
        name: "block_that_may_not_have_begun",
        shape: (4, 32, 128),
        results: 128,
        body: |m, mended| {
            if mended {
                meet();
            }
            cluster_store(other(), 4 * t(), get(m.a, i()));
            meet();
            set(m.b, i(), sget(t()));
        },
    },
    Case {
        name: "half_of_the_cluster_waits_for_what_all_have_written",
        shape: (2, 64, 256),
        results: 128,
        body: |m, mended| {
            sset(t(), get(m.a, i()));
            cluster_arrive();
            if mended || cluster_rank() == 0 {
                cluster_wait();
            }
            set(m.b, i(), cluster_load(other(), 4 * (63 - t())));
            if !mended && cluster_rank() == 1 {
                cluster_wait();
            }
            meet();
        },
    },
    Case {
        name: "message_acquired_at_the_scope_of_a_block",
        shape: (2, 32, 544),
        results: 64,
        body: |m, mended| {
            make(FULL_STAGE, 32);
            meet();
            cluster_store(other(), 4 * (31 - t()), get(m.a, i()));
            phase_arrive_at(other(), FULL_STAGE);
            if mended {
                phase_wait_cluster(FULL_STAGE, 0);
            } else {
                phase_wait(FULL_STAGE, 0);
            }
            set(m.b, i(), sget(t()));
            meet();
        },
    },
    Case {
        name: "message_sent_as_by_one_who_has_only_read",
        shape: (2, 32, 544),
        results: 64,
        body: |m, mended| {
            make(FULL_STAGE, 32);
            meet();
            cluster_store(other(), 4 * (31 - t()), get(m.a, i()));
            if mended {
                phase_arrive_at(other(), FULL_STAGE);
            } else {
                phase_free_at(other(), FULL_STAGE);
            }
            phase_wait_cluster(FULL_STAGE, 0);
            set(m.b, i(), sget(t()));
            meet();
        },
    },
    Case {
        name: "stage_that_one_of_two_blocks_has_freed",
        shape: (2, 64, 544),
        results: 320,
        body: |m, mended| {
            make(FULL_STAGE, 1);
            make(EMPTY_STAGE, if mended { 64 } else { 32 });
            meet();
            for round in 0..5 {
                if t() == 0 {
                    phase_wait(EMPTY_STAGE, (round % 2) ^ 1);
                    phase_arrive(FULL_STAGE, 128);
                    if cluster_rank() == 0 {
                        let place = [32 * round as i32, 0, 0];
                        tensor_load_multicast(0, FULL_STAGE, &row(m.a), place, 0b11);
                    }
                }
                if t() >= 32 {
                    phase_wait(FULL_STAGE, round % 2);
                    set(m.b, 32 * (2 * round + cluster_rank()) + t() % 32, sget(t() % 32));
                    phase_free_at(cluster_rank(), EMPTY_STAGE);
                    if mended {
                        phase_free_at(other(), EMPTY_STAGE);
                    }
                }
            }
            meet();
        },
    },
    Case {
        name: "copy_to_a_block_that_expects_less",
        shape: (2, 32, 544),
        results: 64,
        body: |m, mended| {
            make(FULL_STAGE, 1);
            meet();
            if t() == 0 {
                phase_arrive(FULL_STAGE, if mended || cluster_rank() == 0 { 256 } else { 128 });
                let rank = cluster_rank();
                let place = [32 * rank as i32, 0, 0];
                tensor_load_multicast(128 * rank, FULL_STAGE, &row(m.a), place, 0b11);
            }
            phase_wait(FULL_STAGE, 0);
            set(m.b, i(), sget(t()) + sget(32 + t()));
            meet();
        },
    },
    Case {
        name: "copy_out_of_what_is_not_fenced",
        shape: (1, 32, 544),
        results: 32,
        body: |m, mended| {
            sset(t(), get(m.a, t()));
            if mended || t() != 5 {
                fence_proxy();
            }
            barrier();
            if t() == 0 {
                store(m, 0, 0);
                store_wait(0, false);
            }
        },
    },
    Case {
        name: "stage_rewritten_while_it_is_copied_out",
        shape: (1, 32, 544),
        results: 160,
        body: |m, mended| {
            for round in 0..5 {
                if t() == 0 {
                    store_wait(if mended { 1 } else { 2 }, false);
                }
                barrier();
                sset(32 * (round % 2) + t(), get(m.a, 32 * round + t()));
                fence_proxy();
                barrier();
                if t() == 0 {
                    store(m, round % 2, round);
                }
            }
            if t() == 0 {
                store_wait(0, false);
            }
        },
    },
    Case {
        name: "copy_out_read_when_its_source_is_free",
        shape: (1, 64, 544),
        results: 64,
        body: |m, mended| {
            if t() < 32 {
                sset(t(), get(m.a, t()));
                fence_proxy();
            }
            barrier();
            if t() == 0 {
                store(m, 0, 0);
                store_wait(0, mended);
            }
            barrier();
            if t() >= 32 {
                set(m.b, t(), get(m.b, t() - 32));
            }
        },
    },
    Case {
        name: "thread_that_ends_before_its_copy_out",
        shape: (2, 32, 544),
        results: 64,
        body: |m, mended| {
            sset(t(), get(m.a, i()));
            fence_proxy();
            barrier();
            if t() == 0 {
                store(m, 0, block());
                if mended {
                    store_wait(0, false);
                }
            }
        },
    },
];
