//! Kernels that are broken on purpose, each beside its correct form: the first is caught, the second passes.

mod common;

use std::cell::Cell;

use common::*;
use gpu_sim::device::*;
use gpu_sim::{Config, Direction, Fault, FaultKind, Geometry, Report, Simulator};

fn tid() -> u32 {
    thread_idx()[0]
}

fn bid() -> u32 {
    block_idx()[0]
}

fn launch(simulator: &Simulator, geometry: Geometry, body: impl Fn() + Sync) -> Result<Report, Fault> {
    simulator.launch(KERNEL, geometry, &body)
}

// ---- bounds, alignment, lifetime ---------------------------------------------------------------------------------

fn copy(seed: u64, threads: u32, read: usize, written: usize) -> Result<Report, Fault> {
    let simulator = Simulator::new(varied(seed));
    let x = words(&simulator, &vec![1; read]);
    let y = words(&simulator, &vec![0; written]);
    launch(&simulator, Geometry::linear(2, threads, 0), || {
        let i = u64::from(tid());
        if bid() == 1 {
            LINE.set(line!() + 1);
            let value: u32 = global_load(x + 4 * i, Load::Weak);
            if i as usize >= read.min(written) {
                LINE.set(line!() + 1);
                global_store(y + 4 * i, value, Store::Weak);
                return;
            }
            global_store(y + 4 * i, value, Store::Weak);
        }
    })
}

#[test]
fn out_of_bounds_read() {
    // The line of the load is the first marked one; reading beyond the end never reaches the second.
    caught_always(
        |seed| copy(seed, 33, 32, 64),
        |fault| {
            assert!(
                matches!(
                    fault.kind,
                    FaultKind::OutOfBounds {
                        direction: Direction::Read,
                        offset: 128,
                        bytes: 4,
                        size: 128,
                        ..
                    }
                ),
                "{fault}"
            );
            assert_eq!((fault.block, fault.thread), ([1, 0, 0], [32, 0, 0]));
            names_line(fault, file!());
        },
    );
    passes(|seed| copy(seed, 32, 32, 64));
}

#[test]
fn out_of_bounds_write() {
    caught_always(
        |seed| copy(seed, 33, 64, 32),
        |fault| {
            assert!(
                matches!(fault.kind, FaultKind::OutOfBounds { direction: Direction::Write, offset: 128, .. }),
                "{fault}"
            );
            assert_eq!((fault.block, fault.thread), ([1, 0, 0], [32, 0, 0]));
            names_line(fault, file!());
        },
    );
    passes(|seed| copy(seed, 32, 64, 32));
}

#[test]
fn out_of_bounds_before_the_start_and_in_shared_memory() {
    let simulator = Simulator::default();
    let x = words(&simulator, &[1; 8]);
    let fault = launch(&simulator, Geometry::linear(1, 1, 0), || {
        global_load::<u32>(x - 4, Load::Weak);
    })
    .unwrap_err();
    assert!(matches!(fault.kind, FaultKind::OutOfBounds { offset: -4, size: 32, .. }), "{fault}");
    let fault = launch(&simulator, Geometry::linear(1, 1, 64), || shared_store(64, 1u32)).unwrap_err();
    assert!(
        matches!(fault.kind, FaultKind::OutOfBounds { space: Space::Shared, offset: 64, size: 64, .. }),
        "{fault}"
    );
}

#[test]
fn misaligned_wild_and_freed_addresses() {
    let simulator = Simulator::default();
    let x = words(&simulator, &[1; 8]);
    let gone = words(&simulator, &[1; 8]);
    simulator.free(gone).unwrap();
    let run = |address: u64| {
        launch(&simulator, Geometry::linear(1, 1, 0), || {
            global_load::<u64>(address, Load::Weak);
        })
    };
    assert!(matches!(run(x + 4).unwrap_err().kind, FaultKind::Misaligned { bytes: 8, .. }));
    assert!(matches!(run(1 << 50).unwrap_err().kind, FaultKind::WildAddress { .. }));
    assert!(matches!(run(gone).unwrap_err().kind, FaultKind::UseAfterFree { .. }));
    run(x + 8).unwrap();
}

// ---- bytes never written -----------------------------------------------------------------------------------------

fn unwritten_shared(seed: u64, written: bool) -> Result<Report, Fault> {
    let simulator = Simulator::new(varied(seed));
    launch(&simulator, Geometry::linear(3, 1, 64), || {
        if written || bid() != 2 {
            shared_store(16, 7u32);
        }
        at!(shared_load::<u32>(16));
    })
}

