//! Collectives of warps and blocks: their order of combination, element by element, and no race in any schedule.
#![cfg(not(target_arch = "nvptx64"))]
#![allow(missing_docs, reason = "kernels of tests")]

mod support;

use gpu_collective::block::{DigitPlaces, RadixRank};
use gpu_collective::{block, warp as collective, words};
use gpu_std::launch::LaunchConfig;
use gpu_std::prelude::*;
use support::{Affine, IDENTITY, compose, functions, schedules};

const WARPS: usize = 4;
const THREADS: u32 = 32 * WARPS as u32;

fn at(array: Global<u32>, index: u32) -> Affine {
    (array.read(2 * index), array.read(2 * index + 1))
}

fn set(array: GlobalMut<u32>, index: u32, (a, b): Affine) {
    array.write(2 * index, a);
    array.write(2 * index + 1, b);
}

/// Each scan of a warp, one after the other.
#[kernel]
pub fn warp_scans(input: Global<u32>, output: GlobalMut<u32>) {
    let lane = warp::lane_id();
    let value = at(input, lane);
    set(output, lane, collective::inclusive_scan(value, compose));
    set(output, 32 + lane, collective::exclusive_scan(value, IDENTITY, compose));
    set(output, 64 + lane, collective::inclusive_scan_compact(value, compose));
    set(output, 96 + lane, collective::inclusive_scan_within(value, lane % 5, compose));
    set(output, 128 + lane, collective::from_lane(value, 31 - lane));
}

/// Reductions that every lane gets, one after the other.
#[kernel]
pub fn warp_reductions(input: Global<f32>, output: GlobalMut<f32>) {
    let lane = warp::lane_id();
    let (value, add) = (input.read(lane), |first: f32, second: f32| first + second);
    let mut row = 0;
    while row < 6 {
        let lanes = 1 << row;
        output.write(32 * row + lane, collective::all_reduce(value, lanes, add));
        output.write(32 * (6 + row) + lane, collective::all_reduce_pairwise(value, lanes, add));
        let across = collective::all_reduce_across([value, -2.0 * value], lanes, add);
        output.write(32 * (12 + row) + lane, across[0]);
        output.write(32 * (18 + row) + lane, across[1]);
        row += 1;
    }
    // Of four words, and with an operator by which each lane has a result of its own: what comes first is the lane's.
    let wide = (lane as u128) << 96 | 1 << 40 | lane as u128;
    let (sum, own) =
        (collective::all_reduce(wide, 32, |a, b| a + b), collective::all_reduce(lane, 32, |a, _| a));
    let is_right = sum == 496 << 96 | 32 << 40 | 496 && own == lane;
    output.write(32 * 24 + lane, is_right as u32 as f32);
}

/// A scan of the block, twice, so that a second round meets what the first left.
#[kernel]
pub fn block_scan(input: Global<u32>, output: GlobalMut<u32>, total: GlobalMut<u32>) {
    let room = shared::dynamic().array(2 * WARPS as u32);
    let thread = thread::thread_idx_x();
    let mut round = 0;
    while round < 2 {
        let value = at(input, round * THREADS + thread);
        let scanned = block::exclusive_scan::<Affine, WARPS>(value, IDENTITY, room, compose);
        set(output, round * THREADS + thread, scanned.before);
        if thread == THREADS - 1 {
            set(total, round, scanned.total);
        }
        thread::sync_threads();
        round += 1;
    }
}

/// A reduction of the block.
#[kernel]
pub fn block_sum(input: Global<f32>, output: GlobalMut<f32>) {
    let room = shared::dynamic().array(WARPS as u32);
    let value = input.read(thread::thread_idx_x());
    let sum = block::reduce(value, 0.0, WARPS as u32, room, |first, second| first + second);
    if thread::thread_idx_x() == 0 {
        output.write(0, sum);
    }
}

/// The block's values in shared memory, turned by one.
#[kernel]
pub fn turned(input: Global<u32>, output: GlobalMut<u32>) {
    let room = shared::dynamic().array(2 * THREADS);
    let thread = thread::thread_idx_x();
    words::write(room, THREADS, thread, at(input, thread));
    thread::sync_threads();
    set(output, thread, words::read(room, THREADS, (thread + 1) % THREADS));
}

