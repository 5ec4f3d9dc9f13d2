//! Every operation of a warp, and of a block's threads, through the simulator, against plain Rust.

mod support;

use gpu_std::prelude::*;
use gpu_std::warp::{self, WarpReductionOp};
use support::{Array, block, simulator};

macro_rules! shuffle_tests {
    ($($t:ident)*) => { $(
        mod $t {
            use super::*;

            #[kernel]
            fn shuffles(x: Global<$t>, values: GlobalMut<$t>, valid: GlobalMut<u32>, operand: u32, width: u32) {
                let lane = warp::lane_id();
                let value = x.read(lane);
                let results = [
                    warp::warp_shuffle_up(warp::FULL, value, operand, width),
                    warp::warp_shuffle_down(warp::FULL, value, operand, width),
                    warp::warp_shuffle_xor(warp::FULL, value, operand, width),
                    warp::warp_shuffle_idx(warp::FULL, value, operand, width),
                ];
                for (k, (other, inside)) in results.into_iter().enumerate() {
                    values.write(k as u32 * 32 + lane, other);
                    valid.write(k as u32 * 32 + lane, u32::from(inside));
                }
                if width == 32 {
                    values.write(128 + lane, warp::shuffle_up(warp::FULL, value, operand));
                    values.write(160 + lane, warp::shuffle_down(warp::FULL, value, operand));
                    values.write(192 + lane, warp::shuffle_xor(warp::FULL, value, operand));
                    values.write(224 + lane, warp::shuffle_idx(warp::FULL, value, operand));
                }
            }

            #[test]
            fn every_mode_and_width() {
                let simulator = simulator(1);
                // All words of the widest differ from lane to lane.
                let factor = 0x0123_4567_89ab_cdef_1032_5476_98ba_dcfe_u128;
                let input: Vec<$t> = (1..33_u128).map(|i| factor.wrapping_mul(i * i) as $t).collect();
                let x = Array::new(&simulator, &input);
                for width in [1u32, 2, 4, 8, 16, 32] {
                    for operand in [0, 1, 3, 15, 16, 31] {
                        let values = Array::<$t>::zeroed(&simulator, 256);
                        let valid = Array::<u32>::zeroed(&simulator, 128);
                        // SAFETY: a warp's 32 lanes, 8 and 4 values each.
                        unsafe {
                            let (values, valid) = (values.global_mut(), valid.global_mut());
                            shuffles::launch(&simulator, block(32, 0), x.global(), values, valid, operand, width)
                        }
                        .unwrap();
                        let (values, valid) = (values.get(), valid.get());
                        for lane in 0..32u32 {
                            let first = lane / width * width;
                            // PTX's rule: for exclusive or, a lane of an earlier segment is in reach too.
                            let sources = [
                                (lane >= first + operand).then(|| lane - operand),
                                (lane + operand < first + width).then(|| lane + operand),
                                ((lane ^ operand) < first + width).then(|| lane ^ operand),
                                Some(first + operand % width),
                            ];
                            // An index beyond the segment wraps for the value and counts as outside nowhere.
                            for (k, source) in sources.into_iter().enumerate() {
                                let at = k * 32 + lane as usize;
                                let expected = input[source.unwrap_or(lane) as usize];
                                assert_eq!(values[at], expected, "mode {k}, lane {lane}, {operand} of {width}");
                                assert_eq!(valid[at] == 1, source.is_some(), "mode {k}, lane {lane}, {operand} of {width}");
                                if width == 32 {
                                    assert_eq!(values[128 + at], expected, "short mode {k}, lane {lane}");
                                }
                            }
                        }
                    }
                }
            }
        }
    )* };
}
shuffle_tests!(u8 i8 u16 i16 u32 i32 f32 u64 i64 f64 u128);