#[test]
fn read_of_unwritten_shared_memory() {
    caught_always(
        |seed| unwritten_shared(seed, false),
        |fault| {
            assert!(
                matches!(fault.kind, FaultKind::Unwritten { space: Space::Shared, address: 16, .. }),
                "{fault}"
            );
            assert_eq!((fault.block, fault.thread), ([2, 0, 0], [0, 0, 0]));
            names_line(fault, file!());
        },
    );
    passes(|seed| unwritten_shared(seed, true));
}

fn unwritten_global(seed: u64, written: bool) -> Result<Report, Fault> {
    let simulator = Simulator::new(varied(seed));
    let x = simulator.alloc(64).unwrap();
    simulator.fill(x, if written { 64 } else { 60 }, 1).unwrap();
    launch(&simulator, Geometry::linear(1, 16, 0), || {
        at!(global_load::<u32>(x + 4 * u64::from(tid()), Load::Weak));
    })
}

#[test]
fn read_of_unwritten_global_memory() {
    caught_always(
        |seed| unwritten_global(seed, false),
        |fault| {
            assert!(matches!(fault.kind, FaultKind::Unwritten { space: Space::Global, .. }), "{fault}");
            assert_eq!((fault.block, fault.thread), ([0, 0, 0], [15, 0, 0]));
            names_line(fault, file!());
        },
    );
    passes(|seed| unwritten_global(seed, true));
}

// ---- missing synchronisation -------------------------------------------------------------------------------------

/// Each thread writes its word and reads its mirror image; `sync` stands between.
fn reverse(seed: u64, threads: u32, sync: impl Fn() + Sync) -> Result<Report, Fault> {
    let simulator = Simulator::new(varied(seed));
    let y = words(&simulator, &vec![0; threads as usize]);
    let report = launch(&simulator, Geometry::linear(1, threads, threads * 4), || {
        shared_store(4 * tid(), 0u32);
        barrier();
        shared_store(4 * tid(), tid());
        sync();
        LINE.set(line!() + 1);
        let value: u32 = shared_load(4 * (threads - 1 - tid()));
        global_store(y + 4 * u64::from(tid()), value, Store::Weak);
    })?;
    assert_eq!(read_words(&simulator, y, threads as usize), (0..threads).rev().collect::<Vec<_>>());
    Ok(report)
}

fn is_race_of_mirror_images(fault: &Fault, threads: u32) {
    assert!(matches!(fault.kind, FaultKind::Race { space: Space::Shared, .. }), "{fault}");
    let other = fault.other.as_ref().unwrap();
    assert_eq!(fault.block, other.block);
    assert_eq!(fault.thread[0] + other.thread[0], threads - 1, "{fault}");
    assert!(fault.site.as_ref().unwrap().line != other.site.as_ref().unwrap().line, "{fault}");
    assert!(
        [fault.site.as_ref(), other.site.as_ref()].iter().flatten().any(|site| site.line == LINE.get()),
        "{fault}"
    );
}

#[test]
fn missing_barrier() {
    caught_always(|seed| reverse(seed, 64, || ()), |fault| is_race_of_mirror_images(fault, 64));
    // A warp barrier is not enough for two warps.
    caught_always(|seed| reverse(seed, 64, || sync_warp(!0)), |fault| is_race_of_mirror_images(fault, 64));
    passes(|seed| reverse(seed, 64, barrier));
}

#[test]
fn missing_sync_warp() {
    caught_always(|seed| reverse(seed, 32, || ()), |fault| is_race_of_mirror_images(fault, 32));
    // Shuffles and votes bring lanes together, but order no memory.
    caught_always(
        |seed| {
            reverse(seed, 32, || {
                vote(!0, Vote::Any, true);
            })
        },
        |fault| is_race_of_mirror_images(fault, 32),
    );
    // Half-warps that synchronise apart do not see each other.
    caught_always(
        |seed| reverse(seed, 32, || sync_warp(if tid() < 16 { 0xffff } else { 0xffff_0000 })),
        |fault| is_race_of_mirror_images(fault, 32),
    );
    passes(|seed| reverse(seed, 32, || sync_warp(!0)));
    passes(|seed| reverse(seed, 32, || sync_warp(0x0001_8000 | 0x8000_0001 | !0)));
}

