//! Races between blocks: plain ones, and payloads whose flag does not order them.

use gpu_sim::{Direction, Fault, FaultKind, Simulator, Space};
use gpu_std::launch::LaunchConfig;
use gpu_std::prelude::*;

use crate::harness::*;

// ---- race between blocks -----------------------------------------------------------------------------------------

#[kernel]
fn adds_without_an_atomic(x: Global<u32>, sum: GlobalMut<u32>) {
    let i = thread::index_1d();
    sum.write(0, sum.read(0) + x.read(i)); // FAULT: adds_without_an_atomic
}

#[kernel]
fn adds_atomically(x: Global<u32>, sum: GlobalMut<u32>) {
    let i = thread::index_1d();
    sum.atomic(0).fetch_add(x.read(i), Ordering::Relaxed, Scope::Device);
}

#[kernel]
fn adds_atomically_in_its_block(x: Global<u32>, sum: GlobalMut<u32>) {
    let i = thread::index_1d();
    sum.atomic(0).fetch_add(x.read(i), Ordering::Relaxed, Scope::Block); // FAULT: adds_atomically_in_its_block
}

fn sum(seed: u64, launch: Launch) -> Result<Vec<u32>, Fault> {
    let simulator = Simulator::new(config(seed));
    let (x, sum) = (Words::counting(&simulator, 6), Words::new(&simulator, &[100]));
    // SAFETY: the simulator checks every access.
    unsafe { launch(&simulator, LaunchConfig::linear(6, 1), x.global(), sum.global_mut()) }?;
    Ok(sum.get())
}

#[test]
fn race_between_blocks() {
    bounded("race between blocks", |tally| {
        let expected = |fault: &Fault| {
            let ((block, thread), (other_block, other_thread)) = (place(fault), other_place(fault));
            matches!(fault.kind, FaultKind::Race { space: Space::Global, .. })
                && block != other_block
                && (thread, other_thread) == (0, 0)
        };
        tally
            .caught(adds_without_an_atomic::META, expected, |seed| sum(seed, adds_without_an_atomic::launch));
        // An atomic of block scope is none to another block.
        let kernel = adds_atomically_in_its_block::META;
        tally.caught(kernel, expected, |seed| sum(seed, adds_atomically_in_its_block::launch));
        tally.passes(adds_atomically::META, &[115], |seed| sum(seed, adds_atomically::launch));
    });
}

// ---- payload and flag --------------------------------------------------------------------------------------------

#[kernel]
fn publishes_relaxed(flag: GlobalMut<u32>, data: GlobalMut<u32>) {
    if thread::block_idx_x() == 0 {
        data.write(0, 42); // FAULT: publishes_relaxed
        flag.atomic(0).store(1, Ordering::Relaxed, Scope::Device);
    } else {
        while flag.atomic(0).load(Ordering::Relaxed, Scope::Device) == 0 {}
        data.write(1, data.read(0)); // FAULT: publishes_relaxed
    }
}

#[kernel]
fn publishes_by_volatile(flag: GlobalMut<u32>, data: GlobalMut<u32>) {
    if thread::block_idx_x() == 0 {
        data.write(0, 42); // FAULT: publishes_by_volatile
        flag.write_volatile(0, 1);
    } else {
        while flag.read_volatile(0) == 0 {}
        data.write(1, data.read(0)); // FAULT: publishes_by_volatile
    }
}

#[kernel]
fn publishes_to_a_relaxed_reader(flag: GlobalMut<u32>, data: GlobalMut<u32>) {
    if thread::block_idx_x() == 0 {
        data.write(0, 42); // FAULT: publishes_to_a_relaxed_reader
        flag.atomic(0).store(1, Ordering::Release, Scope::Device);
    } else {
        while flag.atomic(0).load(Ordering::Relaxed, Scope::Device) == 0 {}
        data.write(1, data.read(0)); // FAULT: publishes_to_a_relaxed_reader
    }
}

#[kernel]
fn publishes(flag: GlobalMut<u32>, data: GlobalMut<u32>) {
    if thread::block_idx_x() == 0 {
        data.write(0, 42);
        flag.atomic(0).store(1, Ordering::Release, Scope::Device);
    } else {
        while flag.atomic(0).load(Ordering::Acquire, Scope::Device) == 0 {}
        data.write(1, data.read(0));
    }
}

#[kernel]
fn publishes_behind_a_block_fence(flag: GlobalMut<u32>, data: GlobalMut<u32>) {
    if thread::block_idx_x() == 0 {
        data.write(0, 42); // FAULT: publishes_behind_a_block_fence
        thread::block_fence();
        flag.atomic(0).store(1, Ordering::Relaxed, Scope::Device);
    } else {
        while flag.atomic(0).load(Ordering::Relaxed, Scope::Device) == 0 {}
        thread::device_fence();
        data.write(1, data.read(0)); // FAULT: publishes_behind_a_block_fence
    }
}

#[kernel]
fn reads_behind_a_block_fence(flag: GlobalMut<u32>, data: GlobalMut<u32>) {
    if thread::block_idx_x() == 0 {
        data.write(0, 42); // FAULT: reads_behind_a_block_fence
        thread::device_fence();
        flag.atomic(0).store(1, Ordering::Relaxed, Scope::Device);
    } else {
        while flag.atomic(0).load(Ordering::Relaxed, Scope::Device) == 0 {}
        thread::block_fence();
        data.write(1, data.read(0)); // FAULT: reads_behind_a_block_fence
    }
}

