//! Kernels that break memory on purpose, each beside its correct form: the first is caught, the second passes.

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

/// A copy that lands where another thread has written, ordered after its start or not at all.
#[test]
fn asynchronous_copy_that_lands_on_another_threads_write() {
    let run = |seed, ordered: bool| {
        let simulator = Simulator::new(varied(seed));
        let x = words(&simulator, &[5]);
        launch(&simulator, Geometry::linear(1, 2, 4), || {
            if tid() == 1 {
                shared_store(0, 7u32);
            }
            if ordered {
                barrier();
            }
            if tid() == 0 {
                at!(cp_async(0, x, 4, 4));
                cp_async_commit();
                cp_async_wait(0);
            }
        })
    };
    let landed = Cell::new(0);
    caught_always(
        |seed| run(seed, false),
        |fault| match fault.kind {
            FaultKind::Race { space: Space::Shared, .. } => {
                // The side of the copy is the line that started it, not that of the wait.
                let last = fault.thread == [0, 0, 0];
                let other = fault.other.as_ref().unwrap();
                let copy = if last { &fault.site } else { &other.site };
                assert_eq!(copy.as_ref().unwrap().line, LINE.get(), "{fault}");
                landed.set(landed.get() + u32::from(last));
            }
            FaultKind::AsyncNotWaited { .. } => assert_eq!(fault.thread, [1, 0, 0], "{fault}"),
            _ => panic!("{fault}"),
        },
    );
    assert!(landed.get() > 0);
    passes(|seed| run(seed, true));
}

/// A copy whose source is written, by the thread that started it or by another one, before or after the wait.
fn overwritten_source(seed: u64, by_another: bool, wait_first: bool, atomic: bool) -> Result<Report, Fault> {
    let simulator = Simulator::new(together(seed));
    let x = words(&simulator, &(0..64).collect::<Vec<_>>());
    launch(&simulator, Geometry::linear(1, 64, 256), || {
        at!(cp_async(4 * tid(), x + 4 * u64::from(tid()), 4, 4));
        cp_async_commit();
        if wait_first {
            cp_async_wait(0);
        }
        if by_another {
            barrier();
        }
        let source = x + 4 * u64::from(if by_another { 63 - tid() } else { tid() });
        if atomic {
            atomic_store(Space::Global, source, 1u32, Ordering::Relaxed, Scope::Device);
        } else {
            global_store(source, 1u32, Store::Weak);
        }
        cp_async_wait(0);
    })
}

#[test]
fn source_of_an_asynchronous_copy_overwritten_before_its_wait() {
    for (by_another, atomic) in [(false, false), (false, true), (true, false), (true, true)] {
        caught_always(
            |seed| overwritten_source(seed, by_another, false, atomic),
            |fault| {
                assert!(matches!(fault.kind, FaultKind::Race { space: Space::Global, .. }), "{fault}");
                let other = fault.other.as_ref().unwrap();
                let sum = fault.thread[0] + other.thread[0];
                assert_eq!(if by_another { 63 } else { 2 * fault.thread[0] }, sum, "{fault}");
                let sites = [fault.site.as_ref(), other.site.as_ref()];
                assert!(sites.iter().flatten().any(|site| site.line == LINE.get()), "{fault}");
            },
        );
        passes(|seed| overwritten_source(seed, by_another, true, atomic));
    }
}

#[test]
fn source_overwritten_by_a_thread_that_does_not_know_of_the_wait() {
    // Also in the runs in which the wait happens to come before the write.
    let run = |seed, wait_first: bool| {
        let simulator = Simulator::new(varied(seed));
        let x = words(&simulator, &[5]);
        launch(&simulator, Geometry::linear(1, 64, 4), || {
            if tid() == 40 {
                at!(cp_async(0, x, 4, 4));
                cp_async_commit();
                if wait_first {
                    cp_async_wait(0);
                }
            }
            barrier();
            if tid() == 3 {
                global_store(x, 6u32, Store::Weak);
            }
            if tid() == 40 {
                cp_async_wait(0);
            }
        })
    };
    caught_always(
        |seed| run(seed, false),
        |fault| {
            assert!(matches!(fault.kind, FaultKind::Race { space: Space::Global, .. }), "{fault}");
            let other = fault.other.as_ref().unwrap();
            assert_eq!((fault.thread, other.thread), ([3, 0, 0], [40, 0, 0]), "{fault}");
            assert_eq!(other.site.as_ref().unwrap().line, LINE.get());
        },
    );
    passes(|seed| run(seed, true));
}