fn blocks_add(seed: u64, atomic: bool) -> Result<Report, Fault> {
    let simulator = Simulator::new(varied(seed));
    let sum = words(&simulator, &[0]);
    let report = launch(&simulator, Geometry::linear(6, 1, 0), || {
        if atomic {
            atomic_update::<u32>(Space::Global, sum, Ordering::Relaxed, Scope::Device, |old| Some(old + 1));
        } else {
            LINE.set(line!() + 1);
            let old: u32 = global_load(sum, Load::Weak);
            global_store(sum, old + 1, Store::Weak);
        }
    })?;
    assert_eq!(read_words(&simulator, sum, 1), [6]);
    Ok(report)
}

#[test]
fn race_between_blocks() {
    caught_always(
        |seed| blocks_add(seed, false),
        |fault| {
            assert!(matches!(fault.kind, FaultKind::Race { space: Space::Global, .. }), "{fault}");
            let other = fault.other.as_ref().unwrap();
            assert_ne!(fault.block, other.block);
            assert_eq!(other.site.as_ref().unwrap().line, LINE.get() + 1, "the other block's store");
            names_line(fault, file!());
        },
    );
    passes(|seed| blocks_add(seed, true));
}

/// Block 0 publishes a payload behind a flag, block 1 waits for the flag and reads it.
fn publish(
    seed: u64,
    before_flag: impl Fn() + Sync,
    flag: Ordering,
    wait: Ordering,
    after: impl Fn() + Sync,
) -> Result<Report, Fault> {
    let simulator = Simulator::new(together(seed));
    let buffer = words(&simulator, &[0, 0, 0]);
    let (data, ready, out) = (buffer, buffer + 4, buffer + 8);
    let report = launch(&simulator, Geometry::linear(2, 1, 0), || {
        if bid() == 0 {
            global_store(data, 42u32, Store::Weak);
            before_flag();
            atomic_store(Space::Global, ready, 1u32, flag, Scope::Device);
        } else {
            while atomic_load::<u32>(Space::Global, ready, wait, Scope::Device) == 0 {
                loop_tick();
            }
            after();
            LINE.set(line!() + 1);
            let value: u32 = global_load(data, Load::Weak);
            global_store(out, value, Store::Weak);
        }
    })?;
    assert_eq!(read_words(&simulator, out, 1), [42]);
    Ok(report)
}

fn is_race_on_the_payload(fault: &Fault) {
    assert!(
        matches!(fault.kind, FaultKind::Race { space: Space::Global, direction: Direction::Read, .. }),
        "{fault}"
    );
    assert_eq!((fault.block, fault.other.as_ref().unwrap().block), ([1, 0, 0], [0, 0, 0]));
    names_line(fault, file!());
}

#[test]
fn payload_behind_a_relaxed_flag() {
    use Ordering::{Acquire, Relaxed, Release};
    caught_always(|seed| publish(seed, || (), Relaxed, Relaxed, || ()), is_race_on_the_payload);
    caught_always(|seed| publish(seed, || (), Release, Relaxed, || ()), is_race_on_the_payload);
    caught_always(|seed| publish(seed, || (), Relaxed, Acquire, || ()), is_race_on_the_payload);
    passes(|seed| publish(seed, || (), Release, Acquire, || ()));
}

#[test]
fn fence_of_block_scope_between_blocks() {
    use Ordering::{AcqRel, Acquire, Relaxed, Release};
    let (device, block) = (|| fence(AcqRel, Scope::Device), || fence(AcqRel, Scope::Block));
    caught_always(|seed| publish(seed, block, Relaxed, Relaxed, device), is_race_on_the_payload);
    caught_always(|seed| publish(seed, device, Relaxed, Relaxed, block), is_race_on_the_payload);
    caught_always(|seed| publish(seed, block, Relaxed, Acquire, || ()), is_race_on_the_payload);
    passes(|seed| publish(seed, device, Relaxed, Relaxed, device));
    passes(|seed| publish(seed, || (), Release, Relaxed, device));
    passes(|seed| publish(seed, device, Relaxed, Acquire, || ()));
}

// ---- read-only loads, asynchronous copies ------------------------------------------------------------------------

fn read_only(seed: u64, kind: Load, read_first: bool) -> Result<Report, Fault> {
    let simulator = Simulator::new(varied(seed));
    let x = words(&simulator, &[1; 32]);
    launch(&simulator, Geometry::linear(1, 32, 0), || {
        let mine = x + 4 * u64::from(tid());
        if !read_first {
            global_store(mine, tid(), Store::Weak);
        }
        LINE.set(line!() + 1);
        global_load::<u32>(mine, kind);
        if read_first {
            global_store(mine, tid(), Store::Weak);
        }
    })
}

