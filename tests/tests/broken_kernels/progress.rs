//! Kernels that never end: blocks that wait for one that may not start, and spins that nobody ends.

use gpu_sim::{BlockOrder, Config, Fault, FaultKind, Simulator};
use gpu_std::launch::LaunchConfig;
use gpu_std::prelude::*;

use crate::harness::*;

const BLOCKS: u32 = 12;

// ---- a block that may never start --------------------------------------------------------------------------------

#[kernel]
fn waits_for_a_later_block(flags: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (block, blocks) = (thread::block_idx_x(), thread::grid_dim_x());
    if block + 1 < blocks {
        let flag = flags.atomic(block + 1);
        while flag.load(Ordering::Acquire, Scope::Device) == 0 {} // FAULT: waits_for_a_later_block
    }
    y.write(block, 1);
    flags.atomic(block).store(1, Ordering::Release, Scope::Device);
}

#[kernel]
fn waits_for_an_earlier_block(flags: GlobalMut<u32>, y: GlobalMut<u32>) {
    let block = thread::block_idx_x();
    if block > 0 {
        let flag = flags.atomic(block - 1);
        while flag.load(Ordering::Acquire, Scope::Device) == 0 {} // FAULT: waits_for_an_earlier_block
    }
    y.write(block, 1);
    flags.atomic(block).store(1, Ordering::Release, Scope::Device);
}

/// Numbers are given to blocks as they start: whoever has an earlier one runs.
#[kernel]
fn waits_for_an_earlier_ticket(flags: GlobalMut<u32>, y: GlobalMut<u32>) {
    let ticket = flags.atomic(thread::grid_dim_x()).fetch_add(1, Ordering::Relaxed, Scope::Device);
    let mut before = 0;
    if ticket > 0 {
        let flag = flags.atomic(ticket - 1);
        while flag.load(Ordering::Acquire, Scope::Device) == 0 {}
        before = y.read(ticket - 1);
    }
    y.write(ticket, before + 1);
    flags.atomic(ticket).store(1, Ordering::Release, Scope::Device);
}

/// Of twelve blocks three are in flight at once.
fn chain(seed: u64, block_order: BlockOrder, launch: LaunchMut) -> Result<Vec<u32>, Fault> {
    let simulator = Simulator::new(Config { resident_blocks: 3, block_order, ..config(seed) });
    let flags = Words::new(&simulator, &[0; BLOCKS as usize + 1]);
    let y = Words::unwritten(&simulator, BLOCKS as usize);
    // SAFETY: the simulator checks every access.
    unsafe { launch(&simulator, LaunchConfig::linear(BLOCKS, 1), flags.global_mut(), y.global_mut()) }?;
    Ok(y.get())
}

#[test]
fn block_waiting_for_a_later_block_that_may_never_start() {
    bounded("block waiting for a block that may never start", |tally| {
        // In the order that hardware prefers, the first blocks in flight wait for ever.
        let expected = |fault: &Fault| {
            matches!(fault.kind, FaultKind::Livelock { not_started: 9.., .. })
                && place(fault).0 < 3
                && place(fault).1 == 0
        };
        let run = |seed| chain(seed, BlockOrder::Ascending, waits_for_a_later_block::launch);
        tally.caught(waits_for_a_later_block::META, expected, run);
        // In any other, unless it happens to be the right one; and no order is promised to those who wait for earlier
        // ones.
        let expected = |fault: &Fault| {
            matches!(fault.kind, FaultKind::Livelock { not_started: 1.., .. }) && place(fault).1 == 0
        };
        let run = |seed| chain(seed, BlockOrder::Any, waits_for_a_later_block::launch);
        let found = tally.caught_at_times(waits_for_a_later_block::META, expected, run);
        assert!(found >= 60, "caught by {found} seeds");
        let run = |seed| chain(seed, BlockOrder::Any, waits_for_an_earlier_block::launch);
        let found = tally.caught_at_times(waits_for_an_earlier_block::META, expected, run);
        assert!(found >= 40, "caught by {found} seeds");
        let result: Vec<u32> = (1..=BLOCKS).collect();
        let run = |seed| chain(seed, BlockOrder::Any, waits_for_an_earlier_ticket::launch);
        tally.passes(waits_for_an_earlier_ticket::META, &result, run);
    });
}

