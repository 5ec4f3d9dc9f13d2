//! Clusters: what goes wrong with their copies, their shared memory and their barrier.

use gpu_sim::{Fault, FaultKind, Simulator};
use gpu_std::barrier::{Barrier, fence_init};
use gpu_std::cluster::{self, Remote};
use gpu_std::launch::LaunchConfig;
use gpu_std::prelude::*;
use gpu_std::tensor_map::{Format, Swizzle, Tensor, TensorMap};

use crate::harness::*;

/// Bytes of a box, 4 rows of 128 bytes: what each of two blocks brings of a stage.
pub const HALF: u32 = 512;
/// Rounds through the rings.
const ROUNDS: u32 = 5;

/// The map of words as a matrix with rows of 32, in boxes of 4 rows.
pub fn map_of(address: u64, rows: u32) -> TensorMap {
    TensorMap::simulated(Tensor {
        address,
        format: Format::U32,
        extents: [32, rows.into(), 1],
        strides: [128, 128 * u64::from(rows)],
        tile: [32, 4, 1],
        swizzle: Swizzle::None,
    })
    .expect("a tensor that fits")
}

fn is_gone(fault: &Fault) -> bool {
    matches!(fault.kind, FaultKind::BlockOfCluster { what, .. } if what.contains("is gone"))
}

fn has_not_begun(fault: &Fault) -> bool {
    matches!(fault.kind, FaultKind::BlockOfCluster { what, .. } if what.contains("not begun"))
}

pub fn races(fault: &Fault) -> bool {
    matches!(fault.kind, FaultKind::Race { .. } | FaultKind::AsyncNotWaited { .. })
}

fn diverges(fault: &Fault) -> bool {
    matches!(fault.kind, FaultKind::ClusterDivergence { .. })
}

// ---- rings of two blocks -----------------------------------------------------------------------------------------

pub type Ring = unsafe fn(&Simulator, LaunchConfig, TensorMap, GlobalMut<u32>) -> Result<(), Fault>;

/// Two clusters of two blocks, of which each block writes all the words.
fn run(seed: u64, launch: Ring) -> Result<Words, Fault> {
    let simulator = Simulator::new(config(seed));
    let words = Words::counting(&simulator, 256 * ROUNDS);
    let map = map_of(words.global().address(), 8 * ROUNDS);
    let y = Words::unwritten(&simulator, (4 * 256 * ROUNDS) as usize);
    let config = LaunchConfig::linear(4, 64).shared(4 * HALF + 4 * 8);
    // SAFETY: the simulator checks every access.
    unsafe { launch(&simulator, config, map, y.global_mut()) }?;
    Ok(y)
}

#[device]
fn places() -> (Shared<u32>, Shared<u64>) {
    let mut shared = shared::dynamic();
    (shared.array(4 * HALF / 4), shared.array(4))
}

#[device]
fn begin(barriers: Shared<u64>, empties: u32) {
    if thread::thread_idx_x() == 0 {
        for stage in 0..2 {
            Barrier::at(barriers, stage).init(1);
            Barrier::at(barriers, 2 + stage).init(empties);
        }
        fence_init();
    }
    cluster::sync();
}

/// A warp's copy of the stage to global memory.
#[device]
fn write_out(y: GlobalMut<u32>, tile: Shared<u32>, round: u32) {
    let lane = thread::thread_idx_x() % 32;
    for row in 0..8 {
        let word = tile.read(32 * row + lane); // FAULT: waits_for_its_own_readers
        y.write(256 * (thread::block_idx_x() * ROUNDS + round) + 32 * row + lane, word);
    }
}

