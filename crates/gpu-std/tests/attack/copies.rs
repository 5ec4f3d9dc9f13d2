//! Asynchronous copies into shared memory: waits, groups and barriers.

use gpu_std::async_copy;
use gpu_std::launch::LaunchConfig;
use gpu_std::prelude::*;

use crate::Attack;

fn counting(n: u32) -> Vec<u32> {
    (0..n).map(|i| (i * 7 + 3) % 101).collect()
}

#[kernel]
fn loads_a_tile(x: Global<u32>, y: GlobalMut<u32>, how: u32) {
    let (i, tile) = (thread::thread_idx_x(), shared::dynamic().array::<u32>(64));
    async_copy::copy::<u32, 1>(tile, i, x, i);
    if how != 3 {
        async_copy::commit();
    }
    match how {
        1 => {}
        2 => async_copy::wait::<1>(),
        _ => async_copy::wait::<0>(),
    }
    if how == 5 {
        warp::sync_warp(warp::FULL);
    } else if how != 4 {
        thread::sync_threads();
    }
    if how == 6 {
        async_copy::copy::<u32, 1>(tile, i, x, 63 - i);
        async_copy::commit();
    }
    y.write(i, tile.read(if how == 7 { i } else { 63 - i }));
    if how == 6 {
        async_copy::wait::<0>();
    }
}

#[test]
fn tile() {
    let x = counting(64);
    Attack {
        name: "tile by cp.async",
        launch: loads_a_tile::launch,
        config: LaunchConfig::linear(1, 64).shared(256),
        expected: x.iter().rev().copied().collect(),
        x,
        y: vec![],
        together: false,
        broken: &[
            "no wait",
            "a wait for all but one group",
            "no commit",
            "no barrier",
            "a barrier of the warp",
            "the next copy while others read",
        ],
    }
    .check();
}

/// Four tiles through two buffers.
#[kernel]
fn pipelines(x: Global<u32>, y: GlobalMut<u32>, how: u32) {
    let (i, mut shared) = (thread::thread_idx_x(), shared::dynamic());
    let buffers = [shared.array::<u32>(64), shared.array::<u32>(64)];
    async_copy::copy::<u32, 1>(buffers[0], i, x, i);
    async_copy::commit();
    let mut sum = 0;
    for tile in 0..4u32 {
        if tile < 3 {
            let ahead = if how == 4 { tile } else { tile + 1 };
            async_copy::copy::<u32, 1>(buffers[ahead as usize % 2], i, x, (tile + 1) * 64 + i);
            async_copy::commit();
            async_copy::wait::<1>();
        } else if how != 1 {
            async_copy::wait::<0>();
        }
        if how != 2 {
            thread::sync_threads();
        }
        sum += buffers[tile as usize % 2].read(63 - i);
        if how != 3 {
            thread::sync_threads();
        }
    }
    y.write(i, sum);
}

#[test]
fn pipeline() {
    let x = counting(256);
    Attack {
        name: "pipeline",
        launch: pipelines::launch,
        config: LaunchConfig::linear(1, 64).shared(512),
        expected: (0..64).map(|i| (0..4).map(|tile| x[tile * 64 + 63 - i]).sum()).collect(),
        x,
        y: vec![],
        together: false,
        broken: &[
            "no wait for the last",
            "no barrier before reading",
            "none after",
            "into the buffer in use",
        ],
    }
    .check();
}

/// The source is written while it may still be read.
#[kernel]
fn overwrites(x: Global<u32>, y: GlobalMut<u32>, how: u32) {
    let (i, tile) = (thread::thread_idx_x(), shared::dynamic().array::<u32>(32));
    async_copy::copy::<u32, 1>(tile, i, y.as_global(), i);
    async_copy::commit();
    if how == 1 {
        y.write(i, x.read(i));
    }
    if how == 2 {
        thread::sync_threads();
        y.write(31 - i, x.read(i));
    }
    async_copy::wait::<0>();
    if how != 3 {
        thread::sync_threads();
    }
    y.write(31 - i, tile.read(i));
}

#[test]
fn sources() {
    Attack {
        name: "source of cp.async",
        launch: overwrites::launch,
        config: LaunchConfig::linear(1, 32).shared(128),
        x: counting(32),
        y: (0..32).collect(),
        expected: (0..32).rev().collect(),
        together: false,
        broken: &["written by its thread", "written by another", "written without a barrier"],
    }
    .check();
}