// ---- spins that nobody ends --------------------------------------------------------------------------------------

/// The thread that spins, of two blocks of 32.
#[device]
fn spins() -> bool {
    thread::block_idx_x() == 1 && thread::thread_idx_x() == 5
}

#[kernel]
fn spins_on_an_atomic(flag: GlobalMut<u32>, y: GlobalMut<u32>) {
    if spins() {
        while flag.atomic(0).load(Ordering::Acquire, Scope::Device) == 0 {} // FAULT: spins_on_an_atomic
    }
    y.write(thread::index_1d(), 1);
}

#[kernel]
fn spins_on_a_volatile(flag: GlobalMut<u32>, y: GlobalMut<u32>) {
    if spins() {
        while flag.read_volatile(0) == 0 {} // FAULT: spins_on_a_volatile
    }
    y.write(thread::index_1d(), 1);
}

#[kernel]
fn spins_on_a_plain_word(flag: GlobalMut<u32>, y: GlobalMut<u32>) {
    if spins() {
        while flag.read(0) == 0 {} // FAULT: spins_on_a_plain_word
    }
    y.write(thread::index_1d(), 1);
}

/// A lock that is never given back.
#[kernel]
fn spins_on_a_lock(lock: GlobalMut<u32>, y: GlobalMut<u32>) {
    if spins() {
        lock.atomic(0).exchange(1, Ordering::Acquire, Scope::Device);
        while lock.atomic(0).compare_exchange(0, 1, Ordering::Acquire, Scope::Device) != 0 {} // FAULT: spins_on_a_lock
    }
    y.write(thread::index_1d(), 1);
}

#[kernel]
#[allow(clippy::empty_loop)]
fn spins_without_memory(_flag: GlobalMut<u32>, y: GlobalMut<u32>) {
    if spins() {
        loop {} // FAULT: spins_without_memory
    }
    y.write(thread::index_1d(), 1);
}

/// The same ways to wait, each for something that comes.
#[kernel]
fn spins_until_the_others_come(flag: GlobalMut<u32>, y: GlobalMut<u32>) {
    if spins() {
        let lock = flag.atomic(1);
        while flag.atomic(0).load(Ordering::Acquire, Scope::Device) < 63 {}
        while flag.read_volatile(0) != 63 {}
        while lock.compare_exchange(0, 1, Ordering::Acquire, Scope::Device) != 0 {}
        lock.store(0, Ordering::Release, Scope::Device);
        let mut patience = 1000;
        while patience > 0 {
            patience -= 1;
        }
    } else {
        flag.atomic(0).fetch_add(1, Ordering::Release, Scope::Device);
    }
    y.write(thread::index_1d(), 1);
}

/// Both blocks in flight, 32 threads each.
fn two_blocks(seed: u64, launch: LaunchMut) -> Result<Vec<u32>, Fault> {
    let simulator = cooperative(seed);
    let (flag, y) = (Words::new(&simulator, &[0, 0]), Words::unwritten(&simulator, 64));
    // SAFETY: the simulator checks every access.
    unsafe { launch(&simulator, LaunchConfig::linear(2, 32), flag.global_mut(), y.global_mut()) }?;
    Ok(y.get())
}

#[test]
fn spin_that_nobody_ends() {
    bounded("spin that nobody ends", |tally| {
        let expected = |fault: &Fault| {
            matches!(fault.kind, FaultKind::Livelock { not_started: 0, .. }) && place(fault) == (1, 5)
        };
        tally.caught(spins_on_an_atomic::META, expected, |seed| two_blocks(seed, spins_on_an_atomic::launch));
        tally.caught(spins_on_a_volatile::META, expected, |seed| {
            two_blocks(seed, spins_on_a_volatile::launch)
        });
        let kernel = spins_on_a_plain_word::META;
        tally.caught(kernel, expected, |seed| two_blocks(seed, spins_on_a_plain_word::launch));
        tally.caught(spins_on_a_lock::META, expected, |seed| two_blocks(seed, spins_on_a_lock::launch));
        let kernel = spins_without_memory::META;
        tally.caught(kernel, expected, |seed| two_blocks(seed, spins_without_memory::launch));
        let kernel = spins_until_the_others_come::META;
        tally.passes(kernel, &[1; 64], |seed| two_blocks(seed, spins_until_the_others_come::launch));
    });
}