#[kernel]
fn votes(x: Global<u32>, out: GlobalMut<u32>, mask: u32) {
    let lane = warp::lane_id();
    if mask >> lane & 1 == 1 {
        let value = x.read(lane);
        out.write(lane, warp::warp_vote_ballot(mask, value > 7));
        out.write(32 + lane, u32::from(warp::warp_vote_all(mask, value > 7)));
        out.write(64 + lane, u32::from(warp::warp_vote_any(mask, value > 7)));
        out.write(96 + lane, warp::warp_match_any(mask, value));
        out.write(128 + lane, warp::warp_match_any(mask, u64::from(value) << 32));
        out.write(160 + lane, warp::warp_match_any(mask, value as f32));
        let ops = [
            WarpReductionOp::Add,
            WarpReductionOp::Min,
            WarpReductionOp::Max,
            WarpReductionOp::And,
            WarpReductionOp::Or,
            WarpReductionOp::Xor,
        ];
        for (k, op) in ops.into_iter().enumerate() {
            out.write(192 + 32 * k as u32 + lane, warp::warp_reduce(mask, value, op));
        }
        let signed = value as i32 - 9;
        out.write(384 + lane, warp::warp_reduce(mask, signed, WarpReductionOp::Min) as u32);
        out.write(416 + lane, warp::warp_reduce(mask, signed, WarpReductionOp::Max) as u32);
        warp::sync_warp(mask);
        let active = warp::activemask();
        out.write(448 + lane, u32::from(active >> lane & 1 == 1 && active & !mask == 0));
    }
}

#[test]
fn votes_matches_and_reductions() {
    let inputs: [fn(u32) -> u32; 4] = [|i| i, |i| i % 5 + 6, |_| 8, |_| 0];
    for (number, make) in inputs.into_iter().enumerate() {
        for mask in [u32::MAX, 0x0000_ffff, 0x8421_1248, 1 << 31] {
            let simulator = simulator(number as u64);
            let input: Vec<u32> = (0..32).map(make).collect();
            let x = Array::new(&simulator, &input);
            let out = Array::<u32>::zeroed(&simulator, 480);
            // SAFETY: 15 values for each of a warp's 32 lanes.
            unsafe { votes::launch(&simulator, block(32, 0), x.global(), out.global_mut(), mask) }.unwrap();
            let out = out.get();
            let lanes: Vec<u32> = (0..32).filter(|lane| mask >> lane & 1 == 1).collect();
            let values: Vec<u32> = lanes.iter().map(|&lane| input[lane as usize]).collect();
            let holds = |lane: &u32| input[*lane as usize] > 7;
            let ballot: u32 = lanes.iter().filter(|lane| holds(lane)).map(|lane| 1 << lane).sum();
            for &lane in &lanes {
                let same = lanes.iter().filter(|&&other| input[other as usize] == input[lane as usize]);
                let same: u32 = same.map(|other| 1 << other).sum();
                let expected = [
                    ballot,
                    u32::from(ballot == mask),
                    u32::from(ballot != 0),
                    same,
                    same,
                    same,
                    values.iter().sum(),
                    *values.iter().min().unwrap(),
                    *values.iter().max().unwrap(),
                    values.iter().fold(u32::MAX, |a, b| a & b),
                    values.iter().fold(0, |a, b| a | b),
                    values.iter().fold(0, |a, b| a ^ b),
                    values.iter().map(|&v| v as i32 - 9).min().unwrap() as u32,
                    values.iter().map(|&v| v as i32 - 9).max().unwrap() as u32,
                    1,
                ];
                for (k, value) in expected.into_iter().enumerate() {
                    assert_eq!(
                        out[k * 32 + lane as usize],
                        value,
                        "value {k} of lane {lane}, input {number}, mask {mask:#x}"
                    );
                }
            }
        }
    }
}

#[kernel]
fn barriers(out: GlobalMut<u32>, bound: u32) {
    let i = thread::thread_idx_x();
    let mut memory = shared::dynamic();
    let tile: Shared<u32> = memory.array(96);
    tile.write(i, i * 3);
    thread::sync_threads();
    out.write(i, tile.read(95 - i));
    out.write(96 + i, thread::sync_threads_count(i < bound));
    out.write(192 + i, u32::from(thread::sync_threads_and(i < bound)));
    out.write(288 + i, u32::from(thread::sync_threads_or(i < bound)));
}

#[test]
fn barriers_with_results() {
    for bound in [0, 1, 50, 96] {
        let simulator = simulator(u64::from(bound));
        let out = Array::<u32>::zeroed(&simulator, 384);
        // SAFETY: four values for each of 96 threads.
        unsafe { barriers::launch(&simulator, block(96, 96 * 4), out.global_mut(), bound) }.unwrap();
        let out = out.get();
        for i in 0..96 {
            assert_eq!(out[i], 3 * (95 - i as u32));
            assert_eq!(out[96 + i], bound);
            assert_eq!(out[192 + i], u32::from(bound == 96));
            assert_eq!(out[288 + i], u32::from(bound > 0));
        }
    }
}