macro_rules! rings {
    ($(
        $name:ident: $empties:literal, $last:literal,
        |$map:ident, $full:ident, $empty:ident, $tile:ident, $place:ident| $fill:block $free:block
    )*) => { $(
        #[kernel(cluster = 2)]
        fn $name($map: TensorMap, y: GlobalMut<u32>) {
            let (tiles, barriers) = places();
            begin(barriers, $empties);
            for round in 0..ROUNDS {
                let stage = round % 2;
                let ($full, $empty) = (Barrier::at(barriers, stage), Barrier::at(barriers, 2 + stage));
                let tile = tiles.offset(stage * 2 * HALF / 4);
                if thread::thread_idx_x() == 0 {
                    $empty.wait((round / 2 % 2) ^ 1);
                    let $place = [0, 8 * round + 4 * cluster::rank(), 0];
                    let $tile = tile.offset(cluster::rank() * HALF / 4);
                    $fill
                }
                if thread::thread_idx_x() >= 32 {
                    $full.wait(round / 2 % 2);
                    write_out(y, tile, round);
                    $free
                }
            }
            if $last {
                cluster::sync();
            }
        }
    )* };
}

rings! {
    is_a_ring_of_two: 64, true, |map, full, empty, tile, place| {
        full.arrive_expect(2 * HALF);
        map.load_multicast(tile, full, place, 0b11);
    } {
        empty.free_at(0);
        empty.free_at(1);
    }

    waits_for_its_own_readers: 32, true, |map, full, empty, tile, place| {
        full.arrive_expect(2 * HALF);
        map.load_multicast(tile, full, place, 0b11); // FAULT: waits_for_its_own_readers
    } {
        empty.arrive();
    }

    leaves_readers_of_the_other_block_behind: 64, false, |map, full, empty, tile, place| {
        full.arrive_expect(2 * HALF);
        map.load_multicast(tile, full, place, 0b11);
    } {
        empty.free_at(0); // FAULT: leaves_readers_of_the_other_block_behind
        empty.free_at(1); // FAULT: leaves_readers_of_the_other_block_behind
    }
}

macro_rules! multicasts {
    ($($name:ident: |$map:ident, $full:ident, $tile:ident, $place:ident| $start:block $wait:block $read:expr;)*) => { $(
        /// Two copies to both blocks.
        #[kernel(cluster = 2)]
        fn $name($map: TensorMap, y: GlobalMut<u32>) {
            let (tiles, barriers) = places();
            begin(barriers, 1);
            let $full = Barrier::at(barriers, 0);
            if thread::thread_idx_x() == 0 {
                let ($tile, $place) = (tiles.offset(cluster::rank() * HALF / 4), [0, 4 * cluster::rank(), 0]);
                $start
            }
            $wait;
            let $tile = tiles;
            y.write(thread::index_1d(), $read);
            cluster::sync();
        }
    )* };
}

multicasts! {
    announces_half: |map, full, tile, place| {
        full.arrive_expect(HALF);
        map.load_multicast(tile, full, place, 0b11); // FAULT: announces_half
    } {
        full.wait(0);
    } tile.read(4 * thread::thread_idx_x()); // FAULT: announces_half

    announces_too_much: |map, full, tile, place| {
        full.arrive_expect(2 * HALF + 16);
        map.load_multicast(tile, full, place, 0b11);
    } {
        full.wait(0); // FAULT: announces_too_much
    } tile.read(4 * thread::thread_idx_x());

    sends_to_a_block_that_does_not_expect_it: |map, full, tile, place| {
        full.arrive_expect(if cluster::rank() == 0 { 2 * HALF } else { HALF });
        map.load_multicast(tile, full, place, 0b11); // FAULT: sends_to_a_block_that_does_not_expect_it
    } {
        full.wait(0);
    } tile.read(4 * thread::thread_idx_x()); // FAULT: sends_to_a_block_that_does_not_expect_it
}

/// Barriers that the other block has not been told of.
#[kernel(cluster = 2)]
fn begins_alone(map: TensorMap, y: GlobalMut<u32>) {
    let (tiles, barriers) = places();
    let full = Barrier::at(barriers, 0);
    if thread::thread_idx_x() == 0 {
        full.init(1);
        fence_init();
        full.arrive_expect(2 * HALF);
        let rank = cluster::rank();
        map.load_multicast(tiles.offset(rank * HALF / 4), full, [0, 4 * rank, 0], 0b11); // FAULT: begins_alone
    }
    thread::sync_threads();
    full.wait(0);
    y.write(thread::index_1d(), tiles.read(thread::thread_idx_x()));
    cluster::sync();
}