#[test]
fn read_only_load_of_data_written_in_the_same_kernel() {
    // Even by the same thread, and even when the write comes later.
    for read_first in [false, true] {
        caught_always(
            |seed| read_only(seed, Load::ReadOnly, read_first),
            |fault| {
                assert!(matches!(fault.kind, FaultKind::ReadOnlyWritten { .. }), "{fault}");
                assert_eq!(fault.other.as_ref().unwrap().thread, fault.thread);
                if !read_first {
                    names_line(fault, file!());
                }
            },
        );
        passes(|seed| read_only(seed, Load::Weak, read_first));
    }
}

fn asynchronous(seed: u64, pending: Option<u32>, meet: bool) -> Result<Report, Fault> {
    let simulator = Simulator::new(varied(seed));
    let x = words(&simulator, &(0..64).collect::<Vec<_>>());
    let y = words(&simulator, &[0; 64]);
    let report = launch(&simulator, Geometry::linear(1, 64, 256), || {
        cp_async(4 * tid(), x + 4 * u64::from(tid()), 4, 4);
        cp_async_commit();
        if let Some(pending) = pending {
            cp_async_wait(pending);
        }
        if meet {
            barrier();
        }
        LINE.set(line!() + 1);
        let value: u32 = shared_load(4 * (tid() ^ u32::from(meet)));
        global_store(y + 4 * u64::from(tid()), value, Store::Weak);
    })?;
    assert_eq!(read_words(&simulator, y, 64), (0..64).map(|i| i ^ u32::from(meet)).collect::<Vec<_>>());
    Ok(report)
}

#[test]
fn asynchronous_copy_read_before_its_wait() {
    for (pending, meet) in [(None, false), (Some(1), false), (None, true), (Some(1), true)] {
        caught_always(
            |seed| asynchronous(seed, pending, meet),
            |fault| {
                assert!(
                    matches!(fault.kind, FaultKind::AsyncNotWaited { direction: Direction::Read, .. }),
                    "{fault}"
                );
                names_line(fault, file!());
            },
        );
    }
    passes(|seed| asynchronous(seed, Some(0), false));
    passes(|seed| asynchronous(seed, Some(0), true));
}

#[test]
fn asynchronous_copy_read_by_another_thread_without_a_barrier() {
    let run = |seed| {
        let simulator = Simulator::new(varied(seed));
        let x = words(&simulator, &[5]);
        launch(&simulator, Geometry::linear(1, 2, 4), || {
            if tid() == 0 {
                cp_async(0, x, 4, 4);
                cp_async_commit();
                cp_async_wait(0);
            }
            sync_warp(if tid() == 0 { 1 } else { 2 });
            shared_load::<u32>(0);
        })
    };
    // Before the copy starts the bytes are unwritten, while it flies they are in flight, after that the read races.
    let kinds = Cell::new([0; 3]);
    caught_always(run, |fault| {
        let mut seen = kinds.get();
        match fault.kind {
            FaultKind::Race { space: Space::Shared, .. } => seen[0] += 1,
            FaultKind::Unwritten { space: Space::Shared, .. } => seen[1] += 1,
            FaultKind::AsyncNotWaited { .. } => seen[2] += 1,
            _ => panic!("{fault}"),
        }
        kinds.set(seen);
    });
    assert!(kinds.get()[0] > 0, "{:?}", kinds.get());
}

// ---- divergence --------------------------------------------------------------------------------------------------

#[test]
fn barrier_under_divergence() {
    let run = |seed, everyone: bool| {
        launch(&Simulator::new(varied(seed)), Geometry::linear(2, 64, 0), move || {
            if bid() == 0 || tid() < 48 || everyone {
                at!(barrier());
            }
        })
    };
    caught_always(
        |seed| run(seed, false),
        |fault| {
            assert!(matches!(fault.kind, FaultKind::BarrierDivergence { .. }), "{fault}");
            assert_eq!(fault.block, [1, 0, 0]);
            assert!(fault.thread[0] < 48, "a thread that waits: {fault}");
            names_line(fault, file!());
        },
    );
    passes(|seed| run(seed, true));
}

#[test]
fn two_barriers_on_two_ways() {
    let run = |seed| {
        launch(&Simulator::new(varied(seed)), Geometry::linear(1, 64, 4), || {
            if tid() < 32 {
                barrier();
                shared_store(0, 1u32);
            } else {
                barrier();
            }
        })
    };
    caught_always(run, |fault| assert!(matches!(fault.kind, FaultKind::BarrierDivergence { .. }), "{fault}"));
}

