//! Results against those of one thread at a time: bugs that no race detector finds.

mod common;

use common::*;
use gpu_sim::check::{Failure, against_one_at_a_time};
use gpu_sim::device::*;
use gpu_sim::{Config, Fault, Geometry, Simulator};

fn bid() -> u32 {
    block_idx()[0]
}

fn update(address: u64, ordering: Ordering, f: impl Fn(u32) -> u32) -> u32 {
    atomic_update(Space::Global, address, ordering, Scope::Device, |old| Some(f(old)))
}

/// Blocks store a partial sum each; the last to finish adds them, and begins anew if it is told to.
fn last_block(simulator: &Simulator, memory: u64, reset: bool) -> Result<u32, Fault> {
    const BLOCKS: u32 = 6;
    let (count, sum, parts) = (memory, memory + 4, memory + 8);
    simulator.fill(sum, 4, 0)?;
    simulator.launch(KERNEL, Geometry::linear(BLOCKS, 1, 0), &|| {
        global_store(parts + 4 * u64::from(bid()), 1 + bid(), Store::Weak);
        if update(count, Ordering::AcqRel, |n| n + 1) == BLOCKS - 1 {
            let part = |i| global_load::<u32>(parts + 4 * u64::from(i), Load::Weak);
            global_store(sum, (0..BLOCKS).map(part).sum::<u32>(), Store::Weak);
            if reset {
                atomic_store(Space::Global, count, 0u32, Ordering::Relaxed, Scope::Device);
            }
        }
    })?;
    Ok(read_words(simulator, sum, 1)[0])
}

#[test]
fn a_counter_that_is_not_reset() {
    let run = |reset| {
        let prepare = |simulator: &Simulator| simulator.alloc_zeroed(8 + 4 * 6);
        let round = |simulator: &Simulator, &memory: &u64| last_block(simulator, memory, reset);
        against_one_at_a_time(Config::default(), 0..200, 3, prepare, round)
    };
    let failure = run(false).unwrap_err();
    assert!(
        matches!(failure, Failure::Different { seed: None, round: 1, expected: 21, actual: 0 }),
        "{failure}"
    );
    run(true).unwrap_or_else(|failure| panic!("{failure}"));
}

/// A producer counts in two words; the consumer takes them for a pair.
fn pair(simulator: &Simulator, words: u64, packed: bool) -> Result<u32, Fault> {
    simulator.fill(words, 12, 0)?;
    let read = |at: u64, ordering| atomic_load::<u32>(Space::Global, words + at, ordering, Scope::Device);
    let write = |at: u64, value: u32| {
        atomic_store(Space::Global, words + at, value, Ordering::Release, Scope::Device);
    };
    simulator.launch(KERNEL, Geometry::linear(2, 1, 0), &|| {
        if bid() == 0 {
            for value in 1..5u32 {
                if packed {
                    let pair = u64::from(value) << 32 | u64::from(value);
                    atomic_store(Space::Global, words, pair, Ordering::Relaxed, Scope::Device);
                } else {
                    write(0, value);
                    write(4, value);
                }
            }
        } else {
            let (a, b) = if packed {
                let pair: u64 = atomic_load(Space::Global, words, Ordering::Relaxed, Scope::Device);
                (pair as u32, (pair >> 32) as u32)
            } else {
                (read(0, Ordering::Acquire), read(4, Ordering::Acquire))
            };
            global_store(words + 8, u32::from(a == b), Store::Weak);
        }
    })?;
    Ok(read_words(simulator, words, 3)[2])
}

#[test]
fn two_words_that_do_not_belong_together() {
    let run = |seeds: std::ops::Range<u64>, packed| {
        let prepare = |simulator: &Simulator| simulator.alloc_zeroed(16);
        let round = |simulator: &Simulator, &words: &u64| pair(simulator, words, packed);
        against_one_at_a_time(together(0), seeds, 1, prepare, round)
    };
    let found = (0..200).filter(|&seed| run(seed..seed + 1, false).is_err()).count();
    println!("two words that do not belong together: found by {found} of 200 seeds");
    assert!(found >= 50, "{found}");
    let failure = run(0..200, false).unwrap_err();
    assert!(
        matches!(failure, Failure::Different { seed: Some(_), round: 0, expected: 1, actual: 0 }),
        "{failure}"
    );
    run(0..200, true).unwrap_or_else(|failure| panic!("{failure}"));
}

/// Threads in order, also where one waits for another that comes later.
#[test]
fn one_thread_at_a_time_and_in_order() {
    let simulator = Simulator::new(Config { spin_budget: 1 << 16, ..Config::one_at_a_time() });
    let memory = words(&simulator, &[0; 256]);
    for _ in 0..2 {
        simulator.fill(memory, 1024, 0).unwrap();
        simulator
            .launch(KERNEL, Geometry::linear(3, 70, 0), &|| {
                let number = bid() * 70 + thread_idx()[0];
                let drawn = update(memory, Ordering::Relaxed, |n| n + 1);
                assert_eq!(drawn, number, "threads come in order");
                barrier();
                if number == 3 {
                    // By a thread of another block, which comes later.
                    while atomic_load::<u32>(Space::Global, memory + 4, Ordering::Acquire, Scope::Device) == 0
                    {
                    }
                }
                if number == 150 {
                    atomic_store(Space::Global, memory + 4, 1u32, Ordering::Release, Scope::Device);
                }
            })
            .unwrap_or_else(|fault| panic!("{fault}"));
    }
}
