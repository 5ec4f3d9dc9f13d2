//! Classic litmus tests and patterns: what the memory model allows happens, what it forbids never does.

mod common;

use std::sync::atomic::{AtomicU32, Ordering::Relaxed as Host};

use Ordering::{AcqRel, Acquire, Relaxed, Release};
use Scope::{Block, Device};
use common::*;
use gpu_sim::device::*;
use gpu_sim::{Config, Fault, FaultKind, Geometry, Report, Simulator};

fn bid() -> u32 {
    block_idx()[0]
}

fn load(address: u64, ordering: Ordering) -> u32 {
    atomic_load(Space::Global, address, ordering, Device)
}

fn store(address: u64, value: u32, ordering: Ordering) {
    atomic_store(Space::Global, address, value, ordering, Device);
}

fn add(address: u64, value: u32, ordering: Ordering) -> u32 {
    atomic_update(Space::Global, address, ordering, Device, |old: u32| Some(old.wrapping_add(value)))
}

/// One side of a litmus test: the two words, and where to note what it saw.
type Side<'a> = dyn Fn(u64, u64, &dyn Fn(u32, u32)) + Sync + 'a;

/// Runs one thread per block over two atomic words and counts how often each pair of observations comes up.
fn observe(threads: [&Side<'_>; 2], seeds: u64) -> std::collections::BTreeMap<(u32, u32), u32> {
    let mut seen = std::collections::BTreeMap::new();
    for seed in 0..seeds {
        let simulator = Simulator::new(together(seed));
        let memory = words(&simulator, &[0, 0]);
        let noted = [AtomicU32::new(u32::MAX), AtomicU32::new(u32::MAX)];
        let note = |slot: u32, value: u32| noted[slot as usize].store(value, Host);
        simulator
            .launch(KERNEL, Geometry::linear(2, 1, 0), &|| threads[bid() as usize](memory, memory + 4, &note))
            .unwrap_or_else(|fault| panic!("{fault}"));
        *seen.entry((noted[0].load(Host), noted[1].load(Host))).or_default() += 1;
    }
    seen
}

// ---- message passing ---------------------------------------------------------------------------------------------

fn message_passing(fence_writer: bool, fence_reader: bool, flag: Ordering, wait: Ordering) -> u32 {
    let writer = |x: u64, y: u64, _: &dyn Fn(u32, u32)| {
        store(x, 1, Relaxed);
        if fence_writer {
            fence(Release, Device);
        }
        store(y, 1, flag);
    };
    let reader = |x: u64, y: u64, note: &dyn Fn(u32, u32)| {
        note(0, load(y, wait));
        if fence_reader {
            fence(Acquire, Device);
        }
        note(1, load(x, Relaxed));
    };
    let seen = observe([&writer, &reader], SEEDS);
    println!("flag {flag:?}/{wait:?}, fences {fence_writer}/{fence_reader}: {seen:?}");
    assert!(seen.contains_key(&(1, 1)) && seen.contains_key(&(0, 0)), "{seen:?}");
    seen.get(&(1, 0)).copied().unwrap_or(0)
}

#[test]
fn message_passing_sees_stale_data_exactly_where_it_may() {
    assert!(message_passing(false, false, Relaxed, Relaxed) > 0);
    assert!(message_passing(false, false, Release, Relaxed) > 0);
    assert!(message_passing(false, false, Relaxed, Acquire) > 0);
    assert!(message_passing(true, false, Relaxed, Relaxed) > 0);
    assert!(message_passing(false, true, Relaxed, Relaxed) > 0);
    assert_eq!(message_passing(false, false, Release, Acquire), 0);
    assert_eq!(message_passing(true, true, Relaxed, Relaxed), 0);
    assert_eq!(message_passing(true, false, Relaxed, Acquire), 0);
    assert_eq!(message_passing(false, true, Release, Relaxed), 0);
}

// ---- store buffering, coherence ----------------------------------------------------------------------------------

#[test]
fn store_buffering_allows_both_to_miss() {
    // Release and acquire do not forbid it either: that would take sequential consistency.
    for (write, read) in [(Relaxed, Relaxed), (Release, Acquire)] {
        let seen = observe(
            [
                &|x, y, note| {
                    store(x, 1, write);
                    note(0, load(y, read));
                },
                &|x, y, note| {
                    store(y, 1, write);
                    note(1, load(x, read));
                },
            ],
            SEEDS,
        );
        println!("store buffering {write:?}: {seen:?}");
        assert!(seen.contains_key(&(0, 0)), "{seen:?}");
    }
}

#[test]
fn load_buffering_never_reads_from_the_future() {
    let seen = observe(
        [
            &|x, y, note| {
                note(0, load(x, Relaxed));
                store(y, 1, Relaxed);
            },
            &|x, y, note| {
                note(1, load(y, Relaxed));
                store(x, 1, Relaxed);
            },
        ],
        SEEDS,
    );
    assert!(!seen.contains_key(&(1, 1)), "{seen:?}");
}

#[test]
fn reads_of_one_location_never_go_back() {
    let seen = observe(
        [
            &|x, _, _| {
                for value in 1..8 {
                    store(x, value, Relaxed);
                }
            },
            &|x, _, note| {
                let mut last = 0;
                for _ in 0..8 {
                    let value = load(x, Relaxed);
                    assert!(value >= last, "{value} after {last}");
                    last = value;
                }
                note(0, last);
            },
        ],
        SEEDS,
    );
    assert!(seen.len() > 4, "many values are seen: {seen:?}");
}

#[test]
fn a_thread_reads_its_own_store_or_a_later_one() {
    observe(
        [
            &|x, _, _| {
                store(x, 1, Relaxed);
                assert_ne!(load(x, Relaxed), 0);
            },
            &|x, _, _| {
                store(x, 2, Relaxed);
                assert_ne!(load(x, Relaxed), 0);
            },
        ],
        SEEDS,
    );
}

#[test]
fn coherence_holds_across_a_barrier() {
    // Thread 0 reads the flag; behind the barrier its block-mates read nothing older.
    passes(|seed| {
        let simulator = Simulator::new(together(seed));
        let flag = words(&simulator, &[0]);
        simulator.launch(KERNEL, Geometry::linear(2, 2, 4), &|| {
            if bid() == 0 {
                if thread_idx()[0] == 0 {
                    store(flag, 1, Relaxed);
                }
                return;
            }
            if thread_idx()[0] == 0 {
                shared_store(0, load(flag, Relaxed));
            }
            barrier();
            let first: u32 = shared_load(0);
            assert!(load(flag, Relaxed) >= first);
        })
    });
}

// ---- read-modify-write -------------------------------------------------------------------------------------------

#[test]
fn a_counter_counts() {
    passes(|seed| {
        let simulator = Simulator::new(varied(seed));
        let counter = words(&simulator, &[0]);
        let report = simulator.launch(KERNEL, Geometry::linear(6, 40, 0), &|| {
            add(counter, 1, Relaxed);
        })?;
        assert_eq!(read_words(&simulator, counter, 1), [240]);
        Ok(report)
    });
}

fn locked(seed: u64, acquire: Ordering, release: Ordering) -> Result<Report, Fault> {
    let simulator = Simulator::new(varied(seed));
    let (lock, value) = (words(&simulator, &[0]), words(&simulator, &[0]));
    let report = simulator.launch(KERNEL, Geometry::linear(4, 3, 0), &|| {
        while atomic_update(Space::Global, lock, acquire, Device, |old: u32| (old == 0).then_some(1)) != 0 {
            loop_tick();
        }
        let old: u32 = global_load(value, Load::Weak);
        global_store(value, old + 1, Store::Weak);
        store(lock, 0, release);
    })?;
    assert_eq!(read_words(&simulator, value, 1), [12]);
    Ok(report)
}

#[test]
fn a_lock_orders_what_it_guards() {
    passes(|seed| locked(seed, Acquire, Release));
    for (acquire, release) in [(Relaxed, Release), (Acquire, Relaxed)] {
        caught_always(
            |seed| locked(seed, acquire, release),
            |fault| assert!(matches!(fault.kind, FaultKind::Race { .. }), "{fault}"),
        );
    }
}

#[test]
fn atomics_of_block_scope_race_between_blocks() {
    let run = |seed, scope| {
        let simulator = Simulator::new(varied(seed));
        let counter = words(&simulator, &[0]);
        simulator.launch(KERNEL, Geometry::linear(3, 2, 0), &|| {
            let address = counter;
            atomic_update(Space::Global, address, Relaxed, scope, |old: u32| Some(old + 1));
        })
    };
    caught_always(
        |seed| run(seed, Block),
        |fault| {
            assert!(matches!(fault.kind, FaultKind::Race { .. }), "{fault}");
            assert!(
                fault.other.as_ref().unwrap().atomic && fault.other.as_ref().unwrap().block != fault.block
            );
        },
    );
    passes(|seed| run(seed, Device));
}

#[test]
fn a_release_sequence_goes_through_updates() {
    // Block 0 releases, block 1 updates relaxed, block 2 acquires from the update: it knows block 0's write.
    passes(|seed| {
        let simulator = Simulator::new(together(seed));
        let (data, flag) = (words(&simulator, &[0]), words(&simulator, &[0]));
        simulator.launch(KERNEL, Geometry::linear(3, 1, 0), &|| match bid() {
            0 => {
                global_store(data, 7u32, Store::Weak);
                add(flag, 1, Release);
            }
            1 => {
                while atomic_update(Space::Global, flag, Relaxed, Device, |old: u32| (old == 1).then_some(2))
                    != 1
                {}
            }
            _ => {
                while load(flag, Acquire) != 2 {}
                assert_eq!(global_load::<u32>(data, Load::Weak), 7);
            }
        })
    });
}

// ---- patterns of real kernels ------------------------------------------------------------------------------------

/// Sum of `blocks * 64` ones: every block sums its tile; the last to finish sums the partial results.
fn last_block_done(seed: u64, ticket: Ordering, blocks: u32) -> Result<Report, Fault> {
    const THREADS: u32 = 64;
    let simulator = Simulator::new(varied(seed));
    let input = words(&simulator, &vec![1; (blocks * THREADS) as usize]);
    let partial = simulator.alloc(blocks as usize * 4)?;
    let (count, out) = (words(&simulator, &[0]), words(&simulator, &[0]));
    let report = simulator.launch(KERNEL, Geometry::linear(blocks, THREADS, 4 * 32 + 4), &|| {
        let t = thread_idx()[0];
        let block_sum = |mut value: u32| {
            for step in [16, 8, 4, 2, 1] {
                value = value.wrapping_add(shuffle(!0, Shuffle::Down, value, step, 32).0);
            }
            if t.is_multiple_of(32) {
                shared_store(t / 32 * 4, value);
            }
            barrier();
            let sum = shared_load::<u32>(0).wrapping_add(shared_load::<u32>(4));
            barrier();
            sum
        };
        let sum = block_sum(global_load(input + 4 * u64::from(bid() * THREADS + t), Load::ReadOnly));
        if t == 0 {
            global_store(partial + 4 * u64::from(bid()), sum, Store::Weak);
            let drawn = add(count, 1, ticket);
            shared_store(128, u32::from(drawn == blocks - 1));
        }
        barrier();
        if shared_load::<u32>(128) == 0 {
            return;
        }
        let mut sum = 0;
        for i in (t..blocks).step_by(THREADS as usize) {
            sum += global_load::<u32>(partial + 4 * u64::from(i), Load::Weak);
        }
        let sum = block_sum(sum);
        if t == 0 {
            global_store(out, sum, Store::Weak);
        }
    })?;
    assert_eq!(read_words(&simulator, out, 1), [blocks * THREADS]);
    Ok(report)
}

#[test]
fn last_block_done_reduction() {
    passes(|seed| last_block_done(seed, AcqRel, 1 + (seed % 9) as u32));
    for ticket in [Relaxed, Acquire, Release] {
        caught_always(
            |seed| last_block_done(seed, ticket, 6),
            |fault| assert!(matches!(fault.kind, FaultKind::Race { .. }), "{fault}"),
        );
    }
}

/// Exclusive prefix sum of block numbers by decoupled look-back, with numbers drawn from a ticket.
fn look_back(seed: u64, publish: Ordering, inspect: Ordering, blocks: u32) -> Result<Report, Fault> {
    let simulator = Simulator::new(Config { resident_blocks: 4, ..varied(seed) });
    let ticket = words(&simulator, &[0]);
    // 0: nothing yet, 1: the block's own sum, 2: the sum up to and including it.
    let state = words(&simulator, &vec![0; blocks as usize]);
    let (own, total) = (simulator.alloc(blocks as usize * 4)?, simulator.alloc(blocks as usize * 4)?);
    let out = simulator.alloc(blocks as usize * 4)?;
    let report = simulator.launch(KERNEL, Geometry::linear(blocks, 1, 0), &|| {
        let me = add(ticket, 1, Relaxed);
        let word = |array: u64, index: u32| array + 4 * u64::from(index);
        let mine = me + 1;
        global_store(word(own, me), mine, Store::Weak);
        if me > 0 {
            store(word(state, me), 1, publish);
        }
        let (mut before, mut at) = (0, me);
        while at > 0 {
            let found = load(word(state, at - 1), inspect);
            if found == 2 {
                before += global_load::<u32>(word(total, at - 1), Load::Weak);
                break;
            }
            if found == 1 {
                before += global_load::<u32>(word(own, at - 1), Load::Weak);
                at -= 1;
            }
            loop_tick();
        }
        global_store(word(total, me), before + mine, Store::Weak);
        store(word(state, me), 2, publish);
        global_store(word(out, me), before, Store::Weak);
    })?;
    assert_eq!(
        read_words(&simulator, out, blocks as usize),
        (0..blocks).map(|b| b * (b + 1) / 2).collect::<Vec<_>>()
    );
    Ok(report)
}

#[test]
fn decoupled_look_back() {
    passes(|seed| look_back(seed, Release, Acquire, 24));
    for (publish, inspect) in [(Relaxed, Acquire), (Release, Relaxed)] {
        caught_always(
            |seed| look_back(seed, publish, inspect, 24),
            |fault| assert!(matches!(fault.kind, FaultKind::Race { .. }), "{fault}"),
        );
    }
}

#[test]
fn a_long_look_back_chain_stays_cheap() {
    look_back(1, Release, Acquire, 10_000).unwrap_or_else(|fault| panic!("{fault}"));
}

/// Two threads use a word of 64 bits and its upper half, atomically.
fn halves(seed: u64, load: bool, ordered: bool) -> Result<Report, Fault> {
    let simulator = Simulator::new(together(seed));
    let x = words(&simulator, &[0; 2]);
    simulator.launch(KERNEL, Geometry::linear(1, 2, 0), &|| {
        if thread_idx()[0] == 0 {
            atomic_update(Space::Global, x, Ordering::Relaxed, Scope::Device, |old: u64| {
                Some(old + (1 << 32))
            });
        }
        if ordered {
            barrier();
        }
        if thread_idx()[0] == 1 {
            if load {
                atomic_load::<u32>(Space::Global, x + 4, Ordering::Relaxed, Scope::Device);
            } else {
                atomic_update(Space::Global, x + 4, Ordering::Relaxed, Scope::Device, |old: u32| {
                    Some(old + 1)
                });
            }
        }
    })
}

#[test]
fn atomics_of_different_sizes_on_one_word_race() {
    for load in [false, true] {
        caught_always(
            |seed| halves(seed, load, false),
            |fault| {
                assert!(matches!(fault.kind, FaultKind::Race { space: Space::Global, .. }), "{fault}");
                let other = fault.other.as_ref().unwrap();
                assert!(other.atomic && other.thread[0] + fault.thread[0] == 1, "{fault}");
            },
        );
        passes(|seed| halves(seed, load, true));
    }
    // Loads alone, of whatever sizes, do not race.
    passes(|seed| {
        let simulator = Simulator::new(together(seed));
        let x = words(&simulator, &[0; 2]);
        simulator.launch(KERNEL, Geometry::linear(1, 2, 0), &|| {
            if thread_idx()[0] == 0 {
                atomic_load::<u64>(Space::Global, x, Ordering::Relaxed, Scope::Device);
            } else {
                atomic_load::<u32>(Space::Global, x, Ordering::Relaxed, Scope::Device);
            }
        })
    });
}
