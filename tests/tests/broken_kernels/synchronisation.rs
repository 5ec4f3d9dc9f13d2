//! Barriers and warp collectives that are missing, or that not everybody reaches.

use gpu_sim::{Fault, FaultKind, Simulator, Space};
use gpu_std::launch::LaunchConfig;
use gpu_std::prelude::*;

use crate::harness::*;

/// One block with a word of shared memory for each thread.
fn block(seed: u64, threads: u32, launch: Launch) -> Result<Vec<u32>, Fault> {
    let simulator = Simulator::new(config(seed));
    let (x, y) = (Words::counting(&simulator, threads), Words::unwritten(&simulator, threads as usize));
    let config = LaunchConfig::linear(1, threads).shared(4 * threads);
    // SAFETY: the simulator checks every access.
    unsafe { launch(&simulator, config, x.global(), y.global_mut()) }?;
    Ok(y.get())
}

/// A race on shared memory between two threads whose numbers add up to `sum`.
fn mirror_images(fault: &Fault, sum: u32) -> bool {
    matches!(fault.kind, FaultKind::Race { space: Space::Shared, .. })
        && (place(fault).0, other_place(fault).0) == (0, 0)
        && place(fault).1 + other_place(fault).1 == sum
}

// ---- missing barrier ---------------------------------------------------------------------------------------------

#[kernel]
fn lacks_a_barrier(x: Global<u32>, y: GlobalMut<u32>) {
    let i = thread::thread_idx_x();
    let tile: Shared<u32> = shared::dynamic().array(64);
    tile.write(i, x.read(i)); // FAULT: lacks_a_barrier
    y.write(i, tile.read(63 - i)); // FAULT: lacks_a_barrier
}

#[kernel]
fn has_only_a_warp_barrier(x: Global<u32>, y: GlobalMut<u32>) {
    let i = thread::thread_idx_x();
    let tile: Shared<u32> = shared::dynamic().array(64);
    tile.write(i, x.read(i)); // FAULT: has_only_a_warp_barrier
    warp::sync_warp(warp::FULL);
    y.write(i, tile.read(63 - i)); // FAULT: has_only_a_warp_barrier
}

#[kernel]
fn lacks_the_second_barrier(x: Global<u32>, y: GlobalMut<u32>) {
    let i = thread::thread_idx_x();
    let tile: Shared<u32> = shared::dynamic().array(64);
    let mut sum = 0;
    for round in 0..2 {
        tile.write(i, round + x.read(i)); // FAULT: lacks_the_second_barrier
        thread::sync_threads();
        sum += tile.read(63 - i); // FAULT: lacks_the_second_barrier
    }
    y.write(i, sum);
}

#[kernel]
fn has_both_barriers(x: Global<u32>, y: GlobalMut<u32>) {
    let i = thread::thread_idx_x();
    let tile: Shared<u32> = shared::dynamic().array(64);
    let mut sum = 0;
    for round in 0..2 {
        tile.write(i, round + x.read(i));
        thread::sync_threads();
        sum += tile.read(63 - i);
        thread::sync_threads();
    }
    y.write(i, sum);
}

#[test]
fn missing_barrier() {
    bounded("missing barrier", |tally| {
        let expected = |fault: &Fault| mirror_images(fault, 63);
        tally.caught(lacks_a_barrier::META, expected, |seed| block(seed, 64, lacks_a_barrier::launch));
        let run = |seed| block(seed, 64, has_only_a_warp_barrier::launch);
        tally.caught(has_only_a_warp_barrier::META, expected, run);
        let run = |seed| block(seed, 64, lacks_the_second_barrier::launch);
        tally.caught(lacks_the_second_barrier::META, expected, run);
        let result: Vec<u32> = (0..64).rev().map(|i| 2 * i + 1).collect();
        tally.passes(has_both_barriers::META, &result, |seed| block(seed, 64, has_both_barriers::launch));
    });
}

// ---- missing sync_warp -------------------------------------------------------------------------------------------

#[kernel]
fn lacks_sync_warp(x: Global<u32>, y: GlobalMut<u32>) {
    let lane = warp::lane_id();
    let tile: Shared<u32> = shared::dynamic().array(32);
    tile.write(lane, x.read(lane)); // FAULT: lacks_sync_warp
    y.write(lane, tile.read(31 - lane)); // FAULT: lacks_sync_warp
}

#[kernel]
fn syncs_half_warps(x: Global<u32>, y: GlobalMut<u32>) {
    let lane = warp::lane_id();
    let tile: Shared<u32> = shared::dynamic().array(32);
    tile.write(lane, x.read(lane)); // FAULT: syncs_half_warps
    warp::sync_warp(if lane < 16 { 0x0000_ffff } else { 0xffff_0000 });
    y.write(lane, tile.read(31 - lane)); // FAULT: syncs_half_warps
}

#[kernel]
fn votes_instead_of_sync_warp(x: Global<u32>, y: GlobalMut<u32>) {
    let lane = warp::lane_id();
    let tile: Shared<u32> = shared::dynamic().array(32);
    tile.write(lane, x.read(lane)); // FAULT: votes_instead_of_sync_warp
    let all = warp::warp_vote_all(warp::FULL, true);
    y.write(lane, u32::from(all) * tile.read(31 - lane)); // FAULT: votes_instead_of_sync_warp
}

#[kernel]
fn has_sync_warp(x: Global<u32>, y: GlobalMut<u32>) {
    let lane = warp::lane_id();
    let tile: Shared<u32> = shared::dynamic().array(32);
    tile.write(lane, x.read(lane));
    warp::sync_warp(warp::FULL);
    y.write(lane, tile.read(31 - lane));
}