/// How often each bin occurs, in several copies.
#[kernel]
pub fn histogram(samples: Global<u32>, len: u32, bins: u32, copies: u32, counts: GlobalMut<u32>) {
    let histogram = block::Histogram::new(shared::dynamic().array(0), bins, copies);
    histogram.clear();
    thread::sync_threads();
    let mut at = thread::thread_idx_x();
    while at < len {
        histogram.count(samples.read(at));
        at += THREADS;
    }
    thread::sync_threads();
    histogram.totals(|bin, count| counts.write(bin, count));
}

fn flat(values: &[Affine]) -> Vec<u32> {
    values.iter().flat_map(|&(a, b)| [a, b]).collect()
}

fn pairs(words: &[u32]) -> Vec<Affine> {
    words.chunks(2).map(|pair| (pair[0], pair[1])).collect()
}

fn inclusive(values: &[Affine]) -> Vec<Affine> {
    let mut total = IDENTITY;
    values.iter().map(|&value| (total = compose(total, value), total).1).collect()
}

#[test]
fn scans_of_a_warp_keep_the_order() {
    for (seed, device) in schedules(20) {
        let input = functions(32);
        let (from, mut to) = (device.upload(&flat(&input)).unwrap(), device.zeroed(320).unwrap());
        let (stream, config) = (device.default_stream(), LaunchConfig::linear(1, 32));
        // SAFETY: the input has 32 pairs of words, the output 160.
        unsafe {
            warp_scans::launch(&stream, config, from.view().as_global(), to.view_mut().as_global_mut())
                .unwrap();
        }
        let results = pairs(&to.to_vec().unwrap());
        let expected = inclusive(&input);
        assert_eq!(results[..32], expected, "seed {seed}");
        assert_eq!((results[32], &results[33..64]), (IDENTITY, &expected[..31]), "seed {seed}");
        assert_eq!(results[64..96], expected, "seed {seed}");
        for (lane, result) in results[96..128].iter().enumerate() {
            let own = inclusive(&input[lane - lane % 5..=lane]);
            assert_eq!(Some(result), own.last(), "seed {seed}, lane {lane}");
        }
        let turned: Vec<Affine> = input.iter().rev().copied().collect();
        assert_eq!(results[128..], turned, "seed {seed}");
    }
}

/// The sum of values, halves added to halves: value `i` takes value `i + len / 2`.
fn tree(mut values: Vec<f32>) -> f32 {
    while values.len() > 1 {
        let (low, high) = values.split_at(values.len() / 2);
        values = low.iter().zip(high).map(|(first, second)| first + second).collect();
    }
    values[0]
}

/// The sum of values, neighbours first.
fn pairwise(mut values: Vec<f32>) -> f32 {
    while values.len() > 1 {
        values = values.chunks(2).map(|pair| pair[0] + pair[1]).collect();
    }
    values[0]
}

#[test]
fn every_lane_gets_the_sum_of_its_group_in_the_order_that_is_documented() {
    let values: Vec<f32> = (0..32u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 8) as f32).collect();
    for lanes in [4, 8, 16, 32] {
        let differ = |group: &[f32]| tree(group.to_vec()).to_bits() != pairwise(group.to_vec()).to_bits();
        assert!(values.chunks(lanes).any(differ), "the orders of {lanes} lanes can be told apart");
    }
    for (seed, device) in schedules(20) {
        let (from, mut to) = (device.upload(&values).unwrap(), device.zeroed::<f32>(25 * 32).unwrap());
        let (input, output) = (from.view().as_global(), to.view_mut().as_global_mut());
        let (stream, config) = (device.default_stream(), LaunchConfig::linear(1, 32));
        // SAFETY: the input has a value a lane, the output 25.
        unsafe { warp_reductions::launch(&stream, config, input, output).unwrap() };
        let results = to.to_vec().unwrap();
        for (at, result) in results[..24 * 32].iter().enumerate() {
            let (row, lane) = (at / 32, at % 32);
            let lanes = 1 << (row % 6);
            let group = values[lane / lanes * lanes..][..lanes].to_vec();
            let apart = values[lane % lanes..].iter().step_by(lanes).copied().collect();
            let expected = match row / 6 {
                0 => tree(group),
                1 => pairwise(group),
                2 => tree(apart),
                _ => -2.0 * tree(apart),
            };
            assert_eq!(result.to_bits(), expected.to_bits(), "seed {seed}, row {row}, lane {lane}");
        }
        assert_eq!(results[24 * 32..], [1.0; 32], "seed {seed}");
    }
}