/// Barriers that the copies of the other block have not been told of.
#[kernel(cluster = 2)]
fn lacks_the_fence_for_the_other_block(map: TensorMap, y: GlobalMut<u32>) {
    let (tiles, barriers) = places();
    let full = Barrier::at(barriers, 0);
    if thread::thread_idx_x() == 0 {
        full.init(1);
    }
    cluster::sync();
    if thread::thread_idx_x() == 0 && cluster::rank() == 0 {
        full.arrive_expect(HALF);
        map.load_multicast(tiles, full, [0; 3], 0b10); // FAULT: lacks_the_fence_for_the_other_block
    }
    cluster::sync();
    y.write(thread::index_1d(), 0);
}

#[test]
fn rings_of_two() {
    bounded("rings_of_two", |tally| {
        let words: Vec<u32> = (0..4).flat_map(|_| 0..256 * ROUNDS).collect();
        for seed in 0..SEEDS / 5 {
            assert_eq!(run(seed, is_a_ring_of_two::launch).map(|y| y.get()).expect("it is right"), words);
        }
        tally.caught(waits_for_its_own_readers::META, races, |seed| {
            run(seed, waits_for_its_own_readers::launch)
        });
        tally.caught(leaves_readers_of_the_other_block_behind::META, is_gone, |seed| {
            run(seed, leaves_readers_of_the_other_block_behind::launch)
        });
        // Where the one has come before the other is started, that writes what is read.
        let early = |fault: &Fault| races(fault) || matches!(fault.kind, FaultKind::TransactionBytes { .. });
        tally.caught(announces_half::META, early, |seed| run(seed, announces_half::launch));
        tally.caught(sends_to_a_block_that_does_not_expect_it::META, early, |seed| {
            run(seed, sends_to_a_block_that_does_not_expect_it::launch)
        });
        let never = |fault: &Fault| matches!(fault.kind, FaultKind::NoSuchPhase { .. });
        tally.caught(announces_too_much::META, never, |seed| run(seed, announces_too_much::launch));
        let alone = |fault: &Fault| matches!(fault.kind, FaultKind::BlockOfCluster { .. });
        tally.caught(begins_alone::META, alone, |seed| run(seed, begins_alone::launch));
        let fence = |fault: &Fault| matches!(fault.kind, FaultKind::NoProxyFence { .. });
        tally.caught(lacks_the_fence_for_the_other_block::META, fence, |seed| {
            run(seed, lacks_the_fence_for_the_other_block::launch)
        });
    });
}

// ---- each other's shared memory ----------------------------------------------------------------------------------

fn exchanged(seed: u64, launch: Launch) -> Result<Vec<u32>, Fault> {
    let simulator = Simulator::new(config(seed));
    let x = Words::counting(&simulator, 256);
    let y = Words::unwritten(&simulator, 256);
    let config = LaunchConfig::linear(4, 64).shared(256 + 16);
    // SAFETY: the simulator checks every access.
    unsafe { launch(&simulator, config, x.global(), y.global_mut()) }?;
    Ok(y.get())
}

#[device]
fn words() -> (Shared<u32>, Barrier) {
    let mut shared = shared::dynamic();
    let words = shared.array(64);
    (words, Barrier::at(shared.array(1), 0))
}

/// Each block reads the other's words.
#[kernel(cluster = 2)]
fn exchanges(x: Global<u32>, y: GlobalMut<u32>) {
    let (words, _) = words();
    let i = thread::thread_idx_x();
    words.write(i, x.read(thread::index_1d()));
    cluster::sync();
    y.write(thread::index_1d(), Remote::of(words, cluster::rank() ^ 1).read(i));
    cluster::sync();
}