#[test]
fn shuffle_that_a_lane_never_reaches() {
    let run = |seed, everyone: bool| {
        launch(&Simulator::new(varied(seed)), Geometry::linear(1, 64, 0), move || {
            if tid() != 37 || everyone {
                at!(shuffle(!0, Shuffle::Down, tid(), 1, 32));
            }
        })
    };
    caught_always(
        |seed| run(seed, false),
        |fault| {
            assert!(
                matches!(
                    fault.kind,
                    FaultKind::WarpDivergence { operation: "shuffle", missing: 0x20, mask: u32::MAX, .. }
                ),
                "{fault}"
            );
            assert!(
                (32..64).contains(&fault.thread[0]) && fault.thread[0] != 37,
                "a lane that waits: {fault}"
            );
            names_line(fault, file!());
        },
    );
    passes(|seed| run(seed, true));
}

#[test]
fn lanes_that_wait_for_each_other_in_different_collectives() {
    let run = |seed| {
        launch(&Simulator::new(varied(seed)), Geometry::linear(1, 32, 0), || {
            if tid() == 3 {
                vote(!0, Vote::Any, true);
            } else {
                redux(!0, Redux::Add, 1);
            }
        })
    };
    caught_always(run, |fault| assert!(matches!(fault.kind, FaultKind::WarpDivergence { .. }), "{fault}"));
    let run = |seed| {
        launch(&Simulator::new(varied(seed)), Geometry::linear(1, 32, 0), || {
            if tid() == 3 {
                barrier();
            }
            sync_warp(!0);
            if tid() != 3 {
                barrier();
            }
        })
    };
    caught_always(run, |fault| {
        assert!(matches!(fault.kind, FaultKind::WarpDivergence { missing: 8, .. }), "{fault}")
    });
}

#[test]
fn masks_that_do_not_name_the_caller_and_shuffles_from_strangers() {
    let simulator = Simulator::default();
    let geometry = Geometry::linear(1, 32, 0);
    let fault = launch(&simulator, geometry, || {
        vote(0xffff, Vote::All, true);
    })
    .unwrap_err();
    assert!(matches!(fault.kind, FaultKind::NotInMask { mask: 0xffff, lane: 16.., .. }), "{fault}");
    let fault = launch(&simulator, geometry, || {
        if tid() < 16 {
            shuffle(0xffff, Shuffle::Index, tid(), 20, 32);
        }
    })
    .unwrap_err();
    assert!(matches!(fault.kind, FaultKind::ShuffleSource { mask: 0xffff, source_lane: 20 }), "{fault}");
}

// ---- deadlocks and spins -----------------------------------------------------------------------------------------

/// Blocks pass a token on, from the first to the last or the other way round.
fn token(seed: u64, towards_earlier: bool, ticket: bool) -> Result<Report, Fault> {
    let config = Config { resident_blocks: 3, ..varied(seed) };
    let simulator = Simulator::new(config);
    let (flags, tickets) = (words(&simulator, &[0; 12]), words(&simulator, &[0]));
    launch(&simulator, Geometry::linear(12, 1, 0), || {
        let me = if ticket {
            atomic_update::<u32>(Space::Global, tickets, Ordering::Relaxed, Scope::Device, |old| {
                Some(old + 1)
            })
        } else {
            bid()
        };
        let before = if towards_earlier { me + 1 } else { me.wrapping_sub(1) };
        if before < 12 {
            let flag = flags + 4 * u64::from(before);
            while at!(atomic_load::<u32>(Space::Global, flag, Ordering::Acquire, Scope::Device)) == 0 {}
        }
        atomic_store(Space::Global, flags + 4 * u64::from(me), 1u32, Ordering::Release, Scope::Device);
    })
}

#[test]
fn block_waiting_for_a_later_block_that_may_never_start() {
    // Depends on the order in which blocks start: caught unless that happens to be the right one.
    let check = |fault: &Fault| {
        assert!(matches!(fault.kind, FaultKind::Livelock { not_started: 1.., .. }), "{fault}");
        names_line(fault, file!());
    };
    let later = caught(100, |seed| token(seed, true, false), check);
    let earlier = caught(100, |seed| token(seed, false, false), check);
    println!("waiting for a later block: caught by {later} of 100 seeds; for an earlier one: {earlier}");
    assert!(later >= 60, "{later}");
    assert!(earlier >= 40, "an order that hardware does not promise: {earlier}");
    // Numbers drawn at the start are those of blocks that have started.
    passes(|seed| token(seed, false, true));
}

