//! Lanes that exchange: masks, membership, divergence, memory between lanes.

use gpu_std::launch::LaunchConfig;
use gpu_std::prelude::*;

use crate::Attack;

fn counting(n: u32) -> Vec<u32> {
    (0..n).map(|i| (i * 7 + 3) % 101).collect()
}

#[kernel]
fn sums_by_shuffles(x: Global<u32>, y: GlobalMut<u32>, how: u32) {
    let i = thread::thread_idx_x();
    let (lane, mut sum) = (warp::lane_id(), x.read(i));
    if how == 3 && lane >= 30 {
        return;
    }
    let mut step = 16;
    while step > 0 {
        if how == 1 {
            sum += warp::shuffle_down(0xffff, sum, step);
        } else if how == 2 {
            if lane < step {
                sum += warp::shuffle_down(warp::FULL, sum, step);
            }
        } else {
            sum += warp::shuffle_xor(warp::FULL, sum, step);
        }
        step /= 2;
    }
    if lane == 0 {
        y.write(i / 32, sum);
    }
}

#[test]
fn reduction() {
    let x = counting(64);
    Attack {
        name: "sum by shuffles",
        launch: sums_by_shuffles::launch,
        config: LaunchConfig::linear(1, 64),
        expected: x.chunks(32).map(|warp| warp.iter().sum()).collect(),
        x,
        y: vec![],
        together: false,
        broken: &["a mask of half the lanes", "shuffles under a condition", "lanes that have gone"],
    }
    .check();
}

#[kernel]
fn asks_a_neighbour(x: Global<u32>, y: GlobalMut<u32>, how: u32) {
    let i = thread::thread_idx_x();
    let value = x.read(i);
    if i < 16 {
        let mask = if how == 2 { warp::FULL } else { 0xffff };
        let distance = if how == 1 { 16 } else { 8 };
        let other = warp::shuffle_xor(mask, value, distance);
        y.write(i, other);
    } else {
        y.write(i, value);
    }
}

#[test]
fn shuffle_of_half_a_warp() {
    let x = counting(32);
    Attack {
        name: "half a warp",
        launch: asks_a_neighbour::launch,
        config: LaunchConfig::linear(1, 32),
        expected: (0..32).map(|i| if i < 16 { x[i ^ 8] } else { x[i] }).collect(),
        x,
        y: vec![],
        together: false,
        broken: &["from a lane that takes no part", "with those who are not there"],
    }
    .check();
}

#[kernel]
fn exchanges(x: Global<u32>, y: GlobalMut<u32>, how: u32) {
    let (lane, words) = (warp::lane_id(), shared::dynamic().array::<u32>(32));
    let mut value = x.read(lane);
    for _ in 0..2 {
        words.write(lane, value);
        match how {
            1 => {}
            2 => _ = warp::warp_vote_any(warp::FULL, true),
            3 => _ = warp::shuffle_xor(warp::FULL, value, 1),
            4 => warp::sync_warp(if lane < 16 { 0xffff } else { 0xffff_0000 }),
            _ => warp::sync_warp(warp::FULL),
        }
        value = words.read(31 - lane) + 1;
        if how != 5 {
            warp::sync_warp(warp::FULL);
        }
    }
    y.write(lane, value);
}

#[test]
fn exchange_through_shared_memory() {
    let x = counting(32);
    Attack {
        name: "exchange",
        launch: exchanges::launch,
        config: LaunchConfig::linear(1, 32).shared(128),
        expected: x.iter().map(|v| v + 2).collect(),
        x,
        y: vec![],
        together: false,
        broken: &[
            "nothing orders it",
            "a vote is no barrier",
            "a shuffle is no barrier",
            "only half the warp meets",
            "no barrier before the next round",
        ],
    }
    .check();
}

#[kernel]
fn counts_members(x: Global<u32>, y: GlobalMut<u32>, how: u32) {
    let (lane, value) = (warp::lane_id(), x.read(warp::lane_id()));
    let members = warp::warp_vote_ballot(warp::FULL, value > 50);
    if value > 50 {
        let mask = if how == 1 { warp::activemask() } else { members };
        if how == 2 {
            let mask = warp::activemask();
            if lane == mask.trailing_zeros() {
                y.atomic(0).fetch_add(1, Ordering::Relaxed, Scope::Device);
                y.write(1, mask.count_ones());
            }
        } else if lane == mask.trailing_zeros() {
            y.atomic(0).fetch_add(1, Ordering::Relaxed, Scope::Device);
            y.write(1, mask.count_ones());
        }
    }
}

