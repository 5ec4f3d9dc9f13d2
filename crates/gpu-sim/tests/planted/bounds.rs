//! Indices that leave their array, bytes that nobody wrote, words that are not aligned.

use gpu_sim::device::*;

use crate::*;

pub const CASES: &[Case] = &[
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
        name: "index_that_wraps",
        shape: (2, 64, 0),
        results: 0,
        body: |m, mended| {
            let distance = if mended { i() } else { i().wrapping_sub(1) };
            set(m.b, i(), get(m.a, distance));
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
        name: "more_bins_than_threads",
        shape: (1, 64, 400),
        results: 100,
        body: |m, mended| {
            let mut bin = t();
            while bin < 100 {
                sset(bin, 0);
                bin += if mended { 64 } else { 100 };
            }
            barrier();
            let bin = u64::from(4 * (2 * get(m.a, t()) % 100));
            atomic_update(Space::Shared, bin, Ordering::Relaxed, Scope::Block, |old: u32| Some(old + 1));
            barrier();
            let mut bin = t();
            while bin < 100 {
                set(m.b, bin, sget(bin));
                bin += 64;
            }
        },
    },
    Case {
        name: "view_from_an_offset_to_the_old_end",
        shape: (2, 64, 0),
        results: 0,
        body: |m, mended| {
            let (view, len) = (at(m.a, 64), if mended { N - 64 } else { N });
            let mut at = i();
            while at < len {
                set(m.b, at, get(view, at));
                at += 128;
            }
        },
    },
    Case {
        name: "rest_behind_the_vectors_not_written",
        shape: (1, 32, 0),
        results: 30,
        body: |m, mended| {
            if t() < 30 / 4 {
                global_store(at(m.b, 4 * t()), [t(); 4], Store::Weak);
            }
            let rest = 30 / 4 * 4 + t();
            if mended && rest < 30 {
                set(m.b, rest, t());
            }
        },
    },
    Case {
        name: "pitch_of_another_matrix",
        shape: (4, 32, 0),
        results: 128,
        // Rows of 32, written as if they were of 24: the next row begins within the one before.
        body: |m, mended| {
            let pitch = if mended { 32 } else { 24 };
            set(m.b, pitch * block() + t(), get(m.a, i()));
        },
    },
];
