//! Copies that the hardware makes on its own: `cp.async` and its stages.

use gpu_sim::device::*;

use crate::*;

pub const CASES: &[Case] = &[
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
        name: "edge_of_a_tile_that_no_copy_fills",
        shape: (1, 32, 128),
        results: 32,
        body: |m, mended| {
            let inside = t() < 20;
            if inside || mended {
                cp_async(4 * t(), at(m.a, t().min(19)), 4, if inside { 4 } else { 0 });
            }
            cp_async_commit();
            cp_async_wait(0);
            barrier();
            set(m.b, t(), sget(31 - t()));
        },
    },
    Case {
        name: "two_copies_to_one_place",
        shape: (1, 64, 256),
        results: 64,
        body: |m, mended| {
            let to = if mended { t() } else { t() / 2 };
            cp_async(4 * to, at(m.a, t()), 4, 4);
            cp_async_commit();
            cp_async_wait(0);
            barrier();
            set(m.b, t(), sget(to));
        },
    },
    Case {
        name: "copies_committed_behind_the_wait",
        shape: (1, 32, 128),
        results: 32,
        body: |m, mended| {
            cp_async(4 * t(), at(m.a, t()), 4, 4);
            if mended {
                cp_async_commit();
            }
            cp_async_wait(0);
            set(m.b, t(), sget(t()));
            cp_async_commit();
        },
    },
    Case {
        name: "sync_warp_for_the_copies_of_another_warp",
        shape: (1, 64, 256),
        results: 64,
        body: |m, mended| {
            cp_async(4 * t(), at(m.a, t()), 4, 4);
            cp_async_commit();
            cp_async_wait(0);
            sync_warp(FULL);
            set(m.b, t(), sget(t() ^ if mended { 31 } else { 63 }));
        },
    },
];