#[kernel]
fn publishes_behind_a_device_fence(flag: GlobalMut<u32>, data: GlobalMut<u32>) {
    if thread::block_idx_x() == 0 {
        data.write(0, 42);
        thread::device_fence();
        flag.atomic(0).store(1, Ordering::Relaxed, Scope::Device);
    } else {
        while flag.atomic(0).load(Ordering::Relaxed, Scope::Device) == 0 {}
        thread::device_fence();
        data.write(1, data.read(0));
    }
}

/// Block 0 publishes, block 1 waits: both are in flight. `data` is fresh, so a payload read too early is caught as
/// well.
fn publish(seed: u64, launch: LaunchMut) -> Result<Vec<u32>, Fault> {
    let simulator = cooperative(seed);
    let (flag, data) = (Words::new(&simulator, &[0]), Words::unwritten(&simulator, 2));
    // SAFETY: the simulator checks every access.
    unsafe { launch(&simulator, LaunchConfig::linear(2, 1), flag.global_mut(), data.global_mut()) }?;
    Ok(data.get())
}

/// Block 1 reads what block 0 wrote.
fn unordered_payload(fault: &Fault) -> bool {
    matches!(fault.kind, FaultKind::Race { space: Space::Global, direction: Direction::Read, .. })
        && (place(fault), other_place(fault)) == ((1, 0), (0, 0))
        && other(fault).direction == Direction::Write
}

#[test]
fn payload_published_behind_a_relaxed_flag() {
    bounded("payload published behind a relaxed flag", |tally| {
        let expected = unordered_payload;
        tally.caught(publishes_relaxed::META, expected, |seed| publish(seed, publishes_relaxed::launch));
        tally.caught(publishes_by_volatile::META, expected, |seed| {
            publish(seed, publishes_by_volatile::launch)
        });
        let kernel = publishes_to_a_relaxed_reader::META;
        tally.caught(kernel, expected, |seed| publish(seed, publishes_to_a_relaxed_reader::launch));
        tally.passes(publishes::META, &[42, 42], |seed| publish(seed, publishes::launch));
    });
}

#[test]
fn fence_of_block_scope_where_device_scope_is_needed() {
    bounded("fence of block scope where device scope is needed", |tally| {
        let expected = unordered_payload;
        let kernel = publishes_behind_a_block_fence::META;
        tally.caught(kernel, expected, |seed| publish(seed, publishes_behind_a_block_fence::launch));
        let kernel = reads_behind_a_block_fence::META;
        tally.caught(kernel, expected, |seed| publish(seed, reads_behind_a_block_fence::launch));
        let kernel = publishes_behind_a_device_fence::META;
        tally.passes(kernel, &[42, 42], |seed| publish(seed, publishes_behind_a_device_fence::launch));
    });
}

// ---- the last block finishes the sum -----------------------------------------------------------------------------

#[kernel]
fn last_block_behind_a_block_fence(count: GlobalMut<u32>, sums: GlobalMut<u32>) {
    let (block, blocks) = (thread::block_idx_x(), thread::grid_dim_x());
    sums.write(block, 1 + block); // FAULT: last_block_behind_a_block_fence
    thread::block_fence();
    let before = count.atomic(0).fetch_add(1, Ordering::Relaxed, Scope::Device);
    if before == blocks - 1 {
        thread::device_fence();
        let mut total = 0;
        for other in 0..blocks {
            total += sums.read(other); // FAULT: last_block_behind_a_block_fence
        }
        sums.write(blocks, total);
    }
}

#[kernel]
fn last_block_behind_a_device_fence(count: GlobalMut<u32>, sums: GlobalMut<u32>) {
    let (block, blocks) = (thread::block_idx_x(), thread::grid_dim_x());
    sums.write(block, 1 + block);
    thread::device_fence();
    let before = count.atomic(0).fetch_add(1, Ordering::Relaxed, Scope::Device);
    if before == blocks - 1 {
        thread::device_fence();
        let mut total = 0;
        for other in 0..blocks {
            total += sums.read(other);
        }
        sums.write(blocks, total);
    }
}

fn last_block(seed: u64, launch: LaunchMut) -> Result<Vec<u32>, Fault> {
    let simulator = Simulator::new(config(seed));
    let (count, sums) = (Words::new(&simulator, &[0]), Words::unwritten(&simulator, 7));
    // SAFETY: the simulator checks every access.
    unsafe { launch(&simulator, LaunchConfig::linear(6, 1), count.global_mut(), sums.global_mut()) }?;
    Ok(sums.get())
}

#[test]
fn last_block_with_a_fence_of_block_scope() {
    bounded("last block, with a fence of block scope", |tally| {
        let expected = |fault: &Fault| {
            matches!(fault.kind, FaultKind::Race { space: Space::Global, direction: Direction::Read, .. })
                && place(fault).0 != other_place(fault).0
                && other(fault).direction == Direction::Write
        };
        let kernel = last_block_behind_a_block_fence::META;
        tally.caught(kernel, expected, |seed| last_block(seed, last_block_behind_a_block_fence::launch));
        let kernel = last_block_behind_a_device_fence::META;
        let result = [1, 2, 3, 4, 5, 6, 21];
        tally.passes(kernel, &result, |seed| last_block(seed, last_block_behind_a_device_fence::launch));
    });
}