#[test]
fn spin_that_nobody_ends() {
    let spins: [fn(u64); 5] = [
        |flag| while atomic_load::<u32>(Space::Global, flag, Ordering::Relaxed, Scope::Device) == 0 {},
        |flag| while global_load::<u32>(flag, Load::Volatile) == 0 {},
        |flag| while global_load::<u32>(flag, Load::Weak) == 0 {},
        |flag| {
            while atomic_update::<u32>(Space::Global, flag, Ordering::Relaxed, Scope::Device, |v| {
                (v == 1).then_some(2)
            }) != 1
            {}
        },
        |_| {
            loop {
                loop_tick();
            }
        },
    ];
    for spin in spins {
        let run = |seed| {
            let simulator = Simulator::new(varied(seed));
            let flag = words(&simulator, &[0]);
            launch(&simulator, Geometry::linear(2, 32, 0), || {
                if (bid(), tid()) == (1, 5) {
                    spin(flag);
                }
            })
        };
        let found = caught(10, run, |fault| {
            assert!(matches!(fault.kind, FaultKind::Livelock { .. }), "{fault}");
            assert_eq!((fault.block, fault.thread), ([1, 0, 0], [5, 0, 0]), "{fault}");
            assert_eq!(fault.site.as_ref().unwrap().file, file!());
        });
        assert_eq!(found, 10);
    }
}

#[test]
fn values_that_change_for_ever_exhaust_the_step_budget() {
    let simulator = Simulator::new(Config { steps_per_thread: 1 << 10, step_base: 1 << 16, ..varied(1) });
    let flag = words(&simulator, &[0]);
    let fault = launch(&simulator, Geometry::linear(1, 1, 0), || {
        loop {
            let old: u32 = global_load(flag, Load::Weak);
            global_store(flag, old.wrapping_add(1), Store::Weak);
        }
    })
    .unwrap_err();
    assert!(matches!(fault.kind, FaultKind::StepBudget { .. }), "{fault}");
}

#[test]
fn long_loops_that_end_are_no_livelock() {
    let simulator = Simulator::new(varied(3));
    let x = words(&simulator, &vec![1; 1 << 20]);
    let y = words(&simulator, &[0]);
    launch(&simulator, Geometry::linear(1, 1, 0), || {
        let sum: u32 = (0..1 << 20).map(|i| global_load::<u32>(x + 4 * i, Load::Weak)).sum();
        global_store(y, sum, Store::Weak);
    })
    .unwrap();
    assert_eq!(read_words(&simulator, y, 1), [1 << 20]);
}

// ---- panics, and life after a fault ------------------------------------------------------------------------------

#[test]
fn a_panic_in_the_kernel_becomes_a_fault() {
    let simulator = Simulator::default();
    let zero = words(&simulator, &[0]);
    let fault = launch(&simulator, Geometry::linear(2, 40, 0), || {
        let divisor: u32 = global_load(zero, Load::Weak);
        barrier();
        if (bid(), tid()) == (1, 33) {
            at!(assert!(divisor != 0, "division by {divisor}"));
        }
        barrier();
    })
    .unwrap_err();
    assert_eq!(fault.kind, FaultKind::Panic { message: "division by 0".into() });
    assert_eq!((fault.block, fault.thread), ([1, 0, 0], [33, 0, 0]));
    names_line(&fault, file!());
    // Memory is readable, and the next launch runs.
    assert_eq!(read_words(&simulator, zero, 1), [0]);
    launch(&simulator, Geometry::linear(2, 40, 0), barrier).unwrap();
}

#[test]
fn zero_and_oversized_launches_are_refused() {
    let simulator = Simulator::default();
    let refused = |grid: [u32; 3], block: [u32; 3], shared_bytes: u32| {
        let fault = simulator.launch(KERNEL, Geometry { grid, block, shared_bytes }, &|| ()).unwrap_err();
        assert!(matches!(fault.kind, FaultKind::InvalidLaunch { .. }), "{fault}");
    };
    refused([0, 1, 1], [32, 1, 1], 0);
    refused([1, 1, 1], [32, 0, 1], 0);
    refused([1, 1, 1], [1025, 1, 1], 0);
    refused([1, 1, 1], [64, 32, 1], 0);
    refused([1, 70_000, 1], [1, 1, 1], 0);
    refused([u32::MAX, 1, 1], [1024, 1, 1], 0);
    refused([1, 1, 1], [1, 1, 1], 300 << 10);
}
