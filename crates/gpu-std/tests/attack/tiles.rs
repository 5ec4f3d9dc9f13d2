//! Blocks that share a tile: barriers that are missing or too early, in each phase of what kernels do.

use gpu_std::launch::LaunchConfig;
use gpu_std::prelude::*;

use crate::Attack;

fn counting(n: u32) -> Vec<u32> {
    (0..n).map(|i| (i * 7 + 3) % 101).collect()
}

/// The barrier that every thread reaches, or none.
fn sync_if(condition: bool) {
    if condition {
        thread::sync_threads();
    }
}

#[kernel]
fn transposes(x: Global<u32>, y: GlobalMut<u32>, how: u32) {
    let (i, tile) = (thread::thread_idx_x(), shared::dynamic().array::<u32>(16 * 17));
    let (row, column) = (i / 16, i % 16);
    sync_if(how == 3);
    tile.write(row * 17 + column, x.read(i));
    sync_if(how == 0);
    if how == 2 {
        warp::sync_warp(warp::FULL);
    }
    y.write(i, tile.read(column * 17 + row));
}

#[test]
fn transpose() {
    let x = counting(256);
    Attack {
        name: "transpose",
        launch: transposes::launch,
        config: LaunchConfig::linear(1, 256).shared(4 * 16 * 17),
        expected: (0..256).map(|i| x[i % 16 * 16 + i / 16]).collect(),
        x,
        y: vec![],
        together: false,
        broken: &["no barrier", "a barrier of the warp", "the barrier before the stores"],
    }
    .check();
}

#[kernel]
fn reduces(x: Global<u32>, y: GlobalMut<u32>, how: u32) {
    let (i, sums) = (thread::thread_idx_x(), shared::dynamic().array::<u32>(128));
    sums.write(i, x.read(i));
    sync_if(how != 1);
    let mut step = 64;
    while step > 0 {
        let active = if how == 4 { i <= step } else { i < step };
        if active {
            sums.write(i, sums.read(i) + sums.read(i + step));
        }
        // The last warp goes on alone; it still has to meet.
        sync_if(!(how == 2 || how == 3 && step <= 32));
        step /= 2;
    }
    if i == 0 {
        y.write(0, sums.read(0));
    }
}

#[test]
fn reduction() {
    let x = counting(128);
    Attack {
        name: "reduction",
        launch: reduces::launch,
        config: LaunchConfig::linear(1, 128).shared(512),
        expected: vec![x.iter().sum()],
        x,
        y: vec![],
        together: false,
        broken: &[
            "no barrier after the loads",
            "no barrier in the loop",
            "none among the last warp's lanes",
            "one thread too many",
        ],
    }
    .check();
}

#[kernel]
fn scans_in_two_buffers(x: Global<u32>, y: GlobalMut<u32>, how: u32) {
    let (i, mut shared) = (thread::thread_idx_x(), shared::dynamic());
    let buffers = [shared.array::<u32>(64), shared.array::<u32>(64)];
    buffers[0].write(i, x.read(i));
    let (mut step, mut from) = (1, 0);
    while step < 64 {
        sync_if(how != 1 && !(how == 2 && step == 32));
        // One buffer for both would need a barrier between reading and writing.
        let to = if how == 3 { from } else { 1 - from };
        let sum = if i >= step {
            buffers[from].read(i) + buffers[from].read(i - step)
        } else {
            buffers[from].read(i)
        };
        buffers[to].write(i, sum);
        (step, from) = (2 * step, to);
    }
    y.write(i, buffers[from].read(i));
}

#[test]
fn scan() {
    let x = counting(64);
    let sums = x.iter().scan(0, |sum, v| {
        *sum += v;
        Some(*sum)
    });
    Attack {
        name: "scan",
        launch: scans_in_two_buffers::launch,
        config: LaunchConfig::linear(1, 64).shared(512),
        expected: sums.collect(),
        x,
        y: vec![],
        together: false,
        broken: &["no barriers", "no barrier before the last round", "one buffer for both"],
    }
    .check();
}