#[kernel]
fn indices(out: GlobalMut<u32>) {
    let [x, y, z] = thread::index_3d();
    let [width, height] = [6, 6];
    let at = (x + width * (y + height * z)) * 8;
    out.write(at, thread::thread_index_in_block());
    out.write(at + 1, warp::lane_id());
    out.write(at + 2, u32::from(thread::first()));
    out.write(at + 3, thread::block_idx_x() + 10 * thread::block_idx_y() + 100 * thread::block_idx_z());
    out.write(at + 4, thread::grid_dim_x() + 10 * thread::grid_dim_y() + 100 * thread::grid_dim_z());
    out.write(at + 5, thread::block_dim_x() + 10 * thread::block_dim_y() + 100 * thread::block_dim_z());
    out.write(at + 6, u32::from(thread::index_1d() == x && thread::index_2d() == [x, y]));
    let (clock, timer) = (thread::clock64(), thread::globaltimer());
    thread::nanosleep(10);
    out.write(at + 7, u32::from(thread::clock64() >= clock && thread::globaltimer() >= timer));
}

#[test]
fn indices_in_three_dimensions() {
    let simulator = simulator(5);
    let out = Array::<u32>::zeroed(&simulator, 6 * 6 * 4 * 8);
    let config = gpu_std::launch::LaunchConfig { grid: [2, 3, 2], block: [3, 2, 2], shared_bytes: 0 };
    // SAFETY: eight values for each of 6 × 6 × 4 threads.
    unsafe { indices::launch(&simulator, config, out.global_mut()) }.unwrap();
    let out = out.get();
    for z in 0..4 {
        for y in 0..6 {
            for x in 0..6u32 {
                let at = ((x + 6 * (y + 6 * z)) * 8) as usize;
                let inside = x % 3 + 3 * (y % 2 + 2 * (z % 2));
                let blocks = x / 3 + 10 * (y / 2) + 100 * (z / 2);
                let expected = [inside, inside, u32::from(x + y + z == 0), blocks, 232, 223, 1, 1];
                assert_eq!(out[at..at + 8], expected, "thread {x} {y} {z}");
            }
        }
    }
}

#[kernel]
fn asynchronous(x: Global<f32>, y: GlobalMut<f32>, valid: u32) {
    use gpu_std::async_copy::{commit, copy, copy_or_zero, wait};
    let t = thread::thread_idx_x();
    let mut memory = shared::dynamic();
    let tile: Shared<f32> = memory.array(32 * 7);
    copy::<f32, 4>(tile, 4 * t, x, 4 * t);
    commit();
    copy::<f32, 2>(tile, 128 + 2 * t, x, 128 + 2 * t);
    copy_or_zero::<f32, 1>(tile, 192 + t, x, 192 + t, u32::from(t < valid));
    commit();
    wait::<1>();
    thread::sync_threads();
    for k in 0..4 {
        y.write(32 * k + t, tile.read(32 * k + t));
    }
    wait::<0>();
    thread::sync_threads();
    for k in 4..7 {
        y.write(32 * k + t, tile.read(32 * k + t));
    }
}

#[test]
fn asynchronous_copies_arrive() {
    for seed in 0..20 {
        let simulator = simulator(seed);
        let input: Vec<f32> = (1..=224).map(|i| i as f32).collect();
        let x = Array::new(&simulator, &input);
        let y = Array::<f32>::zeroed(&simulator, 224);
        // SAFETY: 224 elements each.
        unsafe { asynchronous::launch(&simulator, block(32, 32 * 7 * 4), x.global(), y.global_mut(), 20) }
            .unwrap();
        for (i, value) in y.get().into_iter().enumerate() {
            assert_eq!(value, if i < 212 { input[i] } else { 0.0 });
        }
    }
}

mod matrices {
    use super::*;