#[test]
fn scans_of_a_block_keep_the_order() {
    for (seed, device) in schedules(50) {
        let input = functions(2 * THREADS);
        let from = device.upload(&flat(&input)).unwrap();
        let (mut to, mut total) = (device.zeroed(4 * THREADS as usize).unwrap(), device.zeroed(4).unwrap());
        let (output, totals) = (to.view_mut().as_global_mut(), total.view_mut().as_global_mut());
        let config = LaunchConfig::linear(1, THREADS).shared(8 * WARPS as u32);
        // SAFETY: input and output have two pairs of words a thread, the totals two.
        unsafe {
            block_scan::launch(&device.default_stream(), config, from.view().as_global(), output, totals)
                .unwrap();
        }
        let (results, totals) = (pairs(&to.to_vec().unwrap()), pairs(&total.to_vec().unwrap()));
        for (round, part) in input.chunks(THREADS as usize).enumerate() {
            let (expected, first) = (inclusive(part), round * THREADS as usize);
            assert_eq!(results[first], IDENTITY, "seed {seed}");
            assert_eq!(
                results[first + 1..][..THREADS as usize - 1],
                expected[..THREADS as usize - 1],
                "seed {seed}"
            );
            assert_eq!(Some(&totals[round]), expected.last(), "seed {seed}");
        }
    }
}

#[test]
fn reductions_of_a_block_are_the_tree_that_is_documented() {
    let values: Vec<f32> = (0..THREADS).map(|i| 1.0 / (i + 1) as f32).collect();
    // Lane i takes lane i + 16, then i + 8, …; then warps in the same way.
    let expected = tree(values.chunks(32).map(|warp| tree(warp.to_vec())).collect());
    for (seed, device) in schedules(50) {
        let (from, mut to) = (device.upload(&values).unwrap(), device.zeroed::<f32>(1).unwrap());
        let config = LaunchConfig::linear(1, THREADS).shared(4 * WARPS as u32);
        let (input, output) = (from.view().as_global(), to.view_mut().as_global_mut());
        // SAFETY: the input has a value a thread, the output one.
        unsafe { block_sum::launch(&device.default_stream(), config, input, output).unwrap() };
        assert_eq!(to.to_vec().unwrap()[0].to_bits(), expected.to_bits(), "seed {seed}");
    }
}

#[test]
fn accumulators_come_back_from_shared_memory() {
    for (seed, device) in schedules(20) {
        let input = functions(THREADS);
        let (from, mut to) =
            (device.upload(&flat(&input)).unwrap(), device.zeroed(2 * THREADS as usize).unwrap());
        let config = LaunchConfig::linear(1, THREADS).shared(8 * THREADS);
        let (a, b) = (from.view().as_global(), to.view_mut().as_global_mut());
        // SAFETY: input and output have a pair of words a thread.
        unsafe { turned::launch(&device.default_stream(), config, a, b).unwrap() };
        let mut expected = input;
        expected.rotate_left(1);
        assert_eq!(pairs(&to.to_vec().unwrap()), expected, "seed {seed}");
    }
}

#[test]
fn as_many_copies_of_bins_as_fit() {
    let copies = [320, 319, 20, 10, 9].map(|counters| block::histogram_copies(10, counters));
    assert_eq!(copies, [32, 16, 2, 1, 1]);
}