#[kernel]
fn scans_up_and_down(x: Global<u32>, y: GlobalMut<u32>, how: u32) {
    let (i, tree) = (thread::thread_idx_x(), shared::dynamic().array::<u32>(64));
    tree.write(i, x.read(i));
    let mut step = 1;
    while step < 64 {
        sync_if(how != 1);
        if (i + 1).is_multiple_of(2 * step) {
            tree.write(i, tree.read(i) + tree.read(i - step));
        }
        step *= 2;
    }
    sync_if(how != 2);
    // By another thread than the one that wrote the total.
    if i == 0 {
        tree.write(63, 0);
    }
    while step > 1 {
        step /= 2;
        sync_if(how != 3);
        if (i + 1).is_multiple_of(2 * step) {
            let (left, own) = (tree.read(i - step), tree.read(i));
            tree.write(i - step, own);
            tree.write(i, left + own);
        }
    }
    sync_if(how != 4);
    y.write(63 - i, tree.read(63 - i));
}

#[test]
fn scan_up_and_down() {
    let x = counting(64);
    Attack {
        name: "scan, up and down",
        launch: scans_up_and_down::launch,
        config: LaunchConfig::linear(1, 64).shared(256),
        expected: (0..64).map(|i| x[..i].iter().sum()).collect(),
        x,
        y: vec![],
        together: false,
        broken: &["no barriers upwards", "none before the total goes", "none downwards", "none at the end"],
    }
    .check();
}

#[kernel]
fn counts(x: Global<u32>, y: GlobalMut<u32>, how: u32) {
    let (i, bins) = (thread::thread_idx_x(), shared::dynamic().array::<u32>(16));
    if i < 16 && how != 1 {
        bins.write(i, 0);
    }
    sync_if(how != 2);
    let bin = x.read(i) % 16;
    if how == 3 {
        bins.write(bin, bins.read(bin) + 1);
    } else {
        bins.atomic(bin).fetch_add(1, Ordering::Relaxed, Scope::Block);
    }
    sync_if(how != 4);
    if i < 16 {
        y.write(i, bins.read(i));
    }
}

#[test]
fn histogram() {
    let x = counting(96);
    Attack {
        name: "histogram",
        launch: counts::launch,
        config: LaunchConfig::linear(1, 96).shared(64),
        expected: (0..16).map(|bin| x.iter().filter(|&&v| v % 16 == bin).count() as u32).collect(),
        x,
        y: vec![],
        together: false,
        broken: &[
            "bins never zeroed",
            "no barrier after zeroing",
            "plain increments",
            "no barrier before the end",
        ],
    }
    .check();
}

#[kernel]
fn multiplies(x: Global<u32>, y: GlobalMut<u32>, how: u32) {
    let (i, mut shared) = (thread::thread_idx_x(), shared::dynamic());
    let (a, b) = (shared.array::<u32>(64), shared.array::<u32>(64));
    let (row, column) = (i / 8, i % 8);
    let mut sum = 0;
    for part in 0..2 {
        a.write(i, x.read(row * 16 + part * 8 + column));
        b.write(i, x.read(128 + (part * 8 + row) * 8 + column));
        sync_if(how != 1);
        for k in 0..8 {
            sum += a.read(row * 8 + k) * b.read(k * 8 + column);
        }
        sync_if(how != 2);
    }
    y.write(i, sum);
}

#[test]
fn product() {
    let x = counting(256);
    let at = |row: usize, column: usize| (0..16).map(|k| x[row * 16 + k] * x[128 + k * 8 + column]).sum();
    Attack {
        name: "product",
        launch: multiplies::launch,
        config: LaunchConfig::linear(1, 64).shared(512),
        expected: (0..64).map(|i| at(i / 8, i % 8)).collect(),
        x: x.clone(),
        y: vec![],
        together: false,
        broken: &["no barrier after the loads", "none before the next tile"],
    }
    .check();
}

#[kernel]
fn broadcasts(x: Global<u32>, y: GlobalMut<u32>, how: u32) {
    let (i, word) = (thread::thread_idx_x(), shared::dynamic().array::<u32>(1));
    let mut sum = 0;
    for round in 0..3 {
        if i == round * 20 || how == 3 {
            word.write(0, x.read(round));
        }
        sync_if(how != 1);
        sum += word.read(0);
        sync_if(how != 2);
    }
    y.write(i, sum);
}

#[test]
fn broadcast() {
    Attack {
        name: "broadcast",
        launch: broadcasts::launch,
        config: LaunchConfig::linear(1, 64).shared(4),
        x: vec![3, 5, 9],
        y: vec![],
        expected: vec![17; 64],
        together: false,
        broken: &["read before it is there", "written while it is read", "written by all"],
    }
    .check();
}

