//! Bounds, bytes that nobody wrote, read-only loads, asynchronous copies.

use gpu_sim::{Direction, Fault, FaultKind, Simulator, Space};
use gpu_std::async_copy;
use gpu_std::launch::LaunchConfig;
use gpu_std::prelude::*;

use crate::harness::*;

// ---- global memory, out of bounds --------------------------------------------------------------------------------

#[kernel]
fn reads_past_the_end(x: Global<u32>, y: GlobalMut<u32>) {
    let i = thread::index_1d();
    y.write(i, x.read(i)); // FAULT: reads_past_the_end
}

#[kernel]
fn reads_inside(x: Global<u32>, y: GlobalMut<u32>) {
    let i = thread::index_1d();
    y.write(i, if i < 127 { x.read(i) } else { 0 });
}

fn read_127(seed: u64, launch: Launch) -> Result<Vec<u32>, Fault> {
    let simulator = Simulator::new(config(seed));
    let (x, y) = (Words::counting(&simulator, 127), Words::unwritten(&simulator, 128));
    // SAFETY: the simulator checks every access.
    unsafe { launch(&simulator, LaunchConfig::linear(4, 32), x.global(), y.global_mut()) }?;
    Ok(y.get())
}

#[test]
fn out_of_bounds_read_of_global_memory() {
    bounded("out-of-bounds read of global memory", |tally| {
        let expected = |fault: &Fault| {
            matches!(
                fault.kind,
                FaultKind::OutOfBounds {
                    space: Space::Global,
                    direction: Direction::Read,
                    offset: 508,
                    bytes: 4,
                    size: 508,
                    ..
                }
            ) && place(fault) == (3, 31)
        };
        tally.caught(reads_past_the_end::META, expected, |seed| read_127(seed, reads_past_the_end::launch));
        let result: Vec<u32> = (0..127).chain([0]).collect();
        tally.passes(reads_inside::META, &result, |seed| read_127(seed, reads_inside::launch));
    });
}

#[kernel]
fn writes_past_the_end(x: Global<u32>, y: GlobalMut<u32>) {
    let i = thread::index_1d();
    let twice = 2 * x.read(i);
    y.write(i, twice); // FAULT: writes_past_the_end
}

#[kernel]
fn writes_inside(x: Global<u32>, y: GlobalMut<u32>) {
    let i = thread::index_1d();
    if i < 127 {
        y.write(i, 2 * x.read(i));
    }
}

fn write_127(seed: u64, launch: Launch) -> Result<Vec<u32>, Fault> {
    let simulator = Simulator::new(config(seed));
    let (x, y) = (Words::counting(&simulator, 128), Words::unwritten(&simulator, 127));
    // SAFETY: the simulator checks every access.
    unsafe { launch(&simulator, LaunchConfig::linear(4, 32), x.global(), y.global_mut()) }?;
    Ok(y.get())
}

#[test]
fn out_of_bounds_write_of_global_memory() {
    bounded("out-of-bounds write of global memory", |tally| {
        let expected = |fault: &Fault| {
            matches!(
                fault.kind,
                FaultKind::OutOfBounds {
                    space: Space::Global,
                    direction: Direction::Write,
                    offset: 508,
                    size: 508,
                    ..
                }
            ) && place(fault) == (3, 31)
        };
        tally
            .caught(writes_past_the_end::META, expected, |seed| write_127(seed, writes_past_the_end::launch));
        let result: Vec<u32> = (0..127).map(|i| 2 * i).collect();
        tally.passes(writes_inside::META, &result, |seed| write_127(seed, writes_inside::launch));
    });
}

// ---- shared memory, out of bounds and never written --------------------------------------------------------------

#[kernel]
fn reads_past_the_tile(x: Global<u32>, y: GlobalMut<u32>) {
    let i = thread::thread_idx_x();
    let tile: Shared<u32> = shared::dynamic().array(32);
    tile.write(i, x.read(i));
    thread::sync_threads();
    y.write(i, tile.read(i + 1)); // FAULT: reads_past_the_tile
}

#[kernel]
fn reads_round_the_tile(x: Global<u32>, y: GlobalMut<u32>) {
    let i = thread::thread_idx_x();
    let tile: Shared<u32> = shared::dynamic().array(32);
    tile.write(i, x.read(i));
    thread::sync_threads();
    y.write(i, tile.read((i + 1) % 32));
}