#[test]
fn histograms_count_every_sample_in_any_number_of_copies() {
    let samples: Vec<u32> = (0..1000u32).map(|i| i * i % 13).collect();
    for (seed, device) in schedules(20) {
        for copies in [1, 2, 32] {
            // Bins 10 to 12 are none.
            let bins = 10;
            // Of bins without samples nothing is said.
            const NOTHING: u32 = u32::MAX;
            let from = device.upload(&samples).unwrap();
            let mut to = device.upload(&[NOTHING; 10]).unwrap();
            let (input, counts) = (from.view().as_global(), to.view_mut().as_global_mut());
            let config = LaunchConfig::linear(1, THREADS).shared(4 * (bins + 1) * copies);
            // SAFETY: there are so many samples, and counts for all bins.
            unsafe {
                let stream = device.default_stream();
                histogram::launch(&stream, config, input, samples.len() as u32, bins, copies, counts)
                    .unwrap();
            }
            let count = |bin| samples.iter().filter(|sample| **sample == bin).count() as u32;
            let said = |count| if count == 0 { NOTHING } else { count };
            let expected: Vec<u32> = (0..bins).map(|bin| said(count(bin))).collect();
            assert_eq!(to.to_vec().unwrap(), expected, "seed {seed}, {copies} copies");
        }
    }
}

/// Sorts a tile of 3 rows a warp by digits of `B` bits; the counts of the digits go to `counts`.
fn sort_by_digit<const B: usize, const W: usize>(keys: GlobalMut<u32>, counts: GlobalMut<u32>) {
    let mut memory = shared::dynamic();
    let digits = RadixRank::<B, W>::DIGITS;
    let rank = RadixRank::<B, W>::new(memory.array(digits * W as u32), memory.array(digits / 32));
    let thread = thread::thread_idx_x();
    let first = thread / 32 * 96 + warp::lane_id();
    let own: [u32; 3] = core::array::from_fn(|row| keys.read(first + 32 * row as u32));
    rank.clear();
    thread::sync_threads();
    own.iter().for_each(|key| rank.count(key % digits));
    let DigitPlaces { count, start } = rank.starts(|count| counts.write(thread, count));
    if thread < digits {
        counts.write(digits + thread, start);
        assert_eq!(counts.read(thread), count);
    }
    own.into_iter().for_each(|key| keys.write(rank.place(key % digits), key));
}

#[kernel]
pub fn sort_by_5_bits(keys: GlobalMut<u32>, counts: GlobalMut<u32>) {
    sort_by_digit::<5, 3>(keys, counts);
}

#[kernel]
pub fn sort_by_7_bits(keys: GlobalMut<u32>, counts: GlobalMut<u32>) {
    sort_by_digit::<7, 4>(keys, counts);
}

#[test]
fn ranks_of_digits_are_stable_in_every_schedule() {
    for (seed, device) in schedules(40) {
        for (digits, warps) in [(32, 3), (128, 4)] {
            // Of every second seed one digit has almost all of them.
            let of = |i: u32| {
                if seed % 2 == 0 {
                    i.wrapping_mul(2_654_435_761) % 1000
                } else {
                    4096 * i + u32::from(i % 50 == 7)
                }
            };
            let values: Vec<u32> = (0..96 * warps).map(of).collect();
            let (mut keys, mut counts) =
                (device.upload(&values).unwrap(), device.zeroed(2 * digits as usize).unwrap());
            let (stream, config) = (device.default_stream(), LaunchConfig::linear(1, 32 * warps));
            let config = config.shared(4 * (digits * warps + digits / 32));
            let (a, b) = (keys.view_mut().as_global_mut(), counts.view_mut().as_global_mut());
            // SAFETY: the tile has as many keys as the block places.
            let launched = unsafe {
                if digits == 32 {
                    sort_by_5_bits::launch(&stream, config, a, b)
                } else {
                    sort_by_7_bits::launch(&stream, config, a, b)
                }
            };
            launched.unwrap();
            let mut expected = values;
            expected.sort_by_key(|key| key % digits);
            assert_eq!(keys.to_vec().unwrap(), expected, "seed {seed}");
            let starts = (0..digits).map(|digit| expected.partition_point(|key| key % digits < digit) as u32);
            assert_eq!(
                counts.to_vec().unwrap()[digits as usize..],
                starts.collect::<Vec<_>>(),
                "seed {seed}"
            );
        }
    }
}