    macro_rules! products {
        ($($product:ident over $k:literal;)*) => { $( mod $product {
            use super::*;

            /// Two products one after the other, of factors that lanes read from memory by the documented places.
            #[kernel]
            fn products(a: Global<f64>, b: Global<f64>, c: GlobalMut<f64>, count: u32) {
                let lane = warp::lane_id();
                let (g, t) = (lane / 4, lane % 4);
                let place = |i: u32| (g + 8 * (i / 2)) * 8 + 2 * t + i % 2;
                let mut sums: [f64; 4] = core::array::from_fn(|i| c.read(place(i as u32)));
                for step in 0..count {
                    let (a, b) = (a.offset(step as u64 * (16 * $k)), b.offset(step as u64 * ($k * 8)));
                    let a = core::array::from_fn(|i| {
                        let i = i as u32;
                        a.read((g + 8 * (i % 2)) * $k + t + 4 * (i / 2))
                    });
                    let b = core::array::from_fn(|i| b.read((t + 4 * i as u32) * 8 + g));
                    sums = gpu_std::mma::$product(a, b, sums);
                }
                for (i, sum) in sums.into_iter().enumerate() {
                    c.write(place(i as u32), sum);
                }
            }

            #[test]
            fn a_product_is_a_chain_over_ascending_k() {
                let numbers =
                    |len: usize, of: f64| (0..len).map(|i| (i as f64 * of).sin() / 3.0).collect::<Vec<f64>>();
                let (a, b, c) = (numbers(32 * $k, 1.7), numbers(16 * $k, 0.9), numbers(128, 0.3));
                let mut expected = c.clone();
                for step in 0..2 {
                    for (at, sum) in expected.iter_mut().enumerate() {
                        for k in 0..$k {
                            let (row, column) = (at / 8, at % 8);
                            *sum = a[(step * 16 + row) * $k + k].mul_add(b[(step * $k + k) * 8 + column], *sum);
                        }
                    }
                }
                for seed in 0..50 {
                    let simulator = simulator(seed);
                    let (a, b) = (Array::new(&simulator, &a), Array::new(&simulator, &b));
                    let c = Array::new(&simulator, &c);
                    // SAFETY: the arrays hold two matrices A, two B and one C.
                    unsafe { products::launch(&simulator, block(32, 0), a.global(), b.global(), c.global_mut(), 2) }
                        .unwrap();
                    assert_eq!(c.get(), expected, "seed {seed}");
                }
            }
        } )* };
    }
    products! {
        m16n8k4_f64 over 4;
        m16n8k8_f64 over 8;
        m16n8k16_f64 over 16;
    }

    macro_rules! products_of_words {
        ($($name:ident: $T:ty, $product:expr;)*) => { $( mod $name {
            use super::*;

            /// A is 16 rows of 8 words, B 8 columns of 8 words.
            #[kernel]
            fn products(a: Global<u32>, b: Global<u32>, c: GlobalMut<u32>) {
                let lane = warp::lane_id();
                let (g, t) = (lane / 4, lane % 4);
                let place = |i: u32| (g + 8 * (i / 2)) * 8 + 2 * t + i % 2;
                let of_a = core::array::from_fn(|i| a.read((g + 8 * (i as u32 % 2)) * 8 + t + 4 * (i as u32 / 2)));
                let of_b = core::array::from_fn(|i| b.read(g * 8 + t + 4 * i as u32));
                let sums = core::array::from_fn(|i| c.read(place(i as u32)));
                let sums = gpu_std::mma::multiply_add::<$T>(of_a, of_b, sums);
                for (i, sum) in sums.into_iter().enumerate() {
                    c.write(place(i as u32), sum);
                }
            }

            #[test]
            fn words_are_multiplied_element_by_element() {
                let words = |len: u32, seed: u32| {
                    (0..len).map(|i| (i + seed).wrapping_mul(2_654_435_761) >> 2).collect::<Vec<u32>>()
                };
                let (a, b, c) = (words(128, 7), words(64, 1000), words(128, 77));
                let mut expected = c.clone();
                for (at, sum) in expected.iter_mut().enumerate() {
                    for k in 0..8 {
                        *sum = $product(a[at / 8 * 8 + k], b[at % 8 * 8 + k], *sum);
                    }
                }
                for seed in 0..10 {
                    let simulator = simulator(seed);
                    let (a, b) = (Array::new(&simulator, &a), Array::new(&simulator, &b));
                    let c = Array::new(&simulator, &c);
                    // SAFETY: the arrays hold A, B and C.
                    unsafe { products::launch(&simulator, block(32, 0), a.global(), b.global(), c.global_mut()) }
                        .unwrap();
                    assert_eq!(c.get(), expected, "seed {seed}");
                }
            }
        } )* };
    }
    products_of_words! {
        tf32: f32, |a: u32, b: u32, sum: u32| {
            // What tf32 does not have of the mantissa is cut.
            let [a, b] = [a, b].map(|bits| f32::from_bits(bits >> 13 << 13));
            a.mul_add(b, f32::from_bits(sum)).to_bits()
        };
        s8: i8, |a: u32, b: u32, sum: u32| {
            (0..4).fold(sum, |sum, byte| {
                let [a, b] = [a, b].map(|word| i32::from((word >> (8 * byte)) as u8 as i8));
                sum.wrapping_add((a * b) as u32)
            })
        };
    }
}