#[kernel(cluster = 2)]
fn ends_while_its_memory_is_read(x: Global<u32>, y: GlobalMut<u32>) {
    let (words, _) = words();
    let i = thread::thread_idx_x();
    words.write(i, x.read(thread::index_1d()));
    cluster::sync();
    let other = Remote::of(words, cluster::rank() ^ 1);
    y.write(thread::index_1d(), other.read(i)); // FAULT: ends_while_its_memory_is_read
}

#[kernel(cluster = 2)]
fn reads_what_is_not_there_yet(x: Global<u32>, y: GlobalMut<u32>) {
    let (words, _) = words();
    let i = thread::thread_idx_x();
    cluster::sync();
    words.write(i, x.read(thread::index_1d())); // FAULT: reads_what_is_not_there_yet
    thread::sync_threads();
    let other = Remote::of(words, cluster::rank() ^ 1);
    y.write(thread::index_1d(), other.read(i)); // FAULT: reads_what_is_not_there_yet
    cluster::sync();
}

#[kernel(cluster = 2)]
fn writes_where_nobody_has_begun(x: Global<u32>, y: GlobalMut<u32>) {
    let (words, _) = words();
    let i = thread::thread_idx_x();
    let other = Remote::of(words, cluster::rank() ^ 1);
    other.write(i, x.read(thread::index_1d())); // FAULT: writes_where_nobody_has_begun
    cluster::sync();
    y.write(thread::index_1d(), words.read(i));
}

macro_rules! messages {
    ($($name:ident: |$barrier:ident, $other:ident, $words:ident, $i:ident| $say:block $hear:block $take:expr;)*) => { $(
        /// Words for the other block, whose barrier says when they are there.
        #[kernel(cluster = 2)]
        fn $name(x: Global<u32>, y: GlobalMut<u32>) {
            let ($words, $barrier) = words();
            let $i = thread::thread_idx_x();
            if $i == 0 {
                $barrier.init(64);
            }
            cluster::sync();
            let $other = cluster::rank() ^ 1;
            let there = Remote::of($words, $other);
            let word = x.read(thread::index_1d());
            put(there, $i, word);
            $say;
            $hear;
            y.write(thread::index_1d(), $take);
            cluster::sync();
        }
    )* };
}

#[device]
fn put(there: Remote<u32>, i: u32, word: u32) {
    there.write(i, word); // FAULT: frees_what_it_has_written
}

messages! {
    sends_messages: |barrier, other, words, i| {
        barrier.arrive_at(other);
    } {
        barrier.wait_cluster(0);
    } words.read(63 - i);

    frees_what_it_has_written: |barrier, other, words, i| {
        barrier.free_at(other);
    } {
        barrier.wait_cluster(0);
    } words.read(63 - i); // FAULT: frees_what_it_has_written
}

/// As those, but that the wait is of the block.
#[kernel(cluster = 2)]
fn acquires_too_little(x: Global<u32>, y: GlobalMut<u32>) {
    let (words, barrier) = words();
    let i = thread::thread_idx_x();
    if i == 0 {
        barrier.init(64);
    }
    cluster::sync();
    let other = cluster::rank() ^ 1;
    Remote::of(words, other).write(i, x.read(thread::index_1d())); // FAULT: acquires_too_little
    barrier.arrive_at(other);
    barrier.wait(0);
    y.write(thread::index_1d(), words.read(63 - i)); // FAULT: acquires_too_little
    cluster::sync();
}

