//! Whole small algorithms: sorting networks, look-back in one word, producers and consumers, persistent blocks.

use gpu_std::launch::LaunchConfig;
use gpu_std::prelude::*;

use crate::Attack;

fn counting(n: u32) -> Vec<u32> {
    (0..n).map(|i| (i * 37 + 3) % 101).collect()
}

#[kernel]
fn sorts(x: Global<u32>, y: GlobalMut<u32>, how: u32) {
    let (i, keys) = (thread::thread_idx_x(), shared::dynamic().array::<u32>(64));
    keys.write(i, x.read(i));
    let mut size = 2;
    while size <= 64 {
        let mut step = size / 2;
        while step > 0 {
            if how != 1 && !(how == 2 && step == 1) {
                thread::sync_threads();
            } else if how == 2 {
                // Pairs are in one warp; that orders nothing.
                warp::warp_vote_any(warp::FULL, true);
            }
            let other = if how == 4 { i + step } else { i ^ step };
            if other > i {
                let up = i & size == 0;
                let (a, b) = (keys.read(i), keys.read(other));
                let swap = if how == 3 { (a > b) == up || a == b } else { (a > b) == up && a != b };
                if swap {
                    keys.write(i, b);
                    keys.write(if how == 3 && a == b { i + 1 } else { other }, a);
                }
            }
            step /= 2;
        }
        size *= 2;
    }
    if how != 5 {
        thread::sync_threads();
    }
    y.write(63 - i, keys.read(63 - i));
}

#[test]
fn sorting_network() {
    let x: Vec<u32> = counting(64).iter().map(|v| v % 50).collect();
    let mut expected = x.clone();
    expected.sort_unstable();
    Attack {
        name: "sorting network",
        launch: sorts::launch,
        config: LaunchConfig::linear(1, 64).shared(256),
        expected,
        x,
        y: vec![],
        together: false,
        broken: &[
            "no barriers",
            "none where pairs are neighbours",
            "equal keys moved to the wrong place",
            "partners beyond the end",
            "none at the end",
        ],
    }
    .check();
}

/// Prefix sums by look-back: state and value of a block in one word of 64 bits. `y`: a ticket, a gap, words, sums.
#[kernel]
fn looks_back(x: Global<u32>, y: GlobalMut<u32>, how: u32) {
    let me = y.atomic(0).fetch_add(1, Ordering::Relaxed, Scope::Device);
    let words = y.offset(2).cast::<u64>();
    let own = x.read(me);
    let publish = |state: u64, sum: u32| {
        if how == 1 {
            // State and value in two stores.
            let halves = y.offset(2).offset(2 * me as u64);
            halves.atomic(0).store(sum, Ordering::Relaxed, Scope::Device);
            halves.atomic(1).store(state as u32, Ordering::Relaxed, Scope::Device);
        } else {
            words.atomic(me).store(state << 32 | u64::from(sum), Ordering::Relaxed, Scope::Device);
        }
    };
    let read = |at: u32| -> u64 {
        if how == 1 {
            let halves = y.offset(2).offset(2 * at as u64);
            let state = halves.atomic(1).load(Ordering::Relaxed, Scope::Device);
            u64::from(state) << 32 | u64::from(halves.atomic(0).load(Ordering::Relaxed, Scope::Device))
        } else {
            words.atomic(at).load(Ordering::Relaxed, Scope::Device)
        }
    };
    let mut before = 0;
    if me > 0 {
        publish(1, own);
        let mut at = me - 1;
        loop {
            let word = read(at);
            let (state, sum) = (word >> 32, word as u32);
            if state == 0 {
                if how == 3 {
                    break;
                }
                continue;
            }
            before += sum;
            if state == 2 || how == 2 {
                break;
            }
            at -= 1;
        }
    }
    publish(2, before + own);
    y.write(2 + 2 * 8 + me, before + own);
}

#[test]
fn look_back_in_one_word() {
    let x = counting(8);
    let sums: Vec<u32> = (0..8).map(|i| x[..=i].iter().sum()).collect();
    let mut expected = vec![8, 0];
    expected.extend(sums.iter().flat_map(|&sum| [sum, 2]));
    expected.extend(&sums);
    Attack {
        name: "look-back in one word",
        launch: looks_back::launch,
        config: LaunchConfig::linear(8, 1),
        expected,
        x,
        y: vec![0; 18],
        together: false,
        broken: &[
            "state and value in two words",
            "an aggregate taken for a prefix",
            "a block that is not there taken for zero",
        ],
    }
    .check();
}