#[kernel]
fn writes_past_the_tile(x: Global<u32>, y: GlobalMut<u32>) {
    let i = thread::thread_idx_x();
    let tile: Shared<u32> = shared::dynamic().array(32);
    tile.write(i + 1, x.read(i)); // FAULT: writes_past_the_tile
    thread::sync_threads();
    y.write(i, tile.read(i));
}

#[kernel]
fn writes_round_the_tile(x: Global<u32>, y: GlobalMut<u32>) {
    let i = thread::thread_idx_x();
    let tile: Shared<u32> = shared::dynamic().array(32);
    tile.write((i + 1) % 32, x.read(i));
    thread::sync_threads();
    y.write(i, tile.read(i));
}

#[kernel]
fn leaves_a_word_of_the_tile(x: Global<u32>, y: GlobalMut<u32>) {
    let i = thread::thread_idx_x();
    let tile: Shared<u32> = shared::dynamic().array(32);
    if i < 31 {
        tile.write(i, x.read(i));
    }
    thread::sync_threads();
    y.write(31 - i, tile.read(i)); // FAULT: leaves_a_word_of_the_tile
}

#[kernel]
fn fills_the_tile(x: Global<u32>, y: GlobalMut<u32>) {
    let i = thread::thread_idx_x();
    let tile: Shared<u32> = shared::dynamic().array(32);
    tile.write(i, x.read(i));
    thread::sync_threads();
    y.write(31 - i, tile.read(i));
}

/// One warp with a tile of 32 words.
fn tile(seed: u64, launch: Launch) -> Result<Vec<u32>, Fault> {
    let simulator = Simulator::new(config(seed));
    let (x, y) = (Words::counting(&simulator, 32), Words::unwritten(&simulator, 32));
    // SAFETY: the simulator checks every access.
    unsafe { launch(&simulator, LaunchConfig::linear(1, 32).shared(128), x.global(), y.global_mut()) }?;
    Ok(y.get())
}

fn outside_the_tile(fault: &Fault, wanted: Direction) -> bool {
    let FaultKind::OutOfBounds { space: Space::Shared, direction, address: 128, bytes: 4, size: 128, .. } =
        fault.kind
    else {
        return false;
    };
    direction == wanted && place(fault) == (0, 31)
}

#[test]
fn out_of_bounds_read_of_shared_memory() {
    bounded("out-of-bounds read of shared memory", |tally| {
        let expected = |fault: &Fault| outside_the_tile(fault, Direction::Read);
        tally.caught(reads_past_the_tile::META, expected, |seed| tile(seed, reads_past_the_tile::launch));
        let result: Vec<u32> = (1..32).chain([0]).collect();
        tally.passes(reads_round_the_tile::META, &result, |seed| tile(seed, reads_round_the_tile::launch));
    });
}

#[test]
fn out_of_bounds_write_of_shared_memory() {
    bounded("out-of-bounds write of shared memory", |tally| {
        let expected = |fault: &Fault| outside_the_tile(fault, Direction::Write);
        tally.caught(writes_past_the_tile::META, expected, |seed| tile(seed, writes_past_the_tile::launch));
        let result: Vec<u32> = [31].into_iter().chain(0..31).collect();
        tally.passes(writes_round_the_tile::META, &result, |seed| tile(seed, writes_round_the_tile::launch));
    });
}

#[test]
fn read_of_never_written_shared_memory() {
    bounded("read of never-written shared memory", |tally| {
        let expected = |fault: &Fault| {
            matches!(fault.kind, FaultKind::Unwritten { space: Space::Shared, address: 124, bytes: 4 })
                && place(fault) == (0, 31)
        };
        let kernel = leaves_a_word_of_the_tile::META;
        tally.caught(kernel, expected, |seed| tile(seed, leaves_a_word_of_the_tile::launch));
        let result: Vec<u32> = (0..32).rev().collect();
        tally.passes(fills_the_tile::META, &result, |seed| tile(seed, fills_the_tile::launch));
    });
}

// ---- global memory, never written --------------------------------------------------------------------------------

#[kernel]
fn adds_to_fresh_memory(x: Global<u32>, y: GlobalMut<u32>) {
    let i = thread::index_1d();
    let before = if i % 64 == 63 { y.read(i) } else { 0 }; // FAULT: adds_to_fresh_memory
    y.write(i, before + x.read(i));
}