#[test]
fn distributed_shared_memory() {
    bounded("distributed_shared_memory", |tally| {
        let swapped: Vec<u32> = (0..256).map(|i| i ^ 64).collect();
        tally.passes(exchanges::META, &swapped, |seed| exchanged(seed, exchanges::launch));
        let mirrored: Vec<u32> = (0..256).map(|i| (i ^ 64) ^ 63).collect();
        tally.passes(sends_messages::META, &mirrored, |seed| exchanged(seed, sends_messages::launch));
        tally.caught(ends_while_its_memory_is_read::META, is_gone, |seed| {
            exchanged(seed, ends_while_its_memory_is_read::launch)
        });
        tally.caught(reads_what_is_not_there_yet::META, races, |seed| {
            exchanged(seed, reads_what_is_not_there_yet::launch)
        });
        tally.caught(writes_where_nobody_has_begun::META, has_not_begun, |seed| {
            exchanged(seed, writes_where_nobody_has_begun::launch)
        });
        tally.caught(frees_what_it_has_written::META, races, |seed| {
            exchanged(seed, frees_what_it_has_written::launch)
        });
        tally.caught(acquires_too_little::META, races, |seed| exchanged(seed, acquires_too_little::launch));
    });
}

// ---- the cluster's barrier ---------------------------------------------------------------------------------------

#[kernel(cluster = 2)]
fn meets_in_two_branches(x: Global<u32>, y: GlobalMut<u32>) {
    if thread::thread_idx_x().is_multiple_of(2) {
        cluster::arrive(); // FAULT: meets_in_two_branches
        y.write(thread::index_1d(), x.read(thread::index_1d()));
    } else {
        y.write(thread::index_1d(), x.read(thread::index_1d()));
        cluster::arrive(); // FAULT: meets_in_two_branches
    }
    cluster::wait();
}

#[kernel(cluster = 2)]
fn meets_without_a_block(x: Global<u32>, y: GlobalMut<u32>) {
    y.write(thread::index_1d(), x.read(thread::index_1d()));
    if cluster::rank() == 0 {
        cluster::arrive(); // FAULT: meets_without_a_block
        cluster::wait();
    }
}

#[kernel(cluster = 2)]
fn meets_without_a_warp(x: Global<u32>, y: GlobalMut<u32>) {
    y.write(thread::index_1d(), x.read(thread::index_1d()));
    if thread::thread_idx_x() < 32 {
        cluster::arrive();
        cluster::wait(); // FAULT: meets_without_a_warp
    } else {
        thread::sync_threads(); // FAULT: meets_without_a_warp
    }
}

#[kernel(cluster = 2)]
fn waits_without_having_arrived(x: Global<u32>, y: GlobalMut<u32>) {
    y.write(thread::index_1d(), x.read(thread::index_1d()));
    cluster::wait(); // FAULT: waits_without_having_arrived
}

#[kernel(cluster = 2)]
fn arrives_twice(x: Global<u32>, y: GlobalMut<u32>) {
    cluster::arrive();
    y.write(thread::index_1d(), x.read(thread::index_1d()));
    cluster::arrive(); // FAULT: arrives_twice
    cluster::wait();
}

#[test]
fn barriers_of_clusters() {
    bounded("barriers_of_clusters", |tally| {
        tally.caught(meets_in_two_branches::META, diverges, |seed| {
            exchanged(seed, meets_in_two_branches::launch)
        });
        tally.caught(meets_without_a_block::META, diverges, |seed| {
            exchanged(seed, meets_without_a_block::launch)
        });
        tally.caught(meets_without_a_warp::META, diverges, |seed| {
            exchanged(seed, meets_without_a_warp::launch)
        });
        tally.caught(waits_without_having_arrived::META, diverges, |seed| {
            exchanged(seed, waits_without_having_arrived::launch)
        });
        tally.caught(arrives_twice::META, diverges, |seed| exchanged(seed, arrives_twice::launch));
        let simulator = Simulator::default();
        let (x, y) = (Words::counting(&simulator, 96), Words::unwritten(&simulator, 96));
        let config = LaunchConfig::linear(3, 32).shared(256 + 16);
        // SAFETY: the simulator checks every access.
        let fault = unsafe { exchanges::launch(&simulator, config, x.global(), y.global_mut()) }.unwrap_err();
        assert_eq!(fault.kind, FaultKind::PartialCluster { blocks: 3, cluster: 2 });
    });
}