// ---- the first write of bytes, and reads that race with it -------------------------------------------------------

/// Two threads, one of which reads what the other, if anybody, writes for the first time.
fn first_write(seed: u64, written: bool, read: impl Fn() + Sync) -> Result<Report, Fault> {
    let simulator = Simulator::new(varied(seed));
    launch(&simulator, Geometry::linear(1, 64, 64), || {
        if tid() == 40 {
            read();
        } else if tid() == 3 && written {
            shared_store(16, 7u32);
        }
        barrier();
    })
}

#[test]
fn read_that_races_with_the_first_write_is_a_race_whoever_comes_first() {
    let reads: [fn(); 3] = [
        || {
            at!(shared_load::<u32>(16));
        },
        // Half of these bytes stay unwritten: the race counts first.
        || {
            at!(shared_load::<u64>(16));
        },
        || {
            at!(atomic_load::<u32>(Space::Shared, 16, Ordering::Acquire, Scope::Block));
        },
    ];
    for read in reads {
        let order = Cell::new([0; 2]);
        caught_always(
            |seed| first_write(seed, true, read),
            |fault| {
                assert!(matches!(fault.kind, FaultKind::Race { space: Space::Shared, .. }), "{fault}");
                let read_first = fault.thread == [3, 0, 0];
                let threads = (fault.thread[0], fault.other.as_ref().unwrap().thread[0]);
                assert_eq!(threads, if read_first { (3, 40) } else { (40, 3) }, "{fault}");
                let site = if read_first { &fault.other.as_ref().unwrap().site } else { &fault.site };
                assert_eq!(site.as_ref().unwrap().line, LINE.get(), "{fault}");
                let mut seen = order.get();
                seen[usize::from(read_first)] += 1;
                order.set(seen);
            },
        );
        assert!(order.get().iter().all(|&n| n > 0), "both orders happen: {:?}", order.get());
        // Others wait at the barrier, or could run for long: the read is reported in the end.
        caught_always(
            |seed| first_write(seed, false, read),
            |fault| {
                assert!(matches!(fault.kind, FaultKind::Unwritten { space: Space::Shared, .. }), "{fault}");
                assert_eq!(fault.thread, [40, 0, 0]);
                names_line(fault, file!());
            },
        );
    }
}

#[test]
fn unwritten_read_is_reported_while_others_run_on() {
    // Spinning in vain, changing values for ever, or one short thread after the other.
    for (blocks, ways) in [(2, 0), (2, 1), (1 << 18, 2)] {
        let run = |seed| {
            let simulator = Simulator::new(Config { vary_residency: false, ..varied(seed) });
            let flag = words(&simulator, &[0, 0]);
            let fresh = simulator.alloc(4).unwrap();
            let outcome = launch(&simulator, Geometry::linear(blocks, 1, 0), || {
                if bid() == 0 {
                    at!(global_load::<u32>(fresh, Load::Weak));
                } else if ways == 0 {
                    while global_load::<u32>(flag, Load::Volatile) == 0 {}
                } else if ways == 1 {
                    loop {
                        global_store(flag, global_load::<u32>(flag, Load::Weak) + 1, Store::Weak);
                    }
                }
            });
            let rounds = read_words(&simulator, flag, 1)[0];
            assert!(rounds < 1 << 16, "nobody waits for long: {rounds} rounds");
            outcome
        };
        assert_eq!(
            caught(3, run, |fault| {
                assert!(matches!(fault.kind, FaultKind::Unwritten { space: Space::Global, .. }), "{fault}");
                assert_eq!(fault.block, [0; 3]);
                names_line(fault, file!());
            }),
            3
        );
    }
}