#[kernel]
fn sets_fresh_memory(x: Global<u32>, y: GlobalMut<u32>) {
    let i = thread::index_1d();
    y.write(i, x.read(i));
    if i % 64 == 63 {
        y.write(i, y.read(i) + 1);
    }
}

fn fresh(seed: u64, launch: Launch) -> Result<Vec<u32>, Fault> {
    let simulator = Simulator::new(config(seed));
    let (x, y) = (Words::counting(&simulator, 64), Words::unwritten(&simulator, 64));
    // SAFETY: the simulator checks every access.
    unsafe { launch(&simulator, LaunchConfig::linear(2, 32), x.global(), y.global_mut()) }?;
    Ok(y.get())
}

#[test]
fn read_of_unwritten_global_memory() {
    bounded("read of unwritten global memory", |tally| {
        let expected = |fault: &Fault| {
            matches!(fault.kind, FaultKind::Unwritten { space: Space::Global, bytes: 4, .. })
                && place(fault) == (1, 31)
        };
        tally.caught(adds_to_fresh_memory::META, expected, |seed| fresh(seed, adds_to_fresh_memory::launch));
        let result: Vec<u32> = (0..63).chain([64]).collect();
        tally.passes(sets_fresh_memory::META, &result, |seed| fresh(seed, sets_fresh_memory::launch));
    });
}

// ---- read-only loads ---------------------------------------------------------------------------------------------

#[kernel]
fn reads_only_after_writing(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let i = thread::thread_idx_x();
    x.write(i, 2 * i); // FAULT: reads_only_after_writing
    thread::sync_threads();
    y.write(i, x.as_global().read_only(63 - i)); // FAULT: reads_only_after_writing
}

#[kernel]
fn reads_only_before_writing(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let i = thread::thread_idx_x();
    y.write(i, x.as_global().read_only(63 - i)); // FAULT: reads_only_before_writing
    thread::sync_threads();
    x.write(i, 2 * i); // FAULT: reads_only_before_writing
}

#[kernel]
fn reads_after_writing(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let i = thread::thread_idx_x();
    x.write(i, 2 * i);
    thread::sync_threads();
    y.write(i, x.read(63 - i));
}

/// Two warps: one block, 64 words.
fn in_place(seed: u64, shared_bytes: u32, launch: LaunchMut) -> Result<Vec<u32>, Fault> {
    let simulator = Simulator::new(config(seed));
    let (x, y) = (Words::counting(&simulator, 64), Words::unwritten(&simulator, 64));
    let config = LaunchConfig::linear(1, 64).shared(shared_bytes);
    // SAFETY: the simulator checks every access.
    unsafe { launch(&simulator, config, x.global_mut(), y.global_mut()) }?;
    Ok(y.get())
}

#[test]
fn read_only_load_of_data_written_in_the_same_kernel() {
    bounded("read-only load of data written in the same kernel", |tally| {
        // Ordered by the barrier, and wrong all the same: the read-only path does not look at the block's writes.
        let expected = |fault: &Fault| {
            matches!(fault.kind, FaultKind::ReadOnlyWritten { .. })
                && place(fault).1 + other_place(fault).1 == 63
        };
        let run = |seed| in_place(seed, 0, reads_only_after_writing::launch);
        tally.caught(reads_only_after_writing::META, expected, run);
        let run = |seed| in_place(seed, 0, reads_only_before_writing::launch);
        tally.caught(reads_only_before_writing::META, expected, run);
        let result: Vec<u32> = (0..64).rev().map(|i| 2 * i).collect();
        tally.passes(reads_after_writing::META, &result, |seed| {
            in_place(seed, 0, reads_after_writing::launch)
        });
    });
}

// ---- asynchronous copies -----------------------------------------------------------------------------------------

#[kernel]
fn reads_before_the_wait(x: Global<u32>, y: GlobalMut<u32>) {
    let i = thread::thread_idx_x();
    let tile: Shared<u32> = shared::dynamic().array(32);
    async_copy::copy::<u32, 1>(tile, i, x, i);
    async_copy::commit();
    y.write(i, tile.read(i)); // FAULT: reads_before_the_wait
}