#[kernel]
fn any_of(x: Global<u32>, y: GlobalMut<u32>, how: u32) {
    let (i, flag) = (thread::thread_idx_x(), shared::dynamic().array::<u32>(1));
    if i == 5 && how != 3 {
        flag.write(0, 0);
    }
    sync_if(how != 2);
    if x.read(i) > 50 {
        if how == 1 {
            flag.write(0, 1);
        } else {
            flag.atomic(0).fetch_or(1, Ordering::Relaxed, Scope::Block);
        }
    }
    thread::sync_threads();
    y.write(i, flag.read(0));
}

#[test]
fn any() {
    Attack {
        name: "any",
        launch: any_of::launch,
        config: LaunchConfig::linear(1, 64).shared(4),
        x: counting(64),
        y: vec![],
        expected: vec![1; 64],
        together: false,
        broken: &["plain stores of one value", "no barrier after clearing", "never cleared"],
    }
    .check();
}

#[kernel]
fn compacts(x: Global<u32>, y: GlobalMut<u32>, how: u32) {
    let (i, mut shared) = (thread::thread_idx_x(), shared::dynamic());
    let (count, kept) = (shared.array::<u32>(1), shared.array::<u32>(64));
    if i == 0 {
        count.write(0, 0);
    }
    sync_if(how != 1);
    let value = x.read(i);
    if value > 50 {
        let at = if how == 2 {
            let at = count.read(0);
            count.write(0, at + 1);
            at
        } else {
            count.atomic(0).fetch_add(1, Ordering::Relaxed, Scope::Block)
        };
        kept.write(at, value);
    }
    sync_if(how != 3);
    // Their sum, by one: the order is anybody's.
    if i == 63 {
        let mut sum = 0;
        let most = if how == 4 { count.read(0) + 1 } else { count.read(0) };
        for k in 0..most {
            sum += kept.read(k);
        }
        y.write(0, sum);
    }
}

#[test]
fn compaction() {
    let x = counting(64);
    Attack {
        name: "compaction",
        launch: compacts::launch,
        config: LaunchConfig::linear(1, 64).shared(260),
        expected: vec![x.iter().filter(|&&v| v > 50).sum()],
        x,
        y: vec![],
        together: false,
        broken: &["no barrier after clearing", "no atomic", "no barrier at the end", "one element too many"],
    }
    .check();
}

#[kernel]
fn smooths(x: Global<u32>, y: GlobalMut<u32>, how: u32) {
    let (i, tile) = (thread::thread_idx_x(), shared::dynamic().array::<u32>(66));
    let at = thread::block_idx_x() * 64 + i;
    tile.write(i + 1, x.read(at + 1));
    if i == 0 && how != 2 {
        tile.write(0, x.read(at));
    }
    if i == 63 && how != 3 {
        tile.write(65, x.read(at + 2));
    }
    sync_if(how != 1);
    let right = if how == 4 { i + 3 } else { i + 2 };
    y.write(at, tile.read(i) + tile.read(i + 1) + tile.read(right));
}

#[test]
fn stencil() {
    let x = counting(130);
    Attack {
        name: "stencil",
        launch: smooths::launch,
        config: LaunchConfig::linear(2, 64).shared(4 * 66),
        expected: (0..128).map(|i| x[i] + x[i + 1] + x[i + 2]).collect(),
        x,
        y: vec![],
        together: false,
        broken: &["no barrier", "no left halo", "no right halo", "one too far"],
    }
    .check();
}

#[kernel]
fn passes_on(x: Global<u32>, y: GlobalMut<u32>, how: u32) {
    let (i, ring) = (thread::thread_idx_x(), shared::dynamic().array::<u32>(48));
    ring.write(i, x.read(i));
    for round in 0..4 {
        sync_if(how != 1);
        let next = ring.read((i + 1) % 48);
        sync_if(how != 2 && !(how == 3 && round == 3));
        ring.write(i, next);
    }
    y.write(i, ring.read(i));
}

#[test]
fn ring() {
    let x = counting(48);
    Attack {
        name: "ring",
        launch: passes_on::launch,
        config: LaunchConfig::linear(1, 48).shared(192),
        expected: (0..48).map(|i| x[(i + 4) % 48]).collect(),
        x,
        y: vec![],
        together: false,
        broken: &["no barrier before reading", "none before writing", "none in the last round"],
    }
    .check();
}