#[test]
fn membership() {
    let x = counting(32);
    Attack {
        name: "membership",
        launch: counts_members::launch,
        config: LaunchConfig::linear(1, 32),
        expected: vec![1, x.iter().filter(|&&v| v > 50).count() as u32],
        x,
        y: vec![0, 0],
        together: false,
        broken: &["activemask for the lanes of a branch", "activemask to elect a leader"],
    }
    .check();
}

#[kernel]
fn aggregates(x: Global<u32>, y: GlobalMut<u32>, how: u32) {
    let (lane, bin) = (warp::lane_id(), x.read(thread::index_1d()) % 4);
    if how == 1 && bin == 3 {
        y.atomic(bin).fetch_add(1, Ordering::Relaxed, Scope::Device);
        return;
    }
    let same = warp::warp_match_any(warp::FULL, bin);
    let leader = if how == 2 { 0 } else { same.trailing_zeros() };
    if lane == leader {
        if how == 3 {
            y.write(bin, y.read(bin) + same.count_ones());
        } else {
            y.atomic(bin).fetch_add(same.count_ones(), Ordering::Relaxed, Scope::Device);
        }
    }
}

#[test]
fn aggregated_atomics() {
    let x = counting(128);
    Attack {
        name: "aggregated atomics",
        launch: aggregates::launch,
        config: LaunchConfig::linear(2, 64),
        expected: (0..4).map(|bin| x.iter().filter(|&&v| v % 4 == bin).count() as u32).collect(),
        x,
        y: vec![0; 4],
        together: false,
        broken: &["lanes that have gone their own way", "one leader for all", "no atomic"],
    }
    .check();
}

#[kernel]
fn meets(x: Global<u32>, y: GlobalMut<u32>, how: u32) {
    let (i, tile) = (thread::thread_idx_x(), shared::dynamic().array::<u32>(64));
    let value = x.read(i);
    if how == 1 && value > 60 {
        return;
    }
    tile.write(i, value);
    if how == 2 {
        if i < 32 {
            thread::sync_threads();
        } else {
            thread::sync_threads();
            tile.write(i, value);
        }
    } else if how == 3 {
        for _ in 0..1 + i / 32 {
            thread::sync_threads();
        }
    } else if how != 4 || i != 33 {
        thread::sync_threads();
    }
    let any = if how == 5 {
        i < 40 && warp::warp_vote_any(warp::FULL, true)
    } else {
        warp::warp_vote_any(warp::FULL, i < 40) || i >= 40
    };
    y.write(i, tile.read(63 - i) + u32::from(any));
}

#[test]
fn divergence() {
    let x = counting(64);
    Attack {
        name: "divergence",
        launch: meets::launch,
        config: LaunchConfig::linear(1, 64).shared(256),
        expected: (0..64).map(|i| x[63 - i] + 1).collect(),
        x,
        y: vec![],
        together: false,
        broken: &[
            "an early return before a barrier",
            "two barriers on two ways",
            "a barrier in a loop of different lengths",
            "a barrier that one thread leaves out",
            "a vote that some lanes do not reach",
        ],
    }
    .check();
}

#[kernel]
fn scans_segments(x: Global<u32>, y: GlobalMut<u32>, how: u32) {
    let (lane, i) = (warp::lane_id(), thread::index_1d());
    let mut sum = x.read(i);
    let mut step = 1;
    while step < 32 {
        if how == 1 {
            // The mask of those who add, while all take part.
            let adds = warp::FULL << step;
            if lane >= step {
                sum += warp::shuffle_up(adds, sum, step);
            }
        } else if how == 2 && lane + step > 31 {
            step *= 2;
            continue;
        } else {
            let below = warp::shuffle_up(warp::FULL, sum, step);
            if lane >= step {
                sum += below;
            }
        }
        step *= 2;
    }
    y.write(i, sum);
}

#[test]
fn scan() {
    let x = counting(64);
    Attack {
        name: "scan of a warp",
        launch: scans_segments::launch,
        config: LaunchConfig::linear(1, 64),
        expected: (0..64).map(|i| x[i / 32 * 32..=i].iter().sum()).collect(),
        x,
        y: vec![],
        together: false,
        broken: &["a source outside the mask", "lanes that leave a round out"],
    }
    .check();
}