/// One warp fills two slots of a ring in turn, another empties them. Flags count how often.
#[kernel]
fn produces(x: Global<u32>, y: GlobalMut<u32>, how: u32) {
    let (i, mut shared) = (thread::thread_idx_x(), shared::dynamic());
    let slots = [shared.array::<u32>(32), shared.array::<u32>(32)];
    let flags = shared.array::<u32>(2);
    if i == 0 {
        flags.write(0, 0);
        flags.write(1, 0);
    }
    thread::sync_threads();
    let (full, empty) = (flags.atomic(0), flags.atomic(1));
    let (lane, scope) = (i % 32, Scope::Block);
    let acquire = |flag: Atomic<u32>, least: u32| {
        if how != 4 || lane == 0 {
            while flag.load(Ordering::Acquire, scope) < least {}
        }
        if how != 4 {
            warp::sync_warp(warp::FULL);
        }
    };
    for round in 0..5u32 {
        let slot = slots[round as usize % 2];
        if i < 32 {
            if round >= 2 && how != 2 {
                acquire(empty, round - 1);
            }
            slot.write(lane, x.read(round * 32 + lane));
            if how != 5 {
                warp::sync_warp(warp::FULL);
            }
            if lane == 0 {
                let order = if how == 1 { Ordering::Relaxed } else { Ordering::Release };
                full.store(round + 1, order, scope);
            }
        } else {
            acquire(full, round + 1);
            if how == 3 && lane == 0 {
                empty.store(round + 1, Ordering::Release, scope);
            }
            y.write(round * 32 + lane, 2 * slot.read(31 - lane));
            warp::sync_warp(warp::FULL);
            if how != 3 && lane == 0 {
                empty.store(round + 1, Ordering::Release, scope);
            }
        }
    }
}

#[test]
fn ring_between_warps() {
    let x = counting(160);
    Attack {
        name: "ring between warps",
        launch: produces::launch,
        config: LaunchConfig::linear(1, 64).shared(4 * 66),
        expected: (0..160).map(|i| 2 * x[i / 32 * 32 + 31 - i % 32]).collect(),
        x,
        y: vec![],
        together: false,
        broken: &[
            "a relaxed flag",
            "no wait for an empty slot",
            "given back before it is read",
            "one lane waits for all, without a barrier",
            "no barrier before the flag",
        ],
    }
    .check();
}

/// Blocks draw tiles until there are none. `y`: a counter, a gap up to 8, results.
#[kernel]
fn draws_tiles(x: Global<u32>, y: GlobalMut<u32>, how: u32) {
    let (i, tile) = (thread::thread_idx_x(), shared::dynamic().array::<u32>(1));
    loop {
        if i == 0 {
            let drawn = if how == 4 {
                let drawn = y.read(0);
                y.write(0, drawn + 1);
                drawn
            } else {
                let scope = if how == 5 { Scope::Block } else { Scope::Device };
                y.atomic(0).fetch_add(1, Ordering::Relaxed, scope)
            };
            tile.write(0, drawn);
        }
        if how != 1 {
            thread::sync_threads();
        }
        let number = tile.read(0);
        if how != 2 {
            thread::sync_threads();
        }
        if number >= if how == 3 { 8 } else { 7 } {
            break;
        }
        let at = number * 40 + i;
        y.write(8 + at, x.read(at) + 1);
    }
    if i == 0 && how == 6 {
        y.write(1, 1);
    }
}

#[test]
fn persistent_blocks() {
    let x = counting(280);
    let mut expected = vec![10, 0, 0, 0, 0, 0, 0, 0];
    expected.extend(x.iter().map(|v| v + 1));
    Attack {
        name: "persistent blocks",
        launch: draws_tiles::launch,
        config: LaunchConfig::linear(3, 40).shared(4),
        expected,
        x,
        y: vec![0; 8],
        together: false,
        broken: &[
            "no barrier after the draw",
            "none before the next",
            "one tile too many",
            "a counter that is no atomic",
            "one of block scope",
            "all write one word",
        ],
    }
    .check();
}

/// Heads of runs in a tile, with the element before from shared memory or from the tile before; counted and compacted.
#[kernel]
fn finds_runs(x: Global<u32>, y: GlobalMut<u32>, how: u32) {
    let (i, mut shared) = (thread::thread_idx_x(), shared::dynamic());
    let (tile, sums) = (shared.array::<u32>(65), shared.array::<u32>(2));
    let at = thread::index_1d();
    tile.write(i + 1, x.read(at));
    if i == 0 {
        tile.write(0, if at > 0 || how == 2 { x.read(at.wrapping_sub(1)) } else { u32::MAX });
    }
    if how != 1 {
        thread::sync_threads();
    }
    let is_head = tile.read(i) != tile.read(i + 1);
    let ballot = warp::warp_vote_ballot(if how == 3 { 0xffff } else { warp::FULL }, is_head);
    if i.is_multiple_of(32) {
        sums.write(i / 32, ballot.count_ones());
    }
    if how != 4 {
        thread::sync_threads();
    }
    if i == 0 {
        let all = sums.read(0) + sums.read(1);
        match how {
            5 => y.write(128, y.read(128) + all),
            _ => _ = y.atomic(128).fetch_add(all, Ordering::Relaxed, Scope::Device),
        }
    }
    y.write(at, u32::from(is_head));
}

#[test]
fn runs() {
    let x: Vec<u32> = counting(128).iter().map(|v| v / 40).collect();
    let mut expected: Vec<u32> = (0..128).map(|i| u32::from(i == 0 || x[i] != x[i - 1])).collect();
    expected.push(expected.iter().sum());
    let mut y = vec![9; 128];
    y.push(0);
    Attack {
        name: "runs",
        launch: finds_runs::launch,
        config: LaunchConfig::linear(2, 64).shared(4 * 70),
        expected,
        x,
        y,
        together: false,
        broken: &[
            "no barrier after loading",
            "the element before the first",
            "a ballot of half a warp",
            "no barrier before the sum",
            "no atomic",
        ],
    }
    .check();
}
