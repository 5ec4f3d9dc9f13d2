//! Copies of boxes, and the barriers that count their bytes.

use gpu_sim::device::*;

use crate::*;

/// A barrier behind four stages of 128 bytes.
pub(crate) const FULL_STAGE: u32 = 512;
/// And one for those who have read.
pub(crate) const EMPTY_STAGE: u32 = 528;

/// Rows of 32 words of an array.
pub(crate) fn row(array: u64) -> Box3 {
    Box3 {
        address: array,
        element: 4,
        extents: [N.into(), 1, 1],
        strides: [4 * u64::from(N); 2],
        tile: [32, 1, 1],
        swizzled: false,
    }
}

/// The first thread copies a row of `a` to a stage.
fn load(m: Memory, stage: u32, barrier: u32, number: u32) {
    phase_arrive(barrier, 128);
    tensor_load(128 * stage, barrier, &row(m.a), [32 * number as i32, 0, 0]);
}

pub(crate) fn make(barrier: u32, arrivals: u32) {
    if t() == 0 {
        phase_init(barrier, arrivals);
        fence_proxy();
    }
}

pub const CASES: &[Case] = &[
    Case {
        name: "one_thread_waits_for_the_box",
        shape: (1, 64, 520),
        results: 64,
        body: |m, mended| {
            make(FULL_STAGE, 1);
            barrier();
            if t() == 0 {
                load(m, 0, FULL_STAGE, 1);
            }
            if mended || t() == 0 {
                phase_wait(FULL_STAGE, 0);
            }
            set(m.b, t(), sget(t() % 32));
        },
    },
    Case {
        name: "parity_that_does_not_turn",
        shape: (1, 32, 520),
        results: 128,
        body: |m, mended| {
            make(FULL_STAGE, 1);
            barrier();
            for round in 0..4 {
                if t() == 0 {
                    load(m, round, FULL_STAGE, round);
                }
                phase_wait(FULL_STAGE, if mended { round % 2 } else { 0 });
                set(m.b, 32 * round + t(), sget(32 * round + t()));
                barrier();
            }
        },
    },
    Case {
        name: "box_over_what_is_still_read",
        shape: (1, 64, 520),
        results: 192,
        body: |m, mended| {
            make(FULL_STAGE, 1);
            barrier();
            for round in 0..3 {
                if t() == 0 {
                    load(m, 0, FULL_STAGE, round);
                }
                phase_wait(FULL_STAGE, round % 2);
                set(m.b, 64 * round + t(), sget(t() % 32));
                if mended {
                    barrier();
                }
            }
        },
    },
    Case {
        name: "bytes_of_half_the_box_announced",
        shape: (1, 32, 520),
        results: 32,
        body: |m, mended| {
            make(FULL_STAGE, 1);
            barrier();
            if t() == 0 {
                phase_arrive(FULL_STAGE, if mended { 128 } else { 64 });
                tensor_load(0, FULL_STAGE, &row(m.a), [0; 3]);
            }
            phase_wait(FULL_STAGE, 0);
            set(m.b, t(), sget(t()));
        },
    },
    Case {
        name: "barrier_that_the_copies_do_not_know",
        shape: (1, 32, 520),
        results: 32,
        body: |m, mended| {
            if t() == 0 {
                phase_init(FULL_STAGE, 1);
                if mended {
                    fence_proxy();
                }
                load(m, 0, FULL_STAGE, 0);
            }
            barrier();
            phase_wait(FULL_STAGE, 0);
            set(m.b, t(), sget(t()));
        },
    },
    Case {
        name: "barrier_waited_at_before_it_is_made",
        shape: (1, 64, 520),
        results: 64,
        body: |m, mended| {
            make(FULL_STAGE, 1);
            if t() == 0 {
                load(m, 0, FULL_STAGE, 0);
            }
            if mended {
                barrier();
            }
            phase_wait(FULL_STAGE, 0);
            set(m.b, t(), sget(t() % 32));
        },
    },
    Case {
        name: "stages_given_back_by_half_of_the_readers",
        shape: (1, 96, 544),
        results: 320,
        body: |m, mended| {
            for stage in [0, 8] {
                make(FULL_STAGE + stage, 1);
                make(EMPTY_STAGE + stage, if mended { 64 } else { 32 });
            }
            barrier();
            for round in 0..5 {
                let stage = round % 2;
                let (full, empty) = (FULL_STAGE + 8 * stage, EMPTY_STAGE + 8 * stage);
                if t() == 0 {
                    if round >= 2 {
                        phase_wait(empty, (round / 2 - 1) % 2);
                    }
                    load(m, stage, full, round);
                } else if t() >= 32 {
                    phase_wait(full, round / 2 % 2);
                    set(m.b, 64 * round + t() - 32, sget(32 * stage + t() % 32));
                    phase_arrive(empty, 0);
                }
            }
        },
    },
    Case {
        name: "stage_written_by_hand_while_a_box_arrives",
        shape: (1, 32, 520),
        results: 32,
        body: |m, mended| {
            make(FULL_STAGE, 1);
            barrier();
            if t() == 0 {
                load(m, 0, FULL_STAGE, 0);
            }
            if mended {
                phase_wait(FULL_STAGE, 0);
            }
            if t() == 31 {
                // Padding, said to be outside of the box.
                sset(31, 0);
            }
            phase_wait(FULL_STAGE, 0);
            sync_warp(FULL);
            set(m.b, t(), sget(t()));
        },
    },
];