#[kernel]
fn waits_for_the_older_group(x: Global<u32>, y: GlobalMut<u32>) {
    let i = thread::thread_idx_x();
    let mut shared = shared::dynamic();
    let (old, new): (Shared<u32>, Shared<u32>) = (shared.array(16), shared.array(16));
    if i < 16 {
        async_copy::copy::<u32, 1>(old, i, x, i);
        async_copy::commit();
        async_copy::copy::<u32, 1>(new, i, x, 16 + i);
        async_copy::commit();
        async_copy::wait::<1>();
        y.write(i, old.read(i));
        y.write(16 + i, new.read(i)); // FAULT: waits_for_the_older_group
    }
}

#[kernel]
fn waits(x: Global<u32>, y: GlobalMut<u32>) {
    let i = thread::thread_idx_x();
    let tile: Shared<u32> = shared::dynamic().array(32);
    async_copy::copy::<u32, 1>(tile, i, x, i);
    async_copy::commit();
    async_copy::wait::<0>();
    y.write(i, tile.read(i));
}

#[test]
fn asynchronous_copy_read_before_its_wait() {
    bounded("cp.async data read before its wait", |tally| {
        let expected = |fault: &Fault| {
            let FaultKind::AsyncNotWaited { direction: Direction::Read, address } = fault.kind else {
                return false;
            };
            let (block, thread) = place(fault);
            block == 0 && u64::from(thread) == address / 4 % 32
        };
        tally.caught(reads_before_the_wait::META, expected, |seed| tile(seed, reads_before_the_wait::launch));
        let expected = |fault: &Fault| {
            let FaultKind::AsyncNotWaited { direction: Direction::Read, address: address @ 64.. } =
                fault.kind
            else {
                return false;
            };
            place(fault) == (0, (address as u32 - 64) / 4)
        };
        let kernel = waits_for_the_older_group::META;
        tally.caught(kernel, expected, |seed| tile(seed, waits_for_the_older_group::launch));
        let result: Vec<u32> = (0..32).collect();
        tally.passes(waits::META, &result, |seed| tile(seed, waits::launch));
    });
}

#[kernel]
fn overwrites_the_source(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let i = thread::thread_idx_x();
    let tile: Shared<u32> = shared::dynamic().array(64);
    async_copy::copy::<u32, 1>(tile, i, x.as_global(), i); // FAULT: overwrites_the_source
    async_copy::commit();
    x.write(i, 0); // FAULT: overwrites_the_source
    async_copy::wait::<0>();
    y.write(i, tile.read(i));
}

#[kernel]
fn overwrites_anothers_source(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let i = thread::thread_idx_x();
    let tile: Shared<u32> = shared::dynamic().array(64);
    async_copy::copy::<u32, 1>(tile, i, x.as_global(), i); // FAULT: overwrites_anothers_source
    async_copy::commit();
    thread::sync_threads();
    x.write(63 - i, 0); // FAULT: overwrites_anothers_source
    async_copy::wait::<0>();
    y.write(i, tile.read(i));
}

#[kernel]
fn overwrites_after_the_wait(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let i = thread::thread_idx_x();
    let tile: Shared<u32> = shared::dynamic().array(64);
    async_copy::copy::<u32, 1>(tile, i, x.as_global(), i);
    async_copy::commit();
    async_copy::wait::<0>();
    thread::sync_threads();
    x.write(63 - i, 0);
    y.write(i, tile.read(63 - i));
}

#[test]
fn asynchronous_copy_whose_source_is_overwritten_before_its_wait() {
    bounded("cp.async source overwritten before its wait", |tally| {
        let expected = |fault: &Fault| {
            matches!(fault.kind, FaultKind::Race { space: Space::Global, .. })
                && place(fault) == other_place(fault)
        };
        let run = |seed| in_place(seed, 256, overwrites_the_source::launch);
        tally.caught(overwrites_the_source::META, expected, run);
        let expected = |fault: &Fault| {
            matches!(fault.kind, FaultKind::Race { space: Space::Global, .. })
                && place(fault).1 + other_place(fault).1 == 63
        };
        let run = |seed| in_place(seed, 256, overwrites_anothers_source::launch);
        tally.caught(overwrites_anothers_source::META, expected, run);
        let result: Vec<u32> = (0..64).rev().collect();
        let run = |seed| in_place(seed, 256, overwrites_after_the_wait::launch);
        tally.passes(overwrites_after_the_wait::META, &result, run);
    });
}
