//! Tiles of shared memory: barriers, buffers that swap, what neighbours wrote.

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
        name: "flag_of_a_loop_cleared_before_all_have_looked",
        shape: (1, 64, 4),
        results: 64,
        body: |m, mended| {
            let mut value = get(m.a, t());
            loop {
                if t() == 0 {
                    sset(0, 0);
                }
                barrier();
                if value > 0 {
                    value /= 2;
                    say_shared(0, 1, Ordering::Relaxed);
                }
                barrier();
                let again = sget(0);
                if mended {
                    barrier();
                }
                if again == 0 {
                    break;
                }
            }
            set(m.b, t(), value);
        },
    },
    Case {
        name: "bins_of_warps_added_by_one_of_them",
        shape: (1, 64, 256),
        results: 32,
        body: |m, mended| {
            let own = 32 * (t() / 32);
            sset(t(), 0);
            sync_warp(FULL);
            for round in 0..3 {
                let bin = u64::from(4 * (own + get(m.a, 64 * round + t()) % 32));
                atomic_update(Space::Shared, bin, Ordering::Relaxed, Scope::Block, |old: u32| Some(old + 1));
            }
            if mended {
                barrier();
            } else {
                sync_warp(FULL);
            }
            if t() < 32 {
                set(m.b, t(), sget(t()) + sget(32 + t()));
            }
        },
    },
];