#[test]
fn missing_sync_warp() {
    bounded("missing sync_warp", |tally| {
        let expected = |fault: &Fault| mirror_images(fault, 31);
        tally.caught(lacks_sync_warp::META, expected, |seed| block(seed, 32, lacks_sync_warp::launch));
        tally.caught(syncs_half_warps::META, expected, |seed| block(seed, 32, syncs_half_warps::launch));
        let run = |seed| block(seed, 32, votes_instead_of_sync_warp::launch);
        tally.caught(votes_instead_of_sync_warp::META, expected, run);
        let result: Vec<u32> = (0..32).rev().collect();
        tally.passes(has_sync_warp::META, &result, |seed| block(seed, 32, has_sync_warp::launch));
    });
}

// ---- barrier under divergence ------------------------------------------------------------------------------------

#[kernel]
fn guards_its_barrier(x: Global<u32>, y: GlobalMut<u32>) {
    let i = thread::thread_idx_x();
    let tile: Shared<u32> = shared::dynamic().array(64);
    if i < 48 {
        tile.write(i, x.read(i));
        thread::sync_threads(); // FAULT: guards_its_barrier
        y.write(i, tile.read(47 - i));
    }
}

#[kernel]
fn returns_before_the_barrier(x: Global<u32>, y: GlobalMut<u32>) {
    let i = thread::thread_idx_x();
    let tile: Shared<u32> = shared::dynamic().array(64);
    if i >= 48 {
        y.write(i, 0);
        return;
    }
    tile.write(i, x.read(i));
    thread::sync_threads(); // FAULT: returns_before_the_barrier
    y.write(i, tile.read(47 - i));
}

#[kernel]
fn has_a_barrier_on_either_way(x: Global<u32>, y: GlobalMut<u32>) {
    let i = thread::thread_idx_x();
    let tile: Shared<u32> = shared::dynamic().array(64);
    if i < 48 {
        tile.write(i, x.read(i));
        thread::sync_threads(); // FAULT: has_a_barrier_on_either_way
        y.write(i, tile.read(47 - i));
    } else {
        thread::sync_threads(); // FAULT: has_a_barrier_on_either_way
        y.write(i, 0);
    }
}

#[kernel]
fn shares_its_barrier(x: Global<u32>, y: GlobalMut<u32>) {
    let i = thread::thread_idx_x();
    let tile: Shared<u32> = shared::dynamic().array(64);
    if i < 48 {
        tile.write(i, x.read(i));
    }
    thread::sync_threads();
    y.write(i, if i < 48 { tile.read(47 - i) } else { 0 });
}

#[test]
fn barrier_under_divergence() {
    bounded("barrier under divergence", |tally| {
        let expected = |fault: &Fault| {
            let (block, thread) = place(fault);
            matches!(fault.kind, FaultKind::BarrierDivergence { .. }) && block == 0 && thread < 48
        };
        tally.caught(guards_its_barrier::META, expected, |seed| block(seed, 64, guards_its_barrier::launch));
        let run = |seed| block(seed, 64, returns_before_the_barrier::launch);
        tally.caught(returns_before_the_barrier::META, expected, run);
        // Here everybody waits, at one barrier or the other: who came second is at fault.
        let expected = |fault: &Fault| {
            matches!(fault.kind, FaultKind::BarrierDivergence { .. }) && !fault.waiters.is_empty()
        };
        let run = |seed| block(seed, 64, has_a_barrier_on_either_way::launch);
        tally.caught(has_a_barrier_on_either_way::META, expected, run);
        let result: Vec<u32> = (0..48).rev().chain([0; 16]).collect();
        tally.passes(shares_its_barrier::META, &result, |seed| block(seed, 64, shares_its_barrier::launch));
    });
}

// ---- shuffle under divergence ------------------------------------------------------------------------------------

#[kernel]
fn leaves_a_lane_out(x: Global<u32>, y: GlobalMut<u32>) {
    let i = thread::thread_idx_x();
    let value = x.read(i);
    if i != 37 {
        y.write(i, warp::shuffle_xor(warp::FULL, value, 1)); // FAULT: leaves_a_lane_out
    } else {
        y.write(i, value);
    }
}

#[kernel]
fn brings_every_lane(x: Global<u32>, y: GlobalMut<u32>) {
    let i = thread::thread_idx_x();
    let value = x.read(i);
    let neighbour = warp::shuffle_xor(warp::FULL, value, 1);
    y.write(i, if i != 37 { neighbour } else { value });
}

#[test]
fn shuffle_that_a_lane_never_reaches() {
    bounded("shuffle that a lane never reaches", |tally| {
        let expected = |fault: &Fault| {
            let kind = FaultKind::WarpDivergence {
                operation: "shuffle",
                mask: u32::MAX,
                missing: 1 << 5,
                detail: match &fault.kind {
                    FaultKind::WarpDivergence { detail, .. } => detail.clone(),
                    _ => return false,
                },
            };
            let (block, thread) = place(fault);
            fault.kind == kind && block == 0 && (32..64).contains(&thread) && thread != 37
        };
        tally.caught(leaves_a_lane_out::META, expected, |seed| block(seed, 64, leaves_a_lane_out::launch));
        let result: Vec<u32> = (0..64).map(|i| if i == 37 { 37 } else { i ^ 1 }).collect();
        tally.passes(brings_every_lane::META, &result, |seed| block(seed, 64, brings_every_lane::launch));
    });
}
